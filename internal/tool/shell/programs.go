package shell

import (
	"slices"
	"strings"
)

var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "csh", "tcsh"}

// shell looks at a shell that is started: at the program behind -c, where that is
// the only flag that is not a plain letter or two. What comes in through a pipe, and
// what other flags do, cannot be told.
func (s *splitter) shell(args []word, depth int) bool {
	if len(args) == 0 || !args[0].fixed || args[0].glob {
		s.opaque = true
		return true
	}
	flag := args[0].value
	switch {
	case flag == "" || strings.HasPrefix(flag, "+") || strings.HasPrefix(flag, "/dev/") || strings.HasPrefix(flag, "/proc/"):
		s.opaque = true
	case !strings.HasPrefix(flag, "-"): // a file
	case len(args) > 1 && strings.HasSuffix(flag, "c") && strings.Trim(flag[1:len(flag)-1], "eul") == "" && !strings.HasPrefix(args[1].value, "-"):
		s.opaque = s.opaque || !args[1].fixed
		return s.program(args[1:2], depth)
	default:
		s.opaque = true
		if i := slices.IndexFunc(args, func(w word) bool { return strings.HasPrefix(w.value, "-") && strings.HasSuffix(w.value, "c") }); i >= 0 && i+1 < len(args) {
			s.guess(func() bool { return s.program(args[i+1:i+2], depth) })
		}
	}
	return true
}

// guess looks into what may be a command, for rules that deny: the line is opaque
// whatever comes of it.
func (s *splitter) guess(look func() bool) {
	before := s.parts
	if !look() {
		s.parts = before
	}
	s.opaque = true
}

// runner is a program that runs the command in its arguments.
type runner struct {
	// flags are the letters of those without a value, values those of flags that
	// take one. Others make a line opaque: they may run what is not seen here.
	flags, values string
	// take is how many arguments come before the command.
	take int
	// input: more arguments come from what is read.
	input bool
}

var runners = map[string]runner{
	"sudo": {flags: "EHnkbA", values: "ughpCrtTUDR"}, "doas": {flags: "n", values: "uC"}, "env": {flags: "i0", values: "uC"}, "nice": {values: "n"},
	"timeout": {flags: "v", values: "sk", take: 1}, "nohup": {}, "setsid": {flags: "cfw"}, "stdbuf": {values: "ioe"},
	"xargs": {flags: "0rtx", values: "adEILnPs", input: true}, "time": {flags: "pvaq", values: "fo"}, "command": {flags: "p"}, "builtin": {},
	"ionice": {flags: "t", values: "cnp"}, "busybox": {}, "unshare": {}, "caffeinate": {flags: "dimsu", values: "tw"},
}

// skip drops what stands before the command. known is false where a flag is not one
// of those listed, or a word may become one.
func (r runner) skip(w []word) (command []word, known bool) {
	take, known := r.take, true
	for len(w) > 0 {
		v := w[0].value
		switch {
		case isSetting(v):
		case !w[0].fixed || w[0].glob:
			return w, false
		case v == "--":
		case len(v) > 1 && v[0] == '-':
			letters := strings.TrimLeft(v[1:], r.flags+" ")
			switch {
			case letters == "":
			case !strings.Contains(r.values, letters[:1]):
				known = false
			case len(letters) == 1 && len(w) > 1:
				known = known && w[1].fixed
				w = w[1:]
			}
		case take > 0:
			take--
		default:
			return w, known
		}
		w = w[1:]
	}
	return nil, known
}

func isSetting(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}
