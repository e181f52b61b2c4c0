package mcp_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/mcp"
)

func TestToolNames(t *testing.T) {
	long := strings.Repeat("x", 80)
	refs := []mcp.Ref{
		mcp.NewRef("git hub", "créer"), mcp.NewRef("a", "b"), mcp.NewRef("a", long), mcp.NewRef("a", long+"y"),
		mcp.NewRef("c.d", "e"), mcp.NewRef("c_d", "e"), mcp.NewRef("p__q", "r"), mcp.NewRef("p", "q__r"), mcp.NewRef("", ""),
	}
	got := mcp.ToolNames(refs)
	if got[0] != "mcp__git_hub__cr_er" || got[1] != "mcp__a__b" {
		t.Errorf("plain names: %q", got[:2])
	}
	if got[5] != "mcp__c_d__e" || got[4] == got[5] {
		t.Errorf("only the exact name keeps it: %q", got[4:6])
	}
	if got[6] == "mcp__p__q__r" || got[7] == "mcp__p__q__r" {
		t.Errorf("two exact names of one spelling both get a suffix: %q", got[6:8])
	}
	checkNames(t, got)
	// What a tool is called depends on it and on those that it collides with.
	if again := mcp.ToolNames(refs[2:3]); again[0] != got[2] {
		t.Errorf("a cut name is %q alone and %q among others", again[0], got[2])
	}
}

func checkNames(t *testing.T, names []string) {
	t.Helper()
	ok := regexp.MustCompile(`^mcp__[A-Za-z0-9_-]{1,59}$`)
	seen := map[string]bool{}
	for _, n := range names {
		if !ok.MatchString(n) || seen[n] {
			t.Errorf("name %q is not valid or not alone", n)
		}
		seen[n] = true
	}
}

func FuzzToolNames(f *testing.F) {
	f.Add("git hub", "créer", "a", "b")
	f.Add("p__q", "r", "p", "q__r")
	f.Add(strings.Repeat("s", 100), "t", strings.Repeat("s", 100), "u")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		refs := []mcp.Ref{mcp.NewRef(a, b), mcp.NewRef(c, d), mcp.NewRef(a, d), mcp.NewRef(c, b)}
		var alone []mcp.Ref
		for _, r := range refs {
			if !slices.Contains(alone, r) {
				alone = append(alone, r)
			}
		}
		got := mcp.ToolNames(alone)
		checkNames(t, got)
		if diff := cmp.Diff(got, mcp.ToolNames(alone)); diff != "" {
			t.Errorf("names are not stable: %s", diff)
		}
	})
}

