package acp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/permission"
	"tote/internal/provider"
	"tote/internal/tool"
)

func TestNegotiation(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		w.v2 = true
		p := w.boot(plain)
		ask := func(version string) string {
			return reply(t, p.send(request(1, "initialize", `{"protocolVersion":`+version+`,"info":{"name":"x","version":"1"}}`)), 1)
		}
		want(t, "0", ask("0"), `error {"code":-32022,"message":"there is no version of the protocol in common","data":{"requested":0,"supported":[1,2]}}`)
		const second = `{"protocolVersion":2,"info":{"name":"tote","title":"tote","version":"1.2.3"},"capabilities":{"session":{` +
			`"prompt":{"image":{},"audio":{},"embeddedContext":{}},"mcp":{"stdio":{},"http":{}},"delete":{},"additionalDirectories":{}}}}`
		for _, version := range []string{"2", "3", "65535"} {
			want(t, version, ask(version), second)
		}
		if got := ask("1"); !strings.HasPrefix(got, `{"protocolVersion":1,"agentCapabilities"`) {
			t.Errorf("1: %s", got)
		}
		p.send(request(2, "session/list", `{}`))
		want(t, "too late", ask("2"), `error {"code":-32600,"message":"already initialized"}`)
		p.close()
	})
}

// TestSecondIDs holds which ids version 2 takes, and that version 1 takes more.
func TestSecondIDs(t *testing.T) {
	both(t, func(t *testing.T, w *world, v int) {
		p := w.boot(hello(v))
		for id, whole := range map[string]bool{`7`: true, `-1`: true, `"a"`: true, `9007199254740993`: true, `null`: false, `1.5`: false, `1e3`: false} {
			got := p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"session/list","params":{}}`)
			taken := len(got) == 1 && strings.Contains(got[0], `"id":`+id+`,"result"`)
			refused := len(got) == 1 && strings.Contains(got[0], `"id":null,"error":{"code":-32600`)
			if taken != (whole || v == 1) || refused == taken {
				t.Errorf("id %s: %q", id, got)
			}
		}
		p.close()
	})
}

// TestUnserved holds that what a version does not have is refused with a reason, and
// that nothing else is.
func TestUnserved(t *testing.T) {
	both(t, func(t *testing.T, w *world, v int) {
		p := w.boot(hello(v))
		gone := map[string]int{
			"session/load": 2, "session/set_mode": 2, "authenticate": 2, "auth/login": 0, "auth/logout": 0, "logout": 0,
			"session/fork": 0, "session/archive": 0, "session/set_model": 0, "providers/list": 0, "mcp/message": 0,
		}
		n := 0
		for method, in := range gone {
			n++
			got := reply(t, p.send(request(n, method, `{"sessionId":"x","cwd":"/x","mcpServers":[]}`)), n)
			refused := strings.HasPrefix(got, `error {"code":-32601`) && strings.Contains(got, `"reason":"`)
			if refused != (in == 0 || in == v) {
				t.Errorf("%s: %s", method, got)
			}
		}
		code := map[int]string{1: "-32601", 2: "-32602"}[v]
		for _, method := range []string{"tool_call/cancel", "terminal/cancel"} {
			n++
			if got := reply(t, p.send(request(n, method, `{"sessionId":"x"}`)), n); !strings.HasPrefix(got, `error {"code":`+code) {
				t.Errorf("%s: %s", method, got)
			}
		}
		p.close()
	})
}

// TestSecondTurn holds the order of a whole turn: running, the message, the answer to
// the prompt under the same id, the work, and idle last.
func TestSecondTurn(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		w.v2 = true
		w.model.say = events(
			[]provider.Event{
				provider.ThoughtDelta{Text: "hm"},
				provider.TextDelta{Text: "see"},
				provider.Call{Call: content.ToolCall{ID: "1", Name: "list", Arguments: `{"path":"."}`}},
				provider.Finish{Stop: content.StopEndTurn},
			},
			[]provider.Event{provider.TextDelta{Text: "done"}, provider.Finish{Stop: content.StopMaxTokens}},
		)
		p := w.boot(hello(2))
		id := p.open(w)
		got := p.send(prompt(1, id, text("a"), text("b")))
		var order []string
		for _, e := range eventsOf(t, got) {
			switch {
			case e.method == "":
				order = append(order, "reply "+e.raw[strings.Index(e.raw, `"result":`)+9:len(e.raw)-1])
			case e.kind == "state_update":
				order = append(order, strings.TrimSpace(e.text("state")+" "+e.text("stopReason")))
			case e.kind == "tool_call_update":
				order = append(order, e.kind+" "+e.text("toolCallId")+" "+e.text("status"))
			default:
				order = append(order, strings.TrimSpace(e.kind+" "+e.text("messageId")))
			}
		}
		want(t, "order", order, []string{
			"running", "user_message id2", `reply {"messageId":"id2"}`, "session_info_update", "agent_thought_chunk id2-t1", "agent_message_chunk id2-m1",
			"tool_call_update id2-c1-1 pending", "tool_call_update id2-c1-1 in_progress", "tool_call_update id2-c1-1 completed",
			"session_info_update", "agent_message_chunk id2-m2", "notice", "idle max_tokens",
		})
		if last := got[len(got)-1]; !strings.Contains(last, `"tote/receipts":[{`) {
			t.Errorf("the end has no receipts: %s", last)
		}
		live := messages(t, got)
		p.close()
		p = w.boot(hello(2))
		again := p.reopen(w, 2, 2, id, true)
		want(t, "replay", messages(t, again), live)
		if e := eventsOf(t, again); e[len(e)-2].text("state") != "idle" || e[len(e)-1].id != 2 {
			t.Errorf("the state does not come last before the reply: %q", again)
		}
		p.close()
	})
}

