package search_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tote/internal/tool/search"
)

func TestNeeds(t *testing.T) {
	for pattern, want := range map[string]string{
		"needle": "needle", "^needle$": "needle", "foo|bar": "foo,bar", "foo|.": "", "(foo|bar)+ baz": " baz", "a*": "", "(abc)?": "", "(abc){2,}x": "abc", "x[0-9]+handler": "handler",
		"(?i)request": "reque", "(?i)kks": "", "(?i)é": "", "(?i)ABC": "abc", `a\x{fffd}bcd`: "bcd", `\bword\b`: "word", "[a-z]+": "", "ab|cd|(ef|gh)i": "ab,cd,ef,gh", "(?i)ABC|DEF": "abc,def", "É|(?i:xyz)": "É,xyz",
	} {
		r, err := search.Read(pattern, false)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		texts, _ := r.Needs()
		if got := strings.Join(texts, ","); got != want {
			t.Errorf("%s needs %q, want %q", pattern, got, want)
		}
	}
}

func TestPatternErrors(t *testing.T) {
	for pattern, want := range map[string]string{
		"": "missing", "(": "missing closing )", "(?=x)": "look-around and back references are not supported", `(a)\1`: "look-around", "a\nb": "one line", `a\nb`: "one line", "a{2000}": "repeat", "\xff": "UTF-8", strings.Repeat("a", 5000): "the most are", "[z-a]": "literal: true", "*": "missing argument",
	} {
		for _, fold := range []bool{false, true} {
			if _, err := search.Read(pattern, fold); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "(?i:") {
				t.Errorf("%.20q, fold %v: %v, want %q", pattern, fold, err, want)
			}
		}
	}
}

// What the programs are asked for never leaves out a line that matches.
func FuzzPattern(f *testing.F) {
	f.Add("needle|(?i:ÉTÉ)", "a needle\r\nété\nx", false)
	f.Add(`^\w+\s*=\s*[^"]+$`, "key = value\nother", true)
	f.Add(`[^\x00-\x7f]{2}|\bk.s\b`, "a\xff\xfeb\n\u212aes\n\n", true)
	f.Add(`(?s)(a|b*?)\pL\d{1,3}\z`, "ab12\r", false)
	f.Fuzz(func(t *testing.T, pattern, text string, fold bool) {
		if len(pattern) > 60 || len(text) > 300 {
			return
		}
		r, err := search.Read(pattern, fold)
		if err != nil {
			return
		}
		text = strings.ToValidUTF8(text, "\ufffd")
		var wide *regexp.Regexp
		if r.Wide() != "" {
			// The replacement character stands for what is no UTF-8.
			if wide, err = regexp.Compile(strings.ReplaceAll(r.Wide(), `(?-u:[\x80-\xff])+`, `\x{fffd}+`)); err != nil && len(r.Wide()) < 1000 {
				t.Fatalf("%q is spelt %q: %v", pattern, r.Wide(), err)
			}
		}
		var want []int
		rest, number := []byte(text), 0
		for len(rest) > 0 {
			var line []byte
			line, rest, _ = bytes.Cut(rest, []byte("\n"))
			number++
			if !r.Line(bytes.TrimSuffix(line, []byte("\r"))) {
				continue
			}
			want = append(want, number)
			if wide != nil && !wide.Match(line) {
				t.Errorf("%q matches %q, its wide form %q does not", pattern, line, r.Wide())
			}
			texts, anyCase := r.Needs()
			if len(texts) > 0 && !slices.ContainsFunc(texts, func(s string) bool {
				return bytes.Contains(line, []byte(s)) || anyCase && strings.Contains(strings.ToLower(string(line)), strings.ToLower(s))
			}) {
				t.Errorf("%q matches %q, which holds none of %q", pattern, line, texts)
			}
			if len(texts) > 0 && !utf8.ValidString(strings.Join(texts, "")) {
				t.Errorf("%q needs %q", pattern, texts)
			}
		}
		if diff := cmp.Diff(want, r.Lines([]byte(text))); diff != "" {
			t.Errorf("%q in %q: lines (-want +got):\n%s", pattern, text, diff)
		}
	})
}

func TestGlobs(t *testing.T) {
	tests := []struct {
		glob, path string
		want       bool
	}{
		{"", "a/b.go", true},
		{"*.go", "b.go", true},
		{"*.go", "a/b.go", true},
		{"/*.go", "a/b.go", false},
		{"./*.go", "b.go", true},
		{"/*.go", "b.go", true},
		{"a/*.go", "a/b.go", true},
		{"a/*.go", "x/a/b.go", false},
		{"**/a/*.go", "x/a/b.go", true},
		{"**/*.go", "b.go", true},
		{"a/**", "a/b/c", true},
		{"*.{ts,tsx}", "a/x.tsx", true},
		{"!*.go", "a/b.go", false},
		{"!*.go", "a/b.md", true},
		{"!a/**", "a/b", false},
		{"!/a/**", "b/a", true},
		{"[ab].go", "b.go", true},
		{"[!a].go", "b.go", true},
		{"x?z", "xyz", true},
		{".github/*", ".github/x", true},
		{`\*.go`, "*.go", true},
	}
	for _, tt := range tests {
		if got, err := search.Kept(tt.glob, tt.path); err != nil || got != tt.want {
			t.Errorf("%q keeps %q = %v, %v", tt.glob, tt.path, got, err)
		}
	}
	for _, bad := range []string{"!", "[", "{a", "../x", "a/../b", "~/x", strings.Repeat("a", 600), strings.Repeat("*a", 40)} {
		if _, err := search.Kept(bad, "x"); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
