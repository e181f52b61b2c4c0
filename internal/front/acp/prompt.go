package acp

import (
	"context"
	"slices"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
	"tote/internal/front/slash"
)

// prompt runs a turn. While it runs, or waits for its turn, other messages of the
// session are served.
func (s *server) prompt(ctx context.Context, r *rpc.Request) (any, error) {
	ses, err := s.find(r.SessionID)
	if err != nil {
		return nil, err
	}
	blocks, fault := wire.ParsePrompt(r.Params)
	if fault != nil {
		return nil, fault
	}
	if _, work := ses.now(); work.Settings.UnknownBlocks == UnknownReject {
		if fault := unknownBlock(blocks); fault != nil {
			return nil, fault
		}
	}
	turn, cancel := context.WithCancel(ctx)
	defer cancel()
	at := ses.line.join(cancel)
	// What follows in the line starts when this has been answered, so nothing
	// of the next turn comes before the reply of this one.
	defer at.leave()
	r.Params = nil // a turn outlives by far the need for its line
	r.Release()
	result, err := ses.serve(ctx, turn, at, blocks, r)
	r.Finish(ctx, result, err)
	return nil, nil
}

// unknownBlock is the error for the first block of an unknown kind.
func unknownBlock(blocks []wire.Block) *rpc.Error {
	for i, b := range blocks {
		if !b.Known() {
			return rpc.Errorf(rpc.CodeInvalidParams, "prompt[%d] is a block of the unknown kind %q", i, rpc.Clip(b.Type, 40)).
				WithData(map[string]any{"index": i, "supported": []string{wire.BlockText, wire.BlockImage, wire.BlockAudio, wire.BlockResource, wire.BlockResourceLink}})
		}
	}
	return nil
}

// serve waits for its turn and runs it. turn ends when the client cancels, and
// with ctx, which lives on to say what remains to be said.
func (ses *session) serve(ctx, turn context.Context, at *place, blocks []wire.Block, r *rpc.Request) (any, error) {
	if !at.wait(turn) {
		return ses.srv.dialect().dropped()
	}
	a, work := ses.now()
	f := ses.front(ctx, a)
	f.running = turn
	// It fails as tell does.
	f.reply = func(body any) { _ = r.Reply(ctx, body) }
	defer ses.goLive(nil)
	ses.enter(ctx, state{phase: phaseRunning})
	f.begin(blocks, work.Settings)
	stop, err := f.run(ctx, blocks, work)
	f.finish()
	ses.refresh(ctx)
	return f.close(ctx, stop, err)
}

// run carries out a prompt and returns the reason for which its turn has stopped.
func (f *front) run(ctx context.Context, blocks []wire.Block, work Workspace) (string, error) {
	turn := f.running
	f.askTrust(turn)
	p := agent.Prompt{Front: f, TurnID: f.turn}
	for _, b := range blocks {
		p.Sources = append(p.Sources, b.Source())
	}
	if done, stop := f.command(ctx, &p, work); done {
		return stop, nil
	}
	if work.World != nil {
		work.World(f.a).Ready()
	}
	res, err := f.a.Prompt(turn, p)
	// What was cancelled is cancelled, also when the cancelling looked like a
	// fault; an answer that was whole before stands.
	whole := err == nil && res.Stop == content.StopEndTurn
	switch {
	case turn.Err() != nil && !whole:
		return wire.StopCancelled, nil
	case err != nil:
		return "", failure(err)
	}
	return stopReason(res.Stop), nil
}

// command carries out a /command. done says that the prompt has been dealt with; else
// p is what the turn is to be about.
func (f *front) command(ctx context.Context, p *agent.Prompt, work Workspace) (done bool, stop string) {
	c, ok := slash.Read(p.Sources)
	if !ok || work.World == nil {
		return false, ""
	}
	turn := f.running
	c.Front = f
	w := work.World(f.a)
	if f.speaks.inserts() && slices.ContainsFunc(w.List(turn), func(i slash.Info) bool { return i.Name == c.Name }) {
		f.ses.show.Lock()
		f.insert()
		f.ses.show.Unlock()
	}
	mode := f.a.Mode()
	out, known, err := w.Run(turn, c)
	if now := f.a.Mode(); now != mode {
		f.tellAll(f.speaks.modeChanged(now.String()))
	}
	switch {
	case !known:
		return false, ""
	case turn.Err() != nil:
		return true, wire.StopCancelled
	case err != nil:
		out.Text = "[tote] " + err.Error() + "\n" // the user typed it and reads the answer
	}
	if out.Text != "" {
		f.tell(wire.Chunk(wire.UpdateAgentMessage, f.lineID(), wire.TextBlock(out.Text)))
	}
	p.Sources = out.Prompt
	if out.Prompt != nil {
		return false, ""
	}
	f.ses.measure(ctx)
	return true, wire.StopEndTurn
}

// begin makes a front the session's live one and echoes the prompt where that is
// wanted and not done when it is inserted, so that a replay shows either the one or
// the other.
func (f *front) begin(blocks []wire.Block, settings Settings) {
	ses := f.ses
	echo := ses.srv.echoes(settings.Echo)
	ses.show.Lock()
	defer ses.show.Unlock()
	ses.live = f
	for _, b := range blocks {
		f.said.prompt = append(f.said.prompt, ses.srv.returned(b.Raw))
	}
	if echo && !f.speaks.inserts() {
		f.echo()
	}
}

// echo shows the client's own blocks. The caller holds show.
func (f *front) echo() {
	// It fails as tell does.
	_ = f.ses.message(context.WithoutCancel(f.context()), wire.UpdateUserMessage, f.turn, f.said.prompt...)
}

// goLive says which turn runs, nil for none.
func (ses *session) goLive(f *front) {
	ses.show.Lock()
	defer ses.show.Unlock()
	ses.live = f
}

// stopReason is the word of the protocol; a turn that failed has an error instead.
func stopReason(s content.StopReason) string {
	switch s {
	case content.StopMaxTokens:
		return wire.StopMaxTokens
	case content.StopMaxSteps:
		return wire.StopMaxTurnRequests
	case content.StopRefusal:
		return wire.StopRefusal
	case content.StopCancelled:
		return wire.StopCancelled
	case content.StopNone, content.StopEndTurn, content.StopFailed:
	}
	return wire.StopEndTurn
}

// cancel ends the turn that runs and those that wait. Each of them is answered by
// its own reply.
func (s *server) cancel(_ context.Context, r *rpc.Request) {
	if ses := s.session(r.SessionID); ses != nil {
		ses.line.cancelAll()
	}
}
