package offline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/offline"
	"tote/internal/provider/openai"
	"tote/internal/provider/providertest"
)

// flag is a picture, a third of it blue and the rest red.
func flag(tb testing.TB, w, h int) []byte {
	tb.Helper()
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{R: 220, A: 255}
			if y*3 < h {
				c = color.RGBA{B: 220, A: 255}
			}
			m.SetRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

type answer struct {
	text  string
	calls []content.ToolCall
	usage content.Usage
	stop  content.StopReason
	err   *provider.Error
}

func ask(ctx context.Context, tb testing.TB, p provider.Provider, blobs *providertest.Blobs, messages ...content.Message) answer {
	tb.Helper()
	body, err := p.Encode(provider.Request{Prompt: providertest.Settle(tb, providertest.Profile(openai.ChatPath), blobs, messages...), Blobs: blobs})
	if err != nil {
		tb.Fatal(err)
	}
	return read(ctx, tb, p, body)
}

func read(ctx context.Context, tb testing.TB, p provider.Provider, body provider.Body) answer {
	tb.Helper()
	var a answer
	for ev, err := range p.Stream(ctx, body) {
		if err != nil && !errors.As(err, &a.err) {
			tb.Fatalf("not an *Error: %v", err)
		}
		switch ev := ev.(type) {
		case provider.TextDelta:
			a.text += ev.Text
		case provider.Call:
			a.calls = append(a.calls, ev.Call)
		case provider.UsageReport:
			a.usage = ev.Usage
		case provider.Finish:
			a.stop = ev.Stop
		case provider.ThoughtDelta, provider.Thought, provider.Retry, provider.Remark:
		}
	}
	return a
}

func text(s string) content.Text { return content.Text{Handle: "text-1", Body: s} }

func fault(f offline.Faults) provider.Provider {
	return offline.New(offline.Options{Name: "demo", Faults: f, MaxRetries: -1})
}

func kind(a answer) delivery.FailureKind {
	if a.err == nil {
		return delivery.FailNone
	}
	return a.err.Failure.Kind
}

func TestItSaysWhatItSaw(t *testing.T) {
	var blobs providertest.Blobs
	sound := blobs.Put([]byte("RIFF, honestly"), "audio/wav")
	pdf := blobs.Put([]byte("%PDF-1.7 honestly"), "application/pdf")
	a := ask(t.Context(), t, fault(offline.Faults{}), &blobs, providertest.User(
		text("What is this? Größe"),
		providertest.Picture("image-1.png", blobs.Put(flag(t, 64, 33), "image/png"), 64, 33),
		providertest.Picture("image-2.png", blobs.Put([]byte("no picture"), "image/png"), 1, 1),
		content.Audio{Attachment: content.Attachment{Handle: "audio-1.wav", Original: sound, Prepared: sound}},
		content.Document{Attachment: content.Attachment{Handle: "document-1.pdf", Name: "a.pdf", Original: pdf, Prepared: pdf}},
	))
	if a.err != nil || a.stop != content.StopEndTurn {
		t.Fatalf("%+v", a)
	}
	for _, want := range []string{
		"no language model", "PNG, 64×33 pixels", "red (67%), blue (33%)", "Picture 2: sent as image/png, 10 bytes, but it does not decode",
		"Sound: WAV, 14 bytes.", `Document "a.pdf": application/pdf, 17 bytes.`, "characters of text",
	} {
		if !strings.Contains(a.text, want) {
			t.Errorf("no %q in:\n%s", want, a.text)
		}
	}
	if got := a.usage.Image; got != content.Reported(4) {
		t.Errorf("image tokens %v, want 4", got)
	}
}

func TestEarlierPicturesAndToolResults(t *testing.T) {
	var blobs providertest.Blobs
	first := providertest.Picture("image-1.png", blobs.Put(flag(t, 10, 9), "image/png"), 10, 9)
	second := providertest.Picture("image-2.png", blobs.Put(flag(t, 20, 9), "image/png"), 20, 9)
	a := ask(t.Context(), t, fault(offline.Faults{}), &blobs,
		providertest.User(text("look"), first),
		providertest.Say(content.Text{Body: "I did."}),
		providertest.User(content.Text{Handle: "text-2", Body: "and now"}),
		providertest.Say(content.ToolCall{ID: "c", Name: "view", Arguments: "{}"}),
		providertest.Results(content.ToolResult{CallID: "c", Name: "view", Blocks: []content.Block{second}}),
	)
	for _, want := range []string{"Earlier picture 1: PNG, 10×9", "Picture 1: PNG, 20×9", "Tool results: 1,"} {
		if !strings.Contains(a.text, want) {
			t.Errorf("no %q in:\n%s", want, a.text)
		}
	}
}

func TestToolCalls(t *testing.T) {
	var blobs providertest.Blobs
	pic := providertest.Picture("image-1.png", blobs.Put(flag(t, 10, 9), "image/png"), 10, 9)
	calls := []offline.ToolCall{{Name: "view", Arguments: `{"path":"a"}`}, {Name: "list"}}
	for name, tc := range map[string]struct {
		parallel bool
		want     []int // calls in each request
	}{
		"one a request": {false, []int{1, 1, 0}},
		"all at once":   {true, []int{2, 0}},
	} {
		p := fault(offline.Faults{ToolCalls: calls, Parallel: tc.parallel})
		messages := []content.Message{providertest.User(text("go"))}
		for turn := range 2 {
			var got []int
			for range tc.want {
				a := ask(t.Context(), t, p, &blobs, messages...)
				if a.err != nil {
					t.Fatal(a.err)
				}
				got = append(got, len(a.calls))
				if len(a.calls) == 0 {
					messages = append(messages, providertest.Say(content.Text{Body: a.text}))
					continue
				}
				var parts []content.Part
				var results []content.ToolResult
				for _, c := range a.calls {
					parts = append(parts, c)
					results = append(results, content.ToolResult{CallID: c.ID, Name: c.Name, Blocks: []content.Block{pic}})
				}
				messages = append(messages, providertest.Say(parts...), providertest.Results(results...))
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("%s, turn %d: %s", name, turn, d)
			}
			messages = append(messages, providertest.User(text("again")))
		}
	}
}

func TestFaults(t *testing.T) {
	var blobs providertest.Blobs
	pic := providertest.Picture("image-1.png", blobs.Put(flag(t, 64, 64), "image/png"), 64, 64)
	with, without := providertest.User(text("look"), pic), providertest.User(text("look"))
	for name, tc := range map[string]struct {
		faults  offline.Faults
		message content.Message
		want    delivery.FailureKind
		image   content.Count
	}{
		"none":                     {offline.Faults{}, with, delivery.FailNone, content.Reported(4)},
		"no picture":               {offline.Faults{}, without, delivery.FailNone, content.Reported(0)},
		"zero":                     {offline.Faults{ImageTokens: offline.TokensZero}, with, delivery.FailNone, content.Reported(0)},
		"absent":                   {offline.Faults{ImageTokens: offline.TokensAbsent}, with, delivery.FailNone, content.Count{}},
		"refuse":                   {offline.Faults{RefuseImages: offline.Refusal{Status: 400}}, with, delivery.FailRefused, content.Count{}},
		"refuse with 500":          {offline.Faults{RefuseImages: offline.Refusal{Status: 500, Message: "image input is not supported"}}, with, delivery.FailRefused, content.Count{}},
		"refuse without a picture": {offline.Faults{RefuseImages: offline.Refusal{Status: 400}}, without, delivery.FailNone, content.Reported(0)},
		"cut":                      {offline.Faults{CutAfter: 400}, with, delivery.FailStream, content.Count{}},
		"too large":                {offline.Faults{TooLargeOver: 200}, with, delivery.FailTooLarge, content.Count{}},
		"not too large":            {offline.Faults{TooLargeOver: 20_000}, with, delivery.FailNone, content.Reported(4)},
		"status":                   {offline.Faults{Status: offline.Status{Code: 401}}, with, delivery.FailAuth, content.Count{}},
		"status with a body":       {offline.Faults{Status: offline.Status{Code: 400, Body: `{"error":{"code":"context_length_exceeded"}}`}}, with, delivery.FailOverflow, content.Count{}},
	} {
		a := ask(t.Context(), t, fault(tc.faults), &blobs, tc.message)
		if kind(a) != tc.want || a.usage.Image != tc.image {
			t.Errorf("%s: %v, image tokens %v; want %v, %v", name, a.err, a.usage.Image, tc.want, tc.image)
		}
	}
}

func TestTooLargeIsLearned(t *testing.T) {
	var blobs providertest.Blobs
	a := ask(t.Context(), t, fault(offline.Faults{TooLargeOver: 20_000}), &blobs, providertest.User(text(strings.Repeat("long ", 10_000))))
	if kind(a) != delivery.FailTooLarge || a.err.Failure.Learned.MaxRequest != 20_000 {
		t.Errorf("%+v", a.err)
	}
}

func TestStatusTimesAndSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := offline.New(offline.Options{Faults: offline.Faults{Status: offline.Status{Code: 503, Times: 2}, Slow: time.Second}})
		start := time.Now()
		a := ask(t.Context(), t, p, nil, providertest.User(text("hi")))
		if a.err != nil || a.stop != content.StopEndTurn {
			t.Errorf("%+v", a)
		}
		if took := time.Since(start); took < 7*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

func TestCancelASlowAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(1500*time.Millisecond, cancel)
		a := ask(ctx, t, fault(offline.Faults{Slow: time.Second}), nil, providertest.User(text("hi")))
		if kind(a) != delivery.FailCancelled {
			t.Errorf("%+v", a)
		}
	})
}

