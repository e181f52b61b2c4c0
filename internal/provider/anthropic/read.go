package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"tote/internal/content"
	"tote/internal/provider"
)

// maxWhole bounds an answer that came in one piece, in bytes.
const maxWhole = 64 << 20

// maxAnswer bounds the text, thinking and tool calls of one answer, in bytes. No
// model writes that much; a backend that streams without an end does.
const maxAnswer = 16 << 20

// read reads an answer: a stream, as was asked for, or a whole one from a server
// that cannot stream.
func read(a *provider.Answer, origin string, emit func(provider.Event) bool) error {
	c := &collector{emit: emit, origin: origin}
	form, r := provider.Peek(a)
	switch form {
	case provider.FormEvents:
		return c.stream(r)
	case provider.FormJSON:
		return c.whole(r)
	case provider.FormHTML:
		return provider.Page(r)
	}
	panic("anthropic: invalid form " + strconv.Itoa(int(form)))
}

// collector puts an answer together.
type collector struct {
	emit   func(provider.Event) bool
	origin string
	id     string
	// parts are the blocks that were not given out yet, in order.
	parts []*part
	// calls are the identifiers of the calls that were given out.
	calls  map[string]bool
	totals totals
	reason string
	// category is why the model refused.
	category string
	// cut: the last call is not whole.
	cut bool
	// begun: something of an answer was in it. ended: so was its end.
	begun, ended bool
	// size is how much of it there is, in bytes.
	size int
}

// errStopped ends reading when nobody wants more.
var errStopped = errors.New("stopped by the consumer")

func (c *collector) stream(r io.Reader) error {
	events := provider.NewEvents(r)
	for !c.ended {
		ev, err := events.Next()
		switch {
		case err == nil && ev.Done():
			c.ended = true
		case err == nil:
			if err := c.event(ev); err != nil {
				return err
			}
		case c.reason != "":
			c.ended = true // the answer is whole; only what stands behind it is lost
		case errors.Is(err, io.EOF):
			return c.failed(provider.BrokenOff("the answer broke off: no stop reason and no message_stop"))
		case errors.Is(err, io.ErrUnexpectedEOF):
			return c.failed(provider.BrokenOff("the answer broke off in the middle"))
		default:
			return c.failed(err)
		}
	}
	return c.finish()
}

// failed reports the usage so far, which is charged, before an error.
func (c *collector) failed(err error) error {
	c.report()
	return err
}

// report sends the usage, if there is one.
func (c *collector) report() bool {
	raw := c.totals.raw()
	return raw == nil || c.emit(provider.UsageReport{Usage: parseUsage(raw), Raw: raw})
}

// event takes one event of a stream. Those of an unknown type are skipped.
func (c *collector) event(ev provider.ServerEvent) error {
	var e event
	if !parse(ev.Data, &e) {
		return c.failed(provider.Unreadable("an event of the answer is no JSON object"))
	}
	if e.Type == "" {
		e.Type = ev.Name
	}
	if e.Type == "error" || ev.Name == "error" || provider.Present(e.Error) {
		return c.failed(provider.Rejection(200, ev.Data))
	}
	switch e.Type {
	case "message_start":
		return c.start(e.Message)
	case "content_block_start":
		return c.open(e.Index, e.Block)
	case "content_block_delta":
		return c.delta(e.Index, &e.Delta)
	case "content_block_stop":
		return c.close(e.Index)
	case "message_delta":
		c.begun = true
		c.stop(e.Delta.StopReason, e.Delta.StopDetails)
		c.totals.add(e.Usage)
	case "message_stop":
		c.ended = true
	}
	return nil
}

// start takes the head of a message. Its usage goes out at once: it is charged
// also when nobody waits for the end.
func (c *collector) start(m *message) error {
	c.begun = true
	if m == nil {
		return nil
	}
	c.id = m.ID
	c.stop(m.StopReason, m.StopDetails)
	c.totals.add(m.Usage)
	if !c.report() {
		return errStopped
	}
	return nil
}

func (c *collector) stop(reason string, details stopDetails) {
	if reason != "" {
		c.reason, c.category = reason, details.Category
	}
}

// whole reads an answer that came as one JSON object.
func (c *collector) whole(r io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(r, maxWhole))
	if err != nil {
		return err
	}
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '[' {
		return provider.Rejection(200, data) // the form of some gateways' errors
	}
	var m message
	if !json.Valid(data) || !parse(data, &m) {
		return provider.Unreadable("the answer is no JSON object")
	}
	if m.Type == "error" || provider.Present(m.Error) || m.Type != "message" && m.Content == nil {
		return provider.Rejection(200, data)
	}
	c.begun, c.id = true, m.ID
	c.stop(m.StopReason, m.StopDetails)
	c.totals.add(m.Usage)
	for i := range m.Content {
		if err := c.open(i, &m.Content[i]); err != nil {
			return err
		}
		if err := c.close(i); err != nil {
			return err
		}
	}
	return c.finish()
}

// finish ends an answer that is whole: what was not given out, usage, the end.
func (c *collector) finish() error {
	if !c.begun {
		return c.failed(provider.Unreadable("the answer holds no message"))
	}
	c.ended = true
	if err := c.drain(); err != nil {
		return err
	}
	if !c.report() || !c.emit(c.end()) {
		return errStopped
	}
	return nil
}

// The stop reasons after which a call may not be whole.
const (
	stopMaxTokens = "max_tokens"
	stopContext   = "model_context_window_exceeded"
	stopRefusal   = "refusal"
)

// end maps the stop reason.
func (c *collector) end() provider.Finish {
	f := provider.Finish{Stop: content.StopEndTurn}
	switch c.reason {
	case "", "end_turn", "stop_sequence", "tool_use":
	case stopMaxTokens:
		f.Stop = content.StopMaxTokens
	case stopContext:
		f = provider.Finish{Stop: content.StopMaxTokens, Note: c.reason}
	case stopRefusal:
		f = provider.Finish{Stop: content.StopRefusal, Note: c.reason}
		if c.category != "" {
			f.Note += ": " + content.Clean(c.category)
		}
	default: // pause_turn, and whatever comes to be
		f.Note = content.Clean(c.reason)
	}
	if c.cut && f.Stop == content.StopMaxTokens {
		f.Note = "a tool call was cut off"
	}
	return f
}
