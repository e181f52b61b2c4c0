package acp_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/front/acp"
	"tote/internal/provider"
)

func TestCancel(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		w.model.say = hang
		p := w.boot(plain)
		id := p.open(w)
		cancel := notification("session/cancel", `{"sessionId":`+quote(id)+`}`)
		// Prompt, a second that waits, cancel and a third that came after it, all
		// at once: the cancel ends the two before it, and the third runs.
		got := p.send(prompt(1, id, text("a")), prompt(2, id, text("b")), cancel, prompt(3, id, text("c")))
		want(t, "running", stop(t, got, 1), "cancelled")
		want(t, "waiting", stop(t, got, 2), "cancelled")
		want(t, "later", stop(t, got, 3), "")
		w.model.say = answer("done")
		got = p.send(cancel)
		want(t, "third", stop(t, got, 3), "cancelled")
		want(t, "nothing to cancel", p.send(cancel), []string(nil))
		want(t, "next", stop(t, p.send(prompt(4, id, text("d"))), 4), "end_turn")
		p.close()
	})
}

// TestQueue holds that a prompt which comes while a turn runs is served whole
// after it: nothing of the second before the reply to the first.
func TestQueue(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		var p *peer
		w.model.say = func(ctx ctx, n int, yield yield) {
			if yield(provider.TextDelta{Text: fmt.Sprintf("answer %d", n)}, nil) {
				time.Sleep(time.Second)
				yield(provider.Finish{Stop: content.StopEndTurn}, nil)
			}
		}
		p = w.boot(plain)
		id := p.open(w)
		p.send(prompt(1, id, text("first")), prompt(2, id, text("second")), prompt(3, id, text("third")))
		time.Sleep(5 * time.Second)
		var order []string
		for _, line := range p.got() {
			for _, s := range []string{`"first"`, `"second"`, `"third"`, `answer 0`, `answer 1`, `answer 2`, `"id":1`, `"id":2`, `"id":3`} {
				if strings.Contains(line, s) && !strings.Contains(line, "session_info_update") {
					order = append(order, strings.Trim(s, `"`))
				}
			}
		}
		want(t, "order", strings.Join(order, ", "), `id":1, second, answer 1, id":2, third, answer 2, id":3`)
		p.close()
	})
}

// TestLoadWhileATurnRuns holds that a second opening does not wait for a turn that
// hangs: what has been said is shown, then the reply comes, then the rest.
func TestLoadWhileATurnRuns(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		p := w.boot(noticed)
		id := p.open(w)
		want(t, "before", stop(t, p.send(prompt(1, id, text("first"))), 1), "end_turn")
		w.model.say = hang
		live := p.send(prompt(2, id, text("a"), text("b")), prompt(3, id, text("waits")))
		load := `{"sessionId":` + quote(id) + `,"cwd":` + quote(w.dir) + `,"mcpServers":[]}`
		got := p.send(request(4, "session/load", load))
		want(t, "prompts", updates(t, got, "user_message_chunk")[1:], updates(t, live, "user_message_chunk"))
		answers := updates(t, got, "agent_message_chunk")
		want(t, "answers", answers[len(answers)-1:], updates(t, live, "agent_message_chunk"))
		if len(answers) != 2 || !strings.HasPrefix(reply(t, got, 4), `{"configOptions"`) || !strings.Contains(got[len(got)-2], `"id":4`) {
			t.Errorf("load: %q", got)
		}
		want(t, "notice", updates(t, got, "notice"), []string{
			`{"sessionUpdate":"notice","severity":"info","title":"a turn is running in this session","description":"what it says from here on follows"}`,
		})
		got = p.send(request(5, "session/resume", load))
		if !strings.HasPrefix(reply(t, got, 5), `{"configOptions"`) || len(updates(t, got, "user_message_chunk")) != 0 {
			t.Errorf("resume: %q", got)
		}
		other := filepath.Join(w.dir, "other")
		move := `{"sessionId":` + quote(id) + `,"cwd":` + quote(other) + `,"additionalDirectories":[` + quote(w.dir) + `]}`
		want(t, "other folder", reply(t, p.send(request(6, "session/load", move)), 6),
			`error {"code":-32600,"message":"a turn is running in this session, so its folders cannot change: cancel it with session/cancel, or open the session again when it has ended"}`)
		got = p.send(notification("session/cancel", `{"sessionId":`+quote(id)+`}`))
		want(t, "running", stop(t, got, 2), "cancelled")
		want(t, "waiting", stop(t, got, 3), "cancelled")

		// Without a turn the session moves to the folder, and keeps its mode.
		p.send(request(7, "session/set_mode", `{"sessionId":`+quote(id)+`,"modeId":"plan"}`))
		got = p.send(request(8, "session/resume", move))
		if !strings.Contains(reply(t, got, 8), `"currentModeId":"plan"`) {
			t.Errorf("resume: %q", got)
		}
		w.model.say = answer("ok")
		want(t, "next", stop(t, p.send(prompt(9, id, text("b"))), 9), "end_turn")
		sent := w.model.sent()
		if s := sent[len(sent)-1].System; !strings.Contains(s, other) {
			t.Errorf("the model is told of another folder: %q", s)
		}
		p.close()
	})
}

