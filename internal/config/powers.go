package config

import "time"

// Tools hold the settings of the built-in tools.
type Tools struct {
	// Bash holds the settings of the tool that runs commands.
	Bash BashTool `json:"bash,omitzero"`
	// Fetch holds the settings of the tool that reads web pages.
	Fetch FetchTool `json:"fetch"`
	// Disabled are the names of built-in tools that no agent gets.
	Disabled []string `json:"disabled,omitempty"`
}

// BashTool holds the settings of the tool that runs commands.
type BashTool struct {
	// Shell is the program that commands are given to, by name or absolute path.
	// Left out, it is bash where there is one, else sh.
	Shell string `json:"shell,omitempty"`
	// Sandbox says whether commands are kept from writing outside of the project:
	// off, auto for where the system can, or require to run none without.
	Sandbox Sandbox `json:"sandbox,omitempty"`
	// Timeout ends a command for which the model asks for no other time.
	Timeout Duration `json:"timeout,omitempty"`
	// MaxTimeout is the longest time that the model may ask for. Left out, it is
	// 10m, or timeout where that is longer.
	MaxTimeout Duration `json:"max_timeout,omitempty"`
}

// FetchTool holds the settings of the tool that reads web pages.
type FetchTool struct {
	// Enabled says whether there is such a tool. Rules of permissions apply in any case.
	Enabled bool `json:"enabled"`
}

// Hooks are the user's own commands by the moment at which they run. The lists of
// the user's file and of the project's are joined, the user's first.
type Hooks struct {
	// Prompt runs before a prompt goes to the model. It can refuse the prompt, or
	// add text to it.
	Prompt []Hook `json:"prompt,omitempty"`
	// PreTool runs before a tool. It can deny the call, permit it, or have it asked about.
	PreTool []Hook `json:"pre_tool,omitempty"`
	// PostTool runs after a tool. It can add text to the result.
	PostTool []Hook `json:"post_tool,omitempty"`
	// Stop runs when a turn has ended.
	Stop []Hook `json:"stop,omitempty"`
}

// Hook is one command that is run at a moment of a turn.
type Hook struct {
	// Match says for which tool calls it runs: permission rules separated by |, such
	// as bash(git push *)|write. Left out, it runs for all. It is for pre_tool and
	// post_tool.
	Match string `json:"match,omitempty"`
	// Command is the program and its arguments. No shell takes part. A program with
	// a slash may begin with ~/, and is else relative to the folder of the
	// configuration file, for .tote/config.json to the folder that holds .tote.
	Command []string `json:"command,omitempty"`
	// Timeout ends the command. Left out, it is 10s; the most is 10m.
	Timeout Duration `json:"timeout,omitempty"`
	// Required says that a hook that cannot be run, or breaks, denies. Otherwise
	// that is told and has no effect.
	Required bool `json:"required,omitempty"`
}

// named is one list of hooks.
type namedHooks struct {
	event string
	hooks []Hook
}

// byEvent lists the lists by the name that the files have for them.
func (h Hooks) byEvent() []namedHooks {
	return []namedHooks{{"prompt", h.Prompt}, {"pre_tool", h.PreTool}, {"post_tool", h.PostTool}, {"stop", h.Stop}}
}

// Bounds on time that hold where nothing is configured.
const (
	defaultBash    = Duration(2 * time.Minute)
	defaultMaxBash = Duration(10 * time.Minute)
	defaultHook    = Duration(10 * time.Second)
	maxHook        = Duration(10 * time.Minute)
	defaultCall    = Duration(2 * time.Minute)  // of a tool of an MCP server
	defaultStart   = Duration(30 * time.Second) // of an MCP server
)
