package acp

// unserved are the methods of version 1, stable and unstable, that a client may
// call and that are not served, with the reason that the client is given. They
// are not advertised either. What the agent could call of the client, and does
// not: fs/* and terminal/*, because its own tools read files; elicitation/*,
// because nothing asks for a form.
var unserved = map[string]string{
	"logout":            "there is no login: keys are read from the configuration",
	"session/fork":      "unstable in version 1; open the session again instead",
	"session/archive":   "unstable in version 1; sessions are listed until they are deleted",
	"session/unarchive": "unstable in version 1; sessions are listed until they are deleted",
	"session/status":    "unstable in version 1; the prompt's reply tells that a turn is over",
	"session/set_title": "unstable in version 1; a session is titled after its first prompt",
	"session/set_model": "removed from the protocol; use session/set_config_option",
	"auth/status":       "unstable in version 1; there is no login",
	"providers/list":    "unstable in version 1; providers are set up in the configuration",
	"providers/set":     "unstable in version 1; providers are set up in the configuration",
	"providers/disable": "unstable in version 1; providers are set up in the configuration",
	"mcp/message":       "unstable in version 1; MCP servers are not reached through the client",
}
