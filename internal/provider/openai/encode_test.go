package openai_test

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
	"tote/internal/provider/openai"
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

type goldenCase struct {
	note     string
	config   openai.Config
	place    *delivery.Placement
	request  provider.Request
	messages func(*providertest.Blobs) []content.Message
}

func picture(b *providertest.Blobs, h content.Handle, data string) content.Image {
	return providertest.Picture(h, b.Put([]byte(data), "image/png"), 30, 20)
}

var goldens = map[string]goldenCase{
	"text": {
		note: "A user message has the array form, escapes are the shortest.",
		messages: func(*providertest.Blobs) []content.Message {
			return []content.Message{providertest.User(text("text-1", "a <b> & \"c\"\n\u2028 \xff"), text("text-2", "second"))}
		},
	},
	"options": {
		note:   "Tools and limits stand before the messages, a seed behind them.",
		config: openai.Config{MaxField: openai.MaxTokens, System: "developer"},
		request: provider.Request{
			System: "Be brief.", Seed: 42, MaxOutput: 1000,
			Tools: []provider.ToolSpec{{Name: "list", Description: "lists"}, {Name: "read", Description: "reads \"it\"", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)}},
		},
		messages: func(*providertest.Blobs) []content.Message {
			return []content.Message{providertest.User(text("text-1", "hi"))}
		},
	},
	"picture": {
		note:   "A picture is one data URI behind its label, with the detail that is asked for.",
		config: openai.Config{Detail: "high"},
		messages: func(b *providertest.Blobs) []content.Message {
			return []content.Message{providertest.User(text("text-1", "look"), picture(b, "image-1.png", "PNG one"), picture(b, "image-2.png", "PNG two"))}
		},
	},
	"cache": {
		note:    "The system prompt and the last two messages of the user are marked for the cache, in their last text.",
		config:  openai.Config{CachePoints: true},
		request: provider.Request{System: "Be brief."},
		messages: func(b *providertest.Blobs) []content.Message {
			return []content.Message{
				providertest.User(text("text-1", "first")), providertest.Say(content.Text{Body: "one"}),
				providertest.User(text("text-2", "look"), picture(b, "image-1.png", "PNG one")), providertest.Say(content.Text{Body: "two"}),
				providertest.User(text("text-3", "third")),
			}
		},
	},
	"sound and document": {
		note: "Sound goes as bare base64, a PDF as a file with a data URI.",
		messages: func(b *providertest.Blobs) []content.Message {
			return []content.Message{providertest.User(
				content.Audio{Attachment: attachment("audio-1.wav", b.Put([]byte("RIFF wav"), "audio/wav")), Millis: 100},
				content.Audio{Attachment: attachment("audio-2.mp3", b.Put([]byte("ID3 mp3"), "audio/mpeg"))},
				content.Document{Attachment: attachment("document-1.pdf", b.Put([]byte("%PDF-1.7"), "application/pdf")), Pages: 1},
			)}
		},
	},
	"resources": {
		note: "Text resources stand as text behind their label; links and unknown blocks as what the heart says.",
		messages: func(b *providertest.Blobs) []content.Message {
			return []content.Message{providertest.User(
				content.ResourceText{Attachment: attachment("resource-1.txt", b.Put([]byte("line 1\nline 2\n"), "text/plain")), URI: "file:///a.txt"},
				content.ResourceLink{Handle: "link-1", URI: "https://example.invalid/x", Name: "x"},
				content.Opaque{Handle: "opaque-1", Type: "hologram", Raw: b.Put([]byte(`{}`), "application/json")},
			)}
		},
	},
	"tools": {
		note: "All results of a batch come first, then the pictures they returned in one user message.",
		messages: func(b *providertest.Blobs) []content.Message {
			return []content.Message{
				providertest.User(text("text-1", "go")),
				providertest.Say(
					content.Reasoning{Text: "thinking", Signature: "reasoning", Path: openai.ChatPath},
					content.Text{Body: "I look."},
					content.ToolCall{ID: "c1", Name: "view", Arguments: `{"path":"a"}`},
					content.ToolCall{ID: "c2", Name: "list"},
				),
				providertest.Results(
					content.ToolResult{CallID: "c1", Name: "view", Blocks: []content.Block{text("text-2", "here"), picture(b, "image-1.png", "PNG one"), text("text-3", "there")}},
					content.ToolResult{CallID: "c2", Name: "list", IsError: true, Blocks: []content.Block{text("text-4", "no such folder")}},
				),
				providertest.Say(content.ToolCall{ID: "c3", Name: "list"}),
				providertest.Results(content.ToolResult{CallID: "c3", Name: "list"}),
				providertest.Say(content.Text{Body: "Done."}),
				providertest.User(text("text-5", "thanks")),
			}
		},
	},
	"pictures in results": {
		note:  "A path that takes pictures in tool messages gets the array form there.",
		place: &delivery.Placement{},
		messages: func(b *providertest.Blobs) []content.Message {
			return []content.Message{
				providertest.User(text("text-1", "go")),
				providertest.Say(content.ToolCall{ID: "c1", Name: "view", Arguments: `{}`}),
				providertest.Results(content.ToolResult{CallID: "c1", Name: "view", Blocks: []content.Block{picture(b, "image-1.png", "PNG one")}}),
			}
		},
	},
	"results of Mistral": {
		note:  "A result with a picture has the array form with its text in order, one without the string form; a message stands before the user's next.",
		place: &delivery.Placement{Bridge: true},
		messages: func(b *providertest.Blobs) []content.Message {
			return []content.Message{
				providertest.User(text("text-1", "go")),
				providertest.Say(content.ToolCall{ID: "c1", Name: "view", Arguments: `{}`}, content.ToolCall{ID: "c2", Name: "list", Arguments: `{}`}),
				providertest.Results(
					content.ToolResult{CallID: "c1", Name: "view", Blocks: []content.Block{text("text-2", "before"), picture(b, "image-1.png", "PNG one"), text("text-3", "after")}},
					content.ToolResult{CallID: "c2", Name: "list", Blocks: []content.Block{text("text-4", "a"), text("text-5", "b")}},
				),
				providertest.User(text("text-6", "and?"), picture(b, "image-2.png", "PNG two")),
			}
		},
	},
	"quirks": {
		note: "What a server refuses is left out, what it wants besides stands sorted before the tools.",
		config: openai.Config{
			NoSeed: true, NoStreamOptions: true, EffortForm: openai.EffortDeepSeek, EffortWords: map[string]string{"low": "high"}, ThoughtAlways: true,
			Extra: map[string]json.RawMessage{"store": []byte("false"), "provider": []byte(`{"order":["a"]}`)},
		},
		request: provider.Request{Seed: 42, Effort: provider.EffortLow, Tools: []provider.ToolSpec{{Name: "list"}}},
		messages: func(*providertest.Blobs) []content.Message {
			return []content.Message{
				providertest.User(text("text-1", "go")),
				providertest.Say(content.ToolCall{ID: "c1", Name: "list", Arguments: `{}`}),
				providertest.Results(content.ToolResult{CallID: "c1", Name: "list", Blocks: []content.Block{text("text-2", "a")}}),
			}
		},
	},
}

