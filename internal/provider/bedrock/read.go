package bedrock

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream/eventstreamapi"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// maxAnswer bounds the text, thinking and tool calls of one answer, in bytes. No
// model writes that much; a backend that streams without an end does.
const maxAnswer = 16 << 20

// maxWhole bounds an answer that is no stream, in bytes.
const maxWhole = 64 << 10

// reading is what has to be known to read an answer.
type reading struct {
	// names are the tools' own names by those on the wire.
	names map[string]string
	// total: the input count holds what was read from the cache and written
	// to it. Only OpenAI's models count so (maximhq/bifrost#6942).
	total bool
}

// readConverse reads an answer. id is the service's name for it.
func readConverse(r io.Reader, id string, about reading, emit func(provider.Event) bool) error {
	form, r := provider.Peek(r)
	switch form {
	case provider.FormEvents:
		c := collector{emit: emit, id: id, reading: about, blocks: map[int]*block{}}
		return c.stream(newFrames(r))
	case provider.FormJSON:
		data, err := io.ReadAll(io.LimitReader(r, maxWhole))
		if err != nil {
			return err
		}
		return provider.Rejection(200, data)
	case provider.FormHTML:
		return provider.Page(r)
	}
	panic("bedrock: invalid form " + strconv.Itoa(int(form)))
}

// block is one content block that is being put together.
type block struct {
	index int
	text  bool
	// call is a tool call; id and name come first, then its arguments.
	call     bool
	id, name string
	args     strings.Builder
	// thinking and what goes with it.
	thought   bool
	thinking  strings.Builder
	signature strings.Builder
	redacted  []byte
}

// collector puts an answer together.
type collector struct {
	emit func(provider.Event) bool
	id   string
	reading
	blocks map[int]*block
	order  []*block
	usage  json.RawMessage
	reason string
	begun  bool
	// spoken: something of it is to be seen.
	spoken bool
	// strange: it held what tote does not take.
	strange bool
	// size is how much of it there is, in bytes.
	size int
}

// errStopped ends reading when nobody wants more.
var errStopped = errors.New("stopped by the consumer")

func (c *collector) stream(in *frames) error {
	for {
		f, err := in.next()
		switch {
		case err == nil:
			if err := c.frame(f); err != nil {
				return err
			}
		case c.reason != "":
			return c.finish() // the answer is whole; only what stands behind it is lost
		case errors.Is(err, io.EOF):
			return c.failed(provider.BrokenOff("the answer broke off: no messageStop"))
		case errors.Is(err, io.ErrUnexpectedEOF):
			return c.failed(provider.BrokenOff("the answer broke off in the middle"))
		default:
			return c.failed(err)
		}
	}
}

// failed reports the usage so far, which is charged, before an error.
func (c *collector) failed(err error) error {
	c.report()
	return err
}

func (c *collector) frame(f frame) error {
	if f.kind == eventstreamapi.ExceptionMessageType || f.kind == eventstreamapi.ErrorMessageType {
		return c.failed(rejection(f))
	}
	var e event
	if err := json.Unmarshal(f.payload, &e); err != nil {
		if _, typed := errors.AsType[*json.UnmarshalTypeError](err); !typed {
			return c.failed(provider.Unreadable("an event of the answer is no JSON"))
		}
	}
	switch f.name {
	case "messageStart":
		c.begun = true
	case "contentBlockStart":
		return c.start(e)
	case "contentBlockDelta":
		return c.delta(e)
	case "contentBlockStop":
		return c.stop(e)
	case "messageStop":
		c.reason = e.StopReason
		if c.reason == "" {
			c.reason = "end_turn"
		}
	case "metadata":
		if provider.Present(e.Usage) {
			c.usage = slices.Clone(e.Usage)
		}
	}
	return nil
}

// rejection is the error of an exception inside a stream.
func rejection(f frame) error {
	var body struct {
		Message         string `json:"message"`
		OriginalMessage string `json:"originalMessage"`
	}
	if json.Unmarshal(f.payload, &body) != nil {
		body.Message = "" // its name says enough
	}
	message := f.message
	for _, s := range []string{body.Message, body.OriginalMessage} {
		if s != "" && !strings.Contains(message, s) {
			message = strings.TrimPrefix(message+": "+s, ": ")
		}
	}
	var s []byte
	s = append(s, `{"__type":`...)
	s = provider.AppendString(s, f.name)
	s = append(s, `,"message":`...)
	s = provider.AppendString(s, message)
	return provider.Rejection(200, append(s, '}'))
}

// at returns the block with an index, a new one where there is none.
func (c *collector) at(index int) *block {
	b := c.blocks[index]
	if b == nil {
		b = &block{index: index}
		c.blocks[index] = b
		c.order = append(c.order, b)
	}
	return b
}

func (c *collector) start(e event) error {
	c.begun = true
	b := c.at(e.ContentBlockIndex)
	switch s := e.Start; {
	case s.ToolUse != nil:
		b.call, b.id, b.name = true, s.ToolUse.ToolUseID, s.ToolUse.Name
		c.size += len(b.id) + len(b.name)
	case provider.Present(s.Image):
		return c.remark()
	}
	return c.bounded()
}

