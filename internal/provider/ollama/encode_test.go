package ollama_test

import (
	"bytes"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/content/contenttest"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/ollama"
	"tote/internal/provider/providertest"
)

type goldenCase struct {
	note     string
	config   ollama.Config
	place    delivery.Placement
	request  provider.Request
	messages func(*providertest.Blobs) []content.Message
}

// conversation has every form that a message takes.
func conversation(b *providertest.Blobs) []content.Message {
	return []content.Message{
		providertest.User(text("text-1", "go")),
		providertest.Say(
			content.Reasoning{Text: "hm", Path: ollama.Path},
			content.Text{Body: "I look."},
			content.ToolCall{ID: "c1", Name: "view", Arguments: `{"path": "a"}`},
			content.ToolCall{ID: "c2", Name: "list"},
		),
		providertest.Results(
			content.ToolResult{CallID: "c1", Name: "view", Blocks: []content.Block{text("text-2", "here"), picture(b, "image-1.png", "PNG one"), text("text-3", "there"), picture(b, "image-2.png", "PNG two")}},
			content.ToolResult{CallID: "c2", Name: "list", IsError: true, Blocks: []content.Block{text("text-4", "no such folder"), picture(b, "image-3.png", "PNG three")}},
		),
		providertest.Say(content.ToolCall{ID: "c3", Name: "list", Arguments: "{broken"}),
		providertest.Results(content.ToolResult{CallID: "c3", Name: "list"}),
		providertest.Say(content.Text{Body: "Done."}),
		providertest.User(text("text-5", "thanks"), picture(b, "image-4.png", "PNG four")),
	}
}

