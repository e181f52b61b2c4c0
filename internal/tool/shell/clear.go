package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// isClear reports whether a node of the syntax does nothing but what the simple
// commands of its line tell. It knows few nodes and takes all others for unclear:
// a construct that nobody thought of must not run under the rule for a command.
func isClear(n syntax.Node, src string) bool {
	switch n := n.(type) {
	case nil, *syntax.File, *syntax.Stmt, *syntax.CallExpr, *syntax.Word, *syntax.Lit, *syntax.IfClause, *syntax.WhileClause, *syntax.CaseClause,
		*syntax.CaseItem, *syntax.Block, *syntax.Subshell, *syntax.BinaryCmd, *syntax.TimeClause, *syntax.TestClause, *syntax.ParenTest:
		return true
	case *syntax.Redirect:
		return isClearRedirect(n)
	case *syntax.Assign:
		return n.Name != nil && n.Index == nil && n.Array == nil && !slices.Contains(magic, n.Name.Value)
	case *syntax.SglQuoted:
		return !n.Dollar
	case *syntax.DblQuoted:
		return !n.Dollar
	case *syntax.Comment:
		return isClearComment(n, src)
	case *syntax.ForClause:
		return !n.Select
	case *syntax.WordIter:
		return isPlainName(n.Name.Value)
	case *syntax.DeclClause:
		return n.Variant.Value == "export" || n.Variant.Value == "readonly" // no flags: they are no clear Assign
	case *syntax.ParamExp:
		return isClearExpansion(n)
	case *syntax.UnaryTest:
		_, isWord := n.X.(*syntax.Word)
		return n.Op == syntax.TsNot || isWord && slices.Contains(fileTests, n.Op) && isFixed(n.X, src)
	case *syntax.BinaryTest:
		if n.Op == syntax.AndTest || n.Op == syntax.OrTest {
			return true
		}
		return slices.Contains(textTests, n.Op) && isFixed(n.X, src) && isFixed(n.Y, src)
	}
	return false
}

// magic are variables of which bash takes the value for arithmetic, or that change
// what it reads and runs.
var magic = []string{
	"SECONDS", "RANDOM", "SRANDOM", "OPTIND", "LINENO", "HISTCMD", "BASHPID", "EPOCHSECONDS", "EPOCHREALTIME", "IFS", "BASH_ENV", "ENV", "PS4",
	"BASH_ALIASES", "BASH_CMDS", "BASH_COMPAT", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "FUNCNEST", "CDPATH", "GLOBIGNORE", "EXECIGNORE",
}

// fileTests and textTests are the tests that hold no arithmetic.
var (
	fileTests = []syntax.UnTestOperator{
		syntax.TsExists, syntax.TsRegFile, syntax.TsDirect, syntax.TsSmbLink, syntax.TsRead, syntax.TsWrite, syntax.TsExec, syntax.TsNoEmpty,
		syntax.TsEmpStr, syntax.TsNempStr,
	}
	textTests = []syntax.BinTestOperator{syntax.TsMatchShort, syntax.TsMatch, syntax.TsNoMatch, syntax.TsNewer, syntax.TsOlder}
)

func isFixed(x syntax.TestExpr, src string) bool {
	w, ok := x.(*syntax.Word)
	return ok && readWord(w, src).fixed
}

// isClearExpansion knows $X, ${X}, ${#X}, ${X:-y} and those that cut or replace.
// ${!X} and ${X@P} run what the variable holds, an index is arithmetic, ${X:=y}
// sets a variable.
func isClearExpansion(p *syntax.ParamExp) bool {
	odd := p.Param == nil || p.Flags != nil || p.Excl || p.Width || p.IsSet || p.NestedParam != nil || p.Index != nil || p.Slice != nil ||
		len(p.Modifiers) > 0 || p.Names != 0 || p.Split != 0 || p.GlobSubst != 0 || p.RcExpand != 0
	if odd || p.Exp == nil {
		return !odd
	}
	return slices.Contains([]syntax.ParExpOperator{
		syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.ErrorUnset, syntax.ErrorUnsetOrNull,
		syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix,
	}, p.Exp.Op)
}

