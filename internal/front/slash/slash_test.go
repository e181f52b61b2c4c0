package slash_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delegate"
	"tote/internal/front/slash"
	"tote/internal/permission"
)

func TestParse(t *testing.T) {
	for in, want := range map[string][3]string{
		"/help":                {"help", "", "true"},
		"/undo 2":              {"undo", "2", "true"},
		"/detach  image-1  3 ": {"detach", "image-1  3", "true"},
		"/job\nlook\nat it":    {"job", "look\nat it", "true"},
		"/team:review x":       {"team:review", "x", "true"},
		"/mcp:srv:a_b-1":       {"mcp:srv:a_b-1", "", "true"},
		"help":                 {"", "", "false"},
		" /help":               {"", "", "false"},
		"/":                    {"", "", "false"},
		"/ help":               {"", "", "false"},
		"//help":               {"", "", "false"},
		"/usr/bin/env is old":  {"", "", "false"},
		"/1st":                 {"", "", "false"},
		"/ü":                   {"", "", "false"},
		"":                     {"", "", "false"},
	} {
		name, args, ok := slash.Parse(in)
		if got := [3]string{name, args, fmt.Sprint(ok)}; got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"/help", "/undo 2", "/a:b c\nd", "/usr/bin", "//", "/\x00", "/ü x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, args, ok := slash.Parse(s)
		if !ok && name+args != "" {
			t.Errorf("%q is none, and gives %q %q", s, name, args)
		}
		if ok && (!strings.HasPrefix(s, "/"+name) || strings.ContainsAny(name, " /\t\r\n") || !strings.Contains(s, args) || name == "") {
			t.Errorf("%q gives %q %q", s, name, args)
		}
	})
}

func prose(s string) content.Source {
	return content.Source{Payload: content.Prose{Text: s}, Inlet: content.InletPrompt, Chooser: content.ChosenByUser, As: content.KindText}
}

