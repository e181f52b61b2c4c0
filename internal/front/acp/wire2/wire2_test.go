package wire2_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
	"tote/internal/front/acp/wire2"
)

func TestParseOpening(t *testing.T) {
	in := `{"sessionId":"s","cwd":"/","replayFrom":{"type":"start","x":1},"additionalDirectories":["/b"],"mcpServers":[` +
		`{"type":"stdio","name":"a","command":"/c"},{"type":"http","name":"b","url":"u","headers":[{"name":"H","value":"secret"}]}]}`
	got, fault := wire2.ParseOpening([]byte(in))
	if fault != nil {
		t.Fatal(fault)
	}
	want := wire2.Opening{Replay: true, SessionParams: wire.SessionParams{
		SessionID: "s", CWD: "/", AdditionalDirectories: []string{"/b"},
		MCPServers: []wire.MCPServer{
			{Name: "a", Command: "/c"}, {Type: "http", Name: "b", URL: "u", Headers: []wire.NameValue{{Name: "H", Value: "secret"}}},
		},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, in := range []string{`{"cwd":"/"}`, `{"cwd":"/","mcpServers":null,"additionalDirectories":null,"replayFrom":null}`} {
		if got, fault := wire2.ParseOpening([]byte(in)); fault != nil || got.Replay {
			t.Errorf("%s: %+v, %v", in, got, fault)
		}
	}
	for in, message := range map[string]string{
		`{"replayFrom":{"type":"message"}}`:                    "replayFrom is no cursor that is known",
		`{"replayFrom":{}}`:                                    "replayFrom is no cursor that is known",
		`{"replayFrom":"start"}`:                               "replayFrom is no cursor that is known",
		`{"mcpServers":[{"name":"a","command":"secret"}]}`:     "mcpServers[0] has no type",
		`{"mcpServers":[{"type":"stdio","name":"a"}]}`:         "mcpServers[0] has no command",
		`{"mcpServers":[{"type":"http","name":"a"}]}`:          "mcpServers[0] has no url",
		`{"mcpServers":[{"type":"http","url":"secret"}]}`:      "mcpServers[0] has no name",
		`{"mcpServers":[{"type":"sse","name":"a","url":"x"}]}`: "mcpServers[0] is of a type that is not supported",
		`{"mcpServers":[{"type":"_x","name":"a"}]}`:            "mcpServers[0] is of a type that is not supported",
		`{"mcpServers":{}}`:                                    "mcpServers has the wrong type",
		`[]`:                                                   "params cannot be read",
	} {
		if _, fault := wire2.ParseOpening([]byte(in)); fault == nil || fault.Code != rpc.CodeInvalidParams || fault.Message != message {
			t.Errorf("%s: %v, want %q", in, fault, message)
		}
	}
}

func TestParseChoice(t *testing.T) {
	got, fault := wire2.ParseChoice([]byte(`{"sessionId":"s","configId":"c","type":"id","value":"v"}`))
	if want := (wire.SetConfigParams{SessionID: "s", ConfigID: "c", Value: "v"}); fault != nil || got != want {
		t.Errorf("%+v, %v", got, fault)
	}
	for _, in := range []string{
		`{"configId":"c","value":"v"}`, `{"type":"boolean","value":true}`, `{"type":"_x","value":"v"}`, `{"type":"id","value":true}`, `{"type":"id"}`, `{"type":7}`, `[]`,
	} {
		if got, fault := wire2.ParseChoice([]byte(in)); fault == nil || fault.Code != rpc.CodeInvalidParams {
			t.Errorf("%s: %+v, %v", in, got, fault)
		}
	}
}

func FuzzParams(f *testing.F) {
	f.Add([]byte(`{"sessionId":"s","cwd":"/","replayFrom":{"type":"start"},"mcpServers":[{"type":"stdio","name":"a","command":"/c"}]}`))
	f.Add([]byte(`{"sessionId":"s","configId":"c","type":"id","value":"v"}`))
	f.Add([]byte(`{"replayFrom":null,"mcpServers":null}`))
	f.Fuzz(func(t *testing.T, params []byte) {
		if !json.Valid(params) {
			return
		}
		if got, fault := wire2.ParseOpening(params); fault == nil {
			for _, s := range got.MCPServers {
				if s.Type == "stdio" || s.Name == "" || s.Command == "" && s.URL == "" {
					t.Errorf("%s: %+v", params, s)
				}
			}
		}
		if got, fault := wire2.ParseChoice(params); fault == nil && !bytes.Contains(params, []byte("id")) {
			t.Errorf("%s: %+v", params, got)
		}
	})
}

func TestSpelling(t *testing.T) {
	code := int64(3)
	tests := []struct {
		name string
		body any
		want string
	}{
		{"message", wire2.Message(wire.UpdateUserMessage, "m", []rpc.Parts{wire.TextBlock("a"), {[]byte(`{"type":"_x"}`)}}), `{"sessionUpdate":"user_message","messageId":"m","content":[{"type":"text","text":"a"},{"type":"_x"}]}`},
		{"empty message", wire2.Message(wire.UpdateAgentThought, "m", nil), `{"sessionUpdate":"agent_thought","messageId":"m","content":[]}`},
		{"running", wire2.State{SessionUpdate: "state_update", State: wire2.StateRunning}, `{"sessionUpdate":"state_update","state":"running"}`},
		{"error", wire2.State{SessionUpdate: "state_update", State: wire2.StateIdle, StopReason: wire2.StopError, Error: rpc.Errorf(-1, "x")}, `{"sessionUpdate":"state_update","state":"idle","stopReason":"error","error":{"code":-1,"message":"x"}}`},
		{"terminal", wire2.Terminal{SessionUpdate: "terminal_update", TerminalID: "t", Output: wire2.OutputOf("ü"), ExitStatus: &wire2.Exit{ExitCode: &code}}, `{"sessionUpdate":"terminal_update","terminalId":"t","output":{"data":"w7w="},"exitStatus":{"exitCode":3}}`},
		{"unknown exit", wire2.Terminal{SessionUpdate: "terminal_update", TerminalID: "t", ExitStatus: &wire2.Exit{}}, `{"sessionUpdate":"terminal_update","terminalId":"t","exitStatus":{}}`},
		{"chunk", wire2.ChunkOf("t", "ü"), `{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"w7w="}`},
		{"no commands", wire2.Opened{ConfigOptions: wire2.Options(nil), AvailableCommands: wire2.Commands(nil)}, `{"configOptions":[],"availableCommands":[]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parts, err := rpc.Encode(tt.body)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(bytes.Join(parts, nil)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

var patches = []struct{ name, was, now string }{
	{"a line in the middle", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"},
	{"the first line", "1\n2\n", "one\n2\n"},
	{"the last line", "1\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n"},
	{"no line end", "1\n2", "1\n2\n3"},
	{"a line end", "1", "1\n"},
	{"no line end any more", "1\n", "1"},
	{"all gone", "1\n2\n", ""},
	{"out of nothing", "", "1\n2\n"},
	{"a line twice", "1\n1\n", "1\n1\n1\n"},
	{"line ends of Windows", "1\r\n2\r\n", "1\r\n3\r\n"},
}

// TestGitPatch holds that git takes the patches and makes of the one text the other.
func TestGitPatch(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		git = ""
	}
	for _, isNew := range []bool{false, true} {
		for _, tt := range patches {
			if isNew && tt.was != "" {
				continue
			}
			t.Run(fmt.Sprintf("%s, new %v", tt.name, isNew), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "a.txt")
				patch := wire2.GitPatch(path, tt.was, tt.now, isNew)
				if !strings.HasPrefix(patch, "diff --git ") || !strings.HasSuffix(patch, "\n") {
					t.Fatalf("patch: %q", patch)
				}
				if git == "" || strings.Contains(path, `\`) {
					return // what it says is held where there is git
				}
				if !isNew {
					if err := os.WriteFile(path, []byte(tt.was), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				// git takes paths below its folder: the absolute ones are cut.
				local := strings.ReplaceAll(patch, filepath.Dir(path)+"/", "")
				cmd := exec.CommandContext(t.Context(), git, "apply", "-p0", "--unidiff-zero", "--whitespace=nowarn", "-")
				cmd.Dir, cmd.Stdin = filepath.Dir(path), strings.NewReader(local)
				cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(filepath.Dir(path)))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("git: %v: %s\n%s", err, out, local)
				}
				got, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if string(got) != tt.now {
					t.Errorf("got %q, want %q; the patch:\n%s", got, tt.now, local)
				}
			})
		}
	}
}

func TestGitPatchPaths(t *testing.T) {
	for path, want := range map[string]string{
		"/a b": `/a b`, "/ä": `"/\303\244"`, `/a"b`: `"/a\"b"`, "/a\tb\nc\x01": `"/a\tb\nc\001"`, `C:\a`: `"C:\\a"`,
	} {
		first, _, _ := strings.Cut(wire2.GitPatch(path, "1", "2", false), "\n")
		if first != "diff --git "+want+" "+want {
			t.Errorf("%q: %s", path, first)
		}
	}
	if got := wire2.GitPatch("/a", "1", "1", false); got != "" {
		t.Errorf("texts that are the same: %q", got)
	}
}

// FuzzGitPatch applies patches by their own rules.
func FuzzGitPatch(f *testing.F) {
	for _, p := range patches {
		f.Add(p.was, p.now)
	}
	f.Fuzz(func(t *testing.T, was, now string) {
		patch := wire2.GitPatch("/f", was, now, false)
		if was == now {
			if patch != "" {
				t.Errorf("%q", patch)
			}
			return
		}
		var old, next []string
		var from int
		lines := slices.Collect(strings.Lines(patch))
		for _, l := range lines[3:] {
			switch l[0] {
			case '@':
				var rest string
				if _, err := fmt.Sscanf(l, "@@ -%d%s", &from, &rest); err != nil {
					t.Fatalf("%q: %v", l, err)
				}
				if !strings.HasPrefix(rest, ",0") {
					from--
				}
			case ' ':
				old, next = append(old, l[1:]), append(next, l[1:])
			case '-':
				old = append(old, l[1:])
			case '+':
				next = append(next, l[1:])
			case '\\': // the line before it has no end
			}
		}
		a := slices.Collect(strings.Lines(was))
		// A last line without an end has got one in the patch.
		if n := len(a) - 1; n >= 0 && !strings.HasSuffix(a[n], "\n") {
			a[n] += "\n"
		}
		if from+len(old) > len(a) || !slices.Equal(a[from:from+len(old)], old) {
			t.Fatalf("%q is not in %q at %d", old, a, from)
		}
		got := strings.Join(slices.Concat(a[:from], next, a[from+len(old):]), "")
		if strings.TrimSuffix(got, "\n") != strings.TrimSuffix(now, "\n") {
			t.Errorf("got %q, want %q", got, now)
		}
	})
}
