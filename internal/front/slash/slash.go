package slash

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/delegate"
	"tote/internal/spell"
)

// Info is a command as it is listed.
type Info struct {
	// Name is without the slash.
	Name string
	// Hint says what may follow, "" for nothing.
	Hint        string
	Description string
}

// usage is how it is written.
func (i Info) usage() string { return strings.TrimSpace("/" + i.Name + " " + i.Hint) }

// Custom are commands that are not built in: those of the project and of the user,
// and the prompts of MCP servers.
type Custom interface {
	Commands(ctx context.Context) []Info
	// Expand gives the sources of the prompt that a command stands for; known
	// is false for a name that is none.
	Expand(ctx context.Context, name, args string) (sources []content.Source, known bool, err error)
}

// Agent is an agent that may be chosen.
type Agent struct{ Name, Model, Note string }

// World is what commands act on. Session is required; what is nil is not there.
type World struct {
	Session *agent.Session
	Jobs    *delegate.Crew
	Custom  Custom
	// Agents lists those of the configuration.
	Agents func(ctx context.Context) []Agent
	// Servers starts the MCP servers that do not run and says in lines how they
	// are.
	Servers func(ctx context.Context) []string
	// Fork makes a session of the turns up to turn, "" for all, and returns
	// its id.
	Fork func(ctx context.Context, turn string) (string, error)
	// Cost is what the session has cost in US dollars; known is false where
	// a price is missing.
	Cost func(ctx context.Context) (dollars float64, known bool, err error)
}

// Ready belongs before every turn: what became of jobs of earlier processes goes
// into the prompt.
func (w World) Ready() {
	if w.Jobs != nil {
		w.Jobs.Recall(w.Session)
	}
}

// Call is one command.
type Call struct {
	Name, Args string
	// Staged are the attachments that came with it.
	Staged []content.Source
	// Front shows what a command does that takes its time.
	Front agent.Front
}

// Outcome is what a command came to.
type Outcome struct {
	// Text is for the user.
	Text string
	// Prompt is to be run as a turn, nil for none.
	Prompt []content.Source
	// Session is the session to go on in, "" for the same.
	Session string
	// Job is the background job that was started, "" for none.
	Job string
	// Restored is the prompt of what was taken back, for a composer.
	Restored []content.Source
}

// Parse reads a command from the text that a prompt begins with.
func Parse(text string) (name, args string, ok bool) {
	rest, found := strings.CutPrefix(text, "/")
	if !found {
		return "", "", false
	}
	end := strings.IndexAny(rest, " \t\r\n")
	if end < 0 {
		end = len(rest)
	}
	name = rest[:end]
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789:_-", r)) {
			return "", "", false
		}
	}
	if name == "" {
		return "", "", false
	}
	return name, strings.TrimSpace(rest[end:]), true
}

// Read reads a command from the sources of a prompt. Its other sources are staged.
func Read(sources []content.Source) (c Call, ok bool) {
	for i, s := range sources {
		p, prose := s.Payload.(content.Prose)
		if !prose {
			continue
		}
		name, args, isCommand := Parse(p.Text)
		if !isCommand {
			return c, false
		}
		c.Name, c.Args = name, args
		c.Staged = append(append([]content.Source{}, sources[:i]...), sources[i+1:]...)
		return c, true
	}
	return c, false
}

// command is one that is built in.
type command struct {
	Info
	run func(w World, ctx context.Context, c Call) (Outcome, error)
}

