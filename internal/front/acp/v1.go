package acp

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"tote/internal/agent"
	"tote/internal/delivery"
	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
	"tote/internal/tool"
)

// first is version 1, the stable one.
type first struct{}

var _ dialect = first{}

func (first) number() int { return 1 }

func (first) hello(o Options) any {
	return wire.InitializeResult{
		ProtocolVersion: 1,
		AgentCapabilities: wire.AgentCapabilities{
			LoadSession: true, PromptCapabilities: wire.AllPrompts, MCPCapabilities: wire.MCPCapabilities{HTTP: true, SSE: true},
			SessionCapabilities: wire.SessionCapabilities{
				List: true, Delete: true, Resume: true, Close: true, AdditionalDirectories: true, Fork: wire.Marker(o.Fork),
			},
		},
		AgentInfo:   wire.Implementation{Name: "tote", Title: "tote", Version: o.Version},
		AuthMethods: []wire.AuthMethod{},
	}
}

func (first) opening(method string, params []byte) (opening, *rpc.Error) {
	out := opening{replay: method == wire.MethodLoad}
	return out, wire.Decode(params, &out.SessionParams)
}

func (first) opened(id string, s opened) any {
	return wire.SessionState{
		SessionID: id, ConfigOptions: s.options, Modes: &wire.Modes{CurrentModeID: s.mode, AvailableModes: modes},
	}
}

func (first) choice(params []byte) (wire.SetConfigParams, *rpc.Error) {
	var out wire.SetConfigParams
	return out, wire.Decode(params, &out)
}

func (first) options(list []wire.ConfigOption) any { return wire.ConfigOptions{ConfigOptions: list} }

func (first) optionsChanged(list []wire.ConfigOption) any {
	return wire.ConfigUpdate{SessionUpdate: "config_option_update", ConfigOptions: list}
}

func (first) modeChanged(mode string) []any {
	return []any{wire.CurrentMode{SessionUpdate: "current_mode_update", CurrentModeID: mode}}
}

func (first) commandsChanged(list []wire.Command) any {
	return wire.CommandsUpdate{SessionUpdate: "available_commands_update", AvailableCommands: list}
}

// drawsPrompts are clients, by the name they give of themselves in lower case,
// that show the user's message on their own and would show an echo as a second
// one: zed-industries/zed#53216, obsidian-agent-client#421, paseo#2363,
// sesori#428, kandev#1804 (read 30 Nov 2026).
var drawsPrompts = map[string]bool{
	"zed": true, "obsidian-agent-client": true, "paseo": true, "sesori": true, "kandev": true,
}

func (first) echoes(client wire.InitializeParams, setting string) bool {
	switch setting {
	case EchoOn:
		return true
	case EchoOff:
		return false
	}
	return !drawsPrompts[strings.ToLower(client.ClientInfo.Name)]
}

// unshowable: the set of kinds is closed, and clients drop the whole update over a
// block that they cannot read.
func (first) unshowable(b wire.Block) string {
	if !b.Known() {
		return "[" + rpc.Clip(b.Type, 40) + " block: of a kind that this version of the protocol does not know]"
	}
	return unreadable(b)
}

func (first) whole(string, string, []rpc.Parts) any { return nil }

func (first) answerID(id string, attempt int) string {
	if attempt > 1 {
		return id + "." + strconv.Itoa(attempt)
	}
	return id
}

// withdrawn: a message cannot be taken back.
func (first) withdrawn(w withdrawn) []any {
	text := "[tote] the text above is withdrawn: " + w.reason + "\n\n"
	return []any{wire.Chunk(wire.UpdateAgentMessage, w.note, wire.TextBlock(text))}
}

func (first) notice(takes bool, id string, n delivery.Notice) any { //nolint:revive // what the client said, not a choice of what to do
	if takes {
		return noticeOf(n)
	}
	text := "[tote] " + n.Title
	if n.Severity != delivery.SeverityInfo {
		text = "[tote] " + n.Severity.String() + ": " + n.Title
	}
	if n.Detail != "" {
		text += " (" + n.Detail + ")"
	}
	// The empty line sets it off in clients that do not look at message ids.
	return wire.Chunk(wire.UpdateAgentMessage, id, wire.TextBlock(text+"\n\n"))
}

