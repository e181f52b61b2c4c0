package acp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"tote/internal/agent"
	"tote/internal/delivery"
	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
)

// front shows one turn to the client. The agent calls it from one goroutine.
type front struct {
	ses    *session
	a      *agent.Session
	turn   string
	speaks dialect
	// tell sends an update for as long as there is a client: the end of a
	// cancelled turn is still to be told.
	tell func(body any)
	// put is tell for the holder of the session's show.
	put func(body any)
	// running ends when the turn is cancelled, and is nil beside the turns.
	running context.Context //nolint:containedctx // the events of a turn come without its context
	// reply answers the prompt before the turn has ended.
	reply func(body any)

	// step counts the answers that are kept, attempt the sendings for one. With
	// said and inserted they are guarded by the session's show, since a replay
	// reads them.
	step, attempt int
	said          said
	// inserted: the client has been told that its prompt is in the
	// conversation.
	inserted bool
	// ran: the tools of this step have run, so what comes is the next one.
	ran bool
	// shown: text or thoughts of this attempt have been shown.
	shown bool
	// open are the calls that have not been brought to an end, by the backend's
	// id.
	open  map[string]*call
	lines int
	given receipts
	// dollars is what the turn has cost so far; priced says that there is a
	// price.
	dollars float64
	priced  bool
}

// said is what the client has been shown of a turn and is not in its record yet.
type said struct {
	prompt        []piece // the client's blocks, until the prompt is recorded
	thought, text strings.Builder
}

var _ agent.Front = (*front)(nil)

// lineID names a line of our own among the messages of the turn.
func (f *front) lineID() string {
	f.lines++
	return f.turn + "-n" + strconv.Itoa(f.lines)
}

// next begins the next step once the tools have run.
func (f *front) next() {
	if f.ran {
		f.ran, f.shown = false, false
		f.ses.show.Lock()
		defer f.ses.show.Unlock()
		f.step, f.attempt, f.said = f.step+1, 1, said{}
	}
}

// Accepted implements agent.Visitor.
func (f *front) Accepted(agent.Accepted) {
	f.ses.show.Lock()
	defer f.ses.show.Unlock()
	f.insert()
	f.said.prompt = nil
}

// insert tells that the prompt is in the conversation now, in versions that wait
// for it. The caller holds show.
func (f *front) insert() {
	if f.inserted || !f.speaks.inserts() {
		return
	}
	f.inserted = true
	f.echo()
	f.reply(f.speaks.inserted(f.turn))
}

// Receipts implements agent.Visitor.
func (f *front) Receipts(e agent.Receipts) {
	u := wire.InfoUpdate{SessionUpdate: "session_info_update", Title: f.a.Stored().Title, Meta: &wire.Meta{Receipts: f.given.add(e)}}
	if now := f.ses.srv.o.Now; now != nil {
		u.UpdatedAt = timestamp(now())
	}
	f.tell(u)
}

// Text implements agent.Visitor.
func (f *front) Text(e agent.Text) {
	f.next()
	f.shown = true
	f.ses.show.Lock()
	defer f.ses.show.Unlock()
	f.said.text.WriteString(e.Text)
	f.put(wire.Chunk(wire.UpdateAgentMessage, f.messageID(), wire.TextBlock(e.Text)))
}

// Thought implements agent.Visitor.
func (f *front) Thought(e agent.Thought) {
	f.next()
	f.shown = true
	f.ses.show.Lock()
	defer f.ses.show.Unlock()
	f.said.thought.WriteString(e.Text)
	f.put(wire.Chunk(wire.UpdateAgentThought, f.thoughtID(), wire.TextBlock(e.Text)))
}

func (f *front) messageID() string {
	return f.speaks.answerID(messageID(f.turn, f.step), f.attempt)
}

func (f *front) thoughtID() string {
	return f.speaks.answerID(thoughtID(f.turn, f.step), f.attempt)
}

// Voided implements agent.Visitor.
func (f *front) Voided(e agent.Voided) {
	f.next()
	f.ses.show.Lock()
	defer f.ses.show.Unlock()
	var w withdrawn
	if f.said.text.Len() > 0 {
		w.message = f.messageID()
	}
	if f.said.thought.Len() > 0 {
		w.thought = f.thoughtID()
	}
	f.attempt++
	f.said.text.Reset()
	f.said.thought.Reset()
	if f.shown {
		f.shown = false
		w.note, w.reason = f.lineID(), e.Reason
		for _, u := range f.speaks.withdrawn(w) {
			f.put(u)
		}
	}
}

