package shell

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"tote/internal/tool"
)

const (
	// maxNested is how deep programs in arguments are followed.
	maxNested = 6
	// maxParts bounds the commands and the paths that are listed.
	maxParts = 500
)

// parts is a line of commands taken apart, for rules.
type parts struct {
	// commands are the simple commands, as permission.Request wants them.
	commands []string
	// opaque: more runs than commands tell.
	opaque bool
	// paths are the files that words name, absolute with forward slashes.
	paths []string
}

// splitter takes a line apart.
type splitter struct {
	env  tool.Env
	home string
	// dirs are the folders that relative names may belong to: where the line
	// begins, and those that it enters.
	dirs []string
	parts
	entered int // commands that only enter a folder inside the roots
}

// split takes a line apart. ok is false where the line cannot be read or has too
// many parts.
func split(line, cwd, home string, env tool.Env) (p parts, ok bool) {
	s := &splitter{env: env, home: home, dirs: []string{cwd}}
	if !s.line(line, 0) || len(s.commands) > maxParts || len(s.paths) > maxParts {
		return parts{opaque: true}, false
	}
	if len(s.commands) == 0 && s.entered > 0 {
		s.commands = append(s.commands, line)
	}
	slices.Sort(s.paths)
	s.paths = slices.Compact(s.paths)
	return s.parts, true
}

// line takes a program apart, nested inside others.
func (s *splitter) line(src string, depth int) bool {
	if depth > maxNested {
		return false
	}
	// The parser and bash do not agree on carriage returns.
	s.opaque = s.opaque || strings.Contains(src, "\r")
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(src), "")
	if err != nil {
		return false
	}
	ok, comments := true, false
	syntax.Walk(f, func(n syntax.Node) bool {
		if _, is := n.(*syntax.Comment); is {
			comments = true
		}
		ok = s.node(n, src, depth) && ok
		return ok
	})
	s.opaque = s.opaque || comments && strings.Contains(src, "\\\n")
	return ok
}

// node looks at one node of the syntax.
func (s *splitter) node(n syntax.Node, src string, depth int) bool {
	s.opaque = s.opaque || !isClear(n, src)
	switch n := n.(type) {
	case *syntax.CallExpr:
		return s.call(n, src, depth)
	case *syntax.DeclClause:
		s.movesHome(n.Args)
		s.commands = append(s.commands, src[n.Pos().Offset():n.End().Offset()])
	case *syntax.Redirect:
		s.redirect(n, src)
	}
	return len(s.commands) <= maxParts && len(s.paths) <= maxParts
}

// redirect lists a redirection into a file as a command of its own.
func (s *splitter) redirect(r *syntax.Redirect, src string) {
	if r.Word == nil || r.Hdoc != nil || r.Op == syntax.WordHdoc || r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc {
		return
	}
	w := readWord(r.Word, src)
	if (r.Op == syntax.DplIn || r.Op == syntax.DplOut) && w.fixed && strings.Trim(w.value, "0123456789-") == "" {
		return // a descriptor
	}
	s.file(w)
	if r.Op == syntax.RdrIn {
		return
	}
	if !w.fixed || !slices.Contains([]string{"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"}, w.value) {
		s.commands = append(s.commands, "> "+w.text)
	}
}

// call lists a simple command.
func (s *splitter) call(c *syntax.CallExpr, src string, depth int) bool {
	var sb strings.Builder
	for _, a := range c.Assigns {
		if sb.Len() > 0 {
			sb.WriteByte(' ')
		}
		sb.WriteString(assignment(a, src))
	}
	words := make([]word, len(c.Args))
	for i, a := range c.Args {
		words[i] = readWord(a, src)
		s.opaque = s.opaque || hasBraces(words[i])
	}
	if len(words) == 0 {
		s.movesHome(c.Assigns)
		s.commands = append(s.commands, sb.String())
		return true
	}
	if s.enters(words) && len(c.Assigns) == 0 {
		s.entered++
		return true
	}
	if sb.Len() > 0 {
		sb.WriteByte(' ')
	}
	s.commands = append(s.commands, sb.String()+join(words))
	return s.simple(words, depth)
}

// movesHome looks for a change of the folder that "~" stands for: names behind it are
// not known.
func (s *splitter) movesHome(assigns []*syntax.Assign) {
	s.opaque = s.opaque || slices.ContainsFunc(assigns, func(a *syntax.Assign) bool { return a.Name != nil && a.Name.Value == "HOME" && a.Value != nil })
}

func assignment(a *syntax.Assign, src string) string {
	if a.Array != nil || a.Index != nil || a.Name == nil {
		return src[a.Pos().Offset():a.End().Offset()]
	}
	op := "="
	if a.Append {
		op = "+="
	}
	if a.Value == nil {
		return a.Name.Value + op
	}
	return a.Name.Value + op + readWord(a.Value, src).text
}

// enters reports whether the command only enters a folder inside the roots: such
// a command needs no rule beside others. Where it cannot be told which folder is
// entered, names that follow are not known.
func (s *splitter) enters(w []word) bool {
	if !w[0].fixed {
		return false
	}
	target := w[len(w)-1]
	switch {
	case w[0].value != "cd" && w[0].value != "pushd" && w[0].value != "popd":
		return false
	case w[0].value == "cd" && len(w) == 1 && s.home != "":
		s.dirs = append(s.dirs, s.home)
		return false
	case len(w) == 1 || target.glob || target.value == "" || !target.fixed && target.home == "" || strings.ContainsAny(target.value[:1], "-+"):
		s.opaque = true
		return false
	}
	before := len(s.commands)
	inside := s.enter(target.value, target)
	s.commands = s.commands[:before] // it is listed as it stands
	return inside && w[0].value == "cd" && len(w) == 2 && target.fixed
}

