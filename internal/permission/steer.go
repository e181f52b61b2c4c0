package permission

import (
	"slices"
	"strings"
)

// steering are files and folders that say what is run later, by git, by editors,
// by shells or by agents. Writing one is as much as running a command, so it is
// asked about even where edits are accepted.
var steering = []string{
	".git", ".githooks", ".husky", ".gitmodules", ".tote", ".mcp.json", ".claude", ".agents", ".vscode", ".idea", ".envrc",
}

// steers reports whether a path is such a file or lies in such a folder, at any
// depth. Case, and the dots, blanks and streams that Windows does not count at the
// end of a name, make no difference.
func steers(p string) bool {
	for elem := range strings.SplitSeq(strings.ToLower(p), "/") {
		name, _, _ := strings.Cut(elem, ":")
		if name = strings.TrimRight(name, ". "); slices.Contains(steering, name) || strings.HasPrefix(name, "git~") {
			return true
		}
	}
	return false
}
