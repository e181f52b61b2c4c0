package anthropic_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"tote/internal/content"
	"tote/internal/content/contenttest"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/anthropic"
	"tote/internal/provider/providertest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func text(h content.Handle, s string) content.Text { return content.Text{Handle: h, Body: s} }

func attachment(h content.Handle, b content.Blob) content.Attachment {
	return content.Attachment{
		Handle: h, Name: "my " + string(h), Declared: b.MIME, Original: b, Prepared: b,
		Origin: content.Origin{Inlet: content.InletFlag, Chooser: content.ChosenByUser},
	}
}

func picture(b *providertest.Blobs, h content.Handle, data string) content.Image {
	return providertest.Picture(h, b.Put([]byte(data), "image/png"), 30, 20)
}

func pdf(b *providertest.Blobs, h content.Handle, data string) content.Document {
	return content.Document{Attachment: attachment(h, b.Put([]byte(data), "application/pdf")), Pages: 1}
}

// native is the placement on Anthropic's own server, hoisting that on others.
var (
	native   = delivery.Placement{TextErrors: true, MergeRoles: true}
	hoisting = delivery.Placement{HoistResults: true, TextErrors: true, MergeRoles: true}
)

func profile(place delivery.Placement) delivery.Profile {
	p := providertest.Profile(anthropic.Path)
	p.Placement = place
	p.Audio = delivery.Capability{Answer: delivery.No, Evidence: delivery.EvidenceBinding}
	return p
}

type goldenCase struct {
	note     string
	config   anthropic.Config
	place    delivery.Placement
	request  provider.Request
	messages func(*providertest.Blobs) []content.Message
}

func hi(*providertest.Blobs) []content.Message {
	return []content.Message{providertest.User(text("text-1", "hi"))}
}

func thought(s, signature string) content.Reasoning {
	return content.Reasoning{Text: s, Signature: signature, Path: anthropic.Path}
}

func rounds(b *providertest.Blobs) []content.Message {
	return []content.Message{
		providertest.User(text("text-1", "go")),
		providertest.Say(
			thought("thinking", "SIG+/="),
			content.Text{Body: "I look."},
			content.ToolCall{ID: "toolu_1", Name: "view", Arguments: `{"path":"a"}`},
			content.ToolCall{ID: "toolu_2", Name: "list"},
		),
		providertest.Results(
			content.ToolResult{CallID: "toolu_1", Name: "view", Blocks: []content.Block{text("text-2", "here"), picture(b, "image-1.png", "PNG one"), pdf(b, "document-1.pdf", "%PDF-1.7"), text("text-3", "there")}},
			content.ToolResult{CallID: "toolu_2", Name: "list", IsError: true, Blocks: []content.Block{text("text-4", "no such folder"), picture(b, "image-2.png", "PNG two")}},
		),
		providertest.Say(thought("", "redacted_thinking::DATA"), content.ToolCall{ID: "toolu_3", Name: "list", Arguments: `{"broken`}),
		providertest.Results(content.ToolResult{CallID: "toolu_3", Name: "list"}),
		providertest.Say(content.Text{Body: "Done."}),
		providertest.User(text("text-5", "thanks")),
	}
}

