package shell

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tote/internal/tool"
)

// risk is what options of a program do that the rest of it does not: a rule for "find"
// or "git diff" is one for reading.
type risk struct {
	// runs are options that run a program, or take from a file what is run. They make
	// a line opaque.
	runs []string
	// writes are options whose value is a file that is written. It is listed as a
	// redirection is.
	writes []string
	// values are the letters of options that take a value, behind which no more
	// letters stand in one word.
	values string
}

// risks are the programs of which it is known. Programs that write or run what a
// project says as their job are not among them (make, go build, npm test, tee, cp): a
// rule for them is one for that.
var risks = map[string]risk{
	"rg":    {runs: []string{"--pre", "--hostname-bin"}, values: "ABCEMTdefgjmrt"},
	"fd":    {runs: []string{"-x", "-X", "--exec", "--exec-batch"}, values: "dEtecCSjo"},
	"tar":   {runs: []string{"--to-command", "--checkpoint-action", "--use-compress-program", "-I", "--rsh-command", "--rmt-command", "--info-script", "--new-volume-script", "-F"}, values: "fCbTXKNVgHL"},
	"zip":   {runs: []string{"-TT", "--unzip-command"}},
	"sort":  {runs: []string{"--compress-program"}, writes: []string{"-o", "--output"}, values: "kStT"},
	"shuf":  {writes: []string{"-o", "--output"}, values: "in"},
	"tree":  {writes: []string{"-o"}, values: "LPIHT"},
	"iconv": {writes: []string{"-o", "--output"}, values: "ft"},
	"rsync": {runs: []string{"-e", "--rsh", "--rsync-path"}, values: "fTBM"},
	"scp":   {runs: []string{"-S", "-o", "-F"}, values: "cDiJlPX"},
	"man":   {runs: []string{"-P", "--pager", "-H", "--html", "-C", "--config-file"}},
	"npm":   {runs: []string{"--script-shell", "--node-options", "-c", "--call"}},
	"npx":   {runs: []string{"-c", "--call"}},
	"cargo": {runs: []string{"--config"}},
	"make":  {runs: []string{"--eval", "-E"}, values: "CfIoWjl"},

	"git grep":      {runs: []string{"-O", "--open-files-in-pager"}, values: "efABCm"},
	"git clone":     {runs: []string{"-u", "--upload-pack", "-c", "--config", "--template"}, values: "bo"},
	"git init":      {runs: []string{"--template"}, values: "b"},
	"git fetch":     {runs: []string{"--upload-pack"}},
	"git pull":      {runs: []string{"--upload-pack"}},
	"git ls-remote": {runs: []string{"--upload-pack", "--exec"}},
	"git push":      {runs: []string{"--receive-pack", "--exec"}},
	"git archive":   {runs: []string{"--exec", "--remote"}, writes: []string{"-o", "--output"}},
	"git rebase":    {runs: []string{"-x", "--exec"}, values: "sXC"},
}

// gitWrites are options that many commands of git share.
var gitWrites = []string{"--output"}

// goRuns are options of the commands of go that run another program. go writes them
// with one dash or two.
var goRuns = []string{"exec", "toolexec", "vettool"}

// options looks at the options of a program that do more than the rest of it.
func (s *splitter) options(name string, args []word, depth int) bool {
	switch name {
	case "git":
		return s.git(args, depth)
	case "go":
		s.opaque = s.opaque || slices.ContainsFunc(args, isGoRisk) || len(args) > 1 && args[0].value == "env" && slices.ContainsFunc(args, func(w word) bool {
			return strings.TrimLeft(w.value, "-") == "w" || strings.TrimLeft(w.value, "-") == "u"
		})
		return true
	case "awk", "gawk", "mawk", "nawk":
		s.awk(args)
	case "sed", "gsed":
		s.sed(args)
	case "make", "gmake":
		s.opaque = s.opaque || slices.ContainsFunc(args, func(w word) bool {
			return strings.HasPrefix(w.value, "SHELL=") || strings.HasPrefix(w.value, "MAKE=") || strings.HasPrefix(w.value, ".SHELLFLAGS=")
		})
		name = "make"
	case "tar", "bsdtar", "gtar":
		if len(args) > 0 && args[0].fixed && !strings.HasPrefix(args[0].value, "-") {
			// The oldest form: the values of all its letters follow.
			s.opaque = s.opaque || strings.ContainsAny(args[0].value, "IF")
		}
		name = "tar"
	}
	if r, ok := risks[name]; ok {
		s.risky(r, args)
	}
	return true
}

// risky looks for options of the table. A glob may become an option.
func (s *splitter) risky(r risk, args []word) {
	for i, w := range args {
		switch {
		case w.value == "--":
			return // names of files follow
		case w.glob && strings.IndexByte("*?[", w.value[0]) >= 0 && len(r.runs) > 0:
			s.opaque = true
		case slices.ContainsFunc(r.runs, func(o string) bool { return r.is(o, w.value) }):
			s.opaque = true
		}
		for _, o := range r.writes {
			if r.is(o, w.value) {
				s.written(o, w, args[i+1:])
			}
		}
	}
}

// is reports whether a word is an option: by its name, an abbreviation of it, or its
// letter among others.
func (r risk) is(option, w string) bool {
	if strings.HasPrefix(option, "--") {
		name, _, _ := strings.Cut(w, "=")
		return name == option || len(name) > 3 && strings.HasPrefix(option, name)
	}
	if len(option) != 2 || option[0] != '-' {
		return w == option
	}
	if len(w) < 2 || w[0] != '-' || w[1] == '-' {
		return false
	}
	letters := w[1:]
	if end := strings.IndexAny(letters, r.values); end >= 0 {
		letters = letters[:end]
	}
	return strings.IndexByte(letters, option[1]) >= 0
}