// TestHeld holds how prompts are answered that wait or run when they are cancelled.
func TestHeld(t *testing.T) {
	const dropped = `error {"code":-32800,"message":"the prompt was cancelled before it was taken"}`
	both(t, func(t *testing.T, w *world, v int) {
		w.model.say = hang
		p := w.boot(hello(v))
		id := p.open(w)
		held := map[int]string{1: "cancelled", 2: dropped}[v]
		got := p.send(prompt(1, id, text("a")), prompt(2, id, text("b")), prompt(3, id, text("c")), withdraw(2))
		want(t, "one that waits is taken back", stop(t, got, 2), held)
		want(t, "the others are not", []string{ended(t, v, got, 1), reply(t, got, 3)}, []string{"", ""})
		got = p.send(cancel(id))
		want(t, "running", ended(t, v, got, 1), "cancelled")
		want(t, "waiting", stop(t, got, 3), held)

		// $/cancel_request ends the turn of a prompt that has not been answered;
		// after the answer it comes too late.
		p.send(prompt(4, id, text("d")))
		got = p.send(withdraw(4))
		want(t, "taken back", ended(t, v, got, 4), map[int]string{1: "cancelled", 2: ""}[v])
		p.send(cancel(id))
		w.model.say = answer("ok")
		want(t, "next", ended(t, v, p.send(prompt(5, id, text("e"))), 5), "end_turn")
		p.close()
	})
}

// TestFailures holds that a failure before the prompt is inserted is the answer to
// it, and one after it the end of the turn.
func TestFailures(t *testing.T) {
	both(t, func(t *testing.T, w *world, v int) {
		p := w.boot(hello(v))
		id := p.open(w)
		w.disk.FailWhen(func(op string) error {
			if op == "BeginTurn" {
				return errors.New("the disk is full")
			}
			return nil
		})
		got := p.send(prompt(1, id, text("a")))
		if r := reply(t, got, 1); !strings.HasPrefix(r, `error {"code":-32603`) || !strings.Contains(r, "the disk is full") {
			t.Errorf("before: %s", r)
		}
		if v == 2 {
			last := eventsOf(t, got)[len(got)-2]
			want(t, "state", []string{last.text("state"), last.text("stopReason")}, []string{"idle", "error"})
			want(t, "nothing was inserted", messages(t, got), []message(nil))
		}
		w.disk.FailWhen(nil)
		w.model.say = func(_ ctx, _ int, yield yield) {
			yield(nil, &provider.Error{Failure: delivery.Failure{Kind: delivery.FailAuth}, Err: errors.New("the key is wrong")})
		}
		got = p.send(prompt(2, id, text("b")))
		if v == 1 {
			if r := reply(t, got, 2); !strings.HasPrefix(r, `error {"code":-32603`) {
				t.Errorf("after: %s", r)
			}
		} else {
			last := eventsOf(t, got)[len(got)-1]
			fault, _ := last.update["error"].(map[string]any)
			if reply(t, got, 2) != `{"messageId":"id3"}` || last.text("stopReason") != "error" || fault["code"] != -32603.0 || fault["message"] == "" {
				t.Errorf("after: %q", got)
			}
		}
		w.model.say = nil
		want(t, "next", ended(t, v, p.send(prompt(3, id, text("c"))), 3), "end_turn")
		p.close()
	})
}

