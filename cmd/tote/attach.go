package main

import (
	"context"
	"errors"

	"tote/internal/config"
	"tote/internal/content"
	"tote/internal/front/headless"
)

const attachHelp = `Says what would happen to each FILE on the chosen agent: sent as it is, made
smaller, converted, given as a path, or not sent, and why. Nothing is sent.
"-" is standard input. Exit code 3 with --strict when a file would not be
delivered whole.`

func cmdAttach(ctx context.Context, e environment, args []string) int {
	f := newFlags(e, "attach", "FILE…", attachHelp).withJSON().withModel()
	strict := f.Bool("strict", false, "exit with 3 when a file would not be delivered whole")
	rest, code, done := f.parse(args)
	if done {
		return code
	}
	if len(rest) == 0 {
		return f.fail(misuse("name at least one file"))
	}
	a, cwd, err := f.open()
	if err != nil {
		return f.fail(err)
	}
	defer closeApp(a, e)
	sources, wrong, err := f.files(cwd, rest)
	if err != nil {
		return f.fail(err)
	}
	ws, err := a.Workspace(ctx, cwd)
	if err != nil {
		return f.fail(err)
	}
	name, err := ws.DefaultAgent()
	if err != nil {
		return f.fail(err)
	}
	receipts, m, err := ws.Agent().Preview(ctx, name, cwd, sources)
	if err != nil {
		return f.fail(err)
	}
	if !f.json {
		say(e.stderr, "on %s (%s/%s), without sending anything:", m.Name, m.Profile.Provider, m.Profile.Model)
		if m.Profile.Images.Answer.String() == "unknown" && holdsPicture(receipts) {
			say(e.stderr, "it is not known whether this model sees pictures; a turn would probe it first")
		}
	}
	degraded, err := headless.Preview(receipts, f.streams())
	if err != nil {
		return f.fail(err)
	}
	if wrong {
		return headless.ExitUsage
	}
	if *strict && degraded {
		return headless.ExitDegraded
	}
	return headless.ExitAnswered
}

// files turns arguments into sources. A file that cannot be read is told about,
// and the others are looked at all the same; wrong says that there was one.
func (f *flags) files(cwd string, names []string) (out []content.Source, wrong bool, err error) {
	in := input{f: f, cwd: cwd}
	for _, name := range names {
		switch err := in.attach(name); {
		case errors.Is(err, config.ErrUsage):
			f.fail(err)
			wrong = true
		case err != nil:
			return nil, false, err
		}
	}
	return in.out, wrong, nil
}
