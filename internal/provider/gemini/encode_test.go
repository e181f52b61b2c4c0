package gemini_test

import (
	"bytes"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/content/contenttest"
	"tote/internal/provider"
	"tote/internal/provider/gemini"
	"tote/internal/provider/providertest"
)

type goldenCase struct {
	note     string
	config   gemini.Config
	native   bool
	request  provider.Request
	messages func(*providertest.Blobs) []content.Message
}

// conversation has every form that a message takes.
func conversation(b *providertest.Blobs) []content.Message {
	return []content.Message{
		providertest.User(text("text-1", "go")),
		providertest.Say(
			content.Reasoning{Text: "hm", Signature: "thought 0 0 0 VEhJTks=", Path: gemini.Path},
			content.Reasoning{Text: "unsigned", Path: gemini.Path},
			content.Reasoning{Signature: "text 0 2 6 VEVYVA==", Path: gemini.Path},
			content.Reasoning{Signature: "text 1 8 0 RU1QVFk=", Path: gemini.Path},
			content.Text{Body: "I look. "},
			content.ToolCall{ID: "c1", Name: "view", Arguments: `{"path": "a"}`, Signature: "Q0FMTA==", Path: gemini.Path},
			content.ToolCall{ID: "c2", Name: "list", Path: gemini.Path},
		),
		providertest.Results(
			content.ToolResult{CallID: "c1", Name: "view", Blocks: []content.Block{text("text-2", "here"), picture(b, "image-1.png", "PNG one"), text("text-3", "there"), picture(b, "image-2.png", "PNG two")}},
			content.ToolResult{CallID: "c2", Name: "list", IsError: true, Blocks: []content.Block{text("text-4", "no such folder"), picture(b, "image-3.png", "PNG three")}},
		),
		providertest.Say(content.ToolCall{ID: "c3", Name: "list", Arguments: "{broken"}, content.ToolCall{ID: "c4", Name: "list", Arguments: "{}"}),
		providertest.Results(content.ToolResult{CallID: "c3", Name: "list"}, content.ToolResult{CallID: "c4", Name: "list"}),
		providertest.Say(content.Text{Body: "Done."}),
		providertest.User(text("text-5", "thanks"), picture(b, "image-4.png", "PNG four")),
	}
}

