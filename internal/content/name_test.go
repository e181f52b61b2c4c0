package content_test

import (
	"testing"

	"tote/internal/content"
)

func TestFoldBlanks(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a b": "a b", "Shot 10.15\u202fPM.png": "Shot 10.15 PM.png", "a\u00a0b\u3000c": "a b c", "cafe\u0301": "cafe\u0301", "a  b\t": "a  b\t",
	} {
		if got := content.FoldBlanks(in); got != want {
			t.Errorf("%+q folds to %+q, want %+q", in, got, want)
		}
	}
}
