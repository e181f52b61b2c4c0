package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// maxWhole bounds an answer that came in one piece, in bytes.
const maxWhole = 64 << 20

// maxAnswer bounds the text, thinking and tool calls of one answer, in bytes. No
// model writes that much; a backend that streams without an end does.
const maxAnswer = 16 << 20

// readChat reads an answer in any form that a server is known to give to a
// request for a stream.
// by is who makes what has to be given back.
func readChat(a *provider.Answer, emit func(provider.Event) bool, by string) error {
	c := collector{emit: emit, by: by}
	form, r := provider.Peek(a)
	switch form {
	case provider.FormEvents:
		return c.stream(r)
	case provider.FormJSON:
		return c.whole(r)
	case provider.FormHTML:
		return provider.Page(r)
	}
	panic("openai: invalid form " + strconv.Itoa(int(form)))
}

// collector puts an answer together.
type collector struct {
	emit  func(provider.Event) bool
	by    string
	id    string
	calls []*call
	// thinking is all of it so far, field the one that it came in.
	thinking strings.Builder
	field    string
	details  details
	usage    json.RawMessage
	reason   string
	refused  bool
	// answered: something of an answer was in it.
	answered bool
	// size is how much of it there is, in bytes.
	size int
}

// call is a tool call that is being put together.
type call struct {
	index    int
	id, name string
	args     strings.Builder
	// extra is what goes back with the call as it came.
	extra json.RawMessage
}

func (c *collector) stream(r io.Reader) error {
	events := provider.NewEvents(r)
	for {
		ev, err := events.Next()
		switch {
		case err == nil && ev.Done():
			return c.finish()
		case err == nil:
			if err := c.event(ev); err != nil {
				return err
			}
		case c.reason != "":
			return c.finish() // the answer is whole; only what stands behind it is lost
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return c.broken(err)
		default:
			return c.failed(err)
		}
	}
}

// errStopped ends reading when nobody wants more.
var errStopped = errors.New("stopped by the consumer")

// broken is the error of a stream that ended too early.
func (c *collector) broken(err error) error {
	how := "the answer broke off: no finish reason and no [DONE]"
	if errors.Is(err, io.ErrUnexpectedEOF) {
		how = "the answer broke off in the middle"
	}
	return c.failed(provider.BrokenOff(how))
}

// failed reports the usage so far, which is charged, before an error.
func (c *collector) failed(err error) error {
	c.report()
	return err
}

func (c *collector) event(ev provider.ServerEvent) error {
	if ev.Name == "error" {
		return c.failed(provider.Rejection(200, ev.Data))
	}
	return c.data(ev.Data)
}

// whole reads an answer that came as one JSON object.
func (c *collector) whole(r io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(r, maxWhole))
	if err != nil {
		return err
	}
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '[' {
		return provider.Rejection(200, data) // the form of Google's errors
	}
	if err := c.data(data); err != nil {
		return err
	}
	if !c.answered {
		return provider.Rejection(200, data)
	}
	return c.finish()
}

