package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tote/internal/provider"
	"tote/internal/provider/cli"
	"tote/internal/provider/cli/clitest"
)

// members lists the processes of a group.
func members(t *testing.T, group int) []int {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, n := range names {
		data, err := os.ReadFile(n)
		if err != nil {
			continue // it has ended meanwhile
		}
		// Behind the name in brackets: state, parent, group.
		f := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(n)))
		if err == nil && len(f) > 2 && f[2] == strconv.Itoa(group) {
			out = append(out, pid)
		}
	}
	return out
}

// A turn leaves nobody in the group, the guard included.
func TestGroupIsEmptyAfterATurn(t *testing.T) {
	r := newRig(t, cli.Codex, clitest.Hangs)
	body, err := r.Encode(request(t, cli.Codex))
	if err != nil {
		t.Fatal(err)
	}
	pid := 0
	for ev, err := range r.Stream(t.Context(), body) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := ev.(provider.TextDelta); ok {
			pid = r.calls()[0].PID
			if m := members(t, pid); len(m) != 2 || !slices.Contains(m, pid) {
				t.Errorf("the group of %d holds %v, not the program and a guard", pid, m)
			}
			break
		}
	}
	if m := members(t, pid); len(m) > 0 {
		t.Errorf("left: %v", m)
	}
	r.clean(t)
}

// The kernel ends the program of one that was killed where no guard does.
func TestKilledWithoutAGuard(t *testing.T) {
	cmd, _, calls := begun(t, clitest.Hangs)
	for _, pid := range members(t, calls[0].PID) {
		if pid == calls[0].PID {
			continue
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	kill(t, cmd)
	if !calls[0].Gone(t.Context()) {
		t.Error("the program outlives the one that started it")
	}
}
