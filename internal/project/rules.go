package project

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// ruleFiles are the files of one folder that hold rules, the first one first. What
// the later ones say again is left out.
func ruleFiles() []string {
	return []string{
		"AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "GEMINI.md",
		".github/copilot-instructions.md", ".cursorrules",
	}
}

// ruleFolder holds files with a head that says which files of the project each is for.
type ruleFolder struct {
	dir      string
	suffixes []string
}

func ruleFolders() []ruleFolder {
	return []ruleFolder{
		{".cursor/rules", []string{".mdc", ".md"}},
		{".github/instructions", []string{".instructions.md"}},
	}
}

// collector gathers rules in order.
type collector struct {
	r     *Reader
	o     Options
	files []file
	seen  map[string]bool // texts, without the space around them
	notes []Note
}

func (r *Reader) collect(o Options) *collector {
	return &collector{r: r, o: o, seen: map[string]bool{}}
}

func (c *collector) note(name, what string) { c.notes = append(c.notes, Note{File: name, What: what}) }

// Instructions returns the text for the system prompt: the rules, then the list of
// skills. It is empty where there are neither.
func (r *Reader) Instructions(o Options) (text string, notes []Note) {
	o = o.settle()
	c := r.collect(o)
	c.own(o)
	for _, dir := range o.Dirs {
		c.inTree(dir, outside(dir), func(t tree) { c.folder(t, ".", nil) })
	}
	c.inTree(o.Root, "", func(t tree) {
		rel, _ := within(o.Root, o.Cwd)
		for i, dir := range chain(rel) {
			c.folder(t, dir, nil)
			if i == 0 {
				c.extra(t, o.Extra)
			}
		}
	})
	text = c.text(maxRules)
	if text != "" {
		text = "Rules for you from the user and the project follow, each under the name of its file. Where they differ, the later ones win.\n\n" + text
	}
	skills, skillNotes := r.Skills(o)
	if list := List(skills); list != "" {
		text = strings.TrimPrefix(text+"\n"+list, "\n")
	}
	return text, append(c.notes, skillNotes...)
}

// own reads the rules of the user.
func (c *collector) own(o Options) {
	if o.UserDir != "" {
		c.add(o.ownTree(o.UserDir), "AGENTS.md")
	}
	for _, name := range o.Extra {
		if !filepath.IsAbs(name) {
			continue
		}
		if !c.add(o.ownTree(filepath.Dir(name)), filepath.Base(name)) {
			c.note(printable(name), "is named in instructions and is not there")
		}
	}
}

// inTree runs what reads one tree. A folder that is not there holds nothing.
func (c *collector) inTree(dir, prefix string, read func(tree)) {
	t, err := c.o.openTree(dir, prefix)
	if err != nil {
		return
	}
	defer t.close()
	read(t)
}

// extra reads the files that the configuration names below the root.
func (c *collector) extra(t tree, patterns []string) {
	for _, p := range patterns {
		if filepath.IsAbs(p) {
			continue
		}
		names, what := t.glob(filepath.ToSlash(p))
		found := false
		for _, name := range names {
			found = c.add(t, name) || found
		}
		switch {
		case what != "":
			c.note(printable(p), what)
		case !found:
			c.note(printable(p), "is named in instructions and is not there")
		}
	}
}

// folder reads the rules of one folder. Those of rule folders are taken if they are
// for all files or, where target is given, if they are for that file.
func (c *collector) folder(t tree, dir string, target *string) {
	for _, name := range ruleFiles() {
		c.add(t, path.Join(dir, name))
	}
	c.special(t, dir, target)
}

// special reads the rule folders of one folder. Without a target it takes what is
// for all files, with one what is for that file only.
func (c *collector) special(t tree, dir string, target *string) {
	for _, rf := range ruleFolders() {
		at := path.Join(dir, rf.dir)
		entries, more := t.list(at)
		if more {
			c.note(t.show(at), fmt.Sprintf("holds more than %d files; the rest is not read", maxEntries))
		}
		for _, e := range entries {
			if !slices.ContainsFunc(rf.suffixes, func(s string) bool { return strings.HasSuffix(e.Name(), s) }) {
				continue
			}
			name := path.Join(at, e.Name())
			f, found := c.r.read(t, name)
			if found && f.applies(dir, target) {
				_, f.text = split(f.text)
				f.text = strings.TrimLeft(f.text, "\r\n")
				c.put(t, f, name)
			}
		}
	}
}