// written lists the file that an option names, in its own word or the next.
func (s *splitter) written(option string, w word, rest []word) {
	_, value, ok := strings.Cut(w.value, "=")
	if !strings.HasPrefix(option, "--") {
		_, value, _ = strings.Cut(w.value[1:], option[1:])
		ok = value != ""
	}
	switch {
	case ok && w.fixed:
		s.write(word{text: asWord(value), value: value, fixed: true})
	case !ok && len(rest) > 0:
		s.write(rest[0])
	default:
		s.opaque = true
	}
}

// write lists a file that is written.
func (s *splitter) write(w word) {
	s.file(w)
	s.commands = append(s.commands, "> "+w.text)
}

// folders notes the folders in which a program is told to work (-C): names may belong
// there.
func (s *splitter) folders(args []word) {
	for i, w := range args {
		dir, ok := strings.CutPrefix(w.value, "-C")
		if !ok {
			continue
		}
		if dir == "" && i+1 < len(args) {
			w, dir = args[i+1], args[i+1].value
		}
		if dir != "" && (w.fixed || w.home != "") {
			s.enter(dir, w)
		}
	}
}

// enter notes that names may belong to a folder from here on. It returns false where
// that is not inside the roots, and lists the step then.
func (s *splitter) enter(name string, w word) bool {
	if w.home != "" {
		name = s.home + w.home
	}
	inside := true
	for _, d := range slices.Clone(s.dirs) {
		dir := s.abs(d, name)
		s.paths = append(s.paths, filepath.ToSlash(dir))
		if !slices.Contains(s.dirs, dir) && len(s.dirs) < 16 {
			s.dirs = append(s.dirs, dir)
		}
		if tool.Locate(dir, s.env).Root == "" || tool.IsForbidden(dir, s.env) {
			inside = false
		}
	}
	if !inside {
		s.commands = append(s.commands, "cd "+asWord(name))
	}
	return inside
}

func isGoRisk(w word) bool {
	name, value, _ := strings.Cut(strings.TrimLeft(w.value, "-"), "=")
	return strings.HasPrefix(w.value, "-") && (slices.Contains(goRuns, name) || strings.Contains(value, "extld")) || strings.Contains(w.value, "-extld")
}

// awk looks at a program of awk: whether it runs programs, or writes files.
func (s *splitter) awk(args []word) {
	for i, w := range args {
		v := strings.ReplaceAll(w.value, "||", "")
		switch {
		case strings.HasPrefix(w.value, "-i"), strings.HasPrefix(w.value, "-l"), strings.HasPrefix(w.value, "--in"), strings.HasPrefix(w.value, "--lo"):
			s.opaque = true
		case i > 0 && args[i-1].value == "-F", strings.HasPrefix(w.value, "-F"): // what parts the fields
		case strings.Contains(v, "system") || strings.Contains(v, "getline") || strings.ContainsAny(v, "|@"):
			s.opaque = true
		case strings.Contains(v, ">"):
			s.commands = append(s.commands, "> "+w.text) // the file stands in the program
		}
	}
}

// plainSed are scripts of sed that print, delete and replace only. A bracket in a
// pattern may hold no slash, which would not end it.
var plainSed = regexp.MustCompile(func() string {
	replace := func(d string) string {
		return `s` + d + `([^` + d + `\[\\\n]|\\[^\n]|\[\^?[^\]\[/|#\n\\^]+\])*` + d + `([^` + d + `\\\n]|\\[^\n])*` + d + `[gpiI0-9]*`
	}
	address := `([0-9$]+|/([^/\[\\\n]|\\[^\n]|\[\^?[^\]\[/\n\\^]+\])*/)`
	command := `([pdq=]|` + replace("/") + `|` + replace(`\|`) + `|` + replace("#") + `)?`
	return `^([ \t]*(` + address + `(,[+~]?` + address + `)?)?[ \t]*!?[ \t]*` + command + `[ \t]*([;{}\n]|$))*$`
}())

// sed looks at a script of sed, which can run programs and write files, and for -i.
func (s *splitter) sed(args []word) {
	script, scripts, inPlace := false, 0, false
	var files []word
	for i, w := range args {
		v := w.value
		letters := strings.TrimLeft(v, "-")
		if strings.HasPrefix(v, "-") && !strings.HasPrefix(v, "--") {
			letters, _, _ = strings.Cut(letters, "e")
			letters, _, _ = strings.Cut(letters, "f")
		}
		attached := strings.HasPrefix(v, "-e") && len(v) > 2
		switch {
		case attached, i > 0 && isSedScript(args[i-1].value):
			script, scripts = true, scripts+1
			v = strings.TrimPrefix(v, "-e")
		case strings.HasPrefix(v, "--in"), strings.HasPrefix(v, "-") && strings.Contains(letters, "i") && !strings.HasPrefix(v, "--"):
			inPlace = true
			continue
		case strings.HasPrefix(v, "--expression="):
			script, scripts = true, scripts+1
			_, v, _ = strings.Cut(v, "=")
		case strings.HasPrefix(v, "-"):
			script = script || strings.HasPrefix(v, "-f") || strings.HasPrefix(v, "--file") || isSedScript(v)
			continue
		case !script:
			script, scripts = true, scripts+1
		default:
			files = append(files, w)
			continue
		}
		s.opaque = s.opaque || strings.ContainsAny(v, "ewW") && !plainSed.MatchString(v)
	}
	if inPlace {
		for _, w := range files {
			s.write(w)
		}
	}
}

// isSedScript reports whether a flag says that a script follows.
func isSedScript(flag string) bool {
	return flag == "--expression" || len(flag) > 1 && flag[0] == '-' && flag[1] != '-' && strings.HasSuffix(flag, "e")
}
