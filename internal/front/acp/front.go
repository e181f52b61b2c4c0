package acp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"tote/internal/agent"
	"tote/internal/delivery"
	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
)

// front shows one turn to the client. The agent calls it from one goroutine.
type front struct {
	ses  *session
	a    *agent.Session
	turn string
	// tell sends an update for as long as there is a client: the end of a
	// cancelled turn is still to be told.
	tell func(body any)
	// put is tell for the holder of the session's show.
	put func(body any)

	// step counts the answers that are kept, attempt the sendings for one. With
	// said they are guarded by the session's show, since a replay reads them.
	step, attempt int
	said          said
	// ran: the tools of this step have run, so what comes is the next one.
	ran bool
	// shown: text or thoughts of this attempt have been shown.
	shown bool
	// open are the calls that have not been brought to an end: the wire's id
	// by the backend's.
	open map[string]string
	// printed is the end of what the open calls have printed, by their id.
	printed map[string]string
	lines   int
	given   receipts
}

// said is what the client has been shown of a turn and is not in its record yet.
type said struct {
	prompt        [][]byte // the client's blocks, until the prompt is recorded
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

// suffix tells the messages of an attempt from those that were withdrawn.
func (f *front) suffix(id string) string {
	if f.attempt > 1 {
		return id + "." + strconv.Itoa(f.attempt)
	}
	return id
}

// Accepted implements agent.Visitor. The echo has gone before.
func (f *front) Accepted(agent.Accepted) {
	f.ses.show.Lock()
	defer f.ses.show.Unlock()
	f.said.prompt = nil
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
	f.put(f.textChunk(e.Text))
}

// Thought implements agent.Visitor.
func (f *front) Thought(e agent.Thought) {
	f.next()
	f.shown = true
	f.ses.show.Lock()
	defer f.ses.show.Unlock()
	f.said.thought.WriteString(e.Text)
	f.put(f.thoughtChunk(e.Text))
}

func (f *front) textChunk(text string) rpc.Parts {
	return wire.Chunk(wire.UpdateAgentMessage, f.suffix(messageID(f.turn, f.step)), wire.TextBlock(text))
}

func (f *front) thoughtChunk(text string) rpc.Parts {
	return wire.Chunk(wire.UpdateAgentThought, f.suffix(thoughtID(f.turn, f.step)), wire.TextBlock(text))
}

// Voided implements agent.Visitor. Version 1 cannot take a message back.
func (f *front) Voided(e agent.Voided) {
	f.next()
	f.ses.show.Lock()
	defer f.ses.show.Unlock()
	f.attempt++
	f.said = said{}
	if f.shown {
		f.shown = false
		f.put(wire.Chunk(wire.UpdateAgentMessage, f.lineID(), wire.TextBlock("[tote] the text above is withdrawn: "+e.Reason+"\n\n")))
	}
}

// ToolStarted implements agent.Visitor.
func (f *front) ToolStarted(e agent.ToolStarted) {
	f.next()
	if f.open == nil {
		f.open = map[string]string{}
	}
	id := toolID(f.turn, f.step, e.Call.ID)
	f.open[e.Call.ID] = id
	call := announce(id, e.Call)
	call.Title, call.Status = e.Title, wire.ToolPending
	if e.Path != "" {
		call.Locations = []wire.Location{{Path: filepath.FromSlash(e.Path)}}
	}
	f.tell(call)
}

// ToolRunning implements agent.Visitor.
func (f *front) ToolRunning(e agent.ToolRunning) {
	f.tell(wire.ToolCall{SessionUpdate: wire.UpdateToolCallUpdate, ToolCallID: f.open[e.Call.ID], Status: wire.ToolInProgress})
}

// ToolOutput implements agent.Visitor. An update replaces the content of the call,
// so what was printed so far goes out whole, its end where it is long.
func (f *front) ToolOutput(e agent.ToolOutput) {
	id, ok := f.open[e.Call.ID]
	if !ok {
		return
	}
	if f.printed == nil {
		f.printed = map[string]string{}
	}
	s := f.printed[id] + e.Text
	if n := len(s) - maxPrinted; n > 0 {
		s = strings.ToValidUTF8(s[n:], "")
	}
	f.printed[id] = s
	f.tell(wire.ToolCall{
		SessionUpdate: wire.UpdateToolCallUpdate, ToolCallID: id,
		Content: []json.RawMessage{wire.ToolContent(wire.TextBlock(s))},
	})
}

// maxPrinted bounds what is shown of a call that runs, in bytes.
const maxPrinted = 8_000

// Planned implements agent.Visitor.
func (f *front) Planned(e agent.Planned) {
	p := wire.Plan{SessionUpdate: wire.UpdatePlan, Entries: []wire.PlanEntry{}}
	for _, s := range e.Steps {
		p.Entries = append(p.Entries, wire.PlanEntry{Content: s.Text, Priority: wire.PriorityMedium, Status: string(s.Status)})
	}
	f.tell(p)
}

// JobChanged implements agent.Visitor.
func (f *front) JobChanged(e agent.JobChanged) {
	f.Noticed(agent.Noticed{Notice: delivery.Notice{
		Severity: delivery.SeverityInfo, Title: "job " + e.Job.ID + " (" + e.Job.Title + ") " + e.Job.State,
	}})
}

// ToolFinished implements agent.Visitor.
func (f *front) ToolFinished(e agent.ToolFinished) {
	u := wire.ToolCall{
		SessionUpdate: wire.UpdateToolCallUpdate, ToolCallID: f.open[e.Call.ID], Status: wire.ToolCompleted, Content: shower{f.a}.contents(e.Blocks),
	}
	if e.IsError {
		u.Status = wire.ToolFailed
	}
	delete(f.printed, f.open[e.Call.ID])
	delete(f.open, e.Call.ID)
	f.ran = true
	f.tell(u)
}

// finish brings the calls to an end that the agent did not, because it failed to
// record them.
func (f *front) finish() {
	for _, id := range f.open {
		f.tell(wire.ToolCall{SessionUpdate: wire.UpdateToolCallUpdate, ToolCallID: id, Status: wire.ToolFailed})
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
	if e.Window > 0 {
		f.tell(wire.Usage{SessionUpdate: "usage_update", Used: e.Context, Size: e.Window})
	}
}

// Ended implements agent.Visitor. The reply to the prompt tells it.
func (f *front) Ended(agent.Ended) {}

// result is the reply to the prompt, with all receipts of the turn.
func (f *front) result(stop string) wire.PromptResult {
	out := wire.PromptResult{StopReason: stop}
	if len(f.given.list) > 0 {
		out.Meta = &wire.Meta{Receipts: f.given.list}
	}
	return out
}
