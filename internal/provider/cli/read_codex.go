package cli

import (
	"encoding/json"
	"strconv"
	"strings"

	"tote/internal/content"
	"tote/internal/provider"
)

// codexReader reads the events of "codex exec --json"
// (https://github.com/openai/codex/blob/main/docs/exec.md, read 2026-11-30).
type codexReader struct {
	*collector
	// begun are the items that were told when they began.
	begun map[string]bool
	tries int
}

func (r *codexReader) line(line []byte) error {
	o, ok := parse(line)
	if !ok {
		r.stray(line)
		return nil
	}
	r.lines++
	switch o.str("type") {
	case "item.started":
		return r.began(o.obj("item"))
	case "item.completed":
		return r.item(o.obj("item"))
	case "error":
		r.tries++
		return r.retry(r.tries, 0, o.str("message"))
	case "turn.failed":
		r.fail(failure{words: firstOf(o.obj("error").str("message"), r.last, "the turn failed")})
	case "turn.completed":
		return r.completed(o)
	}
	return nil
}

func (r *codexReader) completed(o object) error {
	u := o.obj("usage")
	err := r.usage(content.Usage{
		Input: u.count("input_tokens"), Output: u.count("output_tokens"), Cached: u.count("cached_input_tokens"),
		CacheWrite: u.count("cache_write_input_tokens"), Reasoning: u.count("reasoning_output_tokens"),
	}, o["usage"])
	r.done(provider.Finish{Stop: content.StopEndTurn})
	return err
}

// began tells of tools when they begin, which may take long.
func (r *codexReader) began(item object) error {
	told, err := r.tool(item)
	if told {
		if r.begun == nil {
			r.begun = map[string]bool{}
		}
		r.begun[item.str("id")] = true
	}
	return err
}

// item reads a finished item.
func (r *codexReader) item(item object) error {
	switch item.str("type") {
	case "agent_message":
		r.gap = true
		return r.text(item.str("text"))
	case "reasoning":
		return r.thought(line(item.str("text")))
	case "error":
		if words := item.str("message"); !r.note(words) {
			r.last = words
			r.remark(words, false)
		}
		return nil
	}
	if r.begun[item.str("id")] {
		return nil
	}
	_, err := r.tool(item)
	return err
}

// tool tells of a tool. It returns false for an item that is none.
func (r *codexReader) tool(item object) (bool, error) {
	switch item.str("type") {
	case "command_execution":
		return true, r.runs("command", item.str("command"))
	case "file_change":
		var paths []string
		for _, c := range item.list("changes") {
			paths = append(paths, c.str("path"))
		}
		return true, r.runs("file change", strings.Join(paths, ", "))
	case "mcp_tool_call":
		return true, r.runs(item.str("server")+"."+item.str("tool"), "")
	case "web_search":
		return true, r.runs("web search", item.str("query"))
	}
	return false, nil
}

// line ends thinking that came whole.
func line(s string) string {
	if s == "" {
		return ""
	}
	return s + "\n"
}

func firstOf(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

func stringsOf(raw json.RawMessage) []string {
	var out []string
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

func itoa(n int) string { return strconv.Itoa(n) }
