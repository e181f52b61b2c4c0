package acp_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/front/acp"
)

func TestParseInitialize(t *testing.T) {
	full := `{"protocolVersion":65535,"clientInfo":{"name":"zed","version":"1"},"clientCapabilities":{` +
		`"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"auth":{"terminal":true},` +
		`"session":{"notices":{},"compaction":{"x":1},"configOptions":{"boolean":{}}},"elicitation":{"form":{},"url":{}}}}`
	got, fault := acp.ParseInitialize([]byte(full))
	if fault != nil {
		t.Fatal(fault)
	}
	var want acp.InitializeParams
	want.ProtocolVersion, want.ClientInfo = 65535, acp.Implementation{Name: "zed", Version: "1"}
	c := &want.ClientCapabilities
	c.FS.ReadTextFile, c.FS.WriteTextFile, c.Terminal, c.Auth.Terminal = true, true, true, true
	c.Session.Notices, c.Session.Compaction, c.Session.ConfigOptions.Boolean = true, true, true
	c.Elicitation.Form, c.Elicitation.URL = true, true
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	odd := `{"protocolVersion":1,"clientInfo":[],"clientCapabilities":{"fs":"x","terminal":"yes","session":{"notices":true,` +
		`"compaction":null,"configOptions":7},"elicitation":null,"auth":{"terminal":1}}}`
	for _, in := range []string{odd, `{"protocolVersion":1,"clientInfo":null,"clientCapabilities":null}`, `{"protocolVersion":1}`} {
		got, fault := acp.ParseInitialize([]byte(in))
		if diff := cmp.Diff(acp.InitializeParams{ProtocolVersion: 1}, got); diff != "" || fault != nil {
			t.Errorf("%s: fault %v (-want +got):\n%s", in, fault, diff)
		}
	}
	for _, in := range []string{`{}`, `[]`, ``, `{"protocolVersion":null}`, `{"protocolVersion":"1"}`, `{"protocolVersion":1.5}`, `{"protocolVersion":-1}`} {
		if got, fault := acp.ParseInitialize([]byte(in)); fault == nil || fault.Code != acp.CodeInvalidParams {
			t.Errorf("%s: %+v, %v; want invalid params", in, got, fault)
		}
	}
}

func TestDecode(t *testing.T) {
	var p acp.SessionParams
	in := `{"sessionId":"s","cwd":"/","mcpServers":[{"name":"a","command":"c","args":["x"],"env":[{"name":"K","value":"secret"}]},` +
		`{"type":"http","name":"b","url":"u","headers":[{"name":"H","value":"secret"}]}],"additionalDirectories":["/b"],"_meta":{"x":1}}`
	if fault := acp.Decode([]byte(in), &p); fault != nil {
		t.Fatal(fault)
	}
	want := acp.SessionParams{
		SessionID: "s", CWD: "/", AdditionalDirectories: []string{"/b"},
		MCPServers: []acp.MCPServer{
			{Name: "a", Command: "c", Args: []string{"x"}, Env: []acp.NameValue{{Name: "K", Value: "secret"}}},
			{Type: "http", Name: "b", URL: "u", Headers: []acp.NameValue{{Name: "H", Value: "secret"}}},
		},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for in, message := range map[string]string{
		``:                            "params are missing",
		`[1]`:                         "params cannot be read",
		`{"cwd":5}`:                   "cwd has the wrong type",
		`{"mcpServers":[{"env":{}}]}`: "mcpServers.env has the wrong type",
	} {
		var raw []byte
		if in != "" {
			raw = []byte(in)
		}
		fault := acp.Decode(raw, &acp.SessionParams{})
		if fault == nil || fault.Code != acp.CodeInvalidParams || fault.Message != message {
			t.Errorf("%s: %v, want %q", in, fault, message)
		}
	}
}

func TestUpdates(t *testing.T) {
	old := "a"
	tests := []struct {
		name string
		body any
		want string
	}{
		{"chunk", acp.Chunk(acp.UpdateUserMessage, "m1", acp.Parts{[]byte(`{"type":"image","data":"QUJD"}`)}), `{"sessionUpdate":"user_message_chunk","messageId":"m1","content":{"type":"image","data":"QUJD"}}`},
		{"thought", acp.Chunk(acp.UpdateAgentThought, "", acp.TextBlock("<a>\n")), `{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"<a>\n"}}`},
		{"stand-in", acp.Chunk(acp.UpdateUserMessage, "", acp.StandIn("t", []byte(`{"type":"_w"}`))), `{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"t","_meta":{"tote/block":{"type":"_w"}}}}`},
		{"stand-in without an original", acp.StandIn("t", nil), `{"type":"text","text":"t"}`},
		{
			"tool call",
			acp.ToolCall{
				SessionUpdate: acp.UpdateToolCall, ToolCallID: "t1", Title: "Read a", Kind: acp.ToolRead, Status: acp.ToolPending,
				Content:   []json.RawMessage{acp.ToolContent(acp.TextBlock("x")), acp.ToolDiff("/a", &old, "b"), acp.ToolDiff("/n", nil, "b")},
				Locations: []acp.Location{{Path: "/a", Line: 3}, {Path: "/b"}}, RawInput: []byte(`{"path":"/a"}`),
			},
			`{"sessionUpdate":"tool_call","toolCallId":"t1","title":"Read a","kind":"read","status":"pending","content":[` +
				`{"type":"content","content":{"type":"text","text":"x"}},{"type":"diff","path":"/a","oldText":"a","newText":"b"},` +
				`{"type":"diff","path":"/n","oldText":null,"newText":"b"}],"locations":[{"path":"/a","line":3},{"path":"/b"}],"rawInput":{"path":"/a"}}`,
		},
		{"plan", acp.Plan{SessionUpdate: "plan", Entries: []acp.PlanEntry{{Content: "c", Priority: "high", Status: "pending"}}}, `{"sessionUpdate":"plan","entries":[{"content":"c","priority":"high","status":"pending"}]}`},
		{"usage", acp.Usage{SessionUpdate: "usage_update", Size: 10}, `{"sessionUpdate":"usage_update","used":0,"size":10}`},
		{
			"commands",
			acp.Commands{SessionUpdate: "available_commands_update", AvailableCommands: []acp.Command{
				{Name: "a", Description: "d"}, {Name: "b", Description: "d", Input: &acp.CommandInput{Hint: "h"}},
			}},
			`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"a","description":"d"},{"name":"b","description":"d","input":{"hint":"h"}}]}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parts, err := acp.Update("s", tt.body)
			if err != nil {
				t.Fatal(err)
			}
			got := bytes.Join(parts, nil)
			if want := `{"sessionId":"s","update":` + tt.want + `}`; !bytes.Equal(got, []byte(want)) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestInitializeResult(t *testing.T) {
	got, err := json.Marshal(acp.InitializeResult{
		ProtocolVersion: 1, AuthMethods: []acp.AuthMethod{}, AgentInfo: acp.Implementation{Name: "tote", Version: "0"},
		AgentCapabilities: acp.AgentCapabilities{LoadSession: true, SessionCapabilities: acp.SessionCapabilities{List: true, Close: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	// The three flags are always there: some clients fail without them.
	want := `{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":false,"audio":false,"embeddedContext":false},` +
		`"mcpCapabilities":{"http":false,"sse":false},"sessionCapabilities":{"list":{},"close":{}}},"agentInfo":{"name":"tote","version":"0"},"authMethods":[]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
