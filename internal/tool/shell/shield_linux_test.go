package shell_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tote/internal/tool/shell"
)

// shieldArg makes the test's own program shield itself and say what became of it.
const shieldArg = "__shield"

// shielded is the program behind shieldArg.
func shielded() int {
	if err := shell.Shield(); err != nil {
		return 1
	}
	state, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil {
		return 1
	}
	if _, err := os.Executable(); err != nil {
		return 1
	}
	child, err := exec.Command("/bin/sh", "-c", "cat /proc/$PPID/environ >/dev/null 2>&1 && echo read || echo refused").Output() //nolint:noctx // it is short
	if err != nil {
		return 1
	}
	_, err = os.Stdout.WriteString(strconv.Itoa(state) + " " + string(child))
	if err != nil {
		return 1
	}
	return 0
}

func TestShield(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), self, shieldArg).Output()
	if err != nil || !strings.HasPrefix(string(out), "0 ") {
		t.Fatalf("%q, %v", out, err)
	}
	// Who may trace everybody reads it all the same.
	if os.Geteuid() != 0 && string(out) != "0 refused\n" {
		t.Errorf("%q", out)
	}
}

// A command in the sandbox reads the environment of nobody outside of it: the
// kernel takes that for tracing.
func TestSandboxEnviron(t *testing.T) {
	needLandlock(t, 2)
	b := newBench(t, shell.Options{Sandbox: shell.SandboxRequire})
	pid := strconv.Itoa(os.Getpid())
	for command, want := range map[string]string{
		"cat /proc/" + pid + "/environ >/dev/null 2>&1 && echo read || echo refused": "refused\n",
		"cat /proc/" + pid + "/mem >/dev/null 2>&1 && echo read || echo refused":     "refused\n",
		"cat /proc/self/status /proc/cpuinfo >/dev/null && echo read":                "read\n",
	} {
		if got := b.sh(command); got != want {
			t.Errorf("%s: %q", command, got)
		}
	}
}
