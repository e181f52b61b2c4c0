package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tote/internal/mcp"
	"tote/internal/tool"
)

// many is a server of more tools than a request can hold, with long descriptions.
func many() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "many", Version: "1"}, &sdk.ServerOptions{PageSize: 200})
	for i := range 1500 {
		s.AddTool(&sdk.Tool{
			Name: fmt.Sprintf("t%04d", i), Description: strings.Repeat("long words ", 300), InputSchema: json.RawMessage(`{"type":"object"}`),
		}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return &sdk.CallToolResult{}, nil })
	}
	return s
}

// A server of very many tools does not fill the requests, and the user is told once
// what is left out and how to choose.
func TestManyTools(t *testing.T) {
	m := manager(t, mcp.Options{})
	sc := mcp.Scope{ID: "w", Dir: t.TempDir(), Servers: []mcp.Server{child(t, "m", "many")}}
	tools, problems := m.Tools(t.Context(), sc)
	n := 0
	for _, tl := range tools {
		sp := tl.Spec()
		n += len(sp.Description) + len(sp.Schema)
	}
	if len(tools) != 128 || n > 512<<10 || tools[0].Spec().Name != "mcp__m__t0000" {
		t.Errorf("%d tools with %d bytes, the first %s", len(tools), n, tools[0].Spec().Name)
	}
	if len(problems) != 1 || !strings.Contains(problems[0].String(), `128 are used`) || !strings.Contains(problems[0].String(), `"allow"`) {
		t.Errorf("problems: %v", problems)
	}
	if _, again := m.Tools(t.Context(), sc); len(again) != 0 {
		t.Errorf("told again: %v", again)
	}
	sc.Servers[0].Allow = []string{"t0999", "t000?"}
	if tools, problems := m.Tools(t.Context(), sc); len(tools) != 11 || len(problems) != 0 {
		t.Errorf("chosen: %v, %v", names(tools), problems)
	}
}

// Who is asked about a call sees what is handed over, without payloads, and whose
// words the description is.
func TestPreview(t *testing.T) {
	m := manager(t, mcp.Options{})
	tools := start(t, m, child(t, "g", "good"))
	p, ok := tools[0].(tool.Previewer)
	if !ok {
		t.Fatal("nothing is shown of a call")
	}
	got := p.Preview(json.RawMessage(`{"path":"/etc/passwd","data":"`+strings.Repeat("QUJD", 5000)+`"}`), tool.Env{})
	for _, want := range []string{"big of the MCP server g, which says of it: does big", `"path": "/etc/passwd"`, "[20000 bytes in all]"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if len(got) > 1500 {
		t.Errorf("%d bytes", len(got))
	}
}
