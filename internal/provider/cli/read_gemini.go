package cli

import (
	"tote/internal/content"
	"tote/internal/provider"
)

// geminiReader reads the "stream-json" of gemini
// (https://geminicli.com/docs/cli/headless, read 2026-11-30).
type geminiReader struct{ *collector }

func (r *geminiReader) line(line []byte) error {
	o, ok := parse(line)
	if !ok {
		r.stray(line)
		return nil
	}
	r.lines++
	switch o.str("type") {
	case "message":
		if o.str("role") == "assistant" {
			return r.text(o.str("content"))
		}
	case "tool_use":
		return r.runs(o.str("tool_name"), o.obj("parameters").first("command", "file_path", "path", "dir_path", "pattern", "query", "url", "prompt"))
	case "tool_result":
		r.gap = true
		r.note(o.obj("error").str("message"))
	case "error":
		words := o.str("message")
		if !r.note(words) {
			r.remark(words, false)
		}
		if o.str("severity") == "error" {
			r.last = words
		}
	case "result":
		return r.result(o)
	}
	return nil
}

func (r *geminiReader) result(o object) error {
	s := o.obj("stats")
	if n, _ := s.number("total_tokens"); n > 0 { // a turn that failed counts nothing, and says 0
		if err := r.usage(content.Usage{
			Input: s.count("input_tokens"), Output: s.count("output_tokens"), Cached: s.count("cached"),
		}, o["stats"]); err != nil {
			return err
		}
	}
	if o.str("status") == "success" {
		r.done(provider.Finish{Stop: content.StopEndTurn, Note: oneLine(r.last)})
		return nil
	}
	r.fail(failure{words: firstOf(o.obj("error").str("message"), r.last, "the turn failed")})
	return nil
}
