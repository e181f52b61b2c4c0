package permission

import (
	"path"
	"slices"
	"strings"
)

// A loose word is one of which the text does not tell what the program gets: the
// shell puts the value of a variable or the names of files in its place.

// expands reports whether a variable or a command stands in the word.
func expands(word string) bool { return outside(word, "'", "$`") }

// isLoose reports whether the word is a loose one.
func isLoose(word string) bool { return expands(word) || outside(word, `'"`, "*?[") }

// outside reports whether one of the signs stands outside the quotes of that kind.
func outside(word, quotes, signs string) bool {
	quote := byte(0)
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case quote == '\'' && c != '\'':
		case c == '\\':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case (quote == 0 || strings.IndexByte(quotes, quote) < 0) && strings.IndexByte(signs, c) >= 0:
			return true
		}
	}
	return false
}

// isResolved reports whether the command holds no word with an expansion.
func isResolved(command string) bool { return !slices.ContainsFunc(words(command), expands) }

// loosened is a command with any text in the place of its loose words. ok is false
// where there is none.
func loosened(command string) (out []mark, ok bool) {
	for i, w := range words(command) {
		if isLoose(w) {
			ok = true
			out = append(out, mark{run: true}) // a word may vanish, and become several
			continue
		}
		if i > 0 {
			w = " " + w
		}
		out = append(out, plainMarks(w)...)
	}
	return out, ok
}

// mayBecome reports whether loose words can make the line one that the rule is about.
func (r Rule) mayBecome(q Request) bool {
	if r.Pattern == "" || !r.names(q.Tool) {
		return false
	}
	patterns := [][]mark{globMarks(r.Pattern)}
	if stem, ok := strings.CutSuffix(r.Pattern, " *"); ok {
		patterns = append(patterns, globMarks(stem))
	}
	return slices.ContainsFunc(q.Commands, func(c string) bool {
		line, ok := loosened(bare(c))
		return ok && slices.ContainsFunc(patterns, func(p []mark) bool { return overlap(p, line) })
	})
}

// isGlob reports whether a path that a command names holds signs that the shell
// replaces by names of files. Whether they are quoted is not known here.
func isGlob(p string) bool { return strings.ContainsAny(p, "*?[") || hasBraces(p) }

// look asks the folders which files the globs of a command stand for. The files are
// judged like those that are named; the globs that are left could be any. Where
// something runs before the last command that can change a folder, nothing is asked.
func (r Rules) look(q Request) (_ Request, globs []string) {
	if q.Action != Execute || !slices.ContainsFunc(q.Paths, isGlob) {
		return q, nil
	}
	// What the last command changes comes too late for the globs.
	steady := !q.Opaque && !slices.ContainsFunc(q.Commands[:max(len(q.Commands)-1, 0)], func(c string) bool { return !onlyReads(c) })
	all := slices.Clone(q.Paths)
	for _, p := range q.Paths {
		if !isGlob(p) {
			continue
		}
		var names []string
		known := false
		if r.Names != nil && steady && !hasBraces(p) {
			names, known = r.Names(p)
		}
		if !known {
			globs = append(globs, p)
		}
		all = append(all, names...)
	}
	q.Paths = all
	return q, globs
}

// silent are programs that do not open the files that their arguments name.
var silent = []string{"echo", "printf", "test", "[", "ls", "stat", "mkdir", "touch", "basename", "dirname", "true", "false", ":", "pwd", "cd"}

// readers are programs that open files and change none, whatever their arguments.
var readers = []string{
	"cat", "head", "tail", "grep", "egrep", "fgrep", "wc", "diff", "cmp", "cut", "tr", "nl", "od", "strings", "md5sum", "sha1sum", "sha256sum", "realpath",
	"readlink", "du", "ls", "stat", "echo", "printf", "test", "[", "basename", "dirname", "true", "false", ":", "pwd", "cd",
}

func onlyReads(command string) bool { return slices.Contains(readers, words(command)[0]) }

// reading is how words with expansions are read as paths.
type reading uint8

const (
	narrowly reading = iota // by what is written, for files that are denied everywhere
	widely                  // as all that they may be, for what the user denies
)

// unresolved are the paths that the words with expansions may name, as globs: where a
// name is a variable, it is any number of folders. Words that are nothing but a
// variable give a path only where they are read widely, as any path.
func (q Request) unresolved(how reading) (out []string) {
	for _, c := range q.Commands {
		w := words(bare(c))
		if slices.Contains(silent, w[0]) {
			continue
		}
		for _, arg := range w[1:] {
			if !expands(arg) {
				continue
			}
			if p := wordGlob(arg, how); p != "" {
				out = append(out, p)
			}
		}
	}
	return out
}

// hole stands for an expansion in a word.
const hole = "\x00"

// anyFolder is the name that stands for folders of which nothing is known.
const anyFolder = "\x01"

