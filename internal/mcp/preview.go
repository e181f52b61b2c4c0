package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"tote/internal/content"
	"tote/internal/tool"
)

// maxWordsShown is how much is shown of what a server says of a tool, in bytes.
const maxWordsShown = 400

var _ tool.Previewer = (*remote)(nil)

// Preview implements tool.Previewer: the arguments, with what is long cut, and with
// the server's own words about its tool, which are not this program's.
func (r *remote) Preview(args json.RawMessage, _ tool.Env) string {
	in, err := object(args)
	if err != nil {
		return ""
	}
	var sb strings.Builder
	fmt.Fprintf(&sb, "%s of the MCP server %s", content.Clean(r.it.name), content.Clean(r.m.server.Name))
	if words := oneLine(r.it.description); words != "" {
		sb.WriteString(", which says of it: " + cut(words, maxWordsShown))
	}
	sb.WriteString("\n" + tool.Readable(in))
	return sb.String()
}
