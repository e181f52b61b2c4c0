package acp_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"tote/internal/front/acp"
	"tote/internal/front/acp/wire"
)

// in runs a test in a bubble with a world of its own.
func in(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(newWorld(t)) })
}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestHandshake(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		p := w.boot(plain)
		const result = `{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true,"audio":true,"embeddedContext":true},` +
			`"mcpCapabilities":{"http":true,"sse":true},"sessionCapabilities":{"list":{},"delete":{},"resume":{},"close":{},"additionalDirectories":{}}},` +
			`"agentInfo":{"name":"tote","title":"tote","version":"1.2.3"},"authMethods":[]}`
		for _, version := range []string{`{"protocolVersion":0}`, `{}`, `{"protocolVersion":2}`, `{"protocolVersion":65535}`} {
			want(t, version, reply(t, p.send(request(1, "initialize", version)), 1), result)
		}
		want(t, "authenticate", reply(t, p.send(request(2, "authenticate", `{"methodId":"x"}`)), 2),
			`error {"code":-32602,"message":"there is no way to log in: keys are read from the configuration"}`)
		want(t, "fork", reply(t, p.send(request(3, "session/fork", `{"sessionId":"x"}`)), 3),
			`error {"code":-32601,"message":"method \"session/fork\" is not supported","data":{"reason":"unstable in version 1; open the session again instead"}}`)
		want(t, "prompt without a session", reply(t, p.send(prompt(4, "nope", text("a"))), 4),
			`error {"code":-32002,"message":"session not found","data":{"sessionId":"nope"}}`)
		p.close()
	})
}

// TestNew holds the answer to session/new, and that nothing is said before it.
func TestNew(t *testing.T) {
	unixOnly(t)
	in(t, func(w *world) {
		t := w.t
		given := map[string][]acp.GivenServer{}
		w.work.Give = func(session string, servers []acp.GivenServer) { given[session] = servers }
		p := w.boot(noticed)
		got := p.send(request(1, "session/new", fmt.Sprintf(`{"cwd":%s,"mcpServers":[{"name":"db","command":"x"},{"type":"http","name":"web","url":"u","headers":[]}],`+
			`"additionalDirectories":["/other/"]}`, quote(w.dir))))
		want(t, "lines", got, []string{
			`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"id1","configOptions":[{"id":"mode","name":"Mode","description":"How much is done without asking",` +
				`"category":"mode","type":"select","currentValue":"ask","options":[` + modeOptions + `]},` + agentOption("main") + `],` +
				`"modes":{"currentModeId":"ask","availableModes":[` + strings.ReplaceAll(modeOptions, `"value"`, `"id"`) + `]}}}`,
		})
		want(t, "servers", given, map[string][]acp.GivenServer{"id1": {{Name: "db", Command: "x"}, {Type: "http", Name: "web", URL: "u", Headers: []wire.NameValue{}}}})
		st, err := w.disk.Session(t.Context(), "id1")
		if err != nil {
			t.Fatal(err)
		}
		want(t, "folders", append([]string{st.Cwd}, st.Dirs...), []string{w.dir, "/other"})
		p.close()
	})
}

const modeOptions = `{"value":"ask","name":"Ask","description":"Asks before it writes, runs or leaves the project"},` +
	`{"value":"edits","name":"Accept edits","description":"Writes inside the project without asking"},` +
	`{"value":"plan","name":"Plan","description":"Reads only: writes, runs and fetches nothing"},` +
	`{"value":"full","name":"Full access","description":"Asks nothing; what is denied stays denied"}`

func agentOption(current string) string {
	return `{"id":"agent","name":"Model","description":"The agent that answers, and whether its model sees pictures","category":"model","type":"select",` +
		`"currentValue":` + quote(current) + `,"options":[{"value":"main","name":"Main","description":"model-e1; pictures: yes (catalogue)"},` +
		`{"value":"blind","name":"blind","description":"model-e2; pictures: no"}]}`
}

func TestNewRefuses(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		p := w.boot(plain)
		abs := quote(w.dir)
		for params, message := range map[string]string{
			`{"cwd":"rel","mcpServers":[]}`: `"code":-32602,"message":"cwd is not an absolute path"`,
			`{"mcpServers":[]}`:             `"code":-32602,"message":"cwd is not an absolute path"`,
			`{"cwd":5}`:                     `"code":-32602,"message":"cwd has the wrong type"`,
			`{"cwd":` + abs + `,"additionalDirectories":["x"]}`:     `"code":-32602,"message":"additionalDirectories holds a path that is not absolute"`,
			`{"cwd":` + quote(filepath.Join(w.dir, "broken")) + `}`: `"code":-32603,"message":"read the configuration of broken: it is broken","data":{"kind":"failed"}`,
		} {
			want(t, params, reply(t, p.send(request(1, "session/new", params)), 1), "error {"+message+"}")
		}
		want(t, "load of nothing", reply(t, p.send(request(2, "session/load", `{"sessionId":"zz","cwd":`+abs+`,"mcpServers":[]}`)), 2),
			`error {"code":-32002,"message":"session not found","data":{"sessionId":"zz"}}`)
		want(t, "load without an id", reply(t, p.send(request(3, "session/load", `{"cwd":`+abs+`}`)), 3),
			`error {"code":-32602,"message":"sessionId is missing"}`)
		p.close()
	})
}