var goldens = map[string]goldenCase{
	"text": {
		note: "Every content is a list of blocks; escapes are the shortest; the last block is a breakpoint.",
		messages: func(*providertest.Blobs) []content.Message {
			return []content.Message{providertest.User(text("text-1", "a <b> & \"c\"\n\u2028 \xff"), text("text-2", "second"))}
		},
	},
	"options": {
		note:   "System, tools and limits stand before the messages; the last tool and the system prompt are breakpoints.",
		config: anthropic.Config{MaxOutput: 64000, Thinking: anthropic.ThinkingBudget},
		request: provider.Request{
			System: "Be brief.", Seed: 42, MaxOutput: 100_000, Effort: provider.EffortHigh,
			Tools: []provider.ToolSpec{{Name: "list", Description: "lists"}, {Name: "read", Description: "reads \"it\"", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)}},
		},
		messages: hi,
	},
	"adaptive": {
		note:     "Models that decide for themselves get an effort.",
		config:   anthropic.Config{Thinking: anthropic.ThinkingAdaptive},
		request:  provider.Request{Effort: provider.EffortLow},
		messages: hi,
	},
	"no cache": {
		note:   "Servers that do not know cache_control get none.",
		config: anthropic.Config{NoCache: true},
		request: provider.Request{
			System: "Be brief.", Tools: []provider.ToolSpec{{Name: "list"}},
		},
		messages: hi,
	},
	"media": {
		note:   "Pictures and documents stand behind their labels; the server is asked not to shrink a picture silently.",
		config: anthropic.Config{OversizedError: true},
		messages: func(b *providertest.Blobs) []content.Message {
			return []content.Message{providertest.User(text("text-1", "look"), picture(b, "image-1.png", "PNG one"), pdf(b, "document-1.pdf", "%PDF-1.7"), picture(b, "image-2.png", "PNG two"))}
		},
	},
	"resources": {
		note: "Text resources stand as text behind their label; sound, links and unknown blocks as what the heart says.",
		messages: func(b *providertest.Blobs) []content.Message {
			return []content.Message{providertest.User(
				content.ResourceText{Attachment: attachment("resource-1.txt", b.Put([]byte("line 1\nline 2\n"), "text/plain")), URI: "file:///a.txt"},
				content.ResourceText{Attachment: attachment("resource-2.txt", b.Put([]byte(" \n"), "text/plain"))},
				content.Audio{Attachment: attachment("audio-1.wav", b.Put([]byte("RIFF wav"), "audio/wav")), Millis: 100},
				content.ResourceLink{Handle: "link-1", URI: "https://example.invalid/x", Name: "x"},
				content.Opaque{Handle: "opaque-1", Type: "hologram", Raw: b.Put([]byte(`{}`), "application/json")},
			)}
		},
	},
	"rounds": {
		note:     "Media stand in results, but for those of an error, which follow all results; thinking goes back as it came.",
		messages: rounds,
	},
	"rounds hoisted": {
		note:     "Where results are text only their media follow all results in the same message.",
		place:    hoisting,
		messages: rounds,
	},
	"foreign": {
		note: "Identifiers and names that the API does not take are replaced, in the call and in its result; thinking of others is left out.",
		messages: func(*providertest.Blobs) []content.Message {
			return []content.Message{
				providertest.User(text("text-1", "go")),
				providertest.Say(
					content.Reasoning{Text: "elsewhere", Signature: "reasoning_content", Path: "openai-chat"},
					thought("of another model", "thinking:00000000:SIG"),
					thought("unsigned", ""),
					content.ToolCall{ID: "call|1", Name: "list", Arguments: `{}`},
					content.ToolCall{ID: "call:1", Name: "a.b c", Arguments: `{"cut":"\ud83d","whole":"\ud83d\ude00"}`},
					content.ToolCall{ID: "call-1", Name: "list", Arguments: `[1]`},
				),
				providertest.Results(
					content.ToolResult{CallID: "call:1", Name: "a.b c", Blocks: []content.Block{text("text-2", "two")}},
					content.ToolResult{CallID: "call|1", Name: "list", Blocks: []content.Block{text("text-3", "one")}},
					content.ToolResult{CallID: "call-1", Name: "list", Blocks: []content.Block{text("text-4", "three")}},
				),
				providertest.Say(content.ToolCall{ID: "call-1", Name: "list", Arguments: `{}`}),
				providertest.Results(content.ToolResult{CallID: "call-1", Name: "list", Blocks: []content.Block{text("text-5", "four")}}),
			}
		},
	},
	"unsigned": {
		note:   "A server that signs nothing gets its thinking back.",
		config: anthropic.Config{AllowEmptySignature: true},
		messages: func(*providertest.Blobs) []content.Message {
			return []content.Message{
				providertest.User(text("text-1", "go")),
				providertest.Say(thought("unsigned", ""), content.Text{Body: "Gone."}),
				providertest.User(text("text-2", "more")),
			}
		},
	},
	"unanswered": {
		note: "A call without a result gets one, and the user's next words stand behind it in the same message.",
		messages: func(*providertest.Blobs) []content.Message {
			return []content.Message{
				providertest.User(text("text-1", "one")),
				providertest.User(text("text-2", "two")),
				providertest.Say(content.ToolCall{ID: "toolu_1", Name: "list"}),
				providertest.User(text("text-3", "three")),
			}
		},
	},
}