func noticeOf(n delivery.Notice) wire.Notice {
	return wire.Notice{SessionUpdate: "notice", Severity: n.Severity.String(), Title: n.Title, Description: n.Detail}
}

// shown is a call as it stands before it has ended, in either version.
func shown(update string, c *call) wire.ToolCall {
	return wire.ToolCall{
		SessionUpdate: update, ToolCallID: c.id, Title: c.title, Name: c.name, Kind: c.kind, Status: wire.ToolPending,
		Content: c.content, Locations: c.locations, RawInput: c.input,
	}
}

func (first) announced(c *call) []any { return []any{shown(wire.UpdateToolCall, c)} }

func (first) runs(c *call) []any {
	return []any{wire.ToolCall{SessionUpdate: wire.UpdateToolCallUpdate, ToolCallID: c.id, Status: wire.ToolInProgress}}
}

// printed: an update replaces the content of the call, so what was printed so far
// goes out whole.
func (first) printed(c *call, _, all string) []any {
	return []any{wire.ToolCall{
		SessionUpdate: wire.UpdateToolCallUpdate, ToolCallID: c.id,
		Content: []json.RawMessage{wire.ToolContent(wire.TextBlock(all))},
	}}
}

func (d first) ended(c *call, e ending) []any {
	u := wire.ToolCall{SessionUpdate: wire.UpdateToolCallUpdate, ToolCallID: c.id}
	u.Status, u.Content = d.end(e)
	if e.change != nil {
		u.Locations = e.change.locations(c)
	}
	return []any{u}
}

func (d first) replayed(c *call, e ending) []any {
	u := shown(wire.UpdateToolCall, c)
	u.Status, u.Content = d.end(e)
	return []any{u}
}

// end: the difference says what the text of the result does, and better.
func (first) end(e ending) (word string, content []json.RawMessage) {
	if e.change != nil {
		content = append([]json.RawMessage{e.change.first()}, e.media...)
		return wordOf(e.status), content
	}
	return wordOf(e.status), e.content
}

// wordOf is a status in version 1, which has no word for cancelled.
func wordOf(s status) string {
	switch s {
	case statusRunning:
		return wire.ToolInProgress
	case statusCompleted:
		return wire.ToolCompleted
	case statusFailed, statusCancelled:
	}
	return wire.ToolFailed
}

func (first) question(session string, q question) any {
	u := shown("", q.call)
	u.Content = append(slices.Clone(u.Content), wire.ToolContent(wire.TextBlock(q.reason)))
	switch {
	case q.reason == "":
		u.Content = q.call.content
	case q.change != nil:
		u.Content = append(u.Content, q.change.first())
	case q.preview != "":
		u.Content = append(u.Content, fenced(q.preview))
	}
	return wire.PermissionParams{SessionID: session, ToolCall: u, Options: q.options}
}

func fenced(text string) json.RawMessage {
	return wire.ToolContent(wire.TextBlock("```\n" + text + "\n```"))
}

func (first) plan(steps []tool.Step) any {
	return wire.Plan{SessionUpdate: wire.UpdatePlan, Entries: entries(steps)}
}

func entries(steps []tool.Step) []wire.PlanEntry {
	out := []wire.PlanEntry{}
	for _, s := range steps {
		out = append(out, wire.PlanEntry{Content: s.Text, Priority: wire.PriorityMedium, Status: string(s.Status)})
	}
	return out
}

func (first) state(state) []any { return nil }

func (first) inserts() bool { return false }

func (first) inserted(string) any { return nil }

func (first) finished(stop string, receipts []agent.ReceiptRecord) any {
	return wire.PromptResult{StopReason: stop, Meta: wire.MetaOf(receipts)}
}

func (first) dropped() (any, error) { return wire.PromptResult{StopReason: wire.StopCancelled}, nil }

func (first) unserved(method string) (string, bool) {
	why, ok := unservedFirst[method]
	return why, ok
}
