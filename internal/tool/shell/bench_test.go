package shell_test

import (
	"bytes"
	"testing"
	"time"

	"tote/internal/tool/shell"
)

// BenchmarkOutput is what a byte of output costs: it comes in the pieces in which a
// pipe is read, and is shown live.
func BenchmarkOutput(b *testing.B) {
	for _, c := range []struct{ name, line string }{
		{"short", "y\n"},
		{"plain", "ok  package/name\t0.123s (cached) coverage: 71.2%\n"},
		{"words", "größer — 日本語のテキスト ✓ naïve\n"},
		{"colour", "\x1b[32mok\x1b[0m  package/name\t0.123s\n"},
		{"bar", "\r 10 % of 100 MB"},
		{"unended", "0123456789abcdef"},
		{"spoilt", "caf\xe9 au lait\n"},
	} {
		b.Run(c.name, func(b *testing.B) {
			piece := bytes.Repeat([]byte(c.line), (32<<10)/len(c.line))
			b.SetBytes(int64(len(piece)))
			b.ReportAllocs()
			r := shell.NewRecorder(b.TempDir(), time.Now, func(string) {})
			for b.Loop() {
				if _, err := r.Write(piece); err != nil {
					b.Fatal(err)
				}
			}
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
