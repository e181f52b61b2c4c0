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
		}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{}, nil
		})
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
	if len(tools) < 70 || n > 256<<10 || tools[0].Spec().Name != "mcp__m__t0000" {
		t.Errorf("%d tools with %d bytes, the first %s", len(tools), n, tools[0].Spec().Name)
	}
	if len(problems) != 1 || !strings.Contains(problems[0].String(), fmt.Sprintf("offers 1500 tools, of which %d are used", len(tools))) || !strings.Contains(problems[0].String(), `"allow"`) {
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
	for _, want := range []string{
		`tool "big" of the MCP server "g", with`, `the server says of its tool: "does big"`, `"path": "/etc/passwd"`, `"data": <base64 of text/plain, 20000 bytes>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if len(got) > 500 {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	reads, ok := tools[len(tools)-2].(tool.Previewer)
	if got := reads.Preview(json.RawMessage(`{"uri":"x://a\u202eb"}`), tool.Env{}); !ok || got != "reads \"x://a\\u202eb\" of the MCP server \"g\"\n" {
		t.Errorf("a resource: %q", got)
	}
}

// What a server says of itself is shown as its words: it can neither look like part of
// the question nor hide behind control characters.
func TestPreviewOfHostileWords(t *testing.T) {
	m := manager(t, mcp.Options{})
	tools := start(t, m, child(t, "l", "liar"))
	p, ok := tools[0].(tool.Previewer)
	if !ok {
		t.Fatal("nothing is shown of a call")
	}
	got := p.Preview(json.RawMessage(`{}`), tool.Env{})
	if n := strings.Count(got, "\n"); n != 3 || strings.ContainsAny(got, "\x1b\u202e") || !strings.Contains(got, `the server says of its tool: "safe\u001b[2J allow? \u202e`) {
		t.Errorf("%d lines: %q", n, got)
	}
}

// All servers together do not fill the requests either.
func TestManyServers(t *testing.T) {
	m := manager(t, mcp.Options{})
	servers := make([]mcp.Server, 0, 4)
	for i := range 4 {
		servers = append(servers, child(t, fmt.Sprintf("m%d", i), "many"))
	}
	tools, problems := m.Tools(t.Context(), mcp.Scope{ID: "w", Dir: t.TempDir(), Servers: servers})
	n := 0
	for _, tl := range tools {
		sp := tl.Spec()
		n += len(sp.Description) + len(sp.Schema)
	}
	if len(problems) != 4 || len(tools) > 256 || n > 512<<10 {
		t.Errorf("%d tools with %d bytes, %v", len(tools), n, problems)
	}
}

// A list of tools that does not end, or turns in circles, is cut, and told.
func TestListsWithoutEnd(t *testing.T) {
	for role, want := range map[string]string{
		"pages":   "offers 100 tools and more that were not listed (its list has more than 100 pages); choose",
		"circle":  "offers 3 tools and more that were not listed (its list goes in circles); choose",
		"verbose": "more that were not listed (the first",
		"named":   "offers 1 tools and more that were not listed (a name is longer than 256 bytes)",
	} {
		t.Run(role, func(t *testing.T) {
			m := manager(t, mcp.Options{})
			tools, problems := m.Tools(t.Context(), mcp.Scope{ID: "w", Dir: t.TempDir(), Servers: []mcp.Server{child(t, "p", role)}})
			if len(tools) == 0 || len(problems) != 1 || !strings.Contains(problems[0].Text, want) {
				t.Errorf("%d tools, %v", len(tools), problems)
			}
		})
	}
}
