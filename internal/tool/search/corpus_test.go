package search_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tote/internal/tool"
)

// tricky makes a repository that holds what searches stumble over.
func tricky(t testing.TB) tool.Env {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := func(name, data string) { put(t, filepath.Join(dir, filepath.FromSlash(name)), data) }
	long := strings.Repeat("é", 1500) + "needle" + strings.Repeat("x", 900)
	files := map[string]string{
		"a.go": "package a\n\nfunc needle() {}\nvar Needle = 1\n", "a-b/x.go": "needle a-b\n", "a/x.go": "needle a\n", "a.b/x.go": "needle a.b\n",
		"crlf.txt": "one\r\nneedle\r\ntwo\r\nneedle end\r", "noend.txt": "one\ntwo needle", "bom.txt": "\xef\xbb\xbfneedle first\nsecond needle\n",
		"utf16.txt": "\xff\xfen\x00e\x00e\x00d\x00l\x00e\x00\n\x00", "utf16han.txt": "\xff\xfe\x2d\x4e\x87\x65", "utf16be.txt": "\xfe\xff\x00n\x00e",
		"long.txt": "needle " + long + "\n" + long + "\n", "latenul.txt": strings.Repeat("needle line\n", 900) + "\x00needle late\n", "earlynul.bin": "needle\x00needle\n",
		"latin1.txt": "caf\xe9 needle\nna\xefve\n\xff\xfe\xfdneedle\xff\n", "empty.txt": "", "newline.txt": "\n\n\nneedle\n\n", "kelvin.txt": "NEEDLE \u212aelvin \u017fet\nstraße STRASSE\n",
		"with space.txt": "needle in a space\n", "-dash.txt": "needle after a dash\n", "--help": "needle help\n", "ünï/cödé.txt": "needle 中文 ünï\n", "words.txt": "foo bar foobar\nfoo_bar 123 ١٢٣\nfoo\tbar\nx=1; y=22\n",
		"ctx.txt": "1\n2\nneedle 3\n4\nneedle 5\n6\n7\n8\n9\n10 needle\n11\n", "repl.txt": "a\ufffdb needle\n", "vt.txt": "a\vb needle\fc\n",
		".hidden": "needle hidden\n", ".config/x": "needle hidden\n", "vendor/v.go": "needle vendored\n", "sub/node_modules/m/i.js": "needle vendored\n",
		".gitignore":              "*.log\n!keep.log\n/build/\nout/**\n!out/keep.txt\n[!a-z0-9.-]*.tmp\nesc\\ aped\ntrail   \n\\#hash\n*.gen.*\n",
		"x.log":                   "needle log\n",
		"keep.log":                "needle kept\n",
		"build/b.txt":             "needle built\n",
		"out/o.txt":               "needle out\n",
		"out/keep.txt":            "needle kept out\n",
		"esc aped":                "needle escaped\n",
		"trail":                   "needle trail\n",
		"#hash":                   "needle hash\n",
		"Z.tmp":                   "needle\n",
		"a.tmp":                   "needle\n",
		"sub/.gitignore":          "!x.log\n/deep/no.txt\nnested-ignored/\n",
		"sub/x.log":               "needle sub log\n",
		"sub/deep/no.txt":         "needle no\n",
		"sub/deep/yes.txt":        "needle yes\n",
		"sub/deep/deep/no.txt":    "needle deeper\n",
		"sub/tracked.log.gen.txt": "needle tracked but ignored\n",
		"excluded.dat":            "needle excluded\n", "id_rsa": "needle key\n", "server.pem": "needle key\n",
		"inner/.gitignore": "*.txt\n", "inner/a.txt": "needle\n", "inner/a.log": "needle log of an inner repository\n",
		"fakerepo/.git/x": "needle\n", "fakerepo/f.txt": "needle fake\n", "fakerepo/f.log": "needle fake log\n",
		"linked/real.txt":                       "needle real\n",
		strings.Repeat("deep/", 60) + "end.txt": "needle deep\n",
	}
	for name, data := range files {
		if runtime.GOOS == "windows" && strings.HasPrefix(name, "trail") {
			continue
		}
		w(name, data)
	}
	for i := range 40 {
		w(fmt.Sprintf("many/f%02d.txt", i), strings.Repeat(fmt.Sprintf("needle many %d\n", i), i%7))
	}
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-f", "a.go", "sub", "crlf.txt", "words.txt", "linked/real.txt")
	git(t, dir, "commit", "-q", "-m", "x")
	w(".git/info/exclude", "excluded.dat\n")
	w("words.txt", files["words.txt"]+"changed needle\n")
	git(t, filepath.Join(dir, "inner"), "init", "-q")
	// What an index can do to hide a file from git.
	git(t, dir, "update-index", "--assume-unchanged", "crlf.txt")
	git(t, dir, "update-index", "--skip-worktree", "linked/real.txt")
	unixOnly(t, dir)
	return tool.Env{Cwd: dir, Roots: []string{dir}}
}

// hostile turns on what a repository's configuration may do.
func hostile(t testing.TB, dir string) {
	t.Helper()
	for _, kv := range [][2]string{
		{"core.excludesFile", filepath.Join(dir, "a.go")},
		{"core.ignoreCase", "true"},
		{"core.fsmonitor", "touch " + filepath.Join(dir, "ran")},
		{"grep.fullName", "true"},
		{"color.grep", "always"},
		{"color.ui", "always"},
		{"submodule.recurse", "true"},
		{"core.quotePath", "true"},
		{"grep.lineNumber", "true"},
		{"diff.x.textconv", "touch " + filepath.Join(dir, "ran")},
		{"core.pager", "touch " + filepath.Join(dir, "ran")},
		{"core.worktree", filepath.Join(dir, "a")},
	} {
		git(t, dir, "--work-tree="+dir, "config", kv[0], kv[1])
	}
	put(t, filepath.Join(dir, ".git", "info", "attributes"), "* diff=x\n*.txt binary\n")
}

func link(t testing.TB, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
}
