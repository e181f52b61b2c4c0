package tool_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tote/internal/tool"
)

// Names that differ in the Unicode form or the kind of blank are found, if there
// is exactly one, and the real name is told.
func TestFind(t *testing.T) {
	env := project(t, map[string]string{"Shot 10.15\u202fPM.txt": "shot\n", "caf\u00e9/menu.txt": "menu\n", "two a.txt": "1", "plain.txt": "p\n"})
	env.Files = &tool.FileLog{}
	for path, want := range map[string]string{
		"Shot 10.15 PM.txt":        "[the file is really called \"Shot 10.15\\u202fPM.txt\"]\n|1\tshot\n|",
		"cafe\u0301/menu.txt":      "[the file is really called \"caf\\u00e9/menu.txt\"]\n|1\tmenu\n|",
		"plain.txt":                "1\tp\n|",
		"Shot 10.15\u202fPM.txt":   "1\tshot\n|",
		"./x/../Shot 10.15 PM.txt": "[the file is really called \"Shot 10.15\\u202fPM.txt\"]\n|1\tshot\n|",
	} {
		if runtime.GOOS == "darwin" && strings.Contains(path, "\u0301") {
			continue // the file system takes both spellings for the same
		}
		if got := strings.Join(sources(t, env, map[string]any{"path": path}), "|") + "|"; got != want {
			t.Errorf("%+q: %q", path, got)
		}
	}
	// A change goes to the file that is there.
	got, err := run(t, tool.Edit{}, env, edits("Shot 10.15 PM.txt", "shot", "edited"))
	if err != nil || !strings.HasPrefix(got, "[the file is really called ") || file(t, env, "Shot 10.15\u202fPM.txt") != "edited\n" {
		t.Errorf("%q, %v", got, err)
	}
	put(t, filepath.Join(env.Cwd, "two\u00a0b.txt"), "2")
	put(t, filepath.Join(env.Cwd, "two\u2009b.txt"), "3")
	if _, err := run(t, tool.Read{}, env, map[string]any{"path": "two b.txt"}); err == nil || !strings.Contains(err.Error(), `these look the same: "two\u00a0b.txt", "two\u2009b.txt"`) {
		t.Errorf("several: %v", err)
	}
	if _, err := run(t, tool.Write{}, env, map[string]any{"path": "two b.txt", "content": "x"}); err == nil {
		t.Error("one of several was written")
	}
}

// Folders that no tool enters are not searched for names.
func TestFindDoesNotEnter(t *testing.T) {
	env := project(t, map[string]string{"home/a\u202fb.txt": "secret"})
	env.Forbidden = []string{filepath.Join(env.Cwd, "home")}
	p, err := tool.Find("home/a b.txt", env)
	if err != nil || p.Renamed {
		t.Errorf("%+v, %v", p, err)
	}
	outside := project(t, map[string]string{"a\u202fb.txt": "x"})
	if p, err := tool.Find(filepath.Join(outside.Cwd, "a b.txt"), env); err != nil || p.Renamed {
		t.Errorf("%+v, %v", p, err)
	}
	link(t, outside.Cwd, filepath.Join(env.Cwd, "away"))
	if p, err := tool.Find("away/a b.txt", env); err != nil || p.Renamed {
		t.Errorf("%+v, %v", p, err)
	}
}

// What was read whole is known by its sum, what was read in part by its size and
// time.
func TestReadNotesWhatItSaw(t *testing.T) {
	env := project(t, map[string]string{"a.txt": "one\ntwo\n", "a.png": png})
	env.Files = &tool.FileLog{}
	stamp := func(name string) tool.Stamp {
		t.Helper()
		s, ok := env.Files.Seen(filepath.Join(env.Cwd, name))
		if !ok {
			t.Fatalf("%s is not noted", name)
		}
		info, err := os.Stat(filepath.Join(env.Cwd, name))
		if err != nil || info.Size() != s.Size || !info.ModTime().Equal(s.ModTime) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		return s
	}
	for i, v := range []map[string]any{{"path": "a.txt", "limit": 1}, {"path": "a.txt", "offset": 2}, {"path": "a.txt", "limit": 1}, {"path": "a.png"}} {
		if _, err := (tool.Read{}).Run(t.Context(), args(t, v), env); err != nil {
			t.Fatal(err)
		}
		if summed := stamp(v["path"].(string)).Sum != [32]byte{}; summed != (i == 1 || i == 2) {
			t.Errorf("%d: summed %v", i, summed)
		}
	}
	if _, err := run(t, tool.Read{}, env, map[string]any{"path": "gone"}); err == nil {
		t.Error("read a file that is not there")
	}
	if _, ok := env.Files.Seen(filepath.Join(env.Cwd, "gone")); ok {
		t.Error("a file that is not there is noted")
	}
}