// TestSecondVoided holds that a withdrawn answer is emptied, and that the one that
// counts has the id that a replay gives it.
func TestSecondVoided(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		w.v2 = true
		w.model.say = func(_ ctx, n int, yield yield) {
			if n == 0 {
				_ = yield(provider.ThoughtDelta{Text: "hm"}, nil) && yield(provider.TextDelta{Text: "half an ans"}, nil) &&
					yield(nil, &provider.Error{Failure: delivery.Failure{Kind: delivery.FailRefused}, Err: errors.New("reset")})
				return
			}
			_ = yield(provider.TextDelta{Text: "whole"}, nil) && yield(provider.Finish{Stop: content.StopEndTurn}, nil)
		}
		p := w.boot(hello(2))
		id := p.open(w)
		got := p.send(prompt(1, id, text("a"), picture()))
		if at(eventsOf(t, got), func(e event) bool { return e.text("title") == "an answer was withdrawn" }) < 0 {
			t.Errorf("nothing was withdrawn: %q", got)
		}
		want(t, "messages", messages(t, got)[1:], []message{{"agent_thought", "id2-t1", ""}, {"agent_message", "id2-m1", "whole"}})
		p.close()
	})
}

// shell is a stand-in for the shell tool: it prints and ends.
type shell struct{ live bool }

