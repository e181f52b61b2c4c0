package agent

import (
	"context"
	"fmt"

	"tote/internal/content"
)

// CreateChild starts a session of an agent for work that parent gives away: kind
// is "task", "job" or "escalation". It has the parent's folders and what the user
// allowed in it, is never allowed more than the parent is, and counts its
// attachments on from those of the parent, so that the handles of both can stand
// in one conversation. Nothing else of the parent is in it.
func (a *Agent) CreateChild(ctx context.Context, parent *Session, kind, agent string) (*Session, error) {
	if _, err := a.o.Models.Model(ctx, agent); err != nil {
		return nil, err
	}
	now, from := a.o.Now(), parent.Stored()
	s := a.session(Stored{
		ID: a.o.NewID(), Cwd: from.Cwd, Agent: agent, Dirs: from.Dirs, Generation: 1, Created: now, Updated: now,
		Parent: from.ID, Kind: kind,
	})
	s.parent, s.permits = parent, parent.permits
	s.origin.session, s.origin.turn = parent.keptAs(parent.running())
	if err := a.o.Sessions.CreateSession(ctx, s.stored); err != nil {
		return nil, fmt.Errorf("create session: %w", err)
	}
	return s, nil
}

// origin is the turn of a user's session for which a child works: what it changes
// is undone with that turn.
type origin struct{ session, turn string }

// keptAs names the turn with which changes of files are kept that are made in turn.
func (s *Session) keptAs(turn string) (session, of string) {
	if s.origin.turn != "" {
		return s.origin.session, s.origin.turn
	}
	return s.ID(), turn
}

// running is the turn that runs, else the newest, "" for none.
func (s *Session) running() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.turns); n > 0 {
		return s.turns[n-1].ID
	}
	return ""
}

// Block finds a block of the conversation by its handle.
func (s *Session) Block(h content.Handle) (content.Block, bool) { return s.lookup(h) }

// Compact is the conversation in compact text, its newest n bytes: never a
// payload.
func (s *Session) Compact(n int) string {
	var all []content.Message
	for _, t := range s.Turns() {
		all = append(all, t.Messages...)
	}
	return newest(transcript(all), n)
}
