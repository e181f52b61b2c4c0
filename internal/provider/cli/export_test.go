package cli

import "tote/internal/provider"

// ReadLines has a runner's reader read output as it would come from its program,
// and reports whether it ended with a last word.
func ReadLines(runner string, lines *provider.Lines, emit func(provider.Event) bool) (ended bool, err error) {
	s, _ := specOf(runner) // tests name one that is there
	c := &collector{emit: emit}
	r := s.reader(c)
	for {
		line, err := lines.Next()
		if len(line) > 0 || err == nil {
			if rerr := r.line(line); rerr != nil {
				return c.ended, rerr
			}
		}
		if c.ended || err != nil {
			return c.ended, nil
		}
	}
}

// EscapePath is escapePath.
func EscapePath(p string) string { return escapePath(p) }