func model(c anthropic.Config) *anthropic.Messages {
	c.Model = "claude-x"
	return anthropic.New(provider.Options{BaseURL: "http://h"}, c)
}

func encode(t *testing.T, c goldenCase) []byte {
	t.Helper()
	var blobs providertest.Blobs
	place := native
	if c.place != (delivery.Placement{}) {
		place = c.place
	}
	req := c.request
	req.Prompt = providertest.Settle(t, profile(place), &blobs, c.messages(&blobs)...)
	req.Blobs = &blobs
	return spell(t, model(c.config), req)
}

func spell(tb testing.TB, p provider.Provider, r provider.Request) []byte {
	tb.Helper()
	body, err := p.Encode(r)
	if err != nil {
		tb.Fatal(err)
	}
	got, err := io.ReadAll(body.Open())
	if err != nil {
		tb.Fatal(err)
	}
	if int64(len(got)) != body.Len() {
		tb.Errorf("Len = %d, the body has %d bytes", body.Len(), len(got))
	}
	return got
}

func readSent(tb testing.TB, body []byte) providertest.Sent {
	tb.Helper()
	sent, err := providertest.ReadAnthropic(body)
	if err != nil {
		tb.Fatalf("%v\n%s", err, body)
	}
	return sent
}

func TestGolden(t *testing.T) {
	for name, c := range goldens {
		t.Run(name, func(t *testing.T) {
			body := encode(t, c)
			if again := encode(t, c); !bytes.Equal(body, again) {
				t.Error("the same request gives another body")
			}
			readSent(t, body)
			var got bytes.Buffer
			if err := json.Indent(&got, body, "", "  "); err != nil {
				t.Fatalf("not JSON: %v\n%s", err, body)
			}
			got.WriteByte('\n')
			file := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".txtar")
			if *update {
				a := &txtar.Archive{Comment: []byte(c.note + "\n"), Files: []txtar.File{{Name: "wire.json", Data: got.Bytes()}}}
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(a.Files[0].Data), got.String()); d != "" {
				t.Errorf("%s (run with -update after looking at it):\n%s", file, d)
			}
		})
	}
}

func TestEveryGoldenIsUsed(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) != len(goldens) {
		t.Errorf("%d golden files for %d cases, %v", len(files), len(goldens), err)
	}
}

// Every kind of block leaves its mark on the wire.
func TestEveryKindArrives(t *testing.T) {
	var blobs providertest.Blobs
	for _, b := range contenttest.Sound() {
		b = stored(&blobs, b)
		req := provider.Request{Prompt: providertest.Settle(t, profile(native), &blobs, providertest.User(b)), Blobs: &blobs}
		got := spell(t, model(anthropic.Config{}), req)
		readSent(t, got)
		mark := "mark-" + string(b.BlockHandle())
		switch b.Kind() {
		case content.KindOpaque:
			mark = "mark-video"
		case content.KindResourceText:
			mark = "bytes of resource-1.txt"
		case content.KindText, content.KindImage, content.KindAudio, content.KindDocument, content.KindResourceLink:
		}
		if !strings.Contains(string(got), mark) {
			t.Errorf("%s: no %q in %s", b.Kind(), mark, got)
		}
	}
}

// stored gives a sample's blobs bytes.
func stored(blobs *providertest.Blobs, b content.Block) content.Block {
	put := func(a *content.Attachment, mime string) {
		x := blobs.Put([]byte("bytes of "+string(a.Handle)), mime)
		x.Width, x.Height = a.Prepared.Width, a.Prepared.Height
		a.Original, a.Prepared = x, x
	}
	switch b := b.(type) {
	case content.Image:
		put(&b.Attachment, "image/png")
		return b
	case content.Audio:
		put(&b.Attachment, "audio/wav")
		return b
	case content.Document:
		put(&b.Attachment, "application/pdf")
		return b
	case content.ResourceText:
		put(&b.Attachment, "text/plain")
		return b
	case content.Text, content.ResourceLink, content.Opaque:
	}
	return b
}

