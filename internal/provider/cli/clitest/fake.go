package clitest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

// Behaviour is what a fake does once it has read its prompt.
type Behaviour string

// The behaviours.
const (
	// OK answers "OK" with an account.
	OK Behaviour = "ok"
	// Old is a version that loses pictures without a word.
	Old Behaviour = "old"
	// Notes says that a picture was left out, and answers.
	Notes Behaviour = "notes"
	// Refuses fails the turn because of a picture.
	Refuses Behaviour = "refuses"
	// Works uses its own tools and thinks before it answers.
	Works Behaviour = "works"
	// Retries says that it tries again, and answers.
	Retries Behaviour = "retries"
	// Hangs begins to answer and then says nothing more.
	Hangs Behaviour = "hangs"
	// Stubborn hangs and does not end when it is asked to.
	Stubborn Behaviour = "stubborn"
	// Lingers answers and then does not end.
	Lingers Behaviour = "lingers"
	// Crashes begins to answer and then ends itself with exit code 2.
	Crashes Behaviour = "crashes"
	// Cuts ends well without a result.
	Cuts Behaviour = "cuts"
	// Floods writes megabytes of diagnostics before it answers.
	Floods Behaviour = "floods"
	// Garbage writes what is none of its form.
	Garbage Behaviour = "garbage"
	// Spawns leaves a process behind that holds its output, and answers.
	Spawns Behaviour = "spawns"
	// Login says that nobody is signed in.
	Login Behaviour = "login"
	// Deaf ends before it has read its prompt.
	Deaf Behaviour = "deaf"
	// Shuts closes its standard input unread, and answers. It records nothing.
	Shuts Behaviour = "shuts"
	// Sips reads [Sip] bytes of its prompt, and answers. It records nothing.
	Sips Behaviour = "sips"
	// Family leaves a process behind as Spawns does, and hangs as Stubborn does.
	Family Behaviour = "family"
)

// Sip is how much a fake that sips reads, in bytes.
const Sip = 100

// Exit ends with a code and with words in the diagnostics.
func Exit(code int, words string) Behaviour {
	return exit{Code: code, Words: words}.behaviour()
}

// Prints is Exit with further words where events are expected.
func Prints(code int, words, printed string) Behaviour {
	return exit{Code: code, Words: words, Printed: printed}.behaviour()
}

type exit struct {
	Code           int
	Words, Printed string
}

func (e exit) behaviour() Behaviour {
	b, _ := json.Marshal(e) // plain data
	return Behaviour("exit" + string(b))
}

// mark is the argument that makes a test binary a fake; the script follows it.
const mark = "-clitest-fake"

// script is what a fake is told.
type script struct {
	Runner    string
	Behaviour Behaviour
	// Dir is where it records.
	Dir string
}

// Call is one start of a fake.
type Call struct {
	Runner string
	// Argv is behind the command that Fake returned.
	Argv  []string
	Stdin []byte `json:"-"`
	Dir   string
	// Files are the attachments that the program takes from its arguments and
	// its prompt, in the order in which it hands them on.
	Files []File
	// Prompt is the text that the program hands on, in which gemini has
	// replaced nothing yet.
	Prompt string
	// PID is its process id, Locks are held by it and by what it has started
	// as long as they are there.
	PID   int
	Locks []string
}

// File is an attachment as a program reads it.
type File struct {
	Path string
	Data []byte `json:"-"`
	// Lost: it could not be read, and only the model is told.
	Lost bool
	// Mode are the permissions of the file and of its folder.
	Mode, FolderMode os.FileMode
}

// Fake returns a command that behaves like a runner's program, and a function
// that returns its calls so far, in order.
func Fake(tb testing.TB, runner string, b Behaviour) (command []string, recorded func() []Call) {
	tb.Helper()
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	data, err := json.Marshal(script{Runner: runner, Behaviour: b, Dir: dir})
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(dir, "script.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	return []string{exe, mark, path}, func() []Call {
		tb.Helper()
		return load(tb, dir)
	}
}

func load(tb testing.TB, dir string) []Call {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "call-*.json"))
	if err != nil {
		tb.Fatal(err)
	}
	slices.Sort(names)
	var out []Call
	for _, n := range names {
		data, err := os.ReadFile(n)
		if err != nil {
			tb.Fatal(err)
		}
		var c Call
		if err := json.Unmarshal(data, &c); err != nil {
			tb.Fatal(err)
		}
		base := strings.TrimSuffix(n, ".json")
		if c.Stdin, err = os.ReadFile(base + stdinExt); err != nil {
			tb.Fatal(err)
		}
		for i := range c.Files {
			if c.Files[i].Data, err = os.ReadFile(base + fileExt(i)); err != nil {
				tb.Fatal(err)
			}
		}
		out = append(out, c)
	}
	return out
}

// Alive reports whether the process, or one that it has started, is there.
func (c Call) Alive() bool {
	return slices.ContainsFunc(c.Locks, func(path string) bool {
		l := flock.New(path)
		ok, err := l.TryLock()
		return l.Close() != nil || err != nil || !ok
	})
}

// dying is how long a process that was killed may take to be gone, and probing
// how often it is looked for.
const (
	dying   = 5 * time.Second
	probing = time.Millisecond
)

// Gone reports whether the process and those that it has started have ended. It
// waits a little for what was killed just now.
func (c Call) Gone(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, dying)
	defer cancel()
	return !slices.ContainsFunc(c.Locks, func(path string) bool {
		l := flock.New(path)
		ok, err := l.TryLockContext(ctx, probing)
		return l.Close() != nil || err != nil || !ok
	})
}

// Main takes the part of a program when the test binary was started for that,
// and does not return then. A TestMain calls it first.
func Main() {
	if len(os.Args) < 3 || !strings.HasPrefix(os.Args[1], mark) {
		return
	}
	os.Exit(play(os.Args[1], os.Args[2], os.Args[3:]))
}
