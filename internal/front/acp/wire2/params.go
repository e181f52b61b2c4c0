package wire2

import (
	"slices"

	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
)

// The structs follow the stable schema of version 2 of the protocol (package
// @agentclientprotocol/sdk 2.4.0, schema/v2/schema.json, read 1 Dec 2026).

// The methods that version 1 does not have.
const (
	MethodLogin          = "auth/login"
	MethodLogout         = "auth/logout"
	MethodCancelToolCall = "tool_call/cancel"
	MethodCancelTerminal = "terminal/cancel"
)

// ReplayStart is the only place from which a history can be shown.
const ReplayStart = "start"

// Opening are the parameters of session/new and session/resume.
type Opening struct {
	wire.SessionParams
	// Replay: the history is wanted, from its start.
	Replay bool
}

// ParseOpening reads the parameters of session/new and session/resume. A place to
// replay from that is not known is an error: the client would take no history for
// an empty one. So is a server that cannot be connected.
func ParseOpening(params []byte) (Opening, *rpc.Error) {
	var out Opening
	if fault := wire.Decode(params, &out.SessionParams); fault != nil {
		return out, fault
	}
	from := rpc.Member(params, "replayFrom")
	switch {
	case from == nil, string(from) == "null":
	case rpc.Unquote(rpc.Member(from, "type")) == ReplayStart:
		out.Replay = true
	default:
		return out, rpc.Errorf(rpc.CodeInvalidParams, "replayFrom is no cursor that is known").
			WithData(map[string][]string{"supported": {ReplayStart}})
	}
	for i := range out.MCPServers {
		if fault := server(&out.MCPServers[i], i); fault != nil {
			return out, fault
		}
	}
	return out, nil
}

// server checks a server and spells it as version 1 does.
func server(s *wire.MCPServer, i int) *rpc.Error {
	missing := func(what string) *rpc.Error {
		return rpc.Errorf(rpc.CodeInvalidParams, "mcpServers[%d] has no %s", i, what)
	}
	switch s.Type {
	case "":
		return missing("type")
	case "stdio":
		if s.Command == "" {
			return missing("command")
		}
		s.Type = ""
	case "http":
		if s.URL == "" {
			return missing("url")
		}
	default:
		return rpc.Errorf(rpc.CodeInvalidParams, "mcpServers[%d] is of a type that is not supported", i).
			WithData(map[string]any{"index": i, "supported": []string{"stdio", "http"}})
	}
	if s.Name == "" {
		return missing("name")
	}
	return nil
}

// ParseChoice reads the parameters of session/set_config_option. Every option is a
// select, so a value is an id.
func ParseChoice(params []byte) (wire.SetConfigParams, *rpc.Error) {
	var out struct {
		SessionID string `json:"sessionId"`
		ConfigID  string `json:"configId"`
		Type      string `json:"type"`
	}
	if fault := wire.Decode(params, &out); fault != nil {
		return wire.SetConfigParams{}, fault
	}
	value := rpc.Member(params, "value")
	switch {
	case out.Type == "":
		return wire.SetConfigParams{}, rpc.Errorf(rpc.CodeInvalidParams, "the value has no type")
	case out.Type != "id":
		return wire.SetConfigParams{}, rpc.Errorf(rpc.CodeInvalidParams, "the value is of a type that the option does not take").
			WithData(map[string][]string{"supported": {"id"}})
	case !rpc.IsString(value):
		return wire.SetConfigParams{}, rpc.Errorf(rpc.CodeInvalidParams, "value has the wrong type")
	}
	return wire.SetConfigParams{SessionID: out.SessionID, ConfigID: out.ConfigID, Value: rpc.Unquote(value)}, nil
}

// Supported are the versions that are spoken where this one is.
func Supported() []int { return slices.Clone([]int{1, 2}) }

// Unsupported is the data of the error for a version below all that are spoken.
type Unsupported struct {
	Requested int   `json:"requested"`
	Supported []int `json:"supported"`
}
