package shell

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// state is what a shell leaves for the next one: its folder, and which exported
// variables it changed. Functions, aliases, traps, options and remembered programs end
// with their call: they would change what later commands mean, which run by rules for
// their names.
type state struct {
	// base are the variables in which all begins, changes what calls made of them.
	base    map[string]string
	changes map[string]change
	cwd     string
	// old is the folder before, for "cd -".
	old string
}

// change is a variable that was set, or unset.
type change struct {
	value string
	unset bool
}

// maxState bounds what is carried: more would keep programs from starting.
const maxState = 256 << 10

// steering are variables that say which programs run, or what a shell, a loader or git
// does before or instead of what it is told. They last for one call. steeringPrefixes
// begin the names of more of them.
var (
	steering = []string{
		"PATH", "IFS", "ENV", "HOME", "SHELL", "CDPATH", "PS4", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "GLOBIGNORE", "EXECIGNORE", "FUNCNEST", "POSIXLY_CORRECT",
		"EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "GCONV_PATH", "LOCPATH", "HOSTALIASES", "TERMINFO", "TERMCAP", "TERM",
	}
	steeringPrefixes = []string{"BASH_", "LD_", "DYLD_", "GIT_", "XDG_CONFIG", "_RLD"}
)

// notOurs are variables that belong to one shell and are not carried.
var notOurs = []string{"PWD", "OLDPWD", "SHLVL", "_", "UID", "EUID", "PPID", "PS1", "PS2"}

// plainNames are variables that say how something is printed, for which place or for
// which system, and to no known program what it runs.
var plainNames = []string{
	"LANG", "LANGUAGE", "TZ", "COLUMNS", "LINES", "CI", "DEBUG", "VERBOSE", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "NODE_ENV", "APP_ENV",
	"RAILS_ENV", "RACK_ENV", "RUST_LOG", "RUST_BACKTRACE", "GOOS", "GOARCH", "GOARM", "GOAMD64", "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "CGO_ENABLED", "PORT",
	"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONIOENCODING", "SOURCE_DATE_EPOCH", "DEBIAN_FRONTEND", "VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT",
}

func isSteering(name string) bool {
	name = strings.ToUpper(name)
	return slices.Contains(steering, name) || slices.ContainsFunc(steeringPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// kept are the variables that calls changed and of which it is not known that no
// program takes from them what it runs, sorted.
func (st state) kept() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(st.changes)) {
		if !slices.Contains(plainNames, name) && !strings.HasPrefix(name, "LC_") {
			out = append(out, name)
		}
	}
	return out
}

// script gives a shell the variables.
func (st state) script() []byte {
	var sb strings.Builder
	for _, name := range slices.Sorted(maps.Keys(st.base)) {
		if _, ok := st.changes[name]; !ok {
			sb.WriteString("export " + name + "=" + quote(st.base[name]) + "\n")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(st.changes)) {
		if c := st.changes[name]; c.unset {
			sb.WriteString("unset " + name + "\n")
		} else {
			sb.WriteString("export " + name + "=" + quote(c.value) + "\n")
		}
	}
	if st.old != "" {
		sb.WriteString("export OLDPWD=" + quote(st.old) + "\n")
	}
	return []byte(sb.String())
}

// without is the state without some variables.
func (st state) without(names []string) state {
	st.base, st.changes = maps.Clone(st.base), maps.Clone(st.changes)
	for _, n := range names {
		delete(st.base, n)
		delete(st.changes, n)
	}
	return st
}

// after is the state with what a shell made of its variables. lost are the names of
// those that do not last.
func (st state) after(before, now map[string]string) (_ state, lost []string) {
	st.changes = maps.Clone(st.changes)
	if st.changes == nil {
		st.changes = map[string]change{}
	}
	st.old = now["OLDPWD"]
	names := maps.Clone(before)
	maps.Copy(names, now)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		value, is := now[name]
		if old, was := before[name]; is == was && value == old || slices.Contains(notOurs, name) {
			continue
		}
		if isSteering(name) {
			lost = append(lost, name)
			continue
		}
		st.changes[name] = change{value: value, unset: !is}
		if old, was := st.base[name]; is == was && value == old {
			delete(st.changes, name)
		}
	}
	return st, lost
}

// kept reads what a shell left in dir. ok is false where it left nothing, or more
// than is carried. lost are the names of variables that do not last.
func (in interpreter) kept(dir string, before state) (st state, lost []string, ok bool) {
	cwd, err := os.ReadFile(filepath.Join(dir, cwdNew))
	if err != nil || !strings.HasSuffix(string(cwd), "\n") {
		return before, nil, false
	}
	st = before
	st.cwd = filepath.FromSlash(strings.TrimSuffix(string(cwd), "\n"))
	if info, err := os.Stat(st.cwd); err != nil || !info.IsDir() || !filepath.IsAbs(st.cwd) {
		return before, nil, false
	}
	if in.kind == kindPwsh {
		return st, nil, true
	}
	old, okOld := readExports(filepath.Join(dir, varsOld))
	now, okNow := readExports(filepath.Join(dir, varsNew))
	if !okOld || !okNow {
		return before, nil, false
	}
	st, lost = st.after(old, now)
	if len(st.script()) > maxState {
		return before, nil, false
	}
	return st, lost, true
}

func readExports(name string) (map[string]string, bool) {
	data, err := os.ReadFile(name)
	if err != nil || len(data) > maxState || bytes.IndexByte(data, 0) >= 0 {
		return nil, false
	}
	return exports(data)
}
