package shell

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tote/internal/tool"
)

const (
	// maxBackground is how many commands of a session may run in the background,
	// maxEnded how many are remembered after their end.
	maxBackground = 16
	maxEnded      = 32
	// grace is how long a command has to end when it is asked to.
	grace = 2 * time.Second
)

// Options is how commands are run.
type Options struct {
	// Shell is the program; "" finds one.
	Shell string
	// Sandbox is how far commands are locked in.
	Sandbox Sandbox
	// Offline: the sandbox forbids TCP, where the kernel can.
	Offline bool
	// Writable are folders beyond the roots that the sandbox leaves writable,
	// such as caches of compilers; absolute. Those that are or hold a folder of
	// PATH, or a folder bin, are left out: see CacheFolders.
	Writable []string
	// Dir is where the private folder lies that holds the state of shells, outside
	// of all roots; "" is the folder of the system for temporary files. What killed
	// processes left in it is removed by New.
	Dir string
	// Self is the program whose first argument may be SandboxArg; "" is the
	// running one.
	Self string
	// Environ is the environment of the user, nil for that of this process. Drop
	// are the names of variables in it that commands do not get, such as those
	// that hold keys of providers.
	Environ, Drop []string
	// Hide lists further names to drop. It is asked at each start of a command, also
	// of one whose shell has carried such a variable so far. Nil hides nothing.
	Hide func() []string
	// Timeout ends a command for which the model asks for no other time, 0 for
	// 2 minutes; MaxTimeout is the most that it may ask for, 0 for 10 minutes.
	Timeout, MaxTimeout time.Duration
	// Now is the clock, nil for the real one.
	Now func() time.Time
}

// Shells holds the shells of all sessions. Its methods may be called from several
// goroutines.
type Shells struct {
	o     Options
	grace time.Duration
	env   []string
	home  string

	mu       sync.Mutex
	closed   bool
	own      own // zero until it is needed
	sessions map[string]*session
	shell    interpreter // zero until it is needed
}

// New makes the shells. Nothing is started yet.
func New(o Options) *Shells {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.MaxTimeout <= 0 {
		o.MaxTimeout = max(maxTimeout, o.Timeout)
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Dir == "" {
		o.Dir = os.TempDir()
	}
	sweep(o.Dir)
	s := &Shells{o: o, grace: grace, env: environment(o.Environ, o.Drop), sessions: map[string]*session{}}
	s.home = s.getenv("HOME")
	if s.home == "" {
		s.home = s.getenv("USERPROFILE")
	}
	s.o.Writable = offPath(o.Writable, s.getenv("PATH"))
	return s
}

func (s *Shells) getenv(name string) string { return variable(s.env, name) }

// Tools are bash, bash_output and bash_kill.
func (s *Shells) Tools() []tool.Tool { return []tool.Tool{Bash{s}, Output{s}, Kill{s}} }

// session is the shell of one session.
type session struct {
	turn chan struct{} // holds one while a call runs
	gone chan struct{} // closed when the session is

	mu      sync.Mutex
	started bool
	state   state
	told    bool // that there is no sandbox
	entries []*entry
	n       int
	ended   bool
}

// entry is a command in the background, or what a call left running.
type entry struct {
	id   string
	p    *process
	over chan struct{} // closed when the group is gone and the file complete
}

var errClosed = errors.New("the session is closed")

// session finds or makes the shell of a session, and finds the program.
func (s *Shells) session(id string) (*session, interpreter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, interpreter{}, errClosed
	}
	if s.shell.path == "" {
		found, err := findShell(s.o.Shell, exec.LookPath, s.getenv)
		if err != nil {
			return nil, interpreter{}, err
		}
		s.shell = found
	}
	ses := s.sessions[id]
	if ses == nil {
		ses = &session{turn: make(chan struct{}, 1), gone: make(chan struct{})}
		s.sessions[id] = ses
	}
	return ses, s.shell, nil
}

