package wire

import (
	"encoding/json"
	"errors"

	"tote/internal/front/acp/rpc"
)

// The wire structs follow the stable schema of version 1 of the protocol (package
// @agentclientprotocol/sdk 2.4.0, schema/v1/schema.json, read 30 Nov 2026).

// Marker is a capability that is given by an object, whatever is in it. Anything
// else, also true, means no.
type Marker bool

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (m *Marker) UnmarshalJSON(raw []byte) error {
	*m = len(raw) > 0 && raw[0] == '{'
	return nil
}

// MarshalJSON implements json.Marshaler. Fields of this type are omitempty.
func (m Marker) MarshalJSON() ([]byte, error) {
	if m {
		return []byte("{}"), nil
	}
	return []byte("null"), nil
}

// Implementation names a program.
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// InitializeParams are what a client says of itself.
type InitializeParams struct {
	ProtocolVersion    int
	ClientCapabilities ClientCapabilities
	ClientInfo         Implementation
}

// ClientCapabilities are what the agent may send to the client, as far as it
// makes use of it: it reads files, runs commands and asks by its own means.
type ClientCapabilities struct {
	Session struct {
		Notices Marker `json:"notices"`
	} `json:"session"`
}

// ParseInitialize reads the parameters of initialize. A version that is missing
// reads as 0, and capabilities that are malformed read as absent; only a version
// that is no count is an error.
func ParseInitialize(params []byte) (InitializeParams, *rpc.Error) {
	var out InitializeParams
	if v := rpc.Member(params, "protocolVersion"); v != nil {
		// null leaves the version at 0.
		if err := json.Unmarshal(v, &out.ProtocolVersion); err != nil || out.ProtocolVersion < 0 {
			return out, rpc.Errorf(rpc.CodeInvalidParams, "protocolVersion is not a whole number")
		}
	}
	lenientUnmarshal(rpc.Member(params, "clientCapabilities"), &out.ClientCapabilities)
	lenientUnmarshal(rpc.Member(params, "clientInfo"), &out.ClientInfo)
	return out, nil
}

// lenientUnmarshal fills v from validated JSON and leaves out what has the wrong
// type.
func lenientUnmarshal(raw []byte, v any) {
	if raw != nil {
		// The decoder goes on after a member of the wrong type.
		_ = json.Unmarshal(raw, v)
	}
}

// Decode fills v from the parameters of a request; what has the wrong type is an
// error that names the member, but not its value.
func Decode(params []byte, v any) *rpc.Error {
	if params == nil {
		return rpc.Errorf(rpc.CodeInvalidParams, "params are missing")
	}
	err := json.Unmarshal(params, v)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return rpc.Errorf(rpc.CodeInvalidParams, "%s has the wrong type", rpc.Clip(wrong.Field, 100))
	case err != nil:
		return rpc.Errorf(rpc.CodeInvalidParams, "params cannot be read")
	}
	return nil
}

// InitializeResult is the answer to initialize.
type InitializeResult struct {
	ProtocolVersion   int               `json:"protocolVersion"`
	AgentCapabilities AgentCapabilities `json:"agentCapabilities"`
	AgentInfo         Implementation    `json:"agentInfo"`
	AuthMethods       []AuthMethod      `json:"authMethods"`
}

// AgentCapabilities are what a client may ask of the agent.
type AgentCapabilities struct {
	LoadSession         bool                `json:"loadSession"`
	PromptCapabilities  PromptCapabilities  `json:"promptCapabilities"`
	MCPCapabilities     MCPCapabilities     `json:"mcpCapabilities"`
	SessionCapabilities SessionCapabilities `json:"sessionCapabilities"`
}

// PromptCapabilities are the kinds of block that a prompt may hold.
type PromptCapabilities struct {
	Image           bool `json:"image"`
	Audio           bool `json:"audio"`
	EmbeddedContext bool `json:"embeddedContext"`
}

// AllPrompts are the capabilities that are always advertised: every block is at
// least visibly degraded, and they cannot change with the model of a session.
var AllPrompts = PromptCapabilities{Image: true, Audio: true, EmbeddedContext: true}

// MCPCapabilities are the transports of MCP servers beside stdio.
type MCPCapabilities struct {
	HTTP bool `json:"http"`
	SSE  bool `json:"sse"`
}

// SessionCapabilities are the optional session methods.
type SessionCapabilities struct {
	List                  Marker `json:"list,omitempty"`
	Delete                Marker `json:"delete,omitempty"`
	Resume                Marker `json:"resume,omitempty"`
	Close                 Marker `json:"close,omitempty"`
	AdditionalDirectories Marker `json:"additionalDirectories,omitempty"`
	Fork                  Marker `json:"fork,omitempty"` // unstable
}

// AuthMethod is a way to log in.
type AuthMethod struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}
