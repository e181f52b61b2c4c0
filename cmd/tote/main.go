package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"tote/internal/front/headless"
	"tote/internal/spell"
	"tote/internal/tool/shell"
)

// version is set by the linker for releases.
var version = "0.1.0-dev"

func main() {
	if len(os.Args) > 1 && os.Args[1] == shell.SandboxArg {
		os.Exit(shell.SandboxMain(os.Args[2:]))
	}
	// Where it is refused, commands can still read what the system lets them.
	_ = shell.Shield()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// environment is what a command may touch of the process.
type environment struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) string
	// inTerminal and outTerminal: a person reads and writes there.
	inTerminal, outTerminal bool
	now                     func() time.Time
}

// run is the program without the process.
func run(args []string, stdin *os.File, stdout, stderr *os.File) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM) // until the process ends
	// Caught, so that a pipe whose reader left is an error of the write, and the
	// turn is recorded before the program ends.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	var caught atomic.Int32
	// It ends with the process; a second signal ends that at once.
	go func() {
		for s := range signals {
			code := int32(headless.ExitInterrupted)
			if s == syscall.SIGTERM {
				code = headless.ExitTerminated
			}
			if caught.Swap(code) != 0 {
				os.Exit(int(code))
			}
			cancel()
		}
	}()
	e := environment{
		stdin: stdin, stdout: stdout, stderr: stderr, env: os.Getenv, now: time.Now,
		inTerminal: isTerminal(stdin), outTerminal: isTerminal(stdout),
	}
	code := dispatch(ctx, e, args)
	if c := caught.Load(); c != 0 {
		return int(c)
	}
	return code
}

// isTerminal reports whether f is a character device, which is as near as the
// standard library gets; a null device is no terminal.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// command is one word of the command line.
type command struct {
	name, short string
	run         func(ctx context.Context, e environment, args []string) int
}

// commands lists all of them, in the order of the help text.
func commands() []command {
	return []command{
		{"run", "run one turn and print the answer", cmdRun},
		{"acp", "serve an editor on standard input and output", cmdACP},
		{"attach", "say what would happen to files, without sending anything", cmdAttach},
		{"models", "list the agents and what is known about them", cmdModels},
		{"probe", "ask a model whether it sees pictures, and remember the answer", cmdProbe},
		{"sessions", "list sessions", cmdSessions},
		{"receipts", "say what was sent in a session", cmdReceipts},
		{"store", "look after the stored attachments", cmdStore},
		{"forget", "remove the bytes of an attachment for good", cmdForget},
		{"mcp", "say how the MCP servers are, log in to one", cmdMCP},
		{"permissions", "list what was allowed for good, take it back", cmdPermissions},
		{"trust", "trust, list or distrust project folders", cmdTrust},
		{"auth", "keep keys, or log in to Copilot", cmdAuth},
		{"config", "show the configuration and where it comes from", cmdConfig},
		{"version", "print the version", cmdVersion},
	}
}

func dispatch(ctx context.Context, e environment, args []string) int {
	if len(args) == 0 {
		usage(e.stderr)
		return headless.ExitUsage
	}
	switch args[0] {
	case "-h", "--help", "help":
		if len(args) > 1 && args[0] == "help" {
			return dispatch(ctx, e, []string{args[1], "--help"})
		}
		usage(e.stdout)
		return headless.ExitAnswered
	case "--version":
		return cmdVersion(ctx, e, nil)
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, e, args[1:])
		}
	}
	say(e.stderr, "tote: %s", unknown(args))
	return headless.ExitUsage
}

// unknown says what to do in the place of a command that there is not.
func unknown(args []string) string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	if strings.HasPrefix(args[0], "-") {
		for i, a := range args {
			if slices.Contains(names, a) {
				return fmt.Sprintf("flags come after the command: tote %s", strings.Join(slices.Concat(args[i:i+1], args[:i], args[i+1:]), " "))
			}
		}
		return fmt.Sprintf("%q is no command, and flags come after one; try: tote help", args[0])
	}
	if near := spell.Nearest(args[0], names); near != "" {
		return fmt.Sprintf("there is no command %q; did you mean %s? Try: tote help", args[0], near)
	}
	return fmt.Sprintf("there is no command %q; try: tote help (tote run %q hands it to a model)", args[0], strings.Join(args, " "))
}

func usage(w io.Writer) {
	say(w, "tote is a coding agent. What you hand it arrives at the model, or you are told what happened to it.\n\nUsage: tote COMMAND [FLAGS]\n\nCommands:")
	for _, c := range commands() {
		say(w, "  %-11s %s", c.name, c.short)
	}
	say(w, "\nEvery command takes --help. The first run needs no configuration:\n  tote run -a picture.png \"what is in this picture?\"\nis answered by the built-in offline stand-in, which is no language model and says so.")
}

// say writes lines for people: nothing in them can drive a terminal. A reader
// that is gone cannot be told so.
func say(w io.Writer, format string, args ...any) {
	_, _ = io.WriteString(w, headless.Clean(fmt.Sprintf(format, args...))+"\n")
}

type jsonVersion struct {
	Type    string `json:"type"`
	Version string `json:"version"`
}

func cmdVersion(_ context.Context, e environment, args []string) int {
	f := newFlags(e, "version", "", "Prints the version.").withJSON()
	rest, code, done := f.parse(args)
	switch {
	case done:
		return code
	case len(rest) > 0:
		return f.fail(misuse("version takes no arguments"))
	case !f.json:
		say(e.stdout, "tote %s", version)
		return headless.ExitAnswered
	}
	if err := headless.PutJSON(e.stdout, jsonVersion{"version", version}); err != nil {
		return f.fail(err)
	}
	return headless.ExitAnswered
}