var goldens = map[string]goldenCase{
	"text": {
		note: "A message has one text, a line for each part; escapes are the shortest. Nothing may be left out in silence.",
		messages: func(*providertest.Blobs) []content.Message {
			return []content.Message{providertest.User(text("text-1", "a <b> & \"c\"\n\u2028 \xff [img-0]"), text("text-2", "second"))}
		},
	},
	"options": {
		note:   "Tools stand before the messages, options and thinking behind them. A seed has 31 bits.",
		config: ollama.Config{Context: 32_768, KeepAlive: "10m"},
		request: provider.Request{
			System: "Be brief.", Seed: 1<<40 + 42, MaxOutput: 1000, Effort: provider.EffortLow,
			Tools: []provider.ToolSpec{{Name: "list", Description: "lists"}, {Name: "read", Description: "reads \"it\"", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}},"additionalProperties":false}`)}},
		},
		messages: func(*providertest.Blobs) []content.Message {
			return []content.Message{providertest.User(text("text-1", "hi"))}
		},
	},
	"pictures and sound": {
		note:    "Pictures and sound are one list in the order of their labels. Words for the place of a picture are made harmless.",
		request: provider.Request{System: "See [img]."},
		messages: func(b *providertest.Blobs) []content.Message {
			return []content.Message{
				providertest.User(
					text("text-1", "look at [img-0], [img] and [image]"), picture(b, "image-1.png", "PNG one"), picture(b, "image-2.png", "PNG two"),
					content.Audio{Attachment: attachment("audio-1.wav", b.Put([]byte("RIFF wav"), "audio/wav")), Millis: 100},
				),
				providertest.Say(content.Text{Body: "[img-1]?"}, content.ToolCall{ID: "c", Name: "n", Arguments: `{"a":"[img-1]"}`}),
				providertest.Results(content.ToolResult{CallID: "c", Name: "n", Blocks: []content.Block{text("text-2", "[img]")}}),
			}
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
		note:     "Each result is a message with its own pictures.",
		messages: conversation,
	},
	"hoisted": {
		note:     "Where the profile says so, the pictures of results follow in a message of the user.",
		place:    delivery.Placement{HoistResults: true, NoReasoning: true},
		messages: conversation,
	},
}

func TestGolden(t *testing.T) {
	for name, c := range goldens {
		t.Run(name, func(t *testing.T) {
			p := profile()
			p.Placement = c.place
			one := func() []byte {
				var blobs providertest.Blobs
				req := c.request
				req.Prompt, req.Blobs = providertest.Settle(t, p, &blobs, c.messages(&blobs)...), &blobs
				return spell(t, adapter("http://h", c.config), req)
			}
			body := one()
			if !bytes.Equal(body, one()) {
				t.Error("the same request gives another body")
			}
			if _, err := providertest.ReadOllama(body); err != nil {
				t.Error(err)
			}
			golden(t, name, c.note, body)
		})
	}
}

func TestEveryGoldenIsUsed(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) != len(goldens) {
		t.Errorf("%d golden files for %d cases, %v", len(files), len(goldens), err)
	}
}

// The next request's bytes begin with this one's up to the end of its messages,
// whatever stands behind.
func TestPrefixIsStable(t *testing.T) {
	for _, place := range []delivery.Placement{{}, {HoistResults: true}} {
		var blobs providertest.Blobs
		all := conversation(&blobs)
		prof := profile()
		prof.Placement = place
		p := adapter("http://h", ollama.Config{Context: 4096})
		var last []byte
		for n := 1; n <= len(all); n++ {
			if all[n-1].Role == content.RoleAssistant {
				continue // a request ends with a user's or a tool's message
			}
			req := provider.Request{
				Prompt: providertest.Settle(t, prof, &blobs, all[:n]...), Blobs: &blobs, System: "s",
				Seed: int64(n), MaxOutput: n, Effort: provider.Effort(n % 5),
			}
			got := spell(t, p, req)
			if !bytes.HasPrefix(got, last) {
				t.Errorf("request with %d messages does not begin with the one before it", n)
			}
			i := bytes.LastIndex(got, []byte(`],"options"`))
			if i < 0 {
				t.Fatalf("the messages do not end before what may change: %s", got)
			}
			last = got[:i]
		}
	}
}

// The labels in the text of a message name its pictures in the order of the
// list.
func TestLabelsAndPicturesAgree(t *testing.T) {
	var blobs providertest.Blobs
	var blocks []content.Block
	for i := range 9 {
		h := content.NewHandle(content.KindImage, i+1, ".png")
		blocks = append(blocks, text(content.NewHandle(content.KindText, i+1, ""), "between"), picture(&blobs, h, "PNG "+string(h)))
	}
	for name, messages := range map[string][]content.Message{
		"user": {providertest.User(blocks...)},
		"tool": {
			providertest.User(text("text-99", "x")), providertest.Say(content.ToolCall{ID: "c", Name: "n"}, content.ToolCall{ID: "d", Name: "n"}),
			providertest.Results(
				content.ToolResult{CallID: "c", Name: "n", Blocks: blocks[:8]},
				content.ToolResult{CallID: "d", Name: "n", Blocks: blocks[8:]},
			),
		},
	} {
		req := provider.Request{Prompt: providertest.Settle(t, profile(), &blobs, messages...), Blobs: &blobs}
		sent, err := providertest.ReadOllama(spell(t, adapter("http://h", ollama.Config{}), req))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		n := 0
		check := func(parts []providertest.SentPart) {
			var labels, pictures []string
			for _, p := range parts {
				for l := range strings.Lines(p.Text) {
					if h, _, ok := strings.Cut(strings.TrimPrefix(l, "["), ": "); ok && strings.HasPrefix(h, "image-") {
						labels = append(labels, "PNG "+h)
					}
				}
				if p.Kind == content.KindImage {
					pictures = append(pictures, string(p.Data))
				}
			}
			if strings.Join(labels, ",") != strings.Join(pictures, ",") {
				t.Errorf("%s: labels %q, pictures %q", name, labels, pictures)
			}
			n += len(pictures)
		}
		for _, m := range sent.Messages {
			check(m.Parts)
			for _, p := range m.Parts {
				if p.Result != nil {
					check(p.Result.Parts)
				}
			}
		}
		if n != 9 {
			t.Errorf("%s: %d pictures, want 9", name, n)
		}
	}
}

// Every kind of block leaves its mark on the wire.
func TestEveryKindArrives(t *testing.T) {
	var blobs providertest.Blobs
	for _, b := range contenttest.Sound() {
		b = stored(&blobs, b)
		req := provider.Request{Prompt: providertest.Settle(t, profile(), &blobs, providertest.User(b)), Blobs: &blobs}
		got := spell(t, adapter("http://h", ollama.Config{}), req)
		mark := "mark-" + string(b.BlockHandle())
		switch b.Kind() {
		case content.KindOpaque:
			mark = "mark-video"
		case content.KindResourceText:
			mark = "bytes of resource-1.txt"
		case content.KindText, content.KindImage, content.KindAudio, content.KindDocument, content.KindResourceLink:
		}
		if !bytes.Contains(got, []byte(mark)) {
			t.Errorf("%s: no %q in %s", b.Kind(), mark, got)
		}
		sent, err := providertest.ReadOllama(got)
		if err != nil {
			t.Errorf("%s: %v", b.Kind(), err)
		}
		if k := b.Kind(); k == content.KindImage || k == content.KindAudio {
			media := sent.Media()
			if len(media) != 1 || media[0].Kind != k {
				t.Errorf("%s: media %v", k, media)
			}
		}
	}
}

// stored gives a sample's blobs bytes.
func stored(blobs *providertest.Blobs, b content.Block) content.Block {
	put := func(a *content.Attachment, data, mime string) {
		x := blobs.Put([]byte(data), mime)
		x.Width, x.Height = a.Prepared.Width, a.Prepared.Height
		a.Original, a.Prepared = x, x
	}
	switch b := b.(type) {
	case content.Image:
		put(&b.Attachment, "PNG", "image/png")
		return b
	case content.Audio:
		put(&b.Attachment, "RIFF....WAVE", "audio/wav")
		return b
	case content.Document:
		put(&b.Attachment, "%PDF-1.7", "application/pdf")
		b.Text = content.Blob{}
		return b
	case content.ResourceText:
		put(&b.Attachment, "bytes of "+string(b.Handle), "text/plain")
		return b
	case content.Text, content.ResourceLink, content.Opaque:
	}
	return b
}

func TestEncodeRefuses(t *testing.T) {
	var blobs providertest.Blobs
	p := profile()
	p.AudioLimits.MIMEs = []string{"audio/ogg"}
	p.Documents = p.Audio
	for name, r := range map[string]provider.Request{
		"sound":    {Prompt: providertest.Settle(t, p, &blobs, providertest.User(content.Audio{Attachment: attachment("audio-1.ogg", blobs.Put([]byte("ogg"), "audio/ogg"))}))},
		"document": {Prompt: providertest.Settle(t, p, &blobs, providertest.User(content.Document{Attachment: attachment("document-1.pdf", blobs.Put([]byte("%PDF"), "application/pdf"))}))},
		"schema":   {Tools: []provider.ToolSpec{{Name: "x", Schema: []byte("{")}}},
	} {
		r.Blobs = &blobs
		if body, err := adapter("http://h", ollama.Config{}).Encode(r); err == nil {
			t.Errorf("%s: encoded to %d bytes", name, body.Len())
		}
	}
}

func TestTail(t *testing.T) {
	prompt := providertest.Settle(t, profile(), nil, providertest.User(text("text-1", "hi")))
	for _, tc := range []struct {
		config  ollama.Config
		request provider.Request
		want    string
	}{
		{want: `"content":"hi"}]}`},
		{config: ollama.Config{Context: 8192}, want: `],"options":{"num_ctx":8192}}`},
		{request: provider.Request{MaxOutput: 5, Seed: 1<<31 - 1}, want: `],"options":{"num_predict":5,"seed":2147483647}}`},
		{request: provider.Request{Seed: 7, Effort: provider.EffortNone}, want: `],"options":{"seed":7},"think":false}`},
		{request: provider.Request{Effort: provider.EffortHigh}, want: `],"think":"high"}`},
		{request: provider.Request{Effort: provider.EffortMedium}, want: `],"think":"medium"}`},
	} {
		tc.request.Prompt = prompt
		body := spell(t, adapter("http://h", tc.config), tc.request)
		if !bytes.HasSuffix(body, []byte(tc.want)) {
			t.Errorf("%s does not end in %s", body, tc.want)
		}
		if _, err := providertest.ReadOllama(body); err != nil {
			t.Error(err)
		}
	}
}

// Pictures go from the store to the wire without being whole in memory.
func TestPicturesStream(t *testing.T) {
	var blobs providertest.Blobs
	var blocks []content.Block
	for i := range 10 {
		b := blobs.Put(bytes.Repeat([]byte{byte(i + 1)}, 3<<20), "image/png")
		blocks = append(blocks, providertest.Picture(content.NewHandle(content.KindImage, i+1, ".png"), b, 1000, 1000))
	}
	prompt := providertest.Settle(t, profile(), &blobs,
		providertest.User(blocks[:5]...), providertest.Say(content.ToolCall{ID: "c", Name: "n"}),
		providertest.Results(content.ToolResult{CallID: "c", Name: "n", Blocks: blocks[5:]}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	body, err := adapter("http://h", ollama.Config{}).Encode(provider.Request{Prompt: prompt, Blobs: &blobs})
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, body.Open())
	runtime.ReadMemStats(&after)
	if err != nil || n != body.Len() || n < 40<<20 {
		t.Fatalf("%d of %d bytes, %v", n, body.Len(), err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 20<<20 {
		t.Errorf("%d bytes of memory for a body of %d", used, n)
	}
}

func BenchmarkEncode(b *testing.B) {
	var blobs providertest.Blobs
	var messages []content.Message
	for range 50 {
		messages = append(messages, conversation(&blobs)...)
	}
	req := provider.Request{Prompt: providertest.Settle(b, profile(), &blobs, messages...), Blobs: &blobs}
	p := adapter("http://h", ollama.Config{Context: 32_768})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Encode(req); err != nil {
			b.Fatal(err)
		}
	}
}
