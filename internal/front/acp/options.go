package acp

import (
	"context"
	"slices"
	"strings"

	"tote/internal/agent"
	"tote/internal/delivery"
	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
	"tote/internal/permission"
)

// The ids of the configuration options.
const (
	optionMode  = "mode"
	optionAgent = "agent"
)

// modes are the permission modes in words, in the order in which they are offered.
var modes = []wire.Mode{
	{ID: permission.ModeAsk.String(), Name: "Ask", Description: "Asks before it writes, runs or leaves the project"},
	{ID: permission.ModeEdits.String(), Name: "Accept edits", Description: "Writes inside the project without asking"},
	{ID: permission.ModePlan.String(), Name: "Plan", Description: "Reads only: writes, runs and fetches nothing"},
	{ID: permission.ModeFull.String(), Name: "Full access", Description: "Asks nothing; what is denied stays denied"},
}

// opened is what a client is told of a session that it opens, and what the user is
// to be told once the client has it.
func (ses *session) opened(ctx context.Context) (opened, []delivery.Notice, error) {
	notices, err := ses.settleAgent(ctx)
	if err != nil {
		return opened{}, nil, err
	}
	list, err := ses.options(ctx)
	if err != nil {
		return opened{}, nil, err
	}
	ses.keep(list)
	a, work := ses.now()
	out := opened{options: list, mode: a.Mode().String()}
	if ses.srv.dialect().number() > 1 {
		out.commands = ses.commands(ctx)
	}
	ses.keepCommands(out.commands) // nil are announced after the reply
	return out, append(notices, work.Notices...), nil
}

// keep notes which options the client knows, and reports whether they are news.
func (ses *session) keep(list []wire.ConfigOption) bool {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	news := !slices.EqualFunc(list, ses.told, func(a, b wire.ConfigOption) bool {
		return a.ID == b.ID && a.CurrentValue == b.CurrentValue && slices.Equal(a.Options, b.Options)
	})
	ses.told = list
	return news
}

// settleAgent chooses the default where the agent of a session is gone, so that
// the next prompt has one to run on.
func (ses *session) settleAgent(ctx context.Context) ([]delivery.Notice, error) {
	a, work := ses.now()
	if _, err := a.Model(ctx); err == nil {
		return nil, nil
	}
	gone := a.Stored().Agent
	if gone == work.Default {
		return nil, nil // the next prompt tells what is wrong with it
	}
	if err := a.SetAgent(ctx, work.Default); err != nil {
		return nil, err
	}
	return []delivery.Notice{warning("the agent "+rpc.Clip(gone, 100)+" is gone", work.Default+" takes its place")}, nil
}

// options is the whole list of configuration options.
func (ses *session) options(ctx context.Context) ([]wire.ConfigOption, error) {
	a, work := ses.now()
	mode := wire.ConfigOption{
		ID: optionMode, Name: "Mode", Description: "How much is done without asking", Category: wire.CategoryMode,
		Type: "select", CurrentValue: a.Mode().String(),
	}
	for _, m := range modes {
		mode.Options = append(mode.Options, wire.ConfigChoice{Value: m.ID, Name: m.Name, Description: m.Description})
	}
	choices, err := work.Choices(ctx)
	if err != nil {
		return nil, err
	}
	current := a.Stored().Agent
	if !slices.ContainsFunc(choices, func(c Choice) bool { return c.Name == current }) {
		choices = append(choices, choiceOf(ctx, a, current))
	}
	pick := wire.ConfigOption{
		ID: optionAgent, Name: "Model", Description: "The agent that answers, and whether its model sees pictures",
		Category: wire.CategoryModel, Type: "select", CurrentValue: current,
	}
	for _, c := range choices {
		pick.Options = append(pick.Options, wire.ConfigChoice{Value: c.Name, Name: c.title(), Description: c.describe()})
	}
	return []wire.ConfigOption{mode, pick}, nil
}