func TestEncodeRefuses(t *testing.T) {
	var blobs providertest.Blobs
	p := profile(native)
	p.ImageLimits.MIMEs = []string{"image/bmp"}
	p.Audio, p.AudioLimits.MIMEs = p.Images, []string{"audio/ogg"}
	p.DocumentLimits.MIMEs = []string{"text/csv"}
	lenient := profile(delivery.Placement{MergeRoles: true})
	for name, r := range map[string]provider.Request{
		"picture":  {Prompt: providertest.Settle(t, p, &blobs, providertest.User(providertest.Picture("image-1.bmp", blobs.Put([]byte("BM"), "image/bmp"), 3, 2)))},
		"sound":    {Prompt: providertest.Settle(t, p, &blobs, providertest.User(content.Audio{Attachment: attachment("audio-1.ogg", blobs.Put([]byte("ogg"), "audio/ogg"))}))},
		"document": {Prompt: providertest.Settle(t, p, &blobs, providertest.User(content.Document{Attachment: attachment("document-1.csv", blobs.Put([]byte("a,b"), "text/csv"))}))},
		"error with media": {Prompt: providertest.Settle(t, lenient, &blobs,
			providertest.User(text("text-1", "go")), providertest.Say(content.ToolCall{ID: "a", Name: "n"}),
			providertest.Results(content.ToolResult{CallID: "a", IsError: true, Blocks: []content.Block{picture(&blobs, "image-1.png", "PNG")}}))},
		"schema": {Tools: []provider.ToolSpec{{Name: "x", Schema: []byte("{")}}},
	} {
		r.Blobs = &blobs
		if body, err := model(anthropic.Config{}).Encode(r); err == nil {
			t.Errorf("%s: encoded to %d bytes", name, body.Len())
		}
	}
}

// The parts of an answer, sent back, are on the wire what they were.
func TestPlacement(t *testing.T) {
	for _, place := range []delivery.Placement{native, hoisting} {
		var blobs providertest.Blobs
		req := provider.Request{Prompt: providertest.Settle(t, profile(place), &blobs, rounds(&blobs)...), Blobs: &blobs}
		sent := readSent(t, spell(t, model(anthropic.Config{}), req))
		roles := ""
		for _, m := range sent.Messages {
			roles += m.Role[:1]
		}
		if roles != "uauauau" {
			t.Errorf("roles %s", roles)
		}
		var data []string
		for _, p := range sent.Media() {
			data = append(data, string(p.Data))
		}
		if d := cmp.Diff([]string{"PNG one", "%PDF-1.7", "PNG two"}, data); d != "" {
			t.Error(d)
		}
		first := sent.Messages[1].Parts[0]
		if first.Thought != "thinking" || first.Signature != "SIG+/=" {
			t.Errorf("thinking came back as %+v", first)
		}
		if r := sent.Messages[3].Parts[0]; r.Thought != "" || r.Signature != "DATA" {
			t.Errorf("redacted thinking came back as %+v", r)
		}
		inResult := len(sent.Messages[2].Parts[0].Result.Parts) > 4
		if inResult == place.HoistResults {
			t.Errorf("media in results: %t", inResult)
		}
	}
}

