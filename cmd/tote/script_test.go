package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"tote/internal/audio/audiotest"
	"tote/internal/content"
	"tote/internal/document/documenttest"
	"tote/internal/imaging/imagingtest"
	p "tote/internal/provider/providertest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tote": main, mcpProgram: serveMCP})
}

// TestScripts runs the program as a process, by the scripts in testdata.
func TestScripts(t *testing.T) {
	dir, files := "testdata", []string(nil)
	if testing.Short() { // with the race detector: the scripts in which most happens at once
		dir, files = "", []string{"testdata/faults.txtar", "testdata/json.txtar", "testdata/permissions.txtar"}
	}
	testscript.Run(t, testscript.Params{
		Dir: dir, Files: files, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			tb, ok := e.T().(testing.TB)
			if !ok {
				return fmt.Errorf("a script's T is a %T", e.T())
			}
			e.Values["script"] = &scriptState{tb: tb}
			e.Setenv("TOTE_HOME", filepath.Join(e.WorkDir, ".home"))
			e.Setenv("TOTE_CONFIG", "")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "backend": backend, "requests": requests, "sent": sent, "pictures": sentPictures,
			"make": makeFile, "types": types, "fields": fields, "value": value, "nowhere": nowhere, "save": save,
		},
	})
}

// exits CODE ARGUMENT…: runs tote, which must end with that code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if neg || err != nil {
		ts.Fatalf("usage: exits CODE ARGUMENT…")
	}
	code := 0
	if err := ts.Exec("tote", args[1:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("run tote: %v", err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// scriptState is what the commands of one script share.
type scriptState struct {
	tb  testing.TB
	rec *p.Recorder
}

func stateOf(ts *testscript.TestScript) *scriptState {
	s, ok := ts.Value("script").(*scriptState)
	if !ok {
		ts.Fatalf("the script has no state")
	}
	return s
}

func recorder(ts *testscript.TestScript) *p.Recorder {
	r := stateOf(ts).rec
	if r == nil {
		ts.Fatalf("there is no backend yet")
	}
	return r
}

const scriptConfig = `{
	"providers": {"p": {"kind": "openai-chat", "base_url": %q, "api_key": "sk-literal-0123456789"}},
	"agents": {
		"main": {"provider": "p", "model": "m", "vision": true},
		"blind": {"provider": "p", "model": "t", "vision": false},
		"unsure": {"provider": "p", "model": "u"},
	},
	"default_agent": "main",
}`

// backend REPLY…: starts a server, sets $URL and writes the user's file.
func backend(ts *testscript.TestScript, _ bool, args []string) {
	var script []p.Reply
	for _, a := range args {
		script = append(script, reply(ts, a))
	}
	state := stateOf(ts)
	rec := p.NewRecorder(state.tb, script...)
	state.rec = rec
	ts.Setenv("URL", rec.URL)
	dir := filepath.Join(ts.Getenv("TOTE_HOME"), "config")
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(os.WriteFile(filepath.Join(dir, "config.json"), fmt.Appendf(nil, scriptConfig, rec.URL), 0o600))
}

// reply reads the name of an answer, with what follows a colon.
func reply(ts *testscript.TestScript, s string) p.Reply {
	name, rest, _ := strings.Cut(s, ":")
	switch name {
	case "say":
		return p.Text(rest)
	case "bare": // without a report of usage
		return p.Events(p.Delta(`{"content":`+strconv.Quote(rest)+`}`), p.End("stop"), p.Done)
	case "usage":
		return p.TextUsage(p.Usage{Prompt: 1000, Completion: 5, Image: 700, Cached: 10}, rest)
	case "zero":
		return p.TextUsage(p.Usage{Prompt: 1000, Completion: 5, Image: 0, Cached: -1}, rest)
	case "refuse":
		return p.RefuseImages(400, rest, p.Text("fine"))
	case "status":
		code, err := strconv.Atoi(rest)
		ts.Check(err)
		return p.Status(code, `{"error":{"message":"the backend says no"}}`, "Retry-After", "0")
	case "cut":
		return p.Cut(600, p.Text(slices.Repeat([]string{"some words "}, 30)...))
	case "read":
		args, err := json.Marshal(map[string]string{"path": rest})
		ts.Check(err)
		return p.Calls(content.ToolCall{ID: "c1", Name: "read", Arguments: string(args)})
	case "html":
		return p.Raw("text/html", "<html>welcome</html>")
	}
	ts.Fatalf("there is no reply %q", s)
	return nil
}

// requests N: so many requests came.
func requests(ts *testscript.TestScript, _ bool, args []string) {
	if got := strconv.Itoa(len(recorder(ts).Requests())); got != args[0] {
		ts.Fatalf("%s requests came, want %s", got, args[0])
	}
}

func lastBody(ts *testscript.TestScript) []byte {
	all := recorder(ts).Bodies()
	if len(all) == 0 {
		ts.Fatalf("no request came")
	}
	return all[len(all)-1]
}

// [!] sent PATTERN: the text of the last request matches.
func sent(ts *testscript.TestScript, neg bool, args []string) {
	chat, err := p.ParseChat(lastBody(ts))
	ts.Check(err)
	text := ""
	for _, m := range chat.Messages {
		if m.Role != "system" {
			text += m.Role + ": " + m.Text() + "\n"
		}
	}
	if got := regexp.MustCompile(`(?m)` + args[0]).MatchString(text); got == neg {
		ts.Fatalf("match of %q is %v in\n%s", args[0], got, text)
	}
}

// pictures N: so many pictures are in the last request.
func sentPictures(ts *testscript.TestScript, _ bool, args []string) {
	got, err := p.Pictures(lastBody(ts))
	ts.Check(err)
	if strconv.Itoa(len(got)) != args[0] {
		ts.Fatalf("%d pictures, want %s", len(got), args[0])
	}
}

// make KIND FILE…: writes sample files.
func makeFile(ts *testscript.TestScript, _ bool, args []string) {
	var data []byte
	switch args[0] {
	case "png":
		data = imagingtest.PNG(imagingtest.Corners(60, 40))
	case "shot":
		data = imagingtest.Screenshot(2600, 1600, 3)
	case "cut":
		data = imagingtest.Truncated(imagingtest.PNG(imagingtest.Corners(300, 200)))
	case "wav":
		data = audiotest.WAV(1000, 8000)
	case "pdf":
		data = documenttest.PDF(2, "hello from a page")
	case "big":
		data = make([]byte, 33<<20)
	default:
		ts.Fatalf("nothing makes %q", args[0])
	}
	for _, name := range args[1:] {
		ts.Check(os.WriteFile(ts.MkAbs(name), data, 0o600))
	}
}

func jsonLines(ts *testscript.TestScript) []line {
	var out []line
	for s := range strings.Lines(ts.ReadFile("stdout")) {
		var l line
		if err := json.Unmarshal([]byte(s), &l); err != nil || l.str("type") == "" {
			ts.Fatalf("no JSON object with a type: %q: %v", s, err)
		}
		out = append(out, l)
	}
	return out
}

// types TYPE…: standard output holds JSON lines of these types in this order;
// neighbours of one type count once.
func types(ts *testscript.TestScript, _ bool, args []string) {
	var got []string
	for _, l := range jsonLines(ts) {
		if n := len(got); n == 0 || got[n-1] != l.str("type") {
			got = append(got, l.str("type"))
		}
	}
	if !slices.Equal(got, args) {
		ts.Fatalf("types %v, want %v", got, args)
	}
}

// fields TYPE NAME…: every JSON line of the type has these members. More are
// allowed: readers ignore what they do not know.
func fields(ts *testscript.TestScript, _ bool, args []string) {
	n := 0
	for _, l := range jsonLines(ts) {
		if l.str("type") != args[0] {
			continue
		}
		n++
		for _, name := range args[1:] {
			if _, ok := l[name]; !ok {
				ts.Fatalf("%s has no %s, only %v", args[0], name, slices.Sorted(maps.Keys(l)))
			}
		}
	}
	if n == 0 {
		ts.Fatalf("there is no line of type %s", args[0])
	}
}

// [!] value TYPE NAME PATTERN: the member of a JSON line of the type matches.
func value(ts *testscript.TestScript, neg bool, args []string) {
	re := regexp.MustCompile(args[2])
	var seen []string
	for _, l := range jsonLines(ts) {
		if l.str("type") != args[0] {
			continue
		}
		s, ok := l[args[1]].(string)
		if !ok {
			b, err := json.Marshal(l[args[1]])
			ts.Check(err)
			s = string(b)
		}
		seen = append(seen, s)
		if re.MatchString(s) {
			if neg {
				ts.Fatalf("%s.%s is %q", args[0], args[1], s)
			}
			return
		}
	}
	if !neg {
		ts.Fatalf("%s.%s is %q, want a match of %s", args[0], args[1], seen, args[2])
	}
}

// nowhere TEXT DIR: no file below the folder holds the text.
func nowhere(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(filepath.WalkDir(ts.MkAbs(args[1]), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.Contains(data, []byte(args[0])) {
			return fmt.Errorf("%s holds it", path)
		}
		return nil
	}))
}

// save NAME TYPE MEMBER: sets an environment variable to the member of the
// first JSON line of the type.
func save(ts *testscript.TestScript, _ bool, args []string) {
	for _, l := range jsonLines(ts) {
		if l.str("type") == args[1] {
			ts.Setenv(args[0], fmt.Sprint(l[args[2]]))
			return
		}
	}
	ts.Fatalf("there is no line of type %s", args[1])
}
