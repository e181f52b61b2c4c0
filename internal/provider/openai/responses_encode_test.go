package openai_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/content/contenttest"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/openai"
	"tote/internal/provider/providertest"
)

// flatPlace is the placement of Responses: results hold their media.
var flatPlace = &delivery.Placement{}

type flatCase struct {
	note     string
	config   openai.ResponsesConfig
	place    *delivery.Placement
	request  provider.Request
	messages func(*providertest.Blobs) []content.Message
}

func greeting(*providertest.Blobs) []content.Message {
	return []content.Message{providertest.User(text("text-1", "hi"))}
}

var flatGoldens = map[string]flatCase{
	"text": {
		note: "Every text is a part, nothing is stored, thinking comes back encrypted.",
		messages: func(*providertest.Blobs) []content.Message {
			return []content.Message{
				providertest.User(text("text-1", "a <b> & \"c\"\n\u2028 \xff"), text("text-2", "second")),
				providertest.Say(content.Text{Body: "one"}, content.Text{Body: "two"}), providertest.User(text("text-3", "go on")),
			}
		},
	},
	"options": {
		note:   "Instructions, tools, effort and policy stand before the input, the limit behind it. There is no seed.",
		config: openai.ResponsesConfig{ImageCompression: "disabled", Extra: map[string]json.RawMessage{"truncation": []byte(`"disabled"`), "parallel_tool_calls": []byte(`true`)}},
		request: provider.Request{
			System: "Be brief.", Seed: 42, MaxOutput: 1000, Effort: provider.EffortHigh,
			Tools: []provider.ToolSpec{{Name: "list", Description: "lists"}, {Name: "read", Description: "reads \"it\"", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)}},
		},
		messages: greeting,
	},
	"bare": {
		note:     "What a server refuses is left out.",
		config:   openai.ResponsesConfig{NoStore: true, NoInclude: true, NoMaxOutput: true, EffortForm: openai.EffortOff},
		request:  provider.Request{MaxOutput: 1000, Effort: provider.EffortLow},
		messages: greeting,
	},
	"media": {
		note:   "A picture's address is a string, a PDF has a name.",
		config: openai.ResponsesConfig{Detail: "original"},
		messages: func(b *providertest.Blobs) []content.Message {
			return []content.Message{providertest.User(text("text-1", "look"), picture(b, "image-1.png", "PNG one"), picture(b, "image-2.png", "PNG two"),
				content.Document{Attachment: attachment("document-1.pdf", b.Put([]byte("%PDF-1.7"), "application/pdf")), Pages: 1})}
		},
	},
	"resources": {
		note: "Text resources stand as text behind their label; links, unknown blocks and sound as what the heart says.",
		messages: func(b *providertest.Blobs) []content.Message {
			return append(goldens["resources"].messages(b), providertest.Say(content.Text{Body: "ok"}), providertest.User(
				content.Audio{Attachment: attachment("audio-1.wav", b.Put([]byte("RIFF wav"), "audio/wav")), Millis: 100}))
		},
	},
	"tools": {
		note:     "A result holds its pictures, in its own order; a long name of a call is shortened.",
		messages: flatTools,
	},
	"tools hoisted": {
		note:     "Where a server lags, the pictures of a batch come in one user message.",
		place:    &delivery.Placement{HoistResults: true},
		messages: flatTools,
	},
}

func flatTools(b *providertest.Blobs) []content.Message {
	long := "functions.view:0|" + strings.Repeat("x", 60)
	return []content.Message{
		providertest.User(text("text-1", "go")),
		providertest.Say(
			content.Reasoning{Text: "not mine to give back", Signature: "reasoning", Path: openai.ResponsesPath},
			content.Text{Body: "I look."},
			content.ToolCall{ID: "c1", Name: "view", Arguments: `{"path":"a"}`},
			content.ToolCall{ID: long, Name: "list", Arguments: `{"path": broken`},
		),
		providertest.Results(
			content.ToolResult{CallID: "c1", Name: "view", Blocks: []content.Block{
				text("text-2", "here"), picture(b, "image-1.png", "PNG one"), text("text-3", "there"),
				content.Document{Attachment: attachment("document-1.pdf", b.Put([]byte("%PDF-1.7"), "application/pdf")), Pages: 1},
			}},
			content.ToolResult{CallID: long, Name: "list", IsError: true, Blocks: []content.Block{text("text-4", "no such folder")}},
		),
		providertest.Say(content.ToolCall{ID: "c3", Name: "list"}),
		providertest.Results(content.ToolResult{CallID: "c3", Name: "list"}),
		providertest.Say(content.Text{Body: "Done."}),
		providertest.User(text("text-5", "thanks")),
	}
}

// flatProfile is a profile as Responses has it: no sound.
func flatProfile() delivery.Profile {
	p := providertest.Profile(openai.ResponsesPath)
	p.Audio = delivery.Capability{Answer: delivery.No, Evidence: delivery.EvidenceBinding}
	p.Placement = *flatPlace
	return p
}

