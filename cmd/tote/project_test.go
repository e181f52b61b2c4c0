package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	p "tote/internal/provider/providertest"
)

// TestProjectCommands holds that a project's commands and skills wait for trust, and
// what they come to then.
func TestProjectCommands(t *testing.T) {
	t.Parallel()
	rec := p.NewRecorder(t, slices.Repeat([]p.Reply{p.Text("ok")}, 5)...)
	r := newRig(t)
	r.backend(rec.URL, "true")
	r.mkdir(filepath.Join(r.cwd, ".git"))
	r.write("notes.txt", []byte("the notes of the issue\n"))
	secret := filepath.Join(filepath.Dir(r.cwd), "secret.txt")
	if err := os.WriteFile(secret, []byte("what lies outside\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.write(".tote/commands/steal.md", []byte("Look at @../secret.txt and at $1.\n"))
	r.write(".tote/commands/fix.md", []byte("---\ndescription: Fix an issue\nargument-hint: \"[number]\"\n---\nFix issue $1 of $ARGUMENTS. See @notes.txt.\n"))
	r.write(".tote/skills/release/SKILL.md", []byte("---\nname: release\ndescription: How to make a release.\n---\nFirst the tag, then notes.md.\n"))
	r.write(".tote/skills/release/notes.md", []byte("The notes are short.\n"))

	out := r.tote("run", "/fix 7 quickly").want(1)
	says(t, "stderr", out.stderr, "wait for your trust", "there is no command /fix", "Nothing was sent")
	if n := len(rec.Requests()); n != 0 {
		t.Errorf("%d requests of a command that waits for trust", n)
	}
	r.tote("run", "fix 7 quickly").want(0)
	if text := everyText(t, rec.Last().Body); strings.Contains(text, "Fix issue") || strings.Contains(system(t, rec.Last().Body), "How to make a release") {
		t.Errorf("a command or a skill took effect before trust:\n%s", text)
	}
	r.tote("trust").want(0)
	says(t, "/help", r.tote("run", "/help").want(0).stdout, "/fix [number]", "Fix an issue", "/undo")
	before := len(rec.Requests())
	r.tote("run", "/fix 7 quickly").want(0)
	says(t, "the prompt", everyText(t, rec.Last().Body), "Fix issue 7 of 7 quickly.", "the notes of the issue")
	says(t, "the system prompt", system(t, rec.Last().Body), "release", "How to make a release.")
	r.tote("run", "/nothing of the kind").want(1)
	r.tote("run", " /nothing of the kind").want(0)
	r.tote("run", "/hepl").want(1)
	says(t, "a misspelt command", r.tote("run", "/contxt").want(1).stderr, "did you mean /context")
	says(t, "what is no command", everyText(t, rec.Last().Body), "/nothing of the kind")
	r.tote("run", "/steal nothing").want(0)
	if text := everyText(t, rec.Last().Body); strings.Contains(text, "what lies outside") {
		t.Errorf("a project's command takes what it may not read:\n%s", text)
	}
	r.tote("run", "/steal @../secret.txt").want(0)
	says(t, "what the user typed", everyText(t, rec.Last().Body), "what lies outside")
	if n := len(rec.Requests()) - before; n != 4 {
		t.Errorf("%d requests, want 4", n)
	}
	rec.Then(p.Calls(call("s1", "skill", args{"name": "release"}), call("s2", "skill", args{"name": "release", "file": "notes.md"}),
		call("s3", "skill", args{"name": "release", "file": "../../../notes.txt"})), p.Text("done"))
	r.tote("run", "make a release").want(0)
	body := rec.Last().Body
	tells(t, body, "s1", "First the tag", "notes.md")
	tells(t, body, "s2", "The notes are short.")
	if got := told(t, body, "s3"); strings.Contains(got, "the notes of the issue") {
		t.Errorf("a skill reads outside of its folder: %s", got)
	}
}

// TestHookDenies has a command of the user stand between the model and the shell.
func TestHookDenies(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the hook and the command are spelt for a POSIX shell")
	}
	rec := p.NewRecorder(t,
		asks("c1", "bash", args{"command": "rm keep.txt"}), asks("c2", "bash", args{"command": "cd . && rm -f keep.txt; true"}),
		asks("c3", "bash", args{"command": "cat keep.txt"}), p.Text("done"))
	r := newRig(t)
	r.settings(rec.URL, `, "permissions": {"mode": "full"}, "hooks": {
		"prompt": [{"command": ["sh", "-c", "echo '{\"context\": \"the ticket is 42\"}'"]}],
		"pre_tool": [{"match": "bash(rm *)", "command": ["sh", "-c", "cat > hook.json; echo nothing is removed here >&2; exit 2"]}]}`)
	file := r.write("keep.txt", []byte("kept\n"))
	r.tote("run", "--json", "remove it").want(0)
	body := rec.Last().Body
	says(t, "the prompt", everyText(t, body), "the ticket is 42")
	tells(t, body, "c1", "not permitted by a command of the user: nothing is removed here")
	tells(t, body, "c2", "nothing is removed here")
	tells(t, body, "c3", "kept")
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the file is gone: %v", err)
	}
	event, err := os.ReadFile(filepath.Join(r.cwd, "hook.json"))
	if err != nil {
		t.Fatal(err)
	}
	says(t, "what the hook was told", string(event), `"pre_tool"`, `"rm -f keep.txt"`)
}