// choiceOf describes an agent that is not offered, since the current value must
// be one of the options.
func choiceOf(ctx context.Context, a *agent.Session, name string) Choice {
	c := Choice{Name: name}
	if m, err := a.Model(ctx); err == nil {
		c.Model, c.Vision = m.Profile.Model, m.Profile.Images
	}
	return c
}

func (c Choice) title() string {
	if c.Title == "" {
		return c.Name
	}
	return c.Title
}

// describe says which model it is and whether that sees pictures.
func (c Choice) describe() string {
	var out []string
	if c.Model != "" {
		out = append(out, c.Model)
	}
	see := "pictures: " + c.Vision.Answer.String()
	switch {
	case c.Vision.Detail != "":
		see += " (" + c.Vision.Evidence.String() + ": " + c.Vision.Detail + ")"
	case c.Vision.Evidence != delivery.EvidenceNone:
		see += " (" + c.Vision.Evidence.String() + ")"
	}
	return strings.Join(append(out, see), "; ")
}

func (s *server) setConfigOption(ctx context.Context, r *rpc.Request) (any, error) {
	speaks := s.dialect()
	p, fault := speaks.choice(r.Params)
	if fault != nil {
		return nil, fault
	}
	ses, err := s.find(p.SessionID)
	if err != nil {
		return nil, err
	}
	list, err := ses.options(ctx)
	if err != nil {
		return nil, failure(err)
	}
	i := slices.IndexFunc(list, func(o wire.ConfigOption) bool { return o.ID == p.ConfigID })
	if i < 0 {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "configId names no option")
	}
	if !slices.ContainsFunc(list[i].Options, func(c wire.ConfigChoice) bool { return c.Value == p.Value }) {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "value is none of the values of %q", list[i].ID)
	}
	if err := ses.choose(ctx, list[i].ID, p.Value); err != nil {
		return nil, failure(err)
	}
	if list, err = ses.options(ctx); err != nil {
		return nil, failure(err)
	}
	ses.keep(list)
	if err := r.Reply(ctx, speaks.options(list)); err != nil {
		return nil, err
	}
	if p.ConfigID == optionMode {
		ses.tellAll(ctx, speaks.modeChanged(p.Value)...)
		return nil, nil
	}
	// Another model has another window. A turn that runs tells by itself.
	if at := ses.line.joinIdle(); at != nil {
		defer at.leave()
		if at.wait(ctx) {
			ses.measure(ctx)
		}
	}
	return nil, nil
}

// choose sets an option to one of its values.
func (ses *session) choose(ctx context.Context, id, value string) error {
	a, _ := ses.now()
	if id == optionAgent {
		return a.SetAgent(ctx, value)
	}
	m, err := permission.ParseMode(value)
	if err != nil {
		return err
	}
	return a.ChooseMode(ctx, m)
}

func (s *server) setMode(ctx context.Context, r *rpc.Request) (any, error) {
	var p wire.SetModeParams
	if fault := wire.Decode(r.Params, &p); fault != nil {
		return nil, fault
	}
	ses, err := s.find(p.SessionID)
	if err != nil {
		return nil, err
	}
	m, err := permission.ParseMode(p.ModeID)
	if err != nil {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "modeId names no mode")
	}
	a, _ := ses.now()
	if err := a.ChooseMode(ctx, m); err != nil {
		return nil, failure(err)
	}
	if err := r.Reply(ctx, nil); err != nil {
		return nil, err
	}
	ses.refresh(ctx)
	return nil, nil
}

// refresh sends the options, and the commands, again where they have changed: by a
// choice, by a reload, or because more is known about a model.
func (ses *session) refresh(ctx context.Context) {
	notices, err := ses.settleAgent(ctx)
	if err != nil {
		notices = []delivery.Notice{warning("no agent can take the place of the one that is gone", err.Error())}
	}
	for _, n := range notices {
		ses.notify(ctx, n)
	}
	list, err := ses.options(ctx)
	if err != nil {
		ses.notify(ctx, warning("the list of models cannot be read", err.Error()))
		return
	}
	if ses.keep(list) {
		ses.tell(ctx, ses.srv.dialect().optionsChanged(list))
	}
	ses.offer(ctx)
}
