package delegate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/tool"
)

// host gives work for one turn of one session.
type host struct {
	c *Crew
	s *agent.Session
	t agent.TurnInfo
}

var _ tool.Host = (*host)(nil)

// Look implements tool.Host.
func (h *host) Look(ctx context.Context, handle content.Handle, question, name string) (tool.Result, error) {
	if name != "" {
		if err := h.c.mayCall(h.t.Agent, name); err != nil {
			return tool.Result{}, err
		}
	}
	d, _, err := h.s.Look(ctx, h.t.Front, handle, question, name)
	if err != nil {
		return tool.Result{}, err
	}
	return said(fmt.Sprintf("[%s, as seen by %s]\n%s", handle, d.Model, d.Text)), nil
}

// Task implements tool.Host.
func (h *host) Task(ctx context.Context, o tool.Order) (tool.Result, error) {
	name, err := h.c.agentFor(h.t.Agent, o.Agent)
	if err != nil {
		return tool.Result{}, err
	}
	given, err := h.c.given(h.s, o.Handles)
	if err != nil {
		return tool.Result{}, err
	}
	return h.work(ctx, kindTask, name, append([]content.Source{prose(o.Prompt)}, given...), o)
}

// Escalate implements tool.Host.
func (h *host) Escalate(ctx context.Context, o tool.Order) (tool.Result, error) {
	name := o.Agent
	if name == "" {
		m, err := h.c.o.Models.Model(ctx, h.t.Agent)
		if err != nil {
			return tool.Result{}, err
		}
		if name = m.EscalateTo; name == "" {
			return tool.Result{}, fmt.Errorf("agent %q has nobody to escalate to: the user can set agents.%s.escalate_to; name an agent, or go on yourself%s", h.t.Agent, h.t.Agent, h.c.names(h.t.Agent))
		}
	} else if err := h.c.mayCall(h.t.Agent, name); err != nil {
		return tool.Result{}, err
	}
	if len(o.Handles) == 0 {
		o.Handles = current(h.s)
	}
	given, err := h.c.given(h.s, o.Handles)
	if err != nil {
		return tool.Result{}, err
	}
	intro := "You take over a piece of work from the agent " + h.t.Agent + `. Between the marks stands its conversation so far in short form: attachments are named there by their labels, and those that go along follow under the same labels. Work in the folder with your own tools, and end with a report for that agent.

[conversation so far]
` + h.t.Compact() + `
[end of the conversation so far]

The work:
` + o.Prompt
	return h.work(ctx, kindEscalation, name, append([]content.Source{prose(intro)}, given...), o)
}

// work has a child do something and waits for its answer.
func (h *host) work(ctx context.Context, kind, name string, sources []content.Source, o tool.Order) (tool.Result, error) {
	child, err := h.c.child(ctx, h.s, kind, name)
	if err != nil {
		return tool.Result{}, err
	}
	f := &relay{name: name, live: o.Live, ask: h.t.Front.Ask}
	res, err := child.Prompt(ctx, agent.Prompt{Sources: sources, Front: f})
	// The conversation of a sub-agent stays in the record; nothing goes on in it.
	defer func() { _ = child.Close(context.WithoutCancel(ctx)) }()
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, ctx.Err()
	case err != nil:
		return tool.Result{}, fmt.Errorf("agent %q could not do it: %w", name, err)
	}
	answer := answerOf(child)
	if answer == "" {
		answer = "[it ended without a word: " + res.Stop.String() + "]"
	}
	head := "[answer of " + name + "]\n"
	if s := f.lost(); s != "" {
		head += "[not all went to it whole: " + s + "]\n"
	}
	out := said(head + answer)
	out.Sources = append(out.Sources, h.c.found(h.s, child, name, answer)...)
	return out, nil
}

// StartJob implements tool.Host.
func (h *host) StartJob(ctx context.Context, o tool.Order) (string, error) {
	name, err := h.c.agentFor(h.t.Agent, o.Agent)
	if err != nil {
		return "", err
	}
	given, err := h.c.given(h.s, o.Handles)
	if err != nil {
		return "", err
	}
	return h.c.Start(ctx, h.s, name, o.Title, append([]content.Source{prose(o.Prompt)}, given...))
}

