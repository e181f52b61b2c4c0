package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CacheFolders are the folders in which compilers and package managers keep what
// they fetch and build, for Options.Writable: home is the user's home, env the
// environment as NAME=VALUE. Folders of programs that are run by name are not among
// them, so a command in the sandbox cannot change what later commands, or the user,
// run: not ~/go, but ~/go/pkg. They need not exist.
func CacheFolders(home string, env []string) []string {
	var out []string
	if filepath.IsAbs(home) {
		for _, name := range []string{
			".cache", ".cache/go-build", ".cache/pip", ".cache/uv", ".cache/golangci-lint", ".cache/yarn", "go/pkg", "go/pkg/mod/cache", ".npm/_cacache", ".npm/_logs", ".npm",
			".cargo/registry", ".cargo/git", ".gradle/caches", ".m2/repository", ".nuget/packages", ".pnpm-store", "Library/Caches", "Library/Caches/go-build",
		} {
			out = append(out, filepath.Join(home, filepath.FromSlash(name)))
		}
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "XDG_CACHE_HOME", "npm_config_cache", "PIP_CACHE_DIR", "UV_CACHE_DIR"} {
		if dir := variable(env, name); filepath.IsAbs(dir) {
			out = append(out, filepath.Clean(dir))
		}
	}
	for name, below := range map[string][]string{"GOPATH": {"pkg"}, "CARGO_HOME": {"registry", "git"}} {
		for _, dir := range filepath.SplitList(variable(env, name)) {
			for _, b := range below {
				if filepath.IsAbs(dir) {
					out = append(out, filepath.Join(dir, b))
				}
			}
		}
	}
	out = offPath(out, variable(env, "PATH"))
	slices.Sort(out)
	return slices.Compact(out)
}

func variable(env []string, name string) string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// offPath drops the folders in or below which programs are found by their names:
// those of PATH, and those that hold a folder bin.
func offPath(folders []string, searched string) []string {
	var programs []string
	for _, p := range filepath.SplitList(searched) {
		if filepath.IsAbs(p) {
			programs = append(programs, filepath.Clean(p), followed(p))
		}
	}
	return slices.DeleteFunc(slices.Clone(folders), func(dir string) bool {
		if info, err := os.Stat(filepath.Join(dir, "bin")); err == nil && info.IsDir() {
			return true
		}
		return slices.ContainsFunc(programs, func(p string) bool { return holds(dir, p) || holds(followed(dir), p) })
	})
}

// followed is where a path leads; what is not there stands for itself.
func followed(p string) string {
	if r, err := filepath.EvalSymlinks(p); err == nil {
		return r
	}
	return filepath.Clean(p)
}

// holds reports whether path is dir or lies in it.
func holds(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
