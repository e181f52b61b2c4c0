package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tote/internal/auth"
	"tote/internal/content"
	"tote/internal/mcp"
)

func isNoKey(err error) bool { return errors.Is(err, auth.ErrNoKey) || errors.Is(err, auth.ErrName) }

// Command is a command of the user, the project or an MCP server.
type Command struct{ Name, Hint, Description string }

// mcpPrefix begins the name of a command that an MCP server offers.
const mcpPrefix = "mcp:"

// Commands lists the commands of the user and the project, and the prompts of those
// MCP servers that run.
func (w *Workspace) Commands(ctx context.Context, session string) []Command {
	list, _ := w.guide.reader.Commands(w.guide.options(w.cwd, nil)) // what could not be read is told with the instructions
	var out []Command
	for _, c := range list {
		out = append(out, Command{c.Name, c.Hint, c.Description})
	}
	scopes, _ := w.scopes(session)
	if len(scopes) == 0 {
		return out
	}
	prompts, _ := w.app.servers().Prompts(ctx, scopes...) // a server that is not there offers none
	for _, p := range prompts {
		var hint []string
		for _, a := range p.Args {
			if a.Required {
				hint = append(hint, a.Name+"=…")
			} else {
				hint = append(hint, "["+a.Name+"=…]")
			}
		}
		out = append(out, Command{mcpPrefix + p.Server + ":" + p.Name, strings.Join(hint, " "), p.Description})
	}
	return out
}

// Expand gives the sources of the prompt that a command stands for. known is false
// for a name that is none.
func (w *Workspace) Expand(ctx context.Context, session, name, args string) (sources []content.Source, known bool, err error) {
	rest, isMCP := strings.CutPrefix(name, mcpPrefix)
	if !isMCP {
		return w.guide.expand(w.cwd, name, args)
	}
	server, prompt, ok := strings.Cut(rest, ":")
	if !ok {
		return nil, false, nil
	}
	scopes, _ := w.scopes(session)
	if len(scopes) == 0 {
		return nil, false, nil
	}
	prompts, _ := w.app.servers().Prompts(ctx, scopes...)
	for _, p := range prompts {
		if p.Server == server && p.Name == prompt {
			values, err := promptArgs(p, args)
			if err != nil {
				return nil, true, err
			}
			sources, err = w.app.servers().Prompt(ctx, server, prompt, values, scopes...)
			return sources, true, err
		}
	}
	return nil, false, nil
}

// promptArgs reads name=value pairs; what has no name goes to the first argument
// that has none.
func promptArgs(p mcp.Prompt, args string) (map[string]string, error) {
	out := map[string]string{}
	var rest []string
	for word := range strings.FieldsSeq(args) {
		name, value, ok := strings.Cut(word, "=")
		known := false
		for _, a := range p.Args {
			known = known || a.Name == name
		}
		if ok && known {
			out[name] = value
			continue
		}
		rest = append(rest, word)
	}
	for _, a := range p.Args {
		if _, given := out[a.Name]; !given && len(rest) > 0 {
			out[a.Name], rest = strings.Join(rest, " "), nil
		}
		if _, given := out[a.Name]; a.Required && !given {
			return nil, fmt.Errorf("the argument %s is missing: %s=…", a.Name, a.Name)
		}
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("it takes no arguments, and was given %q", strings.Join(rest, " "))
	}
	return out, nil
}
