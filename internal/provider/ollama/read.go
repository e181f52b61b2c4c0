package ollama

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
	"tote/internal/provider"
)

// maxAnswer bounds the text, thinking and tool calls of one answer, in bytes. No
// model writes that much; a backend that streams without an end does.
const maxAnswer = 16 << 20

// read reads an answer, one JSON object a line.
func read(a *provider.Answer, emit func(provider.Event) bool) error {
	c := collector{emit: emit}
	form, r := provider.Peek(a)
	if form == provider.FormHTML {
		return provider.Page(r)
	}
	lines := provider.NewLines(r)
	for {
		data, err := lines.Next()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\uFEFF"))); len(data) > 0 {
			if done, lerr := c.line(data, err != nil); lerr != nil || done {
				return lerr
			}
		}
		if err != nil {
			return provider.BrokenOff("the answer broke off: its last line is missing")
		}
	}
}

// collector puts an answer together.
type collector struct {
	emit func(provider.Event) bool
	// id tells the answer from others.
	id       string
	calls    []content.ToolCall
	thinking strings.Builder
	// answered: something of an answer was in it.
	answered bool
	// size is how much of it there is, in bytes.
	size int
}

// errStopped ends reading when nobody wants more.
var errStopped = errors.New("stopped by the consumer")

// line takes one line; done is true for the last. cut: nothing stands behind it,
// not even its own end.
func (c *collector) line(data []byte, cut bool) (done bool, err error) {
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		var typed *json.UnmarshalTypeError
		switch {
		case !errors.As(err, &typed) && cut && c.answered:
			return false, provider.BrokenOff("the answer broke off in the middle")
		case !errors.As(err, &typed):
			return false, provider.Unreadable("a line of the answer is no JSON")
		case typed.Field == "" || strings.HasPrefix(typed.Field, "message"):
			return false, provider.Unreadable("a line of the answer has another form: " + typed.Value)
		}
	}
	if present(l.Error) {
		return false, rejected(data)
	}
	if c.id == "" {
		c.id = l.CreatedAt
	}
	if l.Message == nil && !l.Done {
		if c.answered {
			return false, nil
		}
		return false, provider.Rejection(200, data) // some other server's own words
	}
	if err := c.message(&l); err != nil {
		return false, err
	}
	if !l.Done {
		return false, nil
	}
	return true, c.finish(&l, data)
}

// rejected is the error that stands in a line. The status that belonged to it
// came too late: it is 500 unless the words say otherwise
// (https://github.com/ollama/ollama/blob/main/server/routes.go, read 2026-11-30).
func rejected(data []byte) *provider.Error {
	e := provider.Rejection(500, data)
	e.Failure.Status = 200
	return e
}

func (c *collector) message(l *line) error {
	m := l.Message
	if m == nil {
		return nil
	}
	c.answered = true
	c.size += len(m.Content) + len(m.Thinking)
	if m.Thinking != "" {
		c.thinking.WriteString(m.Thinking)
		if !c.emit(provider.ThoughtDelta{Text: m.Thinking}) {
			return errStopped
		}
	}
	if m.Content != "" && !c.emit(provider.TextDelta{Text: m.Content}) {
		return errStopped
	}
	for range m.Images {
		if !c.emit(provider.Remark{Text: "the model sent a picture, which this version does not show", Lost: true}) {
			return errStopped
		}
	}
	for i := range m.ToolCalls {
		c.call(&m.ToolCalls[i])
	}
	if c.size > maxAnswer {
		return provider.Unreadable("the answer is over " + strconv.Itoa(maxAnswer>>20) + " MiB")
	}
	return nil
}

func (c *collector) call(k *toolCall) {
	args := arguments(k.Function.Arguments)
	c.size += len(args) + len(k.Function.Name) + len(k.ID)
	c.calls = append(c.calls, content.ToolCall{
		ID: c.callID(k, args), Name: provider.ToolName(k.Function.Name), Arguments: args,
	})
}

// callID is the server's name of a call. A missing one, which is the rule before
// 0.12, or one that another call of the answer has, is made of the answer's own
// time and content, so that the same answer always gives the same.
func (c *collector) callID(k *toolCall, args string) string {
	taken := func(id string) bool {
		return slices.ContainsFunc(c.calls, func(o content.ToolCall) bool { return o.ID == id })
	}
	if k.ID != "" && len(k.ID) <= provider.MaxCallID && strings.IndexFunc(k.ID, unicode.IsControl) < 0 && !taken(k.ID) {
		return k.ID
	}
	for n := len(c.calls); ; n++ {
		h := fnv.New64a()
		h.Write(fmt.Appendf(nil, "%s\x00%d\x00%s\x00%s", c.id, n, k.Function.Name, args))
		if id := fmt.Sprintf("call_%016x", h.Sum64()); !taken(id) {
			return id
		}
	}
}

// finish ends an answer that is whole: thinking, calls, usage, and the end.
func (c *collector) finish(l *line, data []byte) error {
	if c.thinking.Len() > 0 && !c.emit(provider.Thought{Reasoning: content.Reasoning{Text: c.thinking.String(), Path: Path}}) {
		return errStopped
	}
	for _, k := range c.calls {
		if !c.emit(provider.Call{Call: k}) {
			return errStopped
		}
	}
	if u, raw := parseUsage(data); raw != nil && !c.emit(provider.UsageReport{Usage: u, Raw: raw}) {
		return errStopped
	}
	end := provider.Finish{Stop: content.StopEndTurn}
	switch l.DoneReason {
	case "", "stop", "tool_calls":
	case "length":
		end.Stop = content.StopMaxTokens
	default:
		end.Note = content.Clean(l.DoneReason)
	}
	if !c.emit(end) {
		return errStopped
	}
	return nil
}
