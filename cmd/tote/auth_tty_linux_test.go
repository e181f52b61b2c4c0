package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens a pair of terminals: what is written to the one is typed at the
// other.
func terminal(t *testing.T) (typist, screen *os.File) {
	t.Helper()
	typist, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this system gives no terminals: %v", err)
	}
	t.Cleanup(func() { _ = typist.Close() })
	if err := unix.IoctlSetPointerInt(int(typist.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(typist.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	return typist, screen
}

// onTerminal is the program with a terminal for its standard input.
func onTerminal(t *testing.T, r *rig, screen *os.File, args ...string) *process {
	c := &process{t: t, cmd: exec.CommandContext(t.Context(), "tote", args...)}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stdin = r.cwd, os.Environ(), screen
	for k, v := range r.env {
		c.cmd.Env = append(c.cmd.Env, k+"="+v)
	}
	c.cmd.Stdout, c.cmd.Stderr = &c.stdout, &c.stderr
	return c
}

// TestKeyIsNotShown types a key at a terminal, and gives up on another: neither is
// the key on the screen, nor is the terminal left without echo.
func TestKeyIsNotShown(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
	const key = "sk-typed-0123456789-secret"
	for name, end := range map[string]func(*process, *os.File){
		"typed":    func(_ *process, typist *os.File) { _, _ = io.WriteString(typist, key+"\n") },
		"given up": func(c *process, _ *os.File) { c.signal(os.Interrupt) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			typist, screen := terminal(t)
			before, err := unix.IoctlGetTermios(int(screen.Fd()), unix.TCGETS)
			if err != nil {
				t.Fatal(err)
			}
			c := onTerminal(t, r, screen, "auth", "set", "work").start()
			c.stderr.await("it is not shown")
			for echo := true; echo; { // nobody types that fast
				now, err := unix.IoctlGetTermios(int(screen.Fd()), unix.TCGETS)
				if err != nil {
					t.Fatal(err)
				}
				echo = now.Lflag&unix.ECHO != 0
				runtime.Gosched()
			}
			end(c, typist)
			out := c.wait()
			if want := map[string]int{"typed": 0, "given up": 130}[name]; out.code != want {
				t.Errorf("code %d, want %d: %s", out.code, want, out.stderr)
			}
			after, err := unix.IoctlGetTermios(int(screen.Fd()), unix.TCGETS)
			if err != nil || *after != *before {
				t.Errorf("the terminal was left as %+v, %v", after, err)
			}
			_, _ = io.WriteString(screen, "the end\n")
			seen := make([]byte, 4096)
			n, err := typist.Read(seen)
			if err != nil || strings.Contains(string(seen[:n]), "sk-typed") {
				t.Errorf("on the screen: %q, %v", seen[:n], err)
			}
		})
	}
}