// ToolStarted implements agent.Visitor.
func (f *front) ToolStarted(e agent.ToolStarted) {
	f.next()
	if f.open == nil {
		f.open = map[string]*call{}
	}
	c := newCall(f.a, toolID(f.turn, f.step, e.Call.ID), e.Call, e.Title, e.Path)
	c.file = changes(f.a, e.Call, e.Path)
	f.open[e.Call.ID] = c
	f.tellAll(f.speaks.announced(c))
}

func (f *front) tellAll(updates []any) {
	for _, u := range updates {
		f.tell(u)
	}
}

// ToolRunning implements agent.Visitor.
func (f *front) ToolRunning(e agent.ToolRunning) {
	if c := f.open[e.Call.ID]; c != nil {
		c.began = true
		c.file.look(f.context())
		f.tellAll(f.speaks.runs(c))
	}
}

// context is that of the turn.
func (f *front) context() context.Context {
	if f.running == nil {
		return context.Background()
	}
	return f.running
}

// ToolOutput implements agent.Visitor.
func (f *front) ToolOutput(e agent.ToolOutput) {
	if c := f.open[e.Call.ID]; c != nil {
		f.tellAll(f.speaks.printed(c, e.Text, c.printMore(e.Text)))
	}
}

// Planned implements agent.Visitor.
func (f *front) Planned(e agent.Planned) { f.tell(f.speaks.plan(e.Steps)) }

// JobChanged implements agent.Visitor.
func (f *front) JobChanged(e agent.JobChanged) {
	f.Noticed(agent.Noticed{Notice: delivery.Notice{
		Severity: delivery.SeverityInfo, Title: "job " + e.Job.ID + " (" + e.Job.Title + ") " + e.Job.State,
	}})
}

// ToolFinished implements agent.Visitor.
func (f *front) ToolFinished(e agent.ToolFinished) {
	f.ran = true
	c := f.open[e.Call.ID]
	if c == nil {
		return
	}
	delete(f.open, e.Call.ID)
	end := ending{status: statusCompleted}
	shower{f.a}.gave(&end, e.Blocks)
	if e.IsError {
		end.status = f.broken()
	} else {
		end.change = c.file.made(f.context(), end.text)
	}
	f.tellAll(f.speaks.ended(c, end))
}

// broken is the status of a call that did not succeed.
func (f *front) broken() status {
	if f.running != nil && f.running.Err() != nil {
		return statusCancelled
	}
	return statusFailed
}

// finish brings the calls to an end that the agent did not, because it failed to
// record them.
func (f *front) finish() {
	for _, c := range f.open {
		f.tellAll(f.speaks.ended(c, ending{status: f.broken()}))
	}
	f.open = nil
}

// Noticed implements agent.Visitor.
func (f *front) Noticed(e agent.Noticed) { f.tell(f.ses.notice(f.lineID(), e.Notice)) }

// Retrying implements agent.Visitor.
func (f *front) Retrying(e agent.Retrying) {
	f.Noticed(agent.Noticed{Notice: delivery.Notice{
		Severity: delivery.SeverityInfo, Title: fmt.Sprintf("trying again in %.1f s", e.Seconds), Detail: e.Why,
	}})
}

// Used implements agent.Visitor. Clients want both numbers.
func (f *front) Used(e agent.Used) {
	if e.Priced {
		f.dollars, f.priced = f.dollars+e.Dollars, true
	}
	if e.Window > 0 {
		f.tell(wire.Usage{
			SessionUpdate: "usage_update", Used: e.Context, Size: e.Window,
			Cost: f.ses.cost(context.WithoutCancel(f.context()), f.dollars, f.priced),
		})
	}
}

// Ended implements agent.Visitor. The reply to the prompt, or the state, tells it.
func (f *front) Ended(agent.Ended) {}

// close tells how the turn ended, and returns the answer to its prompt where that
// has not been given. Nothing of the turn comes after it.
func (f *front) close(ctx context.Context, stop string, err error) (any, error) {
	if f.priced {
		f.ses.paid(f.dollars)
	}
	st := state{stop: stop, receipts: f.given.list}
	switch {
	case err != nil:
		st.stop, st.err = "", rpc.ErrorOf(err)
	case stop != wire.StopCancelled:
		f.ses.show.Lock()
		f.insert()
		f.ses.show.Unlock()
	}
	f.ses.enter(ctx, st)
	switch {
	case err != nil:
		return nil, err // where the prompt has been answered nobody reads it
	case stop == wire.StopCancelled && f.speaks.inserts():
		return f.speaks.dropped()
	}
	return f.speaks.finished(stop, f.given.list), nil
}