// TestLoadWhileAsking opens a session anew while its turn waits for the user: a
// call that may still run is not shown as failed, and ends under the same id.
func TestLoadWhileAsking(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		outside(t, w)
		p := w.boot(plain)
		id := p.open(w)
		asked := p.send(prompt(1, id, text("read it")))
		got := p.send(request(2, "session/load", `{"sessionId":`+quote(id)+`,"cwd":`+quote(w.dir)+`,"mcpServers":[]}`))
		calls := updates(t, got, "tool_call")
		if len(calls) != 1 || !strings.Contains(calls[0], `"status":"in_progress"`) || toolID(calls[0]) != toolID(updates(t, asked, "tool_call")[0]) {
			t.Errorf("calls: %q, announced as %q", calls, updates(t, asked, "tool_call"))
		}
		want(t, "nothing of the step twice", updates(t, got, "agent_message_chunk"), []string(nil))
		got = p.send(answered(`{"outcome":{"outcome":"selected","optionId":"allow"}}`))
		ends := updates(t, got, "tool_call_update")
		if len(ends) == 0 || !strings.Contains(ends[len(ends)-1], `"completed"`) || toolID(ends[len(ends)-1]) != toolID(calls[0]) {
			t.Errorf("ends: %q", ends)
		}
		want(t, "stop", stop(t, got, 1), "end_turn")
		p.close()
	})
}

// TestLoadBeforeThePromptIsRecorded opens a session anew while the user is asked
// something before the prompt is taken: the prompt is shown all the same.
func TestLoadBeforeThePromptIsRecorded(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		w.work.Untrusted = &acp.Untrusted{Folder: "/p", Fingerprint: "f", Withheld: []string{"x"}, Accept: func(context.Context) error { return nil }}
		p := w.boot(plain)
		id := p.open(w)
		live := updates(t, p.send(prompt(1, id, text("a"), text("b"))), "user_message_chunk")
		load := `{"sessionId":` + quote(id) + `,"cwd":` + quote(w.dir) + `,"mcpServers":[]}`
		got := p.send(request(2, "session/load", load))
		want(t, "prompt", updates(t, got, "user_message_chunk"), live)
		want(t, "stop", stop(t, p.send(answered(`{"outcome":{"outcome":"selected","optionId":"reject"}}`)), 1), "end_turn")
		want(t, "once", updates(t, p.send(request(3, "session/load", load)), "user_message_chunk"), live)
		p.close()
	})
}

