package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxText is how long an answer may be, in bytes.
const maxText = 64 << 10

// report writes an answer of grep.
type report struct {
	s  *scope
	q  query
	sb strings.Builder
	// shown counts the matches or files in the answer; more: there are others
	// behind them.
	shown int
	more  bool
}

// files lists the files that match, counted or not.
func (r *report) files(hits []found) {
	for i, h := range hits {
		line := r.s.show(h.file.rel)
		if r.q.args.Count {
			line = fmt.Sprintf("%s: %d", line, h.lines)
		}
		switch {
		case i < r.q.args.Offset:
			continue
		case r.full(len(line)):
			r.more = true
			return
		}
		r.sb.WriteString(line)
		r.sb.WriteByte('\n')
		r.shown++
	}
}

// full reports whether something of that length has no room any more.
func (r *report) full(length int) bool {
	return r.shown >= r.q.args.Limit || r.shown > 0 && r.sb.Len()+length > maxText
}

// matches reads the files that match again and writes their lines.
func (r *report) matches(ctx context.Context, hits []found) error {
	in := reader{s: r.s}
	defer in.close()
	skip := r.q.args.Offset
	for _, h := range hits {
		if err := ctx.Err(); err != nil {
			return err
		}
		if skip >= h.lines {
			skip -= h.lines
			continue
		}
		if r.shown >= r.q.args.Limit {
			r.more = true
			return nil
		}
		text, err := in.text(h.file)
		if err != nil {
			if _, quiet := errors.AsType[skipped](err); !quiet {
				fmt.Fprintf(&r.sb, "%s\n[it could not be read: %v]\n", r.s.show(h.file.rel), plain(err))
			}
			continue
		}
		r.file(h.file, text, r.q.pattern.find(text, &in.lower), skip)
		skip = 0
		if r.more {
			return nil
		}
	}
	return nil
}

// file writes the matches of one file behind those that are skipped.
func (r *report) file(f file, text []byte, find *finder, skip int) {
	last := -1 // the number of the last line that was written, -1 for none
	for {
		m, ok := find.match()
		if !ok {
			return
		}
		if skip > 0 {
			skip--
			continue
		}
		block := r.block(text, m, last)
		if r.full(len(block)) {
			r.more = true
			return
		}
		if last < 0 {
			if r.sb.Len() > 0 {
				r.sb.WriteByte('\n')
			}
			r.sb.WriteString(r.s.show(f.rel) + "\n")
		}
		r.sb.WriteString(block)
		r.shown++
		last = m.number
		if next := r.after(text, m); next > last {
			last = next
		}
	}
}

// block is a match with the lines before it that are not written yet, and those
// behind it.
func (r *report) block(text []byte, m span, last int) string {
	var sb strings.Builder
	before := []span{}
	start, number := m.start, m.number
	for len(before) < r.q.args.Context && start > 0 && number-1 > last {
		prev := bytes.LastIndexByte(text[:start-1], '\n') + 1
		number--
		before = append(before, lineAt(text, prev, number))
		start = prev
	}
	if last >= 0 && r.q.args.Context > 0 && number > last+1 {
		sb.WriteString("--\n")
	}
	for _, s := range slices.Backward(before) {
		writeLine(&sb, text, s, '-')
	}
	writeLine(&sb, text, m, ':')
	r.eachAfter(text, m, func(s span) { writeLine(&sb, text, s, '-') })
	return sb.String()
}

// after is the number of the last line behind a match that is shown with it.
func (r *report) after(text []byte, m span) int {
	n := m.number
	r.eachAfter(text, m, func(s span) { n = s.number })
	return n
}

// eachAfter gives the lines behind a match, up to the next match: that one is
// written on its own.
func (r *report) eachAfter(text []byte, m span, each func(span)) {
	at, number := lineEnd(text, m.start)+1, m.number
	for range r.q.args.Context {
		if at >= len(text) {
			return
		}
		number++
		s := lineAt(text, at, number)
		if r.q.pattern.re.Match(text[s.start:s.end]) {
			return
		}
		each(s)
		at = lineEnd(text, at) + 1
	}
}

func writeLine(sb *strings.Builder, text []byte, s span, mark byte) {
	fmt.Fprintf(sb, "%d%c%s\n", s.number, mark, cutLine(text[s.start:s.end]))
}

// end adds what the model has to know beside the matches.
func (r *report) end(w walked, unreadable, hits int) string {
	what := "matches"
	if r.q.args.FilesOnly || r.q.args.Count {
		what = "files"
	}
	switch {
	case r.more:
		fmt.Fprintf(&r.sb, "[more %s; narrow the pattern or read on with offset %d]\n", what, r.q.args.Offset+r.shown)
	case r.shown == 0 && hits > 0:
		fmt.Fprintf(&r.sb, "[no more %s]\n", what)
	case r.shown == 0:
		fmt.Fprintf(&r.sb, "[no matches in %s; hidden, ignored and vendored files are searched only in a folder that path names]\n", plural(len(w.files), "file"))
	}
	if w.large > 0 {
		fmt.Fprintf(&r.sb, "[%s larger than 20 MB not searched]\n", plural(w.large, "file"))
	}
	if w.closed > 0 {
		fmt.Fprintf(&r.sb, "[%s could not be read]\n", plural(w.closed, "folder"))
	}
	if unreadable > 0 {
		fmt.Fprintf(&r.sb, "[%s could not be read]\n", plural(unreadable, "file"))
	}
	return r.sb.String()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
