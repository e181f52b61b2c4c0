package permission

import (
	"path"
	"slices"
	"strings"
)

// families are programs whose first argument says what they do, so that a rule
// for that argument makes sense. Those named need a rule for the exact command
// each time: they run other programs, reach out, or take away for good.
var families = map[string][]string{
	"brew": {}, "bun": {"x", "exec"}, "cargo": {"install", "publish"}, "deno": {"run", "eval"}, "docker": {"run", "exec", "push", "rm", "rmi", "system"},
	"dotnet": {"publish"}, "gh": {"api", "auth", "secret"},
	"git": {"push", "config", "clean", "reset", "filter-branch", "submodule", "bisect", "rebase", "difftool", "mergetool", "credential"},
	"go":  {"run", "generate", "tool"}, "gradle": {}, "helm": {"delete", "uninstall"}, "just": {},
	"kubectl": {"exec", "delete", "apply", "run", "drain"}, "make": {}, "mvn": {}, "npm": {"exec", "publish", "x", "token"},
	"pip": {}, "pip3": {}, "pnpm": {"exec", "dlx", "publish"}, "poetry": {"run"}, "rustup": {"run"},
	"terraform": {"apply", "destroy"}, "uv": {"run"}, "yarn": {"exec", "dlx", "publish"},
}

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

// suggestFolder is a rule for the folder of a file, or for the file where the
// folder is nearly everything.
func suggestFolder(q Request) Rule {
	dir := path.Dir(q.Path)
	if q.Tool == "list" || q.Tool == "glob" || q.Tool == "grep" {
		dir = q.Path
	}
	quote := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)
	if strings.Count(strings.TrimSuffix(dir, "/"), "/") < 2 {
		return Rule{Tool: q.Tool, Pattern: quote.Replace(q.Path)}
	}
	return Rule{Tool: q.Tool, Pattern: quote.Replace(dir) + "/**"}
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

// suggestPattern is the pattern for one simple command, "" for none.
func suggestPattern(command string) string {
	w := words(command)
	name := w[0]
	switch {
	case strings.TrimSpace(command) == "" || name == "" || name == ">" || isSetting(name) || strings.ContainsAny(command, "\\\n\r\t") || len(command) > maxRule/4:
		return ""
	case slices.Contains(never, name[strings.LastIndexByte(name, '/')+1:]):
		return ""
	case slices.Contains(interpreters, name[strings.LastIndexByte(name, '/')+1:]) && runsArgument(w[1:]):
		return ""
	}
	exact := strings.ReplaceAll(command, "*", `\*`)
	if strings.HasSuffix(exact, ":"+`\*`) {
		return ""
	}
	exceptions, ok := families[name]
	if !ok || len(w) < 2 || !isPlainWord(w[1]) || slices.Contains(exceptions, w[1]) {
		return exact
	}
	return name + " " + w[1] + " *"
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

func isPlainWord(s string) bool {
	return s[:min(1, len(s))] != "-" && strings.Trim(s, plainSigns) == ""
}
