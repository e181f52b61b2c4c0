package acp

import (
	"encoding/json"

	"tote/internal/agent"
	"tote/internal/delivery"
	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
	"tote/internal/front/acp/wire2"
	"tote/internal/tool"
)

// second is version 2, a draft that the configuration switches on.
type second struct{}

var _ dialect = second{}

func (second) number() int { return 2 }

func (second) hello(o Options) any {
	return wire2.InitializeResult{
		ProtocolVersion: 2, Info: wire.Implementation{Name: "tote", Title: "tote", Version: o.Version}, Capabilities: wire2.All,
	}
}

func (second) opening(_ string, params []byte) (opening, *rpc.Error) {
	p, fault := wire2.ParseOpening(params)
	return opening{SessionParams: p.SessionParams, replay: p.Replay}, fault
}

func (second) opened(id string, s opened) any {
	return wire2.Opened{SessionID: id, ConfigOptions: wire2.Options(s.options), AvailableCommands: wire2.Commands(s.commands)}
}

func (second) choice(params []byte) (wire.SetConfigParams, *rpc.Error) {
	return wire2.ParseChoice(params)
}

func (second) options(list []wire.ConfigOption) any {
	return wire2.ConfigOptions{ConfigOptions: wire2.Options(list)}
}

func (second) optionsChanged(list []wire.ConfigOption) any {
	return wire2.ConfigUpdate{SessionUpdate: "config_option_update", ConfigOptions: wire2.Options(list)}
}

// modeChanged: modes are options.
func (second) modeChanged(string) []any { return nil }

func (second) commandsChanged(list []wire.Command) any {
	return wire2.CommandsUpdate{SessionUpdate: "available_commands_update", AvailableCommands: wire2.Commands(list)}
}

func (second) echoes(wire.InitializeParams, string) bool { return true }

// unshowable: kinds that nobody knows go back as they came.
func (second) unshowable(b wire.Block) string { return unreadable(b) }

func (second) whole(kind, id string, blocks []rpc.Parts) any { return wire2.Message(kind, id, blocks) }

// answerID: a withdrawn answer is emptied and filled again.
func (second) answerID(id string, _ int) string { return id }

func (second) withdrawn(w withdrawn) []any {
	var out []any
	if w.thought != "" {
		out = append(out, wire2.Message(wire.UpdateAgentThought, w.thought, nil))
	}
	if w.message != "" {
		out = append(out, wire2.Message(wire.UpdateAgentMessage, w.message, nil))
	}
	return append(out, noticeOf(delivery.Notice{Severity: delivery.SeverityInfo, Title: "an answer was withdrawn", Detail: w.reason}))
}

func (second) notice(_ bool, _ string, n delivery.Notice) any { return noticeOf(n) }

func (second) announced(c *call) []any { return []any{shown(wire.UpdateToolCallUpdate, c)} }

// terminalID names the terminal of a call.
func terminalID(c *call) string { return c.id + "-t" }

func (second) runs(c *call) []any {
	u := wire.ToolCall{SessionUpdate: wire.UpdateToolCallUpdate, ToolCallID: c.id, Status: wire.ToolInProgress}
	if !c.terminal() {
		return []any{u}
	}
	u.Content = []json.RawMessage{wire2.TerminalContent(terminalID(c))}
	return []any{terminal(c), u}
}

func terminal(c *call) wire2.Terminal {
	return wire2.Terminal{SessionUpdate: "terminal_update", TerminalID: terminalID(c), Command: c.command, CWD: c.cwd}
}

func (second) printed(c *call, text, all string) []any {
	if c.terminal() {
		return []any{wire2.ChunkOf(terminalID(c), text)}
	}
	return first{}.printed(c, text, all)
}

func (d second) ended(c *call, e ending) []any {
	u := wire.ToolCall{SessionUpdate: wire.UpdateToolCallUpdate, ToolCallID: c.id, Status: d.word(e.status), Content: d.content(c, e)}
	if e.change != nil {
		u.Locations = e.change.locations(c)
	}
	if !c.terminal() {
		return []any{u}
	}
	t := wire2.Terminal{SessionUpdate: "terminal_update", TerminalID: terminalID(c), ExitStatus: &wire2.Exit{ExitCode: exitCode(e.text)}}
	if !c.live {
		t.Output = wire2.OutputOf(e.text)
	}
	return []any{t, u}
}

func (d second) replayed(c *call, e ending) []any {
	u := shown(wire.UpdateToolCallUpdate, c)
	u.Status, u.Content = d.word(e.status), d.content(c, e)
	if !c.terminal() {
		return []any{u}
	}
	t := terminal(c)
	if e.status != statusRunning {
		t.Output, t.ExitStatus = wire2.OutputOf(e.text), &wire2.Exit{ExitCode: exitCode(e.text)}
	}
	return []any{t, u}
}

// content is what a call shows at its end. A terminal shows the text.
func (second) content(c *call, e ending) []json.RawMessage {
	switch {
	case e.change != nil:
		return append([]json.RawMessage{e.change.second()}, e.media...)
	case c.terminal():
		return append([]json.RawMessage{wire2.TerminalContent(terminalID(c))}, e.media...)
	}
	return e.content
}

func (second) word(s status) string {
	if s == statusCancelled {
		return wire2.ToolCancelled
	}
	return wordOf(s)
}

func (second) question(session string, q question) any {
	out := wire2.PermissionParams{SessionID: session, Title: q.title, Description: q.reason, Options: q.options}
	if q.call.command != "" {
		out.Subject = wire2.CommandSubject{Type: "command", Command: q.call.command, CWD: q.call.cwd, ToolCallID: q.call.id}
		return out
	}
	u := wire.ToolCall{ToolCallID: q.call.id, Status: wire.ToolPending, Locations: q.call.locations, Content: q.call.content}
	switch {
	case q.change != nil:
		u.Content = []json.RawMessage{q.change.second()}
	case q.preview != "":
		u.Content = []json.RawMessage{fenced(q.preview)}
	}
	out.Subject = wire2.CallSubject{Type: "tool_call", ToolCall: u}
	return out
}

func (second) plan(steps []tool.Step) any {
	return wire2.PlanUpdate{SessionUpdate: "plan_update", Plan: wire2.Plan{Type: "items", PlanID: "plan", Entries: entries(steps)}}
}

func (second) state(s state) []any {
	out := wire2.State{SessionUpdate: "state_update", State: wire2.StateIdle, StopReason: s.stop, Error: s.err, Meta: wire.MetaOf(s.receipts)}
	switch s.phase {
	case phaseRunning:
		out.State = wire2.StateRunning
	case phaseAsking:
		out.State = wire2.StateRequiresAction
	case phaseIdle:
		if s.err != nil {
			out.StopReason = wire2.StopError
		}
	}
	return []any{out}
}

func (second) inserts() bool { return true }

func (second) inserted(messageID string) any { return wire2.Inserted{MessageID: messageID} }

func (second) finished(string, []agent.ReceiptRecord) any { return nil }

func (second) dropped() (any, error) {
	return nil, rpc.Errorf(rpc.CodeCancelled, "the prompt was cancelled before it was taken")
}

func (second) unserved(method string) (string, bool) {
	why, ok := unservedSecond[method]
	return why, ok
}
