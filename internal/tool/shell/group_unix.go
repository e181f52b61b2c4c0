//go:build unix

package shell

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// group is the processes of one call. The shell leads a session of its own, so
// nothing in it has a terminal, and the group of the same number. A guard is in
// the group too: a shell that waits for the end of this program and then ends the
// group, so nothing in it outlives us, even where we are killed.
//
// Who starts a session of its own gets away, unless it is found by its parents when
// the call is stopped, which Linux alone tells.
type group struct {
	pid  int
	hold *os.File // the guard reads the other end, which ends when we do

	mu      sync.Mutex
	strayed []stray // found when the group was asked to end
}

// posixShell is where POSIX systems have one.
const posixShell = "/bin/sh"

// guardName tells the guard from what commands start.
const guardName = "tote-guard"

// watch is the guard's script. $1 is the grace in seconds.
//
// Where there is a /proc it ends groups of their own in the session too.
const watch = `PATH=/usr/bin:/bin; trap '' HUP INT QUIT TERM; grace=$1; read -r line
all() {
	read -r line </proc/self/stat; set -- "$1" ${line##*) }; own=$5
	for file in /proc/[0-9]*/stat; do
		read -r line <"$file" || continue
		pid=${file#/proc/}; pid=${pid%/stat}; set -- "$1" ${line##*) }
		[ "$5" = "$own" ] && [ "$pid" != $$ ] && kill -s "$1" "$pid"
	done
}
[ -r /proc/self/stat ] && all TERM; kill -s TERM 0; sleep "$grace"; [ -r /proc/self/stat ] && all KILL; kill -s KILL 0`

// launch starts the guard and then becomes the program. $1 is the guard's script,
// $2 its name, $3 the grace. Descriptor 3 is the guard's.
const launch = posixShell + ` -c "$1" "$2" "$3" <&3 >/dev/null 2>&1 & shift 3; exec 3<&-; exec "$@"`

// startGroup starts a command as the leader of a group, with a guard where there
// is a POSIX shell.
func startGroup(cmd *exec.Cmd, grace time.Duration) (*group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if _, err := os.Stat(posixShell); err != nil {
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		return &group{pid: cmd.Process.Pid}, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // the guard's
	seconds := strconv.Itoa(max(1, int((grace+time.Second-1)/time.Second)))
	cmd.Args = append([]string{posixShell, "-c", launch, guardName, watch, guardName, seconds, cmd.Path}, cmd.Args[1:]...)
	cmd.Path, cmd.ExtraFiles = posixShell, []*os.File{r}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return &group{pid: cmd.Process.Pid, hold: w}, nil
}

// stray is a process that left the group, with the time of its start.
type stray struct {
	pid   int
	start string
}

// ask asks the whole group, and what strayed from it, to end.
func (g *group) ask() {
	found := g.strays(nil) // while their parents are there
	g.mu.Lock()
	g.strayed = append(g.strayed, found...)
	g.mu.Unlock()
	_ = syscall.Kill(-g.pid, syscall.SIGTERM) // whoever is there
	for _, s := range found {
		_ = syscall.Kill(s.pid, syscall.SIGTERM) // whoever is there
	}
}

// maxRounds bounds how often strays are looked for: they may start others meanwhile.
const maxRounds = 8

// kill ends who is left in the group, the guard at least, and what strayed from it.
func (g *group) kill() {
	g.mu.Lock()
	known := g.strayed
	g.mu.Unlock()
	for range maxRounds {
		found := g.strays(known)
		for _, s := range found {
			_ = syscall.Kill(s.pid, syscall.SIGKILL) // whoever is there
		}
		if len(found) == 0 {
			break
		}
	}
	_ = syscall.Kill(-g.pid, syscall.SIGKILL) // whoever is there
}

// close is called when the group was killed.
func (g *group) close() error {
	if g.hold == nil {
		return nil
	}
	return g.hold.Close()
}

// signalOf names the signal that ended a process, "" for none.
func signalOf(s *os.ProcessState) string {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return w.Signal().String()
	}
	return ""
}