// wordGlob is the glob of the paths that a word with expansions may name, "" where
// nothing in it says which.
func wordGlob(word string, how reading) string {
	wide := how == widely
	folders := anyFolder
	if wide {
		folders = "**"
	}
	s := strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(holes(word))
	if _, value, ok := strings.Cut(s, "="); ok {
		s = value
	}
	var elems []string
	if !strings.HasPrefix(s, "/") {
		elems = append(elems, folders)
	}
	told := false
	for elem := range strings.SplitSeq(strings.Trim(s, "/"), "/") {
		before, rest, isHole := strings.Cut(elem, hole)
		after := rest[strings.LastIndex(rest, hole)+1:]
		switch {
		case !isHole:
			elems = append(elems, elem)
			told = told || elem != "" && elem != "." && elem != ".."
		case before+after == "" && told && !wide:
			elems = append(elems, "*")
		case before+after == "":
			elems = append(elems, folders)
		case wide, strings.HasPrefix(before, "."):
			elems = append(elems, before+"*"+after)
			told = true
		case after != "":
			elems = append(elems, "x"+after) // only what it ends with tells what it is
			told = true
		default:
			elems = append(elems, folders)
		}
	}
	if !told && !wide {
		return ""
	}
	return strings.Join(elems, "/")
}

// holes puts a hole in the place of each expansion.
func holes(word string) string {
	var sb strings.Builder
	for i := 0; i < len(word); i++ {
		if word[i] != '$' && word[i] != '`' {
			sb.WriteByte(word[i])
			continue
		}
		sb.WriteString(hole)
		i += expansion(word[i:]) - 1
	}
	return sb.String()
}

// expansion is the length of the expansion at the start of s.
func expansion(s string) int {
	if s[0] == '`' {
		if end := strings.IndexByte(s[1:], '`'); end >= 0 {
			return end + 2
		}
		return len(s)
	}
	if len(s) > 1 && (s[1] == '{' || s[1] == '(') {
		depth := 0
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '{', '(':
				depth++
			case '}', ')':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return len(s)
	}
	n := 1
	for n < len(s) && isSetting(s[1:n+1]+"=") {
		n++
	}
	if n == 1 && len(s) > 1 {
		n = 2 // $1, $?, $@
	}
	return n
}

// maybe says what speaks against a line of which the text does not tell everything,
// "" for nothing.
func (r Rules) maybe(q Request, globs []string) string {
	strict := slices.Concat(r.Deny, r.Ask)
	for _, rule := range strict {
		if rule.mayBecome(q) {
			return "a word of it may become what there is a rule about: " + rule.String()
		}
	}
	loose := q.unresolved(widely)
	for _, g := range slices.Concat(globs, q.unresolved(narrowly)) {
		if mayBeSecret(g) && !r.opensGlob(g) {
			return "it may reach files that hold keys: " + shown(g)
		}
	}
	if g := r.mayBeClosed(globs, loose); g != "" {
		return "it may reach files of tote's own: " + shown(g)
	}
	loose = append(loose, globs...)
	for _, rule := range strict {
		if rule.Pattern != "" && rule.guards(q, loose) {
			return "it may reach what there is a rule about: " + rule.String()
		}
	}
	return ""
}

// mayBeClosed finds a path that may be of what is closed. A variable in front of a
// path could be any folder, so there the last name has to be that of what is closed.
func (r Rules) mayBeClosed(globs, loose []string) string {
	for _, c := range r.Closed {
		for _, g := range globs {
			if closedOverlap(c, g, "/**") {
				return g
			}
		}
		for _, g := range loose {
			if spelled(g) && closedOverlap(c, g, "") {
				return g
			}
		}
	}
	return ""
}

// spelled reports whether a glob says anything of the last name.
func spelled(glob string) bool { return path.Base(glob) != "**" }

// shown is the last name of a glob, for people.
func shown(glob string) string { return strings.ReplaceAll(path.Base(glob), anyFolder, "...") }

// guards reports whether a rule about files may be about those that a command names
// loosely, or, where it keeps files from changes, about those that it names at all.
func (r Rule) guards(q Request, loose []string) bool {
	may := func(p string) bool { return pathsOverlap(r.Pattern+"/**", p) }
	switch {
	case r.Tool == "read" || r.Tool == "*":
		return slices.ContainsFunc(loose, may)
	case !r.changes() || !slices.ContainsFunc(q.Commands, func(c string) bool { return !onlyReads(c) }):
		return false
	}
	return slices.ContainsFunc(loose, may) || slices.ContainsFunc(q.Paths, r.under) || slices.ContainsFunc(q.Commands, r.isMadeBy)
}

// makers are programs that make or change the files that they are given, also such as
// are not there yet, so that nothing else tells their names for paths.
var makers = []string{"touch", "mkdir", "ln", "install", "truncate", "mkfifo", "mknod", "cp", "mv", "tee", "dd", "patch"}

// isNamed reports whether a path may be one that the rule is about, or its folder.
func (r Rule) isNamed(p string) bool {
	folder, ok := strings.CutSuffix(r.Pattern, "/**")
	return pathsOverlap(r.Pattern, p) || ok && pathsOverlap(folder, p)
}

// isMadeBy reports whether a command may make a file that the rule keeps from changes.
// What a patch changes stands in it.
func (r Rule) isMadeBy(command string) bool {
	words := strings.Fields(command)
	if len(words) == 0 {
		return false
	}
	program := path.Base(words[0])
	if !slices.Contains(makers, program) {
		return false
	}
	return program == "patch" || slices.ContainsFunc(words[1:], func(w string) bool {
		_, value, ok := strings.Cut(w, "=")
		if ok {
			w = value // dd of=FILE, --target-directory=FOLDER
		}
		w = strings.Trim(w, `"'`)
		return w != "" && (ok || w[0] != '-') && r.isNamed("**/"+strings.TrimPrefix(w, "/"))
	})
}
