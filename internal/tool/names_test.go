package tool_test

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"tote/internal/tool"
)

// What Windows takes for another file, or a device, is never opened.
func TestOddNamesOnWindows(t *testing.T) {
	for path, want := range map[string]bool{
		`.env`: false, `C:\p\.env`: false, `C:/p/a b/c.txt`: false, `..\x`: false, `\\srv\share\x`: false, `COMMON`: false, `console.log`: false, `COM10`: false, `nul-list`: false,
		`.env.`: true, `.env `: true, `.env::$DATA`: true, `a.txt:b`: true, `C:\p\.env:x`: true, `dir. \x`: true, `.env...`: true,
		`CON`: true, `con.txt`: true, `sub\NUL`: true, `aux.tar.gz`: true, `COM1`: true, `lpt9.log`: true, `COM¹`: true, `CONIN$`: true, `prn .txt`: true,
		`\\?\C:\p\.env`: true, `//?/C:/p/.env`: true, `\\.\PhysicalDrive0`: true, `\??\C:\x`: true, `a?b`: true, `a*`: true,
	} {
		if got := tool.OddOnWindows(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}

// On a file system that takes names in any case or form, a file is judged by the name
// that it has.
func TestNamesAreSpelledAsListed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("following links spells names there")
	}
	folders := map[string][]string{
		"/": {"Users"}, "/Users": {"me"}, "/Users/me": {"caf\u0065\u0301", ".env", "Makefile", "12"}, "/Users/me/caf\u0065\u0301": {"Key.pem"},
	}
	fold := func(s string) string { return strings.ToLower(norm.NFC.String(s)) }
	insensitive := func(a, b string) bool { return fold(a) == fold(b) }
	list := func(dir string) []string { return folders[dir] }
	for in, want := range map[string]string{
		"/users/ME/.ENV":              "/Users/me/.env",
		"/Users/me/.env":              "/Users/me/.env",
		"/USERS/me/makefile":          "/Users/me/Makefile",
		"/Users/me/12":                "/Users/me/12",
		"/users/me/CAF\u00c9/key.PEM": "/Users/me/caf\u0065\u0301/Key.pem",
		"/users/me/none":              "/Users/me/none",
		"/":                           "/",
	} {
		if got := tool.Spelled(in, insensitive, list); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		sensitive := func(a, b string) bool { return a == b }
		if got := tool.Spelled(in, sensitive, list); got != filepath.Clean(in) {
			t.Errorf("%q: %q", in, got)
		}
	}
}