// Nothing runs on between two requests.
func TestNothingStaysBehind(t *testing.T) {
	p := fault(offline.Faults{})
	ask(t.Context(), t, p, nil, providertest.User(text("hi")))
	before := runtime.NumGoroutine()
	for range 20 {
		ask(t.Context(), t, p, nil, providertest.User(text("hi")))
	}
	synctest.Test(t, func(t *testing.T) { // a bubble ends only when all its goroutines have
		ask(t.Context(), t, fault(offline.Faults{}), nil, providertest.User(text("hi")))
	})
	if after := runtime.NumGoroutine(); after > before+8 {
		t.Errorf("%d goroutines, %d before", after, before)
	}
}

// The handler serves on loopback too, also to a client that wants no stream.
func TestHandlerOnLoopback(t *testing.T) {
	s := httptest.NewServer(offline.NewHandler(offline.Options{Model: "m"}))
	defer s.Close()
	post := func(path, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }() // it was read
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(data)
	}
	code, body := post("/v1/chat/completions", `{"messages":[{"role":"user","content":"hello"}]}`)
	var whole struct {
		Choices []struct {
			Message struct{ Content string }
		}
	}
	if err := json.Unmarshal([]byte(body), &whole); err != nil || code != 200 || !strings.Contains(whole.Choices[0].Message.Content, "5 characters") {
		t.Errorf("%d %s %v", code, body, err)
	}
	for in, want := range map[string]int{
		`{`: 400, `{}`: 400, `{"messages":[{"role":"tool","content":[{"type":"image_url"}]}]}`: 400,
		`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":"https://x"}]}]}`: 200,
		`{"messages":[{"role":"user","content":[{"type":"video"}]}]}`:                             400,
	} {
		if code, body := post("/chat/completions", in); code != want {
			t.Errorf("%s: %d %s, want %d", in, code, body, want)
		}
	}
	if code, _ := post("/other", "{}"); code != 404 {
		t.Errorf("another path: %d", code)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/v1/models", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	if data, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(data), `"id":"m"`) {
		t.Errorf("models: %s %v", data, err)
	}
}

// No request makes the handler panic, except to cut a connection.
func FuzzHandler(f *testing.F) {
	f.Add([]byte(`{"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}`))
	f.Add([]byte(`{"messages":[{"role":"tool","content":"x"},{"role":"user","content":[{"type":"file","file":{"file_data":"data:a;base64,b"}},{"type":"input_audio","input_audio":{"data":"=","format":"wav"}}]}]}`))
	h := offline.NewHandler(offline.Options{Faults: offline.Faults{ToolCalls: []offline.ToolCall{{Name: "x"}}}})
	f.Fuzz(func(t *testing.T, body []byte) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/chat/completions", bytes.NewReader(body)))
		if w.Code != 200 && w.Code != 400 {
			t.Errorf("status %d", w.Code)
		}
	})
}

func BenchmarkPicture(b *testing.B) {
	var blobs providertest.Blobs
	pic := providertest.Picture("image-1.png", blobs.Put(flag(b, 800, 600), "image/png"), 800, 600)
	p := offline.New(offline.Options{})
	b.ReportAllocs()
	for b.Loop() {
		if a := ask(b.Context(), b, p, &blobs, providertest.User(text("look"), pic)); a.err != nil {
			b.Fatal(a.err)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		offline.New(offline.Options{})
	}
}