func (c *collector) bounded() error {
	if c.size > maxAnswer || len(c.order) > maxAnswer>>10 {
		return c.failed(provider.Unreadable("the answer is over " + strconv.Itoa(maxAnswer>>20) + " MiB"))
	}
	return nil
}

// remark tells once that the model sent what is not taken.
func (c *collector) remark() error {
	if c.strange {
		return nil
	}
	c.strange = true
	if !c.emit(provider.Remark{Text: "the model answered with a picture, which is not taken"}) {
		return errStopped
	}
	return nil
}

func (c *collector) delta(e event) error {
	c.begun = true
	b := c.at(e.ContentBlockIndex)
	d := e.Delta
	c.size += len(d.Text)
	if d.Text != "" {
		b.text, c.spoken = true, true
		if !c.emit(provider.TextDelta{Text: d.Text}) {
			return errStopped
		}
	}
	if d.ToolUse != nil {
		b.call = true
		c.size += len(d.ToolUse.Input)
		b.args.WriteString(d.ToolUse.Input)
	}
	if r := d.ReasoningContent; r != nil {
		if err := c.think(b, r); err != nil {
			return err
		}
	}
	if provider.Present(d.Image) {
		return c.remark()
	}
	return c.bounded()
}

func (c *collector) think(b *block, r *reasoningDelta) error {
	b.thought = true
	c.size += len(r.Text) + len(r.Signature) + len(r.RedactedContent)
	b.signature.WriteString(r.Signature)
	b.redacted = append(b.redacted, r.RedactedContent...)
	if r.Text == "" {
		return nil
	}
	b.thinking.WriteString(r.Text)
	if !c.emit(provider.ThoughtDelta{Text: r.Text}) {
		return errStopped
	}
	return nil
}

// stop ends a block. A finished thought goes out at once, a call with the end of
// the answer, which alone tells whether it is whole.
func (c *collector) stop(e event) error {
	b := c.blocks[e.ContentBlockIndex]
	if b == nil || !b.thought {
		return nil
	}
	b.thought = false
	r := content.Reasoning{Text: b.thinking.String(), Signature: b.signature.String(), Path: Path}
	if len(b.redacted) > 0 {
		r.Signature = redacted + base64.StdEncoding.EncodeToString(b.redacted)
	}
	if r.Text == "" && r.Signature == "" {
		return nil
	}
	if !c.emit(provider.Thought{Reasoning: r}) {
		return errStopped
	}
	return nil
}

// finish ends an answer that is whole: thinking, calls, usage, and the end.
func (c *collector) finish() error {
	if !c.begun {
		return c.failed(provider.Unreadable("the answer holds no message"))
	}
	for _, b := range c.order { // some models leave out the end of a block
		if err := c.stop(event{ContentBlockIndex: b.index}); err != nil {
			return err
		}
	}
	end := c.end()
	calls := 0
	for _, b := range c.order {
		if !b.call {
			continue
		}
		args := b.args.String()
		if end.Stop == content.StopMaxTokens && !json.Valid([]byte(args)) {
			end.Note = "a tool call was cut off"
			continue
		}
		if args == "" {
			args = "{}"
		}
		call := content.ToolCall{ID: c.callID(b, args), Name: c.toolName(b.name), Arguments: args}
		calls++
		if !c.emit(provider.Call{Call: call}) {
			return errStopped
		}
	}
	if strings.HasPrefix(c.reason, malformed) && calls == 0 && !c.spoken {
		e := provider.BrokenOff("the model wrote an answer that cannot be read: " + content.Clean(c.reason))
		e.Failure.Kind = delivery.FailServer
		return c.failed(e)
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
	return c.emit(provider.UsageReport{Usage: c.parse(c.usage), Raw: c.usage})
}

// callID is the service's name of a call. A missing one, or one that another
// call of the answer has, is made of the answer's own name and content.
func (c *collector) callID(b *block, args string) string {
	unique := valid(b.id)
	for _, other := range c.order {
		if other == b {
			break
		}
		unique = unique && (!other.call || other.id != b.id)
	}
	if unique {
		return b.id
	}
	return "call_" + digest(c.id + "\x00" + strconv.Itoa(b.index) + "\x00" + b.name + "\x00" + args)[:24]
}

// toolName is a tool's own name for that on the wire. What is no name of a tool
// is none afterwards either.
func (c *collector) toolName(name string) string {
	if own, ok := c.names[name]; ok {
		return own
	}
	if name == "" {
		return "unnamed"
	}
	return toolName(name)
}

// malformed is how the reasons begin for output that the service cannot read.
const malformed = "malformed_"

// end maps the stop reason.
func (c *collector) end() provider.Finish {
	switch c.reason {
	case "end_turn", "tool_use", "stop_sequence":
		return provider.Finish{Stop: content.StopEndTurn}
	case "max_tokens":
		return provider.Finish{Stop: content.StopMaxTokens}
	case "model_context_window_exceeded":
		return provider.Finish{Stop: content.StopMaxTokens, Note: c.reason}
	case "guardrail_intervened", "content_filtered", "refusal":
		return provider.Finish{Stop: content.StopRefusal, Note: c.reason}
	}
	return provider.Finish{Stop: content.StopEndTurn, Note: content.Clean(c.reason)}
}
