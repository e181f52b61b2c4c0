package permission

import (
	"path"
	"slices"
	"strings"
)

// harmless are commands that neither write nor run anything, whatever follows
// them. Only they get a rule for what begins like them: nearly every other program
// has a flag that runs another one or writes a file (git diff --output, go test
// -exec, git grep -O), so that for all others the rule is the exact command.
var harmless = []string{"git status", "git rev-parse", "git ls-files"}

// never are programs that no rule should be kept for.
var never = []string{
	"rm", "rmdir", "sudo", "doas", "su", "eval", "exec", "source", ".", "alias", "trap", "xargs", "env", "dd", "chmod", "chown",
	"kill", "pkill", "killall", "find", "command", "builtin", "nohup", "timeout", "nice", "setsid", "ssh", "export", "set", "unset",
}

// interpreters run what an argument says.
var interpreters = []string{
	"sh", "bash", "dash", "zsh", "fish", "ksh", "python", "python2", "python3", "perl", "ruby", "node", "deno", "bun", "php",
	"lua", "pwsh", "powershell", "cmd", "osascript", "awk", "gawk", "sed", "tclsh",
}

// Suggest is the rule that "always allow" may keep for a request. It is zero
// where no rule makes sense: what cannot be told from its text, what is dangerous
// each time anew, files that hold keys, and lines of several different commands.
func Suggest(q Request) Rule {
	switch {
	case isSecret(q.Path) || slices.ContainsFunc(q.Paths, isSecret):
		return Rule{}
	case q.Action == Call:
		return Rule{Tool: q.Tool}
	case q.Action == Execute:
		return suggestCommand(q)
	case q.Path != "":
		return suggestFolder(q)
	case q.Action == Fetch:
		return suggestDomain(q)
	}
	return Rule{}
}

// minFolder is how many elements the path of a folder has at least that gets a
// rule for all in it: /home/user/projects/one.
const minFolder = 4

// systemFolders hold what belongs to the system and to its administrator.
var systemFolders = []string{
	"etc", "usr", "bin", "sbin", "lib", "lib64", "boot", "dev", "proc", "sys", "run", "var", "opt", "root", "system", "library", "private",
	"applications", "windows", "program files", "program files (x86)", "programdata",
}

// suggestFolder is a rule for the folder of a file, or for the file alone where
// the folder is wide, belongs to the system, or is hidden.
func suggestFolder(q Request) Rule {
	dir := path.Dir(q.Path)
	if q.Tool == "list" || q.Tool == "glob" || q.Tool == "grep" {
		dir = q.Path
	}
	quote := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)
	if isWide(dir) {
		return Rule{Tool: q.Tool, Pattern: quote.Replace(q.Path)}
	}
	return Rule{Tool: q.Tool, Pattern: quote.Replace(dir) + "/**"}
}

// isWide reports whether a rule for all in a folder would cover too much.
func isWide(dir string) bool {
	elems := strings.FieldsFunc(strings.ToLower(dir), func(c rune) bool { return c == '/' })
	if len(elems) > 0 && strings.HasSuffix(elems[0], ":") {
		elems = elems[1:]
	}
	return len(elems) < minFolder || slices.Contains(systemFolders, elems[0]) ||
		slices.ContainsFunc(elems, func(e string) bool { return strings.HasPrefix(e, ".") })
}

func suggestDomain(q Request) Rule {
	a, ok := readAddress(q.Detail, noUser)
	if !ok {
		return Rule{}
	}
	host := a.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if a.port != "" {
		host += ":" + a.port
	}
	r := Rule{Tool: q.Tool, Pattern: domainPrefix + host}
	if badAddress(r.Pattern) != "" || strings.Contains(host, "*") {
		return Rule{}
	}
	return r
}

func suggestCommand(q Request) Rule {
	if q.Opaque {
		return Rule{}
	}
	var out Rule
	for _, c := range q.Commands {
		if isFilter(c) {
			continue
		}
		p := suggestPattern(c)
		if p == "" || out.Pattern != "" && out.Pattern != p {
			return Rule{}
		}
		out = Rule{Tool: q.Tool, Pattern: p}
	}
	return out
}

// suggestPattern is the pattern for one simple command, "" for none. What holds a
// variable is not the same command each time.
func suggestPattern(command string) string {
	w := words(command)
	name := w[0]
	switch {
	case strings.TrimSpace(command) == "" || name == "" || name == ">" || isSetting(name) || strings.ContainsAny(command, "\\\n\r\t$`") || len(command) > maxRule/4:
		return ""
	case slices.Contains(never, name[strings.LastIndexByte(name, '/')+1:]):
		return ""
	case slices.Contains(interpreters, name[strings.LastIndexByte(name, '/')+1:]) && runsArgument(w[1:]):
		return ""
	}
	exact := strings.ReplaceAll(command, "*", `\*`)
	if badCommand(exact) != "" || strings.HasSuffix(exact, ":"+`\*`) || (Rule{Tool: "bash", Pattern: exact}).CheckAllow() != nil {
		return ""
	}
	if len(w) >= 2 && slices.Contains(harmless, name+" "+w[1]) {
		return name + " " + w[1] + " *"
	}
	return exact
}

// runsArgument reports whether an interpreter is given its program in place of a
// file: -c, -e and the like, or nothing, which is what comes in.
func runsArgument(args []string) bool {
	return len(args) == 0 || strings.HasPrefix(args[0], "-") || !isPlainFile(args[0])
}

func isPlainFile(s string) bool {
	return strings.Trim(s, plainSigns+"ABCDEFGHIJKLMNOPQRSTUVWXYZ./_") == ""
}

const plainSigns = "abcdefghijklmnopqrstuvwxyz0123456789-:"
