package rpc_test

import (
	"io"
	"strings"
	"testing"

	"tote/internal/front/acp/rpc"
)

// imageLine is a prompt with a picture of size bytes in base64.
func imageLine(size int) string {
	return `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"look"},` +
		`{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("iVBORw0KGgo+", size/12) + `"}]}}`
}

// BenchmarkReader cuts a line out of a stream: the line itself and, while they
// are not shared with a former one, the chunks it was gathered in.
func BenchmarkReader(b *testing.B) {
	line := imageLine(10<<20) + "\n"
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	src := &repeat{s: line}
	in := rpc.NewReader(src, 0)
	for b.Loop() {
		src.left = len(line)
		if _, err := in.Next(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReaderOver skims lines that are too long to keep.
func BenchmarkReaderOver(b *testing.B) {
	line := imageLine(10<<20) + "\n"
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	src := &repeat{s: line}
	in := rpc.NewReader(src, 64<<10)
	for b.Loop() {
		src.left = len(line)
		if got, err := in.Next(); err != nil || got.Over == nil {
			b.Fatal(err)
		}
	}
}

// repeat yields s as often as left is set to its length.
type repeat struct {
	s    string
	left int
}

func (r *repeat) Read(b []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.s[len(r.s)-r.left:])
	r.left -= n
	return n, nil
}
