package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/permission"
	"tote/internal/tool"
)

// recordTimeout bounds the writes that end a turn after it was cancelled.
const recordTimeout = 10 * time.Second

// Prompt runs one turn. Prompts that arrive while a turn runs wait their turn.
// The error is nil when the turn ended by itself or was cancelled; a turn that
// failed gives StopFailed and the error that explains it.
func (s *Session) Prompt(ctx context.Context, p Prompt) (Result, error) {
	if len(p.Sources) == 0 {
		return Result{Stop: content.StopFailed}, ErrEmpty
	}
	if err := s.enter(ctx); err != nil {
		return Result{Turn: p.TurnID, Stop: content.StopCancelled}, nil
	}
	defer s.leave()
	front := oneAtATime(p.Front)
	p.Front = front
	s.shows(front)
	defer s.shows(nil)
	if s.isClosed() {
		return Result{Stop: content.StopFailed}, ErrClosed
	}
	release, err := s.own(ctx, p.Front)
	if err != nil {
		if ctx.Err() != nil {
			return Result{Turn: p.TurnID, Stop: content.StopCancelled}, nil
		}
		return Result{Turn: p.TurnID, Stop: content.StopFailed}, err
	}
	defer release()
	notices, err := s.a.o.Models.Reload(ctx)
	for _, n := range notices {
		p.Front.Noticed(Noticed{Notice: n})
	}
	if err != nil {
		return Result{Stop: content.StopFailed}, fmt.Errorf("read the configuration: %w", err)
	}
	t, err := s.begin(ctx, p)
	if err != nil {
		if ctx.Err() != nil {
			return Result{Turn: p.TurnID, Stop: content.StopCancelled}, nil
		}
		return Result{Turn: p.TurnID, Stop: content.StopFailed}, err
	}
	stop, err := t.run(ctx)
	if errors.Is(err, ErrStrict) {
		defer t.withdraw(ctx)
	} else {
		toldNow(t.notes)
	}
	if ctx.Err() != nil && stop != content.StopEndTurn {
		stop, err = content.StopCancelled, nil
	}
	return t.end(ctx, stop, err)
}

// shows says by which front the running turn is shown.
func (s *Session) shows(f *serial) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.front = f
}

// notePlan tells the model of plan mode, and of its end. It is no part of the
// system prompt, which stays the same.
func (s *Session) notePlan() {
	plan := s.Mode() == permission.ModePlan
	s.mu.Lock()
	was := s.planned
	s.planned = plan
	s.mu.Unlock()
	switch {
	case plan:
		s.queue(note{key: ofPrompt, text: planNote})
	case was:
		s.AddNote("[plan mode has ended: the plan may be carried out]")
	}
}

func (s *Session) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// turn is the state of one turn. One goroutine owns it.
type turn struct {
	s      *Session
	id     string
	front  Front
	strict bool
	// notes stand behind the prompt.
	notes  []note
	policy Policy
	model  Model
	// stead is set while another model stands in for the chosen one, and names
	// its lane; rest are those that could be next, nil before the first.
	stead *string
	rest  []string
	// opened is the index in conversation of the user's message.
	opened       int
	conversation []content.Message
	facts        delivery.Facts
	// stripped are taken out for the rest of the turn.
	stripped map[content.Handle]bool
	// told are the blocks without a ledger entry that have had a receipt.
	told map[content.Handle]bool
	// described and probed: the server was asked in this turn.
	described, probed bool
	// hoisted: this turn has learned that media may not stand in results.
	hoisted  bool
	degraded bool
	usage    content.Usage
	steps    int
	// system and tools stay the same within a turn.
	system string
	tools  toolset
	host   tool.Host
	// allowed is what the user allowed for good in this project.
	allowed []permission.Rule
	// words are the descriptions of pictures that were asked for in this turn;
	// an empty one could not be had.
	words map[content.Handle]delivery.Description
	// summarised: a summary was made or tried in this turn.
	summarised bool
	// dollars is what the turn has cost so far; priced says that there is a
	// price.
	dollars float64
	priced  bool
	// same counts how often in a row a call has given the same result.
	same map[string]int
}

// begin ingests and records a prompt. When it returns, the prompt is on the
// disk.
func (s *Session) begin(ctx context.Context, p Prompt) (*turn, error) {
	stored := s.Stored()
	model, err := s.a.o.Models.Model(ctx, stored.Agent)
	if err != nil {
		return nil, err
	}
	if model.Unusable != nil && !s.someStandIn(ctx, model) {
		return nil, &UnusableError{Agent: model.Name, Err: model.Unusable}
	}
	id := p.TurnID
	if id == "" {
		id = s.a.o.NewID()
	}
	own, notices, err := s.compose(ctx, p, id)
	if err != nil {
		return nil, err
	}
	notes := s.takeNotes()
	message, err := s.withNotes(ctx, own, notes)
	if err != nil {
		return nil, err
	}
	t := &turn{
		s: s, id: id, front: p.Front, strict: p.Strict, policy: s.policy(), notes: notes,
		stripped: map[content.Handle]bool{}, told: map[content.Handle]bool{},
	}
	t.adopt(model)
	if err := s.a.o.Turns.BeginTurn(ctx, stored.ID, content.Turn{ID: t.id, Messages: []content.Message{message}}); err != nil {
		s.keepNotes(notes)
		return nil, fmt.Errorf("record the prompt: %w", err)
	}
	// The envelopes stay on the disk; only a replay needs them.
	message.Envelopes = nil
	s.mu.Lock()
	for _, old := range s.turns {
		t.conversation = append(t.conversation, old.Messages...)
	}
	s.turns = append(s.turns, content.Turn{ID: t.id, Messages: []content.Message{message}})
	s.mu.Unlock()
	t.opened = len(t.conversation)
	t.conversation = append(t.conversation, message)
	s.rename(ctx, own)
	p.Front.Accepted(Accepted{Turn: t.id, Blocks: own.Blocks()})
	for _, n := range notices {
		p.Front.Noticed(Noticed{Notice: n})
	}
	return t, nil
}

