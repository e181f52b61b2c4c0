package project_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"tote/internal/project"
)

// FuzzHead checks that a head and its body are parts of the text, and that nothing
// of a text is lost where there is no head.
func FuzzHead(f *testing.F) {
	for _, seed := range []string{
		"", "---\n---\n", "---\nname: x\ndescription: >-\n  a\n  b\n---\nbody", "---\na: [b, c]\nd:\n- e\n---", "---\n:\n-\n|\n---\n", "---\r\na: \"\\\"\r\n...\r\nx",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, body := project.Head(text)
		if !strings.HasSuffix(text, body) {
			t.Fatalf("body %q is not the end of %q", body, text)
		}
		if len(h) > 0 && len(body) == len(text) {
			t.Fatalf("head %q, but all is body", h)
		}
		for name, value := range h {
			if name == "" || name != strings.ToLower(name) || len(value) > len(text) {
				t.Fatalf("member %q: %q", name, value)
			}
		}
		project.Pointer(text)
	})
}

// FuzzFill checks that what the user typed is in the prompt and apart from the rest,
// and that nothing is filled in twice.
func FuzzFill(f *testing.F) {
	f.Add("do $1 and $ARGUMENTS", "a \"b c\"")
	f.Add("$9$1$10$ARGUMENTSX$", "$1 ' \"")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, body, args string) {
		pieces, size := project.Fill(body, args)
		total, own := 0, ""
		for _, p := range pieces {
			total += len(p.Text)
			if p.ByUser {
				own += p.Text
			} else if p.Text != "\n\n" && !strings.Contains(body, p.Text) {
				t.Fatalf("piece %q is not of the body %q", p.Text, body)
			}
		}
		if size <= project.MaxPrompt && total != size || total > project.MaxPrompt {
			t.Fatalf("size %d, pieces hold %d", size, total)
		}
		if size > project.MaxPrompt {
			return
		}
		for _, r := range strings.Map(func(r rune) rune {
			if strings.ContainsRune(" \t\r\n\"'", r) {
				return -1
			}
			return r
		}, args) {
			if r != utf8.RuneError && !strings.ContainsRune(own, r) {
				t.Fatalf("%q of the arguments %q is lost in %q", r, args, own)
			}
		}
	})
}
