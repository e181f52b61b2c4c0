package main

import (
	"context"
	"errors"

	"tote/internal/agent"
	"tote/internal/delivery"
	"tote/internal/front/headless"
)

const probeHelp = `Asks the model of AGENT (default: the agent of this folder) whether it sees
pictures, with one small generated picture, and remembers the answer for that
backend. What was learned about the backend before is forgotten first; with
--forget that is all.`

type jsonProbe struct {
	Type     string `json:"type"`
	Agent    string `json:"agent"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Images   string `json:"images"`
	Problem  string `json:"problem"`
}

func cmdProbe(ctx context.Context, e environment, args []string) int {
	f := newFlags(e, "probe", "[AGENT]", probeHelp).withJSON().withModel()
	forget := f.Bool("forget", false, "only forget what was learned about the backend")
	rest, code, done := f.parse(args)
	if done {
		return code
	}
	if len(rest) > 1 {
		return f.fail(misuse("probe takes one agent"))
	}
	a, cwd, err := f.open()
	if err != nil {
		return f.fail(err)
	}
	defer closeApp(a, e)
	ws, err := a.Workspace(ctx, cwd)
	if err != nil {
		return f.fail(err)
	}
	name := first(rest)
	if name == "" {
		if name, err = ws.DefaultAgent(); err != nil {
			return f.fail(err)
		}
	}
	if *forget {
		if err := ws.Forget(ctx, name); err != nil {
			return f.fail(err)
		}
		say(e.stderr, "forgot what was learned about the backend of %s", name)
		return headless.ExitAnswered
	}
	if !f.json {
		say(e.stderr, "asking %s with a small test picture…", name)
	}
	answer, m, err := ws.Probe(ctx, name)
	var trouble *agent.ProbeError
	if err != nil && !errors.As(err, &trouble) {
		return f.fail(err)
	}
	out := jsonProbe{"probe", m.Name, m.Profile.Provider, m.Profile.Model, answer.String(), ""}
	code = headless.ExitAnswered
	if trouble != nil {
		out.Problem, code = trouble.Error(), headless.ExitFailed
	}
	if f.json {
		if err := headless.PutJSON(e.stdout, out); err != nil {
			return f.fail(err)
		}
		return code
	}
	say(e.stdout, "%s", inWords(out, answer))
	return code
}

func inWords(p jsonProbe, answer delivery.Answer) string {
	name := p.Agent + " (" + p.Provider + "/" + p.Model + ")"
	if p.Problem != "" {
		return name + " could not be asked: " + p.Problem
	}
	switch answer {
	case delivery.Yes:
		return name + " sees pictures"
	case delivery.No:
		return name + " does not take pictures"
	case delivery.Unknown:
		return name + " answered without reading the picture: it stays unknown whether it sees"
	}
	return name
}
