package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// process is one started program with everything that it starts itself.
//
// Its pipes are files, so that waiting for the program does not wait for what it
// has started; that is ended once the program is gone.
//
// A pipe takes up to 64 KB that nobody reads. Where the system can be asked how
// much that is (see measures), our copy of the program's end of the input is kept
// for the question until the program is gone.
type process struct {
	cmd    *exec.Cmd
	group  *group
	cancel context.CancelFunc
	grace  time.Duration

	in, out, diag *os.File
	kept          *os.File     // the program's end of in, nil where nothing is measured
	written       atomic.Int64 // what went into in, in bytes
	taken         int64        // how much of that the program read; set before exited is closed
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
		unwanted: ctx.Done(), group: newGroup(grace),
	}
	p.cmd = exec.CommandContext(ctx, program, args...)
	p.cmd.Dir, p.cmd.Env = dir, env
	p.group.prepare(p.cmd)
	p.cmd.Cancel = func() error { return p.group.ask(p.cmd.Process) }
	p.cmd.WaitDelay = grace
	theirs, err := p.pipes()
	if err == nil {
		started := make(chan error, 1)
		// Ends when the program does: by itself, or killed after a cancellation.
		go p.live(started)
		err = <-started
	}
	closeAll(theirs)
	var lone *loneError
	if err != nil && !errors.As(err, &lone) {
		cancel()
		closeAll([]*os.File{p.in, p.kept, p.out, p.diag})
		return nil, errors.Join(err, input.Close(), p.group.close())
	}
	// Ends when the input is written, or the program or stop closes its pipe.
	go p.feed(input)
	// Ends when all who hold the pipe are gone, or when stop closes it.
	go func() {
		defer close(p.read)
		_, _ = io.Copy(&p.words, p.diag) // what was read counts
	}()
	if lone != nil {
		p.stop()
		return nil, lone
	}
	return p, nil
}

// loneError is that of a program which runs, but not in its group.
type loneError struct{ err error }

func (e *loneError) Error() string { return "group the process: " + e.err.Error() }

func (e *loneError) Unwrap() error { return e.err }

// live starts the program, says how that went, and waits for it. All of it is on
// one thread: Linux takes the end of the thread that started a program for the
// end of this one, and would end the program with it.
func (p *process) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	// What cannot be grouped is ended one by one, without what it started.
	if err := p.group.add(p.cmd.Process); err != nil {
		started <- &loneError{err}
	} else {
		started <- nil
	}
	p.wait()
}

// pipes makes the pipes and returns the program's ends.
func (p *process) pipes() ([]*os.File, error) {
	var theirs []*os.File
	inR, inW, err := os.Pipe()
	if err != nil {
		return theirs, err
	}
	p.in, p.cmd.Stdin = inW, inR
	if measures {
		p.kept = inR
	} else {
		theirs = append(theirs, inR)
	}
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
	_, _ = io.Copy(sink{p}, src) // what a program did not take is told by taken
	_ = p.in.Close()             // as above
	_ = input.Close()            // it was only read
	if src.err != nil {
		p.feedErr.Store(&src.err)
		p.cancel() // what it got is cut, and it must not be answered
	}
}

// sink counts what is written.
type sink struct{ p *process }

func (s sink) Write(b []byte) (int, error) {
	n, err := s.p.in.Write(b)
	s.p.written.Add(int64(n))
	return n, err
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
	p.account()
	close(p.exited)
}

// account ends the writing of input that nobody reads any more, and finds out how
// much was read. Pipes of Windows know no deadline; there the last reader's end
// ends the writing, and the grace bounds the wait for one who is in no job.
func (p *process) account() {
	_ = p.in.SetWriteDeadline(time.Now()) // as said, or all is written
	late := time.NewTimer(p.grace)
	defer late.Stop()
	select {
	case <-p.fed:
	case <-late.C:
	}
	p.taken = p.written.Load()
	if p.kept != nil {
		p.taken = max(0, p.taken-unread(p.kept))
		closeAll([]*os.File{p.kept})
	}
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