// isClearComment reports whether a comment ends where bash ends it. A backslash in
// it does not join lines there, and does so for the parser.
func isClearComment(c *syntax.Comment, src string) bool {
	line, _, _ := strings.Cut(src[c.Hash.Offset():], "\n")
	return line == "#"+c.Text && !strings.Contains(line, `\`)
}

// isClearRedirect reports whether a redirection is one of a numbered descriptor
// from or to a file: no text that is fed in, no variable that is set, no network.
func isClearRedirect(r *syntax.Redirect) bool {
	if r.Word == nil || r.Hdoc != nil || r.N != nil && strings.Trim(r.N.Value, "0123456789") != "" {
		return false
	}
	for _, p := range r.Word.Parts {
		if l, ok := p.(*syntax.Lit); ok && (strings.Contains(l.Value, "/tcp") || strings.Contains(l.Value, "/udp")) {
			return false
		}
	}
	return slices.Contains([]syntax.RedirOperator{
		syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.DplIn, syntax.DplOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll,
	}, r.Op)
}

// isPlainName reports whether a variable means something to the line alone: a
// lower-case name that no program looks for.
func isPlainName(s string) bool {
	if s == "" || s[0] < 'a' || s[0] > 'z' || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return false
	}
	return !strings.HasSuffix(s, "_proxy") && !slices.Contains([]string{"auto_resume", "histchars", "path", "fpath", "cdpath"}, s)
}

// isClearBuiltin reports whether the arguments of a builtin of the shell are known
// to set no variable with a meaning, to be no arithmetic and to change nothing in
// how later words are read. It is true for every other program.
func isClearBuiltin(name string, args []word) bool {
	switch name {
	case "read", "getopts":
		return !slices.ContainsFunc(args, func(w word) bool { return !isLiteral(w) || !isPlainName(strings.Trim(w.value, "-:.,")) })
	case "unset", "command", "builtin":
		return !slices.ContainsFunc(args, func(w word) bool { return !isLiteral(w) })
	case "printf":
		return len(args) == 0 || args[0].fixed && !strings.HasPrefix(args[0].value, "-")
	case "test", "[":
		return !slices.ContainsFunc(args, func(w word) bool { return !w.fixed || w.value == "-v" || w.value == "-R" })
	case "set":
		return !slices.ContainsFunc(args, func(w word) bool {
			return !w.fixed || w.value != "pipefail" && (strings.Trim(w.value, "-+euxo") != "" || w.value == "" || w.value[0] != '-' && w.value[0] != '+')
		})
	}
	return true
}

func isLiteral(w word) bool { return w.fixed && !w.glob && !strings.Contains(w.value, "[") }

// hasBraces reports whether bash may make several words of one.
func hasBraces(w word) bool {
	return w.glob && strings.Contains(w.value, "{") && (strings.Contains(w.value, ",") || strings.Contains(w.value, ".."))
}

// hidden are commands that change what later words mean, or run what cannot be
// read here.
var hidden = []string{
	"source", ".", "alias", "unalias", "trap", "enable", "bind", "complete", "compgen", "compopt", "mapfile", "readarray", "parallel", "watch", "fc",
	"shopt", "hash", "let", "declare", "typeset", "local", "jobs", "wait", "history", "eval", "exec", "strace", "script", "su", "ssh", "chroot",
	"runuser", "pkexec", "systemd-run", "flock", "taskset", "chrt", "setpriv", "prlimit", "numactl", "firejail", "bwrap", "proot", "unbuffer", "rlwrap", "faketime",
	"xvfb-run", "dbus-run-session", "entr", "at", "batch", "crontab", "tmux", "screen", "gdb", "ltrace", "perf", "expect", "nsenter", "start-stop-daemon",
}