func builtin() []command {
	return []command{
		{Info{"help", "", "list the commands"}, World.help},
		{Info{"context", "", "show what the next request would hold: kind, size and tokens of every part"}, World.context},
		{Info{"images", "", "list the attachments of the session"}, World.images},
		{Info{"detach", "LABEL… | last N | older N", "take attachments out of the conversation: image-3, 3, last 2, or those older than N turns"}, World.detach},
		{Info{"reattach", "LABEL… | last N | older N", "put attachments back that were taken out"}, World.reattach},
		{Info{"compact", "", "summarise the older turns now"}, World.compact},
		{Info{"undo", "[N]", "take back the last turn, or the last N, and the files they changed"}, World.undo},
		{Info{"rewind", "TURN", "go back to before the turn with this number, files included"}, World.rewind},
		{Info{"fork", "[TURN]", "go on in a new session that holds the turns so far, or those up to TURN"}, World.fork},
		{Info{"job", "[--agent NAME] PROMPT", "start work in the background, with what is attached"}, World.job},
		{Info{"jobs", "[stop ID | wait ID | ID]", "list the background jobs, stop one, wait for one, or show its report"}, World.jobs},
		{Info{"agents", "", "list the agents"}, World.agents},
		{Info{"model", "[AGENT]", "show or choose the agent for the turns to come"}, World.model},
		{Info{"mode", "[ask | edits | plan | full]", "show or choose what may be done without asking"}, World.mode},
		{Info{"mcp", "", "say how the MCP servers are"}, World.servers},
		{Info{"cost", "", "say what the session has cost"}, World.cost},
	}
}

// List lists the commands that there are: the built-in ones first.
func (w World) List(ctx context.Context) []Info {
	var out []Info
	taken := map[string]bool{}
	for _, c := range builtin() {
		out, taken[c.Name] = append(out, c.Info), true
	}
	if w.Custom == nil {
		return out
	}
	for _, c := range w.Custom.Commands(ctx) {
		if !taken[c.Name] {
			out, taken[c.Name] = append(out, c), true
		}
	}
	return out
}

// Run carries a command out. A name that looks like that of a command and is none is
// an error; known is false for what does not, and for the name of a file: that is a
// prompt like any other.
func (w World) Run(ctx context.Context, c Call) (out Outcome, known bool, err error) {
	for _, b := range builtin() {
		if b.Name == c.Name {
			out, err = b.run(w, ctx, c)
			return out, true, err
		}
	}
	if w.Custom != nil {
		sources, known, err := w.Custom.Expand(ctx, c.Name, c.Args)
		if err != nil {
			return out, true, fmt.Errorf("/%s: %w", c.Name, err)
		}
		if known {
			return Outcome{Prompt: append(sources, c.Staged...)}, true, nil
		}
	}
	if err := w.unknown(ctx, c.Name); err != nil {
		return out, true, err
	}
	return out, false, nil
}

// unknown is the error for a name that was meant as that of a command, nil for
// another. Nothing of it goes to the model: who meant it as text can say so.
func (w World) unknown(ctx context.Context, name string) error {
	if w.isFile(name) {
		return nil
	}
	var names []string
	for _, c := range w.List(ctx) {
		names = append(names, c.Name)
	}
	near := spell.Nearest(name, names)
	switch {
	case near != "" && len(name) > 2:
		return fmt.Errorf("there is no command /%s; did you mean /%s? %s", name, near, asText)
	case name == strings.ToLower(name):
		return fmt.Errorf("there is no command /%s; /help lists them. %s", name, asText)
	}
	return nil
}

const asText = "Nothing was sent; with a space before it, it goes to the model as it is"

// isFile reports whether a name after a slash is that of a file or folder, of the
// project or at the root.
func (w World) isFile(name string) bool {
	for _, dir := range []string{w.Session.Stored().Cwd, string(filepath.Separator)} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

func (w World) help(ctx context.Context, _ Call) (Outcome, error) {
	list, width := w.List(ctx), 0
	for _, c := range list {
		width = max(width, utf8.RuneCountInString(c.usage()))
	}
	var sb strings.Builder
	for _, c := range list {
		fmt.Fprintf(&sb, "%-*s  %s\n", min(width, 40), c.usage(), c.Description)
	}
	return Outcome{Text: sb.String()}, nil
}
