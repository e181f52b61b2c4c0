package mcp

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// process is a server that was started here. Its pipes are files, so that waiting
// for it does not wait for what it has started; that is ended once it is gone.
type process struct {
	cmd         *exec.Cmd
	grace       time.Duration
	group       group
	in, out, er *os.File
	words       tail
	exited      chan struct{} // closed when it is gone
	drained     chan struct{} // closed when its standard error has ended
	state       string        // how it ended; set before exited is closed
}

// kept are the variables of this program that a server gets, beside its own: what
// programs need to start and to reach the network, and no keys.
var kept = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP", "DISPLAY",
	"WAYLAND_DISPLAY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"NODE_EXTRA_CA_CERTS", "NODE_PATH", "PYTHONPATH", "VIRTUAL_ENV", "GOPATH", "JAVA_HOME", "DOCKER_HOST",
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR",
	"USERPROFILE", "HOMEDRIVE", "HOMEPATH", "PATHEXT", "COMSPEC", "PROCESSOR_ARCHITECTURE",
}

var keptPrefixes = []string{"LC_", "XDG_", "NPM_CONFIG_", "UV_", "NVM_"}

// Environment picks from environ, which is spelled as os.Environ spells it, what
// a server gets when it is not said otherwise: no keys of other programs.
func Environment(environ []string) []string {
	var out []string
	for _, e := range environ {
		name, value, ok := strings.Cut(e, "=")
		up := strings.ToUpper(name)
		inherits := slices.Contains(kept, up) || slices.ContainsFunc(keptPrefixes, func(p string) bool { return strings.HasPrefix(up, p) })
		if ok && inherits && !strings.HasPrefix(value, "()") && !secretName(up) {
			out = append(out, e)
		}
	}
	return out
}

// secretName tells names like NPM_CONFIG__AUTH_TOKEN and UV_INDEX_X_PASSWORD.
func secretName(up string) bool {
	return slices.ContainsFunc([]string{"TOKEN", "SECRET", "PASSW", "AUTH", "_KEY"}, func(w string) bool { return strings.Contains(up, w) })
}

// startProcess starts a server. The caller calls stop.
func startProcess(s Server, dir string, o *Options) (*process, error) {
	p := &process{grace: o.Grace, exited: make(chan struct{}), drained: make(chan struct{})}
	p.cmd = exec.Command(s.Command, s.Args...) //nolint:noctx // it outlives the turn that starts it, and stop ends it
	p.cmd.Dir = dir
	if s.Cwd != "" {
		p.cmd.Dir = s.Cwd
	}
	p.cmd.Env = slices.Clone(o.Environ)
	for _, name := range sortedKeys(s.Env) {
		p.cmd.Env = append(p.cmd.Env, name+"="+s.Env[name])
	}
	p.group.prepare(p.cmd)
	theirs, err := p.pipes()
	if err == nil {
		started := make(chan error, 1)
		// Ends when the server does, which stop sees to.
		go p.live(started)
		err = <-started
	}
	closeAll(theirs)
	if err != nil {
		closeAll([]*os.File{p.in, p.out, p.er})
		p.group.close()
		return nil, fmt.Errorf("start %s: %w", s.Command, err)
	}
	// Ends when all who hold the pipe are gone, or when stop closes it.
	go func() {
		defer close(p.drained)
		_, _ = io.Copy(&p.words, p.er) // what was read counts
	}()
	return p, nil
}

func (p *process) pipes() (theirs []*os.File, err error) {
	ends := [3]struct{ r, w *os.File }{}
	for i := range ends {
		if ends[i].r, ends[i].w, err = os.Pipe(); err != nil {
			for _, e := range ends[:i] {
				closeAll([]*os.File{e.r, e.w})
			}
			return nil, err
		}
	}
	p.in, p.out, p.er = ends[0].w, ends[1].r, ends[2].r
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = ends[0].r, ends[1].w, ends[2].w
	return []*os.File{ends[0].r, ends[1].w, ends[2].w}, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close() // a pipe that is given up
		}
	}
}

// live starts the server and waits for it on one thread: Linux takes the end of
// the thread that started a program for the end of this one.
func (p *process) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	p.group.add(p.cmd.Process)
	started <- nil
	_ = p.cmd.Wait() // the state says it
	p.state = p.cmd.ProcessState.String()
	p.group.kill(p.cmd.Process)
	close(p.exited)
}

// stop ends the server and everything in its group: it closes its input, asks,
// and kills. It returns when the server is gone.
func (p *process) stop() {
	_ = p.in.Close() // what was not written is not wanted any more
	if !p.wait(p.grace) {
		p.group.ask(p.cmd.Process)
		if !p.wait(p.grace) {
			p.group.kill(p.cmd.Process)
			_ = p.cmd.Process.Kill() // one that left its group; else it is gone
			<-p.exited
		}
	}
	late := time.NewTimer(p.grace)
	defer late.Stop()
	select {
	case <-p.drained:
	case <-late.C: // one who left the group holds the pipe
	}
	closeAll([]*os.File{p.out, p.er})
	<-p.drained
	p.group.close()
}

func (p *process) wait(d time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	select {
	case <-p.exited:
		return true
	case <-ctx.Done():
		return false
	}
}

// ended says how the server ended, "" while it runs.
func (p *process) ended() string {
	select {
	case <-p.exited:
		return p.state
	default:
		return ""
	}
}
