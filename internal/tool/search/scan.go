package search

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"tote/internal/permission"
)

// found is what one file holds.
type found struct {
	file file
	// lines counts the matching ones, as far as anybody wanted to know.
	lines int
	// unreadable: it could not be opened or read.
	unreadable bool
}

// quota is how much of a search is wanted.
type quota struct {
	// perFile is how many matching lines of a file are counted, enough how
	// many in all files end the search.
	perFile, enough int
}

// scanner searches files in their order.
type scanner struct {
	s         *scope
	p         *pattern
	narrowers []narrower
	workers   int
	// few files are searched before a narrower is asked; warm: they were.
	few  int
	warm bool
}

func newScanner(s *scope, p *pattern, narrowers []narrower, few int) *scanner {
	return &scanner{s: s, p: p, narrowers: narrowers, few: few, workers: min(runtime.GOMAXPROCS(0), 8)}
}

// scan returns the files that match, in order, until there is enough, and how
// many of the files up to there could not be read.
func (sc *scanner) scan(ctx context.Context, files []file, q quota) (out []found, unreadable int, err error) {
	total := 0
	var want []bool // for the files at the front, as far as it is known
	for len(files) > 0 && total < q.enough {
		if len(want) == 0 {
			if want, err = sc.narrow(ctx, files); err != nil {
				return nil, 0, err
			}
		}
		n := min(len(want), perBatch)
		results, err := sc.search(ctx, files[:n], want[:n], q)
		if err != nil {
			return nil, 0, err
		}
		files, want = files[n:], want[n:]
		for _, r := range results {
			switch {
			case total >= q.enough:
			case r.unreadable:
				unreadable++
			case r.lines > 0:
				out = append(out, r)
				total += r.lines
			}
		}
	}
	return out, unreadable, nil
}

// narrow says which of the files at the front are worth opening. The first ones
// are opened as they are: where a pattern is common, that ends the search.
func (sc *scanner) narrow(ctx context.Context, files []file) ([]bool, error) {
	for len(sc.narrowers) > 0 && sc.warm {
		n := sc.narrowers[0]
		want, err := n.narrow(ctx, files[:n.batch(files)])
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil:
			return want, nil
		}
		sc.narrowers = sc.narrowers[1:] // it cannot tell, or is not to be trusted
	}
	first := perBatch
	if len(sc.narrowers) > 0 {
		first = sc.few
	}
	sc.warm = true
	want := make([]bool, min(len(files), first))
	for i := range want {
		want[i] = true
	}
	return want, nil
}

// search looks into the wanted files side by side.
func (sc *scanner) search(ctx context.Context, batch []file, want []bool, q quota) ([]found, error) {
	out := make([]found, len(batch))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(sc.workers, len(batch)) {
		// It ends when the batch is used up, or with ctx.
		wg.Go(func() {
			r := reader{s: sc.s}
			defer r.close()
			for ctx.Err() == nil {
				// A few at a time, so that a worker stays in one folder.
				const run = 8
				last := int(next.Add(run))
				for i := last - run; i < min(last, len(batch)); i++ {
					if want[i] && ctx.Err() == nil {
						out[i] = r.count(batch[i], sc.p, q.perFile)
					}
				}
				if last >= len(batch) {
					return
				}
			}
		})
	}
	wg.Wait()
	return out, ctx.Err()
}

// reader opens and reads one file after the other.
type reader struct {
	s *scope
	// dir is open at the folder name, where the last file was.
	dir  *os.Root
	name string
	// buf and lower are used again for each file.
	buf, lower []byte
}

func (r *reader) close() {
	if r.dir != nil {
		_ = r.dir.Close() // opened for reading only
		r.dir = nil
	}
}

// maxKept is how large a buffer is kept for the next file.
const maxKept = 4 << 20

// text reads a file. The text is good until the next one is read.
func (r *reader) text(f file) ([]byte, error) {
	file, err := r.open(f)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // opened for reading only
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, skipped{}
	}
	if cap(r.buf) > maxKept {
		r.buf, r.lower = nil, nil
	}
	text, err := contents(file, &r.buf)
	return text, err
}

func (r *reader) open(f file) (*os.File, error) {
	if r.s.single {
		return r.s.root.OpenFile(r.s.start, openFlags, 0)
	}
	name, base := path.Split(f.rel)
	if r.dir == nil || r.name != name {
		r.close()
		dir, err := r.s.root.OpenRoot(path.Join(r.s.start, name))
		if err != nil {
			return nil, err
		}
		r.dir, r.name = dir, name
	}
	return r.dir.OpenFile(base, openFlags, 0)
}

// count counts the matching lines of a file, up to most.
func (r *reader) count(f file, p *pattern, most int) found {
	out := found{file: f}
	text, err := r.text(f)
	if err != nil {
		_, quiet := errors.AsType[skipped](err)
		out.unreadable = !quiet && !errors.Is(err, os.ErrNotExist)
		return out
	}
	find := p.find(text, &r.lower)
	for out.lines < most {
		if _, ok := find.match(); !ok {
			break
		}
		out.lines++
	}
	if out.lines > 0 && !r.s.single && withheld(r.s, f) {
		out.lines = 0
	}
	return out
}

// withheld reports whether a file is one of those that hold keys, or that the user's
// rules deny: a search over a folder must not tell what stands in them.
func withheld(s *scope, f file) bool {
	abs := filepath.Join(s.real, filepath.FromSlash(f.rel))
	v, _ := (permission.Rules{Mode: permission.ModeFull}).Decide(permission.Request{
		Tool: "grep", Action: permission.Read, Path: filepath.ToSlash(abs), Inside: true,
	})
	return v == permission.Deny || s.denied != nil && s.denied(abs)
}
