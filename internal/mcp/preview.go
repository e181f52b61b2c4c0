package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"tote/internal/tool"
)

// Bounds of what is shown of a call, in bytes: of the names, and of what the server
// says of its tool.
const (
	maxNameShown  = 200
	maxWordsShown = 400
)

var (
	_ tool.Previewer = (*remote)(nil)
	_ tool.Previewer = resourceRead{}
)

// Preview implements tool.Previewer: which tool of which server, the arguments
// without payloads, and the server's own words about its tool, marked as such.
func (r *remote) Preview(args json.RawMessage, _ tool.Env) string {
	in, err := object(args)
	if err != nil {
		return ""
	}
	out := fmt.Sprintf("tool %s of the MCP server %s, with\n%s\n", tool.Quoted(r.it.name, maxNameShown), tool.Quoted(r.m.server.Name, maxNameShown), tool.Readable(in))
	if words := strings.Join(strings.Fields(r.it.description), " "); words != "" {
		out += "the server says of its tool: " + tool.Quoted(words, maxWordsShown) + "\n"
	}
	return out
}

// Preview implements tool.Previewer.
func (r resourceRead) Preview(args json.RawMessage, _ tool.Env) string {
	a, m, err := r.args(args)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("reads %s of the MCP server %s\n", tool.Quoted(a.URI, 4*maxWordsShown), tool.Quoted(m.server.Name, maxNameShown))
}