// simple looks into a command whose words are known: at the files that it names
// and at the commands that it runs in turn.
func (s *splitter) simple(w []word, depth int) bool {
	if !w[0].fixed || w[0].glob && w[0].value != "[" {
		s.opaque = true
		return true
	}
	name := path.Base(strings.ReplaceAll(w[0].value, `\`, "/"))
	s.folders(w[1:])
	s.files(name, w[1:])
	s.opaque = s.opaque || slices.Contains(hidden, name) || !isClearBuiltin(name, w[1:])
	if !s.options(name, w[1:], depth) {
		return false
	}
	switch {
	case name == "eval":
		return s.program(w[1:], depth)
	case name == "exec":
		return s.inner(w[1:], depth)
	case name == "command" && len(w) > 1 && (w[1].value == "-v" || w[1].value == "-V"):
		return true // it only tells where a program is
	case slices.Contains(shells, name):
		return s.shell(w[1:], depth)
	case name == "find":
		return s.found(w[1:], depth)
	}
	r, ok := runners[name]
	if !ok {
		return true
	}
	command, known := r.skip(w[1:])
	s.opaque = s.opaque || !known || r.input
	return s.inner(command, depth)
}

// program takes apart what arguments hold as a program.
func (s *splitter) program(w []word, depth int) bool {
	var src []string
	for _, a := range w {
		if !a.fixed || a.glob {
			s.opaque = true
			return true
		}
		src = append(src, a.value)
	}
	return s.line(strings.Join(src, " "), depth+1)
}

// inner lists the command that stands in the arguments of another.
func (s *splitter) inner(w []word, depth int) bool {
	if len(w) == 0 {
		return true
	}
	if depth >= maxNested {
		return false
	}
	s.commands = append(s.commands, join(w))
	return s.simple(w, depth+1)
}

// found lists what find runs.
func (s *splitter) found(w []word, depth int) bool {
	for i := 0; i < len(w); i++ {
		s.opaque = s.opaque || !w[i].fixed // it may become a flag
		switch w[i].value {
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i+1 < len(w) {
				s.write(w[i+1])
			}
			continue
		case "-delete":
			s.commands = append(s.commands, strings.TrimSpace("rm -r "+join(starts(w))))
			continue
		case "-exec", "-execdir", "-ok", "-okdir":
		default:
			continue
		}
		end := i + 1
		for end < len(w) && w[end].value != ";" && w[end].value != "+" {
			end++
		}
		if !s.inner(w[i+1:end], depth) {
			return false
		}
		i = end
	}
	return true
}

// starts are the folders in which find begins.
func starts(args []word) []word {
	for i, w := range args {
		if strings.HasPrefix(w.value, "-") || w.value == "(" || w.value == "!" {
			return args[:i]
		}
	}
	return args
}

// wordless are commands whose arguments are text, or of whose files no content is
// shown.
var wordless = []string{"echo", "printf", "test", "[", "ls", "stat", "mkdir", "touch", "basename", "dirname"}

// searchers take a pattern as their first argument.
var searchers = []string{"grep", "egrep", "fgrep", "rg", "ag", "ack"}

// files notes the files that the arguments of a command name.
func (s *splitter) files(name string, args []word) {
	if slices.Contains(wordless, name) {
		return
	}
	pattern := slices.Contains(searchers, name) && !slices.ContainsFunc(args, func(w word) bool {
		return strings.HasPrefix(w.value, "-e") || strings.HasPrefix(w.value, "-f") || strings.HasPrefix(w.value, "--regexp") || strings.HasPrefix(w.value, "--file")
	})
	for i, a := range args {
		if name == "find" && i > 0 && strings.HasSuffix(args[i-1].value, "name") {
			continue
		}
		if pattern && !strings.HasPrefix(a.value, "-") {
			pattern = false
			continue
		}
		if strings.HasPrefix(a.value, "--exclude") || strings.HasPrefix(a.value, "--include") {
			continue
		}
		s.file(a)
	}
}

// file notes the file that a word names.
func (s *splitter) file(w word) {
	v := w.value
	if w.home != "" {
		v = s.home + w.home
	} else if !w.fixed {
		return
	}
	if _, after, ok := strings.Cut(v, "="); ok {
		s.note(strings.TrimPrefix(after, "@"))
	}
	if !strings.HasPrefix(v, "-") {
		s.note(strings.TrimPrefix(v, "@"))
	}
}

func (s *splitter) note(name string) {
	if name == "" || len(name) > 4096 || strings.Contains(name, "\x00") {
		return
	}
	for _, d := range s.dirs {
		s.paths = append(s.paths, filepath.ToSlash(s.abs(d, name)))
	}
}

// abs is where a name leads from a folder.
func (s *splitter) abs(dir, name string) string {
	if rest, ok := strings.CutPrefix(name, "~"); ok && (rest == "" || rest[0] == '/') && s.home != "" {
		name = s.home + rest
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return filepath.Clean(name)
}
