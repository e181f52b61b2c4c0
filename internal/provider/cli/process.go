package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// process is one started program with everything that it starts itself.
//
// Its pipes are files, so that waiting for the program does not wait for what it
// has started; that is ended once the program is gone.
type process struct {
	cmd    *exec.Cmd
	group  *group
	cancel context.CancelFunc
	grace  time.Duration

	in, out, diag *os.File
	words         tail
	fed           chan struct{}   // closed when the input is written or given up
	read          chan struct{}   // closed when the diagnostics have ended
	exited        chan struct{}   // closed when the program is gone
	unwanted      <-chan struct{} // closed when nobody wants its output
	feedErr       atomic.Pointer[error]
}

// start runs a program. input is its standard input. The caller calls stop.
func start(ctx context.Context, program string, args []string, dir string, env []string, grace time.Duration, input io.ReadCloser) (*process, error) {
	ctx, cancel := context.WithCancel(ctx)
	p := &process{
		cancel: cancel, grace: grace, fed: make(chan struct{}), read: make(chan struct{}), exited: make(chan struct{}),
		unwanted: ctx.Done(), group: newGroup(),
	}
	p.cmd = exec.CommandContext(ctx, program, args...)
	p.cmd.Dir, p.cmd.Env = dir, env
	p.group.prepare(p.cmd)
	p.cmd.Cancel = func() error { return p.group.ask(p.cmd.Process) }
	p.cmd.WaitDelay = grace
	theirs, err := p.pipes()
	if err == nil {
		err = p.cmd.Start()
	}
	closeAll(theirs)
	if err != nil {
		cancel()
		closeAll([]*os.File{p.in, p.out, p.diag})
		return nil, errors.Join(err, input.Close(), p.group.close())
	}
	// What cannot be grouped is ended one by one, without what it started.
	grouped := p.group.add(p.cmd.Process)
	// Ends when the input is written, or the program or stop closes its pipe.
	go p.feed(input)
	// Ends when all who hold the pipe are gone, or when stop closes it.
	go func() {
		defer close(p.read)
		_, _ = io.Copy(&p.words, p.diag) // what was read counts
	}()
	// Ends when the program does: by itself, or killed after a cancellation.
	go p.wait()
	if grouped != nil {
		p.stop()
		return nil, fmt.Errorf("group the process: %w", grouped)
	}
	return p, nil
}

// pipes makes the pipes and returns the program's ends.
func (p *process) pipes() ([]*os.File, error) {
	var theirs []*os.File
	inR, inW, err := os.Pipe()
	if err != nil {
		return theirs, err
	}
	p.in, p.cmd.Stdin = inW, inR
	theirs = append(theirs, inR)
	outR, outW, err := os.Pipe()
	if err != nil {
		return theirs, err
	}
	p.out, p.cmd.Stdout = outR, outW
	theirs = append(theirs, outW)
	errR, errW, err := os.Pipe()
	if err != nil {
		return theirs, err
	}
	p.diag, p.cmd.Stderr = errR, errW
	return append(theirs, errW), nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close() // a pipe that is given up
		}
	}
}

func (p *process) feed(input io.ReadCloser) {
	defer close(p.fed)
	src := &source{r: input}
	_, _ = io.Copy(p.in, src) // a program that reads no more ends by itself
	_ = p.in.Close()          // as above
	_ = input.Close()         // it was only read
	if src.err != nil {
		p.feedErr.Store(&src.err)
		p.cancel() // what it got is cut, and it must not be answered
	}
}

// source remembers the error of reading, which is not one of writing.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// wait waits for the program and ends what it has started.
func (p *process) wait() {
	_ = p.cmd.Wait() // the state says it
	p.group.kill(p.cmd.Process)
	p.hurry()
	close(p.exited)
}

// hurry bounds the next read of the output. Who has left the group may hold the
// pipe for ever. Pipes of Windows know no deadline, and nobody leaves a job there.
func (p *process) hurry() {
	_ = p.out.SetReadDeadline(time.Now().Add(p.grace)) // as said
}

// Read reads the program's output. Behind the end of the program only waiting
// counts against the grace, and not how long the reader takes in between.
func (p *process) Read(b []byte) (int, error) {
	select {
	case <-p.exited:
		select {
		case <-p.unwanted:
			return 0, io.EOF
		default:
			p.hurry()
		}
	default:
	}
	n, err := p.out.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = io.EOF
	}
	return n, err
}

// end waits for the program, which has said all it had to say, and returns its
// exit code: -1 when a signal ended it. A program that stays is ended.
func (p *process) end() int {
	t := time.AfterFunc(p.grace, p.cancel)
	defer t.Stop()
	<-p.exited
	late := time.AfterFunc(p.grace, func() { _ = p.diag.Close() })
	defer late.Stop()
	<-p.read
	return p.cmd.ProcessState.ExitCode()
}

// stop ends the process, its group and everything that belongs to it here.
func (p *process) stop() {
	p.cancel()
	<-p.exited
	late := time.AfterFunc(p.grace, func() { _ = p.diag.Close() })
	defer late.Stop()
	p.hurry()
	_, _ = io.Copy(io.Discard, p.out) // its end says that who held it is gone
	<-p.read
	closeAll([]*os.File{p.in, p.out, p.diag})
	<-p.fed
	_ = p.group.close() // nothing is in it any more
}

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// maxTail is how much of the diagnostics is kept, in bytes.
const maxTail = 16 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(b)
	if n > maxTail {
		b = b[n-maxTail:]
	}
	if drop := len(t.buf) + len(b) - maxTail; drop > 0 {
		t.buf = t.buf[:copy(t.buf, t.buf[drop:])]
	}
	t.buf = append(t.buf, b...)
	return n, nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
