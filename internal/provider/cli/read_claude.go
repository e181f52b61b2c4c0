package cli

import (
	"bytes"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// claudeReader reads the "stream-json" of claude
// (https://docs.claude.com/en/docs/claude-code/headless, read 2026-11-30).
type claudeReader struct {
	*collector
	// streamed are the messages whose text came in pieces, current the newest.
	streamed map[string]bool
	current  string
}

func (r *claudeReader) line(line []byte) error {
	o, ok := parse(line)
	if !ok {
		r.stray(line)
		return nil
	}
	r.lines++
	switch o.str("type") {
	case "system":
		return r.system(o, line)
	case "stream_event":
		if o.str("parent_tool_use_id") != "" {
			return nil // a helper of claude's own
		}
		return r.event(o.obj("event"))
	case "assistant":
		return r.message(o)
	case "user":
		r.echo(o)
		return nil
	case "result":
		return r.result(o)
	}
	return nil
}

// system reads what claude says of itself.
func (r *claudeReader) system(o object, line []byte) error {
	switch o.str("subtype") {
	case "init":
		return nil
	case "api_retry":
		n, _ := o.number("attempt") // 0 where it is not said
		ms, _ := o.number("retry_delay_ms")
		why := o.str("error")
		if status, ok := o.number("error_status"); ok {
			why = itoa(int(status)) + " " + why
		}
		return r.retry(int(n), ms/1000, why)
	}
	if words := o.first("content", "message", "text"); words != "" {
		r.note(words)
	} else if lossy(string(line)) {
		r.remark("claude says that it left an attachment out", true)
	}
	return nil
}

// event reads a piece of a message as the API sends it.
func (r *claudeReader) event(e object) error {
	switch e.str("type") {
	case "message_start":
		r.current, r.gap = e.obj("message").str("id"), true
	case "content_block_start":
		r.gap = r.gap || r.said && e.obj("content_block").str("type") == "text"
	case "content_block_delta":
		d := e.obj("delta")
		switch d.str("type") {
		case "text_delta":
			r.mark()
			return r.text(d.str("text"))
		case "thinking_delta":
			r.mark()
			return r.thought(d.str("thinking"))
		}
	}
	return nil
}

// mark remembers that the current message comes in pieces.
func (r *claudeReader) mark() {
	if r.streamed == nil {
		r.streamed = map[string]bool{}
	}
	r.streamed[r.current] = true
}

// synthetic is the model of messages that claude makes up, such as errors. They
// stand in the result as well.
const synthetic = "<synthetic>"

// message reads blocks of a message: text that came in pieces already is skipped.
func (r *claudeReader) message(o object) error {
	m := o.obj("message")
	if o.str("parent_tool_use_id") != "" {
		return nil
	}
	if m.str("model") == synthetic {
		for _, b := range m.list("content") {
			r.note(b.str("text"))
		}
		return nil
	}
	came := r.streamed[m.str("id")]
	for _, b := range m.list("content") {
		var err error
		switch b.str("type") {
		case "text":
			if !came {
				r.gap = true
				err = r.text(b.str("text"))
			}
		case "thinking":
			if !came {
				err = r.thought(b.str("thinking"))
			}
		case "tool_use":
			in := b.obj("input")
			err = r.runs(b.str("name"), in.first("command", "file_path", "path", "pattern", "query", "url", "description", "prompt"))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// echo looks through the results of claude's own tools for pictures that did not
// fit.
func (r *claudeReader) echo(o object) {
	for _, b := range o.obj("message").list("content") {
		if b.str("type") == "text" {
			r.note(b.str("text"))
			continue
		}
		for _, inner := range b.list("content") {
			if words := inner.str("text"); inner.str("type") == "text" && bytes.HasPrefix([]byte(words), []byte("[")) {
				r.note(words)
			}
		}
	}
}

func (r *claudeReader) result(o object) error {
	u := o.obj("usage")
	in := u.count("input_tokens")
	read, wrote := u.count("cache_read_input_tokens"), u.count("cache_creation_input_tokens")
	if in.Known {
		in.N += read.N + wrote.N // 0 where it is not known
	}
	if err := r.usage(content.Usage{
		Input: in, Output: u.count("output_tokens"), Cached: read, CacheWrite: wrote,
		Reasoning: u.obj("output_tokens_details").count("thinking_tokens"),
	}, o["usage"]); err != nil {
		return err
	}
	words, why := o.str("result"), o.str("terminal_reason")
	if o.str("subtype") == "error_max_turns" || why == "max_turns" {
		r.done(provider.Finish{Stop: content.StopMaxSteps, Note: "max_turns"})
		return nil
	}
	if o.yes("is_error") || o.str("subtype") != "success" {
		f := failure{words: words}
		if n, ok := o.number("api_error_status"); ok {
			f.status = int(n)
		}
		switch why {
		case "prompt_too_long":
			f.kind = delivery.FailOverflow
		case "image_error":
			f.kind, f.class = delivery.FailRefused, delivery.ClassDecode
		}
		if f.words == "" {
			f.words = firstOf(errorsOf(o), why, o.str("subtype"))
		}
		r.fail(f)
		return nil
	}
	if !r.said {
		if err := r.text(words); err != nil {
			return err
		}
	}
	r.done(finishOf(o.str("stop_reason")))
	return nil
}

// errorsOf joins the list of sentences that a failed result may hold.
func errorsOf(o object) string {
	var out string
	for _, s := range stringsOf(o["errors"]) {
		if out != "" {
			out += "; "
		}
		out += s
	}
	return out
}

func finishOf(reason string) provider.Finish {
	switch reason {
	case "max_tokens":
		return provider.Finish{Stop: content.StopMaxTokens}
	case "refusal":
		return provider.Finish{Stop: content.StopRefusal}
	case "", "end_turn", "stop_sequence", "tool_use":
		return provider.Finish{Stop: content.StopEndTurn}
	}
	return provider.Finish{Stop: content.StopEndTurn, Note: oneLine(reason)}
}
