package project

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Skill is a folder with instructions for one kind of work.
type Skill struct {
	Name, Description string
	// Path is the SKILL.md and Dir its folder, both absolute.
	Path, Dir string
	// Manual: only the user asks for it, so it is not listed for models.
	Manual bool
	// Project: it belongs to the project and not to the user.
	Project bool

	base, rel string // where it was found
}

// ErrUnknown says that nothing has the name that was asked for.
var ErrUnknown = errors.New("is not known")

// maxDescription is the length at which a description is cut in lists, in runes.
const maxDescription = 500

// maxList is the greatest length of the list of skills, in bytes.
const maxList = 24 << 10

var nameForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// Skills lists the skills, sorted by name. Of several with one name the project's
// are taken, of those the ones in .tote, .agents and .claude in this order.
func (r *Reader) Skills(o Options) (skills []Skill, notes []Note) {
	found := map[string]bool{}
	note := func(n Note) { notes = append(notes, n) }
	r.powers(o.settle(), "skills", note, func(t tree, rel string) {
		elems := strings.Split(rel, "/")
		if len(elems) < 2 || elems[len(elems)-1] != "SKILL.md" {
			return
		}
		f, ok := r.read(t, rel)
		if !ok {
			return
		}
		if f.bad != "" {
			note(Note{File: f.name, What: f.bad})
			return
		}
		s := skillOf(f, elems[len(elems)-2])
		s.Path, s.Dir, s.Project, s.base, s.rel = t.abs(rel), t.abs(path.Dir(rel)), t.root != nil, t.base, rel
		switch {
		case !nameForm().MatchString(s.Name):
			note(Note{File: f.name, What: "has a name that is none: want letters, digits, '.', '_' and '-'"})
		case !found[s.Name]:
			found[s.Name] = true
			skills = append(skills, s)
		}
	})
	slices.SortFunc(skills, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return skills, notes
}

func skillOf(f file, folder string) Skill {
	h, body := split(f.text)
	s := Skill{Name: h["name"], Description: h["description"], Manual: h["disable-model-invocation"] == "true"}
	if s.Name == "" {
		s.Name = folder
	}
	if s.Description == "" {
		s.Description = firstLine(body)
	}
	s.Description = short(s.Description)
	return s
}

// Skill returns what a skill says, without its head, and its folder.
func (r *Reader) Skill(o Options, name string) (text, dir string, err error) {
	skills, _ := r.Skills(o)
	i := slices.IndexFunc(skills, func(s Skill) bool { return s.Name == name })
	if i < 0 {
		return "", "", fmt.Errorf("read skill %q: %w%s", printable(name), ErrUnknown, known(skills))
	}
	s := skills[i]
	f, err := r.again(o, s.base, s.rel, s.Project)
	if err != nil {
		return "", "", fmt.Errorf("read skill %s: %w", name, err)
	}
	_, text = split(f.text)
	if f.cut() {
		text += fmt.Sprintf("\n[cut: these are the first %d of %d bytes; read %s for the rest]\n", len(f.text), f.size, s.Path)
	}
	return text, s.Dir, nil
}

func known(skills []Skill) string {
	var names []string
	for _, s := range skills {
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return "; there are no skills"
	}
	return "; known: " + strings.Join(names, ", ")
}

// List is the list of skills for a system prompt, "" for none.
func List(skills []Skill) string {
	var b strings.Builder
	left := 0
	for _, s := range skills {
		if s.Manual {
			continue
		}
		line := "- " + s.Name + ": " + s.Description + " (" + printable(s.Path) + ")\n"
		if b.Len()+len(line) > maxList {
			left++
			continue
		}
		b.WriteString(line)
	}
	if b.Len() == 0 {
		return ""
	}
	if left > 0 {
		fmt.Fprintf(&b, "[%d more skills are not listed, for want of room]\n", left)
	}
	return "Skills are instructions for special kinds of work. Read the file of a skill before work that it is for; what it names lies in its folder.\n" + b.String()
}

// firstLine is the first line of a body that says something.
func firstLine(body string) string {
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "# ")); line != "" {
			return line
		}
	}
	return ""
}

