package app

import (
	"os"
	"runtime"
	"slices"
	"strings"

	"tote/internal/config"
)

// keyNames are the variables that hold keys of backends and servers, which commands
// and hooks have no use for.
func keyNames(cfg config.Config, env func(string) string) []string {
	var out []string
	for _, p := range cfg.Providers {
		if n := p.KeyName(); n != "" {
			out = append(out, n)
		}
		for _, v := range p.Headers {
			if name, ok := strings.CutPrefix(v, "$"); ok && isVariable(name) {
				out = append(out, name)
			}
			out = append(out, referenced(v)...)
		}
	}
	for _, s := range cfg.MCPServers {
		for _, m := range []map[string]string{s.Env, s.Headers} {
			for _, v := range m {
				out = append(out, referenced(v)...)
			}
		}
	}
	for _, o := range config.Offers(env) {
		if o.Env != "" {
			out = append(out, o.Env)
		}
	}
	out = slices.DeleteFunc(out, ordinary)
	slices.Sort(out)
	return slices.Compact(out)
}

// keyNames are those of the configuration as it is now, which a reload may have changed.
func (w *Workspace) keyNames() []string { return keyNames(w.Loaded().Config, w.app.env()) }

// referenced are the names in the references "${NAME}" and "${NAME:-else}" of a text.
func referenced(s string) (names []string) {
	for {
		_, rest, ok := strings.Cut(s, "${")
		inside, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			return names
		}
		if name, _, _ := strings.Cut(inside, ":-"); isVariable(name) {
			names = append(names, name)
		}
		s = after
	}
}

func isVariable(name string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
	return name != "" && strings.Trim(name, letters+"0123456789") == "" && strings.Contains(letters, name[:1])
}

// ordinary reports a variable that a server may well be given, holds no key, and is
// needed by most programs.
func ordinary(name string) bool {
	name = strings.ToUpper(name)
	return slices.Contains([]string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TERM", "LANG", "TZ", "TMPDIR", "TMP", "TEMP", "DISPLAY", "HOSTNAME", "EDITOR",
		"USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "USERNAME",
		"GOPATH", "GOROOT", "GOCACHE", "JAVA_HOME", "NODE_PATH", "PYTHONPATH", "VIRTUAL_ENV", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
	}, name) || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")
}

// without is the environment of this program without some names.
func without(names []string) []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.ContainsFunc(names, func(n string) bool {
			return n == name || runtime.GOOS == "windows" && strings.EqualFold(n, name)
		})
	})
}
