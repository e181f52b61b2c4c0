package search

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// maxNames bounds what a program may print, in bytes.
	maxNames = 64 << 20
	// maxComplaint is how much of its complaints is read.
	maxComplaint = 4096
	// killDelay is how long a killed program may hold its pipes.
	killDelay = time.Second
)

// A narrower says which files are worth opening: all that match, and maybe more.
// An error means that it cannot tell; then the next one is asked.
type narrower interface {
	narrow(ctx context.Context, files []file) ([]bool, error)
	// batch is how many of the files go into one call, at least 1.
	batch(files []file) int
}

// perBatch is how many files are searched before it is looked whether that is
// enough.
const perBatch = 512

// ripgrep hands over the files of the walk by their names.
type ripgrep struct {
	program, dir string
	p            *pattern
}

func (r *ripgrep) batch(files []file) int {
	bytes := 0
	for i, f := range files {
		if bytes += len(f.rel) + 8; bytes > maxArguments && i > 0 {
			return i
		}
	}
	return len(files)
}

func (r *ripgrep) narrow(ctx context.Context, files []file) ([]bool, error) {
	args := []string{
		"--no-config", "--files-with-matches", "--null", "--text", "--encoding=none", "--no-ignore", "--hidden",
		"--no-pre", "--no-search-zip", "--no-multiline", "--no-crlf", "--no-follow", "--no-mmap", "--color=never", "--sort=none", "--engine=default",
	}
	if len(r.p.needs) > 0 {
		args = append(args, "--fixed-strings", caseFlag(r.p))
		for _, text := range r.p.needs {
			args = append(args, "--regexp="+string(text))
		}
	} else {
		args = append(args, "--case-sensitive", "--regexp="+r.p.wide)
	}
	args = append(args, "--")
	for _, f := range files {
		if utf8.ValidString(f.rel) {
			args = append(args, "./"+f.rel)
		}
	}
	found := map[string]bool{}
	err := run(ctx, r.program, r.dir, args, func(name string) {
		found[strings.TrimPrefix(filepath.ToSlash(name), "./")] = true
	})
	if err != nil {
		return nil, err
	}
	want := make([]bool, len(files))
	for i, f := range files {
		want[i] = found[f.rel] || !utf8.ValidString(f.rel)
	}
	return want, nil
}

func caseFlag(p *pattern) string {
	if p.fold {
		return "--ignore-case"
	}
	return "--case-sensitive"
}

// gitGrep searches the repository around the start once, and answers from that.
type gitGrep struct {
	program string
	s       *scope
	p       *pattern
	found   map[string]bool
}

func (g *gitGrep) batch(files []file) int { return min(len(files), perBatch) }

func (g *gitGrep) narrow(ctx context.Context, files []file) ([]bool, error) {
	if g.found == nil {
		found := map[string]bool{}
		if err := run(ctx, g.program, g.s.repo, g.args(), func(name string) { found[name] = true }); err != nil {
			return nil, err
		}
		g.found = found
	}
	want := make([]bool, len(files))
	for i, f := range files {
		// git does not look into repositories inside this one.
		want[i] = g.found[joinRel(g.s.top, f.rel)] || f.nested || !utf8.ValidString(f.rel)
	}
	return want, nil
}

// args leave nothing to a configuration: it may lie in the repository.
func (g *gitGrep) args() []string {
	args := []string{
		"--no-pager", "--literal-pathspecs", "--no-replace-objects", "--work-tree=" + g.s.repo,
		"-c", "core.excludesFile=", "-c", "core.ignoreCase=false", "-c", "core.fsmonitor=false", "-c", "core.precomposeUnicode=false",
		"grep", "--untracked", "--exclude-standard", "--no-recurse-submodules", "--no-textconv", "--no-color", "--text",
		"--files-with-matches", "--null", "--fixed-strings",
	}
	if g.p.fold {
		args = append(args, "--ignore-case")
	}
	for _, text := range g.p.needs {
		args = append(args, "-e", string(text))
	}
	args = append(args, "--")
	if g.s.top != "" {
		args = append(args, g.s.top)
	}
	return args
}

// run starts a program and gives each name that it prints, ended by NUL, to
// each. A program that complains, or ends in another way than having found
// something or nothing, is an error.
func run(ctx context.Context, program, dir string, args []string, each func(string)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(cleanEnv(os.Environ()), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.WaitDelay = killDelay
	ownGroup(cmd)
	var complaint bytes.Buffer
	cmd.Stderr = &limited{to: &complaint, left: maxComplaint}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start %s: %w", filepath.Base(program), err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", filepath.Base(program), err)
	}
	readErr := readNames(out, each)
	if readErr != nil {
		stop()
	}
	err = cmd.Wait()
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil && readErr == nil:
		return ctx.Err()
	case readErr != nil:
		return fmt.Errorf("read what %s prints: %w", filepath.Base(program), readErr)
	case complaint.Len() > 0:
		return fmt.Errorf("run %s: it complained", filepath.Base(program))
	case err != nil && (!exited || exit.ExitCode() != 1):
		return fmt.Errorf("run %s: %w", filepath.Base(program), err)
	}
	return nil
}

func readNames(r io.Reader, each func(string)) error {
	br := bufio.NewReader(&io.LimitedReader{R: r, N: maxNames})
	total := 0
	for {
		name, err := br.ReadString(0)
		total += len(name)
		switch {
		case total >= maxNames:
			return errors.New("it prints too much")
		case errors.Is(err, io.EOF) && name == "":
			return nil
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case err != nil:
			return errors.New("a name has no end")
		}
		each(name[:len(name)-1])
	}
}

// limited keeps the first bytes and drops the rest.
type limited struct {
	to   *bytes.Buffer
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	n := min(len(b), l.left)
	l.left -= n
	l.to.Write(b[:n])
	return len(b), nil
}

// cleanEnv leaves out what points git elsewhere or makes it talk.
func cleanEnv(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(kv), "=")
		return strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "RIPGREP_") || strings.HasPrefix(name, "GREP_") || name == "LC_ALL" || name == "LANGUAGE"
	})
}
