package wire_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
)

func TestParseInitialize(t *testing.T) {
	full := `{"protocolVersion":65535,"clientInfo":{"name":"zed","version":"1"},"clientCapabilities":{` +
		`"fs":{"readTextFile":true},"session":{"notices":{"x":1},"compaction":{}}}}`
	got, fault := wire.ParseInitialize([]byte(full))
	if fault != nil {
		t.Fatal(fault)
	}
	var want wire.InitializeParams
	want.ProtocolVersion, want.ClientInfo = 65535, wire.Implementation{Name: "zed", Version: "1"}
	want.ClientCapabilities.Session.Notices = true
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	for in, version := range map[string]int{
		`{"protocolVersion":1,"clientInfo":[],"clientCapabilities":{"fs":"x","session":{"notices":true}}}`: 1,
		`{"protocolVersion":1,"clientCapabilities":{"session":7}}`:                                         1,
		`{"protocolVersion":0,"clientInfo":null,"clientCapabilities":null}`:                                0,
		`{"protocolVersion":null}`: 0,
		`{}`:                       0,
	} {
		got, fault := wire.ParseInitialize([]byte(in))
		var want wire.InitializeParams
		want.ProtocolVersion = version
		if diff := cmp.Diff(want, got); diff != "" || fault != nil {
			t.Errorf("%s: %v (-want +got):\n%s", in, fault, diff)
		}
	}
	for _, in := range []string{`{"protocolVersion":"1"}`, `{"protocolVersion":-1}`, `{"protocolVersion":1.5}`, `{"protocolVersion":{}}`} {
		if got, fault := wire.ParseInitialize([]byte(in)); fault == nil || fault.Code != rpc.CodeInvalidParams {
			t.Errorf("%s: %+v, %v", in, got, fault)
		}
	}
}

func TestDecode(t *testing.T) {
	var p wire.SessionParams
	in := `{"sessionId":"s","cwd":"/","mcpServers":[{"name":"a","command":"c","args":["x"],"env":[{"name":"K","value":"secret"}]},` +
		`{"type":"http","name":"b","url":"u","headers":[{"name":"H","value":"secret"}]}],"additionalDirectories":["/b"],"_meta":{"x":1}}`
	if fault := wire.Decode([]byte(in), &p); fault != nil {
		t.Fatal(fault)
	}
	want := wire.SessionParams{
		SessionID: "s", CWD: "/", AdditionalDirectories: []string{"/b"},
		MCPServers: []wire.MCPServer{
			{Name: "a", Command: "c", Args: []string{"x"}, Env: []wire.NameValue{{Name: "K", Value: "secret"}}},
			{Type: "http", Name: "b", URL: "u", Headers: []wire.NameValue{{Name: "H", Value: "secret"}}},
		},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for in, message := range map[string]string{
		``:                             "params are missing",
		`[1]`:                          "params cannot be read",
		`{"cwd":5}`:                    "cwd has the wrong type",
		`{"mcpServers":[{"name":{}}]}`: "mcpServers.name has the wrong type",
	} {
		var raw []byte
		if in != "" {
			raw = []byte(in)
		}
		fault := wire.Decode(raw, &wire.SessionParams{})
		if fault == nil || fault.Code != rpc.CodeInvalidParams || fault.Message != message {
			t.Errorf("%s: %v, want %q", in, fault, message)
		}
	}
}

func TestUpdates(t *testing.T) {
	tests := []struct {
		name string
		body any
		want string
	}{
		{"chunk", wire.Chunk(wire.UpdateUserMessage, "m1", rpc.Parts{[]byte(`{"type":"image","data":"QUJD"}`)}), `{"sessionUpdate":"user_message_chunk","messageId":"m1","content":{"type":"image","data":"QUJD"}}`},
		{"thought", wire.Chunk(wire.UpdateAgentThought, "", wire.TextBlock("<a>\n")), `{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"<a>\n"}}`},
		{"stand-in", wire.Chunk(wire.UpdateUserMessage, "", wire.StandIn("t", []byte(`{"type":"_w"}`))), `{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"t","_meta":{"tote/block":{"type":"_w"}}}}`},
		{"stand-in without an original", wire.StandIn("t", nil), `{"type":"text","text":"t"}`},
		{
			"tool call",
			wire.ToolCall{
				SessionUpdate: wire.UpdateToolCall, ToolCallID: "t1", Title: "Read a", Kind: wire.ToolRead, Status: wire.ToolPending,
				Content:   []json.RawMessage{wire.ToolContent(wire.TextBlock("x"))},
				Locations: []wire.Location{{Path: "/a", Line: 3}, {Path: "/b"}}, RawInput: []byte(`{"path":"/a"}`),
			},
			`{"sessionUpdate":"tool_call","toolCallId":"t1","title":"Read a","kind":"read","status":"pending","content":[` +
				`{"type":"content","content":{"type":"text","text":"x"}}],"locations":[{"path":"/a","line":3},{"path":"/b"}],"rawInput":{"path":"/a"}}`,
		},
		{"usage", wire.Usage{SessionUpdate: "usage_update", Size: 10}, `{"sessionUpdate":"usage_update","used":0,"size":10}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parts, err := wire.Update("s", tt.body)
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
	got, err := json.Marshal(wire.InitializeResult{
		ProtocolVersion: 1, AuthMethods: []wire.AuthMethod{}, AgentInfo: wire.Implementation{Name: "tote", Version: "0"},
		AgentCapabilities: wire.AgentCapabilities{LoadSession: true, SessionCapabilities: wire.SessionCapabilities{List: true, Close: true}},
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
