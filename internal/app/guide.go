package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tote/internal/agent"
	"tote/internal/config"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/hook"
	"tote/internal/ingest"
	"tote/internal/permission"
	"tote/internal/project"
)

// guide is what the project and the user say to agents.
type guide struct {
	w      *Workspace
	reader *project.Reader
}

// options say what is read for a session that works in cwd.
func (g guide) options(cwd string, dirs []string) project.Options {
	l := g.w.Loaded()
	o := project.Options{
		Root: l.Project.Root, Cwd: cwd, Dirs: dirs, UserDir: g.w.app.dirs.Config, Extra: l.Config.Instructions,
		Folder: l.Project.Folder, Files: l.Project.Files, Trusted: g.trusted(l), Denied: g.w.unreadable,
	}
	if cwd != g.w.cwd {
		o.Root = "" // a session that was moved: what the configuration found is of another folder
	}
	return o
}

// trusted reports whether skills and commands of the project count. Without any there
// is nothing to look after.
func (g guide) trusted(l config.Loaded) bool {
	if !slices.ContainsFunc(l.Project.Files, func(name string) bool { return strings.HasSuffix(name, ".md") }) {
		return l.Trusted
	}
	return g.w.trustHolds(l)
}

// unreadable reports whether the rules deny reading a file. What stands in rules for
// agents goes to the model unasked, so it must be no more than the model may read.
func (w *Workspace) unreadable(abs string) bool {
	w.mu.Lock()
	rules := w.rules
	w.mu.Unlock()
	v, _ := rules.Decide(permission.Request{Tool: "read", Action: permission.Read, Path: filepath.ToSlash(abs), Inside: true})
	return v == permission.Deny
}

// Instructions implements agent.Guide.
func (g guide) Instructions(_ context.Context, cwd string, dirs []string) (string, []delivery.Notice) {
	text, notes := g.reader.Instructions(g.options(cwd, dirs))
	return text, noteNotices(notes)
}

// Beside implements agent.Guide.
func (g guide) Beside(_ context.Context, cwd, path string) []agent.Rules {
	// What could not be read beside a file is told where it is read itself.
	rules, _ := g.reader.Beside(g.options(cwd, nil), path)
	out := make([]agent.Rules, 0, len(rules))
	for _, r := range rules {
		out = append(out, agent.Rules(r))
	}
	return out
}

func noteNotices(notes []project.Note) []delivery.Notice {
	var out []delivery.Notice
	for _, n := range notes {
		out = append(out, delivery.Notice{Severity: delivery.SeverityWarning, Title: n.String()})
	}
	return out
}

// expand is a command of the project or the user, as the sources of a prompt. What
// stands in a project's file was chosen by the project.
func (g guide) expand(cwd, name, args string) (sources []content.Source, known bool, err error) {
	e, err := g.reader.Expand(g.options(cwd, nil), name, args)
	if errors.Is(err, project.ErrUnknown) {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, err
	}
	s := content.Source{Payload: content.Prose{Text: e.Prompt}, Inlet: content.InletPrompt, Chooser: content.ChosenByUser, As: content.KindText}
	if !e.Command.Project {
		return []content.Source{s}, true, nil
	}
	s.Chooser = content.ChosenByTool
	return append([]content.Source{s}, mentioned(cwd, e.Prompt, args)...), true, nil
}

// mentioned are the files that the text of a project's command mentions. The
// project's own must lie under the roots, what the user typed may lie anywhere.
func mentioned(cwd, text, typed string) []content.Source {
	own := ingest.Mentions(typed)
	var out []content.Source
	seen := map[string]bool{}
	for _, token := range ingest.Mentions(text) {
		if _, there := Find(cwd, token); !there || seen[token] || len(out) == maxMentioned {
			continue // it stays text
		}
		seen[token] = true
		f := content.Source{Payload: content.Path{Path: token}, Inlet: content.InletMention, Chooser: content.ChosenByTool}
		if slices.Contains(own, token) {
			f.Chooser = content.ChosenByUser
		}
		out = append(out, f)
	}
	return out
}

// maxMentioned bounds the files that one command attaches.
const maxMentioned = 100

// parseHooks makes the hooks of a configuration.
func parseHooks(c config.Hooks) ([]hook.Hook, error) {
	var out []hook.Hook
	for _, list := range []struct {
		event string
		hooks []config.Hook
	}{{hook.Prompt, c.Prompt}, {hook.PreTool, c.PreTool}, {hook.PostTool, c.PostTool}, {hook.Stop, c.Stop}} {
		for _, x := range list.hooks {
			match, err := hook.ParseMatch(x.Match)
			if err != nil {
				return nil, fmt.Errorf("hooks.%s: %w", list.event, err)
			}
			out = append(out, hook.Hook{Event: list.event, Match: match, Command: x.Command, Timeout: durationOf(x.Timeout), Required: x.Required})
		}
	}
	return out, nil
}