// data takes one chunk.
func (c *collector) data(raw []byte) error {
	var ch chunk
	if err := json.Unmarshal(raw, &ch); err != nil {
		var typed *json.UnmarshalTypeError
		if !errors.As(err, &typed) {
			return c.failed(provider.Unreadable("a chunk of the answer is no JSON"))
		}
		if typed.Field == "" || typed.Field == "choices" {
			return c.failed(provider.Unreadable("a chunk of the answer has another form: " + typed.Value))
		}
	}
	if provider.Present(ch.Error) || provider.Present(ch.XGroq.Error) || str(ch.Object) == "error" {
		return c.failed(provider.Rejection(200, raw))
	}
	if c.id == "" {
		c.id = ch.ID
	}
	for _, u := range []json.RawMessage{ch.XGroq.Usage, ch.Usage} {
		if provider.Present(u) {
			c.usage = slices.Clone(u)
		}
	}
	for i := range ch.Choices {
		if ch.Choices[i].Index != 0 {
			continue // one answer was asked for
		}
		if err := c.choice(&ch.Choices[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) choice(ch *choice) error {
	if provider.Present(ch.Error) {
		return c.failed(provider.Rejection(200, ch.Error))
	}
	if provider.Present(ch.Usage) {
		c.usage = slices.Clone(ch.Usage)
	}
	d := ch.Delta
	if d == nil {
		d = ch.Message
	}
	if d != nil {
		c.answered = true
		if err := c.delta(d); err != nil {
			return err
		}
	}
	if r := str(ch.FinishReason); r != "" {
		c.reason = r
	}
	return nil
}

func (c *collector) delta(d *delta) error {
	text, thought := prose(d.Content)
	field := reasoningContent
	if t := str(d.ReasoningContent); t != "" {
		thought += t
	} else if t := str(d.Reasoning); t != "" {
		thought += t
		field = reasoningShort
	}
	c.size += len(d.ReasoningDetails)
	if more := c.details.add(d.ReasoningDetails); thought == "" {
		thought, field = more, reasoningShort
	}
	if thought != "" {
		c.thinking.WriteString(thought)
		c.field = field
		if !c.emit(provider.ThoughtDelta{Text: thought}) {
			return errStopped
		}
	}
	if no := str(d.Refusal); no != "" {
		c.refused = true
		text += no
	}
	c.size += len(text) + len(thought)
	if text != "" && !c.emit(provider.TextDelta{Text: text}) {
		return errStopped
	}
	for i := range d.ToolCalls {
		c.call(&d.ToolCalls[i])
	}
	if c.size > maxAnswer {
		return c.failed(provider.Unreadable("the answer is over " + strconv.Itoa(maxAnswer>>20) + " MiB"))
	}
	return nil
}

// call takes a piece of a tool call. Servers leave out the index, send every
// call under index 0, or send the name with each piece.
func (c *collector) call(d *callDelta) {
	args := arguments(d.Function.Arguments)
	k := c.find(d)
	if k == nil {
		k = &call{index: len(c.calls)}
		if d.Index != nil {
			k.index = *d.Index
		}
		c.calls = append(c.calls, k)
	}
	if k.id == "" {
		k.id = d.ID
	}
	if k.name == "" {
		k.name = d.Function.Name
	}
	k.args.WriteString(args)
	if isObject(d.ExtraContent) {
		k.extra = bytes.ToValidUTF8(d.ExtraContent, []byte("\uFFFD"))
	}
	c.size += len(args) + len(d.Function.Name) + len(d.ID) + len(d.ExtraContent)
}

// find returns the call that a piece belongs to, nil for a new one.
func (c *collector) find(d *callDelta) *call {
	if d.Index == nil && d.ID == "" {
		if len(c.calls) == 0 || d.Function.Name != "" {
			return nil
		}
		return c.calls[len(c.calls)-1]
	}
	for _, k := range slices.Backward(c.calls) {
		if d.Index != nil && k.index != *d.Index {
			continue
		}
		if d.ID == "" || k.id == "" || k.id == d.ID {
			return k
		}
	}
	return nil
}

// finish ends an answer that is whole: thinking, calls, usage, and the end.
func (c *collector) finish() error {
	if !c.answered {
		return c.failed(provider.Unreadable("the answer holds no choice"))
	}
	switch c.reason {
	case "error":
		return c.failed(provider.BrokenOff("the backend stopped with an error"))
	case "insufficient_system_resource": // DeepSeek
		e := provider.BrokenOff("the backend ran out of resources")
		e.Failure.Kind = delivery.FailServer
		return c.failed(e)
	}
	if r, ok := c.thought(); ok && !c.emit(provider.Thought{Reasoning: r}) {
		return errStopped
	}
	end := c.end()
	ids := namer{answer: c.id}
	for i, k := range c.calls {
		args := k.args.String()
		if args == "" {
			args = "{}"
		}
		if end.Stop == content.StopMaxTokens && !json.Valid([]byte(args)) {
			end.Note = "a tool call was cut off"
			continue
		}
		call := content.ToolCall{ID: ids.name(k.id, i, k.name, args), Name: provider.ToolName(k.name), Arguments: args}
		if k.extra != nil {
			call.Signature, call.Path = kept{By: c.by, Call: k.extra}.signature(), ChatPath
		}
		if !c.emit(provider.Call{Call: call}) {
			return errStopped
		}
	}
	if !c.report() || !c.emit(end) {
		return errStopped
	}
	return nil
}

// report sends the usage, if there is one.
func (c *collector) report() bool {
	if c.usage == nil {
		return true
	}
	return c.emit(provider.UsageReport{Usage: parseUsage(c.usage), Raw: c.usage})
}

// namer gives the calls of one answer their names.
type namer struct {
	// answer is the answer's own name.
	answer string
	taken  []string
}

// name is the server's name of the i-th call. A missing one, or one that
// another call of the answer has, is made of the answer's own name and content,
// so that the same answer always gives the same.
func (n *namer) name(given string, i int, tool, args string) string {
	if given != "" && len(given) <= provider.MaxCallID && strings.IndexFunc(given, unicode.IsControl) < 0 && !slices.Contains(n.taken, given) {
		n.taken = append(n.taken, given)
		return given
	}
	h := fnv.New64a()
	h.Write(fmt.Appendf(nil, "%s\x00%d\x00%s\x00%s", n.answer, i, tool, args))
	return fmt.Sprintf("call_%016x", h.Sum64())
}

// end maps the finish reason.
func (c *collector) end() provider.Finish {
	switch c.reason {
	case "", "stop", "eos", "end_turn", "tool_calls", "tool_use", "function_call":
		if c.refused {
			return provider.Finish{Stop: content.StopRefusal, Note: "refusal"}
		}
		return provider.Finish{Stop: content.StopEndTurn}
	case "length", "max_tokens", "model_length":
		return provider.Finish{Stop: content.StopMaxTokens}
	case "content_filter":
		return provider.Finish{Stop: content.StopRefusal, Note: c.reason}
	}
	return provider.Finish{Stop: content.StopEndTurn, Note: content.Clean(c.reason)}
}
