package clitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// childMark makes a test binary the process that a fake leaves behind.
const childMark = mark + "-child"

// versions are what the programs print.
var versions = map[string]string{"claude": "2.1.332 (Claude Code)", "codex": "codex-cli 0.171.0", "gemini": "0.61.0", "custom": "custom 1.0.0"}

// oldVersion is claude's that loses pictures.
const oldVersion = "2.1.59 (Claude Code)"

// play is the program. It returns the exit code.
func play(how, path string, argv []string) int {
	if how == childMark {
		l := hold(path)
		say(os.Stderr, "ready")
		block()
		_ = l.Close() // never reached: the end of the process does it
	}
	s, err := readScript(path)
	if err != nil {
		return fault(err)
	}
	if len(argv) > 0 && argv[len(argv)-1] == "--version" {
		return version(s)
	}
	if code, ended := skim(s); ended {
		return code
	}
	stdin, err := io.ReadAll(os.Stdin)
	if err != nil {
		return fault(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return fault(err)
	}
	c := Call{Runner: s.Runner, Argv: argv, Stdin: stdin, Dir: dir, PID: os.Getpid()}
	lock := filepath.Join(s.Dir, fmt.Sprintf("alive-%d", os.Getpid()))
	l := hold(lock)
	defer func() { _ = l.Close() }() // the end of the process does it too
	c.Locks = append(c.Locks, lock)
	if s.Behaviour == Spawns || s.Behaviour == Family {
		child, err := spawn(s.Dir)
		if err != nil {
			return fault(err)
		}
		c.Locks = append(c.Locks, child)
	}
	words, err := take(&c, s.Behaviour)
	if err != nil {
		return fault(err)
	}
	if err := record(s.Dir, c); err != nil {
		return fault(err)
	}
	if words != "" { // the program refuses its arguments
		say(os.Stderr, words)
		return 1
	}
	return answer(s, c)
}

// skim is for behaviours that do not read the whole prompt.
func skim(s script) (code int, ended bool) {
	switch s.Behaviour {
	case Deaf:
		return 3, true
	case Shuts:
		_ = os.Stdin.Close() // it was not read
	case Sips:
		if _, err := io.ReadFull(os.Stdin, make([]byte, Sip)); err != nil {
			return fault(err), true
		}
	case OK, Old, Notes, Refuses, Works, Retries, Hangs, Stubborn, Lingers, Crashes, Cuts, Floods, Garbage, Spawns, Login, Family:
		return 0, false
	default: // an exit
		return 0, false
	}
	say(stdout(), voices[s.Runner].open...)
	say(stdout(), voices[s.Runner].ok...)
	return 0, true
}

func readScript(path string) (s script, err error) {
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	return s, err
}

func fault(err error) int {
	say(os.Stderr, "clitest: "+err.Error())
	return 99
}

func version(s script) int {
	v := versions[s.Runner]
	if s.Behaviour == Old {
		v = oldVersion
	}
	if s.Behaviour == Garbage {
		v = "who knows"
	}
	if s.Behaviour == Hangs {
		block()
	}
	say(stdout(), v)
	return 0
}

// hold locks a file for as long as the process is there.
func hold(path string) *flock.Flock {
	l := flock.New(path)
	if ok, err := l.TryLock(); err != nil || !ok {
		panic("clitest: lock " + path)
	}
	return l
}

// block never returns.
func block() {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	_, _ = r.Read(make([]byte, 1)) // nothing ever comes
	_ = w.Close()                  // keeps it open until then
}

// spawn starts a process that holds this one's output, and waits until it is
// there.
func spawn(dir string) (lock string, err error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	lock = filepath.Join(dir, fmt.Sprintf("alive-child-%d", os.Getpid()))
	cmd := exec.Command(exe, childMark, lock) //nolint:noctx // it is to outlive this process
	cmd.Stdout = stdout()
	ready, err := cmd.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	_, err = ready.Read(make([]byte, 1))
	return lock, err
}

// stdout is where a program answers.
func stdout() *os.File {
	return os.Stdout //nolint:forbidigo // this is a program of its own
}

// say writes lines for whoever reads the program. One that has gone ends it.
func say(f *os.File, lines ...string) {
	for _, l := range lines {
		if _, err := fmt.Fprintln(f, l); err != nil {
			os.Exit(1)
		}
	}
}

// record writes a call under a name that sorts by time, and payloads beside it.
func record(dir string, c Call) error {
	name := filepath.Join(dir, fmt.Sprintf("call-%020d-%d", time.Now().UnixNano(), os.Getpid()))
	if err := os.WriteFile(name+stdinExt, c.Stdin, 0o600); err != nil {
		return err
	}
	for i, f := range c.Files {
		if err := os.WriteFile(name+fileExt(i), f.Data, 0o600); err != nil {
			return err
		}
	}
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		return err
	}
	return os.Rename(name, name+".json")
}

const stdinExt = ".stdin"

func fileExt(i int) string { return fmt.Sprintf(".file-%d", i) }

// answer acts the behaviour out.
func answer(s script, c Call) int {
	v := voices[s.Runner]
	say(stdout(), v.open...)
	if code, ended := s.end(v); ended {
		return code
	}
	switch s.Behaviour {
	case Notes:
		for _, l := range v.note {
			if len(c.Files) > 0 {
				l = strings.ReplaceAll(l, "FILE", c.Files[0].Path)
			}
			say(stdout(), l)
		}
	case Works:
		say(stdout(), v.work...)
	case Retries:
		say(stdout(), v.retry...)
	case Floods:
		_, _ = os.Stderr.Write(bytes.Repeat([]byte("a line of noise\n"), 300_000)) // who reads it is tested
	case OK, Old, Spawns, Lingers, Deaf, Shuts, Sips, Family, Hangs, Stubborn, Crashes, Cuts, Garbage, Refuses, Login:
	}
	say(stdout(), v.ok...)
	if s.Behaviour == Lingers {
		block()
	}
	return 0
}

// end is for behaviours that do not come to an answer.
func (s script) end(v voice) (code int, ended bool) {
	switch s.Behaviour {
	case Hangs, Stubborn, Family:
		if s.Behaviour != Hangs {
			signal.Ignore(syscall.SIGTERM)
		}
		say(stdout(), v.begin...)
		block()
	case Crashes:
		say(stdout(), v.begin...)
		say(os.Stderr, "panic: something broke")
		return 2, true
	case Cuts:
		say(stdout(), v.begin...)
		return 0, true
	case Garbage:
		say(stdout(), "this is no JSON", "[1,2", "{\"type\":7}", "\x00\xff")
		return 0, true
	case Refuses:
		say(stdout(), v.refuse...)
		return 1, true
	case Login:
		say(stdout(), v.login...)
		say(os.Stderr, v.loginWords)
		return v.loginCode, true
	case OK, Old, Spawns, Lingers, Deaf, Shuts, Sips, Notes, Works, Retries, Floods:
		return 0, false
	}
	var e exit
	if rest, ok := strings.CutPrefix(string(s.Behaviour), "exit"); ok && json.Unmarshal([]byte(rest), &e) == nil {
		say(os.Stderr, e.Words)
		if e.Printed != "" {
			say(stdout(), e.Printed)
		}
		return e.Code, true
	}
	return fault(fmt.Errorf("no behaviour %q", s.Behaviour)), true
}
