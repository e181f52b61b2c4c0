package acp_test

import (
	"fmt"
	"strings"
	"testing"

	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/front/acp"
	"tote/internal/front/slash"
	"tote/internal/provider"
	"tote/internal/tool"
)

type slashWorld = slash.World

func warnings(title string) []delivery.Notice {
	return []delivery.Notice{{Severity: delivery.SeverityWarning, Title: title}}
}

// pitStdout: notifications have no answer, and nothing but answers and updates comes.
func pitStdout(t *testing.T, w *world, v int) {
	p := w.boot(hello(v))
	id := p.open(w)
	for _, line := range []string{
		cancel(id), cancel("nobody"), withdraw(77), notification("_x/y", `{}`), notification("unknown", `{"a":1}`), notification("session/prompt", `{}`), "", "\r",
		`{"jsonrpc":"2.0","id":1,"result":null}`, `{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"x"}}`,
	} {
		want(t, line, p.send(line), []string(nil))
	}
	for line, code := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"_x/y"}`: "-32601", `{"jsonrpc":"2.0","id":2,"method":"x"`: "-32700", `[]`: "-32600", `7`: "-32600",
	} {
		got := p.send(line)
		if len(got) != 1 || !strings.Contains(got[0], `"error":{"code":`+code) {
			t.Errorf("%s: %q", line, got)
		}
	}
	w.work.Give = func(string, []acp.GivenServer) { panic("broken") }
	got := p.send(request(3, "session/new", `{"cwd":`+quote(w.dir)+`,"mcpServers":[]}`))
	want(t, "a panic", got, []string{`{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"internal error"}}`})
	want(t, "it goes on", ended(t, v, p.send(prompt(4, id, text("a"))), 4), "end_turn")
	p.close()
}

// pitKinds: every word that is said is one of the protocol's, and what is ours stands
// in metadata.
func pitKinds(t *testing.T, w *world, v int) {
	words := map[int]string{
		1: " user_message_chunk agent_message_chunk agent_thought_chunk tool_call tool_call_update plan available_commands_update" +
			" current_mode_update config_option_update session_info_update usage_update notice ",
		2: " user_message user_message_chunk agent_message agent_message_chunk agent_thought agent_thought_chunk tool_call_update tool_call_content_chunk" +
			" plan_update available_commands_update config_option_update session_info_update usage_update notice state_update terminal_update terminal_output_chunk ",
	}[v]
	statuses := map[int]string{1: " pending in_progress completed failed ", 2: " pending in_progress completed failed cancelled "}[v]
	const kinds = " read edit delete move search execute think fetch switch_mode other "
	w.tools = append(w.tools, tool.Todo{})
	w.work.World, w.work.Notices = worldOf, warnings("look out")
	w.model.say = events(
		[]provider.Event{
			provider.ThoughtDelta{Text: "hm"},
			provider.Call{Call: content.ToolCall{ID: "1", Name: "todo", Arguments: `{"steps":[{"text":"a","status":"in_progress"}]}`}},
			provider.Call{Call: content.ToolCall{ID: "2", Name: "nothing", Arguments: `{`}},
			provider.Finish{Stop: content.StopEndTurn},
		},
		[]provider.Event{provider.TextDelta{Text: "done"}, provider.Finish{Stop: content.StopEndTurn}},
	)
	p := w.boot(hello(v))
	got := p.send(request(8, "session/new", `{"cwd":`+quote(w.dir)+`,"mcpServers":[]}`))
	got = append(got, p.send(prompt(1, "id1", text("a"), `{"type":"_mine","x":1}`))...)
	got = append(got, p.send(prompt(2, "id1", text("/mode plan")))...)
	got = append(got, p.reopen(w, v, 3, "id1", true)...)
	plans := 0
	for _, e := range eventsOf(t, got) {
		if e.method == "session/update" && !strings.Contains(words, " "+e.kind+" ") {
			t.Errorf("an update of our own: %s", e.raw)
		}
		if s := e.text("status"); e.kind != "" && s != "" && !strings.Contains(statuses, " "+s+" ") {
			t.Errorf("a status of our own: %s", e.raw)
		}
		if k := e.text("kind"); k != "" && !strings.Contains(kinds, " "+k+" ") {
			t.Errorf("a kind of our own: %s", e.raw)
		}
		if isKind("plan", "plan_update")(e) {
			plans++
		}
		for name := range e.update {
			if strings.Contains(name, "/") || strings.HasPrefix(name, "tote") {
				t.Errorf("%s stands outside of the metadata: %s", name, e.raw)
			}
		}
	}
	want(t, "plans", plans, 1)
	p.close()
}

// pitNull: what is empty is an empty object or array.
func pitNull(t *testing.T, w *world, v int) {
	p := w.boot(hello(v))
	id := p.open(w)
	got := p.send(prompt(1, id, text("a")))
	got = append(got, p.send(request(2, "session/list", `{}`), request(3, "session/list", `{"cursor":"more"}`), setOption(4, v, id, "mode", "plan"))...)
	got = append(got, p.reopen(w, v, 5, id, true)...)
	got = append(got, p.send(request(6, "session/close", `{"sessionId":`+quote(id)+`}`), request(7, "session/delete", `{"sessionId":`+quote(id)+`}`))...)
	if v == 1 {
		id = p.open(w)
		got = append(got, p.send(request(8, "session/set_mode", `{"sessionId":`+quote(id)+`,"modeId":"plan"}`))...)
		want(t, "set_mode", reply(t, got, 8), "{}")
	}
	want(t, "close", reply(t, got, 6), "{}")
	want(t, "delete", reply(t, got, 7), "{}")
	for _, line := range got {
		for _, name := range []string{"result", "configOptions", "availableCommands", "options", "sessions", "content", "entries", "locations", "availableModes"} {
			if strings.Contains(line, `"`+name+`":null`) {
				t.Errorf("%s is null: %s", name, line)
			}
		}
	}
	p.close()
}

// pitInserted: a prompt's reply names its message, the session runs before it is idle,
// and its state comes before the reply that opens it again.
func pitInserted(t *testing.T, w *world, v int) {
	w.model.say = hang
	p := w.boot(hello(v))
	id := p.open(w)
	got := p.send(prompt(1, id, text("a")))
	want(t, "reply", reply(t, got, 1), `{"messageId":"id2"}`)
	for n, history := range []bool{true, false} {
		list := eventsOf(t, p.reopen(w, v, n+2, id, history))
		end := at(list, isReply(n+2))
		if end < 1 || list[end-1].text("state") != "running" {
			t.Errorf("no running state before the reply: %+v", list)
		}
	}
	got = append(got, p.send(cancel(id))...)
	var states []string
	for _, e := range eventsOf(t, got) {
		if e.kind == "state_update" {
			states = append(states, e.text("state"))
		}
	}
	want(t, "states", states, []string{"running", "idle"})
	list := eventsOf(t, p.reopen(w, v, 4, id, false))
	if end := at(list, isReply(4)); end < 1 || list[end-1].text("state") != "idle" {
		t.Errorf("no idle state before the reply: %+v", list)
	}
	p.close()
}

// pitApproval: only an option that was offered and allows is approval.
func pitApproval(t *testing.T, w *world, v int) {
	for n, answer := range []string{
		answered(`{"outcome":{"outcome":"_approved","optionId":"allow"}}`), answered(`{"outcome":{"outcome":"selected","optionId":"yes"}}`),
		answered(`{"outcome":"selected","optionId":"allow"}`), answered(`{}`), answered(`null`), answered(`[]`), answered(`"allow"`),
		answered(`{"outcome":{"outcome":"cancelled","optionId":"allow"}}`), `{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"cancelled"}}`,
	} {
		outside(t, w)
		base, say := len(w.model.sent()), w.model.say
		w.model.say = func(ctx ctx, n int, yield yield) { say(ctx, n-base, yield) }
		p := w.boot(hello(v))
		id := p.open(w)
		asked := p.send(prompt(9, id, text("read it")))
		question := asked[len(asked)-1]
		if !strings.Contains(question, `"options":[{"optionId":`) || v == 2 && !strings.Contains(question, `"title":"`) {
			t.Errorf("question: %s", question)
		}
		got := p.send(answer)
		if strings.Contains(strings.Join(got, ""), "the secret") || ended(t, v, append(asked, got...), 9) != "end_turn" {
			t.Errorf("answer %d, %s: %q", n, answer, got)
		}
		p.close()
	}
}

