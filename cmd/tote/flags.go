package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"tote/internal/app"
	"tote/internal/config"
	"tote/internal/front/headless"
)

// flags are the flags of one command. Flags may stand before and behind the
// other arguments.
type flags struct {
	*flag.FlagSet
	e environment
	// common to every command
	home, file, cwd string
	json            bool
	// common to those that choose a model
	agent, model, mode string
	// dirs are the folders of --add-dir.
	dirs list
	// help prints the help text.
	help func()
}

func newFlags(e environment, name, args, help string) *flags {
	f := &flags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), e: e}
	f.SetOutput(io.Discard)
	f.StringVar(&f.home, "home", "", "`folder` for everything tote keeps; absolute (TOTE_HOME)")
	f.StringVar(&f.file, "config", "", "configuration `file` (TOTE_CONFIG)")
	f.StringVar(&f.cwd, "cwd", "", "working `folder`")
	f.Usage = func() {} // parse shows the help, and only where it was asked for
	f.help = func() {
		say(e.stdout, "%s\n\n%s\n\nFlags:", strings.TrimSpace("Usage: tote "+name+" [FLAGS] "+args), help)
		f.VisitAll(func(x *flag.Flag) { say(e.stdout, "%s", describe(x)) })
	}
	return f
}

// describe is one line of help: a name with the dashes that it is written with,
// what it takes, and what it means.
func describe(x *flag.Flag) string {
	takes, usage := flag.UnquoteUsage(x)
	name := "--" + x.Name
	if len(x.Name) == 1 {
		name = "-" + x.Name
	}
	if takes != "" {
		name += " " + strings.ToUpper(takes)
	}
	if x.DefValue != "" && x.DefValue != "false" && x.DefValue != "0" && x.DefValue != "0s" {
		usage += " (default " + x.DefValue + ")"
	}
	return fmt.Sprintf("  %-24s %s", name, usage)
}

func (f *flags) withJSON() *flags {
	f.BoolVar(&f.json, "json", false, "print JSON, one object a line")
	return f
}

func (f *flags) withModel() *flags {
	f.StringVar(&f.agent, "agent", "", "`name` of an agent of the configuration")
	f.StringVar(&f.model, "model", "", "`provider/model`, split at the first slash")
	return f
}

// withPowers adds the flags for what may be done without asking.
func (f *flags) withPowers() *flags {
	f.Var(&f.dirs, "add-dir", "a further `folder` that tools may work in; may be repeated")
	f.StringVar(&f.mode, "mode", "", "permission `mode`: ask, edits, plan or full")
	return f
}

// folders are those of --add-dir, nil for none given.
func (f *flags) folders() ([]string, error) {
	var out []string
	for _, d := range f.dirs {
		abs, err := filepath.Abs(d)
		if err != nil {
			return nil, fmt.Errorf("find --add-dir %s: %w", d, err)
		}
		if info, err := os.Stat(abs); err != nil || !info.IsDir() {
			return nil, misuse("--add-dir %s is not a folder", d)
		}
		out = append(out, abs)
	}
	return out, nil
}

// parse reads flags and arguments in any order; what follows "--" is arguments.
// done says that there is nothing more to do, with the exit code.
func (f *flags) parse(args []string) (rest []string, code int, done bool) {
	for {
		err := f.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			f.help()
			return nil, headless.ExitAnswered, true
		}
		if err != nil {
			say(f.e.stderr, "tote %s: %v; try: tote %s --help", f.Name(), err, f.Name())
			return nil, headless.ExitUsage, true
		}
		left := f.Args()
		if n := len(args) - len(left); n > 0 && args[n-1] == "--" {
			return append(rest, left...), 0, false
		}
		if len(left) == 0 {
			return rest, 0, false
		}
		rest, args = append(rest, left[0]), left[1:]
	}
}

// list is a flag that may be given more than once. It is never split.
type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// open finds the home and the working folder.
func (f *flags) open() (*app.App, string, error) {
	cwd := f.cwd
	if cwd == "" {
		wd, err := os.Getwd()
		if err != nil {
			return nil, "", fmt.Errorf("find the working folder: %w", err)
		}
		cwd = wd
	}
	cwd, err := filepath.Abs(cwd)
	if err != nil {
		return nil, "", fmt.Errorf("find the working folder: %w", err)
	}
	if info, err := os.Stat(cwd); err != nil || !info.IsDir() {
		return nil, "", misuse("--cwd %s is not a folder", cwd)
	}
	over := config.Overlay{Agent: f.agent, Model: f.model, Mode: f.mode}
	if f.Name() == "acp" { // a turn gives them to its session
		if over.Dirs, err = f.folders(); err != nil {
			return nil, "", err
		}
	}
	a, err := app.Open(app.Options{
		Config: f.configOptions(""), Overlay: over, Version: version, Now: f.e.now,
	})
	return a, cwd, err
}

// fail shows an error that is no turn's and returns its exit code: what the user
// wrote wrong is usage. A reader that closed its pipe is told nothing.
func (f *flags) fail(err error) int {
	if errors.Is(err, syscall.EPIPE) {
		return headless.ExitFailed
	}
	p, code := headless.Explain(err), headless.ExitFailed
	var wrong *app.ConfigError
	switch {
	case errors.Is(err, config.ErrUsage):
		p.Kind, code = "usage", headless.ExitUsage
	case errors.As(err, &wrong):
		p.Kind, code = "config", headless.ExitUsage
	}
	if f.json {
		headless.PutProblem(f.e.stdout, p)
		if f.Name() == "run" {
			headless.PutDone(f.e.stdout)
		}
	}
	say(f.e.stderr, "tote %s: %s", f.Name(), p.Message)
	if p.Hint != "" {
		say(f.e.stderr, "  %s", p.Hint)
	}
	return code
}

// configOptions say where the configuration of a working folder is.
func (f *flags) configOptions(cwd string) config.Options {
	home, _ := os.UserHomeDir() // without one, TOTE_HOME or --home has to be given
	return config.Options{Home: f.home, ConfigFile: f.file, Env: f.e.env, OS: runtime.GOOS, UserHome: home, CWD: cwd}
}

// load reads the configuration of a working folder.
func (f *flags) load(cwd string) (config.Loaded, error) {
	l, err := config.Load(f.configOptions(cwd))
	if err != nil {
		return l, &app.ConfigError{Err: err}
	}
	return l, nil
}

// rawJSON puts a JSON document into another as it is.
func rawJSON(doc []byte) json.RawMessage { return doc }

// misuse is an error in what was asked for; it wraps config.ErrUsage without
// saying so.
func misuse(format string, args ...any) error { return &misuseError{fmt.Sprintf(format, args...)} }

type misuseError struct{ text string }

func (e *misuseError) Error() string        { return e.text }
func (e *misuseError) Is(target error) bool { return target == config.ErrUsage }
