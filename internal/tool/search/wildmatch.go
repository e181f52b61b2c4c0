package search

import "strings"

// wild is how an attempt to match ended. The two ways of giving up keep a
// pattern of many stars from being tried over and over on a hopeless text.
type wild uint8

const (
	wildNo   wild = iota // not here; a star before may try further on
	wildYes              // matched
	wildEnd              // the text is too short: no star helps
	wildDeep             // only a star that crosses folders helps
)

// wildmatch matches as git does for ignore rules: "*", "?" and classes stop at a
// slash, "**" between slashes or at an end does not.
func wildmatch(pattern, text string) bool { return wildHere(pattern, text) == wildYes }

func wildHere(p, t string) wild {
	i, j := 0, 0
	for ; i < len(p); i, j = i+1, j+1 {
		if p[i] != '*' {
			if j >= len(t) {
				return wildEnd
			}
			next, got := wildOne(p, i, t[j])
			if got != wildYes {
				return got
			}
			i = next
			continue
		}
		s := starRun(p, i)
		if s.deep || s.end >= len(p) || p[s.end] != '/' {
			return wildStar(p, s, t[j:])
		}
		// One star before a slash takes the rest of this folder's name.
		slash := strings.IndexByte(t[j:], '/')
		if slash < 0 {
			return wildEnd
		}
		i, j = s.end, j+slash
	}
	if j < len(t) {
		return wildNo
	}
	return wildYes
}

// wildOne matches c against what stands at i and is no star. next is where that
// ends.
func wildOne(p string, i int, c byte) (next int, got wild) {
	hit := false
	switch p[i] {
	case '?':
		hit = c != '/'
	case '[':
		if i, hit = wildClass(p, i+1, c); i < 0 {
			return i, wildEnd
		}
		hit = hit && c != '/'
	case '\\':
		i++
		hit = i < len(p) && p[i] == c
	default:
		hit = p[i] == c
	}
	if hit {
		return i, wildYes
	}
	return i, wildNo
}

// stars are one or more stars in a pattern. They end before end; deep: they
// cross folders.
type stars struct {
	end  int
	deep bool
}

// starRun reads the stars at i.
func starRun(p string, i int) stars {
	end := i + 1
	for end < len(p) && p[end] == '*' {
		end++
	}
	if end-i < 2 || i > 0 && p[i-1] != '/' {
		return stars{end: end}
	}
	rest := p[end:]
	return stars{end: end, deep: rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`)}
}

// wildStar matches the stars and what follows them.
func wildStar(p string, s stars, t string) wild {
	rest := p[s.end:]
	if rest == "" {
		if !s.deep && strings.Contains(t, "/") {
			return wildDeep
		}
		return wildYes
	}
	// "a/**/b" matches "a/b" too.
	if s.deep && rest[0] == '/' && wildHere(rest[1:], t) == wildYes {
		return wildYes
	}
	for k := range len(t) {
		if got := wildHere(rest, t[k:]); got != wildNo && (got != wildDeep || !s.deep) {
			return got
		}
		if !s.deep && t[k] == '/' {
			return wildDeep
		}
	}
	return wildEnd
}

// wildClass matches c against the class whose inside starts at i. next is the
// index of its closing bracket, negative for a class that never closes.
func wildClass(p string, i int, c byte) (next int, hit bool) {
	negated := i < len(p) && (p[i] == '!' || p[i] == '^')
	if negated {
		i++
	}
	r := classReader{p: p, i: i, c: c}
	for first := true; first || r.i < len(p) && p[r.i] != ']'; first = false {
		if !r.element() {
			return -1, false
		}
	}
	if r.i >= len(p) {
		return -1, false
	}
	return r.i, r.hit != negated
}

// classReader goes through the elements of a class and notes whether c is in
// one of them.
type classReader struct {
	p   string
	i   int
	c   byte
	hit bool
	// before is the start of a possible range, 0 for none.
	before byte
}

// element reads one element; it returns false where the class breaks off.
func (r *classReader) element() bool {
	rest := r.p[r.i:]
	switch {
	case strings.HasPrefix(rest, "[:"):
		return r.named(rest[2:])
	case r.before != 0 && len(rest) > 1 && rest[0] == '-' && rest[1] != ']':
		r.i++
		first := r.before
		r.before = 0 // a range starts no other range
		last, ok := r.char()
		r.hit = r.hit || first <= r.c && r.c <= last
		return ok
	}
	ch, ok := r.char()
	r.hit = r.hit || ok && r.c == ch
	r.before = ch
	return ok
}

// char reads one byte, which may stand behind a backslash.
func (r *classReader) char() (ch byte, ok bool) {
	if r.i < len(r.p) && r.p[r.i] == '\\' {
		r.i++
	}
	if r.i >= len(r.p) {
		return 0, false
	}
	r.i++
	return r.p[r.i-1], true
}

// named reads a class name like "[:alpha:]", behind its first two characters.
func (r *classReader) named(rest string) bool {
	closing := strings.IndexByte(rest, ']')
	if closing < 0 {
		return false
	}
	name, ok := strings.CutSuffix(rest[:closing], ":")
	if !ok { // no class name after all
		r.hit = r.hit || r.c == '['
		r.before = '['
		r.i++
		return true
	}
	in, known := namedClass(name, r.c)
	r.hit = r.hit || in
	r.before = 0
	r.i += 2 + closing + 1
	return known
}

// namedClass knows the class names of POSIX, for ASCII.
func namedClass(name string, c byte) (in, known bool) {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	graph := 0x21 <= c && c <= 0x7e
	switch name {
	case "alnum":
		return lower || upper || digit, true
	case "alpha":
		return lower || upper, true
	case "blank":
		return c == ' ' || c == '\t', true
	case "cntrl":
		return c < 0x20 || c == 0x7f, true
	case "digit":
		return digit, true
	case "graph":
		return graph, true
	case "lower":
		return lower, true
	case "print":
		return graph || c == ' ', true
	case "punct":
		return graph && !lower && !upper && !digit, true
	case "space":
		return c == ' ' || '\t' <= c && c <= '\r', true
	case "upper":
		return upper, true
	case "xdigit":
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F', true
	}
	return false, false
}
