package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/app"
	"tote/internal/config"
	"tote/internal/content"
	"tote/internal/imaging/imagingtest"
)

// place is a home and a working folder.
type place struct {
	t         testing.TB
	home, cwd string
	env       map[string]string
}

func newPlace(t testing.TB) *place {
	t.Helper()
	dir := t.TempDir()
	p := &place{t: t, home: filepath.Join(dir, "home"), cwd: filepath.Join(dir, "work"), env: map[string]string{}}
	p.write(filepath.Join(p.cwd, ".git", "HEAD"), "ref: refs/heads/main\n")
	return p
}

func (p *place) write(path, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) userFile() string    { return filepath.Join(p.home, "config", "config.json") }
func (p *place) projectFile() string { return filepath.Join(p.cwd, ".tote", "config.json") }

func (p *place) open(o config.Overlay) *app.App {
	p.t.Helper()
	a, err := app.Open(app.Options{
		Config: config.Options{
			Home: p.home, Env: func(k string) string { return p.env[k] }, OS: runtime.GOOS, UserHome: p.home,
		},
		Overlay: o, Version: "test", Now: time.Now,
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		if err := a.Close(); err != nil {
			p.t.Error(err)
		}
	})
	return a
}

func (p *place) workspace(a *app.App) *app.Workspace {
	p.t.Helper()
	w, err := a.Workspace(p.t.Context(), p.cwd)
	if err != nil {
		p.t.Fatal(err)
	}
	return w
}

// prompt runs a turn in a new session with a text and files.
func (p *place) prompt(w *app.Workspace, s *agent.Session, text string, files ...string) *agent.Session {
	p.t.Helper()
	if s == nil {
		name, err := w.DefaultAgent()
		if err != nil {
			p.t.Fatal(err)
		}
		if s, err = w.Agent().Create(p.t.Context(), name, p.cwd, nil); err != nil {
			p.t.Fatal(err)
		}
	}
	var sources []content.Source
	for _, f := range files {
		sources = append(sources, content.Source{Payload: content.Path{Path: f}, Inlet: content.InletFlag, Chooser: content.ChosenByUser})
	}
	sources = append(sources, content.Source{
		Payload: content.Prose{Text: text}, Inlet: content.InletPrompt, Chooser: content.ChosenByUser, As: content.KindText,
	})
	if _, err := s.Prompt(p.t.Context(), agent.Prompt{Sources: sources, Front: &agenttest.Front{}}); err != nil {
		p.t.Fatal(err)
	}
	return s
}

