package agent

import (
	"context"
	"fmt"
	"io"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// Exchange is one message of a conversation that is not the session's.
type Exchange struct {
	Role    content.Role
	Sources []content.Source
}

// Completion is what a model said to one.
type Completion struct {
	Text, Model string
	Stop        content.StopReason
}

// Complete has the session's model go on with a conversation that is not the
// session's, without tools and without anything of the session: what an MCP server
// asks for. What it costs is the session's.
func (s *Session) Complete(ctx context.Context, system string, list []Exchange, maxOutput int) (Completion, error) {
	m, err := s.Model(ctx)
	if err == nil && m.Unusable != nil {
		err = &UnusableError{Agent: m.Name, Err: m.Unusable}
	}
	if err != nil {
		return Completion{}, err
	}
	messages, err := s.exchanges(ctx, list)
	if err != nil {
		return Completion{}, err
	}
	facts, err := s.a.o.Endpoints.Facts(ctx, m.Profile.Endpoint)
	if err != nil {
		return Completion{}, fmt.Errorf("read what is known about %s: %w", m.called(), err)
	}
	facts.Missing, facts.Failed, facts.Fixed = map[content.Digest]bool{}, map[content.Handle]delivery.Failed{}, int64(len(system))
	prompt, _, err := s.a.settle(ctx, delivery.Input{
		Profile: m.Profile, Messages: messages, Current: max(0, len(messages)-1), Budgets: s.a.o.Policy().Budgets, Facts: facts,
	})
	if err != nil {
		return Completion{}, err
	}
	got, failed := once(ctx, m, provider.Request{Prompt: prompt, Blobs: s.a.o.Store, System: system, MaxOutput: maxOutput})
	s.owes(m, got.usage)
	if failed != nil {
		return Completion{}, fmt.Errorf("ask %s: %w", m.called(), failed)
	}
	return Completion{Text: got.text(), Model: m.called(), Stop: got.stop}, nil
}

// exchanges takes the sources in. Their handles are of this conversation alone.
func (s *Session) exchanges(ctx context.Context, list []Exchange) ([]content.Message, error) {
	counts := make(map[content.Kind]int)
	var out []content.Message
	for _, x := range list {
		m := content.Message{Role: x.Role}
		for _, src := range x.Sources {
			blocks, _, err := s.a.o.Inlet.Ingest(ctx, src, s.scope(nil))
			if err != nil {
				return nil, fmt.Errorf("take in a message: %w", err)
			}
			for _, b := range blocks {
				counts[b.Kind()]++
				m.Parts = append(m.Parts, content.WithHandle(b, content.NewHandle(b.Kind(), counts[b.Kind()], s.a.o.Inlet.Extension(b))))
			}
		}
		if x.Role == content.RoleAssistant {
			m.Parts = []content.Part{content.Text{Body: content.Compact(m.Blocks())}}
		}
		out = append(out, m)
	}
	return out, nil
}

// loaded reads a stored text; ok is false where it cannot be had whole.
func (a *Agent) loaded(b content.Blob) (text string, ok bool) {
	rc, err := a.o.Store.Open(b.Digest)
	if err != nil {
		return "", false
	}
	defer func() { _ = rc.Close() }() // read only
	data, err := io.ReadAll(io.LimitReader(rc, b.Size))
	return string(data), err == nil
}