func (shell) Spec() tool.Spec {
	return tool.Spec{Name: "bash", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (shell) Request(json.RawMessage, tool.Env) (permission.Request, string, error) {
	return permission.Request{Tool: "bash", Action: permission.Execute, Detail: "make", Commands: []string{"make"}}, "Run make", nil
}

func (s shell) Run(_ context.Context, _ json.RawMessage, env tool.Env) (tool.Result, error) {
	if s.live {
		env.Live("hä\n")
		env.Live("done\n")
	}
	return tool.Result{Sources: []content.Source{tool.Prose("hä\ndone\n[exit code 3 after 0.1 s]\n")}}, nil
}

// TestTerminals holds that version 2 shows what a command prints in a terminal that
// is announced before and ends before its call does, live and in the replay.
func TestTerminals(t *testing.T) {
	for _, live := range []bool{true, false} {
		in(t, func(w *world) {
			t := w.t
			w.v2, w.tools = true, append(w.tools, shell{live})
			w.rules = permission.Rules{Mode: permission.ModeFull}
			w.model.say = events(
				[]provider.Event{provider.Call{Call: content.ToolCall{ID: "1", Name: "bash", Arguments: `{"command":"make"}`}}, provider.Finish{Stop: content.StopEndTurn}},
				[]provider.Event{provider.TextDelta{Text: "done"}, provider.Finish{Stop: content.StopEndTurn}},
			)
			p := w.boot(hello(2))
			id := p.open(w)
			shown := terminal(t, p.send(prompt(1, id, text("a"))))
			text := "hä\ndone\n"
			if !live {
				text += "[exit code 3 after 0.1 s]\n"
			}
			want(t, "terminal", shown, fmt.Sprintf("make in %s: %q, exit 3", w.dir, text))
			want(t, "replay", terminal(t, p.reopen(w, 2, 2, id, true)), fmt.Sprintf("make in %s: %q, exit 3", w.dir, "hä\ndone\n[exit code 3 after 0.1 s]\n"))
			p.close()
		})
	}
}

// terminal is the one terminal of lines, as a client shows it.
func terminal(t *testing.T, lines []string) string {
	t.Helper()
	var id, head, text, exit string
	for _, e := range eventsOf(t, lines) {
		decode := func(v any) string {
			s, _ := v.(string)
			data, err := base64.StdEncoding.DecodeString(s)
			if err != nil {
				t.Errorf("not base64: %q", s)
			}
			return string(data)
		}
		switch e.kind {
		case "terminal_update":
			id = e.text("terminalId")
			if c := e.text("command"); c != "" {
				head = c + " in " + e.text("cwd")
			}
			if o, ok := e.update["output"].(map[string]any); ok {
				text = decode(o["data"])
			}
			if s, ok := e.update["exitStatus"].(map[string]any); ok {
				exit = fmt.Sprintf("exit %v", s["exitCode"])
			}
		case "terminal_output_chunk":
			text += decode(e.update["data"])
		case "tool_call_update":
			if strings.Contains(e.raw, `"type":"terminal"`) && !strings.Contains(e.raw, `"terminalId":`+quote(id)) || id == "" && strings.Contains(e.raw, "terminalId") {
				t.Errorf("a terminal is shown that was not announced: %s", e.raw)
			}
			if e.text("status") == "completed" && exit == "" {
				t.Error("the call ends before its terminal")
			}
		}
	}
	return fmt.Sprintf("%s: %q, %s", head, text, exit)
}

// TestDiffs holds that questions and ends of write and edit show what becomes of the
// file, and that nothing is shown of a file that the rules keep from being read.
func TestDiffs(t *testing.T) {
	both(t, func(t *testing.T, w *world, v int) {
		w.tools = append(w.tools, tool.Edit{}, tool.Write{})
		for name, text := range map[string]string{"a.txt": "one\ntwo\nthree\n", "hidden.env": "secret\n"} {
			if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		deny, err := permission.ParseRule("read(**/*.env)")
		if err != nil {
			t.Fatal(err)
		}
		w.rules = permission.Rules{Deny: []permission.Rule{deny}}
		p := w.boot(hello(v))
		id := p.open(w)
		call := func(name, args string) []provider.Event {
			return []provider.Event{provider.Call{Call: content.ToolCall{ID: "1", Name: name, Arguments: args}}, provider.Finish{Stop: content.StopEndTurn}}
		}
		done := []provider.Event{provider.TextDelta{Text: "done"}, provider.Finish{Stop: content.StopEndTurn}}
		n := 0
		play := func(list ...[]provider.Event) (asked, after string) {
			n++
			from := len(w.model.sent())
			w.model.say = func(_ ctx, k int, yield yield) {
				for _, e := range append(list, done)[min(k-from, len(list))] {
					if !yield(e, nil) {
						return
					}
				}
			}
			got := p.send(prompt(10*n, id, text("go")))
			asked = got[len(got)-1]
			after = strings.Join(p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"outcome":{"outcome":"selected","optionId":"allow"}}}`, n)), "\n")
			return asked, after
		}
		file := quote(filepath.Join(w.dir, "a.txt"))
		wanted := map[int][]string{
			1: {`{"type":"diff","path":` + file + `,"oldText":"one\ntwo\nthree\n","newText":"one\n2\nthree\n"}`},
			2: {`{"operation":"modify","path":` + file + `,"fileType":"text"}`, `@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n`},
		}[v]
		asked, after := play(call("read", `{"path":"a.txt"}`), call("edit", `{"path":"a.txt","edits":[{"old":"two","new":"2"}]}`))
		for _, s := range wanted {
			if !strings.Contains(asked, s) || !strings.Contains(after, s) {
				t.Errorf("edit: no %s in\n%s\nor\n%s", s, asked, after)
			}
		}
		if !strings.Contains(after, `"locations":[{"path":`+file+`,"line":2}]`) {
			t.Errorf("edit: no line in %s", after)
		}
		asked, after = play(call("write", `{"path":"new.txt","content":"fresh\n"}`))
		created := map[int]string{1: `"oldText":null,"newText":"fresh\n"}`, 2: `new file mode 100644\n--- /dev/null\n+++ `}[v]
		if !strings.Contains(asked, created) || !strings.Contains(after, created) {
			t.Errorf("write: no %s in\n%s\nor\n%s", created, asked, after)
		}
		asked, after = play(call("write", `{"path":"hidden.env","content":"new\n"}`))
		if strings.Contains(asked+after, "secret") || strings.Contains(asked+after, `"type":"diff"`) {
			t.Errorf("hidden:\n%s\n%s", asked, after)
		}
		p.close()
	})
}

// TestSecondLarge holds that a message that fits no line comes in parts after an empty
// one, the same in the replay, and that a block that fits none has a stand-in.
func TestSecondLarge(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		w.v2 = true
		p := w.boot(hello(2))
		id := p.open(w)
		image := func(n int) string {
			return `{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("A", n) + `"}`
		}
		own := func(lines []string) (kinds []string, sizes []int) {
			for _, line := range lines {
				if strings.Contains(line[:min(200, len(line))], `"sessionUpdate":"user_message`) {
					kind, _, _ := strings.Cut(line[strings.Index(line, `"user_message`)+1:], `"`)
					kinds, sizes = append(kinds, kind), append(sizes, len(line)>>20)
				}
				if len(line) >= 30<<20 {
					t.Errorf("a line of %d bytes", len(line))
				}
			}
			return kinds, sizes
		}
		got := p.send(prompt(1, id, text("two"), image(16<<20), image(16<<20)))
		kinds, sizes := own(got)
		want(t, "kinds", kinds, []string{"user_message", "user_message_chunk", "user_message_chunk", "user_message_chunk"})
		want(t, "sizes", sizes, []int{0, 0, 16, 16})
		if !strings.Contains(got[1], `"content":[]`) {
			t.Errorf("it does not begin empty: %.200s", got[1])
		}
		again, same := own(p.reopen(w, 2, 2, id, true))
		want(t, "replay", again, kinds)
		want(t, "replay", same, sizes)
		got = p.send(prompt(3, id, image(31<<20)))
		if m := messages(t, got); m[0].Role != "user_message" || !strings.HasPrefix(m[0].Text, "[image block of 32505") {
			t.Errorf("stand-in: %+v", m[0])
		}
		p.close()
	})
}

// TestSecondAsking holds what a question of version 2 says, and what the session does
// while it stands.
func TestSecondAsking(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		w.v2, w.tools = true, append(w.tools, shell{})
		file := outside(t, w)
		p := w.boot(hello(2))
		id := p.open(w)
		states := func(lines []string) (out []string) {
			for _, e := range eventsOf(t, lines) {
				if e.kind == "state_update" {
					out = append(out, e.text("state"))
				}
			}
			return out
		}
		got := p.send(prompt(5, id, text("read it")))
		want(t, "asked", states(got), []string{"running", "requires_action"})
		question := got[len(got)-1]
		for _, s := range []string{
			`"title":"Read ` + file[:4], `"subject":{"type":"tool_call","toolCall":{"toolCallId":"id2-c1-1","status":"pending","locations":[{"path":` + quote(file) + `}]}}`,
			`"options":[{"optionId":"allow","name":"Allow","kind":"allow_once"}`,
		} {
			if !strings.Contains(question, s) {
				t.Errorf("no %s in %s", s, question)
			}
		}
		list := eventsOf(t, p.reopen(w, 2, 6, id, false))
		want(t, "opened again", list[len(list)-3].text("state"), "requires_action")
		want(t, "answered", states(p.send(answered(`{"outcome":{"outcome":"selected","optionId":"allow"}}`))), []string{"running", "idle"})

		base := len(w.model.sent())
		say := events(
			[]provider.Event{provider.Call{Call: content.ToolCall{ID: "1", Name: "bash", Arguments: `{"command":"make"}`}}, provider.Finish{Stop: content.StopEndTurn}},
			[]provider.Event{provider.TextDelta{Text: "done"}, provider.Finish{Stop: content.StopEndTurn}},
		)
		w.model.say = func(ctx ctx, n int, yield yield) { say(ctx, n-base, yield) }
		got = p.send(prompt(7, id, text("run it")))
		ids, _ := toolCalls(t, got)
		if s := `"subject":{"type":"command","command":"make","cwd":` + quote(w.dir) + `,"toolCallId":` + quote(ids[0]) + `}`; !strings.Contains(got[len(got)-1], s) {
			t.Errorf("no %s in %s", s, got[len(got)-1])
		}
		got = p.send(cancel(id))
		want(t, "cancelled", states(got), []string{"idle"})
		_, calls := toolCalls(t, got)
		want(t, "the call", calls[ids[0]], []string{"cancelled"})
		p.close()
	})
}