// TestRead holds that the first text decides, and that everything else is staged.
func TestRead(t *testing.T) {
	file := content.Source{Payload: content.Path{Path: "a.png"}}
	c, ok := slash.Read([]content.Source{file, prose("/job look"), prose("/help")})
	if !ok || c.Name != "job" || c.Args != "look" || len(c.Staged) != 2 {
		t.Errorf("%v, %+v", ok, c)
	}
	for name, sources := range map[string][]content.Source{
		"no text": {file}, "nothing": nil, "a prompt": {prose("look"), prose("/help")},
	} {
		if c, ok := slash.Read(sources); ok {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// ledger keeps jobs in memory.
type ledger struct {
	mu   sync.Mutex
	rows []delegate.Record
}

func (l *ledger) SaveJob(_ context.Context, r delegate.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.rows {
		if l.rows[i].ID == r.ID {
			l.rows[i] = r
			return nil
		}
	}
	l.rows = append(l.rows, r)
	return nil
}

func (l *ledger) Jobs(context.Context, string) ([]delegate.Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.rows), nil
}

// custom knows one command.
type custom struct{}

func (custom) Commands(context.Context) []slash.Info {
	return []slash.Info{{Name: "fix", Hint: "[number]", Description: "Fix an issue"}, {Name: "help", Description: "never shown"}}
}

func (custom) Expand(_ context.Context, name, args string) ([]content.Source, bool, error) {
	switch name {
	case "fix":
		return []content.Source{prose("Fix issue " + args)}, true, nil
	case "broken":
		return nil, true, errors.New("its file cannot be read")
	}
	return nil, false, nil
}

// desk is a session with everything that commands act on.
type desk struct {
	*agenttest.Bench
	world slash.World
	front agenttest.Front
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{}
	var crew *delegate.Crew
	d.Bench = agenttest.New(t, agenttest.Options{With: func(x *agent.Options) {
		agenttest.Reduces(x)
		dir := agenttest.Directory{{Name: "deep"}}
		crew = delegate.New(delegate.Options{
			Directory: dir, Models: x.Models, Records: &ledger{}, NewID: x.NewID, Now: x.Now, Owner: "this",
			Limits: func() delegate.Limits { return delegate.Limits{} },
		})
		x.Hosts, x.Directory = crew, dir
	}})
	crew.Bind(d.Agent)
	d.Models.Set("deep", agent.Model{Provider: d.Provider, Profile: agenttest.Sees("deep-endpoint")})
	d.world = slash.World{
		Session: d.Session, Jobs: crew, Custom: custom{},
		Agents:  func(context.Context) []slash.Agent { return []slash.Agent{{"main", "m", "note"}, {"deep", "d", ""}} },
		Servers: func(context.Context) []string { return nil },
		Fork:    func(_ context.Context, turn string) (string, error) { return "copy of " + turn, nil },
		Cost:    func(context.Context) (float64, bool, error) { return 0.25, true, nil },
	}
	return d
}

// run carries out a line with what is staged.
func (d *desk) run(t *testing.T, line string, staged ...content.Source) (slash.Outcome, error) {
	t.Helper()
	c, ok := slash.Read(append([]content.Source{prose(line)}, staged...))
	if !ok {
		t.Fatalf("%q is no command", line)
	}
	c.Front = &d.front
	out, known, err := d.world.Run(t.Context(), c)
	if !known {
		t.Fatalf("%q is not known", line)
	}
	return out, err
}

// says runs a line that has to say something.
func (d *desk) says(t *testing.T, line string, want ...string) slash.Outcome {
	t.Helper()
	out, err := d.run(t, line)
	if err != nil {
		t.Errorf("%s: %v", line, err)
	}
	for _, w := range want {
		if !strings.Contains(out.Text, w) {
			t.Errorf("%s lacks %q:\n%s", line, w, out.Text)
		}
	}
	return out
}

func TestCommands(t *testing.T) {
	d := newDesk(t)
	d.Must(t.Context(), "the first prompt", agenttest.Paste("a.png", agenttest.PNG(60, 40, 1)))
	d.Must(t.Context(), "the second prompt", agenttest.Paste("b.png", agenttest.PNG(50, 40, 2)))
	d.says(t, "/help", "/fix [number]", "Fix an issue", "/undo [N]")
	d.says(t, "/context", "tokens", "image-1.png", "system prompt and tools")
	d.says(t, "/images", "image-1.png", "turn 1", "image-2.png", "turn 2")
	d.says(t, "/detach 1", "taken out: image-1.png")
	d.says(t, "/detach image-1.png", "nothing changed")
	d.says(t, "/context", "(taken out)")
	d.says(t, "/reattach image-1", "put back: image-1.png")
	d.says(t, "/detach last 1", "image-2.png")
	d.says(t, "/detach older 1", "image-1.png")
	d.says(t, "/reattach 1, 2", "image-1.png, image-2.png")
	d.says(t, "/agents", "* main", "deep")
	d.says(t, "/mcp", "no MCP servers")
	d.says(t, "/cost", "$0.2500")
	d.says(t, "/mode", "mode ")
	d.says(t, "/mode edits", "mode edits")
	if m := d.Session.Mode(); m != permission.ModeEdits {
		t.Errorf("mode %v", m)
	}
	d.says(t, "/model deep", "deep")
	d.says(t, "/model", "agent deep")
	if out := d.says(t, "/fork", "the copy is session copy of"); out.Session != "copy of " {
		t.Errorf("session %q", out.Session)
	}
	if out := d.says(t, "/fork 1"); out.Session != "copy of "+d.Session.Turns()[0].ID {
		t.Errorf("session %q", out.Session)
	}
	out := d.says(t, "/fix 7")
	if len(out.Prompt) != 1 || out.Prompt[0].Payload != (content.Prose{Text: "Fix issue 7"}) {
		t.Errorf("prompt %v", out.Prompt)
	}
	out = d.says(t, "/undo", "taken back", "the second prompt")
	if len(out.Restored) == 0 || len(d.Session.Turns()) != 1 {
		t.Errorf("%d turns, restored %v", len(d.Session.Turns()), out.Restored)
	}
	d.says(t, "/rewind 1", "the first prompt")
	if n := len(d.Session.Turns()); n != 0 {
		t.Errorf("%d turns", n)
	}
	d.says(t, "/images", "no attachments")
}

func TestJobs(t *testing.T) {
	d := newDesk(t)
	d.Must(t.Context(), "begin")
	d.says(t, "/jobs", "no jobs")
	out, err := d.run(t, "/job --agent deep count the marks of a very long piece of work that has a title which goes on and on", agenttest.Paste("a.png", agenttest.PNG(60, 40, 1)))
	if err != nil || !strings.Contains(out.Text, "job-1") || !strings.Contains(out.Text, "deep") {
		t.Fatalf("%q, %v", out.Text, err)
	}
	d.says(t, "/jobs wait job-1", "done", "ok")
	d.says(t, "/jobs job-1", "job-1", "ok")
	d.says(t, "/jobs 1", "job-1", "ok")
	d.says(t, "/jobs wait 1", "done", "ok")
	d.says(t, "/jobs", "job-1", "…")
	d.says(t, "/jobs stop job-1", "job-1 is stopped")
	d.world.Ready()
	if last := d.Last(); len(last.Media) != 1 {
		t.Errorf("%d pictures went to the job", len(last.Media))
	}
}

// TestWrong holds what is said of a line that makes no sense.
func TestWrong(t *testing.T) {
	d := newDesk(t)
	for line, want := range map[string]string{
		"/undo x": "/undo: \"x\" is no number of turns", "/undo 0": "no number", "/rewind": "say which turn", "/rewind 2": "there is no turn 2",
		"/fork 3": "there is no turn 3", "/detach": "/detach: say which", "/detach last": "takes one number", "/detach last x": "no number above 0",
		"/reattach older 0": "no number above 0", "/detach image-9": "image-9", "/mode loud": "/mode: ", "/model nobody": "nobody",
		"/job": "say what", "/job --agent": "needs the name", "/job --agent nobody look": "nobody", "/jobs a b c": "want /jobs", "/jobs job-7": "no job",
		"/jobs wait job-7": "no job", "/jobs stop job-7": "no job", "/broken": "/broken: its file",
	} {
		if out, err := d.run(t, line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v, want %q", line, out.Text, err, want)
		}
	}
}

// TestUnknown holds that a mistyped command goes to nobody, and that what is no
// command is a prompt.
func TestUnknown(t *testing.T) {
	d := newDesk(t)
	d.File("src/main.go", nil)
	d.File("Makefile", nil)
	for name, want := range map[string]string{
		"comapct": "there is no command /comapct; did you mean /compact? Nothing was sent; with a space before it", "jbos": "/jobs?", "Help": "/help?",
		"fx": "there is no command /fx; /help lists them. Nothing was sent", "frobnicate": "/help lists them", "mcp:srv:look": "/help lists them",
		"a-b": "/help lists them",
	} {
		out, known, err := d.world.Run(t.Context(), slash.Call{Name: name})
		if !known || err == nil || !strings.Contains(err.Error(), want) || out.Prompt != nil {
			t.Errorf("/%s: %v, %v, want %q", name, known, err, want)
		}
	}
	for _, name := range []string{"src", "Makefile", "Applications"} {
		if _, known, err := d.world.Run(t.Context(), slash.Call{Name: name}); known || err != nil {
			t.Errorf("/%s: %v, %v", name, known, err)
		}
	}
	for _, text := range []string{"//help", " /help", "/src/main.go", "/ x"} {
		if c, ok := slash.Read([]content.Source{prose(text)}); ok {
			t.Errorf("%q is the command %+v", text, c)
		}
	}
}

// TestHelpLinesUp holds that the descriptions of built-in commands begin in one column.
func TestHelpLinesUp(t *testing.T) {
	d := newDesk(t)
	column := 0
	for line := range strings.Lines(d.says(t, "/help").Text) {
		before, _, found := strings.Cut(line, "  ")
		rest := strings.TrimLeft(line[len(before):], " ")
		at := utf8.RuneCountInString(line) - utf8.RuneCountInString(rest)
		if column == 0 {
			column = at
		}
		if !found || at != column {
			t.Errorf("column %d, want %d: %q", at, column, line)
		}
	}
}

// TestNotWired holds that a surface may leave things out.
func TestNotWired(t *testing.T) {
	d := newDesk(t)
	d.world = slash.World{Session: d.Session}
	d.world.Ready()
	for _, line := range []string{"/job x", "/jobs", "/agents", "/mcp", "/cost", "/fork"} {
		if _, err := d.run(t, line); err == nil || !strings.Contains(err.Error(), "not available here") {
			t.Errorf("%s: %v", line, err)
		}
	}
	if out, _, err := d.world.Run(t.Context(), slash.Call{Name: "fix"}); err == nil || out.Prompt != nil {
		t.Errorf("a command of nobody: %+v, %v", out, err)
	}
	if list := d.world.List(t.Context()); len(list) == 0 || list[0].Name != "help" {
		t.Errorf("commands: %v", list)
	}
}

// TestLongContext holds that what is listed is bounded, and what is left out counted.
func TestLongContext(t *testing.T) {
	d := newDesk(t)
	for i := range 45 {
		d.Must(t.Context(), strings.Repeat("word ", i*i))
	}
	out := d.says(t, "/context", "[not listed: ", " smaller parts]")
	if n := strings.Count(out.Text, "\n  turn "); n > 61 {
		t.Errorf("%d parts are listed", n)
	}
}
