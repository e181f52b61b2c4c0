package hook

import (
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/windows"
)

// group is a job object. What the program starts is in it too.
type group struct {
	mu  sync.Mutex
	job windows.Handle
}

func (*group) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

func (g *group) add(p *os.Process) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.Pid))
	if err != nil {
		return nil //nolint:nilerr // it has ended already, and nothing needs a job
	}
	defer func() { _ = windows.CloseHandle(h) }() // nothing is written through it
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	if err := windows.AssignProcessToJobObject(job, h); err != nil {
		_ = windows.CloseHandle(job) // it is empty
		return err
	}
	g.job = job
	return nil
}

func (g *group) kill(p *os.Process) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job == 0 {
		return p.Kill()
	}
	return windows.TerminateJobObject(g.job, 1)
}

func (g *group) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		_ = windows.CloseHandle(g.job) // what it holds goes on
		g.job = 0
	}
}
