package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/mcp"
	"tote/internal/permission"
)

// maxSampled bounds what an MCP server may have a model write, in tokens.
const maxSampled = 4000

// errNobodyHere: a server asked when no turn was running.
var errNobodyHere = errors.New("completions are only made while a turn runs")

// sample answers an MCP server that wants something completed. The user is asked,
// unless a rule allows or denies it.
func (a *App) sample(ctx context.Context, r mcp.SampleRequest) (mcp.SampleResult, error) {
	s, front := a.serving(r.Scope)
	if s == nil {
		return mcp.SampleResult{}, errNobodyHere
	}
	if err := allowSample(ctx, s, front, r); err != nil {
		return mcp.SampleResult{}, err
	}
	list := make([]agent.Exchange, 0, len(r.Messages))
	for _, m := range r.Messages {
		list = append(list, agent.Exchange(m))
	}
	n := int(r.MaxTokens)
	if n <= 0 || n > maxSampled {
		n = maxSampled
	}
	got, err := s.Complete(ctx, r.System, list, n)
	if err != nil {
		return mcp.SampleResult{}, err
	}
	out := mcp.SampleResult{Text: got.Text, Model: got.Model}
	if got.Stop == content.StopMaxTokens {
		out.StopReason = "maxTokens"
	}
	return out, nil
}

// serving finds a session whose turn runs and that uses the servers of a scope.
func (a *App) serving(scope string) (*agent.Session, agent.Front) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.workspaces {
		w.mu.Lock()
		for id, l := range w.live {
			if id == scope || w.cwd == scope {
				w.mu.Unlock()
				return l.session, l.front
			}
		}
		w.mu.Unlock()
	}
	return nil, nil
}

// allowSample asks for permission.
func allowSample(ctx context.Context, s *agent.Session, front agent.Front, r mcp.SampleRequest) error {
	name := content.Clean(r.Server)
	var words []string
	for _, m := range r.Messages {
		for _, src := range m.Sources {
			if p, ok := src.Payload.(content.Prose); ok {
				words = append(words, p.Text)
			}
		}
	}
	q := agent.Question{
		Request: permission.Request{Tool: "sampling", Action: permission.Call, Detail: r.Server},
		Title:   "Let the MCP server " + name + " use the model", Reason: "it asks for a completion",
		Preview: strings.Join(words, "\n"),
	}
	verdict, why := s.Verdict(q.Request)
	switch verdict {
	case permission.Allow:
		return nil
	case permission.Deny:
		return fmt.Errorf("not permitted: %s", why)
	case permission.Ask:
	}
	answer, err := front.Ask(ctx, q)
	if err != nil || answer == agent.PermitDeny {
		return errors.New("the user did not permit it")
	}
	return nil
}