func encode(t *testing.T, c goldenCase) []byte {
	t.Helper()
	var blobs providertest.Blobs
	p := providertest.Profile(openai.ChatPath)
	if c.place != nil {
		p.Placement = *c.place
	}
	req := c.request
	req.Prompt = providertest.Settle(t, p, &blobs, c.messages(&blobs)...)
	req.Blobs = &blobs
	c.config.Model = "gpt-x"
	return spell(t, openai.New(provider.Options{BaseURL: "http://h"}, c.config), req)
}

func spell(t *testing.T, p provider.Provider, r provider.Request) []byte {
	t.Helper()
	body, err := p.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(body.Open())
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(got)) != body.Len() {
		t.Errorf("Len = %d, the body has %d bytes", body.Len(), len(got))
	}
	return got
}

func TestGolden(t *testing.T) {
	for name, c := range goldens {
		t.Run(name, func(t *testing.T) {
			body := encode(t, c)
			if again := encode(t, c); !bytes.Equal(body, again) {
				t.Error("the same request gives another body")
			}
			if _, err := providertest.ReadChat(body); err != nil {
				t.Error(err)
			}
			if c.place == nil {
				if err := providertest.CheckChat(body); err != nil {
					t.Error(err)
				}
			}
			checkGolden(t, name, c.note, body)
		})
	}
}

