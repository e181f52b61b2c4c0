package shell

import (
	"runtime"
	"slices"
	"strings"
)

// hide is an environment without some names.
func hide(env, names []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.ContainsFunc(names, func(n string) bool { return n == name || runtime.GOOS == "windows" && strings.EqualFold(n, name) })
	})
}