// short makes one line of a text and cuts it.
func short(s string) string {
	s = printable(strings.Join(strings.Fields(s), " "))
	if utf8.RuneCountInString(s) <= maxDescription {
		return s
	}
	return string([]rune(s)[:maxDescription]) + "…"
}

// powerDirs are the folders of a project that hold skills and commands, the first
// one first.
func powerDirs(what string) []string {
	dirs := []string{".tote/" + what, ".agents/" + what, ".claude/" + what}
	if what != "skills" {
		dirs = slices.Delete(dirs, 1, 2)
	}
	return dirs
}

// powers visits the files below the folders called what: those of the project that
// the user's trust covers, then those of the user, whose tree has no root.
func (r *Reader) powers(o Options, what string, note func(Note), visit func(t tree, rel string)) {
	if o.Trusted && o.Folder != "" && len(o.Files) > 0 {
		if t, err := o.openTree(o.Folder, shownFolder(o)); err == nil {
			covered(t, o.Files, what, visit)
			t.close()
		}
	}
	if o.UserDir != "" {
		w := walk{t: o.ownTree(o.UserDir), visit: visit, note: note, room: maxGlob}
		w.below(what, maxLevels)
	}
}

// maxLevels is how deep the user's folders are searched.
const maxLevels = 2

// covered visits the files that a trust covers, in the order of their folders.
func covered(t tree, files []string, what string, visit func(t tree, rel string)) {
	for _, dir := range powerDirs(what) {
		for _, name := range files {
			if strings.HasPrefix(name, dir+"/") {
				visit(t, name)
			}
		}
	}
}

// again reads a file where it was found before.
func (r *Reader) again(o Options, base, rel string, project bool) (file, error) { //nolint:revive // project says whose folder base is
	t := o.ownTree(base)
	if project {
		var err error
		if t, err = o.openTree(base, outside(base)); err != nil {
			return file{}, err
		}
	}
	defer t.close()
	f, ok := r.read(t, rel)
	switch {
	case !ok:
		return file{}, fmt.Errorf("%s is gone", f.name)
	case f.bad != "":
		return file{}, fmt.Errorf("%s %s", f.name, f.bad)
	}
	return f, nil
}

// shownFolder is the prefix of the trusted folder's files.
func shownFolder(o Options) string {
	if rel, ok := within(o.Root, o.Folder); ok {
		if rel == "." {
			return ""
		}
		return rel + "/"
	}
	return outside(o.Folder)
}

// walk visits files below folders of the user.
type walk struct {
	t     tree
	visit func(t tree, rel string)
	note  func(Note)
	room  int // entries that may still be looked at
}

// below visits the files in a folder and so many levels of folders in it, in order.
// Of a folder that is a skill, only what makes it one is visited.
func (w *walk) below(dir string, levels int) {
	if skill := path.Join(dir, "SKILL.md"); w.isFile(skill) {
		w.visit(w.t, skill)
		return
	}
	entries, more := w.t.list(dir)
	if more {
		w.note(Note{File: w.t.show(dir), What: fmt.Sprintf("holds more than %d entries; the rest is not read", maxEntries)})
	}
	for _, e := range entries {
		if w.room--; w.room < 0 {
			return
		}
		rel := path.Join(dir, e.Name())
		info, err := w.t.stat(rel)
		switch {
		case err != nil:
			if what := w.t.refused(rel, err); what != "" {
				w.note(Note{File: w.t.show(rel), What: what})
			}
		case info.IsDir() && levels > 0:
			w.below(rel, levels-1)
		case !info.IsDir():
			w.visit(w.t, rel)
		}
	}
}

func (w *walk) isFile(rel string) bool {
	info, err := w.t.stat(rel)
	return err == nil && !info.IsDir()
}
