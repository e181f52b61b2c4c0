package main

import (
	"context"
	"errors"
	"fmt"

	"tote/internal/agent"
	"tote/internal/app"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/front/headless"
	"tote/internal/history"
)

func (f *flags) streams() headless.Streams {
	s := headless.Streams{Out: f.e.stdout, Err: f.e.stderr, Live: f.e.outTerminal}
	if f.json {
		s.Format = headless.JSON
	}
	return s
}

func holdsPicture(rs []delivery.Receipt) bool {
	for _, r := range rs {
		if r.Kind == content.KindImage {
			return true
		}
	}
	return false
}

const modelsHelp = `Lists the agents of the configuration, what each takes (yes, no, unknown), how
that is known, and what its backend has refused. The default is marked with a
star. With PROVIDER it lists that provider's models: those that the catalogue knows
at its address, else those that the server says it serves.`

func cmdModels(ctx context.Context, e environment, args []string) int {
	f := newFlags(e, "models", "[PROVIDER]", modelsHelp).withJSON()
	rest, code, done := f.parse(args)
	if done {
		return code
	}
	if len(rest) > 1 {
		return f.fail(misuse("models takes one provider, or nothing"))
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
	var choices []app.Choice
	if len(rest) == 1 {
		choices, err = ws.Catalogue(ctx, rest[0])
	} else {
		choices, err = ws.Choices(ctx)
	}
	if err != nil {
		return f.fail(err)
	}
	rows := make([]headless.Row, 0, len(choices))
	for _, c := range choices {
		rows = append(rows, row(c))
	}
	if err := headless.Models(rows, f.streams()); err != nil {
		return f.fail(err)
	}
	if f.json {
		return headless.ExitAnswered
	}
	switch {
	case len(rest) == 0:
		offer(e, ws.Offers(ctx))
	case len(rows) == 0:
		say(e.stderr, "neither the catalogue nor the server names models of %s; --model %s/MODEL works all the same", rest[0], rest[0])
	}
	return headless.ExitAnswered
}

// offer says what else could be used, and how.
func offer(e environment, o app.Offers) {
	for _, x := range o.Keyed {
		if x.Needs != "" {
			say(e.stdout, "  $%s is set: providers.%s.%s is missing to use it", x.Env, x.Name, x.Needs)
			continue
		}
		say(e.stdout, "  $%s is set: --model %s/MODEL uses it (%s)", x.Env, x.Name, x.Kind)
	}
	for _, x := range o.Local {
		say(e.stdout, "  something answers at %s, where %s usually does: --model %s/MODEL uses it (%s)", x.BaseURL, x.Name, x.Name, x.Kind)
	}
	for _, x := range o.Runners {
		say(e.stdout, `  %s is installed: "agents": {%q: {"runner": %q}} lets it answer`, x.Agent.Name, x.Agent.Name, x.Agent.Runner)
	}
}

func row(c app.Choice) headless.Row {
	r := headless.Row{
		Name: c.Name, Provider: c.Provider, Model: c.Model, Path: c.Path, Images: c.Images, Audio: c.Audio,
		Documents: c.Documents, Context: c.Context, Problem: c.Problem, Default: c.Default,
	}
	for _, x := range c.Refused {
		r.Refused = append(r.Refused, fmt.Sprintf("%s until %s: %s", x.Subject, x.Until, x.Reason))
	}
	return r
}

const sessionsHelp = `Lists the sessions of this folder, newest first; --all those of every folder.
With "delete ID" it removes one.`

func cmdSessions(ctx context.Context, e environment, args []string) int {
	f := newFlags(e, "sessions", "[delete ID]", sessionsHelp).withJSON()
	all := f.Bool("all", false, "sessions of every folder")
	limit := f.Int("limit", 50, "how many to list")
	rest, code, done := f.parse(args)
	if done {
		return code
	}
	a, cwd, err := f.open()
	if err != nil {
		return f.fail(err)
	}
	defer closeApp(a, e)
	db, err := a.History(ctx)
	if err != nil {
		return f.fail(err)
	}
	switch {
	case len(rest) == 2 && rest[0] == "delete":
		if _, err := db.Session(ctx, rest[1]); err != nil {
			return f.fail(noSession(err, rest[1]))
		}
		if err := a.DeleteSession(ctx, rest[1]); err != nil {
			return f.fail(err)
		}
		say(e.stderr, "deleted session %s", rest[1])
		return headless.ExitAnswered
	case len(rest) > 0:
		return f.fail(misuse("sessions takes nothing, or: delete ID"))
	case *limit < 1:
		return f.fail(misuse("--limit %d: want 1 or more", *limit))
	}
	filter := history.Filter{Cwd: cwd, Limit: *limit}
	if *all {
		filter.Cwd = ""
	}
	list, _, err := db.Sessions(ctx, filter)
	if err != nil {
		return f.fail(err)
	}
	stored := make([]agent.Stored, 0, len(list))
	for _, s := range list {
		stored = append(stored, app.ToStored(s))
	}
	if err := headless.Sessions(stored, f.streams()); err != nil {
		return f.fail(err)
	}
	return headless.ExitAnswered
}

func noSession(err error, id string) error {
	if errors.Is(err, history.ErrNotFound) {
		return misuse("there is no session %q; tote sessions --all lists them", id)
	}
	return err
}

const receiptsHelp = `Says what was done with every block of a session: all that changed, or with
--request N the full list of one request. Without ID it is the newest session
of this folder.`

func cmdReceipts(ctx context.Context, e environment, args []string) int {
	f := newFlags(e, "receipts", "[ID]", receiptsHelp).withJSON()
	request := f.Int("request", 0, "the full list of request `N` of the session")
	rest, code, done := f.parse(args)
	if done {
		return code
	}
	if len(rest) > 1 || *request < 0 {
		return f.fail(misuse("receipts takes one session id, and --request from 1"))
	}
	a, cwd, err := f.open()
	if err != nil {
		return f.fail(err)
	}
	defer closeApp(a, e)
	db, err := a.History(ctx)
	if err != nil {
		return f.fail(err)
	}
	var s history.Session
	if len(rest) == 1 {
		s, err = db.Session(ctx, rest[0])
	} else if s, err = db.Latest(ctx, cwd); errors.Is(err, history.ErrNotFound) {
		err = misuse("there is no session in %s; tote sessions --all lists them", cwd)
	}
	if err != nil {
		return f.fail(noSession(err, first(rest)))
	}
	list, err := db.Receipts(ctx, s.ID, history.Query{Request: *request})
	if errors.Is(err, history.ErrNotFound) {
		return f.fail(misuse("session %s has no request %d", s.ID, *request))
	}
	if err != nil {
		return f.fail(err)
	}
	sent := make([]headless.Sent, 0, len(list))
	for _, r := range list {
		sent = append(sent, headless.Sent{Request: r.Request, Attempt: r.Attempt, Receipt: r.Receipt})
	}
	if err := headless.PrintReceipts(sent, f.streams()); err != nil {
		return f.fail(err)
	}
	return headless.ExitAnswered
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