// Jobs implements tool.Host.
func (h *host) Jobs(ctx context.Context) ([]tool.JobState, error) { return h.c.Jobs(ctx, h.s.ID()) }

// WaitJob implements tool.Host.
func (h *host) WaitJob(ctx context.Context, id string) (tool.JobState, error) {
	j, err := h.c.WaitJob(ctx, h.s.ID(), id)
	if err == nil {
		h.s.JobTold(j.ID) // with the answer to this call
	}
	return j, err
}

// StopJob implements tool.Host.
func (h *host) StopJob(ctx context.Context, id string) error { return h.c.StopJob(ctx, h.s.ID(), id) }

// agentFor is the agent that is meant: the one that works unless another is named.
func (c *Crew) agentFor(working, named string) (string, error) {
	if named == "" || named == working {
		return working, nil
	}
	return named, c.mayCall(working, named)
}

// mayCall refuses an agent that the one that works may not call.
func (c *Crew) mayCall(working, named string) error {
	if slices.ContainsFunc(c.o.Directory.Callable(working), func(x agent.Callable) bool { return x.Name == named }) {
		return nil
	}
	return fmt.Errorf("there is no agent %q that %s may call%s", content.Clean(named), working, c.names(working))
}

// names lists the agents that may be called, for an error.
func (c *Crew) names(working string) string {
	var names []string
	for _, x := range c.o.Directory.Callable(working) {
		names = append(names, x.Name)
	}
	if len(names) == 0 {
		return "; there are no others"
	}
	return "; there are: " + strings.Join(names, ", ")
}

// given hands attachments over as they are.
func (c *Crew) given(s *agent.Session, handles []content.Handle) ([]content.Source, error) {
	var out []content.Source
	for _, h := range handles {
		b, ok := s.Block(h)
		if !ok {
			return nil, fmt.Errorf("there is no attachment %q in this conversation", content.Clean(string(h)))
		}
		out = append(out, content.Source{Payload: content.Given{Block: b}, Inlet: content.InletTool, Chooser: content.ChosenByModel})
	}
	return out, nil
}

// maxLive bounds the attachments that go along with an escalation unasked.
const maxLive = 20

// current are the attachments of the running turn, the newest ones.
func current(s *agent.Session) []content.Handle {
	turns := s.Turns()
	if len(turns) == 0 {
		return nil
	}
	var out []content.Handle
	for _, m := range turns[len(turns)-1].Messages {
		for _, b := range m.Blocks() {
			if _, ok := content.AttachmentOf(b); ok && b.BlockHandle() != "" {
				out = append(out, b.BlockHandle())
			}
		}
	}
	return out[max(0, len(out)-maxLive):]
}

// found are the attachments of a child's own that its answer names. They get new
// labels in the parent; the name of each says how the answer calls it.
func (c *Crew) found(parent, child *agent.Session, name, answer string) []content.Source {
	var out []content.Source
	for _, t := range child.Turns() {
		for _, m := range t.Messages {
			for _, b := range m.Blocks() {
				h := b.BlockHandle()
				if _, ok := content.AttachmentOf(b); !ok || h == "" || !strings.Contains(answer, string(h)) || len(out) == maxLive {
					continue
				}
				if _, known := parent.Block(h); known {
					continue
				}
				b = content.WithHandle(renamed(b, string(h)+" of "+name), "")
				out = append(out, content.Source{Payload: content.Given{Block: b}, Inlet: content.InletTool, Chooser: content.ChosenByTool})
			}
		}
	}
	return out
}

// renamed is b under another name.
func renamed(b content.Block, name string) content.Block {
	switch b := b.(type) {
	case content.Image:
		b.Name = name
		return b
	case content.Audio:
		b.Name = name
		return b
	case content.Document:
		b.Name = name
		return b
	case content.ResourceText:
		b.Name = name
		return b
	case content.Text, content.ResourceLink, content.Opaque:
	}
	return b
}

func prose(s string) content.Source {
	return content.Source{Payload: content.Prose{Text: s}, Inlet: content.InletTool, Chooser: content.ChosenByModel, As: content.KindText}
}

func said(s string) tool.Result { return tool.Result{Sources: []content.Source{tool.Prose(s)}} }

// errEnding is why jobs are stopped when the program ends.
var errEnding = errors.New("the program ended")
