package mcp_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tote/internal/content"
	"tote/internal/mcp"
)

// canned is a server that answers each call with the same picture.
func canned(b *testing.B, n int) (*os.File, *os.File) {
	b.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	picture := fmt.Sprintf(`{"content":[{"type":"text","text":"here"},{"type":"image","mimeType":"image/png","data":"%s"}]}`, base64.StdEncoding.EncodeToString(make([]byte, n)))
	// Ends when the client closes its end.
	go func() {
		in := bufio.NewReader(inR)
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			var m struct {
				ID     json.RawMessage
				Method string
			}
			if json.Unmarshal(line, &m) != nil || m.ID == nil {
				continue
			}
			result := picture
			if m.Method == "initialize" {
				result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}`
			}
			_, _ = fmt.Fprintf(outW, `{"result":%s,"jsonrpc":"2.0","id":%s}`+"\n", result, m.ID) // the benchmark fails where it is lost
		}
	}()
	b.Cleanup(func() {
		_ = inW.Close() // the server ends with it
		_ = outR.Close()
	})
	return outR, inW
}

const benchPicture = 7_500_000 // bytes; a line of 10 MB

// BenchmarkPicture is one call that gives a picture, from the pipe to its bytes.
func BenchmarkPicture(b *testing.B) {
	run := func(b *testing.B, t sdk.Transport, get func(context.Context, *sdk.ClientSession) (int, error)) {
		b.Helper()
		s, err := sdk.NewClient(&sdk.Implementation{Name: "b", Version: "1"}, nil).Connect(b.Context(), t, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		b.SetBytes(benchPicture)
		for b.Loop() {
			if n, err := get(b.Context(), s); err != nil || n != benchPicture {
				b.Fatal(n, err)
			}
		}
	}
	b.Run("lifted", func(b *testing.B) {
		r, w := canned(b, benchPicture)
		run(b, mcp.Pipe(r, w, 64<<20), func(ctx context.Context, s *sdk.ClientSession) (int, error) {
			ctx, take := mcp.Lift(ctx)
			if _, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "x"}); err != nil {
				return 0, err
			}
			got, err := take()
			if err != nil {
				return 0, err
			}
			p, _ := got[1].Payload.(content.Bytes)
			return len(p.Data), nil
		})
	})
	b.Run("sdk", func(b *testing.B) {
		r, w := canned(b, benchPicture)
		run(b, &sdk.IOTransport{Reader: r, Writer: w, MaxLineLength: 64 << 20}, func(ctx context.Context, s *sdk.ClientSession) (int, error) {
			got, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "x"})
			if err != nil {
				return 0, err
			}
			p, _ := got.Content[1].(*sdk.ImageContent)
			return len(p.Data), nil
		})
	})
}
