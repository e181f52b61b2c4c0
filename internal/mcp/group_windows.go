package mcp

import (
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object. It ends with this program, however that ends, and
// everything in it too. A server that cannot be put into one is ended alone.
type group struct{ job windows.Handle }

func (*group) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

func (g *group) add(p *os.Process) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		var h windows.Handle
		if h, err = windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.Pid)); err == nil {
			err = windows.AssignProcessToJobObject(job, h)
			_ = windows.CloseHandle(h) // nothing is written through it
		}
	}
	if err != nil {
		_ = windows.CloseHandle(job) // nothing is in it
		return
	}
	g.job = job
}

// ask ends the whole job at once: a console program without a window hears no
// gentler word.
func (g *group) ask(p *os.Process) { g.kill(p) }

func (g *group) kill(p *os.Process) {
	if g.job == 0 {
		_ = p.Kill() // it may be gone
		return
	}
	_ = windows.TerminateJobObject(g.job, 1) // mostly nobody is left
}

func (g *group) close() {
	if g.job != 0 {
		_ = windows.CloseHandle(g.job) // nothing is written through it
	}
}
