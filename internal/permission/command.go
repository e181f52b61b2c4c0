package permission

import (
	"slices"
	"strings"
)

// matchCommand matches a pattern against one simple command.
func matchCommand(pattern, command string) bool {
	if glob(pattern, command) {
		return true
	}
	stem, ok := strings.CutSuffix(pattern, " *")
	return ok && glob(stem, command)
}

// matchAnyCommand reports whether the pattern speaks about any command of the
// line, about the line itself, or about one of them without the settings in front
// and without the folder of its program.
func matchAnyCommand(pattern string, q Request) bool {
	if matchCommand(pattern, q.Detail) {
		return true
	}
	return slices.ContainsFunc(q.Commands, func(c string) bool {
		return matchCommand(pattern, c) || matchCommand(pattern, bare(c))
	})
}

// bare takes the settings in front and the folder of the program off a command.
func bare(command string) string {
	w := words(command)
	for len(w) > 1 && isSetting(w[0]) {
		command = strings.TrimPrefix(command[len(w[0]):], " ")
		w = w[1:]
	}
	if len(w) == 0 || w[0] == ">" {
		return command
	}
	i := strings.LastIndexAny(w[0], `/\`)
	return command[i+1:]
}

// isSetting reports whether a word sets a variable: NAME=VALUE or NAME+=VALUE.
func isSetting(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	name = strings.TrimSuffix(name, "+")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return strings.IndexFunc(name, func(c rune) bool {
		return c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	}) < 0
}

// words takes a command apart at blanks outside quotes; quotes stay.
func words(command string) []string {
	var out []string
	start, quote := 0, byte(0)
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			} else if c == '\\' && quote == '"' {
				i++
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '\\':
			i++
		case c == ' ':
			out = append(out, command[start:i])
			start = i + 1
		}
	}
	return append(out, command[start:])
}

// isFilter reports whether a command does nothing but pass on a part of its input
// or say a few words: it names no file, and writes none.
func isFilter(command string) bool {
	w := words(command)
	args := w[1:]
	switch w[0] {
	case "true", "false", ":", "pwd":
		return len(args) == 0
	case "cat", "sort", "uniq", "head", "tail", "wc":
		return onlyCounts(args)
	case "grep":
		for len(args) > 0 && isFlag(args[0], "EFGcinvwx") {
			args = args[1:]
		}
		return len(args) == 1 && isOneWord(args[0])
	}
	return false
}

// isOneWord reports whether a word stays the one word that it is, and no flag.
func isOneWord(s string) bool {
	if inner, ok := strings.CutPrefix(s, "'"); ok {
		return strings.IndexByte(inner, '\'') == len(inner)-1 && !strings.HasPrefix(inner, "-")
	}
	return !strings.HasPrefix(s, "-") && isPlainFile(s)
}

// onlyCounts reports whether the arguments are flags and numbers of head, tail, wc,
// sort, uniq and cat that name no file: -n 5, -20, -l, -r.
func onlyCounts(args []string) bool {
	for i, a := range args {
		count := i > 0 && (args[i-1] == "-n" || args[i-1] == "-c") && isNumber(a)
		if !count && !isFlag(a, "clnruw0123456789") {
			return false
		}
	}
	return true
}

func isFlag(word, letters string) bool {
	rest, ok := strings.CutPrefix(word, "-")
	return ok && rest != "" && strings.Trim(rest, letters) == ""
}

func isNumber(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return s != "" && strings.Trim(s, "0123456789") == ""
}