func TestList(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		p := w.boot(plain)
		want(t, "first page", reply(t, p.send(request(1, "session/list", `{}`)), 1),
			`{"sessions":[{"sessionId":"a","cwd":"/a","title":"T","updatedAt":"2026-11-30T12:00:00Z","additionalDirectories":["/x"]}],"nextCursor":"more"}`)
		want(t, "next page", reply(t, p.send(request(2, "session/list", `{"cursor":"more"}`)), 2), `{"sessions":[{"sessionId":"b","cwd":"/b"}]}`)
		want(t, "wrong cursor", reply(t, p.send(request(3, "session/list", `{"cursor":"x"}`)), 3), `error {"code":-32602,"message":"cursor is none that was given"}`)
		want(t, "relative", reply(t, p.send(request(4, "session/list", `{"cwd":"x"}`)), 4), `error {"code":-32602,"message":"cwd is not an absolute path"}`)
		p.close()
	})
}

func TestCloseAndDelete(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		p := w.boot(plain)
		id := p.open(w)
		w.model.say = hang
		p.send(prompt(1, id, text("a")), prompt(2, id, text("b")))
		got := p.send(request(3, "session/close", `{"sessionId":`+quote(id)+`}`))
		var order []string
		for _, line := range got {
			var m struct{ ID *int }
			if json.Unmarshal([]byte(line), &m) == nil && m.ID != nil {
				order = append(order, fmt.Sprint(*m.ID))
			}
		}
		if len(order) != 3 || order[2] != "3" {
			t.Errorf("replies in the order %v: the session was closed before its prompts were answered", order)
		}
		want(t, "running", stop(t, got, 1), "cancelled")
		want(t, "waiting", stop(t, got, 2), "cancelled")
		want(t, "close", reply(t, got, 3), "{}")
		want(t, "close of nothing", reply(t, p.send(request(4, "session/close", `{"sessionId":"zz"}`)), 4), "{}")
		want(t, "closed", reply(t, p.send(prompt(5, id, text("c"))), 5), `error {"code":-32002,"message":"session not found","data":{"sessionId":"`+id+`"}}`)
		for n := range 2 { // the second time it is gone
			want(t, "delete", reply(t, p.send(request(6+n, "session/delete", `{"sessionId":`+quote(id)+`}`)), 6+n), "{}")
		}
		want(t, "deleted", w.deleted, []string{id})
		want(t, "delete of no id", reply(t, p.send(request(9, "session/delete", `{}`)), 9), `error {"code":-32602,"message":"sessionId is missing"}`)
		p.close()
	})
}

func TestConfigOptions(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		p := w.boot(plain)
		id := p.open(w)
		set := func(n int, option, value string) []string {
			return p.send(request(n, "session/set_config_option", fmt.Sprintf(`{"sessionId":%s,"configId":%q,"value":%s}`, quote(id), option, value)))
		}
		mode := func(current string) string {
			return `{"id":"mode","name":"Mode","description":"How much is done without asking","category":"mode","type":"select","currentValue":"` + current + `","options":[` + modeOptions + `]}`
		}
		want(t, "agent", reply(t, set(1, "agent", `"blind"`), 1), `{"configOptions":[`+mode("ask")+`,`+agentOption("blind")+`]}`)
		got := set(2, "mode", `"plan"`)
		want(t, "mode", reply(t, got, 2), `{"configOptions":[`+mode("plan")+`,`+agentOption("blind")+`]}`)
		want(t, "old mode", updates(t, got, "current_mode_update"), []string{`{"sessionUpdate":"current_mode_update","currentModeId":"plan"}`})
		for value, message := range map[string]string{
			`"nobody"`: `value is none of the values of \"agent\"`, `true`: "value has the wrong type",
		} {
			want(t, value, reply(t, set(3, "agent", value), 3), `error {"code":-32602,"message":"`+message+`"}`)
		}
		want(t, "no such option", reply(t, set(4, "x", `"y"`), 4), `error {"code":-32602,"message":"configId names no option"}`)

		got = p.send(request(5, "session/set_mode", `{"sessionId":`+quote(id)+`,"modeId":"full"}`))
		want(t, "set_mode", reply(t, got, 5), "{}")
		want(t, "options follow", updates(t, got, "config_option_update"),
			[]string{`{"sessionUpdate":"config_option_update","configOptions":[` + mode("full") + `,` + agentOption("blind") + `]}`})
		want(t, "no such mode", reply(t, p.send(request(6, "session/set_mode", `{"sessionId":`+quote(id)+`,"modeId":"x"}`)), 6),
			`error {"code":-32602,"message":"modeId names no mode"}`)

		// A reload renames a model: the list goes out again, before the reply.
		w.mu.Lock()
		w.choices[0].Title = "Renamed"
		w.mu.Unlock()
		got = p.send(prompt(7, id, text("a")))
		if n := updates(t, got, "config_option_update"); len(n) != 1 || !strings.Contains(n[0], "Renamed") {
			t.Errorf("options after a reload: %q", n)
		}
		want(t, "again", updates(t, p.send(prompt(8, id, text("a"))), "config_option_update"), []string(nil))
		p.close()
	})
}

// TestAgentIsGone opens a session whose agent the configuration no longer has.
func TestAgentIsGone(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		p := w.boot(plain)
		id := p.open(w)
		st, err := w.disk.Session(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		p.close()
		st.Agent = "gone"
		if err := w.disk.UpdateSession(t.Context(), st); err != nil {
			t.Fatal(err)
		}
		p = w.boot(noticed)
		got := p.send(request(1, "session/resume", `{"sessionId":`+quote(id)+`,"cwd":`+quote(w.dir)+`}`))
		if !strings.Contains(reply(t, got, 1), agentOption("main")) {
			t.Errorf("resume: %s", reply(t, got, 1))
		}
		want(t, "notice", updates(t, got, "notice"), []string{
			`{"sessionUpdate":"notice","severity":"warning","title":"the agent gone is gone","description":"main takes its place"}`,
		})
		p.close()
	})
}