// checkGolden compares a body with the golden file of its case.
func checkGolden(t *testing.T, name, note string, body []byte) {
	t.Helper()
	var got bytes.Buffer
	if err := json.Indent(&got, body, "", "  "); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, body)
	}
	got.WriteByte('\n')
	file := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".txtar")
	if *update {
		a := &txtar.Archive{Comment: []byte(note + "\n"), Files: []txtar.File{{Name: "wire.json", Data: got.Bytes()}}}
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
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
}

func TestEveryGoldenIsUsed(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) != len(goldens)+len(flatGoldens) {
		t.Errorf("%d golden files for %d cases, %v", len(files), len(goldens)+len(flatGoldens), err)
	}
}

// The next request's bytes begin with this one's up to the end of its messages.
func TestPrefixIsStable(t *testing.T) {
	var blobs providertest.Blobs
	c := goldens["tools"]
	all := c.messages(&blobs)
	p := providertest.Profile(openai.ChatPath)
	chat := openai.New(provider.Options{BaseURL: "http://h"}, openai.Config{Model: "m"})
	var last []byte
	for n := 1; n <= len(all); n++ {
		if all[n-1].Role == content.RoleAssistant {
			continue // a request ends with a user's or a tool's message
		}
		req := provider.Request{Prompt: providertest.Settle(t, p, &blobs, all[:n]...), Blobs: &blobs, System: "s", Seed: int64(n)}
		got := spell(t, chat, req)
		i := bytes.LastIndexByte(got, ']')
		if !bytes.HasPrefix(got, last) {
			t.Errorf("request with %d messages does not begin with the one before it", n)
		}
		last = got[:i]
	}
}

// Every kind of block leaves its mark on the wire.
func TestEveryKindArrives(t *testing.T) {
	var blobs providertest.Blobs
	p := providertest.Profile(openai.ChatPath)
	for _, b := range contenttest.Sound() {
		b = stored(&blobs, b)
		req := provider.Request{Prompt: providertest.Settle(t, p, &blobs, providertest.User(b)), Blobs: &blobs}
		got := string(spell(t, openai.New(provider.Options{BaseURL: "http://h"}, openai.Config{Model: "m"}), req))
		mark := "mark-" + string(b.BlockHandle())
		switch b.Kind() {
		case content.KindOpaque:
			mark = "mark-video"
		case content.KindResourceText:
			mark = "bytes of resource-1.txt"
		case content.KindText, content.KindImage, content.KindAudio, content.KindDocument, content.KindResourceLink:
		}
		if !strings.Contains(got, mark) {
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
	p := providertest.Profile(openai.ChatPath)
	p.AudioLimits.MIMEs = []string{"audio/ogg"}
	p.DocumentLimits.MIMEs = []string{"text/csv"}
	chat := openai.New(provider.Options{BaseURL: "http://h"}, openai.Config{Model: "m"})
	for name, r := range map[string]provider.Request{
		"sound":    {Prompt: providertest.Settle(t, p, &blobs, providertest.User(content.Audio{Attachment: attachment("audio-1.ogg", blobs.Put([]byte("ogg"), "audio/ogg"))}))},
		"document": {Prompt: providertest.Settle(t, p, &blobs, providertest.User(content.Document{Attachment: attachment("document-1.csv", blobs.Put([]byte("a,b"), "text/csv"))}))},
		"schema":   {Tools: []provider.ToolSpec{{Name: "x", Schema: []byte("{")}}},
	} {
		r.Blobs = &blobs
		if body, err := chat.Encode(r); err == nil {
			t.Errorf("%s: encoded to %d bytes", name, body.Len())
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	var blobs providertest.Blobs
	var messages []content.Message
	for range 50 {
		messages = append(messages, goldens["tools"].messages(&blobs)...)
	}
	req := provider.Request{Prompt: providertest.Settle(b, providertest.Profile(openai.ChatPath), &blobs, messages...), Blobs: &blobs}
	chat := openai.New(provider.Options{BaseURL: "http://h"}, openai.Config{Model: "m"})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := chat.Encode(req); err != nil {
			b.Fatal(err)
		}
	}
}
