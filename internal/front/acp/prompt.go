package acp

import (
	"context"

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
	result, err := ses.serve(ctx, turn, at, blocks)
	r.Finish(ctx, result, err)
	return nil, nil
}

// unknownBlock is the error for the first block of an unknown kind.
func unknownBlock(blocks []wire.Block) *rpc.Error {
	for i, b := range blocks {
		switch b.Type {
		case wire.BlockText, wire.BlockImage, wire.BlockAudio, wire.BlockResource, wire.BlockResourceLink:
		default:
			return rpc.Errorf(rpc.CodeInvalidParams, "prompt[%d] is a block of the unknown kind %q", i, rpc.Clip(b.Type, 40)).
				WithData(map[string]any{"index": i, "supported": []string{wire.BlockText, wire.BlockImage, wire.BlockAudio, wire.BlockResource, wire.BlockResourceLink}})
		}
	}
	return nil
}

// serve waits for its turn and runs it. turn ends when the client cancels, and
// with ctx, which lives on to say what remains to be said.
func (ses *session) serve(ctx, turn context.Context, at *place, blocks []wire.Block) (any, error) {
	if !at.wait(turn) {
		return wire.PromptResult{StopReason: wire.StopCancelled}, nil
	}
	a, work := ses.now()
	f := &front{ses: ses, a: a, turn: ses.srv.o.newID(), step: 1, attempt: 1}
	f.tell = func(body any) { ses.tell(ctx, body) }
	// It fails as tell does, and for the same reasons.
	f.put = func(body any) { _ = ses.put(ctx, body) }
	defer ses.goLive(nil)
	if err := f.begin(ctx, blocks, work.Settings); err != nil {
		return nil, err
	}
	f.askTrust(turn)
	p := agent.Prompt{Front: f, TurnID: f.turn}
	for _, b := range blocks {
		p.Sources = append(p.Sources, b.Source())
	}
	if done, result := f.command(turn, &p, work); done {
		ses.refresh(ctx)
		return result, nil
	}
	if work.World != nil {
		work.World(a).Ready()
	}
	res, err := a.Prompt(turn, p)
	f.finish()
	ses.refresh(ctx)
	// What was cancelled is cancelled, also when the cancelling looked like a
	// fault; an answer that was whole before stands.
	whole := err == nil && res.Stop == content.StopEndTurn
	switch {
	case turn.Err() != nil && !whole:
		return f.result(wire.StopCancelled), nil
	case err != nil:
		return nil, failure(err)
	}
	return f.result(stopReason(res.Stop)), nil
}

// command carries out a /command. done says that the prompt is answered; else p is
// what the turn is to be about.
func (f *front) command(ctx context.Context, p *agent.Prompt, work Workspace) (done bool, result any) {
	c, ok := slash.Read(p.Sources)
	if !ok || work.World == nil {
		return false, nil
	}
	c.Front = f
	out, known, err := work.World(f.a).Run(ctx, c)
	switch {
	case !known:
		return false, nil
	case ctx.Err() != nil:
		return true, f.result(wire.StopCancelled)
	case err != nil:
		out.Text = "[tote] " + err.Error() + "\n" // the user typed it and reads the answer
	}
	if out.Text != "" {
		f.tell(wire.Chunk(wire.UpdateAgentMessage, f.lineID(), wire.TextBlock(out.Text)))
	}
	p.Sources = out.Prompt
	return out.Prompt == nil, f.result(wire.StopEndTurn)
}

// begin makes a front the session's live one and echoes the prompt where that is
// wanted, so that a replay shows either the one or the other.
func (f *front) begin(ctx context.Context, blocks []wire.Block, settings Settings) error {
	ses := f.ses
	echo := ses.srv.echoes(settings.Echo)
	ses.show.Lock()
	defer ses.show.Unlock()
	ses.live = f
	for _, b := range blocks {
		f.said.prompt = append(f.said.prompt, b.Raw)
		if !echo {
			continue
		}
		if err := ses.userBlock(ctx, f.turn, b.Raw); err != nil {
			return err
		}
	}
	return nil
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