// pitLossy: a picture goes to the model as its bytes say, from its data whatever its
// address is, and back to the client as it was spelt.
func pitLossy(t *testing.T, w *world, v int) {
	data := strings.TrimRight(b64(agenttest.PNG(20, 10, 1)), "=")
	blocks := []string{
		fmt.Sprintf(`{"type":"image","mimeType":"image/gif","uri":"https://example.invalid/a.gif","data":%q}`, data),
		`{ "type" : "image","data":` + quote(b64(agenttest.PNG(8, 8, 2))) + `,"mimeType":"","_meta":{"k":1.50}}`,
	}
	p := w.boot(hello(v))
	id := p.open(w)
	got := p.send(prompt(1, id, blocks...))
	want(t, "stop", ended(t, v, got, 1), "end_turn")
	var types []string
	for _, m := range w.model.sent()[0].Prompt.Media() {
		types = append(types, m.Blob.MIME)
	}
	want(t, "types", types, []string{"image/png", "image/png"})
	for what, lines := range map[string][]string{"live": got, "replay": p.reopen(w, v, 2, id, true)} {
		all := strings.Join(lines, "\n")
		for _, b := range blocks {
			if !strings.Contains(all, b) {
				t.Errorf("%s: the block does not come back: %.200s", what, b)
			}
		}
	}
	p.close()
}