func encodeFlat(t *testing.T, c flatCase) []byte {
	t.Helper()
	var blobs providertest.Blobs
	p := flatProfile()
	if c.place != nil {
		p.Placement = *c.place
	}
	req := c.request
	req.Prompt = providertest.Settle(t, p, &blobs, c.messages(&blobs)...)
	req.Blobs = &blobs
	c.config.Model = "gpt-x"
	return spell(t, openai.NewResponses(provider.Options{BaseURL: "http://h"}, c.config), req)
}

func TestResponsesGolden(t *testing.T) {
	for name, c := range flatGoldens {
		t.Run(name, func(t *testing.T) {
			body := encodeFlat(t, c)
			if again := encodeFlat(t, c); !bytes.Equal(body, again) {
				t.Error("the same request gives another body")
			}
			if _, err := providertest.ReadResponses(body); err != nil {
				t.Error(err)
			}
			checkGolden(t, "responses-"+name, c.note, body)
		})
	}
}

// The next request's bytes begin with this one's up to the end of its input.
func TestResponsesPrefixIsStable(t *testing.T) {
	var blobs providertest.Blobs
	all := flatTools(&blobs)
	p := openai.NewResponses(provider.Options{BaseURL: "http://h"}, openai.ResponsesConfig{Model: "m", ImageCompression: "disabled"})
	var last []byte
	for n := 1; n <= len(all); n++ {
		if all[n-1].Role == content.RoleAssistant {
			continue // a request ends with a user's or a tool's message
		}
		req := provider.Request{Prompt: providertest.Settle(t, flatProfile(), &blobs, all[:n]...), Blobs: &blobs, System: "s", Seed: int64(n), MaxOutput: n}
		got := spell(t, p, req)
		if !bytes.HasPrefix(got, last) {
			t.Errorf("request with %d messages does not begin with the one before it", n)
		}
		last = got[:bytes.LastIndexByte(got, ']')]
	}
}

// Every kind of block leaves its mark on the wire.
func TestResponsesEveryKindArrives(t *testing.T) {
	var blobs providertest.Blobs
	for _, b := range contenttest.Sound() {
		b = stored(&blobs, b)
		req := provider.Request{Prompt: providertest.Settle(t, flatProfile(), &blobs, providertest.User(b)), Blobs: &blobs}
		got := spell(t, openai.NewResponses(provider.Options{BaseURL: "http://h"}, openai.ResponsesConfig{Model: "m"}), req)
		sent, err := providertest.ReadResponses(got)
		if err != nil {
			t.Fatal(err)
		}
		media := sent.Media()
		switch b.Kind() {
		case content.KindImage, content.KindDocument:
			if len(media) != 1 || string(media[0].Data) != "bytes of "+string(b.BlockHandle()) {
				t.Errorf("%s: media %v", b.Kind(), media)
			}
		case content.KindText, content.KindAudio, content.KindResourceText, content.KindResourceLink, content.KindOpaque:
			if len(media) != 0 || !bytes.Contains(got, []byte(b.BlockHandle())) && b.Kind() != content.KindText {
				t.Errorf("%s: %s", b.Kind(), got)
			}
		}
	}
}

func TestResponsesEncodeRefuses(t *testing.T) {
	var blobs providertest.Blobs
	p := flatProfile()
	p.Audio = p.Images
	p.DocumentLimits.MIMEs = []string{"text/csv"}
	r := openai.NewResponses(provider.Options{BaseURL: "http://h"}, openai.ResponsesConfig{Model: "m"})
	for name, req := range map[string]provider.Request{
		"sound":    {Prompt: providertest.Settle(t, p, &blobs, providertest.User(content.Audio{Attachment: attachment("audio-1.wav", blobs.Put([]byte("wav"), "audio/wav"))}))},
		"document": {Prompt: providertest.Settle(t, p, &blobs, providertest.User(content.Document{Attachment: attachment("document-1.csv", blobs.Put([]byte("a,b"), "text/csv"))}))},
		"schema":   {Tools: []provider.ToolSpec{{Name: "x", Schema: []byte("{")}}},
	} {
		req.Blobs = &blobs
		if body, err := r.Encode(req); err == nil {
			t.Errorf("%s: encoded to %d bytes", name, body.Len())
		}
	}
	for name, extra := range map[string]string{"store": "true", "input": "[]", "truncation": "{"} {
		r := openai.NewResponses(provider.Options{BaseURL: "http://h"}, openai.ResponsesConfig{Model: "m", Extra: map[string]json.RawMessage{name: []byte(extra)}})
		if _, err := r.Encode(provider.Request{}); err == nil {
			t.Errorf("extra %q: encoded", name)
		}
	}
}

func BenchmarkResponsesEncode(b *testing.B) {
	var blobs providertest.Blobs
	var messages []content.Message
	for range 50 {
		messages = append(messages, flatTools(&blobs)...)
	}
	req := provider.Request{Prompt: providertest.Settle(b, flatProfile(), &blobs, messages...), Blobs: &blobs}
	p := openai.NewResponses(provider.Options{BaseURL: "http://h"}, openai.ResponsesConfig{Model: "m"})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Encode(req); err != nil {
			b.Fatal(err)
		}
	}
}
