package openai

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"tote/internal/content"
	"tote/internal/provider"
)

// responseReader puts an answer of Responses together.
type responseReader struct {
	emit func(provider.Event) bool
	by   string
	// asked is the policy for older pictures that was asked for.
	asked string

	id    string
	items []*item
	usage json.RawMessage
	// policy is the one that the server says was in effect.
	policy string
	// spoke and thought: text and thinking was given out.
	spoke, thought bool
	refused        bool
	// size is how much of an answer there is, in bytes.
	size int
}

// item is an item that is being put together.
type item struct {
	index int
	flatItem
	args strings.Builder
	// thinking is what of it was streamed.
	thinking strings.Builder
	// shown is how many bytes of its text were given out, part in which part
	// the last of them stood.
	shown, part int
	// announced: its beginning was told; done: it is whole.
	announced, done bool
}

// read reads an answer in any form that a server is known to give to a request
// for a stream.
func (r *responseReader) read(a io.Reader) error {
	form, rd := provider.Peek(a)
	switch form {
	case provider.FormEvents:
		return r.stream(rd)
	case provider.FormJSON:
		return r.whole(rd)
	case provider.FormHTML:
		return provider.Page(rd)
	}
	panic("openai: invalid form " + strconv.Itoa(int(form)))
}

func (r *responseReader) stream(rd io.Reader) error {
	events := provider.NewEvents(rd)
	for {
		ev, err := events.Next()
		switch {
		case err == nil && ev.Done():
			return r.unannounced()
		case err == nil:
			if end, err := r.event(ev); end || err != nil {
				return err
			}
		case errors.Is(err, io.ErrUnexpectedEOF):
			return r.failed(provider.BrokenOff("the answer broke off in the middle"))
		case errors.Is(err, io.EOF):
			return r.failed(provider.BrokenOff("the answer broke off: no response.completed"))
		default:
			return r.failed(err)
		}
	}
}

// unannounced ends an answer that has an end mark and no last event, as some
// servers send it.
func (r *responseReader) unannounced() error {
	whole := len(r.items) > 0
	for _, it := range r.items {
		whole = whole && it.done
	}
	if !whole {
		return r.failed(provider.BrokenOff("the answer ended without response.completed"))
	}
	return r.finish(provider.Finish{Stop: content.StopEndTurn})
}

// whole reads an answer that came as one JSON object.
func (r *responseReader) whole(rd io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(rd, maxWhole))
	if err != nil {
		return err
	}
	var resp flatResponse
	if odd, err := decodeLoosely(data, &resp); err != nil {
		return provider.Unreadable("the answer is no JSON")
	} else if odd == "." {
		return provider.Rejection(200, data) // the form of Google's errors
	}
	status := str(resp.Status)
	if status == "" && len(resp.Output) == 0 || provider.Present(resp.Error) && status != "failed" {
		return provider.Rejection(200, data)
	}
	return r.ended(&resp)
}

// failed reports the usage so far, which is charged, before an error.
func (r *responseReader) failed(err error) error {
	r.report()
	return err
}

func (r *responseReader) report() bool {
	if r.usage == nil {
		return true
	}
	return r.emit(provider.UsageReport{Usage: parseFlatUsage(r.usage), Raw: r.usage})
}

// event takes one event. end is true when it was the last.
func (r *responseReader) event(ev provider.ServerEvent) (end bool, err error) {
	var e flatEvent
	switch odd, err := decodeLoosely(ev.Data, &e); {
	case err != nil:
		return true, r.failed(provider.Unreadable("an event of the answer is no JSON"))
	case odd == ".":
		return true, r.failed(provider.Unreadable("an event of the answer has another form"))
	}
	if e.Type == "" {
		e.Type = ev.Name
	}
	if e.Type == "error" || provider.Present(e.Error) {
		return true, r.failed(provider.Rejection(200, ev.Data))
	}
	if e.Response != nil {
		r.note(e.Response)
	}
	switch e.Type {
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done":
		if e.Response == nil {
			return true, r.failed(provider.Unreadable("the last event of the answer holds no response"))
		}
		if !provider.Present(e.Response.Status) {
			e.Response.Status = json.RawMessage(quoted(strings.TrimPrefix(e.Type, "response.")))
		}
		return true, r.ended(e.Response)
	}
	if err := r.piece(&e); err != nil {
		return true, err
	}
	if r.size > maxAnswer {
		return true, r.failed(provider.Unreadable("the answer is over " + strconv.Itoa(maxAnswer>>20) + " MiB"))
	}
	return false, nil
}

