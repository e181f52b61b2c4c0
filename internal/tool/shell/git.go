package shell

import (
	"slices"
	"strings"
)

// gitFlags are the options in front of a command of git that change nothing in what it
// does. gitValues take a value: the names of what they do are in git.
var gitFlags = []string{
	"-p", "--paginate", "-P", "--no-pager", "--no-replace-objects", "--no-optional-locks", "--literal-pathspecs", "--glob-pathspecs", "--noglob-pathspecs",
	"--icase-pathspecs", "--no-lazy-fetch", "--no-advice", "--bare", "--version", "--help", "-v", "-h", "--html-path", "--man-path", "--info-path", "--exec-path",
}

// plainConfig are settings of git that name no program, no file and no server. A dot at
// the end stands for all of a section.
var plainConfig = []string{
	"user.name", "user.email", "author.name", "author.email", "committer.name", "committer.email", "color.", "column.", "advice.", "log.", "status.", "i18n.", "core.quotepath", "core.autocrlf", "core.abbrev",
	"core.filemode", "core.ignorecase", "core.longpaths", "core.safecrlf", "core.eol", "core.precomposeunicode", "commit.gpgsign", "tag.gpgsign", "gc.auto", "diff.renames",
	"diff.renamelimit", "diff.noprefix", "diff.mnemonicprefix", "diff.algorithm", "diff.context", "diff.colormoved", "diff.wordregex", "merge.conflictstyle",
	"merge.renamelimit", "init.defaultbranch", "pull.rebase", "pull.ff", "push.default", "push.autosetupremote", "rebase.autosquash", "rebase.autostash", "fetch.prune",
	"rerere.enabled", "format.pretty", "blame.", "grep.linenumber", "grep.patterntype", "protocol.version", "http.lowspeedlimit", "http.lowspeedtime", "http.postbuffer",
	"submodule.recurse", "feature.manyfiles", "branch.autosetuprebase", "branch.sort", "tag.sort",
}

// isPlainConfig reports whether NAME or NAME=VALUE is such a setting.
func isPlainConfig(setting string) bool {
	name, value, _ := strings.Cut(strings.ToLower(setting), "=")
	if name == "core.pager" || name == "core.editor" || strings.HasPrefix(name, "pager.") {
		return slices.Contains([]string{"", "cat", "true", ":", "false"}, value)
	}
	return slices.ContainsFunc(plainConfig, func(p string) bool {
		return p == name || strings.HasSuffix(p, ".") && strings.HasPrefix(name, p)
	})
}

// git looks behind the options in front of a command of git, and at those of the
// command. What stands behind them is listed as a command of its own: "git push" is
// what "git -C sub push" does.
func (s *splitter) git(args []word, depth int) bool {
	rest := args
	for len(rest) > 0 && strings.HasPrefix(rest[0].value, "-") {
		v, value := rest[0].value, ""
		if len(rest) > 1 {
			value = rest[1].value
		}
		take := 1
		switch {
		case v == "-C", v == "--namespace", v == "--attr-source":
			take = 2
		case v == "-c":
			take = 2
			s.opaque = s.opaque || len(rest) < 2 || !rest[1].fixed || !isPlainConfig(value)
		case slices.Contains(gitFlags, v), strings.HasPrefix(v, "--namespace="), strings.HasPrefix(v, "--attr-source="), strings.HasPrefix(v, "--list-cmds="):
		case v == "--git-dir", v == "--work-tree", v == "--config-env", v == "--super-prefix":
			take, s.opaque = 2, true
		default:
			s.opaque = true
		}
		rest = rest[min(take, len(rest)):]
	}
	if len(rest) == 0 {
		return true
	}
	if len(rest) < len(args) {
		s.commands = append(s.commands, "git "+join(rest))
	}
	return s.gitCommand(rest[0], rest[1:], depth)
}

func (s *splitter) gitCommand(name word, args []word, depth int) bool {
	if !name.fixed || name.glob {
		s.opaque = true
		return true
	}
	if slices.ContainsFunc(args, func(w word) bool { return strings.Contains(w.value, "ext::") }) {
		s.opaque = true // a server that is a program
	}
	switch name.value {
	case "config":
		s.gitConfig(args)
	case "filter-branch", "difftool", "mergetool", "instaweb", "daemon", "send-email", "web--browse":
		s.opaque = true
	case "bisect", "submodule":
		for i, w := range args {
			if w.value == "run" || w.value == "foreach" {
				return s.gitInner(w.value, args[i+1:], depth)
			}
		}
	}
	r := risks["git "+name.value]
	if !slices.ContainsFunc(r.writes, func(o string) bool { return o == "--output" }) {
		r.writes = append(slices.Clone(r.writes), gitWrites...)
	}
	s.risky(r, args)
	return true
}

// gitInner lists the command that git is told to run.
func (s *splitter) gitInner(how string, args []word, depth int) bool {
	for len(args) > 0 && strings.HasPrefix(args[0].value, "-") {
		args = args[1:]
	}
	if how == "foreach" && len(args) == 1 {
		return s.program(args, depth)
	}
	return s.inner(args, depth)
}

// gitConfig looks at what is set: much of it is run later.
func (s *splitter) gitConfig(args []word) {
	asks := []string{"get", "list", "-l", "--list", "--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool", "--name-only", "--show-origin", "--show-scope"}
	if slices.ContainsFunc(args, func(w word) bool { return slices.Contains(asks, w.value) }) {
		return
	}
	scopes := []string{"--global", "--system", "--local", "--worktree", "set", "unset", "--add", "--unset", "--unset-all", "--replace-all"}
	for len(args) > 0 && slices.Contains(scopes, args[0].value) {
		args = args[1:]
	}
	switch {
	case len(args) == 1 && args[0].fixed && !strings.HasPrefix(args[0].value, "-"): // it asks
	case len(args) == 0 || !args[0].fixed:
		s.opaque = true
	default:
		value := ""
		if len(args) > 1 {
			value = args[1].value
		}
		s.opaque = s.opaque || !isPlainConfig(args[0].value+"="+value)
	}
}
