package ingest_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"tote/internal/ingest"
)

const refused = "\x00refused"

func TestParsePath(t *testing.T) {
	for _, c := range []struct{ os, raw, want string }{
		// Unix: plain, blanks, escapes, quotes.
		{"linux", "a.png", "/proj/a.png"},
		{"linux", "/x/a.png", "/x/a.png"},
		{"linux", "./b/../a.png", "/proj/a.png"},
		{"linux", "/x/../../a", "/a"},
		{"linux", "/x/my file.png", "/x/my file.png"},
		{"linux", `/x/my\ file.png`, "/x/my file.png"},
		{"linux", `/x/a\(1\)\'s\\b.png`, `/x/a(1)'s\b.png`},
		{"linux", `'/x/my file.png'`, "/x/my file.png"},
		{"linux", `"/x/my file.png"`, "/x/my file.png"},
		{"linux", `"/x/a\"b\n.png"`, `/x/a"b\n.png`},
		{"linux", `'/x/it'\''s.png'`, "/x/it's.png"},
		{"linux", `'/x/it'"'"'s.png'`, "/x/it's.png"},
		{"linux", `it's.png`, "/proj/it's.png"},
		{"linux", `'open`, "/proj/'open"},
		{"linux", ` /x/a.png` + "\n", "/x/a.png"},
		{"linux", `/x/a\ `, "/x/a "},
		{"linux", `/x/a\\ `, `/x/a\`},
		{"linux", `/x/a\`, `/x/a\`},
		{"linux", "/x/Shot 9.41.00\u202fPM.png", "/x/Shot 9.41.00\u202fPM.png"},
		{"linux", "~", "/home/u"},
		{"linux", "~/a.png", "/home/u/a.png"},
		{"linux", `~/my\ a.png`, "/home/u/my a.png"},
		{"linux", "~other/a.png", "/proj/~other/a.png"},
		{"linux", "'~/a.png'", "/proj/~/a.png"},
		{"darwin", `/Users/u/Desktop/a\ b.png `, "/Users/u/Desktop/a b.png"},
		{"linux", `C:\x`, "/proj/C:x"},
		{"linux", "", refused},
		{"linux", "  ", refused},
		{"linux", "''", refused},
		{"linux", "a\x00b", refused},

		// file: URIs.
		{"linux", "file:///x/my%20file.png", "/x/my file.png"},
		{"linux", "FILE:///x/a.png", "/x/a.png"},
		{"linux", "file:/x/a.png", "/x/a.png"},
		{"linux", "file://localhost/x/a.png", "/x/a.png"},
		{"linux", "file://LocalHost/x/a.png", "/x/a.png"},
		{"linux", "file:///x/a.rs#L10:20", "/x/a.rs"},
		{"linux", "file:///x/a.rs?v=1", "/x/a.rs"},
		{"linux", "file:///x/a%23b%3F.rs", "/x/a#b?.rs"},
		{"linux", "file:///x/100%.png", "/x/100%.png"},
		{"linux", "file:///x/%E2%80%AF.png", "/x/\u202f.png"},
		{"linux", "file:///x/%2e%2e/%2e%2e/etc/passwd", "/etc/passwd"},
		{"linux", "'file:///x/a%20b'", "/x/a b"},
		{"linux", "file:///x/%00", refused},
		{"linux", "file://server/x/a.png", refused},
		{"linux", "file:a.png", refused},
		{"linux", "file://", refused},

		// Windows.
		{"windows", `C:\x\a.png`, `C:\x\a.png`},
		{"windows", `c:/x/a.png`, `C:\x\a.png`},
		{"windows", `a.png`, `C:\proj\a.png`},
		{"windows", `b\..\..\..\a.png`, `C:\a.png`},
		{"windows", `\x\a.png`, `C:\x\a.png`},
		{"windows", `"C:\my files\a.png"`, `C:\my files\a.png`},
		{"windows", `'C:\it''s\a.png'`, `C:\it's\a.png`},
		{"windows", `~\a.png`, `C:\Users\u\a.png`},
		{"windows", `~/a.png`, `C:\Users\u\a.png`},
		{"windows", `\\host\share\a.png`, `\\host\share\a.png`},
		{"windows", `//host/share/x/../a.png`, `\\host\share\a.png`},
		{"windows", `\\host\share\..\..\a.png`, `\\host\share\a.png`},
		{"windows", `\\?\C:\x\a.png`, `C:\x\a.png`},
		{"windows", `\\?\UNC\host\share\a.png`, `\\host\share\a.png`},
		{"windows", "file:///C:/x/a%20b.png", `C:\x\a b.png`},
		{"windows", "file:///c%3A/x/a.png", `C:\x\a.png`},
		{"windows", "file:///c%3a/x%2Fy/a.png", `C:\x\y\a.png`},
		{"windows", "file:///C|/x/a.png", `C:\x\a.png`},
		{"windows", "file://C:/x/a.png", `C:\x\a.png`},
		{"windows", "file://localhost/C:/x/a.png", `C:\x\a.png`},
		{"windows", "file://host/share/a.png", `\\host\share\a.png`},
		{"windows", "file:////host/share/a.png", `\\host\share\a.png`},
		{"windows", `C:\x\console.txt`, `C:\x\console.txt`},
		{"windows", `C:\x\com10.txt`, `C:\x\com10.txt`},
		{"windows", `C:\x\.gitignore`, `C:\x\.gitignore`},
		{"windows", `C:x`, refused},
		{"windows", `C:`, refused},
		{"windows", `C:\x\a.png:stream`, refused},
		{"windows", `C:\x\a.png::$DATA`, refused},
		{"windows", `a.png:b`, refused},
		{"windows", `C:\x\NUL`, refused},
		{"windows", `C:\x\nul.png`, refused},
		{"windows", `con`, refused},
		{"windows", `C:\aux\a.png`, refused},
		{"windows", `C:\COM1 .txt`, refused},
		{"windows", `C:\lpt9`, refused},
		{"windows", `C:\COM¹`, refused},
		{"windows", `CONIN$`, refused},
		{"windows", `C:\x\a.png.`, refused},
		{"windows", `C:\x\.. \secret`, refused},
		{"windows", `C:\x\...\secret`, refused},
		{"windows", `\\.\PhysicalDrive0`, refused},
		{"windows", `\\?\GLOBALROOT\Device`, refused},
		{"windows", `\??\C:\x`, `C:\x`},
		{"windows", `\\host\pipe\x`, refused},
		{"windows", `\\host`, refused},
		{"windows", "file:///x/a.png", refused},
		{"windows", "C:\\a\x00b", refused},
		{"windows", "C:\\a\rb", refused},
	} {
		home, cwd := "/home/u", "/proj"
		if c.os == "windows" {
			home, cwd = `C:\Users\u`, `C:\proj`
		}
		got, err := ingest.ParsePath(c.os, c.raw, home, cwd)
		if err != nil {
			got = refused
		}
		if got != c.want {
			t.Errorf("%s %q: got %q (%v), want %q", c.os, c.raw, got, err, c.want)
		}
	}
	for _, c := range [][4]string{{"linux", "~/a", "", "/w"}, {"linux", "a", "/h", ""}, {"windows", "a", `C:\h`, ""}, {"windows", "a", `C:\h`, `w`}} {
		if got, err := ingest.ParsePath(c[0], c[1], c[2], c[3]); err == nil {
			t.Errorf("%q: got %q", c, got)
		}
	}
}

func FuzzParsePath(f *testing.F) {
	for _, s := range []string{
		"a", "/a/../b", `'a b'`, `"a\"b"`, `a\ b`, "~/x", "file:///c%3A/x", "file://host/s/x", `\\?\UNC\h\s\x`, `\\h\s`, `C:\x:y`, "nul.txt",
		"file:////h/s", "%", "file:///%zz", `'it'\''s'`, `\\?\\\.\x`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, goos := range []string{"linux", "darwin", "windows"} {
			home, cwd := "/home/u", "/proj"
			if goos == "windows" {
				home, cwd = `C:\Users\u`, `C:\proj`
			}
			got, err := ingest.ParsePath(goos, raw, home, cwd)
			if err != nil {
				continue
			}
			if strings.ContainsRune(got, 0) {
				t.Fatalf("%s %q: NUL in %q", goos, raw, got)
			}
			if goos != "windows" {
				if !strings.HasPrefix(got, "/") || got != path.Clean(got) {
					t.Fatalf("%s %q: %q is not clean and absolute", goos, raw, got)
				}
				continue
			}
			parts := strings.Split(strings.TrimPrefix(got, `\\`), `\`)
			if len(parts) < 2 || slices.Contains(parts, "..") || strings.Contains(got, "/") || strings.Count(got, ":") > 1 {
				t.Fatalf("%q: %q is not clean and absolute", raw, got)
			}
			if again, err := ingest.ParsePath(goos, got, home, cwd); err != nil || again != got {
				t.Fatalf("%q: %q reads as %q, %v", raw, got, again, err)
			}
		}
	})
}

func TestMentions(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                     nil,
		"@a.png":                               {"a.png"},
		"see @a.png, and @b.png.":              {"a.png", "b.png"},
		"(@a.png)":                             {"a.png"},
		"see '@a.png' and [@b.png].":           {"a.png", "b.png"},
		"mail a@b.example @ x":                 nil,
		"@user hi":                             {"user"},
		`@"my file.png" @'other one.png'`:      {"my file.png", "other one.png"},
		`@my\ file.png rest`:                   {"my file.png"},
		`@C:\dir\a.png`:                        {`C:\dir\a.png`},
		"\n@a\n\t@b":                           {"a", "b"},
		"@a@b":                                 {"a@b"},
		"@@a":                                  {"@a"},
		"@f(1).png":                            {"f(1).png"},
		"as in @f.png)":                        {"f.png"},
		`@"open`:                               nil,
		"@\u65e5\u672c.png\u3000x":             {"\u65e5\u672c.png"},
		"@Shot\u202fPM.png":                    {"Shot\u202fPM.png"},
		"@~/a.png!":                            {"~/a.png"},
		"@...":                                 nil,
		"@file:///a%20b.png":                   {"file:///a%20b.png"},
		"code `@decorator` and @\"a.png\", ok": {"a.png"},
	} {
		if got := ingest.Mentions(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzMentions(f *testing.F) {
	f.Add(`see @a.png, @"b c" and @d\ e`)
	f.Add("@'\xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range ingest.Mentions(text) {
			if m == "" || len(m) > len(text) {
				t.Fatalf("%q holds the mention %q", text, m)
			}
		}
	})
}
