package wire

// The methods of version 1 that the client calls, beside initialize.
const (
	MethodInitialize      = "initialize"
	MethodAuthenticate    = "authenticate"
	MethodNew             = "session/new"
	MethodLoad            = "session/load"
	MethodResume          = "session/resume"
	MethodList            = "session/list"
	MethodDelete          = "session/delete"
	MethodClose           = "session/close"
	MethodPrompt          = "session/prompt"
	MethodCancel          = "session/cancel"
	MethodSetMode         = "session/set_mode"
	MethodSetConfigOption = "session/set_config_option"
	MethodFork            = "session/fork" // unstable
)

// SessionParams open a session: session/new without an id, session/load and
// session/resume with one. The lists are what the session is to have from now on,
// whatever it had before.
type SessionParams struct {
	SessionID             string      `json:"sessionId"`
	CWD                   string      `json:"cwd"`
	MCPServers            []MCPServer `json:"mcpServers"`
	AdditionalDirectories []string    `json:"additionalDirectories"`
}

// MCPServer is a server that the client wants connected. Type is "http" or "sse",
// else it is started by its command. Env and Headers hold secrets.
type MCPServer struct {
	Type    string      `json:"type"`
	Name    string      `json:"name"`
	Command string      `json:"command"`
	Args    []string    `json:"args"`
	Env     []NameValue `json:"env"`
	URL     string      `json:"url"`
	Headers []NameValue `json:"headers"`
}

// NameValue is a variable of an environment, or a header.
type NameValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SessionState is the answer to session/load and session/resume, and with the id
// to session/new.
type SessionState struct {
	SessionID     string         `json:"sessionId,omitempty"`
	ConfigOptions []ConfigOption `json:"configOptions"`
	Modes         *Modes         `json:"modes,omitempty"`
}

// Modes are the permission modes, for clients that know no configuration options.
type Modes struct {
	CurrentModeID  string `json:"currentModeId"`
	AvailableModes []Mode `json:"availableModes"`
}

// Mode is one of Modes.
type Mode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// The categories of configuration options that clients know.
const (
	CategoryMode  = "mode"
	CategoryModel = "model"
)

// ConfigOption is a choice in the client's session settings. Options are never
// empty, and CurrentValue is one of them.
type ConfigOption struct {
	ID           string         `json:"id"`
	Name         string         `json:"name"`
	Description  string         `json:"description,omitempty"`
	Category     string         `json:"category,omitempty"`
	Type         string         `json:"type"` // "select"
	CurrentValue string         `json:"currentValue"`
	Options      []ConfigChoice `json:"options"`
}

// ConfigChoice is one value of a select.
type ConfigChoice struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// SetConfigParams are the parameters of session/set_config_option.
type SetConfigParams struct {
	SessionID string `json:"sessionId"`
	ConfigID  string `json:"configId"`
	Value     string `json:"value"`
}

// ConfigOptions is the answer to session/set_config_option: the whole list.
type ConfigOptions struct {
	ConfigOptions []ConfigOption `json:"configOptions"`
}

// SetModeParams are the parameters of session/set_mode.
type SetModeParams struct {
	SessionID string `json:"sessionId"`
	ModeID    string `json:"modeId"`
}

// ListParams are the parameters of session/list.
type ListParams struct {
	CWD    string `json:"cwd"`
	Cursor string `json:"cursor"`
}

// ListResult is the answer to session/list. Sessions is never null.
type ListResult struct {
	Sessions   []SessionInfo `json:"sessions"`
	NextCursor string        `json:"nextCursor,omitempty"`
}

// SessionInfo is one session of a list. UpdatedAt is in RFC 3339.
type SessionInfo struct {
	SessionID             string   `json:"sessionId"`
	CWD                   string   `json:"cwd"`
	Title                 string   `json:"title,omitempty"`
	UpdatedAt             string   `json:"updatedAt,omitempty"`
	AdditionalDirectories []string `json:"additionalDirectories,omitempty"`
}

// The reasons why a turn ends, a closed set in version 1.
const (
	StopEndTurn         = "end_turn"
	StopMaxTokens       = "max_tokens"
	StopMaxTurnRequests = "max_turn_requests"
	StopRefusal         = "refusal"
	StopCancelled       = "cancelled"
)

// PromptResult is the answer to session/prompt.
type PromptResult struct {
	StopReason string `json:"stopReason"`
	Meta       *Meta  `json:"_meta,omitempty"`
}
