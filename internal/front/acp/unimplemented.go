package acp

import (
	"tote/internal/front/acp/wire"
	"tote/internal/front/acp/wire2"
)

// What a client may call and is not served, by version, with the reason that it is
// given. None of it is advertised. What the agent could call of the client, and does
// not: fs/* and terminal/*, because its own tools read files and run commands;
// elicitation/*, because nothing asks for a form. What it could report in version 2
// and does not: work in the background with every state, and calls and terminals
// that can be cancelled one by one.
const (
	noLogin     = "there is no login: keys are read from the configuration"
	noProviders = "providers are set up in the configuration"
	noTunnel    = "MCP servers are not reached through the client"
)

// unservedFirst are those of version 1, stable and unstable. session/fork is served
// where the configuration allows it.
var unservedFirst = map[string]string{
	"logout":                   noLogin,
	wire.MethodFork:            "unstable in version 1; open the session again instead",
	"session/archive":          "unstable in version 1; sessions are listed until they are deleted",
	"session/unarchive":        "unstable in version 1; sessions are listed until they are deleted",
	"session/status":           "unstable in version 1; the prompt's reply tells that a turn is over",
	"session/set_title":        "unstable in version 1; a session is titled after its first prompt",
	"session/set_model":        "removed from the protocol; use session/set_config_option",
	"auth/status":              "unstable in version 1; there is no login",
	"providers/list":           "unstable in version 1; " + noProviders,
	"providers/set":            "unstable in version 1; " + noProviders,
	"providers/disable":        "unstable in version 1; " + noProviders,
	"mcp/message":              "unstable in version 1; " + noTunnel,
	wire2.MethodLogin:          "of version 2; " + noLogin,
	wire2.MethodLogout:         "of version 2; " + noLogin,
	wire2.MethodCancelToolCall: "of version 2; session/cancel ends the turn",
	wire2.MethodCancelTerminal: "of version 2; session/cancel ends the turn",
}

// unservedSecond are those of version 2, with those of version 1 that it has given
// up.
var unservedSecond = map[string]string{
	wire2.MethodLogin:       noLogin,
	wire2.MethodLogout:      noLogin,
	wire.MethodAuthenticate: "of version 1; " + noLogin,
	"logout":                "of version 1; " + noLogin,
	wire.MethodLoad:         "of version 1; use session/resume with replayFrom",
	wire.MethodSetMode:      "of version 1; use session/set_config_option",
	"session/set_model":     "removed from the protocol; use session/set_config_option",
	wire.MethodFork:         "unstable in version 2; open the session again instead",
	"session/archive":       "unstable in version 2; sessions are listed until they are deleted",
	"session/unarchive":     "unstable in version 2; sessions are listed until they are deleted",
	"session/status":        "unstable in version 2; the state is told with every change",
	"session/set_title":     "unstable in version 2; a session is titled after its first prompt",
	"auth/status":           "unstable in version 2; there is no login",
	"providers/list":        "unstable in version 2; " + noProviders,
	"providers/set":         "unstable in version 2; " + noProviders,
	"providers/disable":     "unstable in version 2; " + noProviders,
	"mcp/message":           "unstable in version 2; " + noTunnel,
}
