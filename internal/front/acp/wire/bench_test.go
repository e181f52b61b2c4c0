package wire_test

import (
	"strings"
	"testing"

	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
)

// imageLine is a prompt with a picture of size bytes in base64.
func imageLine(size int) string {
	return `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"look"},` +
		`{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("iVBORw0KGgo+", size/12) + `"}]}}`
}

// BenchmarkPrompt reads the blocks of a kept line: what is allocated does not
// depend on the payload.
func BenchmarkPrompt(b *testing.B) {
	line := []byte(imageLine(10 << 20))
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		m, fault := rpc.Parse(line)
		if fault != nil {
			b.Fatal(fault.Err)
		}
		blocks, bad := wire.ParsePrompt(m.Params)
		if bad != nil || len(blocks) != 2 {
			b.Fatal(bad)
		}
	}
}
