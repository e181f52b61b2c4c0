package search_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tote/internal/tool/search"
)

// ignoreNames are the files of the tree on which ignore rules are tried.
var ignoreNames = []string{
	"a", "b.o", "a.txt", "ab", "a b", "a ", "A.TXT", "-d", "#x", "!y", "[z]", "a]b", "foo", "foobar", "x-y", "é.txt", "1.log",
	"foo-dir/a", "foo-dir/b.o", "foo-dir/foo", "foo-dir/sub/a", "foo-dir/sub/b.o", "foo-dir/sub/deep/foo", "foo-dir/sub/deep/a.txt",
	"build/a", "build/keep/a", "build/keep/b.o", "doc/build", "doc/a/b/c/foo", "doc/a.txt", "doc/frotz/a", "abc/d", "abc/x/d", "abcd/d",
}

// gitIgnored asks git about every entry of the tree.
func gitIgnored(t testing.TB, dir string, entries []string) map[string]bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "-c", "core.excludesFile=", "-c", "core.ignoreCase=false", "check-ignore", "-z", "--no-index", "--stdin")
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(strings.Join(entries, "\x00") + "\x00")
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("git check-ignore: %v", err)
	}
	ignored := map[string]bool{}
	for name := range bytes.SplitSeq(out, []byte{0}) {
		ignored[string(name)] = true
	}
	return ignored
}

func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// ignoreTree makes the tree and lists its entries, folders included.
func ignoreTree(t testing.TB) (dir string, entries []string) {
	t.Helper()
	dir = t.TempDir()
	git(t, dir, "init", "-q")
	seen := map[string]bool{}
	for _, name := range ignoreNames {
		put(t, filepath.Join(dir, filepath.FromSlash(name)), "x")
		for name != "." && !seen[name] {
			seen[name] = true
			entries = append(entries, name)
			name = filepath.ToSlash(filepath.Dir(name))
		}
	}
	slices.Sort(entries)
	return dir, entries
}

// sameAsGit compares the matcher with git for one set of ignore files.
func sameAsGit(t *testing.T, dir string, entries []string, files map[string]string) {
	t.Helper()
	for base, data := range files {
		put(t, filepath.Join(dir, filepath.FromSlash(base), ".gitignore"), data)
	}
	want := gitIgnored(t, dir, entries)
	for _, e := range entries {
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(e)))
		if err != nil {
			t.Fatal(err)
		}
		if got := search.Ignored(files, e, info.IsDir()); got != want[e] {
			t.Errorf("rules %q: %q ignored = %v, git says %v", files, e, got, want[e])
		}
	}
	for base := range files {
		if err := os.Remove(filepath.Join(dir, filepath.FromSlash(base), ".gitignore")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestIgnoreAsGit(t *testing.T) {
	dir, entries := ignoreTree(t)
	rules := []string{
		"a", "/a", "a/", "*.o", "/*.o", "**/a", "a/**", "build/", "build/**", "build/*", "build/**\n!build/keep", "build/*\n!build/keep",
		"build/*\n!build/keep/", "build\n!build/keep", "[!a]", "[^a].o", "[a-b]", "[]a]", "[!]a]b", "[a\\-z]-d", "\\#x", "#x", "\\!y", "!y", "a\\ ",
		"a ", "a\\ b", "a b", "foo-dir/sub", "/foo-dir/**/foo", "foo-dir/**/a", "**/sub/**", "sub/deep", "/sub", "*", "*\n!*/", "*\n!*/\n!*.txt",
		"*.txt\n!a.txt", "doc/*/b", "doc/**/c", "doc/a**", "doc/a**/foo", "abc**/d", "ab*/d", "**", "/**", "/", "//", "!", "\\", "a\\", "[", "[a", "[[:alpha:]]", "[[:nope:]]",
		"[[:digit:]].log", "foo*", "foo*bar", "*foo", "f?o", "?", "é.txt", "?.txt", "\xef\xbb\xbfa.txt", "a.txt\r", "a.txt \r", "a.txt\t", "a.txt\x00b", "  a", "\\a", "a.t\\xt",
		"\\[z\\]", "[[]z]", "x[--]y", "x[a-]y", "x[-a]y", "**/foo-dir", "foo-dir//sub", "***", "doc/***/c", "/*/a", "*/a", "*/*/a", "**/**/a", "doc/**/", "*/", "!*/", "A.TXT", "a.TXT",
	}
	if len(rules) < 40 {
		t.Fatal("too few cases")
	}
	for _, r := range rules {
		sameAsGit(t, dir, entries, map[string]string{"": r})
		sameAsGit(t, dir, entries, map[string]string{"": r, "foo-dir": "!a\n!b.o", "foo-dir/sub": "/a\n*.txt"})
	}
}

// Random rules, put together from pieces that have a meaning.
func TestIgnoreAsGitRandom(t *testing.T) {
	dir, entries := ignoreTree(t)
	pieces := []string{
		"a", "b", "o", "foo", "d", "*", "**", "/", "/", "?", "[a-f]", "[!a]", "[^b]", "[]-]", "\\", " ", ".", "txt", "!", "build", "sub", "doc", "-", "#", "[", "]", "deep", "**/", "/**", "[[:alpha:]]", "[\\]a]", "x",
	}
	r := rand.New(rand.NewPCG(1, 2))
	rule := func() string {
		var sb strings.Builder
		for range 1 + r.IntN(6) {
			sb.WriteString(pieces[r.IntN(len(pieces))])
		}
		return sb.String()
	}
	lines := func(n int) string {
		var sb strings.Builder
		for range 1 + r.IntN(n) {
			fmt.Fprintln(&sb, rule())
		}
		return sb.String()
	}
	rounds := 150
	if testing.Short() {
		rounds = 40
	}
	for range rounds {
		sameAsGit(t, dir, entries, map[string]string{"": lines(4), "foo-dir": lines(2), "doc": lines(2)})
	}
}

func FuzzWildmatch(f *testing.F) {
	f.Add("a*b?c[!d-f]**/g", "abxcg/g")
	f.Add("*a*a*a*a*a*a*a*a*b", strings.Repeat("a", 60))
	f.Add("**/a**/**/b", "a/b/c/a/b")
	f.Add("[[:alpha:]-z\\]", "z")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 100 || len(text) > 200 {
			return
		}
		if search.Wildmatch(pattern, text) && pattern == "" && text != "" {
			t.Error("an empty pattern matched")
		}
		if !strings.ContainsAny(text, `*?[\`) && !search.Wildmatch(text, text) {
			t.Errorf("%q does not match itself", text)
		}
	})
}

func put(t testing.TB, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}
