package acp

import (
	"context"
	"encoding/json"
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
		last = player{ses: ses, a: a, turn: t, envs: envs[t.ID], live: ses.live != nil && ses.live.turn == t.ID}
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
	for _, raw := range f.said.prompt {
		if err := f.ses.userBlock(ctx, f.turn, raw); err != nil {
			return err
		}
	}
	return nil
}

// repeatAnswer sends what there is of the answer that is being given, unless it is
// among the recorded steps. The caller holds show.
func (f *front) repeatAnswer(ctx context.Context, recorded int) error {
	if recorded >= f.step {
		return nil
	}
	if f.said.thought.Len() > 0 {
		if err := f.ses.put(ctx, f.thoughtChunk(f.said.thought.String())); err != nil {
			return err
		}
	}
	if f.said.text.Len() > 0 {
		return f.ses.put(ctx, f.textChunk(f.said.text.String()))
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
	for n, part := range m.Parts {
		b, ok := part.(content.Block)
		if !ok {
			continue
		}
		if err := p.userBlock(ctx, b, p.envs[n]); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) userBlock(ctx context.Context, b content.Block, env content.Envelope) error {
	if env.IsZero() {
		if p.client || agent.IsNote(b) {
			return nil // made of a block that goes back itself, such as the file behind a link
		}
		return p.ses.put(ctx, wire.Chunk(wire.UpdateUserMessage, p.turn.ID, shower{p.a}.block(b)))
	}
	raw, err := p.a.Restore(env)
	if err != nil {
		text := content.Compact([]content.Block{b}) + ": its stored bytes are gone or damaged"
		return p.ses.put(ctx, wire.Chunk(wire.UpdateUserMessage, p.turn.ID, wire.TextBlock(text)))
	}
	return p.ses.userBlock(ctx, p.turn.ID, raw)
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

func (p *player) assistant(ctx context.Context, m content.Message, results map[string]*content.ToolResult) error {
	for _, part := range m.Parts {
		var body any
		block, _ := part.(content.Block)
		switch part := part.(type) {
		case content.Reasoning:
			if part.Text == "" {
				continue
			}
			body = wire.Chunk(wire.UpdateAgentThought, thoughtID(p.turn.ID, p.step), wire.TextBlock(part.Text))
		case content.ToolCall:
			body = p.call(part, results[part.ID])
		case content.Text, content.Image, content.Audio, content.Document, content.ResourceText, content.ResourceLink, content.Opaque:
			body = wire.Chunk(wire.UpdateAgentMessage, messageID(p.turn.ID, p.step), shower{p.a}.block(block))
		case content.ToolResult:
			continue // never in an answer
		}
		if err := p.ses.put(ctx, body); err != nil {
			return err
		}
	}
	return nil
}

// call is a tool call in its final state. One without a result was cut off, unless
// the turn runs.
func (p *player) call(c content.ToolCall, r *content.ToolResult) wire.ToolCall {
	out := announce(toolID(p.turn.ID, p.step, c.ID), c)
	out.Title, out.Status = titleOf(c), wire.ToolFailed
	if p.live {
		out.Status = wire.ToolInProgress
	}
	if r != nil {
		out.Content, out.Status = shower{p.a}.contents(r.Blocks), wire.ToolCompleted
		if r.IsError {
			out.Status = wire.ToolFailed
		}
	}
	if path := argument(c, "path"); path != "" {
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.a.Stored().Cwd, path)
		}
		out.Locations = []wire.Location{{Path: path}}
	}
	return out
}

// announce is what a live and a replayed call have in common.
func announce(id string, c content.ToolCall) wire.ToolCall {
	out := wire.ToolCall{SessionUpdate: wire.UpdateToolCall, ToolCallID: id, Name: c.Name, Kind: kindOf(c.Name)}
	if json.Valid([]byte(c.Arguments)) && !hasBreak(c.Arguments) {
		out.RawInput = json.RawMessage(c.Arguments)
	}
	return out
}

// hasBreak reports whether arguments cannot stand in a line as they are.
func hasBreak(s string) bool {
	for i := range len(s) {
		if s[i] == '\n' || s[i] == '\r' {
			return true
		}
	}
	return false
}

// kindOf tells clients which icon to draw.
func kindOf(tool string) string {
	switch tool {
	case "read", "list":
		return wire.ToolRead
	case "write", "edit":
		return wire.ToolEdit
	case "find", "grep", "search", "glob":
		return wire.ToolSearch
	case "run", "bash", "shell":
		return wire.ToolExecute
	case "fetch":
		return wire.ToolFetch
	}
	return wire.ToolOther
}

// titleOf names a call whose live title was not recorded.
func titleOf(c content.ToolCall) string {
	for _, name := range []string{"path", "command", "pattern", "query", "url"} {
		if v := argument(c, name); v != "" {
			return c.Name + " " + rpc.Clip(v, 200)
		}
	}
	return c.Name
}

// argument is a string among the arguments of a call, "" when there is none.
func argument(c content.ToolCall, name string) string {
	if !json.Valid([]byte(c.Arguments)) {
		return ""
	}
	return rpc.Unquote(rpc.Member([]byte(c.Arguments), name))
}