func TestStopReasons(t *testing.T) {
	for _, tt := range []struct {
		reason content.StopReason
		word   string
	}{{content.StopEndTurn, "end_turn"}, {content.StopMaxTokens, "max_tokens"}, {content.StopRefusal, "refusal"}} {
		in(t, func(w *world) {
			t := w.t
			w.model.say = events([]provider.Event{provider.TextDelta{Text: "x"}, provider.Finish{Stop: tt.reason}})
			p := w.boot(plain)
			want(t, "stop", stop(t, p.send(prompt(1, p.open(w), text("a"))), 1), tt.word)
			p.close()
		})
	}
	in(t, func(w *world) {
		t := w.t
		w.model.say = func(_ ctx, _ int, yield yield) {
			yield(nil, &provider.Error{Failure: delivery.Failure{Kind: delivery.FailAuth, Status: 401}, Message: "bad key", Hint: "check the key"})
		}
		p := w.boot(plain)
		id := p.open(w)
		got := reply(t, p.send(prompt(1, id, text("a"))), 1)
		if !strings.HasPrefix(got, `error {"code":-32603,"message":"`) || !strings.Contains(got, "bad key") || strings.Contains(got, "end_turn") {
			t.Errorf("reply: %s", got)
		}
		w.model.say = nil
		want(t, "next", stop(t, p.send(prompt(2, id, text("b"))), 2), "end_turn")
		p.close()
	})
}

// TestWithdrawn holds that text which was streamed and does not stand is said not
// to, and that what follows is another message.
func TestWithdrawn(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		w.model.say = func(_ ctx, n int, yield yield) {
			if n == 0 {
				_ = yield(provider.TextDelta{Text: "I see"}, nil) && yield(nil, &provider.Error{
					Failure: delivery.Failure{Kind: delivery.FailRefused, Status: 400, Class: delivery.ClassDecode}, Message: "bad picture",
				})
				return
			}
			answer("without")(nil, n, yield)
		}
		p := w.boot(plain)
		got := p.send(prompt(1, p.open(w), text("a"), `{"type":"image","mimeType":"image/png","data":"`+b64(agenttest.PNG(20, 10, 1))+`"}`))
		lines := updates(t, got, "agent_message_chunk")
		turn := turnOf(updates(t, got, "user_message_chunk")[0])
		if len(lines) < 3 || !strings.Contains(lines[0], `"messageId":"`+turn+`-m1","content":{"type":"text","text":"I see"}`) ||
			!strings.Contains(lines[1], `"text":"[tote] the text above is withdrawn: `) || strings.Count(strings.Join(lines, ""), "withdrawn") != 1 || !strings.Contains(lines[len(lines)-1], `"messageId":"`+turn+`-m1.2","content":{"type":"text","text":"without"}`) {
			t.Errorf("lines: %q", lines)
		}
		want(t, "stop", stop(t, got, 1), "end_turn")
		p.close()
	})
}

// TestEndOfInput holds that a client which goes away leaves a recorded turn.
func TestEndOfInput(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		w.model.say = hang
		p := w.boot(plain)
		id := p.open(w)
		p.send(prompt(1, id, text("a")), prompt(2, id, text("b")))
		before := time.Now()
		p.close()
		if d := time.Since(before); d > time.Second {
			t.Errorf("it took %v to end", d)
		}
		got := p.got()
		want(t, "running", stop(t, got, 1), "cancelled")
		turns := w.disk.Turns(id)
		if len(turns) != 1 || turns[0].Stop != content.StopCancelled {
			t.Errorf("recorded: %+v", turns)
		}
	})
}

// TestNotRecorded holds that a prompt that cannot be recorded is an error and
// leaves the session usable.
func TestNotRecorded(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		p := w.boot(plain)
		id := p.open(w)
		full := errors.New("disk full")
		w.disk.FailWhen(func(op string) error {
			if op == "BeginTurn" {
				return full
			}
			return nil
		})
		if got := reply(t, p.send(prompt(1, id, text("a"))), 1); !strings.Contains(got, "disk full") {
			t.Errorf("reply: %s", got)
		}
		w.disk.FailWhen(nil)
		want(t, "next", stop(t, p.send(prompt(2, id, text("b"))), 2), "end_turn")
		p.close()
	})
}
