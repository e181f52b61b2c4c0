package bedrock_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
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
	"tote/internal/provider/bedrock"
	"tote/internal/provider/providertest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestMain keeps the tests away from what the developer's machine knows of AWS.
func TestMain(m *testing.M) {
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "AWS_") {
			_ = os.Unsetenv(name) // a name that cannot be unset is none
		}
	}
	home, err := os.MkdirTemp("", "tote-bedrock-")
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if err := os.Setenv(name, home); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	_ = os.RemoveAll(home) // the system sweeps what is left
	os.Exit(code)
}

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

func sound(b *providertest.Blobs, h content.Handle, mime string) content.Audio {
	return content.Audio{Attachment: attachment(h, b.Put([]byte("sound "+mime), mime)), Millis: 100}
}

func document(b *providertest.Blobs, h content.Handle, mime string) content.Document {
	return content.Document{Attachment: attachment(h, b.Put([]byte("document "+mime), mime)), Pages: 1}
}

const (
	docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	pdf  = "application/pdf"
)

// native is a model that takes pictures in tool results, hoisting one that does not.
var (
	native   = delivery.Placement{TextErrors: true, MergeRoles: true, DocumentNeedsText: true}
	hoisting = delivery.Placement{HoistResults: true, TextErrors: true, MergeRoles: true, DocumentNeedsText: true}
)

func profile(place delivery.Placement) delivery.Profile {
	p := providertest.Profile(bedrock.Path)
	p.Placement = place
	p.AudioLimits.MIMEs = []string{"audio/wav", "audio/mpeg", "audio/ogg"}
	p.DocumentLimits.MIMEs = []string{pdf, docx}
	return p
}

// model makes an adapter that reads nothing of the machine.
func model(o provider.Options, c bedrock.Config) *bedrock.Converse {
	if c.Model == "" {
		c.Model = "anthropic.claude-x-v1:0"
	}
	if c.Env == nil {
		c.Env = func(string) string { return "" }
	}
	return bedrock.New(o, c)
}

type goldenCase struct {
	note     string
	config   bedrock.Config
	place    delivery.Placement
	request  provider.Request
	messages func(*providertest.Blobs) []content.Message
}

