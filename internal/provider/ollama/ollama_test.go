package ollama_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/ollama"
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

// profile is that of a model that hears and sees, in results too.
func profile() delivery.Profile {
	p := providertest.Profile(ollama.Path)
	p.Documents = delivery.Capability{Answer: delivery.No}
	p.Placement = delivery.Placement{}
	return p
}

func adapter(url string, c ollama.Config) provider.Provider {
	if c.Model == "" {
		c.Model = "llava"
	}
	return ollama.New(provider.Options{BaseURL: url, MaxRetries: -1}, c)
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

// golden holds body against a file, which -update writes.
func golden(t *testing.T, name, note string, body []byte) {
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

// heard is an answer put together.
type heard struct {
	Text, Thoughts string
	Reasoning      []content.Reasoning
	Calls          []content.ToolCall
	Usage          content.Usage
	Raw            string
	Remarks        []provider.Remark
	Stop           content.StopReason
	Note           string
	Err            *provider.Error
}

func listen(ctx context.Context, tb testing.TB, p provider.Provider, body provider.Body) heard {
	tb.Helper()
	var h heard
	finished := 0
	for ev, err := range p.Stream(ctx, body) {
		if err != nil {
			if !errors.As(err, &h.Err) {
				tb.Fatalf("not an *Error: %v", err)
			}
			continue
		}
		if h.Err != nil || finished > 0 {
			tb.Fatalf("%T behind the end", ev)
		}
		switch ev := ev.(type) {
		case provider.TextDelta:
			h.Text += ev.Text
		case provider.ThoughtDelta:
			h.Thoughts += ev.Text
		case provider.Thought:
			h.Reasoning = append(h.Reasoning, ev.Reasoning)
		case provider.Call:
			h.Calls = append(h.Calls, ev.Call)
		case provider.UsageReport:
			h.Usage, h.Raw = ev.Usage, string(ev.Raw)
		case provider.Retry:
		case provider.Remark:
			h.Remarks = append(h.Remarks, ev)
		case provider.Finish:
			h.Stop, h.Note = ev.Stop, ev.Note
			finished++
		}
	}
	if finished == 0 && h.Err == nil {
		tb.Fatal("neither a finish nor an error")
	}
	return h
}

func hello(tb testing.TB, p provider.Provider) provider.Body {
	tb.Helper()
	body, err := p.Encode(provider.Request{Prompt: providertest.Settle(tb, profile(), nil, providertest.User(text("text-1", "hi")))})
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

func known(n int64) content.Count { return content.Reported(n) }

// answering is a transport that gives one answer.
type answering []byte

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body) // what it holds does not matter here
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(a)), Request: r}, nil
}

func hearing(wire string) provider.Provider {
	return ollama.New(provider.Options{BaseURL: "http://h", Transport: answering(wire)}, ollama.Config{Model: "m"})
}