// note keeps what an event says about the answer as a whole.
func (r *responseReader) note(resp *flatResponse) {
	if r.id == "" {
		r.id = resp.ID
	}
	if provider.Present(resp.Usage) {
		r.usage = slices.Clone(resp.Usage)
	}
	if p := str(resp.Image.Compression); p != "" {
		r.policy = p
	}
}

// piece takes an event about an item. Those of other types are skipped.
func (r *responseReader) piece(e *flatEvent) error {
	switch e.Type {
	case "response.output_item.added":
		if e.Item != nil {
			it := r.find(e)
			if it.announced || it.done { // a server that gives every item the same index
				it = r.add(e)
			}
			it.flatItem, it.announced = *e.Item, true
		}
	case "response.output_item.done":
		if e.Item != nil {
			it := r.find(e)
			if it.done && !it.same(e.Item) {
				it = r.add(e)
			}
			return r.done(it, *e.Item)
		}
	case "response.output_text.delta":
		return r.say(r.part(e, itemMessage), str(e.Delta))
	case "response.refusal.delta":
		r.refused = true
		return r.say(r.part(e, itemMessage), str(e.Delta))
	case "response.reasoning_summary_text.delta":
		return r.think(r.part(e, itemReasoning), e.SummaryPart, str(e.Delta))
	case "response.reasoning_text.delta":
		return r.think(r.part(e, itemReasoning), e.Part, str(e.Delta))
	case "response.function_call_arguments.delta":
		d := str(e.Delta)
		r.size += len(d)
		r.part(e, itemCall).args.WriteString(d)
	case "response.function_call_arguments.done":
		if it := r.part(e, itemCall); provider.Present(e.Arguments) {
			it.args.Reset()
			it.args.WriteString(arguments(e.Arguments))
		}
	}
	return nil
}

// find returns the item that an event is about, made anew where it is the
// first. The index counts: some servers change the identifiers on the way.
func (r *responseReader) find(e *flatEvent) *item {
	id := e.ItemID
	if id == "" && e.Item != nil {
		id = e.Item.ID
	}
	for _, it := range slices.Backward(r.items) {
		if e.Index != nil && it.index == *e.Index || e.Index == nil && it.ID == id && !it.done {
			return it
		}
	}
	return r.add(e)
}

// add makes a new item for an event.
func (r *responseReader) add(e *flatEvent) *item {
	it := &item{index: len(r.items)}
	if e.Index != nil {
		it.index = *e.Index
	}
	if it.ID = e.ItemID; it.ID == "" && e.Item != nil {
		it.ID = e.Item.ID
	}
	r.items = append(r.items, it)
	r.size += itemSize
	return it
}

// itemSize is what an item counts for beside what is in it, in bytes.
const itemSize = 1 << 10

// part finds the item that a piece belongs to. An item that was not announced
// is of the kind that the piece says.
func (r *responseReader) part(e *flatEvent, kind string) *item {
	it := r.find(e)
	if it.Type == "" {
		it.Type = kind
	}
	return it
}

// same reports whether an item that came again is it.
func (it *item) same(other *flatItem) bool {
	return it.Type == other.Type && it.ID == other.ID && it.CallID == other.CallID
}

// say gives out text of an answer. Two messages of one answer stand apart.
func (r *responseReader) say(it *item, text string) error {
	if text == "" {
		return nil
	}
	if it.shown == 0 && r.spoke {
		text = "\n\n" + text
	}
	r.spoke = true
	it.shown += len(text)
	r.size += len(text)
	if !r.emit(provider.TextDelta{Text: text}) {
		return errStopped
	}
	return nil
}

// think gives out thinking. Its parts stand apart.
func (r *responseReader) think(it *item, part int, text string) error {
	if text == "" {
		return nil
	}
	if r.thought && (it.shown == 0 || it.part != part) {
		text = "\n\n" + text
	}
	r.thought = true
	it.thinking.WriteString(text)
	it.shown += len(text)
	it.part = part
	r.size += len(text)
	if !r.emit(provider.ThoughtDelta{Text: text}) {
		return errStopped
	}
	return nil
}

// done takes an item that is whole, and gives out what no earlier event did.
func (r *responseReader) done(it *item, whole flatItem) error {
	if it.done {
		return nil
	}
	it.flatItem, it.done = whole, true
	if it.shown > 0 {
		return nil
	}
	switch it.Type {
	case itemMessage:
		for _, p := range it.Content {
			text := str(p.Text)
			if no := str(p.Refusal); no != "" {
				r.refused = true
				text += no
			}
			if err := r.say(it, text); err != nil {
				return err
			}
		}
	case itemReasoning:
		for i, text := range it.thoughts() {
			if err := r.think(it, i, text); err != nil {
				return err
			}
		}
	case itemCall:
		r.size += len(it.Arguments) + len(it.Name)
	}
	r.size += len(it.Encrypted)
	return nil
}
