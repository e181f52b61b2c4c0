package acp

import (
	"context"
	"path/filepath"
	"strconv"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
)

// The ids of messages and tool calls are made of the turn's id and of what can be
// counted in its record, so that a replay gives the same ones as the turn did.

func messageID(turn string, step int) string { return turn + "-m" + strconv.Itoa(step) }
func thoughtID(turn string, step int) string { return turn + "-t" + strconv.Itoa(step) }

// toolID is unique in a session: backends number their calls anew in each answer.
func toolID(turn string, step int, call string) string {
	return turn + "-c" + strconv.Itoa(step) + "-" + call
}

// replay sends the whole history: what the client sent byte for byte, answers, and
// tool calls in their final state. Of a turn that runs it sends what has been said
// so far. The caller holds show.
func (ses *session) replay(ctx context.Context) error {
	a, _ := ses.now()
	envs := map[string]map[int]content.Envelope{}
	err := a.Envelopes(ctx, func(turn string, n int, env content.Envelope) error {
		if envs[turn] == nil {
			envs[turn] = map[int]content.Envelope{}
		}
		envs[turn][n] = env
		return nil
	})
	if err != nil {
		return err
	}
	var last player
	for _, t := range a.Turns() {
		last = player{ses: ses, a: a, turn: t, envs: envs[t.ID], live: ses.live != nil && ses.live.turn == t.ID, begun: map[string]bool{}}
		if err := last.play(ctx); err != nil {
			return err
		}
	}
	if ses.live == nil {
		return nil
	}
	if !last.live { // the turn is not recorded yet
		last.step = 0
		if err := ses.live.repeatPrompt(ctx); err != nil {
			return err
		}
	}
	return ses.live.repeatAnswer(ctx, last.step)
}

// repeatPrompt sends the prompt of a turn that is not recorded yet. The caller holds
// show.
func (f *front) repeatPrompt(ctx context.Context) error {
	if f.speaks.inserts() && !f.inserted {
		return nil // it is shown when it is
	}
	return f.ses.message(ctx, wire.UpdateUserMessage, f.turn, f.said.prompt...)
}

// repeatAnswer sends what there is of the answer that is being given, unless it is
// among the recorded steps. The caller holds show.
func (f *front) repeatAnswer(ctx context.Context, recorded int) error {
	if recorded >= f.step {
		return nil
	}
	if f.said.thought.Len() > 0 {
		if err := f.ses.message(ctx, wire.UpdateAgentThought, f.thoughtID(), made(wire.TextBlock(f.said.thought.String()))); err != nil {
			return err
		}
	}
	if f.said.text.Len() > 0 {
		return f.ses.message(ctx, wire.UpdateAgentMessage, f.messageID(), made(wire.TextBlock(f.said.text.String())))
	}
	return nil
}

// player replays one turn.
type player struct {
	ses  *session
	a    *agent.Session
	turn content.Turn
	envs map[int]content.Envelope
	// client: the prompt came from a client of the protocol, which has sent
	// every block of it that has an envelope.
	client bool
	// live: the turn runs.
	live bool
	step int
	// begun are the messages of which something has been shown.
	begun map[string]bool
}

func (p *player) play(ctx context.Context) error {
	for _, e := range p.envs {
		p.client = p.client || !e.IsZero()
	}
	for i, m := range p.turn.Messages {
		var err error
		switch m.Role {
		case content.RoleUser:
			err = p.user(ctx, m)
		case content.RoleAssistant:
			p.step++
			err = p.assistant(ctx, m, p.results(i+1))
		case content.RoleTool: // went with the calls
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *player) user(ctx context.Context, m content.Message) error {
	var list []piece
	for n, part := range m.Parts {
		if b, ok := part.(content.Block); ok {
			list = append(list, p.userBlock(b, p.envs[n])...)
		}
	}
	return p.message(ctx, wire.UpdateUserMessage, p.turn.ID, list)
}

// message shows a piece of a message: the first sets what there was of it, which a
// client may know, and the others add to it.
func (p *player) message(ctx context.Context, kind, id string, list []piece) error {
	if len(list) == 0 {
		return nil
	}
	if p.begun[id] {
		return p.ses.chunks(ctx, kind, id, list...)
	}
	p.begun[id] = true
	return p.ses.message(ctx, kind, id, list...)
}

// userBlock is a block of a prompt, none for one that was made of a block that goes
// back itself, such as the file behind a link.
func (p *player) userBlock(b content.Block, env content.Envelope) []piece {
	if env.IsZero() {
		if p.client || agent.IsNote(b) {
			return nil
		}
		return []piece{made(shower{p.a}.block(b))}
	}
	raw, err := p.a.Restore(env)
	if err != nil {
		return []piece{made(wire.TextBlock(content.Compact([]content.Block{b}) + ": its stored bytes are gone or damaged"))}
	}
	return []piece{p.ses.srv.returned(raw)}
}

// results are those of the message at i, by call.
func (p *player) results(i int) map[string]*content.ToolResult {
	out := map[string]*content.ToolResult{}
	if i < len(p.turn.Messages) {
		for _, part := range p.turn.Messages[i].Parts {
			if r, ok := part.(content.ToolResult); ok {
				out[r.CallID] = &r
			}
		}
	}
	return out
}

// assistant shows an answer: its parts in their order, those of one message that
// follow one another together.
func (p *player) assistant(ctx context.Context, m content.Message, results map[string]*content.ToolResult) error {
	var run []piece
	var kind, id string
	flush := func() error {
		list := run
		run = nil
		return p.message(ctx, kind, id, list)
	}
	add := func(k, i string, block rpc.Parts) error {
		var err error
		if i != id {
			err = flush()
		}
		kind, id, run = k, i, append(run, made(block))
		return err
	}
	for _, part := range m.Parts {
		var err error
		block, _ := part.(content.Block)
		switch part := part.(type) {
		case content.Reasoning:
			if part.Text != "" {
				err = add(wire.UpdateAgentThought, thoughtID(p.turn.ID, p.step), wire.TextBlock(part.Text))
			}
		case content.ToolCall:
			if err = flush(); err == nil {
				err = p.call(ctx, part, results[part.ID])
			}
		case content.Text, content.Image, content.Audio, content.Document, content.ResourceText, content.ResourceLink, content.Opaque:
			err = add(wire.UpdateAgentMessage, messageID(p.turn.ID, p.step), shower{p.a}.block(block))
		case content.ToolResult: // never in an answer
		}
		if err != nil {
			return err
		}
	}
	return flush()
}

// call shows a tool call in its final state. One without a result was cut off, unless
// the turn runs.
func (p *player) call(ctx context.Context, t content.ToolCall, r *content.ToolResult) error {
	path := argument(t, "path")
	if path != "" && !filepath.IsAbs(path) {
		path = filepath.Join(p.a.Stored().Cwd, path)
	}
	c := newCall(p.a, toolID(p.turn.ID, p.step, t.ID), t, titleOf(t), path)
	end := ending{status: statusFailed}
	if p.live {
		end.status = statusRunning
	}
	if r != nil {
		c.began, end.status = true, statusCompleted
		shower{p.a}.gave(&end, r.Blocks)
		if r.IsError {
			end.status = statusFailed
		}
	}
	for _, u := range p.ses.srv.dialect().replayed(c, end) {
		if err := p.ses.put(ctx, u); err != nil {
			return err
		}
	}
	return nil
}
