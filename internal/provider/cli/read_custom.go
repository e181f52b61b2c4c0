package cli

import (
	"bytes"

	"tote/internal/content"
	"tote/internal/provider"
)

// customReader takes what a program writes for its answer, line by line. A line
// that is a JSON object with a member "tote" is an event instead: that names its
// kind, one of "text" and "thought" (with "text"), "remark" (with "text" and
// "lost"), "usage" (with "input_tokens" and "output_tokens") and "error" (with
// "message" and "status"). Other kinds are skipped.
type customReader struct {
	*collector
	// ends is how many line ends wait for more text: those at the very end of
	// an answer are no part of it.
	ends int
	open bool
}

func (r *customReader) line(line []byte) error {
	r.lines++
	if t := bytes.TrimSpace(line); bytes.HasPrefix(t, []byte("{")) && bytes.Contains(t, []byte(`"tote"`)) {
		if o, ok := parse(t); ok && o["tote"] != nil {
			return r.event(o, t)
		}
	}
	if r.open {
		r.ends++
	}
	r.open = true
	if len(line) == 0 {
		return nil
	}
	if !r.said {
		r.ends = 0
	}
	text := string(bytes.Repeat([]byte("\n"), r.ends)) + string(bytes.ToValidUTF8(line, []byte("\uFFFD")))
	r.ends = 0
	return r.text(text)
}

func (r *customReader) event(o object, raw []byte) error {
	switch o.str("tote") {
	case "text":
		return r.text(o.str("text"))
	case "thought":
		return r.thought(o.str("text"))
	case "remark":
		r.remark(o.str("text"), o.yes("lost"))
	case "usage":
		return r.usage(content.Usage{Input: o.count("input_tokens"), Output: o.count("output_tokens")}, raw)
	case "error":
		f := failure{words: firstOf(o.str("message"), "the program reports an error")}
		if n, ok := o.number("status"); ok {
			f.status = int(n)
		}
		r.fail(f)
	}
	return nil
}

// plainEnd is the end of an answer that is told by the exit code alone.
func plainEnd() provider.Finish { return provider.Finish{Stop: content.StopEndTurn} }
