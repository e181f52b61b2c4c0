package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"tote/internal/delivery"
	"tote/internal/provider"
)

// Stream implements [provider.Provider]. The process and its files are gone when
// it returns.
func (r *Runner) Stream(ctx context.Context, body provider.Body) iter.Seq2[provider.Event, error] {
	return func(yield func(provider.Event, error) bool) {
		stopped := false
		emit := func(e provider.Event) bool {
			if stopped || ctx.Err() != nil {
				return false
			}
			stopped = true // also where yield panics
			stopped = !yield(e, nil)
			return !stopped
		}
		finish, err := r.run(ctx, body, emit)
		switch {
		case stopped:
			return
		case ctx.Err() != nil:
			err = cancelled(ctx)
		case err == nil:
			emit(finish)
			return
		}
		yield(nil, r.polish(err))
	}
}

func cancelled(ctx context.Context) *provider.Error {
	return &provider.Error{Failure: delivery.Failure{Kind: delivery.FailCancelled}, Err: context.Cause(ctx)}
}

// run carries one request out: stage, start, read, clean up.
func (r *Runner) run(ctx context.Context, body provider.Body, emit func(provider.Event) bool) (provider.Finish, error) {
	j, ok := body.Attached.(*job)
	if !ok || j.runner != r.spec.runner {
		return provider.Finish{}, &provider.Error{Failure: delivery.Failure{Kind: delivery.FailSchema}, Message: "the body was made by another adapter"}
	}
	program, err := r.find(ctx)
	if err != nil {
		return provider.Finish{}, err
	}
	c := &collector{emit: emit}
	st, err := r.stage(ctx, j)
	defer func() {
		if err := st.remove(); err != nil {
			c.remark("the staged attachments could not be removed; the next start tries again: "+err.Error(), false)
		}
	}()
	if err != nil {
		return provider.Finish{}, stageError(err)
	}
	l, input, size := r.launch(j, st, body)
	if err := r.fits(l.prompt); err != nil {
		return provider.Finish{}, err
	}
	if st.dir != "" {
		c.folder = filepath.Base(st.dir)
	}
	args := append(r.prefix(), r.spec.argv(l)...)
	p, err := start(ctx, program, args, r.o.Dir, r.o.Env, r.o.Grace, input)
	if err != nil {
		return provider.Finish{}, r.startError(err)
	}
	defer p.stop()
	if len(j.files) > 0 && r.mayIgnore() {
		c.remark("the attachments lie inside the working folder; gemini skips what .gitignore or .geminiignore covers there", false)
	}
	if err := c.follow(p, r.spec.reader(c)); err != nil {
		return provider.Finish{}, err
	}
	finish, err := r.outcome(c, p)
	if err == nil && p.taken < size {
		c.remark(fmt.Sprintf("%s did not read all of what it was given (%d of %d bytes)", r.spec.runner, p.taken, size), true)
	}
	return finish, err
}

// launch says what to start, and gives its standard input and the size of that in
// bytes.
func (r *Runner) launch(j *job, st staging, body provider.Body) (*launch, io.ReadCloser, int64) {
	l := &launch{
		model: r.o.Model, dir: r.o.Dir, mode: r.o.Mode, modeArgs: r.spec.modes[r.o.Mode], effort: j.effort, command: r.command(),
	}
	if r.spec.blocks {
		return l, body.Open(), body.Len()
	}
	l.prompt = j.prompt(r.spec, st.path)
	if len(j.files) > 0 {
		l.folder = st.folder()
	}
	for _, f := range j.files {
		l.files = append(l.files, st.path(f.name))
	}
	if r.takes("{prompt_file}") {
		l.promptFile = st.promptFile()
	}
	if r.takes("{prompt}") || r.takes("{prompt_file}") {
		return l, io.NopCloser(strings.NewReader("")), 0
	}
	return l, io.NopCloser(strings.NewReader(l.prompt)), int64(len(l.prompt))
}

// prefix is the arguments of the command before those of the runner.
func (r *Runner) prefix() []string {
	if r.spec.runner == Custom {
		return nil // its template holds them all
	}
	return append([]string(nil), r.command()[1:]...)
}

// fits refuses a prompt that the program would cut or refuse.
func (r *Runner) fits(prompt string) error {
	e := &provider.Error{Failure: delivery.Failure{Kind: delivery.FailTooLarge, Class: delivery.ClassBody}}
	switch {
	case r.spec.maxBytes > 0 && int64(len(prompt)) > r.spec.maxBytes:
		e.Failure.Learned.MaxRequest = r.spec.maxBytes
	case r.spec.maxRunes > 0 && int64(utf8.RuneCountInString(prompt)) > r.spec.maxRunes:
		e.Failure.Learned.MaxRequest = r.spec.maxRunes
	default:
		return nil
	}
	e.Message = fmt.Sprintf("%s takes a prompt of at most %d characters", r.spec.runner, e.Failure.Learned.MaxRequest)
	return e
}

// mayIgnore reports whether gemini may take the staged files for ignored ones:
// they lie inside the working folder, and a file of rules is there.
func (r *Runner) mayIgnore() bool {
	if r.spec.runner != Gemini {
		return false
	}
	rel, err := filepath.Rel(r.o.Dir, r.o.Scratch)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	for at := r.o.Scratch; ; at = filepath.Dir(at) {
		for _, name := range []string{".gitignore", ".geminiignore"} {
			if _, err := os.Stat(filepath.Join(at, name)); err == nil {
				return true
			}
		}
		if at == r.o.Dir || at == filepath.Dir(at) {
			return false
		}
	}
}

// lineReader reads one line of a program's output.
type lineReader interface{ line(line []byte) error }

// errStopped ends reading when nobody wants more.
var errStopped = errors.New("stopped by the consumer")

// follow reads the output to its end, or up to the program's last word.
func (c *collector) follow(p *process, r lineReader) error {
	lines := provider.NewLines(p)
	for {
		line, err := lines.Next()
		if len(line) > 0 || err == nil {
			if rerr := r.line(line); rerr != nil {
				return rerr
			}
		}
		switch {
		case c.ended:
			return nil
		case err == nil:
		case errors.Is(err, provider.ErrLineTooLong):
			return &provider.Error{Failure: delivery.Failure{Kind: delivery.FailProtocol}, Err: err}
		default:
			return nil // the exit code tells whether that was well
		}
	}
}

// stageError is what kept the files from being staged.
func stageError(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return &provider.Error{Failure: delivery.Failure{Kind: delivery.FailSchema}, Hint: "free some space on the disk", Err: err, Local: true}
	}
	return &provider.Error{
		Failure: delivery.Failure{Kind: delivery.FailSchema}, Err: err, Local: true,
		Hint: "a stored file is gone or damaged, or the scratch folder cannot be written; tote store verify finds the first",
	}
}

// startError is what kept the program from starting.
func (r *Runner) startError(err error) error {
	if errors.Is(err, syscall.E2BIG) {
		return &provider.Error{
			Failure: delivery.Failure{Kind: delivery.FailTooLarge, Class: delivery.ClassBody}, Err: fmt.Errorf("start %s: %w", r.spec.runner, err), Local: true,
		}
	}
	return &provider.Error{
		Failure: delivery.Failure{Kind: delivery.FailNetwork}, Hint: r.obtain(), Err: fmt.Errorf("start %s: %w", r.spec.runner, err), Local: true,
	}
}
