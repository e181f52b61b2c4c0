package content_test

import (
	"testing"
	"unicode/utf8"

	"tote/internal/content"
)

func TestFoldName(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a b": "a b", "Shot 10.15\u202fPM.png": "Shot 10.15 PM.png", "a\u00a0b\u3000c": "a b c", "cafe\u0301": "café", "A": "A", "a  b": "a  b",
	} {
		if got := content.FoldName(in); got != want {
			t.Errorf("%+q folds to %+q, want %+q", in, got, want)
		}
	}
}

func FuzzFoldName(f *testing.F) {
	f.Add("cafe\u0301\u202fx")
	f.Fuzz(func(t *testing.T, s string) {
		once := content.FoldName(s)
		if again := content.FoldName(once); utf8.ValidString(s) && again != once {
			t.Errorf("%+q folds to %+q and then to %+q", s, once, again)
		}
	})
}
