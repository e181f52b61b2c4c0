package acp

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
)

// newCall is what a live and a replayed call have in common. path is the file that
// it is about, absolute, "" for none.
func newCall(a *agent.Session, id string, c content.ToolCall, title, path string) *call {
	out := &call{id: id, name: c.Name, title: title, kind: kindOf(c.Name)}
	if json.Valid([]byte(c.Arguments)) && !strings.ContainsAny(c.Arguments, "\n\r") {
		out.input = json.RawMessage(c.Arguments)
	}
	if path != "" {
		out.locations = []wire.Location{{Path: filepath.FromSlash(path), Line: lineOf(c)}}
	}
	if c.Name == "bash" {
		out.command, out.cwd = argument(c, "command"), a.Stored().Cwd
		out.waits = string(rpc.Member(arguments(c), "background")) != "true"
	}
	return out
}

// lineOf is the first line that a call reads, 0 where it does not say.
func lineOf(c content.ToolCall) int {
	if c.Name != "read" {
		return 0
	}
	n, err := strconv.Atoi(string(rpc.Member(arguments(c), "offset")))
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// kindOf tells clients which icon to draw.
func kindOf(tool string) string {
	switch tool {
	case "read", "list", "view_image", "look":
		return wire.ToolRead
	case "write", "edit":
		return wire.ToolEdit
	case "find", "grep", "search", "glob":
		return wire.ToolSearch
	case "run", "bash", "shell", "bash_output", "bash_kill":
		return wire.ToolExecute
	case "fetch":
		return wire.ToolFetch
	case "todo":
		return wire.ToolThink
	}
	return wire.ToolOther
}

// terminal reports whether the call has one that shows what it prints.
func (c *call) terminal() bool { return c.command != "" && c.waits && c.began }

// titleOf names a call whose live title was not recorded.
func titleOf(c content.ToolCall) string {
	for _, name := range []string{"path", "command", "pattern", "query", "url"} {
		if v := argument(c, name); v != "" {
			return c.Name + " " + rpc.Clip(v, 200)
		}
	}
	return c.Name
}

// argument is a string among the arguments of a call, "" when there is none.
func argument(c content.ToolCall, name string) string {
	return rpc.Unquote(rpc.Member(arguments(c), name))
}

// exitCode is the exit code that the shell tool tells at the end of its text, nil
// where it tells none.
func exitCode(text string) *int64 {
	const mark = "[exit code "
	at := strings.LastIndex(text, mark)
	if at < 0 || at > 0 && text[at-1] != '\n' {
		return nil
	}
	digits, _, ok := strings.Cut(text[at+len(mark):], " ")
	n, err := strconv.ParseInt(strings.TrimSuffix(digits, "]"), 10, 64)
	if !ok || err != nil {
		return nil
	}
	return &n
}

// printMore keeps the end of what a call has printed and returns it.
func (c *call) printMore(text string) string {
	c.live = true
	s := c.tail + text
	if n := len(s) - maxPrinted; n > 0 {
		s = strings.ToValidUTF8(s[n:], "")
	}
	c.tail = s
	return s
}

// maxPrinted bounds what is shown of a call that runs, in bytes.
const maxPrinted = 8_000
