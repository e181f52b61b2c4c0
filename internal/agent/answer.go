package agent

import (
	"slices"
	"strings"

	"tote/internal/content"
	"tote/internal/provider"
)

// answer is what a model said in one sending: its parts in the order in which
// they came, because a path that signs its thoughts wants them back where they
// stood.
type answer struct {
	// id names the message; it is the same in a replay of the session.
	id     string
	pieces []*piece
	usage  content.Usage
	stop   content.StopReason
	// note is the backend's own word for the end, "" where it is a usual one.
	note      string
	finished  bool
	withdrawn bool
	// lost: the backend said that something of the request did not reach the
	// model.
	lost bool
}

// piece is one part of an answer on its way. One that is neither a call nor a
// thought is text.
type piece struct {
	// shown is what a reader saw of it.
	shown    strings.Builder
	thinking bool
	// thought is set when the thinking is finished.
	thought *content.Reasoning
	call    *content.ToolCall
}

// isText reports whether the piece is text.
func (p *piece) isText() bool { return !p.thinking && p.call == nil }

// open reports whether the piece is thinking that has not been finished.
func (p *piece) open() bool { return p.thinking && p.thought == nil }

// last returns the newest piece when it is of the kind in hand, else a new one.
func (a *answer) last(is func(*piece) bool, fresh *piece) *piece {
	if n := len(a.pieces); n > 0 && is(a.pieces[n-1]) {
		return a.pieces[n-1]
	}
	a.pieces = append(a.pieces, fresh)
	return fresh
}

func (a *answer) say(text string) {
	if text != "" {
		a.last((*piece).isText, &piece{}).shown.WriteString(text)
	}
}

func (a *answer) think(text string) {
	if text != "" {
		a.last((*piece).open, &piece{thinking: true}).shown.WriteString(text)
	}
}

// finish books a finished thought. Where it was seen coming it stands where it
// began, also where a backend closes all its thinking at the end of the answer;
// else where it came. A thought without words finishes none that has some.
func (a *answer) finish(r content.Reasoning) {
	var first *piece
	if r.Text != "" {
		kept := a.pieces[:0]
		for _, p := range a.pieces {
			switch {
			case !p.open():
			case first == nil:
				first = p
			default:
				first.shown.WriteString(p.shown.String())
				continue
			}
			kept = append(kept, p)
		}
		a.pieces = kept
	}
	if first == nil {
		first = &piece{thinking: true}
		a.pieces = append(a.pieces, first)
	}
	first.thought = &r
}

func (a *answer) wants(c content.ToolCall) { a.pieces = append(a.pieces, &piece{call: &c}) }

// began reports whether anything of an answer has arrived.
func (a *answer) began() bool { return len(a.pieces) > 0 }

// silent reports whether it has no words for a reader.
func (a *answer) silent() bool { return strings.TrimSpace(a.text()) == "" }

// thinks reports whether there is thinking in it.
func (a *answer) thinks() bool {
	return slices.ContainsFunc(a.pieces, func(p *piece) bool { return p.thinking })
}

// text is all of the answer's text so far.
func (a *answer) text() string {
	var sb strings.Builder
	for _, p := range a.pieces {
		if p.isText() {
			sb.WriteString(p.shown.String())
		}
	}
	return sb.String()
}

// calls are the tool calls to run: none of an answer that broke off.
func (a *answer) calls() []content.ToolCall {
	if !a.finished {
		return nil
	}
	var out []content.ToolCall
	for _, p := range a.pieces {
		if p.call != nil {
			out = append(out, *p.call)
		}
	}
	return out
}

// message is the answer as it is recorded. Calls of an answer that broke off
// were never run and are left out.
func (a *answer) message() content.Message {
	m := content.Message{Role: content.RoleAssistant}
	var text *strings.Builder
	flush := func() {
		if text != nil {
			m.Parts = append(m.Parts, content.Text{Body: text.String()})
			text = nil
		}
	}
	for _, p := range a.pieces {
		switch {
		case p.isText():
			if text == nil {
				text = &strings.Builder{}
			}
			text.WriteString(p.shown.String())
			continue
		case p.call != nil && !a.finished:
			continue
		}
		flush()
		switch {
		case p.call != nil:
			m.Parts = append(m.Parts, *p.call)
		case p.thought != nil:
			m.Parts = append(m.Parts, *p.thought)
		default:
			m.Parts = append(m.Parts, content.Reasoning{Text: p.shown.String()})
		}
	}
	flush()
	return m
}

// show tells a front the whole answer again.
func (a *answer) show(turn string, f Front) {
	for _, p := range a.pieces {
		switch s := p.shown.String(); {
		case s == "":
		case p.thinking:
			f.Thought(Thought{Turn: turn, Message: a.id, Text: s})
		default:
			f.Text(Text{Turn: turn, Message: a.id, Text: s})
		}
	}
}

// take books one event of the stream and shows it.
func (t *turn) take(a *answer, ev provider.Event) {
	switch ev := ev.(type) {
	case provider.TextDelta:
		a.say(ev.Text)
		t.front.Text(Text{Turn: t.id, Message: a.id, Text: ev.Text})
	case provider.ThoughtDelta:
		a.think(ev.Text)
		t.front.Thought(Thought{Turn: t.id, Message: a.id, Text: ev.Text})
	case provider.Thought:
		a.finish(ev.Reasoning)
	case provider.Call:
		a.wants(ev.Call)
	case provider.UsageReport:
		a.usage = ev.Usage
	case provider.Retry:
		t.front.Retrying(Retrying(ev))
	case provider.Remark:
		t.remark(a, ev)
	case provider.Finish:
		a.stop, a.note, a.finished = ev.Stop, ev.Note, true
	}
}
