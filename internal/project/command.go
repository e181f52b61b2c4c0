package project

import (
	"fmt"
	"slices"
	"strings"
)

// Command is a prompt that the user gives by its name.
type Command struct {
	// Name is the name of the file, with the folders before it and colons between.
	Name, Description string
	// Hint tells what arguments it takes, Agent which agent it is meant for.
	Hint, Agent string
	// Path is the file, absolute.
	Path string
	// Project: it belongs to the project and not to the user.
	Project bool

	base, rel string // where it was found
}

// Piece is a part of an expanded prompt.
type Piece struct {
	Text string
	// ByUser: the user typed it. Otherwise it stands in the command's file.
	ByUser bool
}

// Expanded is a command with its arguments filled in.
type Expanded struct {
	Command Command
	// Prompt is the whole text.
	Prompt string
	// Pieces are the parts of Prompt in order. What a file of a project mentions was
	// chosen by the project, not by the user.
	Pieces []Piece
}

// maxPrompt is the greatest length of an expanded command, in bytes.
const maxPrompt = 256 << 10

// Commands lists the commands, sorted by name. Of several with one name the
// project's are taken, of those the ones in .tote first.
func (r *Reader) Commands(o Options) (commands []Command, notes []Note) {
	found := map[string]bool{}
	note := func(n Note) { notes = append(notes, n) }
	r.powers(o.settle(), "commands", note, func(t tree, rel string) {
		name, ok := commandName(rel)
		if !ok || found[name] {
			return
		}
		f, ok := r.read(t, rel)
		switch {
		case !ok:
			return
		case f.bad != "":
			note(Note{File: f.name, What: f.bad})
			return
		case f.cut():
			note(Note{File: f.name, What: fmt.Sprintf("is larger than %d bytes and is not offered", maxFile)})
			return
		}
		found[name] = true
		h, body := split(f.text)
		c := Command{
			Name: name, Description: short(h["description"]), Hint: short(h["argument-hint"]), Agent: h["agent"],
			Path: t.abs(rel), Project: t.root != nil, base: t.base, rel: rel,
		}
		if c.Description == "" {
			c.Description = short(firstLine(body))
		}
		commands = append(commands, c)
	})
	slices.SortFunc(commands, func(a, b Command) int { return strings.Compare(a.Name, b.Name) })
	return commands, notes
}

// commandName is the name of the command in a file.
func commandName(rel string) (string, bool) {
	_, below, _ := strings.Cut("/"+rel, "/commands/")
	below, ok := strings.CutSuffix(below, ".md")
	if !ok {
		return "", false
	}
	elems := strings.Split(below, "/")
	for _, e := range elems {
		if !nameForm().MatchString(e) {
			return "", false
		}
	}
	return strings.Join(elems, ":"), true
}

// Expand fills the arguments into a command. $ARGUMENTS is all of them, $1 to $9
// the words, where quotes keep words together. What has no place is put at the end.
// Nothing is run and no file but the command's is read. An error wraps ErrUnknown
// for a name that no command has.
func (r *Reader) Expand(o Options, name, args string) (Expanded, error) {
	commands, _ := r.Commands(o)
	i := slices.IndexFunc(commands, func(c Command) bool { return c.Name == name })
	if i < 0 {
		return Expanded{}, fmt.Errorf("expand command %q: %w", printable(name), ErrUnknown)
	}
	c := commands[i]
	f, err := r.again(o, c.base, c.rel, c.Project)
	if err != nil {
		return Expanded{}, fmt.Errorf("expand command %s: %w", name, err)
	}
	_, body := split(f.text)
	pieces, size := fill(strings.TrimSpace(body), strings.TrimSpace(args))
	if size > maxPrompt {
		return Expanded{}, fmt.Errorf("expand command %s: the prompt would be %d bytes long, the most is %d", name, size, maxPrompt)
	}
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
	}
	return Expanded{Command: c, Prompt: b.String(), Pieces: pieces}, nil
}

// filler puts arguments into a text.
type filler struct {
	pieces []Piece
	size   int
	args   string
	words  []string
	used   []bool
	all    bool // $ARGUMENTS has been there
}

func (f *filler) add(s string, by bool) {
	f.size += len(s)
	if s != "" && f.size <= maxPrompt {
		f.pieces = append(f.pieces, Piece{Text: s, ByUser: by})
	}
}

// fill puts arguments into a text, once: a $ in an argument is a $. The size is that
// of the whole; where it is over maxPrompt, the pieces are not complete.
func fill(body, args string) (pieces []Piece, size int) {
	f := filler{args: args, words: fields(args)}
	f.used = make([]bool, len(f.words))
	start := 0
	for i := 0; i < len(body); i++ {
		if body[i] != '$' {
			continue
		}
		n := place(body[i+1:])
		if n == 0 {
			continue
		}
		f.add(body[start:i], false)
		f.take(body[i+1 : i+1+n])
		i += n
		start = i + 1
	}
	f.add(body[start:], false)
	f.rest()
	return f.pieces, f.size
}

// place is the length of the name after a $, 0 where there is none.
func place(s string) int {
	const all = "ARGUMENTS"
	switch {
	case strings.HasPrefix(s, all) && !wordAt(s, len(all)):
		return len(all)
	case s != "" && s[0] >= '1' && s[0] <= '9' && !digitAt(s, 1):
		return 1
	}
	return 0
}

// take adds what a place stands for.
func (f *filler) take(name string) {
	if len(name) > 1 {
		f.add(f.args, true)
		f.all = true
		return
	}
	if n := int(name[0] - '1'); n < len(f.words) {
		f.add(f.words[n], true)
		f.used[n] = true
	}
}

// rest adds what had no place: nothing that the user typed is lost.
func (f *filler) rest() {
	var left []string
	for i, w := range f.words {
		if !f.used[i] {
			left = append(left, w)
		}
	}
	switch {
	case f.all, len(left) == 0:
	case len(left) == len(f.words): // as it was typed
		f.add("\n\n", false)
		f.add(f.args, true)
	default:
		f.add("\n\n", false)
		f.add(strings.Join(left, " "), true)
	}
}

func wordAt(s string, i int) bool {
	return i < len(s) && (s[i] == '_' || s[i] >= 'A' && s[i] <= 'Z' || s[i] >= 'a' && s[i] <= 'z' || s[i] >= '0' && s[i] <= '9')
}

func digitAt(s string, i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }

// fields splits at space. A pair of quotes keeps a word together and is dropped; a
// quote without its pair is a character like others.
func fields(s string) []string {
	var out []string
	var b strings.Builder
	in := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '"' || c == '\'' {
			if end := strings.IndexByte(s[i+1:], c); end >= 0 && (!in || c == '"') {
				b.WriteString(s[i+1 : i+1+end])
				i += end + 1
				in = true
				continue
			}
		}
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
			if in {
				out = append(out, b.String())
				b.Reset()
				in = false
			}
			continue
		}
		b.WriteByte(c)
		in = true
	}
	if in {
		out = append(out, b.String())
	}
	return out
}
