package acp

import "encoding/json"

const methodUpdate = "session/update"

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
func Chunk(kind, messageID string, block Parts) Parts {
	head := `{"sessionUpdate":` + quote(kind)
	if messageID != "" {
		head += `,"messageId":` + quote(messageID)
	}
	out := append(Parts{[]byte(head + `,"content":`)}, block...)
	return append(out, []byte{'}'})
}

// TextBlock is a text block.
func TextBlock(text string) Parts {
	return Parts{[]byte(`{"type":"text","text":` + quote(text) + `}`)}
}

// StandIn is a text block in the place of one that the client could not take; the
// original goes along in its metadata, where raw is not nil.
func StandIn(text string, raw []byte) Parts {
	if raw == nil {
		return TextBlock(text)
	}
	return Parts{[]byte(`{"type":"text","text":` + quote(text) + `,"_meta":{"tote/block":`), raw, []byte(`}}`)}
}

// update wraps an update for a session; body is Parts or a struct of this file.
func update(sessionID string, body any) (Parts, error) {
	inner, err := encode(body)
	if err != nil {
		return nil, err
	}
	out := append(Parts{[]byte(`{"sessionId":` + quote(sessionID) + `,"update":`)}, inner...)
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
func ToolContent(block Parts) json.RawMessage {
	out := []byte(`{"type":"content","content":`)
	for _, p := range block {
		out = append(out, p...)
	}
	return append(out, '}')
}

// ToolDiff is a change of a file as the content of a tool call. Path is absolute;
// oldText is nil for a new file.
func ToolDiff(path string, oldText *string, newText string) json.RawMessage {
	return mustEncode(struct {
		Type    string  `json:"type"`
		Path    string  `json:"path"`
		OldText *string `json:"oldText"`
		NewText string  `json:"newText"`
	}{"diff", path, oldText, newText})
}

// mustEncode encodes a value that has only strings and numbers in it.
func mustEncode(v any) json.RawMessage {
	out, err := encode(v)
	if err != nil {
		panic("acp: a plain value cannot be encoded: " + err.Error())
	}
	return json.RawMessage(out[0])
}

// Plan is the whole plan, which replaces the former one.
type Plan struct {
	SessionUpdate string      `json:"sessionUpdate"` // "plan"
	Entries       []PlanEntry `json:"entries"`
}

// PlanEntry is one step. Priority is high, medium or low; Status pending,
// in_progress or completed.
type PlanEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

// Commands are the slash commands of a session.
type Commands struct {
	SessionUpdate     string    `json:"sessionUpdate"` // "available_commands_update"
	AvailableCommands []Command `json:"availableCommands"`
}

// Command is a slash command; Input is nil when it takes none.
type Command struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Input       *CommandInput `json:"input,omitempty"`
}

// CommandInput describes what to type behind a command.
type CommandInput struct {
	Hint string `json:"hint"`
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

// InfoUpdate changes what a session list shows.
type InfoUpdate struct {
	SessionUpdate string `json:"sessionUpdate"` // "session_info_update"
	Title         string `json:"title,omitempty"`
	UpdatedAt     string `json:"updatedAt,omitempty"`
}

// Usage tells how many tokens of the context are used. It is not sent while the
// size is unknown.
type Usage struct {
	SessionUpdate string `json:"sessionUpdate"` // "usage_update"
	Used          int64  `json:"used"`
	Size          int64  `json:"size"`
}

// Notice is a line for the user. It only goes to clients that take notices.
// Severity is info, warning or error.
type Notice struct {
	SessionUpdate string `json:"sessionUpdate"` // "notice"
	Severity      string `json:"severity"`
	Title         string `json:"title"`
	Description   string `json:"description,omitempty"`
}

// Compaction tells of a summary of the conversation. It only goes to clients that
// take it. Status is in_progress, completed, failed or cancelled.
type Compaction struct {
	SessionUpdate string            `json:"sessionUpdate"` // "compaction_update"
	CompactionID  string            `json:"compactionId"`
	Status        string            `json:"status"`
	Summary       []json.RawMessage `json:"summary,omitempty"`
	Error         string            `json:"error,omitempty"`
}