// applies reports whether a file of a rule folder of dir is for the target, or for
// all files where there is no target. One that cannot be read is told about then.
func (f file) applies(dir string, target *string) bool {
	h, _ := split(f.text)
	always, globs := scope(h)
	if target == nil {
		return always || f.bad != ""
	}
	return !always && matchesAny(globs, strings.TrimPrefix(*target, dir+"/"))
}

// scope says which files a rule is for. A rule that says nothing is for none: its
// program leaves the choice to the model.
func scope(h head) (always bool, globs []string) {
	for _, name := range []string{"globs", "applyto"} {
		for g := range strings.SplitSeq(h[name], ",") {
			if g = strings.TrimSpace(g); g != "" {
				globs = append(globs, g)
			}
		}
	}
	always = h["alwaysapply"] == "true" || slices.Contains(globs, "**") || slices.Contains(globs, "**/*")
	return always, globs
}

// add reads one file with what it brings in, and reports whether it is there.
func (c *collector) add(t tree, rel string) bool {
	f, found := c.r.read(t, rel)
	if found {
		c.put(t, f, rel)
	}
	return found
}

func (c *collector) put(t tree, f file, rel string) {
	if f.bad != "" {
		c.note(f.name, f.bad)
		return
	}
	if pointer(f.text) && path.Base(rel) != "AGENTS.md" && c.has(t, path.Join(path.Dir(rel), "AGENTS.md")) {
		return
	}
	if !c.keep(f) {
		return
	}
	for _, name := range c.imports(t, f, rel) {
		if in, found := c.r.read(t, name); found && in.bad == "" {
			c.keep(in)
		} else if found {
			c.note(in.name, in.bad)
		}
	}
}

// keep takes a file unless one with the same text is there.
func (c *collector) keep(f file) bool {
	same := strings.TrimSpace(strings.ReplaceAll(f.text, "\r\n", "\n"))
	if same == "" || c.seen[same] {
		return false
	}
	c.seen[same] = true
	c.files = append(c.files, f)
	return true
}

// has reports whether a file has been taken.
func (c *collector) has(t tree, rel string) bool {
	name := t.show(rel)
	return slices.ContainsFunc(c.files, func(f file) bool { return f.name == name })
}

// pointerForm matches a text that says nothing but where the rules are.
var pointerForm = sync.OnceValue(func() *regexp.Regexp {
	const file = "[`'\"(\\[]*@?(?:\\./)?AGENTS\\.md[`'\")\\]]*(?:\\(\\.?/?AGENTS\\.md\\))?"
	return regexp.MustCompile(`(?i)^(?:` + file + `|(?:please )?(?:see|read|follow|use|check|consult|refer to)(?: the)?(?: file)? ` + file +
		`(?: (?:for|in|at) [a-z ]{1,60})?)[.!:]?$`)
})

// pointer reports whether a text only says that the rules are in AGENTS.md.
func pointer(text string) bool {
	if len(text) > 400 {
		return false
	}
	said := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if said != "" {
			return false
		}
		said = line
	}
	return pointerForm().MatchString(said)
}

// text puts each file under its name. Where all is too much, the nearest are kept.
func (c *collector) text(budget int) string {
	parts := make([]string, len(c.files))
	var out []string
	for i := len(c.files) - 1; i >= 0; i-- {
		f := c.files[i]
		part := mark(f)
		if len(part) > budget {
			out = append(out, f.name)
			c.note(f.name, "is left out, since the rules before it in rank fill the room for all")
			budget = 0
			continue
		}
		budget -= len(part)
		parts[i] = part
		if f.cut() {
			c.note(f.name, fmt.Sprintf("is cut at %d of %d bytes", len(f.text), f.size))
		}
	}
	all := strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n")
	if len(out) > 0 {
		slices.Reverse(out)
		all += "\n[left out for want of room, read them if you need them: " + strings.Join(out, ", ") + "]\n"
	}
	return all
}

// mark is the text of a file between two lines with its name.
func mark(f file) string {
	text := strings.TrimRight(f.text, "\r\n") + "\n"
	if f.cut() {
		text += fmt.Sprintf("[cut: these are the first %d of %d bytes; read the file for the rest]\n", len(f.text), f.size)
	}
	name := strings.ReplaceAll(f.name, `"`, "'")
	return `<rules file="` + name + "\">\n" + text + "</rules>\n"
}
