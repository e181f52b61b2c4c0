package shell_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tote/internal/tool/shell"
)

// needLandlock skips where the kernel cannot lock anything in.
func needLandlock(t *testing.T, version int) {
	t.Helper()
	switch abi, err := shell.LandlockABI(); {
	case err != nil:
		t.Skipf("the kernel lacks Landlock: %v", err)
	case abi < version:
		t.Skipf("the kernel has ABI %d of Landlock, this needs %d", abi, version)
	}
}

func TestSandbox(t *testing.T) {
	needLandlock(t, 2)
	home, hidden, extra := folder(t), folder(t), folder(t)
	b := newBench(t, shell.Options{
		Sandbox: shell.SandboxRequire, Writable: []string{extra},
		Environ: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home},
	})
	b.env.Forbidden = []string{hidden}
	for path, data := range map[string]string{
		filepath.Join(hidden, "db"): "conversations", filepath.Join(home, ".ssh", "id"): "key", filepath.Join(home, ".netrc"): "password",
		filepath.Join(home, "notes"): "notes", filepath.Join(home, ".docker", "other"): "other", filepath.Join(home, ".docker", "config.json"): "token",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string]string{
		"echo x > a && cat a && rm a":                          "x\n",
		"mkdir -p d/e && echo y > f && mv f d/e/ && cat d/e/f": "y\n",
		"t=$(mktemp) && echo z > $t && cat $t":                 "z\n",
		"echo w > " + extra + "/w && echo wrote":               "wrote\n",
		"echo n > /dev/null && echo null":                      "null\n",
		"cat ~/notes ~/.docker/other":                          "notesother\n",
		"ls -d / >/dev/null && echo listed":                    "listed\n",
		"echo x > ~/new || echo refused":                       "refused\n",
		"echo x > ~/notes || echo refused":                     "refused\n",
		"rm ~/notes || echo refused":                           "refused\n",
		"cat " + hidden + "/db || echo refused":                "refused\n",
		"cat ~/.ssh/id || echo refused":                        "refused\n",
		"cat ~/.netrc || echo refused":                         "refused\n",
		"cat ~/.docker/config.json || echo refused":            "refused\n",
		"sh -c 'sh -c \"echo x > ~/deep\"' || echo refused":    "refused\n",
	} {
		if got := b.sh(command); !strings.HasSuffix(got, want) && got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	b.sh("cd d && export A=1")
	if got := b.sh("echo $A ${PWD##*/}"); got != "1 d\n" {
		t.Errorf("the state: %q", got)
	}
	if text, _ := b.call("bash", map[string]any{"command": "sleep 1000", "background": true}); !strings.Contains(text, "background") {
		t.Errorf("%q", text)
	}
}

func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestSandboxOffline(t *testing.T) {
	needLandlock(t, 4)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // it only listened
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("%T", l.Addr())
	}
	for offline, want := range map[bool]string{true: "refused\n", false: "connected\n"} {
		b := newBench(t, shell.Options{Shell: "bash", Sandbox: shell.SandboxRequire, Offline: offline})
		got := b.sh("(exec 3<>/dev/tcp/127.0.0.1/" + strconv.Itoa(addr.Port) + ") 2>/dev/null && echo connected || echo refused")
		if got != want {
			t.Errorf("offline %v: %q", offline, got)
		}
	}
}
