package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tote/internal/agent"
	"tote/internal/app"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/front/headless"
	"tote/internal/history"
	"tote/internal/imaging"
	"tote/internal/permission"
)

const runHelp = `Runs one turn: PROMPT and the attached files go to the model, the answer is
printed. Standard input is read only for "-" (the prompt) or "-a -" (an
attachment). @path in the prompt attaches that file.

A PROMPT that begins with /command is carried out by tote itself: tote run /help
lists the commands, tote run --continue /context or /undo is about the newest
session, tote run "/job PROMPT" works in the background and waits for its report.

Exit codes: 0 answered; 1 the turn failed; 2 usage or configuration; 3 something
was not delivered whole and --strict was given; 130 interrupted; 143 terminated.`

// runFlags are the flags of one turn.
type runFlags struct {
	*flags
	files          list
	session        string
	newest         bool
	strict, sample bool
	timeout        time.Duration
	rest           []string
	sources        []content.Source
	usedStdin      bool
}

func newRunFlags(e environment) *runFlags {
	f := &runFlags{flags: newFlags(e, "run", "[PROMPT | -]", runHelp).withJSON().withModel().withPowers()}
	f.Var(&f.files, "a", "attach a `file`; may be repeated; \"-\" is standard input")
	f.BoolVar(&f.sample, "sample", false, "attach a picture that the program draws itself")
	f.StringVar(&f.session, "session", "", "continue the session with this `id`")
	f.BoolVar(&f.newest, "continue", false, "continue the newest session of this folder")
	f.BoolVar(&f.strict, "strict", false, "do not answer with less than was handed over")
	f.DurationVar(&f.timeout, "timeout", 0, "give up after this `time`: 90s, 5m")
	return f
}

func cmdRun(ctx context.Context, e environment, args []string) int {
	f := newRunFlags(e)
	rest, code, done := f.parse(args)
	if done {
		return code
	}
	switch {
	case f.session != "" && f.newest:
		return f.fail(misuse("--session and --continue exclude each other"))
	case f.timeout < 0:
		return f.fail(misuse("--timeout %s: want a time above 0", f.timeout))
	}
	a, cwd, err := f.open()
	if err != nil {
		return f.fail(err)
	}
	f.rest = rest
	if err := f.read(cwd); err != nil {
		return f.fail(err)
	}
	defer closeApp(a, e)
	code, err = f.turn(ctx, a, cwd)
	if err != nil {
		return f.fail(err)
	}
	return code
}

// read reads what is handed over. Nothing of the home is touched before.
func (f *runFlags) read(cwd string) error {
	in := input{f: f.flags, cwd: cwd, spelt: "-a "}
	if f.sample {
		png, err := imaging.Sample()
		if err != nil {
			return fmt.Errorf("draw the sample: %w", err)
		}
		f.sources = append(f.sources, content.Source{
			Payload: content.Bytes{Data: png}, Inlet: content.InletFlag, Chooser: content.ChosenByUser, Name: "sample.png",
		})
	}
	if err := in.attach(f.files...); err != nil {
		return err
	}
	if err := in.prompt(f.rest); err != nil {
		return err
	}
	f.sources, f.usedStdin = append(f.sources, in.out...), in.used
	if len(f.sources) == 0 {
		return misuse("nothing to send: give a prompt, \"-\", or -a FILE")
	}
	return nil
}

// turn runs the turn and returns its exit code. An error is one from before the
// turn, and has not been shown.
func (f *runFlags) turn(ctx context.Context, a *app.App, cwd string) (int, error) {
	ws, err := a.Workspace(ctx, cwd)
	if err != nil {
		return 0, err
	}
	if limit := time.Duration(ws.Loaded().Config.Limits.TurnTimeout); f.timeout == 0 {
		f.timeout = limit
	}
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("the time limit of %s is over", f.timeout))
		defer cancel()
	}
	s, err := f.openSession(ctx, a, ws, cwd)
	if err != nil {
		return 0, err
	}
	if !f.continues() {
		defer f.dropUnused(ctx, a, s.ID())
	}
	streams := f.streams()
	if f.e.inTerminal && !f.usedStdin {
		streams.Terminal = f.e.stdin
	}
	return headless.Run(ctx, headless.Turn{Session: s, Sources: f.sources, Strict: f.strict, Notices: append(ws.Notices(), f.modeNotice(s)...), World: world(ws, s)}, streams), nil
}

func closeApp(a *app.App, e environment) {
	if err := a.Close(); err != nil {
		say(e.stderr, "tote: %v", err)
	}
}

// openSession continues a session or starts one.
func (f *runFlags) openSession(ctx context.Context, a *app.App, ws *app.Workspace, cwd string) (*agent.Session, error) {
	name, err := ws.DefaultAgent()
	if err != nil {
		return nil, err
	}
	dirs, err := f.folders()
	if err != nil {
		return nil, err
	}
	if !f.continues() {
		return ws.Agent().Create(ctx, name, cwd, dirs)
	}
	id, err := findSession(ctx, a, cwd, f.session)
	if err != nil {
		return nil, err
	}
	chosen := ""
	if f.agent != "" || f.model != "" {
		chosen = name
	}
	s, err := ws.Agent().Open(ctx, id, chosen, cwd, dirs)
	if err != nil {
		return nil, noSession(err, id)
	}
	if m, err := permission.ParseMode(f.mode); err == nil && f.mode != "" {
		s.SetMode(m) // the flag beats what was chosen in the session
	}
	return s, nil
}

// continues reports whether an older session is gone on with.
func (f *runFlags) continues() bool { return f.newest || f.session != "" }

// modeNotice tells of a mode that was chosen in an earlier turn.
func (f *runFlags) modeNotice(s *agent.Session) []delivery.Notice {
	chosen := s.Stored().Mode
	if chosen == "" || f.mode != "" || !f.continues() {
		return nil
	}
	return []delivery.Notice{{
		Severity: delivery.SeverityInfo, Title: "this session is in mode " + chosen, Detail: "it was chosen with /mode; --mode beats it",
	}}
}

// dropUnused removes a new session in which nothing was done but to ask for help.
func (f *runFlags) dropUnused(ctx context.Context, a *app.App, id string) {
	db, err := a.History(ctx)
	if err == nil {
		err = db.DropUnused(context.WithoutCancel(ctx), id)
	}
	if err != nil {
		say(f.e.stderr, "tote: %v", err)
	}
}

// findSession checks that a session is there; without an id it is the newest of
// the folder.
func findSession(ctx context.Context, a *app.App, cwd, id string) (string, error) {
	db, err := a.History(ctx)
	if err != nil {
		return "", err
	}
	if id != "" {
		_, err := db.Session(ctx, id)
		return id, noSession(err, id)
	}
	s, err := db.Latest(ctx, cwd)
	if errors.Is(err, history.ErrNotFound) {
		return "", misuse("there is no session in %s to continue", cwd)
	}
	return s.ID, err
}
