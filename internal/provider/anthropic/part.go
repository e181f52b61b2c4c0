package anthropic

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"tote/internal/content"
	"tote/internal/provider"
)

// part is a block that is being put together.
type part struct {
	index int
	kind  string
	// text is thinking, or the input of a call.
	text strings.Builder
	// signature is that of thinking, or redacted data.
	signature strings.Builder
	id, name  string
	closed    bool
}

// The types of blocks that are read besides those of thinking.
const (
	typeText = "text"
	typeCall = "tool_use"
)

// partCost is what a block weighs besides its content, in bytes; it bounds how
// many there can be.
const partCost = 4 << 10

// open begins a block. Servers are known to put content into its start.
func (c *collector) open(index int, b *block) error {
	if b == nil {
		return nil
	}
	c.begun = true
	p := &part{index: index, kind: b.Type}
	c.parts = append(c.parts, p)
	if err := c.weigh(partCost + len(b.ID) + len(b.Name)); err != nil {
		return err
	}
	d := delta{}
	switch b.Type {
	case typeText:
		d = delta{Type: "text_delta", Text: b.Text}
	case typeThinking:
		d = delta{Type: "thinking_delta", Thinking: b.Thinking}
		p.signature.WriteString(b.Signature)
	case typeRedacted:
		p.signature.WriteString(b.Data)
	case typeCall:
		p.id, p.name = b.ID, b.Name
		if in := strings.TrimSpace(string(b.Input)); in != "{}" && in != "null" {
			d = delta{Type: "input_json_delta", PartialJSON: in}
		}
	}
	if err := c.weigh(len(b.Signature) + len(b.Data)); err != nil {
		return err
	}
	if err := c.drain(); err != nil {
		return err
	}
	return c.delta(index, &d)
}

// delta takes more of a block. Text and thinking count also without a start.
func (c *collector) delta(index int, d *delta) error {
	p := c.find(index)
	switch d.Type {
	case "text_delta":
		if d.Text == "" || p != nil && p.kind != typeText {
			return nil
		}
		c.begun = true
		if err := c.weigh(len(d.Text)); err != nil {
			return err
		}
		return c.give(provider.TextDelta{Text: d.Text})
	case "thinking_delta":
		if d.Thinking != "" && (p == nil || p.kind == typeThinking) {
			return c.think(index, p, d.Thinking)
		}
	case "signature_delta":
		if p != nil && p.kind == typeThinking {
			p.signature.WriteString(d.Signature)
			return c.weigh(len(d.Signature))
		}
	case "input_json_delta":
		if p != nil && p.kind == typeCall {
			p.text.WriteString(d.PartialJSON)
			return c.weigh(len(d.PartialJSON))
		}
	}
	return nil
}

// think takes more of a block of thinking, p, or begins one.
func (c *collector) think(index int, p *part, more string) error {
	if p == nil {
		p = &part{index: index, kind: typeThinking}
		c.parts = append(c.parts, p)
		c.begun = true
	}
	p.text.WriteString(more)
	if err := c.weigh(len(more)); err != nil {
		return err
	}
	return c.give(provider.ThoughtDelta{Text: more})
}

// find returns the open block with an index, nil for none.
func (c *collector) find(index int) *part {
	for _, p := range slices.Backward(c.parts) {
		if p.index == index && !p.closed {
			return p
		}
	}
	return nil
}

// close ends a block.
func (c *collector) close(index int) error {
	p := c.find(index)
	if p == nil {
		return nil
	}
	p.closed = true
	return c.drain()
}

// drain gives out finished blocks in the order in which they began. The last
// call waits while it may have been cut off, which only the end tells.
func (c *collector) drain() error {
	for len(c.parts) > 0 {
		p := c.parts[0]
		if !c.ended && !p.closed {
			return nil
		}
		if !c.ended && len(c.parts) == 1 && p.kind == typeCall && !p.whole() {
			return nil
		}
		c.parts[0] = nil
		c.parts = c.parts[1:]
		var err error
		switch p.kind {
		case typeThinking:
			if p.text.Len()+p.signature.Len() > 0 {
				err = c.give(provider.Thought{Reasoning: reasoning(typeThinking, c.origin, p.text.String(), p.signature.String())})
			}
		case typeRedacted:
			if p.signature.Len() > 0 {
				err = c.give(provider.Thought{Reasoning: reasoning(typeRedacted, c.origin, "", p.signature.String())})
			}
		case typeCall:
			err = c.call(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// whole reports whether the input of a call is JSON.
func (p *part) whole() bool { return json.Valid([]byte(p.text.String())) }

// call gives out a call. One that no block stands behind may have been cut off.
func (c *collector) call(p *part) error {
	args := p.text.String()
	if len(c.parts) == 0 && !p.whole() {
		switch c.reason {
		case stopMaxTokens, stopContext, stopRefusal:
			c.cut = true
			return nil
		}
	}
	if strings.TrimSpace(args) == "" {
		args = "{}"
	}
	id := c.callID(p, args)
	if c.calls == nil {
		c.calls = map[string]bool{}
	}
	c.calls[id] = true
	return c.give(provider.Call{Call: content.ToolCall{ID: id, Name: toolName(p.name), Arguments: args}})
}

// maxCallID is the longest identifier of a call that is kept, in bytes: a longer
// one comes from a model that repeats itself.
const maxCallID = 256

// callID is the server's name of a call. A missing one, or one that another
// call of the answer has, is made of the answer's own name and content, so that
// the same answer always gives the same.
func (c *collector) callID(p *part, args string) string {
	if p.id != "" && len(p.id) <= maxCallID && strings.IndexFunc(p.id, unicode.IsControl) < 0 && !c.calls[p.id] {
		return p.id
	}
	h := fnv.New64a()
	h.Write(fmt.Appendf(nil, "%s\x00%d\x00%s\x00%s", c.id, len(c.calls), p.name, args))
	return fmt.Sprintf("call_%016x", h.Sum64())
}

// give sends an event.
func (c *collector) give(e provider.Event) error {
	if !c.emit(e) {
		return errStopped
	}
	return nil
}

// weigh counts what came and bounds it.
func (c *collector) weigh(n int) error {
	c.size += n
	if c.size > maxAnswer {
		return c.failed(provider.Unreadable("the answer is over " + strconv.Itoa(maxAnswer>>20) + " MiB"))
	}
	return nil
}
