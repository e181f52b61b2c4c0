package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tote/internal/delivery"
	"tote/internal/provider"
)

// The runners.
const (
	Claude = "claude"
	Codex  = "codex"
	Gemini = "gemini"
	Custom = "custom"
)

// Path is the path of a runner in profiles: "cli-claude" and so on.
func Path(runner string) string { return "cli-" + runner }

// Mode is what a program may do without asking.
type Mode string

// The modes. A template finds them as "{mode}".
const (
	ModePlan  Mode = "plan"  // read only
	ModeAsk   Mode = "ask"   // what needs no permission
	ModeEdits Mode = "edits" // change files in the working folder
	ModeFull  Mode = "full"  // anything
)

// DefaultGrace is how long a process may take to end after it was asked to, and
// how long a stream may stay open behind a process that has ended.
const DefaultGrace = 3 * time.Second

// Options is how a runner is started. Runner and Scratch are required, and
// Command for the runner custom.
type Options struct {
	// Runner is one of Claude, Codex, Gemini and Custom.
	Runner string
	// Command takes the place of the usual program: its path or name, and its
	// first arguments. For custom it is the whole command, with placeholders.
	// "{prompt}", "{prompt_file}", "{cwd}", "{model}" and "{mode}" stand for their values
	// inside any argument. An argument with "{image}" is given once for each
	// file. An argument in square brackets is a group of arguments, parted by
	// spaces, that is given once for each file: "[-i {image}]". "{images}"
	// stands for all paths, parted by commas; an argument with it is left out
	// where there are no files. The prompt goes to the standard input unless
	// {prompt} or {prompt_file} takes it.
	Command []string
	// Model is given to the program as its model, "" for its own choice.
	Model string
	// Mode is what the program may do without asking, "" for its own choice.
	// Nobody can be asked: what it would ask for, it does not do.
	Mode Mode
	// Dir is the working folder, "" for that of this program.
	Dir string
	// Scratch is a folder of ours; files are staged below Scratch/runners.
	Scratch string
	// Env is the environment of the program, nil for that of this program.
	Env []string
	// NewID makes a name for a folder that nobody can guess: letters, digits
	// and "-" only. Nil makes one of 128 random bits.
	NewID func() string
	// LookPath finds a program, nil for [exec.LookPath].
	LookPath func(name string) (string, error)
	// Grace bounds how long a process may take to end, 0 for DefaultGrace.
	Grace time.Duration
}

// Runner is a command-line agent. Its methods may be called from several
// goroutines.
type Runner struct {
	o    Options
	spec *spec

	mu      sync.Mutex
	version string // "" until it is known
}

var _ provider.Provider = (*Runner)(nil)

// spec is what differs between the runners.
type spec struct {
	runner string
	// program is what is started without a Command, install how the user gets
	// it, login what the user does when it is not signed in.
	program, install, login string
	// media maps the media types that the program takes to file extensions; nil
	// takes any.
	media map[string]string
	// maxBytes and maxRunes bound the standard input, 0 for no bound.
	maxBytes, maxRunes int64
	// blocks: the conversation is a line of JSON with base64 in it.
	blocks bool
	// escape changes prose so that the program takes it for prose.
	escape func(string) string
	// note is said about that at the start of the prompt.
	note string
	// reference is what stands for a file in the prompt.
	reference func(n int, path string) string
	// modes are the arguments that stand for a mode.
	modes map[Mode][]string
	// argv makes the arguments behind the command.
	argv func(l *launch) []string
	// reader makes what reads the standard output line by line.
	reader func(c *collector) lineReader
}

func specs() []*spec {
	return []*spec{claudeSpec(), codexSpec(), geminiSpec(), customSpec()}
}

func specOf(runner string) (*spec, bool) {
	all := specs()
	i := slices.IndexFunc(all, func(s *spec) bool { return s.runner == runner })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}

// New makes a runner. It starts and looks for nothing yet.
func New(o Options) (*Runner, error) {
	s, ok := specOf(o.Runner)
	if !ok {
		return nil, fmt.Errorf("make a runner: there is none called %q", o.Runner)
	}
	if o.Runner == Custom && len(o.Command) == 0 {
		return nil, errors.New("make a runner: custom needs a command")
	}
	if len(o.Command) > 0 && o.Command[0] == "" {
		return nil, errors.New("make a runner: its command has an empty program")
	}
	if o.Scratch == "" {
		return nil, errors.New("make a runner: no scratch folder for its files")
	}
	var err error
	if o.Scratch, err = filepath.Abs(o.Scratch); err != nil {
		return nil, fmt.Errorf("make a runner: %w", err)
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, fmt.Errorf("make a runner: %w", err)
	}
	if o.NewID == nil {
		o.NewID = randomID
	}
	if o.LookPath == nil {
		o.LookPath = exec.LookPath
	}
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	return &Runner{o: o, spec: s}, nil
}

func randomID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails, see crypto/rand
	return hex.EncodeToString(b[:])
}

// command is the program and its first arguments.
func (r *Runner) command() []string {
	if len(r.o.Command) > 0 {
		return r.o.Command
	}
	return []string{r.spec.program}
}

// Missing says that the program is not installed, and how to get it, "" where it
// is there. It starts nothing.
func (r *Runner) Missing(ctx context.Context) string {
	_, err := r.find(ctx)
	var e *provider.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e) && e.Err != nil:
		return e.Err.Error() + "; " + e.Hint
	}
	return err.Error()
}

// obtain says how the program comes to be there. A command of the user's own may
// name another one.
func (r *Runner) obtain() string {
	if r.spec.runner == Custom || len(r.o.Command) == 0 {
		return r.spec.install
	}
	return "check the command of the runner, or " + r.spec.install
}

// find looks for the program.
func (r *Runner) find(ctx context.Context) (string, error) {
	if ctx.Err() != nil {
		return "", cancelled(ctx)
	}
	name := r.command()[0]
	path, err := r.o.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) && strings.ContainsAny(name, `/\`) {
		return path, nil
	}
	return "", &provider.Error{
		Failure: delivery.Failure{Kind: delivery.FailNetwork}, Hint: r.obtain(), Local: true,
		Err: fmt.Errorf("find the program of the runner %s: %w", r.spec.runner, err),
	}
}

// launch is what one start of the program is made of.
type launch struct {
	model, dir string
	mode       Mode
	// modeArgs are the arguments that stand for mode.
	modeArgs []string
	effort   provider.Effort
	// files are the staged files in order, folder is where they lie, "" for
	// none.
	files  []string
	folder string
	// prompt and promptFile are for templates; promptFile is "" for none.
	command    []string
	prompt     string
	promptFile string
}
