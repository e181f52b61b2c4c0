package shell

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object. It ends with this program, however that ends, and
// everything in it too.
type group struct {
	job windows.Handle
	pid int
	p   *os.Process
}

func startGroup(cmd *exec.Cmd, _ time.Duration) (*group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	g := &group{job: job}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		_ = g.close() // nothing is in it
		return nil, err
	}
	g.p, g.pid = cmd.Process, cmd.Process.Pid
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(g.pid))
	if err != nil {
		return g, nil //nolint:nilerr // it has ended already, and nothing needs a group
	}
	defer func() { _ = windows.CloseHandle(h) }() // nothing is written through it
	if err := windows.AssignProcessToJobObject(job, h); err != nil {
		_ = g.p.Kill() // it may have ended
		_ = cmd.Wait() // its error is that it was killed
		_ = g.close()  // nothing is in it
		return nil, err
	}
	return g, nil
}

// ask ends the whole job at once: a console program without a window hears no
// gentler word.
func (g *group) ask() { g.kill() }

// kill ends who is left in the job.
func (g *group) kill() { _ = windows.TerminateJobObject(g.job, 1) } // whoever is there

func (g *group) close() error { return windows.CloseHandle(g.job) }

// processList is JOBOBJECT_BASIC_PROCESS_ID_LIST with room for a few.
type processList struct {
	assigned, listed uint32
	ids              [64]uintptr
}

// left lists the processes of the job.
func (g *group) left() []string {
	const basicProcessIDList = 3
	var list processList
	err := windows.QueryInformationJobObject(g.job, basicProcessIDList, uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	if err != nil {
		return nil
	}
	var out []string
	for _, id := range list.ids[:min(int(list.listed), len(list.ids))] {
		if int(id) != g.pid {
			out = append(out, strconv.Itoa(int(id)))
		}
	}
	return out
}

// signalOf names the signal that ended a process; there are none here.
func signalOf(*os.ProcessState) string { return "" }