func TestMaxTokensAndThinking(t *testing.T) {
	const budget, adaptive, none = anthropic.ThinkingBudget, anthropic.ThinkingAdaptive, anthropic.ThinkingNone
	for name, tc := range map[string]struct {
		config anthropic.Config
		want   int
		effort provider.Effort
		fields string
	}{
		"default":          {anthropic.Config{}, 0, 0, `"max_tokens":8192,"stream":true,"messages"`},
		"config":           {anthropic.Config{MaxOutput: 100}, 0, 0, `"max_tokens":100,`},
		"request":          {anthropic.Config{}, 50, 0, `"max_tokens":50,`},
		"request in limit": {anthropic.Config{MaxOutput: 100}, 50, 0, `"max_tokens":50,`},
		"request over it":  {anthropic.Config{MaxOutput: 100}, 200, 0, `"max_tokens":100,`},
		"none":             {anthropic.Config{Thinking: none}, 0, provider.EffortHigh, `"stream":true,"messages"`},
		"budget":           {anthropic.Config{Thinking: budget}, 32000, provider.EffortMedium, `"thinking":{"type":"enabled","budget_tokens":8192},"messages"`},
		"half of it":       {anthropic.Config{Thinking: budget}, 8000, provider.EffortHigh, `"thinking":{"type":"enabled","budget_tokens":4000},"messages"`},
		"no room":          {anthropic.Config{Thinking: budget}, 2000, provider.EffortHigh, `"stream":true,"messages"`},
		"budget unasked":   {anthropic.Config{Thinking: budget}, 0, provider.EffortDefault, `"stream":true,"messages"`},
		"budget none":      {anthropic.Config{Thinking: budget}, 0, provider.EffortNone, `"stream":true,"messages"`},
		"adaptive":         {anthropic.Config{Thinking: adaptive}, 0, provider.EffortHigh, `"thinking":{"type":"adaptive"},"output_config":{"effort":"high"},"messages"`},
		"adaptive unasked": {anthropic.Config{Thinking: adaptive}, 0, provider.EffortDefault, `"stream":true,"messages"`},
		"adaptive none":    {anthropic.Config{Thinking: adaptive}, 0, provider.EffortNone, `"thinking":{"type":"disabled"},"messages"`},
	} {
		req := provider.Request{Prompt: providertest.Settle(t, profile(native), nil, hi(nil)...), MaxOutput: tc.want, Effort: tc.effort}
		got := spell(t, model(tc.config), req)
		readSent(t, got)
		if !bytes.Contains(got, []byte(tc.fields)) {
			t.Errorf("%s: no %s in %s", name, tc.fields, got)
		}
	}
}

// A turn that another model began cannot go on with a budget, as the API demands
// that it began with a thought; the next turn can.
func TestThinkingIsLeftOutWhereRefused(t *testing.T) {
	call := content.ToolCall{ID: "a", Name: "n"}
	again := content.ToolCall{ID: "b", Name: "n"}
	result, result2 := providertest.Results(content.ToolResult{CallID: "a"}), providertest.Results(content.ToolResult{CallID: "b"})
	ask := providertest.User(text("text-1", "go"))
	for name, tc := range map[string]struct {
		messages []content.Message
		want     bool
	}{
		"began with a thought":   {[]content.Message{ask, providertest.Say(thought("t", "s"), call), result}, true},
		"began with none":        {[]content.Message{ask, providertest.Say(call), result}, false},
		"first decides":          {[]content.Message{ask, providertest.Say(thought("t", "s"), call), result, providertest.Say(again), result2}, true},
		"first decides, without": {[]content.Message{ask, providertest.Say(call), result, providertest.Say(thought("t", "s"), again), result2}, false},
		"a new turn":             {[]content.Message{ask, providertest.Say(call), result, providertest.Say(content.Text{Body: "x"}), providertest.User(text("text-2", "more"))}, true},
	} {
		req := provider.Request{Prompt: providertest.Settle(t, profile(native), nil, tc.messages...), Effort: provider.EffortLow}
		got := spell(t, model(anthropic.Config{Thinking: anthropic.ThinkingBudget}), req)
		readSent(t, got)
		if bytes.Contains(got, []byte(`"budget_tokens"`)) != tc.want {
			t.Errorf("%s: thinking is asked for: %t", name, !tc.want)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	var blobs providertest.Blobs
	var messages []content.Message
	for range 50 {
		messages = append(messages, rounds(&blobs)...)
	}
	req := provider.Request{Prompt: providertest.Settle(b, profile(native), &blobs, messages...), Blobs: &blobs}
	m := model(anthropic.Config{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Encode(req); err != nil {
			b.Fatal(err)
		}
	}
}
