package tool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tote/internal/tool"
)

// What cannot be done is told before anybody is asked, and again when it is done.
func TestCheck(t *testing.T) {
	env := desk(t, map[string]string{"a.txt": "one\ntwo\ntwo\n", "stale.txt": "old\n", "priv/k.txt": "key\n"})
	put(t, filepath.Join(env.Cwd, "stale.txt"), "newer\n")
	put(t, filepath.Join(env.Cwd, "unread.txt"), "secret words\n")
	env.Denied = func(abs string) bool { return strings.HasSuffix(filepath.ToSlash(abs), "/priv/k.txt") }
	if err := os.Mkdir(filepath.Join(env.Cwd, "dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(path string) map[string]any { return map[string]any{"path": path, "content": "x\n"} }
	for _, tt := range []struct {
		tl   tool.Tool
		v    map[string]any
		want string
	}{
		{tool.Edit{}, edits("a.txt", "one", "1"), ""},
		{tool.Edit{}, edits("n.txt", "", "1"), ""},
		{tool.Edit{}, edits("a.txt", "three", "3"), "edit a.txt: old is not in the file, and nothing like it is; read the file again"},
		{tool.Edit{}, edits("a.txt", "two", "2"), "edit a.txt: old stands in the file 2 times"},
		{tool.Edit{}, edits("stale.txt", "old", "x"), "edit stale.txt: it has changed since you last saw it; read it again"},
		{tool.Edit{}, edits("unread.txt", "nothing", "x"), "edit unread.txt: it is there already and you have not read it in this session; read it first"},
		{tool.Edit{}, edits("none.txt", "old", "x"), "edit none.txt: there is no such file"},
		{tool.Edit{}, edits("dir", "old", "x"), "edit dir: it is a folder"},
		{tool.Edit{}, edits("priv/k.txt", "nothing", "x"), "edit priv/k.txt: the user's rules deny reading it"},
		{tool.Edit{}, edits("a.txt", "x", "x"), "edit: old and new are the same"},
		{tool.Write{}, write("a.txt"), ""},
		{tool.Write{}, write("new/deep.txt"), ""},
		{tool.Write{}, write("stale.txt"), "write stale.txt: it has changed since you last saw it; read it again"},
		{tool.Write{}, write("unread.txt"), "write unread.txt: it is there already and you have not read it"},
		{tool.Write{}, write("dir/"), "write dir/: it names a folder; name the file"},
	} {
		c, ok := tt.tl.(tool.Checker)
		if !ok {
			t.Fatalf("%T checks nothing", tt.tl)
		}
		err := c.Check(t.Context(), args(t, tt.v), env)
		if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s %v: %v, want %q", tt.tl.Spec().Name, tt.v["path"], err, tt.want)
		}
		if tt.want == "" {
			continue
		}
		if _, again := run(t, tt.tl, env, tt.v); again == nil || again.Error() != err.Error() {
			t.Errorf("%s %v: checked %v, run %v", tt.tl.Spec().Name, tt.v["path"], err, again)
		}
	}
	if _, err := os.Lstat(filepath.Join(env.Cwd, "new")); err == nil {
		t.Error("a check made a folder")
	}
}

// Of a file outside the roots that the model has not seen, a check tells nothing: not
// even whether it is there.
func TestCheckTellsNothing(t *testing.T) {
	env := desk(t, nil)
	outside := project(t, map[string]string{"o.txt": "secret words\n"})
	there := filepath.Join(outside.Cwd, "o.txt")
	for _, path := range []string{there, filepath.Join(outside.Cwd, "none.txt"), outside.Cwd, `\\server\share\x`} {
		if err := (tool.Edit{}).Check(t.Context(), args(t, edits(path, "nothing", "x")), env); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if err := (tool.Write{}).Check(t.Context(), args(t, map[string]any{"path": path, "content": "x"}), env); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	permitted := env
	permitted.Permitted = true
	seen(t, permitted, there)
	if err := (tool.Edit{}).Check(t.Context(), args(t, edits(there, "nothing", "x")), env); err == nil {
		t.Error("a file that was seen is not checked")
	}
}