// folder makes a private folder.
func (s *Shells) folder() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", errClosed
	}
	if s.own.dir == "" {
		made, err := makeOwn(s.o.Dir)
		if err != nil {
			return "", err
		}
		s.own = made
	}
	return os.MkdirTemp(s.own.dir, "call-")
}

// state is what the next command of a session begins with.
func (s *Shells) state(env tool.Env) state {
	s.mu.Lock()
	ses := s.sessions[env.Session]
	s.mu.Unlock()
	if ses == nil {
		return state{cwd: env.Cwd}
	}
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if !ses.started {
		return state{cwd: env.Cwd}
	}
	return ses.state
}

// CloseSession ends everything that a session runs. The session may be used
// again; its shell is a new one then.
func (s *Shells) CloseSession(id string) {
	s.mu.Lock()
	ses := s.sessions[id]
	delete(s.sessions, id)
	s.mu.Unlock()
	if ses != nil {
		ses.close()
	}
}

// Close ends everything that runs and removes what was kept. Nothing runs
// afterwards.
func (s *Shells) Close() error {
	s.mu.Lock()
	s.closed = true
	all := s.sessions
	s.sessions = map[string]*session{}
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, ses := range all {
		// It ends when the grace of its commands is over.
		wg.Go(ses.close)
	}
	wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := s.own
	s.own = own{}
	return gone.remove()
}

func (ses *session) close() {
	ses.mu.Lock()
	again := ses.ended
	ses.ended = true
	entries := ses.entries
	ses.mu.Unlock()
	if !again {
		close(ses.gone)
	}
	var wg sync.WaitGroup
	for _, e := range entries {
		// It ends when the grace of the command is over.
		wg.Go(func() { e.stop() })
	}
	wg.Wait()
	ses.turn <- struct{}{} // the call that ran has ended
	<-ses.turn
}

// stop stops an entry and waits until its file is complete.
func (e *entry) stop() {
	e.p.stop()
	<-e.over
}

// watch completes the file when the group is gone.
func (e *entry) watch() {
	defer close(e.over)
	e.p.follow()
	_ = e.p.out.keep()  // its path is told when it is asked for
	_ = e.p.out.close() // what is missing in it is told with its path
}

// room reports whether one more command may go into the background, and forgets
// the oldest of those that have ended.
func (ses *session) room() error {
	ses.mu.Lock()
	entries := slices.Clone(ses.entries)
	ses.mu.Unlock()
	var running, ended []string
	for _, e := range entries {
		if e.p.running() {
			running = append(running, e.id)
		} else {
			ended = append(ended, e.id)
		}
	}
	if len(running) >= maxBackground {
		return fmt.Errorf("%d commands run in the background already (%s); stop one with bash_kill", len(running), strings.Join(running, ", "))
	}
	if over := len(ended) - maxEnded; over > 0 {
		ses.mu.Lock()
		ses.entries = slices.DeleteFunc(ses.entries, func(e *entry) bool { return slices.Contains(ended[:over], e.id) })
		ses.mu.Unlock()
	}
	return nil
}

// add puts a command into the background. It returns false when the session is
// closed meanwhile; then nobody will stop the command.
func (ses *session) add(id string, p *process) bool {
	e := &entry{id: id, p: p, over: make(chan struct{})}
	// It ends with the group.
	go e.watch()
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.ended {
		return false
	}
	ses.entries = append(ses.entries, e)
	return true
}

// next numbers the calls of a session.
func (ses *session) next() string {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	ses.n++
	return "bash-" + strconv.Itoa(ses.n)
}

// find finds a command in the background.
func (ses *session) find(id string) (*entry, error) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	var known []string
	for _, e := range ses.entries {
		if e.id == id {
			return e, nil
		}
		known = append(known, e.id)
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("there is no background command %q; there is none at all", id)
	}
	return nil, fmt.Errorf("there is no background command %q; there are %s", id, strings.Join(known, ", "))
}

// outputs is the folder for the files of outputs.
func (s *Shells) outputs(env tool.Env) string {
	if env.Scratch == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.own.dir
	}
	return filepath.Join(env.Scratch, "shell")
}