// compose takes in what the user wrote and lets their commands look at it.
func (s *Session) compose(ctx context.Context, p Prompt, turn string) (content.Message, []delivery.Notice, error) {
	m, notices, err := s.takeIn(ctx, p)
	if err != nil {
		return m, nil, fmt.Errorf("take in the prompt: %w", err)
	}
	if err := s.label(ctx, m.Parts); err != nil {
		return m, nil, err
	}
	h := s.hook(ctx, p.Front, HookEvent{Name: hookPrompt, Turn: turn, Text: content.Compact(m.Blocks())})
	if h.Deny {
		return m, nil, &DeniedError{Reason: h.Reason}
	}
	if h.Context != "" {
		s.queue(note{key: ofPrompt, text: fromHook(h.Context)})
	}
	s.notePlan()
	return m, notices, nil
}

// titleRunes is how long a session's title gets.
const titleRunes = 60

// rename titles a session after its first prompt.
func (s *Session) rename(ctx context.Context, m content.Message) {
	now := s.a.o.Now()
	// A title is a convenience: the turn goes on without it, and the next
	// update writes it.
	_ = s.update(ctx, func(st *Stored) {
		if st.Title == "" {
			st.Title = titleOf(m.Blocks())
		}
		st.Updated = now
		st.Turns++
		for _, b := range m.Blocks() {
			if b.Kind() == content.KindImage {
				st.Pictures++
			}
		}
	})
}

// titleOf titles a session by what the user wrote, else by what was attached.
func titleOf(blocks []content.Block) string {
	for _, b := range blocks {
		if t, ok := b.(content.Text); ok {
			if s := title(t.Body); strings.TrimSpace(s) != "" {
				return s
			}
		}
	}
	return title(content.Compact(blocks))
}

func title(text string) string {
	out := make([]rune, 0, titleRunes)
	for _, r := range text {
		if r == '\n' && len(out) > 0 || len(out) == titleRunes {
			break
		}
		if r >= ' ' {
			out = append(out, r)
		}
	}
	return string(out)
}

// keep adds a message to the conversation, on the disk first.
func (t *turn) keep(ctx context.Context, m content.Message) error {
	if err := t.s.a.o.Turns.AppendMessage(ctx, t.s.ID(), t.id, m); err != nil {
		return fmt.Errorf("record the conversation: %w", err)
	}
	t.conversation = append(t.conversation, m)
	t.s.mu.Lock()
	last := &t.s.turns[len(t.s.turns)-1]
	last.Messages = append(last.Messages, m)
	t.s.mu.Unlock()
	return nil
}

// end records how the turn ended, also when ctx is already cancelled.
func (t *turn) end(ctx context.Context, stop content.StopReason, cause error) (Result, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	t.pays()
	t.s.mu.Lock()
	last := &t.s.turns[len(t.s.turns)-1]
	last.Stop, last.Usage = stop, t.usage
	t.s.mu.Unlock()
	if costs, ok := t.s.a.o.Turns.(CostRecorder); ok && t.priced {
		// What a turn cost is for people; the turn ends well without it.
		_ = costs.SaveCost(ctx, t.s.ID(), t.id, t.dollars)
	}
	if err := t.s.a.o.Turns.EndTurn(ctx, t.s.ID(), t.id, stop, t.usage); err != nil && cause == nil {
		stop, cause = content.StopFailed, fmt.Errorf("record the end of the turn: %w", err)
	}
	t.front.Ended(Ended{Turn: t.id, Stop: stop, Usage: t.usage, Degraded: t.degraded})
	return Result{Turn: t.id, Stop: stop, Usage: t.usage, Degraded: t.degraded}, cause
}

// withdraw takes a prompt that was not sent out of the conversation: it would go out
// with the next one, without a word.
func (t *turn) withdraw(ctx context.Context) {
	s := t.s
	if s.a.o.Reductions == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	err := s.a.o.Reductions.UndoTurns(ctx, s.ID(), t.id)
	if err == nil {
		err = s.cut(ctx, len(s.Turns())-1)
		s.tellLater(t.notes)
	}
	if err != nil {
		t.front.Noticed(Noticed{Notice: delivery.Notice{
			Severity: delivery.SeverityWarning, Title: "the prompt that was not sent stays in the conversation", Detail: err.Error() + "; /undo takes it out",
		}})
	}
}

// askForFile asks once for a file of the prompt that lies outside the roots.
func (s *Session) askForFile(ctx context.Context, f Front, path string) (bool, error) {
	q := Question{
		Request: permission.Request{Tool: "attach", Action: permission.Read, Path: path},
		Title:   "Attach " + path, Reason: "it lies outside the project",
	}
	rules := s.policy().Rules
	if v, _ := rules.Decide(q.Request); v == permission.Allow {
		return true, nil
	}
	q.Looser = rules.Looser(q.Request)
	key := "attach " + path
	if s.permits.has(key) {
		return true, nil
	}
	answer, err := f.Ask(ctx, q)
	if err != nil {
		return false, err
	}
	switch answer {
	case PermitSession, PermitAlways: // for good there is no rule about one file
		s.permits.add(key)
		return true, nil
	case PermitOnce:
		return true, nil
	case PermitDeny:
	}
	return false, nil
}
