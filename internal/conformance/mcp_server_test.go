package conformance_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tote/internal/agent/agenttest"
	"tote/internal/audio/audiotest"
	"tote/internal/document/documenttest"
)

// mcpVar makes the test binary an MCP server. Its value is a folder, in which the
// server notes the tools that were called.
const mcpVar = "TOTE_CONFORMANCE_MCP"

// mcpConfig is the member of a configuration with the server, and the folder with
// its notes.
func mcpConfig(t *testing.T) (member, folder string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	return fmt.Sprintf(`,"mcp_servers":{"shop":{"command":%s,"env":{%q:%s}}}`, spell(exe), mcpVar, spell(folder)), folder
}

// The tools of the server.
const (
	mcpMixed  = "mcp__shop__mixed"
	mcpBroken = "mcp__shop__broken"
	mcpShot   = "mcp__shop__browser_take_screenshot"
)

// shopPictures are the pictures of the server, the same at each start.
type shopPictures struct{ png, jpg, bmp, wide, wav, pdf []byte }

func shop() shopPictures {
	img := image.NewRGBA(image.Rect(0, 0, 48, 36))
	for i := range 48 * 36 {
		img.Set(i%48, i/48, color.RGBA{uint8(i * 7), uint8(i * 13), uint8(i), 255})
	}
	var jpg bytes.Buffer
	if err := jpeg.Encode(&jpg, img, nil); err != nil {
		panic(err) // a buffer takes everything
	}
	return shopPictures{
		png: agenttest.PNG(60, 50, 41), jpg: jpg.Bytes(), bmp: bmp(24), wide: agenttest.PNG(9000, 50, 42),
		wav: audiotest.WAV(50*time.Millisecond, 300), pdf: documenttest.PDF(1, "mark-pdf"),
	}
}

// shopBlocks are the blocks of a result.
func shopBlocks(tool string) []string {
	p := shop()
	text := func(s string) string { return `{"type":"text","text":` + spell(s) + `}` }
	media := func(kind, mime string, data []byte) string {
		return fmt.Sprintf(`{"type":%q,"mimeType":%q,"data":%q}`, kind, mime, base64.StdEncoding.EncodeToString(data))
	}
	switch tool {
	case "mixed":
		return []string{
			text("mark-a"), media("image", "image/png", p.png), text("mark-b"), media("image", "image/jpeg", p.jpg), media("audio", "audio/wav", p.wav),
			`{"type":"resource","resource":{"uri":"shop://notes.md","mimeType":"text/markdown","text":"# mark-c"}}`,
			fmt.Sprintf(`{"type":"resource","resource":{"uri":"shop://bill.pdf","mimeType":"application/pdf","blob":%q}}`, base64.StdEncoding.EncodeToString(p.pdf)),
			`{"type":"resource_link","uri":"https://example.invalid/mark-d","name":"mark-d"}`,
			media("image", "image/bmp", p.bmp), text("mark-e"), media("image", "image/png", p.wide), text("mark-f"),
		}
	case "broken":
		return []string{text("mark-a"), `{"type":"image","mimeType":"image/png","data":"%%% no base64 %%%"}`, media("image", "image/png", p.png), text("mark-b")}
	}
	return []string{text("### Result\nTook the viewport screenshot and saved it as ./page.jpeg\n### Page state\n- Page URL: https://example.invalid/"), media("image", "image/jpeg", p.jpg)}
}

// playMCP is the server. It ends with its input.
func playMCP(folder string) {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var req struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		if json.Unmarshal(line, &req) != nil || req.ID == nil {
			continue
		}
		result := ""
		switch req.Method {
		case "initialize":
			result = `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shop","version":"1"}}`
		case "tools/list":
			var tools []string
			for _, n := range []string{"mixed", "broken", "browser_take_screenshot"} {
				tools = append(tools, fmt.Sprintf(`{"name":%q,"description":"does %s","inputSchema":{"type":"object"}}`, n, n))
			}
			result = `"result":{"tools":[` + strings.Join(tools, ",") + `]}`
		case "tools/call":
			if err := os.WriteFile(filepath.Join(folder, req.Params.Name), []byte("called"), 0o600); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			result = `"result":{"content":[` + strings.Join(shopBlocks(req.Params.Name), ",") + `]}`
		default:
			result = `"error":{"code":-32601,"message":"no such method"}`
		}
		if _, err := fmt.Fprintf(os.Stdout, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}\n", req.ID, result); err != nil {
			return // the client went away
		}
	}
}
