package wire2

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
)

// ToolCancelled is the state of a call that was cancelled, which version 1 does not
// have.
const ToolCancelled = "cancelled"

// Message sets a message to blocks as they are; none make it empty. kind is that of
// the message's chunks.
func Message(kind, messageID string, blocks []rpc.Parts) rpc.Parts {
	head := `{"sessionUpdate":` + rpc.Quote(strings.TrimSuffix(kind, "_chunk")) + `,"messageId":` + rpc.Quote(messageID) + `,"content":[`
	out := rpc.Parts{[]byte(head)}
	for i, b := range blocks {
		if i > 0 {
			out = append(out, []byte{','})
		}
		out = append(out, b...)
	}
	return append(out, []byte("]}"))
}

// The states of a session.
const (
	StateRunning        = "running"
	StateRequiresAction = "requires_action"
	StateIdle           = "idle"
	// StopError is the reason of a turn that failed.
	StopError = "error"
)

// State tells what the session does. StopReason and Error only stand with idle.
type State struct {
	SessionUpdate string     `json:"sessionUpdate"` // "state_update"
	State         string     `json:"state"`
	StopReason    string     `json:"stopReason,omitempty"`
	Error         *rpc.Error `json:"error,omitempty"`
	Meta          *wire.Meta `json:"_meta,omitempty"`
}

// PlanUpdate is the agent's plan, whole.
type PlanUpdate struct {
	SessionUpdate string `json:"sessionUpdate"` // "plan_update"
	Plan          Plan   `json:"plan"`
}

// Plan is a plan of steps.
type Plan struct {
	Type    string           `json:"type"` // "items"
	PlanID  string           `json:"planId"`
	Entries []wire.PlanEntry `json:"entries"`
}

// ConfigUpdate is the whole list of configuration options.
type ConfigUpdate struct {
	SessionUpdate string         `json:"sessionUpdate"` // "config_option_update"
	ConfigOptions []ConfigOption `json:"configOptions"`
}

// CommandsUpdate is the whole list of commands.
type CommandsUpdate struct {
	SessionUpdate     string    `json:"sessionUpdate"` // "available_commands_update"
	AvailableCommands []Command `json:"availableCommands"`
}

// Terminal changes what a terminal shows; empty members stay as they are.
type Terminal struct {
	SessionUpdate string  `json:"sessionUpdate"` // "terminal_update"
	TerminalID    string  `json:"terminalId"`
	Command       string  `json:"command,omitempty"`
	CWD           string  `json:"cwd,omitempty"`
	Output        *Output `json:"output,omitempty"`
	ExitStatus    *Exit   `json:"exitStatus,omitempty"`
}

// Output is all that a terminal shows.
type Output struct {
	Data string `json:"data"` // base64
}

// Exit marks a terminal whose command has ended. ExitCode is nil where it is not
// known.
type Exit struct {
	ExitCode *int64 `json:"exitCode,omitempty"`
}

// OutputOf makes an Output of text.
func OutputOf(text string) *Output {
	return &Output{Data: base64.StdEncoding.EncodeToString([]byte(text))}
}

// TerminalChunk adds to what a terminal shows.
type TerminalChunk struct {
	SessionUpdate string `json:"sessionUpdate"` // "terminal_output_chunk"
	TerminalID    string `json:"terminalId"`
	Data          string `json:"data"` // base64
}

// ChunkOf makes a TerminalChunk of text.
func ChunkOf(terminal, text string) TerminalChunk {
	return TerminalChunk{
		SessionUpdate: "terminal_output_chunk", TerminalID: terminal, Data: base64.StdEncoding.EncodeToString([]byte(text)),
	}
}

// TerminalContent shows a terminal in a tool call.
func TerminalContent(terminal string) json.RawMessage {
	return json.RawMessage(`{"type":"terminal","terminalId":` + rpc.Quote(terminal) + `}`)
}

// The operations of a Change.
const (
	OperationAdd    = "add"
	OperationModify = "modify"
)

// Diff is what a tool call does to files. Patch is nil where it is not known.
type Diff struct {
	Type    string   `json:"type"` // "diff"
	Changes []Change `json:"changes"`
	Patch   *Patch   `json:"patch,omitempty"`
}

// Change is what becomes of a file. Path is absolute.
type Change struct {
	Operation string `json:"operation"`
	Path      string `json:"path"`
	FileType  string `json:"fileType,omitempty"`
}

// Patch is a difference as text.
type Patch struct {
	Format string `json:"format"` // "git_patch"
	Text   string `json:"text"`
}

// PermissionParams ask the user whether something may be done.
type PermissionParams struct {
	SessionID   string                  `json:"sessionId"`
	Title       string                  `json:"title"`
	Description string                  `json:"description,omitempty"`
	Subject     any                     `json:"subject,omitempty"` // CallSubject or CommandSubject
	Options     []wire.PermissionOption `json:"options"`
}

// CallSubject is a tool call that a question is about. It changes the call, as an
// update would.
type CallSubject struct {
	Type     string        `json:"type"` // "tool_call"
	ToolCall wire.ToolCall `json:"toolCall"`
}

// CommandSubject is a command that a question is about.
type CommandSubject struct {
	Type       string `json:"type"` // "command"
	Command    string `json:"command"`
	CWD        string `json:"cwd"`
	ToolCallID string `json:"toolCallId,omitempty"`
}