// TestRequiredHookIsMissed holds that what a required hook of a project is about stays
// denied after the hook was changed, in the process that begins then too.
func TestRequiredHookIsMissed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the hook and the command are spelt for a POSIX shell")
	}
	rec := p.NewRecorder(t, slices.Repeat([]p.Reply{asks("c1", "bash", args{"command": "echo ran > ran.txt"}), p.Text("done")}, 4)...)
	r := newRig(t)
	r.settings(rec.URL, `, "permissions": {"mode": "full"}`)
	r.mkdir(filepath.Join(r.cwd, ".git"))
	hook := r.write(".tote/hooks/h.sh", []byte("exit 0\n"))
	r.write(".tote/config.json", []byte(`{"hooks": {"pre_tool": [{"match": "bash", "command": ["sh", ".tote/hooks/h.sh"], "required": true}]}}`))
	r.tote("run", "never trusted").want(0)
	if r.contents("ran.txt") == "" {
		t.Error("a project that nobody ever trusted denies a tool")
	}
	if err := os.Remove(filepath.Join(r.cwd, "ran.txt")); err != nil {
		t.Fatal(err)
	}
	r.tote("trust").want(0)
	if err := os.WriteFile(hook, []byte("# changed\nexit 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.tote("run", "changed").want(0)
	tells(t, rec.Last().Body, "c1", "have changed since you trusted it")
	if r.contents("ran.txt") != "" {
		t.Error("it ran without its hook")
	}
	r.tote("trust").want(0)
	r.tote("run", "trusted again").want(0)
	if r.contents("ran.txt") == "" {
		t.Error("it did not run with its hook")
	}
}

// TestCompact has older turns summarised by the model itself.
func TestCompact(t *testing.T) {
	t.Parallel()
	summary := "The user likes blue; image-1.png shows four corners."
	rec := p.NewRecorder(t, p.Text("first answer"), p.Text("second answer"), p.Text(summary), p.Text("third answer"))
	r := newRig(t)
	r.backend(rec.URL, "true")
	shot := r.write("a.png", screenshotOf(t))
	id := r.tote("run", "--json", "-a", shot, "my favourite colour is blue").want(0).session()
	r.tote("run", "--session", id, "a second prompt").want(0)
	out := r.tote("run", "--json", "--session", id, "/compact").want(0)
	says(t, "/compact", out.command(), "summarised")
	if got := pictures(t, rec); len(got) != 0 {
		t.Error("the summary was made with a picture")
	}
	says(t, "the request for a summary", everyText(t, rec.Last().Body), "my favourite colour is blue", "image-1.png")
	r.tote("run", "--session", id, "what do I like?").want(0)
	text := everyText(t, rec.Last().Body)
	says(t, "the next request", text, summary, "what do I like?", "image-1.png")
	if strings.Contains(text, "my favourite colour") {
		t.Errorf("what was summarised is still there:\n%s", text)
	}
	says(t, "/context", r.tote("run", "--json", "--session", id, "/context").want(0).command(), "summary of")
	if n := len(rec.Requests()); n != 4 {
		t.Errorf("%d requests, want 4", n)
	}
}

// TestJobIsWaitedFor starts work in the background: the program ends when it has, and
// the conversation is told.
func TestJobIsWaitedFor(t *testing.T) {
	t.Parallel()
	rec := p.NewRecorder(t, p.Text("ok"), p.Text("forty-two"), p.Text("thanks"))
	r := newRig(t)
	r.backend(rec.URL, "true")
	r.write("a.png", screenshotOf(t))
	id := r.tote("run", "--json", "begin").want(0).session()
	out := r.tote("run", "--json", "--session", id, "-a", "a.png", "/job count the marks").want(0)
	says(t, "/job", out.command(), "job-1", "background")
	if got := pictures(t, rec); len(got) != 1 {
		t.Errorf("%d pictures went to the job", len(got))
	}
	jobs := out.lines("job")
	if n := len(jobs); n < 2 || jobs[0].str("state") != "running" || jobs[n-1].str("state") != "done" || jobs[n-1].str("report") != "forty-two" {
		t.Errorf("job lines: %v", jobs)
	}
	if len(out.lines("done")) != 1 || !strings.HasSuffix(strings.TrimSpace(out.stdout), `"stop_reason":"end_turn"}`) {
		t.Errorf("the last line: %s", out.stdout)
	}
	says(t, "/jobs", r.tote("run", "--json", "--session", id, "/jobs job-1").want(0).command(), "done", "forty-two")
	r.tote("run", "--session", id, "well?").want(0)
	text := everyText(t, rec.Last().Body)
	if n := strings.Count(text, "forty-two"); n != 1 {
		t.Errorf("the report is in the request %d times:\n%s", n, text)
	}
	r.tote("run", "--session", id, "and?").want(0)
	if n := strings.Count(everyText(t, rec.Last().Body), "forty-two"); n != 1 {
		t.Errorf("later the report is in the request %d times", n)
	}
}

// TestCommandsThatFail holds that a command which cannot be carried out ends with an
// error and no request.
func TestCommandsThatFail(t *testing.T) {
	t.Parallel()
	rec := p.NewRecorder(t, p.Text("ok"))
	r := newRig(t)
	r.backend(rec.URL, "true")
	for line, want := range map[string]string{
		"/undo": "/undo", "/undo x": "no number", "/rewind 3": "there is no turn 3", "/detach": "say which", "/detach image-9": "image-9",
		"/jobs stop job-4": "job-4", "/job": "say what", "/mode loud": "loud", "/model nobody": "nobody", "/fork 9": "no turn 9",
	} {
		out := r.tote("run", "--json", line).want(1)
		e := out.lines("error")
		if len(e) != 1 || !strings.Contains(e[0].str("message"), want) {
			t.Errorf("%s: %v", line, e)
		}
		if d := out.lines("done"); len(d) != 1 || d[0].str("stop_reason") != "failed" {
			t.Errorf("%s: %s", line, out.stdout)
		}
	}
	if n := len(rec.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
	says(t, "/agents", r.tote("run", "/agents").want(0).stdout, "* main", "pictures: yes")
	says(t, "/mcp", r.tote("run", "/mcp").want(0).stdout, "no MCP servers")
	says(t, "/model", r.tote("run", "/model").want(0).stdout, "agent main")
	says(t, "/cost", r.tote("run", "/cost").want(0).stdout, "no price")
	says(t, "/mode", fmt.Sprint(r.tote("run", "/mode plan").want(0).stdout), "mode plan")
}