func TestLines(t *testing.T) {
	big := strings.Repeat("b", 200<<10)
	for name, c := range map[string]struct {
		in    string
		limit int
		want  []string // "-" is a line over the limit
	}{
		"empty":            {"", 10, nil},
		"ends":             {"a\nb\r\n\nc", 10, []string{"a", "b", "", "c"}},
		"limit is allowed": {"0123456789\nx\n", 10, []string{"0123456789", "x"}},
		"over":             {"0123456789a\nx\n", 10, []string{"-", "x"}},
		"over at the end":  {"x\n0123456789a", 10, []string{"x", "-"}},
		"larger than read": {big + "\nx", 1 << 20, []string{big, "x"}},
		"much over":        {big + "\nx", 100 << 10, []string{"-", "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := mcp.Lines(strings.NewReader(c.in), c.limit)
			if !errors.Is(err, io.EOF) {
				t.Fatalf("ends with %v", err)
			}
			var words []string
			for _, l := range got {
				if l == nil {
					words = append(words, "-")
				} else {
					words = append(words, string(l))
				}
			}
			if diff := cmp.Diff(c.want, words); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// endless is a stream without an end of line.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	e.n += len(p)
	return len(p), nil
}

func TestLinesEndAFlood(t *testing.T) {
	in := &endless{}
	if _, err := mcp.Lines(in, 1<<20); !errors.Is(err, mcp.ErrFlood) {
		t.Fatalf("an endless line ends with %v", err)
	}
	if in.n > 6<<20 {
		t.Errorf("%d bytes were read", in.n)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nbb\r\n\nccc"), uint8(2))
	f.Add([]byte(strings.Repeat("x", 300)+"\ny"), uint8(255))
	f.Fuzz(func(t *testing.T, in []byte, limit uint8) {
		got, err := mcp.Lines(bytes.NewReader(in), int(limit))
		if !errors.Is(err, io.EOF) && !errors.Is(err, mcp.ErrFlood) {
			t.Fatalf("ends with %v", err)
		}
		if errors.Is(err, mcp.ErrFlood) {
			return
		}
		want := bytes.Split(in, []byte("\n"))
		if len(want[len(want)-1]) == 0 {
			want = want[:len(want)-1]
		}
		if len(got) != len(want) {
			t.Fatalf("%d lines of %d", len(got), len(want))
		}
		for i, w := range want {
			switch short := bytes.TrimRight(w, "\r"); {
			case got[i] == nil && len(w) <= int(limit):
				t.Errorf("line %d of %d bytes was skipped at %d", i, len(w), limit)
			case got[i] != nil && !bytes.Equal(got[i], short):
				t.Errorf("line %d is %q, want %q", i, got[i], short)
			}
		}
	})
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, `{"a":"\"}","b":[{"c":"]"}],"d":{"e":null}}`, ` { "id" : -1.5e3 , "x\u0041" : true } `, `{"a":"x\\\\"}`, `[1]`, `{"a"`, `{"a":}`, `{,}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		keys, values, ok := mcp.Members(in)
		mcp.IDAtEnd(in)
		mcp.IDAtStart(in)
		mcp.BytesOf(in)
		var want map[string]json.RawMessage
		if json.Unmarshal(in, &want) != nil || want == nil {
			return // not our business: who takes a part decodes it
		}
		if !ok {
			t.Fatalf("an object was not read: %q", in)
		}
		got := map[string]any{}
		for i, k := range keys {
			var v any
			if err := json.Unmarshal(values[i], &v); err != nil {
				t.Fatalf("member %q is %q: %v", k, values[i], err)
			}
			got[k] = v
		}
		full := map[string]any{}
		if err := json.Unmarshal(in, &full); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, full) {
			t.Errorf("%q: got %v, want %v", in, got, full)
		}
	})
}

func FuzzBase64(f *testing.F) {
	f.Add([]byte("hello"), uint8(0))
	f.Fuzz(func(t *testing.T, in []byte, how uint8) {
		if len(in) == 0 {
			return
		}
		enc := []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding}[how%4]
		s := enc.EncodeToString(in)
		if how&4 != 0 && len(s) > 2 {
			s = s[:2] + `\n ` + s[2:]
		}
		got, ok := mcp.BytesOf([]byte(`"` + s + `"`)).(content.Bytes)
		if !ok || !bytes.Equal(got.Data, in) {
			t.Errorf("%q was read as %v", s, got)
		}
	})
}

func TestIDs(t *testing.T) {
	for in, want := range map[string]string{
		`{"jsonrpc":"2.0","id":12,"result":{"content":[{"data":"AAAA`: "12",
		`{"id":"x","result":"AA`:          `"x"`,
		`{"jsonrpc":"2.0","id":12`:        "",
		`{"result":{"id":7,"data":"AAAA`:  "",
		`{"jsonrpc":"2.0","result":"AAAA`: "",
	} {
		if got := mcp.IDAtStart([]byte(in)); got != want {
			t.Errorf("IDAtStart(%s) = %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		`AAAA"}]},"jsonrpc":"2.0","id":3}` + "\n": "3",
		`AAAA"}]},"id":"a-1","jsonrpc":"2.0"}`:    `"a-1"`,
		`AAAA"}],"id":4}}`:                        "",
		`AAAA`:                                    "",
	} {
		if got := mcp.IDAtEnd([]byte(in)); got != want {
			t.Errorf("IDAtEnd(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestFixSchema(t *testing.T) {
	for in, want := range map[string]string{
		`null`:                                         `{"properties":{},"type":"object"}`,
		`{"type":"string"}`:                            `{"properties":{},"type":"object"}`,
		`{"type":"object","required":["a"]}`:           `{"properties":{},"required":["a"],"type":"object"}`,
		`{"properties":{"a":{"type":"string"}}}`:       `{"properties":{"a":{"type":"string"}},"type":"object"}`,
		`{"anyOf":[{"properties":{"a":{}}},{"x":1}]}`:  `{"properties":{"a":{}},"type":"object"}`,
		`{"x":"` + strings.Repeat("y", 200<<10) + `"}`: `{"additionalProperties":true,"properties":{},"type":"object"}`,
	} {
		var v any
		if err := json.Unmarshal([]byte(in), &v); err != nil {
			t.Fatal(err)
		}
		if got, _ := mcp.FixSchema(v); string(got) != want {
			t.Errorf("FixSchema(%.60s) = %s, want %s", in, got, want)
		}
	}
}

func TestFileURI(t *testing.T) {
	for in, want := range map[string]string{
		"/home/me/a b#c": "file:///home/me/a%20b%23c", "C:/x y": "file:///C:/x%20y", "//srv/share/d": "file://srv/share/d",
	} {
		if got := mcp.FileURI(in); got != want {
			t.Errorf("FileURI(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWordsHoldNoSecrets(t *testing.T) {
	s := mcp.Server{Env: map[string]string{"K": "hunter2hunter2", "N": "1"}, Headers: map[string]string{"Authorization": "Bearer abcdefgh"}}
	got := mcp.Words(s, "key hunter2hunter2 and abcdefgh, api_key=zzzzzzzz token: \"yyyyyyyy\" Bearer qqqqqqqq 1\x1b[31m")
	for _, bad := range []string{"hunter2", "abcdefgh", "zzzz", "yyyy", "qqqq", "\x1b"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q holds %q", got, bad)
		}
	}
	if !strings.Contains(got, "1") {
		t.Errorf("%q lost a word that is no secret", got)
	}
}
