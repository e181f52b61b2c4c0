package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"tote/internal/agent"
	"tote/internal/app"
	"tote/internal/content"
	"tote/internal/front/headless"
	"tote/internal/history"
	"tote/internal/ingest"
)

const runHelp = `Runs one turn: PROMPT and the attached files go to the model, the answer is
printed. Standard input is read only for "-" (the prompt) or "-a -" (an
attachment). @path in the prompt attaches that file.

Exit codes: 0 answered; 1 the turn failed; 2 usage or configuration; 3 something
was not delivered whole and --strict was given; 130 interrupted; 143 terminated.`

func cmdRun(ctx context.Context, e environment, args []string) int {
	f := newFlags(e, "run", "[PROMPT | -]", runHelp).withJSON().withModel()
	var files list
	f.Var(&files, "a", "attach a `file`; may be repeated; \"-\" is standard input")
	session := f.String("session", "", "continue the session with this `id`")
	cont := f.Bool("continue", false, "continue the newest session of this folder")
	strict := f.Bool("strict", false, "do not answer with less than was handed over")
	timeout := f.Duration("timeout", 0, "give up after this `time`: 90s, 5m")
	f.StringVar(&f.mode, "mode", "", "permission `mode`: ask, edits, plan or full")
	rest, code, done := f.parse(args)
	if done {
		return code
	}
	switch {
	case *session != "" && *cont:
		return f.fail(misuse("--session and --continue exclude each other"))
	case *timeout < 0:
		return f.fail(misuse("--timeout %s: want a time above 0", *timeout))
	}
	a, cwd, err := f.open()
	if err != nil {
		return f.fail(err)
	}
	sources, usedStdin, err := f.sources(cwd, "-a ", rest, files)
	if err != nil {
		return f.fail(err)
	}
	defer closeApp(a, e)
	ws, err := a.Workspace(ctx, cwd)
	if err != nil {
		return f.fail(err)
	}
	if limit := time.Duration(ws.Loaded().Config.Limits.TurnTimeout); *timeout == 0 {
		*timeout = limit
	}
	if *timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, *timeout, fmt.Errorf("the time limit of %s is over", *timeout))
		defer cancel()
	}
	s, release, err := openSession(ctx, a, ws, f, cwd, *session, *cont)
	if err != nil {
		return f.fail(err)
	}
	defer release()
	streams := headless.Streams{Out: e.stdout, Err: e.stderr, Live: e.outTerminal}
	if f.json {
		streams.Format = headless.JSON
	}
	if e.inTerminal && !usedStdin {
		streams.Terminal = e.stdin
	}
	return headless.Run(ctx, headless.Turn{Session: s, Sources: sources, Strict: *strict, Notices: ws.Notices()}, streams)
}

func closeApp(a *app.App, e environment) {
	if err := a.Close(); err != nil {
		say(e.stderr, "tote: %v", err)
	}
}

// openSession continues a session or starts one. Until release is called, other
// processes that want the same session wait.
func openSession(ctx context.Context, a *app.App, ws *app.Workspace, f *flags, cwd, id string, newest bool) (s *agent.Session, release func(), err error) {
	name, err := ws.DefaultAgent()
	if err != nil {
		return nil, nil, err
	}
	if newest || id != "" {
		if id, err = findSession(ctx, a, cwd, id); err != nil {
			return nil, nil, err
		}
	}
	fresh := id == ""
	if fresh {
		if s, err = ws.Agent().Create(ctx, name, cwd, nil); err != nil {
			return nil, nil, err
		}
		id = s.ID()
	}
	release, err = a.LockSession(ctx, id, func() { say(f.e.stderr, "waiting for another tote that works in session %s", id) })
	if err != nil || fresh {
		return s, release, err
	}
	chosen := ""
	if f.agent != "" || f.model != "" {
		chosen = name
	}
	if s, err = ws.Agent().Open(ctx, id, chosen, cwd, nil); err != nil {
		release()
		return nil, nil, noSession(err, id)
	}
	return s, release, nil
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

// maxStdin bounds what is read from standard input; an attachment over the
// limit is told so by the inlet, which needs one byte more to see it.
const maxStdin = ingest.DefaultLimit + 1

// sources turns the command line into what is handed over, files first. A file
// that is missing is the user's mistake: nothing is sent.
func (f *flags) sources(cwd, spelt string, rest, files []string) (out []content.Source, usedStdin bool, err error) {
	stdin := func(what string) ([]byte, error) {
		if usedStdin {
			return nil, misuse("standard input can be read once, for the prompt or for one attachment")
		}
		usedStdin = true
		b, err := io.ReadAll(io.LimitReader(f.e.stdin, maxStdin))
		if err != nil {
			return nil, fmt.Errorf("read %s from standard input: %w", what, err)
		}
		return b, nil
	}
	for _, name := range files {
		if name == "-" {
			b, err := stdin("an attachment")
			if err != nil {
				return nil, usedStdin, err
			}
			out = append(out, content.Source{Payload: content.Bytes{Data: b}, Inlet: content.InletStdin, Chooser: content.ChosenByUser})
			continue
		}
		if err := readable(cwd, spelt, name); err != nil {
			return nil, usedStdin, err
		}
		out = append(out, content.Source{Payload: content.Path{Path: name}, Inlet: content.InletFlag, Chooser: content.ChosenByUser})
	}
	text := strings.Join(rest, " ")
	if len(rest) == 1 && rest[0] == "-" {
		b, err := stdin("the prompt")
		if err != nil {
			return nil, usedStdin, err
		}
		if len(b) == maxStdin {
			return nil, usedStdin, misuse("the prompt on standard input is over %s; attach it with -a -", headless.Size(ingest.DefaultLimit))
		}
		if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
			return nil, usedStdin, misuse("the prompt on standard input is not text; attach it with -a -")
		}
		text = string(b)
	}
	if text != "" {
		out = append(out, content.Source{
			Payload: content.Prose{Text: text}, Inlet: content.InletPrompt, Chooser: content.ChosenByUser, As: content.KindText,
		})
	}
	if len(out) == 0 {
		return nil, usedStdin, misuse("nothing to send: give a prompt, \"-\", or -a FILE")
	}
	return out, usedStdin, nil
}

// readable checks that a file of the command line is there and can be read, in
// any spelling that the inlet resolves. A pipe or a device is no file: reading
// one may wait for ever, which only "-" asks for.
func readable(cwd, spelt, name string) error {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		found, ok := app.Find(cwd, name)
		switch {
		case ok:
			path = found
		case errors.Is(err, os.ErrPermission):
			return misuse("%s%s: permission denied", spelt, name)
		default:
			return misuse("%s%s: there is no such file", spelt, name)
		}
		if info, err = os.Stat(path); err != nil {
			return misuse("%s%s: it cannot be read", spelt, name)
		}
	}
	switch {
	case info.IsDir():
		return misuse("%s%s: it is a folder", spelt, name)
	case !info.Mode().IsRegular():
		return misuse("%s%s: it is not a regular file; \"%s-\" attaches standard input", spelt, name, spelt)
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrPermission) {
		return misuse("%s%s: permission denied", spelt, name)
	}
	if err != nil {
		return misuse("%s%s: it cannot be read", spelt, name)
	}
	return f.Close()
}
