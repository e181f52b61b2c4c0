package wire

import (
	"encoding/json"
	"slices"

	"tote/internal/agent"
	"tote/internal/front/acp/rpc"
)

// MethodUpdate is the notification that carries every session update.
const MethodUpdate = "session/update"

// The kinds of session update that carry a piece of a message.
const (
	UpdateUserMessage  = "user_message_chunk"
	UpdateAgentMessage = "agent_message_chunk"
	UpdateAgentThought = "agent_thought_chunk"
)

// Kinds of tools, a closed set in version 1.
const (
	ToolRead       = "read"
	ToolEdit       = "edit"
	ToolDelete     = "delete"
	ToolMove       = "move"
	ToolSearch     = "search"
	ToolExecute    = "execute"
	ToolThink      = "think"
	ToolFetch      = "fetch"
	ToolSwitchMode = "switch_mode"
	ToolOther      = "other"
)

// States of tool calls. Version 1 knows no cancelled; those have failed.
const (
	ToolPending    = "pending"
	ToolInProgress = "in_progress"
	ToolCompleted  = "completed"
	ToolFailed     = "failed"
)

// Chunk is a piece of a message: one content block as raw JSON, which goes out as
// it is. messageID may be empty.
func Chunk(kind, messageID string, block rpc.Parts) rpc.Parts {
	head := `{"sessionUpdate":` + rpc.Quote(kind)
	if messageID != "" {
		head += `,"messageId":` + rpc.Quote(messageID)
	}
	out := append(rpc.Parts{[]byte(head + `,"content":`)}, block...)
	return append(out, []byte{'}'})
}

// TextBlock is a text block.
func TextBlock(text string) rpc.Parts {
	return rpc.Parts{[]byte(`{"type":"text","text":` + rpc.Quote(text) + `}`)}
}

// StandIn is a text block in the place of one that the client could not take; the
// original goes along in its metadata, where raw is not nil.
func StandIn(text string, raw []byte) rpc.Parts {
	if raw == nil {
		return TextBlock(text)
	}
	return rpc.Parts{[]byte(`{"type":"text","text":` + rpc.Quote(text) + `,"_meta":{"tote/block":`), raw, []byte(`}}`)}
}

// Update makes the parameters of a session/update; body is rpc.Parts or a struct
// of this file.
func Update(sessionID string, body any) (rpc.Parts, error) {
	inner, err := rpc.Encode(body)
	if err != nil {
		return nil, err
	}
	out := append(rpc.Parts{[]byte(`{"sessionId":` + rpc.Quote(sessionID) + `,"update":`)}, inner...)
	return append(out, []byte{'}'}), nil
}

// ToolCall announces a tool call ("tool_call") or changes one
// ("tool_call_update"). Empty members of a change stay as they are, and its arrays
// replace the former ones.
type ToolCall struct {
	SessionUpdate string            `json:"sessionUpdate,omitempty"`
	ToolCallID    string            `json:"toolCallId"`
	Title         string            `json:"title,omitempty"`
	Name          string            `json:"name,omitempty"`
	Kind          string            `json:"kind,omitempty"`
	Status        string            `json:"status,omitempty"`
	Content       []json.RawMessage `json:"content,omitempty"`
	Locations     []Location        `json:"locations,omitempty"`
	RawInput      json.RawMessage   `json:"rawInput,omitempty"`
	RawOutput     json.RawMessage   `json:"rawOutput,omitempty"`
}

// The updates that a ToolCall can be.
const (
	UpdateToolCall       = "tool_call"
	UpdateToolCallUpdate = "tool_call_update"
)

// Location is a place in a file that a tool works on. Path is absolute, Line
// counts from 1; 0 means none.
type Location struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
}

// ToolContent is a content block as the content of a tool call.
func ToolContent(block rpc.Parts) json.RawMessage {
	return slices.Concat([]byte(`{"type":"content","content":`), slices.Concat(block...), []byte{'}'})
}

// Diff is what a tool call does to a file, as content of the call. Path is absolute,
// OldText nil for a file that is new.
type Diff struct {
	Type    string  `json:"type"` // "diff"
	Path    string  `json:"path"`
	OldText *string `json:"oldText"`
	NewText string  `json:"newText"`
}

// CurrentMode tells that the permission mode has changed.
type CurrentMode struct {
	SessionUpdate string `json:"sessionUpdate"` // "current_mode_update"
	CurrentModeID string `json:"currentModeId"`
}

// ConfigUpdate is the whole list of configuration options.
type ConfigUpdate struct {
	SessionUpdate string         `json:"sessionUpdate"` // "config_option_update"
	ConfigOptions []ConfigOption `json:"configOptions"`
}

// InfoUpdate changes what a session list shows, and carries receipts: they come
// before the first token, and no other update of version 1 is about nothing else.
type InfoUpdate struct {
	SessionUpdate string `json:"sessionUpdate"` // "session_info_update"
	Title         string `json:"title,omitempty"`
	UpdatedAt     string `json:"updatedAt,omitempty"`
	Meta          *Meta  `json:"_meta,omitempty"`
}

// Meta is our own data on an object of the protocol.
type Meta struct {
	Receipts []agent.ReceiptRecord `json:"tote/receipts"`
}

// MetaOf is nil where there are no receipts.
func MetaOf(receipts []agent.ReceiptRecord) *Meta {
	if len(receipts) == 0 {
		return nil
	}
	return &Meta{Receipts: receipts}
}

// Usage tells how many tokens of the context are used. It is not sent while the
// size is unknown.
type Usage struct {
	SessionUpdate string `json:"sessionUpdate"` // "usage_update"
	Used          int64  `json:"used"`
	Size          int64  `json:"size"`
	Cost          *Cost  `json:"cost,omitempty"`
}

// Cost is what a session has cost so far.
type Cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

// CommandsUpdate is the whole list of commands.
type CommandsUpdate struct {
	SessionUpdate     string    `json:"sessionUpdate"` // "available_commands_update"
	AvailableCommands []Command `json:"availableCommands"`
}

// Command is a command that the user may type. Name is without the slash, Input nil
// for one that takes none.
type Command struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Input       *CommandInput `json:"input,omitempty"`
}

// CommandInput says what may follow the name of a command.
type CommandInput struct {
	Hint string `json:"hint"`
}

// The words of a plan.
const (
	UpdatePlan     = "plan"
	PriorityMedium = "medium"
)

// Plan is the agent's plan, whole.
type Plan struct {
	SessionUpdate string      `json:"sessionUpdate"` // "plan"
	Entries       []PlanEntry `json:"entries"`
}

// PlanEntry is one step. Status is pending, in_progress or completed.
type PlanEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

// Notice is a line for the user. It only goes to clients that take notices.
// Severity is info, warning or error.
type Notice struct {
	SessionUpdate string `json:"sessionUpdate"` // "notice"
	Severity      string `json:"severity"`
	Title         string `json:"title"`
	Description   string `json:"description,omitempty"`
}
