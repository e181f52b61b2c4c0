package gemini

import (
	"bufio"
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

// maxWhole bounds an answer that came in one piece, in bytes.
const maxWhole = 64 << 20

// maxAnswer bounds the text, thinking and tool calls of one answer, in bytes. No
// model writes that much; a backend that streams without an end does.
const maxAnswer = 16 << 20

// read reads an answer in any form that the endpoint gives: events, and without
// "alt=sse", which a gateway may lose, one array that grows.
func read(a *provider.Answer, emit func(provider.Event) bool) error {
	c := collector{emit: emit}
	form, r := provider.Peek(a)
	switch form {
	case provider.FormEvents:
		return c.stream(r)
	case provider.FormJSON:
		return c.whole(r)
	case provider.FormHTML:
		return provider.Page(r)
	}
	panic("gemini: invalid form " + strconv.Itoa(int(form)))
}

// collector puts an answer together.
type collector struct {
	emit     func(provider.Event) bool
	id       string
	calls    []content.ToolCall
	thoughts []content.Reasoning
	// thinking is the thought that is being put together.
	thinking strings.Builder
	// text is how much of the answer's text there was, in bytes.
	text    int
	usage   json.RawMessage
	reason  string
	blocked string
	// answered: something of an answer was in it.
	answered bool
	// size is how much of it there is, in bytes.
	size int
}

// errStopped ends reading when nobody wants more.
var errStopped = errors.New("stopped by the consumer")

func (c *collector) stream(r io.Reader) error {
	events := provider.NewEvents(r)
	for {
		ev, err := events.Next()
		switch {
		case err == nil && ev.Done():
			return c.ended(io.EOF)
		case err != nil:
			return c.ended(err)
		}
		if err := c.data(ev.Data); err != nil {
			return err
		}
	}
}

// whole reads an answer that came as one array of chunks, or as one object.
func (c *collector) whole(r io.Reader) error {
	br := bufio.NewReader(io.LimitReader(r, maxWhole))
	if b, err := br.Peek(3); err == nil && string(b) == "\uFEFF" {
		_, _ = br.Discard(3) // they were peeked
	}
	dec := json.NewDecoder(br)
	var raw json.RawMessage
	if !isArray(br) {
		if err := dec.Decode(&raw); err != nil {
			return c.ended(err)
		}
		if err := c.data(raw); err != nil {
			return err
		}
		if !c.answered && c.blocked == "" {
			return c.failed(provider.Rejection(200, raw))
		}
		return c.ended(io.EOF)
	}
	if _, err := dec.Token(); err != nil {
		return c.ended(err)
	}
	for dec.More() {
		if err := dec.Decode(&raw); err != nil {
			return c.ended(err)
		}
		if err := c.data(raw); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return c.ended(err)
	}
	return c.ended(io.EOF)
}

// isArray tells by the first byte that is no space, which it leaves in place.
func isArray(br *bufio.Reader) bool {
	for {
		b, err := br.ReadByte()
		if err != nil {
			return false
		}
		if b > ' ' {
			_ = br.UnreadByte() // one was just read
			return b == '['
		}
	}
}

// ended ends an answer behind which nothing more can be read. Where its finish
// reason was seen, it is whole.
func (c *collector) ended(err error) error {
	var syntax *json.SyntaxError
	switch {
	case c.reason != "" || c.blocked != "":
		return c.finish()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return c.failed(provider.BrokenOff("the answer broke off in the middle"))
	case errors.As(err, &syntax):
		return c.failed(provider.Unreadable("the answer is no JSON"))
	case errors.Is(err, io.EOF):
		return c.failed(provider.BrokenOff("the answer broke off: no finish reason"))
	}
	return c.failed(err)
}

// failed reports the usage so far, which is charged, before an error.
func (c *collector) failed(err error) error {
	c.report()
	return err
}

// data takes one chunk.
func (c *collector) data(raw []byte) error {
	var ch chunk
	if err := json.Unmarshal(raw, &ch); err != nil {
		var typed *json.UnmarshalTypeError
		if !errors.As(err, &typed) {
			return c.failed(provider.Unreadable("a chunk of the answer is no JSON"))
		}
		if typed.Field == "" || strings.HasPrefix(typed.Field, "candidates") {
			return c.failed(provider.Unreadable("a chunk of the answer has another form: " + typed.Value))
		}
	}
	if provider.Present(ch.Error) {
		return c.failed(provider.Rejection(200, raw))
	}
	if c.id == "" {
		c.id = ch.ResponseID
	}
	if provider.Present(ch.UsageMetadata) {
		c.usage = slices.Clone(ch.UsageMetadata)
	}
	if r := ch.PromptFeedback.BlockReason; r != "" {
		c.blocked = r
	}
	for i := range ch.Candidates {
		if ch.Candidates[i].Index != 0 {
			continue // one answer was asked for
		}
		if err := c.candidate(&ch.Candidates[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) candidate(cd *candidate) error {
	c.answered = true
	for i := range cd.Content.Parts {
		if err := c.part(&cd.Content.Parts[i]); err != nil {
			return err
		}
	}
	if cd.FinishReason != "" && cd.FinishReason != "FINISH_REASON_UNSPECIFIED" {
		c.reason = cd.FinishReason
	}
	if c.size > maxAnswer {
		return c.failed(provider.Unreadable("the answer is over " + strconv.Itoa(maxAnswer>>20) + " MiB"))
	}
	return nil
}

func (c *collector) part(p *part) error {
	c.size += len(p.Text) + len(p.ThoughtSignature)
	var ev provider.Event
	switch {
	case p.FunctionCall != nil:
		c.closeThought("")
		c.call(p.FunctionCall, p.ThoughtSignature)
	case p.Thought:
		c.thinking.WriteString(p.Text)
		if p.Text != "" {
			ev = provider.ThoughtDelta{Text: p.Text}
		}
		if p.ThoughtSignature != "" {
			c.closeThought(p.ThoughtSignature)
		}
	default:
		if p.Text != "" || p.ThoughtSignature != "" {
			c.closeThought("")
		}
		if p.ThoughtSignature != "" {
			m := mark{calls: len(c.calls), start: c.text, size: len(p.Text), signature: p.ThoughtSignature}
			c.thoughts = append(c.thoughts, m.reasoning())
		}
		c.text += len(p.Text)
		if p.Text != "" {
			ev = provider.TextDelta{Text: p.Text}
		}
		for _, d := range []*mediaData{p.InlineData, p.FileData} {
			if d != nil {
				ev = unshown(d)
			}
		}
	}
	if ev != nil && !c.emit(ev) {
		return errStopped
	}
	return nil
}

// unshown says that the model made something which is not taken.
func unshown(d *mediaData) provider.Remark {
	what := "a file"
	switch {
	case strings.HasPrefix(d.MIMEType, "image/"):
		what = "a picture"
	case strings.HasPrefix(d.MIMEType, "audio/"):
		what = "sound"
	}
	return provider.Remark{Text: "the model sent " + what + " (" + content.Clean(d.MIMEType) + "), which this version does not show", Lost: true}
}

// closeThought ends the thought in hand, if there is one.
func (c *collector) closeThought(signature string) {
	words := c.thinking.String()
	c.thinking.Reset()
	switch {
	case signature != "":
		m := mark{thought: true, words: words, calls: len(c.calls), start: c.text, signature: signature}
		c.thoughts = append(c.thoughts, m.reasoning())
	case words != "":
		c.thoughts = append(c.thoughts, content.Reasoning{Text: words, Path: Path})
	}
}

func (c *collector) call(f *functionCall, signature string) {
	args := "{}"
	if provider.Present(f.Args) {
		args = string(f.Args)
	}
	c.size += len(args) + len(f.Name) + len(f.ID)
	c.calls = append(c.calls, content.ToolCall{
		ID: c.callID(f, args), Name: provider.ToolName(f.Name), Arguments: args, Signature: signature, Path: Path,
	})
}

// callID is the server's name of a call. A missing one, or one that another
// call of the answer has, is made of the answer's own name and content, so that
// the same answer always gives the same.
func (c *collector) callID(f *functionCall, args string) string {
	taken := func(id string) bool {
		return slices.ContainsFunc(c.calls, func(k content.ToolCall) bool { return k.ID == id })
	}
	if f.ID != "" && len(f.ID) <= provider.MaxCallID && strings.IndexFunc(f.ID, unicode.IsControl) < 0 && !taken(f.ID) {
		return f.ID
	}
	for n := len(c.calls); ; n++ {
		h := fnv.New64a()
		h.Write(fmt.Appendf(nil, "%s\x00%d\x00%s\x00%s", c.id, n, f.Name, args))
		if id := fmt.Sprintf("call_%016x", h.Sum64()); !taken(id) {
			return id
		}
	}
}

// finish ends an answer that is whole: thinking, calls, usage, and the end.
func (c *collector) finish() error {
	end, err := c.end()
	if err != nil {
		return c.failed(err)
	}
	c.closeThought("")
	for _, r := range c.thoughts {
		if !c.emit(provider.Thought{Reasoning: r}) {
			return errStopped
		}
	}
	if end.Stop != content.StopRefusal { // what was withheld is not acted on
		for _, k := range c.calls {
			if !c.emit(provider.Call{Call: k}) {
				return errStopped
			}
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

// end maps the finish reason (google.golang.org/genai v1.77.0). A call that the
// backend could not read never reaches the tools, so such an answer is an error
// and no quiet end.
func (c *collector) end() (provider.Finish, error) {
	if c.reason == "" {
		return provider.Finish{Stop: content.StopRefusal, Note: "the prompt was blocked: " + content.Clean(c.blocked)}, nil
	}
	switch c.reason {
	case "STOP":
		return provider.Finish{Stop: content.StopEndTurn}, nil
	case "MAX_TOKENS":
		return provider.Finish{Stop: content.StopMaxTokens}, nil
	case "CONTINUATION": // there is more of it, which is not asked for
		return provider.Finish{Stop: content.StopMaxTokens, Note: c.reason}, nil
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return provider.Finish{Stop: content.StopRefusal, Note: c.reason}, nil
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE":
		e := provider.Unreadable("the model made a tool call that its backend does not take: " + c.reason)
		e.Hint = "try again, or choose another model"
		return provider.Finish{}, e
	}
	return provider.Finish{Stop: content.StopEndTurn, Note: content.Clean(c.reason)}, nil
}
