package agent

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tote/internal/content"
	"tote/internal/delivery"
)

// alone makes the session this caller's between turns: it waits for the turn that
// runs. release has to be called. f may be nil.
func (s *Session) alone(ctx context.Context, f Front) (release func(), err error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	if s.isClosed() {
		s.leave()
		return nil, ErrClosed
	}
	disown, err := s.own(ctx, f)
	if err != nil {
		s.leave()
		return nil, err
	}
	return func() {
		disown()
		s.leave()
	}, nil
}

// Selector picks attachments and outputs of tools in a conversation.
type Selector struct {
	// Names are labels as they are or in short: "image-3.png", "image-3", "3"
	// for a picture.
	Names []string
	// Last picks the newest attachments, OlderThan those of all turns but the
	// newest so many; 0 picks none.
	Last, OlderThan int
	// On puts them back instead of taking them out.
	On bool
}

// Detach takes attachments and outputs of tools out of what is sent, or puts them
// back, and returns what has changed. They stay in the record. It waits for the
// turn that runs.
func (s *Session) Detach(ctx context.Context, pick Selector) ([]content.Handle, error) {
	release, err := s.alone(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer release()
	if s.a.o.Reductions == nil {
		return nil, fmt.Errorf("change what is sent: nothing here keeps that")
	}
	off, err := s.a.o.Reductions.Detached(ctx, s.ID())
	if err != nil {
		return nil, fmt.Errorf("read what was taken out of the conversation: %w", err)
	}
	picked, err := s.picked(pick)
	if err != nil {
		return nil, err
	}
	picked = slices.DeleteFunc(picked, func(h content.Handle) bool { return off[h] == !pick.On })
	if len(picked) == 0 {
		return nil, nil
	}
	if err := s.a.o.Reductions.SetDetached(ctx, s.ID(), picked, !pick.On); err != nil {
		return nil, fmt.Errorf("change what is sent: %w", err)
	}
	if pick.On { // within a lane nothing goes up
		return picked, s.advance(ctx)
	}
	return picked, nil
}

// picked resolves a selector, in the order of the conversation.
func (s *Session) picked(pick Selector) ([]content.Handle, error) {
	want := map[content.Handle]bool{}
	for _, name := range pick.Names {
		found := s.named(name)
		switch len(found) {
		case 0:
			return nil, fmt.Errorf("there is no attachment %q in this conversation", name)
		case 1:
			want[found[0]] = true
		default:
			return nil, fmt.Errorf("%q may be %s or %s: say which", name, found[0], found[1])
		}
	}
	turns := s.Turns()
	var order, attached []content.Handle
	for i, t := range turns {
		for _, d := range detachables(t) {
			order = append(order, d.handle)
			if d.attachment {
				attached = append(attached, d.handle)
				if pick.OlderThan > 0 && i < len(turns)-pick.OlderThan {
					want[d.handle] = true
				}
			}
		}
	}
	for _, h := range attached[max(0, len(attached)-max(0, pick.Last)):] {
		want[h] = true
	}
	return slices.DeleteFunc(order, func(h content.Handle) bool { return !want[h] }), nil
}

// detachable is what may be taken out: attachments, and what tools have said.
type detachable struct {
	handle     content.Handle
	attachment bool
}

func detachables(t content.Turn) []detachable {
	var out []detachable
	for _, m := range t.Messages {
		for _, b := range m.Blocks() {
			h := b.BlockHandle()
			_, attached := content.AttachmentOf(b)
			said := m.Role == content.RoleTool && b.Kind() == content.KindText && !IsNote(b)
			if h != "" && (attached || said) {
				out = append(out, detachable{h, attached})
			}
		}
	}
	return out
}

// named finds what a label means, in full or in short.
func (s *Session) named(name string) []content.Handle {
	name = strings.Trim(strings.TrimSpace(name), "[]")
	if n, err := strconv.Atoi(name); err == nil {
		name = content.KindImage.String() + "-" + strconv.Itoa(n)
	}
	var out []content.Handle
	for _, t := range s.Turns() {
		for _, d := range detachables(t) {
			h := d.handle
			if string(h) == name {
				return []content.Handle{h}
			}
			if short, _, _ := strings.Cut(string(h), "."); short == name && !slices.Contains(out, h) {
				out = append(out, h)
			}
		}
	}
	return out
}

// ContextReport is what the next request of a session would hold.
type ContextReport struct {
	Model Model
	// Usage tells what every part takes. Its parts count messages and turns as
	// Session.Turns has them.
	Usage delivery.Usage
	// Summary stands for the oldest turns, zero for none.
	Summary Summary
	// Detached is what the user took out, in order.
	Detached []content.Handle
}

// Context tells what the next request would hold, with an empty prompt. Nothing is
// sent or kept.
func (s *Session) Context(ctx context.Context) (ContextReport, error) {
	m, err := s.Model(ctx)
	if err != nil {
		return ContextReport{}, err
	}
	tools, _ := s.toolset(ctx)
	st, guide := s.Stored(), ""
	if s.a.o.Guide != nil {
		guide, _ = s.a.o.Guide.Instructions(ctx, st.Cwd, st.Dirs)
	}
	facts, err := s.facts(ctx, m, &tools, systemPrompt(st, guide))
	if err != nil {
		return ContextReport{}, err
	}
	at, _, err := s.nextLane(ctx, m)
	if err != nil {
		return ContextReport{}, err
	}
	facts.Reported = at.reported
	in := delivery.Input{Profile: m.Profile, Ledger: at.ledger, Budgets: s.policy().Budgets, Facts: facts}
	out := ContextReport{Model: m}
	for _, t := range s.Turns() {
		in.Messages = append(in.Messages, t.Messages...)
		for _, d := range detachables(t) {
			if facts.Detached[d.handle] {
				out.Detached = append(out.Detached, d.handle)
			}
		}
	}
	in.Current = len(in.Messages)
	in.Messages = append(in.Messages, content.Message{Role: content.RoleUser})
	out.Usage = delivery.Decide(in).Usage()
	_, out.Summary, err = s.summary(ctx)
	return out, err
}