var goldens = map[string]goldenCase{
	"text": {
		note: "Texts are parts, escapes are the shortest.",
		messages: func(*providertest.Blobs) []content.Message {
			return []content.Message{providertest.User(text("text-1", "a <b> & \"c\"\n\u2028 \xff"), text("text-2", "second"))}
		},
	},
	"options": {
		note:   "Instruction and tools stand before the contents, what may change behind them. A seed has 31 bits.",
		config: gemini.Config{Thinking: gemini.ThinkingLevel},
		request: provider.Request{
			System: "Be brief.", Seed: 1<<40 + 42, MaxOutput: 1000, Effort: provider.EffortLow,
			Tools: []provider.ToolSpec{{Name: "list"}, {Name: "read", Description: "reads \"it\"", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}},"additionalProperties":false}`)}},
		},
		messages: func(*providertest.Blobs) []content.Message {
			return []content.Message{providertest.User(text("text-1", "hi"))}
		},
	},
	"media": {
		note: "Pictures, sound and PDF stand inline behind their labels. MP3 has Google's name.",
		messages: func(b *providertest.Blobs) []content.Message {
			return []content.Message{providertest.User(
				text("text-1", "look"), picture(b, "image-1.png", "PNG one"),
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
	"hoisted": {
		note:     "Before Gemini 3 the pictures of results follow all results of the batch, in the same content.",
		messages: conversation,
	},
	"native": {
		note:     "Since Gemini 3 they stand in the result, named by their handle. Calls of other models are signed for them.",
		native:   true,
		config:   gemini.Config{CallSignatures: true},
		messages: conversation,
	},
	"no identifiers": {
		note:     "Vertex takes neither the identifier of a call nor that of a result.",
		config:   gemini.Config{NoCallIDs: true},
		messages: conversation,
	},
}

func TestGolden(t *testing.T) {
	for name, c := range goldens {
		t.Run(name, func(t *testing.T) {
			one := func() []byte {
				var blobs providertest.Blobs
				req := c.request
				req.Prompt, req.Blobs = providertest.Settle(t, profile(c.native), &blobs, c.messages(&blobs)...), &blobs
				return spell(t, adapter("http://h", c.config), req)
			}
			body := one()
			if !bytes.Equal(body, one()) {
				t.Error("the same request gives another body")
			}
			if _, err := providertest.ReadGemini(body); err != nil {
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

// The next request's bytes begin with this one's up to the end of its last
// content, whatever stands behind.
func TestPrefixIsStable(t *testing.T) {
	for _, native := range []bool{false, true} {
		var blobs providertest.Blobs
		all := conversation(&blobs)
		p := adapter("http://h", gemini.Config{Thinking: gemini.ThinkingBudget, CallSignatures: native})
		var last []byte
		for n := 1; n <= len(all); n++ {
			if all[n-1].Role == content.RoleAssistant {
				continue // a request ends with a user's or a tool's message
			}
			req := provider.Request{
				Prompt: providertest.Settle(t, profile(native), &blobs, all[:n]...), Blobs: &blobs, System: "s",
				Seed: int64(n), MaxOutput: n, Effort: provider.Effort(n % 5),
			}
			got := spell(t, p, req)
			if !bytes.HasPrefix(got, last) {
				t.Errorf("request with %d messages does not begin with the one before it", n)
			}
			i := bytes.LastIndex(got, []byte(`]}],"generationConfig"`))
			if i < 0 {
				t.Fatalf("the contents do not end before what may change: %s", got)
			}
			last = got[:i]
		}
	}
}

// Every kind of block leaves its mark on the wire.
func TestEveryKindArrives(t *testing.T) {
	var blobs providertest.Blobs
	for _, b := range contenttest.Sound() {
		b = stored(&blobs, b)
		for name, messages := range map[string][]content.Message{
			"user": {providertest.User(b)},
			"tool": {
				providertest.User(text("text-9", "x")), providertest.Say(content.ToolCall{ID: "c", Name: "n"}),
				providertest.Results(content.ToolResult{CallID: "c", Name: "n", Blocks: []content.Block{b}}),
			},
		} {
			req := provider.Request{Prompt: providertest.Settle(t, profile(false), &blobs, messages...), Blobs: &blobs}
			got := spell(t, adapter("http://h", gemini.Config{}), req)
			mark := "mark-" + string(b.BlockHandle())
			switch b.Kind() {
			case content.KindOpaque:
				mark = "mark-video"
			case content.KindResourceText:
				mark = "bytes of resource-1.txt"
			case content.KindText, content.KindImage, content.KindAudio, content.KindDocument, content.KindResourceLink:
			}
			if !bytes.Contains(got, []byte(mark)) {
				t.Errorf("%s of %s: no %q in %s", b.Kind(), name, mark, got)
			}
			sent, err := providertest.ReadGemini(got)
			if err != nil {
				t.Errorf("%s of %s: %v", b.Kind(), name, err)
			}
			if a, ok := content.AttachmentOf(b); ok && b.Kind() != content.KindResourceText {
				media := sent.Media()
				if len(media) != 1 || media[0].Kind != b.Kind() || string(media[0].Data) != "bytes of "+string(a.Handle) {
					t.Errorf("%s of %s: media %v", b.Kind(), name, media)
				}
			}
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
	p := profile(false)
	p.AudioLimits.MIMEs = []string{"audio/amr"}
	p.DocumentLimits.MIMEs = []string{"text/csv"}
	for name, r := range map[string]provider.Request{
		"sound":    {Prompt: providertest.Settle(t, p, &blobs, providertest.User(content.Audio{Attachment: attachment("audio-1.amr", blobs.Put([]byte("amr"), "audio/amr"))}))},
		"document": {Prompt: providertest.Settle(t, p, &blobs, providertest.User(content.Document{Attachment: attachment("document-1.csv", blobs.Put([]byte("a,b"), "text/csv"))}))},
		"schema":   {Tools: []provider.ToolSpec{{Name: "x", Schema: []byte("{")}}},
	} {
		r.Blobs = &blobs
		if body, err := adapter("http://h", gemini.Config{}).Encode(r); err == nil {
			t.Errorf("%s: encoded to %d bytes", name, body.Len())
		}
	}
}

func TestThinking(t *testing.T) {
	prompt := providertest.Settle(t, profile(true), nil, providertest.User(text("text-1", "hi")))
	for _, tc := range []struct {
		form   gemini.Thinking
		effort provider.Effort
		want   string
	}{
		{gemini.ThinkingNone, provider.EffortHigh, `]}]}`},
		{gemini.ThinkingLevel, provider.EffortDefault, `{"thinkingConfig":{"includeThoughts":true}}}`},
		{gemini.ThinkingLevel, provider.EffortNone, `{"thinkingConfig":{"thinkingLevel":"MINIMAL","includeThoughts":true}}}`},
		{gemini.ThinkingLevel, provider.EffortMedium, `{"thinkingConfig":{"thinkingLevel":"MEDIUM","includeThoughts":true}}}`},
		{gemini.ThinkingLevel, provider.EffortHigh, `{"thinkingConfig":{"thinkingLevel":"HIGH","includeThoughts":true}}}`},
		{gemini.ThinkingBudget, provider.EffortDefault, `{"thinkingConfig":{"includeThoughts":true}}}`},
		{gemini.ThinkingBudget, provider.EffortNone, `{"thinkingConfig":{"thinkingBudget":0}}}`},
		{gemini.ThinkingBudget, provider.EffortLow, `{"thinkingConfig":{"thinkingBudget":1024,"includeThoughts":true}}}`},
		{gemini.ThinkingBudget, provider.EffortHigh, `{"thinkingConfig":{"thinkingBudget":24576,"includeThoughts":true}}}`},
	} {
		body := spell(t, adapter("http://h", gemini.Config{Thinking: tc.form, NoSeed: true}), provider.Request{Prompt: prompt, Effort: tc.effort, Seed: 5})
		if !bytes.HasSuffix(body, []byte(tc.want)) {
			t.Errorf("form %d, effort %q: %s does not end in %s", tc.form, tc.effort, body, tc.want)
		}
		if _, err := providertest.ReadGemini(body); err != nil {
			t.Error(err)
		}
	}
}

// Seeds of any size fit what the backend takes.
func TestSeedFits(t *testing.T) {
	prompt := providertest.Settle(t, profile(true), nil, providertest.User(text("text-1", "hi")))
	for _, seed := range []int64{1, -1, 1 << 31, 1<<63 - 1, -1 << 63, 0x7fff_ffff_0000_0001} {
		body := spell(t, adapter("http://h", gemini.Config{}), provider.Request{Prompt: prompt, Seed: seed})
		if _, err := providertest.ReadGemini(body); err != nil || !bytes.Contains(body, []byte(`"seed":`)) {
			t.Errorf("seed %d: %v in %s", seed, err, body)
		}
	}
}

// The first call of a message stands for all: it alone gets the signature for
// calls of other models, and none does where the model signed one itself.
func TestForeignCallsAreSigned(t *testing.T) {
	call := func(id, signature string) content.ToolCall {
		return content.ToolCall{ID: id, Name: "n", Arguments: "{}", Signature: signature, Path: gemini.Path}
	}
	foreign := content.ToolCall{ID: "a", Name: "n", Arguments: "{}", Signature: "other", Path: "openai-chat"}
	const dummy = "skip_thought_signature_validator"
	for name, tc := range map[string]struct {
		calls []content.Part
		on    bool
		want  []string
	}{
		"foreign":   {[]content.Part{foreign, content.ToolCall{ID: "b", Name: "n"}}, true, []string{dummy, ""}},
		"off":       {[]content.Part{foreign}, false, []string{""}},
		"own":       {[]content.Part{call("a", "S1"), call("b", ""), call("c", "S2")}, true, []string{"S1", "", "S2"}},
		"own later": {[]content.Part{call("a", ""), call("b", "S")}, true, []string{"", "S"}},
		"unsigned":  {[]content.Part{content.Text{Body: "t"}, call("a", "")}, true, []string{dummy}},
	} {
		var results []content.ToolResult
		for _, p := range tc.calls {
			if c, ok := p.(content.ToolCall); ok {
				results = append(results, content.ToolResult{CallID: c.ID, Name: "n"})
			}
		}
		req := provider.Request{Prompt: providertest.Settle(t, profile(true), nil,
			providertest.User(text("text-1", "x")), providertest.Say(tc.calls...), providertest.Results(results...))}
		sent, err := providertest.ReadGemini(spell(t, adapter("http://h", gemini.Config{CallSignatures: tc.on}), req))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, p := range sent.Messages[1].Parts {
			if p.Call != nil {
				got = append(got, p.Signature)
			}
		}
		if strings.Join(got, ",") != strings.Join(tc.want, ",") {
			t.Errorf("%s: signatures %q, want %q", name, got, tc.want)
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
	p := profile(true)
	messages := []content.Message{
		providertest.User(blocks[:5]...), providertest.Say(content.ToolCall{ID: "c", Name: "n"}),
		providertest.Results(content.ToolResult{CallID: "c", Name: "n", Blocks: blocks[5:]}),
	}
	prompt := providertest.Settle(t, p, &blobs, messages...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	body, err := adapter("http://h", gemini.Config{}).Encode(provider.Request{Prompt: prompt, Blobs: &blobs})
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
	req := provider.Request{Prompt: providertest.Settle(b, profile(true), &blobs, messages...), Blobs: &blobs}
	p := adapter("http://h", gemini.Config{CallSignatures: true})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Encode(req); err != nil {
			b.Fatal(err)
		}
	}
}
