package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/config"
)

// environ returns a fake environment from name and value pairs.
func environ(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

func TestHome(t *testing.T) {
	dirs := func(c, d, k, s string) config.Dirs { return config.Dirs{Config: c, Data: d, Cache: k, Scratch: s} }
	tests := []struct {
		name, os, user, flag string
		env                  []string
		want                 config.Dirs
	}{
		{"linux", "linux", "/home/u", "", nil, dirs("/home/u/.config/tote", "/home/u/.local/share/tote", "/home/u/.cache/tote", "/home/u/.local/state/tote/scratch")},
		{"freebsd is like linux", "freebsd", "/home/u", "", nil, dirs("/home/u/.config/tote", "/home/u/.local/share/tote", "/home/u/.cache/tote", "/home/u/.local/state/tote/scratch")},
		{"xdg", "linux", "/home/u", "", []string{"XDG_CONFIG_HOME", "/c", "XDG_DATA_HOME", "/d", "XDG_CACHE_HOME", "/k", "XDG_STATE_HOME", "/s"}, dirs("/c/tote", "/d/tote", "/k/tote", "/s/tote/scratch")},
		{"xdg without a home", "linux", "", "", []string{"XDG_CONFIG_HOME", "/c", "XDG_DATA_HOME", "/d", "XDG_CACHE_HOME", "/k", "XDG_STATE_HOME", "/s"}, dirs("/c/tote", "/d/tote", "/k/tote", "/s/tote/scratch")},
		{"relative xdg is ignored", "linux", "/home/u", "", []string{"XDG_CONFIG_HOME", "c"}, dirs("/home/u/.config/tote", "/home/u/.local/share/tote", "/home/u/.cache/tote", "/home/u/.local/state/tote/scratch")},
		{"TOTE_HOME", "linux", "/home/u", "", []string{"TOTE_HOME", "/t", "XDG_CONFIG_HOME", "/c"}, dirs("/t/config", "/t/data", "/t/cache", "/t/scratch")},
		{"--home beats TOTE_HOME", "linux", "/home/u", "/f", []string{"TOTE_HOME", "/t"}, dirs("/f/config", "/f/data", "/f/cache", "/f/scratch")},
		{"mac", "darwin", "/Users/u", "", nil, dirs("/Users/u/Library/Application Support/tote", "/Users/u/Library/Application Support/tote/data", "/Users/u/Library/Caches/tote", "/Users/u/Library/Caches/tote/scratch")},
		{"mac with xdg", "darwin", "/Users/u", "", []string{"XDG_CONFIG_HOME", "/c", "XDG_DATA_HOME", "/d"}, dirs("/c/tote", "/d/tote", "/Users/u/Library/Caches/tote", "/Users/u/Library/Caches/tote/scratch")},
		{"windows", "windows", `C:\Users\u`, "", []string{"APPDATA", `C:\Users\u\AppData\Roaming`, "LOCALAPPDATA", `C:\Users\u\AppData\Local`}, dirs(`C:\Users\u\AppData\Roaming\tote`, `C:\Users\u\AppData\Local\tote\data`, `C:\Users\u\AppData\Local\tote\cache`, `C:\Users\u\AppData\Local\tote\scratch`)},
		{"windows without variables", "windows", `C:\Users\u`, "", nil, dirs(`C:\Users\u\AppData\Roaming\tote`, `C:\Users\u\AppData\Local\tote\data`, `C:\Users\u\AppData\Local\tote\cache`, `C:\Users\u\AppData\Local\tote\scratch`)},
		{"windows drive with slashes", "windows", "", "d:/tote/", nil, dirs(`d:\tote\config`, `d:\tote\data`, `d:\tote\cache`, `d:\tote\scratch`)},
		{"windows share", "windows", "", `\\srv\x`, nil, dirs(`\\srv\x\config`, `\\srv\x\data`, `\\srv\x\cache`, `\\srv\x\scratch`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := config.Home(config.Options{Home: tt.flag, Env: environ(tt.env...), OS: tt.os, UserHome: tt.user})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Home (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHomeRefuses(t *testing.T) {
	tests := []struct{ os, user, flag, env string }{
		{"linux", "/home/u", "", "rel"},
		{"linux", "/home/u", "~/x", ""},
		{"linux", "/home/u", `C:\x`, ""},
		{"windows", `C:\u`, `\x`, ""},
		{"windows", `C:\u`, `C:x`, ""},
		{"windows", `C:\u`, `/x`, ""},
		{"linux", "", "", ""},
		{"darwin", "rel", "", ""},
		{"windows", "", "", ""},
	}
	for _, tt := range tests {
		o := config.Options{Home: tt.flag, Env: environ("TOTE_HOME", tt.env), OS: tt.os, UserHome: tt.user}
		if d, err := config.Home(o); !errors.Is(err, config.ErrUsage) {
			t.Errorf("Home(%+v) = %v, %v, want ErrUsage", tt, d, err)
		}
	}
}

func TestUserFile(t *testing.T) {
	d := config.Dirs{Config: "/c"}
	tests := []struct {
		flag, env, want string
		named           bool
	}{
		{"", "", "/c/config.json", false},
		{"", "/e.json", "/e.json", true},
		{"f.json", "/e.json", "f.json", true},
	}
	for _, tt := range tests {
		got, named := config.UserFile(config.Options{ConfigFile: tt.flag, Env: environ("TOTE_CONFIG", tt.env)}, d)
		if got != tt.want || named != tt.named {
			t.Errorf("UserFile(%q, %q) = %q, %v, want %q, %v", tt.flag, tt.env, got, named, tt.want, tt.named)
		}
	}
}

func TestMakeClosesFolders(t *testing.T) {
	top := t.TempDir()
	d, err := config.Home(config.Options{Home: filepath.Join(top, "h"), Env: environ(), OS: runtime.GOOS})
	if err != nil {
		t.Fatal(err)
	}
	// A folder that was there before, open to others, is closed.
	if err := os.MkdirAll(d.Data, 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.Make(); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{d.Config, d.Data, d.Cache, d.Scratch} {
		wantMode(t, dir, 0o700)
	}
	blocked := config.Dirs{Config: filepath.Join(top, "f", "x"), Data: d.Data, Cache: d.Cache, Scratch: d.Scratch}
	write(t, filepath.Join(top, "f"), "")
	if err := blocked.Make(); err == nil {
		t.Error("Make below a file: no error")
	}
}

func wantMode(tb testing.TB, path string, want os.FileMode) {
	tb.Helper()
	info, err := os.Stat(path)
	if err != nil {
		tb.Fatal(err)
	}
	if got := info.Mode().Perm(); runtime.GOOS != "windows" && got != want {
		tb.Errorf("mode of %s is %o, want %o", path, got, want)
	}
}

// write writes a file and the folders above it.
func write(tb testing.TB, path, content string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
}
