package provider_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tote/internal/delivery"
	"tote/internal/provider"
)

type event struct{ Name, Data string }

func events(r io.Reader) ([]event, error) {
	var out []event
	e := provider.NewEvents(r)
	for {
		ev, err := e.Next()
		if err != nil {
			return out, err
		}
		out = append(out, event{ev.Name, string(ev.Data)})
	}
}

func TestEvents(t *testing.T) {
	for name, tc := range map[string]struct {
		in   string
		want []event
		err  error
	}{
		"plain":             {"data: a\n\ndata: b\n\n", []event{{"", "a"}, {"", "b"}}, io.EOF},
		"crlf":              {"data: a\r\n\r\ndata: b\r\n\r\n", []event{{"", "a"}, {"", "b"}}, io.EOF},
		"cr":                {"data: a\r\rdata: b\r\r", []event{{"", "a"}, {"", "b"}}, io.EOF},
		"names":             {"event: x\ndata: a\n\ndata: b\n\n", []event{{"x", "a"}, {"", "b"}}, io.EOF},
		"comments":          {": hi\n\n: ho\ndata: a\n\n", []event{{"", "a"}}, io.EOF},
		"several lines":     {"data: a\ndata:b\ndata\n\n", []event{{"", "a\nb\n"}}, io.EOF},
		"byte order mark":   {"\uFEFFdata: a\n\n", []event{{"", "a"}}, io.EOF},
		"id and retry":      {"id: 7\nretry: 9\ndata: a\n\n", []event{{"", "a"}}, io.EOF},
		"no space":          {"data:a\n\n", []event{{"", "a"}}, io.EOF},
		"two spaces":        {"data:  a\n\n", []event{{"", " a"}}, io.EOF},
		"empty":             {"", nil, io.EOF},
		"name only":         {"event: x\n\ndata: a\n\n", []event{{"", "a"}}, io.EOF},
		"no empty line":     {"data: a\n", []event{{"", "a"}}, io.EOF},
		"done without end":  {"data: a\n\ndata: [DONE]", []event{{"", "a"}, {"", "[DONE]"}}, io.EOF},
		"cut in a line":     {"data: a\n\ndata: {\"x", []event{{"", "a"}}, io.ErrUnexpectedEOF},
		"cut behind a line": {"data: a\ndata: b", nil, io.ErrUnexpectedEOF},
	} {
		for how, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "byte": iotest.OneByteReader, "dataerr": iotest.DataErrReader,
		} {
			got, err := events(wrap(strings.NewReader(tc.in)))
			if d := cmp.Diff(tc.want, got); d != "" || !errors.Is(err, tc.err) {
				t.Errorf("%s, %s: error %v, want %v\n%s", name, how, err, tc.err, d)
			}
		}
	}
}

func TestEventsAreBounded(t *testing.T) {
	_, err := events(io.MultiReader(strings.NewReader("data: "), io.LimitReader(zeros{}, 64<<20)))
	if !errors.Is(err, provider.ErrLineTooLong) {
		t.Errorf("a line of 64 MB: %v", err)
	}
	big := strings.Repeat("x", 1<<20)
	_, err = events(strings.NewReader(strings.Repeat("data: "+big+"\n", 20)))
	if !errors.Is(err, provider.ErrLineTooLong) {
		t.Errorf("an event of 20 MB: %v", err)
	}
	got, err := events(strings.NewReader("data: " + strings.Repeat("x", 15<<20) + "\n\n"))
	if !errors.Is(err, io.EOF) || len(got) != 1 {
		t.Errorf("a line of 15 MB: %d events, %v", len(got), err)
	}
}

// However the stream is split into reads, the events are the same.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: a\r\n\r\n: c\revent: x\rdata\r\rdata: [DONE]"), 3)
	f.Add([]byte("\uFEFFdata: {\"a\":1}\n\ndata: b\ndata: c\n\n"), 1)
	f.Fuzz(func(t *testing.T, in []byte, n int) {
		want, wantErr := events(bytes.NewReader(in))
		got, err := events(&pieces{data: in, n: 1 + (n&0x7fffffff)%17})
		if d := cmp.Diff(want, got); d != "" || !errors.Is(err, wantErr) {
			t.Errorf("split: error %v, want %v\n%s", err, wantErr, d)
		}
		for _, e := range want {
			if strings.ContainsAny(e.Name, "\r\n") || strings.Contains(e.Data, "\r") {
				t.Errorf("an event holds a line end: %q", e)
			}
		}
	})
}

type pieces struct {
	data []byte
	n    int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.n)], p.data)
	p.data = p.data[n:]
	return n, nil
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\n\x00\xff é")
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(provider.AppendString(nil, s), &got); err != nil {
			t.Fatalf("not JSON: %v", err)
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); utf8.ValidString(s) && got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// No body makes the classifier panic, and no message is unfit for people.
func FuzzRejection(f *testing.F) {
	for _, list := range [][]rejection{rejections, aboutMedia, aboutSize} {
		for _, r := range list {
			f.Add(r.status, []byte(r.body))
		}
	}
	f.Add(400, []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"))
	f.Add(400, []byte("\x78\x9c\x03\x00\x00\x00\x00\x01"))
	f.Add(502, []byte("<!DOCTYPE html0000000<title\xbf0>"))
	f.Add(200, []byte(`{"error":{"message":{"error":{"message":"{\"error\":\"x\"}"}},"code":429}}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		e := provider.Rejection(status, body)
		if e.Failure.Kind == delivery.FailNone || e.Failure.Status != status {
			t.Errorf("failure = %+v", e.Failure)
		}
		if n := utf8.RuneCountInString(e.Message); n > 300 || !utf8.ValidString(e.Message) || strings.ContainsAny(e.Message, "\r\n\x00\x1b") {
			t.Errorf("a message of %d runes: %q", n, e.Message)
		}
		l := e.Failure.Learned
		if l.MaxBytes < 0 || l.MaxCount < 0 || l.MaxEdge < 0 || l.MaxRequest < 0 || l.Context < 0 {
			t.Errorf("learned %+v", l)
		}
	})
}