var goldens = map[string]goldenCase{
	"text": {
		note: "Escapes are the shortest; blank text is left out.",
		messages: func(*providertest.Blobs) []content.Message {
			return []content.Message{providertest.User(text("text-1", "a <b> & \"c\"\n\u2028 \xff"), text("text-2", " \n"), text("text-3", "second"))}
		},
	},
	"options": {
		note:   "Fields, limit, system prompt and tools stand before the messages; a name that is not taken is replaced.",
		config: bedrock.Config{Thinking: bedrock.ThinkingBudget},
		request: provider.Request{
			System: "Be brief.", Seed: 42, MaxOutput: 10_000, Effort: provider.EffortMedium,
			Tools: []provider.ToolSpec{
				{Name: "list"},
				{Name: "read", Description: "reads \"it\"", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
				{Name: "server.tool/x", Description: "of another server"},
			},
		},
		messages: func(*providertest.Blobs) []content.Message {
			return []content.Message{providertest.User(text("text-1", "hi"))}
		},
	},
	"media": {
		note: "Pictures, documents and sound stand behind their labels; documents have neutral names of their own.",
		messages: func(b *providertest.Blobs) []content.Message {
			return []content.Message{providertest.User(
				text("text-1", "look"), picture(b, "image-1.png", "PNG one"),
				providertest.Picture("image-2.jpg", b.Put([]byte("JPEG"), "image/jpeg"), 3, 2),
				document(b, "document-1.pdf", pdf), document(b, "document-2.docx", docx), document(b, "document-1.pdf", pdf),
				sound(b, "audio-1.wav", "audio/wav"), sound(b, "audio-2.mp3", "audio/mpeg"),
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
		note:   "Results stand first in one message with what the user says next, pictures in them; thinking goes back signed or not at all.",
		config: bedrock.Config{ResultStatus: true},
		place:  native,
		request: provider.Request{
			Tools: []provider.ToolSpec{{Name: "list"}, {Name: "view"}},
		},
		messages: conversation,
	},
	"tools hoisted": {
		note:     "Where results take no pictures these follow behind all results, in the same message. Tools that are gone are declared all the same.",
		place:    hoisting,
		messages: conversation,
	},
	"cache": {
		note:   "At most four cache points: system prompt, tools, and the last two messages of the user; none behind a document that is no PDF.",
		config: bedrock.Config{CachePoints: bedrock.CacheAll, ResultStatus: true},
		place:  native,
		request: provider.Request{
			System: "Be brief.", Tools: []provider.ToolSpec{{Name: "list"}, {Name: "view"}},
		},
		messages: func(b *providertest.Blobs) []content.Message {
			return append(conversation(b), providertest.Say(content.Text{Body: "Yes?"}), providertest.User(document(b, "document-1.docx", docx)))
		},
	},
	"sound in results": {
		note:  "Sound has no place in a result: it follows behind all of them under its label, and so do media after it.",
		place: native,
		messages: func(b *providertest.Blobs) []content.Message {
			return []content.Message{
				providertest.User(text("text-1", "go")),
				providertest.Say(content.ToolCall{ID: "c1", Name: "view"}, content.ToolCall{ID: "c2", Name: "view"}),
				providertest.Results(
					content.ToolResult{CallID: "c1", Name: "view", Blocks: []content.Block{picture(b, "image-1.png", "PNG one"), sound(b, "audio-1.wav", "audio/wav"), text("text-2", "there")}},
					content.ToolResult{CallID: "c2", Name: "view", Blocks: []content.Block{picture(b, "image-2.png", "PNG two")}},
				),
			}
		},
	},
	"odd calls": {
		note:  "Ids and names that are not taken are replaced, repeated ids told apart, arguments that are no object emptied.",
		place: native,
		messages: func(*providertest.Blobs) []content.Message {
			long := strings.Repeat("n", 100)
			var out []content.Message
			for _, id := range []string{"call|1", "same", "same", long, ""} {
				out = append(out, providertest.User(text("text-1", "go")),
					providertest.Say(content.ToolCall{ID: id, Name: "a b", Arguments: `[1]`}, content.ToolCall{ID: id, Name: long, Arguments: `{"x":1}`}),
					providertest.Results(content.ToolResult{CallID: id, Name: "a b", Blocks: []content.Block{text("text-2", "one")}}, content.ToolResult{CallID: id, Name: long, Blocks: []content.Block{text("text-3", "two")}}),
					providertest.Say(content.Text{Body: "ok"}))
			}
			return append(out, providertest.User(text("text-4", "end")))
		},
	},
}

func conversation(b *providertest.Blobs) []content.Message {
	return []content.Message{
		providertest.User(text("text-1", "go")),
		providertest.Say(
			content.Reasoning{Text: "thinking", Signature: "c2lnbmVk", Path: bedrock.Path},
			content.Reasoning{Signature: "redacted:c2VjcmV0", Path: bedrock.Path},
			content.Reasoning{Text: "unsigned", Path: bedrock.Path},
			content.Text{Body: "I look."},
			content.ToolCall{ID: "c1", Name: "view", Arguments: `{"path":"a"}`},
			content.ToolCall{ID: "c2", Name: "list"},
		),
		providertest.Results(
			content.ToolResult{CallID: "c1", Name: "view", Blocks: []content.Block{text("text-2", "here"), picture(b, "image-1.png", "PNG one"), text("text-3", "there")}},
			content.ToolResult{CallID: "c2", Name: "list", IsError: true, Blocks: []content.Block{text("text-4", "no such folder"), picture(b, "image-2.png", "PNG two")}},
		),
		providertest.Say(content.ToolCall{ID: "c3", Name: "list"}),
		providertest.Results(content.ToolResult{CallID: "c3", Name: "list"}),
		providertest.User(text("text-5", "thanks"), picture(b, "image-3.png", "PNG three")),
	}
}

func (c goldenCase) encode(t *testing.T) []byte {
	t.Helper()
	var blobs providertest.Blobs
	req := c.request
	req.Prompt = providertest.Settle(t, profile(c.place), &blobs, c.messages(&blobs)...)
	req.Blobs = &blobs
	return spell(t, model(provider.Options{BaseURL: "http://h"}, c.config), req)
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

func TestGolden(t *testing.T) {
	for name, c := range goldens {
		t.Run(name, func(t *testing.T) {
			body := c.encode(t)
			if again := c.encode(t); !bytes.Equal(body, again) {
				t.Error("the same request gives another body")
			}
			if err := providertest.CheckConverse(body); err != nil {
				t.Error(err)
			}
			var got bytes.Buffer
			if err := json.Indent(&got, body, "", "  "); err != nil {
				t.Fatalf("not JSON: %v\n%s", err, body)
			}
			got.WriteByte('\n')
			file := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".txtar")
			if *update {
				a := &txtar.Archive{Comment: []byte(c.note + "\n"), Files: []txtar.File{{Name: "wire.json", Data: got.Bytes()}}}
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
		})
	}
}

func TestEveryGoldenIsUsed(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) != len(goldens) {
		t.Errorf("%d golden files for %d cases, %v", len(files), len(goldens), err)
	}
}

// What was sent arrives: each medium once, decoded, in order.
func TestMediaArrive(t *testing.T) {
	for name, want := range map[string]string{
		"media":            "PNG one|JPEG|document application/pdf|document " + docx + "|document application/pdf|sound audio/wav|sound audio/mpeg",
		"tools":            "PNG one|PNG two|PNG three",
		"tools hoisted":    "PNG one|PNG two|PNG three",
		"sound in results": "PNG one|sound audio/wav|PNG two",
	} {
		sent, err := providertest.ReadConverse(goldens[name].encode(t))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range sent.Media() {
			got = append(got, string(m.Data))
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%s: %s", name, s)
		}
	}
}

// The next request's bytes begin with this one's up to the end of its messages,
// cache points aside.
func TestPrefixIsStable(t *testing.T) {
	for _, cache := range []bedrock.CachePoints{bedrock.CacheOff, bedrock.CacheAll, bedrock.CacheNoTools} {
		for _, place := range []delivery.Placement{native, hoisting} {
			var blobs providertest.Blobs
			all := goldens["cache"].messages(&blobs)
			all = append(all, goldens["odd calls"].messages(&blobs)[1:]...)
			c := model(provider.Options{BaseURL: "http://h"}, bedrock.Config{CachePoints: cache})
			var last []byte
			for n := 1; n <= len(all); n++ {
				if all[n-1].Role == content.RoleAssistant {
					continue // a request ends with a user's or a tool's message
				}
				req := provider.Request{
					Prompt: providertest.Settle(t, profile(place), &blobs, all[:n]...), Blobs: &blobs, System: "s", Seed: int64(n),
					Tools: []provider.ToolSpec{{Name: "view"}},
				}
				got := spell(t, c, req)
				if err := providertest.CheckConverse(got); err != nil {
					t.Fatal(err)
				}
				got = bytes.ReplaceAll(got, []byte(`,{"cachePoint":{"type":"default"}}`), nil)
				if !bytes.HasPrefix(got, last) {
					t.Errorf("request with %d messages does not begin with the one before it:\n%s\n%s", n, last, got)
				}
				last = bytes.TrimSuffix(got, []byte("]}]}"))
			}
		}
	}
}

// The mark at the end of one request is still there in the next, else nothing
// is found in the cache.
func TestCachePointsFollow(t *testing.T) {
	var blobs providertest.Blobs
	c := model(provider.Options{BaseURL: "http://h"}, bedrock.Config{CachePoints: bedrock.CacheAll})
	all := conversation(&blobs)
	marks := func(n int) []int {
		sent, err := providertest.ReadConverse(spell(t, c, provider.Request{
			Prompt: providertest.Settle(t, profile(native), &blobs, all[:n]...), Blobs: &blobs, System: "s", Tools: []provider.ToolSpec{{Name: "view"}},
		}))
		if err != nil {
			t.Fatal(err)
		}
		var out []int
		for i, m := range sent.Messages {
			if m.Parts[len(m.Parts)-1].Cache {
				out = append(out, i)
			}
		}
		return out
	}
	for n, want := range map[int][]int{1: {0}, 3: {0, 2}, 6: {2, 4}} {
		if d := cmp.Diff(want, marks(n)); d != "" {
			t.Errorf("%d messages:\n%s", n, d)
		}
	}
}

// Every kind of block leaves its mark on the wire.
func TestEveryKindArrives(t *testing.T) {
	var blobs providertest.Blobs
	for _, b := range contenttest.Sound() {
		b = stored(&blobs, b)
		req := provider.Request{Prompt: providertest.Settle(t, profile(native), &blobs, providertest.User(b)), Blobs: &blobs}
		got := string(spell(t, model(provider.Options{BaseURL: "http://h"}, bedrock.Config{}), req))
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
		put(&b.Attachment, pdf)
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
	p.AudioLimits.MIMEs = []string{"audio/midi"}
	p.DocumentLimits.MIMEs = []string{"application/zip"}
	p.ImageLimits.MIMEs = []string{"image/heic"}
	settled := func(b content.Block) delivery.Prompt {
		return providertest.Settle(t, p, &blobs, providertest.User(b))
	}
	c := model(provider.Options{BaseURL: "http://h"}, bedrock.Config{})
	for name, r := range map[string]provider.Request{
		"sound":         {Prompt: settled(sound(&blobs, "audio-1.mid", "audio/midi"))},
		"document":      {Prompt: settled(document(&blobs, "document-1.zip", "application/zip"))},
		"picture":       {Prompt: settled(providertest.Picture("image-1.heic", blobs.Put([]byte("heic"), "image/heic"), 3, 2))},
		"schema":        {Tools: []provider.ToolSpec{{Name: "x", Schema: []byte("{")}}},
		"schema's form": {Tools: []provider.ToolSpec{{Name: "x", Schema: []byte("true")}}},
	} {
		r.Blobs = &blobs
		if body, err := c.Encode(r); err == nil {
			t.Errorf("%s: encoded to %d bytes", name, body.Len())
		}
	}
}

func TestThinking(t *testing.T) {
	prompt := providertest.Settle(t, profile(native), nil, providertest.User(text("text-1", "hi")))
	for _, tt := range []struct {
		form   bedrock.Thinking
		effort provider.Effort
		output int
		want   string
	}{
		{bedrock.ThinkingNone, provider.EffortHigh, 0, ``},
		{bedrock.ThinkingBudget, provider.EffortDefault, 500, `"inferenceConfig":{"maxTokens":500},`},
		{bedrock.ThinkingBudget, provider.EffortNone, 0, `"additionalModelRequestFields":{"thinking":{"type":"disabled"}},`},
		{bedrock.ThinkingBudget, provider.EffortLow, 0, `"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":2048}},"inferenceConfig":{"maxTokens":10240},`},
		{bedrock.ThinkingBudget, provider.EffortHigh, 0, `"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":16384}},"inferenceConfig":{"maxTokens":24576},`},
		{bedrock.ThinkingBudget, provider.EffortHigh, 4000, `"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":2000}},"inferenceConfig":{"maxTokens":4000},`},
		{bedrock.ThinkingBudget, provider.EffortHigh, 2000, `"additionalModelRequestFields":{"thinking":{"type":"disabled"}},"inferenceConfig":{"maxTokens":2000},`},
		{bedrock.ThinkingAdaptive, provider.EffortMedium, 0, `"additionalModelRequestFields":{"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"medium"}},`},
		{bedrock.ThinkingAdaptive, provider.EffortNone, 0, `"additionalModelRequestFields":{"thinking":{"type":"disabled"}},`},
		{bedrock.ThinkingNova, provider.EffortLow, 9, `"additionalModelRequestFields":{"reasoningConfig":{"type":"enabled","maxReasoningEffort":"low"}},"inferenceConfig":{"maxTokens":9},`},
		{bedrock.ThinkingNova, provider.EffortHigh, 9, `"additionalModelRequestFields":{"reasoningConfig":{"type":"enabled","maxReasoningEffort":"high"}},`},
		{bedrock.ThinkingNova, provider.EffortNone, 9, `"additionalModelRequestFields":{"reasoningConfig":{"type":"disabled"}},"inferenceConfig":{"maxTokens":9},`},
		{bedrock.ThinkingEffort, provider.EffortHigh, 0, `"additionalModelRequestFields":{"reasoning_effort":"high"},`},
		{bedrock.ThinkingEffort, provider.EffortNone, 0, `"additionalModelRequestFields":{"reasoning_effort":"low"},`},
	} {
		c := model(provider.Options{BaseURL: "http://h"}, bedrock.Config{Thinking: tt.form})
		got := spell(t, c, provider.Request{Prompt: prompt, Effort: tt.effort, MaxOutput: tt.output})
		head, _, _ := strings.Cut(string(got), `"messages":`)
		if head != "{"+tt.want {
			t.Errorf("form %d, effort %v: %s", tt.form, tt.effort, head)
		}
		if err := providertest.CheckConverse(got); err != nil {
			t.Error(err)
		}
	}
}

// Claude refuses to think on from calls that it made without thinking.
func TestThinkingFromBareCalls(t *testing.T) {
	signed := content.Reasoning{Text: "t", Signature: "c2ln", Path: bedrock.Path}
	call := content.ToolCall{ID: "c1", Name: "list"}
	for name, tt := range map[string]struct {
		said []content.Part
		want string
	}{
		"bare":     {[]content.Part{call}, `"type":"disabled"`},
		"thought":  {[]content.Part{signed, call}, `"type":"enabled"`},
		"no calls": {[]content.Part{text("", "hm")}, `"type":"enabled"`},
	} {
		messages := []content.Message{providertest.User(text("text-1", "go")), providertest.Say(tt.said...)}
		if name == "no calls" {
			messages = append(messages, providertest.User(text("text-2", "on")))
		}
		c := model(provider.Options{BaseURL: "http://h"}, bedrock.Config{Thinking: bedrock.ThinkingBudget})
		got := spell(t, c, provider.Request{Prompt: providertest.Settle(t, profile(native), nil, messages...), Effort: provider.EffortLow})
		if !strings.Contains(string(got), tt.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Two calls that look alike after replacing stay two, and so do two tools.
func TestNamesStayApart(t *testing.T) {
	var messages []content.Message
	want := 0
	for _, name := range []string{"a.b", "a_b", "a/b", "ä_b", strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("x", 66), ""} {
		for i := range 2 {
			id := fmt.Sprint(name, "#", i%2)
			messages = append(messages, providertest.User(text("text-1", "go")), providertest.Say(content.ToolCall{ID: id, Name: name}),
				providertest.Results(content.ToolResult{CallID: id, Name: name, Blocks: []content.Block{text("text-2", "ok")}}), providertest.Say(content.Text{Body: "ok"}))
		}
		want++
	}
	messages = append(messages, providertest.User(text("text-1", "end")))
	body := spell(t, model(provider.Options{BaseURL: "http://h"}, bedrock.Config{}), provider.Request{Prompt: providertest.Settle(t, profile(native), nil, messages...)})
	sent, err := providertest.ReadConverse(body) // also: ids are unique
	if err != nil {
		t.Fatal(err)
	}
	if len(sent.Tools) != want {
		t.Errorf("%d tools of %d: %q", len(sent.Tools), want, sent.Tools)
	}
}

func BenchmarkEncode(b *testing.B) {
	var blobs providertest.Blobs
	var messages []content.Message
	for range 50 {
		messages = append(messages, conversation(&blobs)...)
	}
	req := provider.Request{Prompt: providertest.Settle(b, profile(native), &blobs, messages...), Blobs: &blobs}
	c := model(provider.Options{BaseURL: "http://h"}, bedrock.Config{CachePoints: bedrock.CacheAll})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Encode(req); err != nil {
			b.Fatal(err)
		}
	}
}