func TestNothingIsOpenedEarly(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a := p.open(config.Overlay{})
	if _, err := os.Stat(p.home); err == nil {
		t.Error("the home was made before it was needed")
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

func TestReload(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := p.workspace(p.open(config.Overlay{}))
	reload := func() string {
		t.Helper()
		ns, err := w.Reload(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s := ""
		for _, n := range ns {
			s += n.Title + ": " + n.Detail + "\n"
		}
		return s
	}
	model := func() string {
		t.Helper()
		name, err := w.DefaultAgent()
		if err != nil {
			t.Fatal(err)
		}
		m, err := w.Model(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return m.Name + " " + m.Profile.Model
	}
	if got := reload(); got != "" {
		t.Errorf("nothing changed, and it says %q", got)
	}
	p.write(p.userFile(), `{"agents": {"one": {"provider": "offline", "model": "m1"}}, "default_agent": "one"}`)
	if got := reload(); !strings.Contains(got, "read again") || model() != "one m1" {
		t.Errorf("a new file: %q, model %q", got, model())
	}
	p.write(p.userFile(), `{"agents": {"one": {"provider": "offline", "model": }}}`)
	if got := reload(); !strings.Contains(got, "last good one stays") || !strings.Contains(got, "config.json:1:") || model() != "one m1" {
		t.Errorf("a broken file: %q, model %q", got, model())
	}
	if got := reload(); got != "" {
		t.Errorf("a broken file is complained about twice: %q", got)
	}
	p.write(p.userFile(), `{"agents": {"two": {"provider": "offline", "model": "m2"}}}`)
	if got := reload(); !strings.Contains(got, "read again") || model() != "two m2" {
		t.Errorf("a mended file: %q, model %q", got, model())
	}
	if err := os.Remove(p.userFile()); err != nil {
		t.Fatal(err)
	}
	if got := reload(); !strings.Contains(got, "read again") || !strings.HasPrefix(model(), "offline ") {
		t.Errorf("a file that vanished: %q, model %q", got, model())
	}
	p.write(p.projectFile(), `{"permissions": {"mode": "full"}}`)
	if got := reload(); !strings.Contains(got, "wait for your trust: permission mode full") {
		t.Errorf("a project's file appeared: %q", got)
	}
}

func TestTrustTakesEffect(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.projectFile(), `{"agents": {"evil": {"provider": "offline", "model": "m"}}, "default_agent": "evil", "permissions": {"mode": "full"}}`)
	w := p.workspace(p.open(config.Overlay{}))
	if n := w.Notices(); len(n) != 1 || w.Loaded().Config.Permissions.Mode == config.ModeFull {
		t.Fatalf("before trust: %v, mode %s", n, w.Loaded().Config.Permissions.Mode)
	}
	if err := w.TrustProject(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := w.Notices(); len(n) != 0 || w.Loaded().Config.Permissions.Mode != config.ModeFull {
		t.Errorf("after trust: %v, mode %s", n, w.Loaded().Config.Permissions.Mode)
	}
	// The command line beats the file.
	p2 := p.workspace(p.open(config.Overlay{Mode: "plan"}))
	if m := p2.Loaded().Config.Permissions.Mode; m != config.ModePlan {
		t.Errorf("mode %s, want plan", m)
	}
}

func TestChoices(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.userFile(), `{
		"providers": {"p": {"kind": "openai-chat", "base_url": "http://127.0.0.1:1/v1"}},
		"agents": {
			"b": {"provider": "p", "model": "m", "vision": true}, "a": {"provider": "p", "model": "n", "vision": false},
			"z": {"runner": "custom", "command": ["x"]},
		}, "default_agent": "b"}`)
	list, err := p.workspace(p.open(config.Overlay{})).Choices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, c := range list {
		got += fmt.Sprintf("%s default=%v images=%s problem=%v\n", c.Name, c.Default, c.Images.Answer, c.Problem != "")
	}
	want := "b default=true images=yes problem=false\na default=false images=no problem=false\n" +
		"offline default=false images=yes problem=false\nz default=false images=unknown problem=true\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestDeleteSession(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.userFile(), `{"agents": {"blind": {"provider": "offline", "model": "m", "vision": false}}}`)
	a := p.open(config.Overlay{})
	file := filepath.Join(p.cwd, "a.png")
	p.write(file, string(imagingtest.PNG(imagingtest.Corners(8, 6))))
	s := p.prompt(p.workspace(a), nil, "look", file)
	staged := filepath.Join(p.home, "scratch", s.ID())
	if _, err := os.Stat(filepath.Join(staged, "image-1.png")); err != nil {
		t.Fatalf("the picture was not staged: %v", err)
	}
	release, err := a.LockSession(t.Context(), s.ID(), func() { t.Error("busy") })
	if err != nil {
		t.Fatal(err)
	}
	release()
	if err := a.DeleteSession(t.Context(), s.ID()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{staged, filepath.Join(p.home, "data", "locks", s.ID()+".lock")} {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
}

func TestLockSession(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a, b := p.open(config.Overlay{}), p.open(config.Overlay{})
	release, err := a.LockSession(t.Context(), "s", func() { t.Error("busy") })
	if err != nil {
		t.Fatal(err)
	}
	busy := make(chan struct{})
	got := make(chan error, 1)
	// It ends when release was called.
	go func() {
		r, err := b.LockSession(t.Context(), "s", func() { close(busy) })
		if err == nil {
			r()
		}
		got <- err
	}()
	<-busy
	select {
	case err := <-got:
		t.Fatalf("did not wait: %v", err)
	default:
	}
	release()
	if err := <-got; err != nil {
		t.Error(err)
	}
	if _, err := a.LockSession(t.Context(), "../s", nil); err == nil {
		t.Error("a path was taken for an id")
	}
}

func TestIDsSortByTime(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	now := time.UnixMilli(1_700_000_000_000)
	a, err := app.Open(app.Options{
		Config: config.Options{Home: p.home, Env: func(string) string { return "" }}, Now: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for range 200 {
		now = now.Add(time.Millisecond)
		id := a.NewID()
		if id <= last || len(id) != 24 {
			t.Fatalf("%q after %q", id, last)
		}
		last = id
	}
}

// One picture under many labels is one file on the disk; one that was changed
// there is not handed on.
func TestStagedOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(p.userFile(), `{"agents": {"blind": {"provider": "offline", "model": "m", "vision": false}}}`)
	w := p.workspace(p.open(config.Overlay{}))
	file := filepath.Join(p.cwd, "a.png")
	picture := string(imagingtest.PNG(imagingtest.Corners(8, 6)))
	p.write(file, picture)
	s := p.prompt(w, nil, "look", file)
	p.prompt(w, s, "look again", file)
	staged := filepath.Join(p.home, "scratch", s.ID())
	one, err := os.Stat(filepath.Join(staged, "image-1.png"))
	if err != nil {
		t.Fatal(err)
	}
	two, err := os.Stat(filepath.Join(staged, "image-2.png"))
	if err != nil || !os.SameFile(one, two) {
		t.Errorf("the same bytes take room twice: %v", err)
	}
	p.write(filepath.Join(staged, "image-1.png"), strings.Repeat("x", len(picture)))
	p.prompt(w, s, "and again", file)
	if data, err := os.ReadFile(filepath.Join(staged, "image-3.png")); err != nil || string(data) != picture {
		t.Errorf("a changed copy was handed on: %v", err)
	}
}
