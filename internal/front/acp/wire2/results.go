package wire2

import "tote/internal/front/acp/wire"

// InitializeResult is the answer to initialize. There are no ways to log in, so the
// methods for it are not there.
type InitializeResult struct {
	ProtocolVersion int                 `json:"protocolVersion"`
	Info            wire.Implementation `json:"info"`
	Capabilities    Capabilities        `json:"capabilities"`
}

// Capabilities are what a client may ask of the agent. A marker is an object where
// there is something, and absent where there is not.
type Capabilities struct {
	Session SessionCapabilities `json:"session"`
}

// SessionCapabilities are about sessions.
type SessionCapabilities struct {
	Prompt                PromptCapabilities `json:"prompt"`
	MCP                   MCPCapabilities    `json:"mcp"`
	Delete                wire.Marker        `json:"delete,omitempty"`
	AdditionalDirectories wire.Marker        `json:"additionalDirectories,omitempty"`
}

// PromptCapabilities are the kinds of block that a prompt may hold.
type PromptCapabilities struct {
	Image           wire.Marker `json:"image,omitempty"`
	Audio           wire.Marker `json:"audio,omitempty"`
	EmbeddedContext wire.Marker `json:"embeddedContext,omitempty"`
}

// MCPCapabilities are the transports of MCP servers.
type MCPCapabilities struct {
	Stdio wire.Marker `json:"stdio,omitempty"`
	HTTP  wire.Marker `json:"http,omitempty"`
}

// All is what is advertised: every block is at least visibly degraded.
var All = Capabilities{Session: SessionCapabilities{
	Prompt: PromptCapabilities{Image: true, Audio: true, EmbeddedContext: true},
	MCP:    MCPCapabilities{Stdio: true, HTTP: true},
	Delete: true, AdditionalDirectories: true,
}}

// Opened is the answer to session/resume, and with the id to session/new.
type Opened struct {
	SessionID         string         `json:"sessionId,omitempty"`
	ConfigOptions     []ConfigOption `json:"configOptions"`
	AvailableCommands []Command      `json:"availableCommands"`
}

// Inserted is the answer to session/prompt, once its message is in the conversation.
type Inserted struct {
	MessageID string `json:"messageId"`
}

// ConfigOption is a choice in the client's session settings.
type ConfigOption struct {
	ConfigID     string              `json:"configId"`
	Name         string              `json:"name"`
	Description  string              `json:"description,omitempty"`
	Category     string              `json:"category,omitempty"`
	Type         string              `json:"type"` // "select"
	CurrentValue string              `json:"currentValue"`
	Options      []wire.ConfigChoice `json:"options"`
}

// Options spells options as this version does.
func Options(list []wire.ConfigOption) []ConfigOption {
	out := make([]ConfigOption, 0, len(list))
	for _, o := range list {
		out = append(out, ConfigOption{
			ConfigID: o.ID, Name: o.Name, Description: o.Description, Category: o.Category,
			Type: o.Type, CurrentValue: o.CurrentValue, Options: o.Options,
		})
	}
	return out
}

// ConfigOptions is the answer to session/set_config_option: the whole list.
type ConfigOptions struct {
	ConfigOptions []ConfigOption `json:"configOptions"`
}

// Command is a command that the user may type. Input is nil for one that takes none.
type Command struct {
	Type        string `json:"type"` // "command"
	Name        string `json:"name"`
	Description string `json:"description"`
	Input       *Input `json:"input,omitempty"`
}

// Input is what follows the name of a command.
type Input struct {
	Type string `json:"type"` // "text"
	Hint string `json:"hint"`
}

// Commands spells commands as this version does.
func Commands(list []wire.Command) []Command {
	out := make([]Command, 0, len(list))
	for _, c := range list {
		next := Command{Type: "command", Name: c.Name, Description: c.Description}
		if c.Input != nil {
			next.Input = &Input{Type: "text", Hint: c.Input.Hint}
		}
		out = append(out, next)
	}
	return out
}
