package tool_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"tote/internal/tool"
)

const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

func TestRead(t *testing.T) {
	many := make([]string, 3000)
	for i := range many {
		many[i] = fmt.Sprintf("line %d", i+1)
	}
	env := project(t, map[string]string{
		"a.txt": "one\ntwo\nthree\n", "no-end.txt": "one\ntwo", "crlf.txt": "one\r\ntwo\r\n", "blank.txt": "\n\n", "empty.txt": "",
		"many.txt": strings.Join(many, "\n") + "\n",
		"pic.txt":  png, "text.png": "not a picture", "a.pdf": "%PDF-1.7\nall ASCII\n", "bom.txt": "\xef\xbb\xbfone\n",
		"latin.txt": "caf\xe9 au lait\n", "utf16.txt": "\xff\xfeo\x00n\x00e\x00", "cr.txt": "one\rtwo\n",
	})
	tests := map[string]struct {
		args map[string]any
		want string
	}{
		"all":             {map[string]any{"path": "a.txt"}, "1\tone\n2\ttwo\n3\tthree\n"},
		"from":            {map[string]any{"path": "a.txt", "offset": 2}, "2\ttwo\n3\tthree\n"},
		"a part":          {map[string]any{"path": "a.txt", "offset": 2, "limit": 1}, "2\ttwo\n[more lines follow; read on with offset 3]\n"},
		"the end":         {map[string]any{"path": "a.txt", "offset": 3, "limit": 1}, "3\tthree\n"},
		"after the end":   {map[string]any{"path": "a.txt", "offset": 9}, "[the file has 3 lines]"},
		"no end":          {map[string]any{"path": "no-end.txt"}, "1\tone\n2\ttwo\n"},
		"CRLF":            {map[string]any{"path": "crlf.txt"}, "1\tone\n2\ttwo\n"},
		"CR in a line":    {map[string]any{"path": "cr.txt"}, "1\tone\rtwo\n"},
		"blank lines":     {map[string]any{"path": "blank.txt"}, "1\t\n2\t\n"},
		"empty":           {map[string]any{"path": "empty.txt"}, "[the file is empty]"},
		"picture as text": {map[string]any{"path": "pic.txt"}, "file pic.txt model"},
		"text as picture": {map[string]any{"path": "text.png"}, "1\tnot a picture\n"},
		"PDF":             {map[string]any{"path": "a.pdf"}, "file a.pdf model"},
		"Latin-1":         {map[string]any{"path": "latin.txt"}, "file latin.txt model"},
		"UTF-16":          {map[string]any{"path": "utf16.txt"}, "file utf16.txt model"},
		"byte order mark": {map[string]any{"path": "bom.txt"}, "1\t\ufeffone\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := run(t, tool.Read{}, env, tt.args)
			if err != nil || got != tt.want {
				t.Errorf("%q, %v, want %q", got, err, tt.want)
			}
		})
	}
	t.Run("many lines", func(t *testing.T) {
		got, err := run(t, tool.Read{}, env, map[string]any{"path": "many.txt", "limit": 1 << 40})
		if err != nil || strings.Count(got, "\n") != 2001 || !strings.HasSuffix(got, "2000\tline 2000\n[more lines follow; read on with offset 2001]\n") {
			t.Errorf("%v, %d lines", err, strings.Count(got, "\n"))
		}
		rest, err := run(t, tool.Read{}, env, map[string]any{"path": "many.txt", "offset": 2001})
		if err != nil || !strings.HasPrefix(rest, "2001\t") || !strings.HasSuffix(rest, "3000\tline 3000\n") {
			t.Errorf("the rest: %v", err)
		}
	})
	t.Run("permitted", func(t *testing.T) {
		other := project(t, map[string]string{"x.png": png})
		env := env
		env.Permitted = true
		got, err := run(t, tool.Read{}, env, map[string]any{"path": filepath.Join(other.Cwd, "x.png")})
		if err != nil || got != "file x.png user" {
			t.Errorf("%q, %v", got, err)
		}
	})
	for path, want := range map[string]string{
		"gone.txt": "read gone.txt: there is no such file", ".": "it is a folder; use the list tool", "a.txt/b": "read a.txt/b: ",
	} {
		if _, err := run(t, tool.Read{}, env, map[string]any{"path": path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A line is cut at 2,000 bytes where a rune begins, and says so; what is cut is
// never silent.
func TestLongLines(t *testing.T) {
	const mark = " [line cut at 2000 bytes]"
	tests := map[string]struct {
		line string
		want string
	}{
		"just fits":           {strings.Repeat("x", 2000), strings.Repeat("x", 2000)},
		"fits, CRLF":          {strings.Repeat("x", 2000) + "\r", strings.Repeat("x", 2000)},
		"one too long":        {strings.Repeat("x", 2001), strings.Repeat("x", 2000) + mark},
		"a rune at the edge":  {strings.Repeat("x", 1999) + "€uro", strings.Repeat("x", 1999) + mark},
		"the longest rune":    {strings.Repeat("x", 1997) + "😀", strings.Repeat("x", 1997) + mark},
		"ends with a rune":    {strings.Repeat("x", 1996) + "😀", strings.Repeat("x", 1996) + "😀"},
		"hidden by CRs":       {strings.Repeat("x", 2000) + "\r\r\r\r\r\r" + "hidden", strings.Repeat("x", 2000) + mark},
		"longer than buffers": {strings.Repeat("é", 100_000), strings.Repeat("é", 1000) + mark},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			env := project(t, map[string]string{"a.txt": "first\n" + tt.line + "\nlast\n"})
			got, err := run(t, tool.Read{}, env, map[string]any{"path": "a.txt"})
			if want := "1\tfirst\n2\t" + tt.want + "\n3\tlast\n"; err != nil || got != want {
				t.Errorf("err %v, %d bytes, want %d; end %q", err, len(got), len(want), got[max(0, len(got)-60):])
			}
		})
	}
	// Bytes that are no UTF-8, after a head that is.
	env := project(t, map[string]string{"a.txt": strings.Repeat("ok\n", 4000) + strings.Repeat("\x80", 5000) + "\n"})
	got, err := run(t, tool.Read{}, env, map[string]any{"path": "a.txt", "offset": 4001})
	if err != nil || !utf8.ValidString(got) || !strings.Contains(got, mark) || len(got) < 5 {
		t.Errorf("%v, %q", err, got[:min(len(got), 60)])
	}
}

// An answer is bounded whatever the file holds.
func TestHugeFile(t *testing.T) {
	env := project(t, nil)
	path := filepath.Join(env.Cwd, "huge.txt")
	put(t, path, strings.Repeat(strings.Repeat("x", 1500)+"\n", 1000))
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	// The rest is a hole: it takes no room and reads as zeros.
	if err := f.Truncate(64 << 20); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, a := range []map[string]any{{"path": "huge.txt"}, {"path": "huge.txt", "offset": 1001}} {
		got, err := run(t, tool.Read{}, env, a)
		if err != nil || len(got) > 110_000 {
			t.Errorf("%v, %d bytes", err, len(got))
		}
	}
}

func BenchmarkRead(b *testing.B) {
	env := project(b, map[string]string{"a.txt": strings.Repeat("a line of usual length in a program\n", 2000)})
	a := args(b, map[string]any{"path": "a.txt"})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (tool.Read{}).Run(b.Context(), a, env); err != nil {
			b.Fatal(err)
		}
	}
}
