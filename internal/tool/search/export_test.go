package search

// Ignored answers as the walk would for an entry at path, where files holds the
// ignore files by their folder ("" is the top) in no order.
func Ignored(files map[string]string, path string, folder bool) bool {
	rs := (*ignoreRules)(nil).under("", []byte(files[""]))
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		if rs.ignores(path[:i], entryFolder) {
			return true
		}
		rs = rs.under(path[:i], []byte(files[path[:i]]))
	}
	kind := entryFile
	if folder {
		kind = entryFolder
	}
	return rs.ignores(path, kind)
}

// Wildmatch is the matcher of ignore rules.
func Wildmatch(pattern, text string) bool { return wildmatch(pattern, text) }

// NewGrepWith makes a grep that asks only the programs named, however few files
// there are, and tells used which of them answered.
func NewGrepWith(used func(program string), lookPath func(string) (string, error)) *Grep {
	return NewGrep(Options{LookPath: lookPath, few: 1, used: used})
}

// Reading is what is made of a pattern.
type Reading struct{ p *pattern }

// Read reads a pattern.
func Read(text string, fold bool) (Reading, error) {
	p, err := newPattern(grepArgs{Pattern: text, CaseInsensitive: fold})
	return Reading{p}, err
}

// Line reports whether one line matches.
func (r Reading) Line(line []byte) bool { return r.p.re.Match(line) }

// Wide is the pattern for ripgrep, Needs the texts for both programs.
func (r Reading) Wide() string { return r.p.wide }

// Needs are the texts of which every match holds one.
func (r Reading) Needs() (texts []string, fold bool) {
	for _, n := range r.p.needs {
		texts = append(texts, string(n))
	}
	return texts, r.p.fold
}

// Lines are the numbers of the lines that match.
func (r Reading) Lines(text []byte) []int {
	var out []int
	var scratch []byte
	f := r.p.find(text, &scratch)
	for {
		s, ok := f.match()
		if !ok {
			return out
		}
		out = append(out, s.number)
	}
}

// Kept reports whether a glob keeps a path.
func Kept(text, rel string) (bool, error) {
	g, err := newGlob(text)
	return err == nil && g.keeps(rel), err
}
