package tool

// OddOnWindows is oddOnWindows.
var OddOnWindows = oddOnWindows

// Spelled spells a path as the folders of a file system would list it. same and list
// stand for that file system.
func Spelled(path string, same func(a, b string) bool, list func(dir string) []string) string {
	return names{same: same, list: list}.spelled(path)
}
