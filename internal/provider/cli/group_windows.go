package cli

import (
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object. It ends with this program, however that ends, and
// everything in it too.
type group struct{ job windows.Handle }

func newGroup(time.Duration) *group { return &group{} }

func (*group) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

func (g *group) add(p *os.Process) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	g.job = job
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		return err
	}
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.Pid))
	if err != nil {
		return nil //nolint:nilerr // it has ended already, and nothing needs a group
	}
	defer func() { _ = windows.CloseHandle(h) }() // nothing is written through it
	return windows.AssignProcessToJobObject(job, h)
}

// ask ends the whole job at once: a console program without a window hears no
// gentler word.
func (g *group) ask(p *os.Process) error {
	if g.job == 0 {
		return p.Kill()
	}
	return windows.TerminateJobObject(g.job, 1)
}

// kill ends who is left in the job.
func (g *group) kill(*os.Process) {
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1) // mostly nobody is
	}
}

func (g *group) close() error {
	if g.job == 0 {
		return nil
	}
	return windows.CloseHandle(g.job)
}
