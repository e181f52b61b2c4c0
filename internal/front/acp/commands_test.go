package acp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/front/slash"
	"tote/internal/tool"
)

// customs are commands of a project.
type customs struct{ list []slash.Info }

func (c *customs) Commands(context.Context) []slash.Info { return c.list }

func (c *customs) Expand(_ context.Context, name, args string) ([]content.Source, bool, error) {
	return []content.Source{tool.Prose("expanded " + name + " " + args)}, name == "review", nil
}

// TestCommands holds that the commands are announced when a session opens and when
// they change, and how a prompt that is one is answered.
func TestCommands(t *testing.T) {
	both(t, func(t *testing.T, w *world, v int) {
		own := &customs{list: []slash.Info{{Name: "review", Hint: "FILE", Description: "look at a file"}}}
		w.work.World = func(s *agent.Session) *slash.World {
			return &slash.World{Session: s, Custom: own, Cost: func(context.Context) (float64, bool, error) { return 0.25, true, nil }}
		}
		p := w.boot(hello(v))
		opened := p.send(request(1, "session/new", `{"cwd":`+quote(w.dir)+`,"mcpServers":[]}`))
		one := map[int]string{
			1: `{"name":"review","description":"look at a file","input":{"hint":"FILE"}}`,
			2: `{"type":"command","name":"review","description":"look at a file","input":{"type":"text","hint":"FILE"}}`,
		}[v]
		where := map[int]string{1: strings.Join(updates(t, opened, "available_commands_update"), ""), 2: reply(t, opened, 1)}[v]
		if !strings.Contains(where, one) || !strings.Contains(where, `"name":"help","description":"list the commands"}`) {
			t.Errorf("opened: %q", opened)
		}
		id := "id1"
		got := p.send(prompt(2, id, text("/agents")))
		want(t, "stop", ended(t, v, got, 2), "end_turn")
		if m := messages(t, got); len(m) != 2 || m[0].Text != "/agents" || m[1].Role != "agent_message" {
			t.Errorf("command: %+v", m)
		}
		want(t, "no model was asked", len(w.model.sent()), 0)
		got = p.send(prompt(3, id, text("/mode plan")))
		want(t, "mode", len(updates(t, got, "current_mode_update")), map[int]int{1: 1, 2: 0}[v])
		want(t, "option", len(updates(t, got, "config_option_update")), 1)
		own.list = append(own.list, slash.Info{Name: "more"})
		got = p.send(prompt(4, id, text("/review x")))
		want(t, "stop", ended(t, v, got, 4), "end_turn")
		want(t, "asked once", len(w.model.sent()), 1)
		if c := updates(t, got, "available_commands_update"); len(c) != 1 || !strings.Contains(c[0], `"more"`) {
			t.Errorf("changed: %q", c)
		}
		want(t, "the same again", updates(t, p.send(prompt(5, id, text("x"))), "available_commands_update"), []string(nil))
		again := p.reopen(w, v, 6, id, true)
		want(t, "announced again", len(updates(t, again, "available_commands_update")), map[int]int{1: 1, 2: 0}[v])
		p.close()
	})
}

// TestFork holds that session/fork is there only where it is switched on, and makes a
// session of its own.
func TestFork(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		w.fork = true
		p := w.boot(plain)
		id := p.open(w)
		p.send(prompt(1, id, text("a")))
		got := p.send(request(2, "session/fork", `{"sessionId":`+quote(id)+`,"cwd":`+quote(w.dir)+`,"mcpServers":[]}`))
		var r struct{ SessionID string }
		if err := json.Unmarshal([]byte(reply(t, got, 2)), &r); err != nil || r.SessionID == "" || r.SessionID == id {
			t.Fatalf("fork: %q", got)
		}
		want(t, "it works on", stop(t, p.send(prompt(3, r.SessionID, text("b"))), 3), "end_turn")
		var texts []string
		for _, m := range messages(t, p.reopen(w, 1, 4, r.SessionID, true)) {
			texts = append(texts, m.Text)
		}
		want(t, "the copy", texts, []string{"a", "ok", "b", "ok"})
		want(t, "the original", len(messages(t, p.reopen(w, 1, 5, id, true))), 2)
		want(t, "of nothing", reply(t, p.send(request(6, "session/fork", `{"sessionId":"zz","cwd":`+quote(w.dir)+`}`)), 6),
			`error {"code":-32002,"message":"session not found","data":{"sessionId":"zz"}}`)
		p.close()
	})
}

// TestUsage holds that the context and what the session has cost are told with every
// request, after a command, after another model, and when a session is opened again.
func TestUsage(t *testing.T) {
	both(t, func(t *testing.T, w *world, v int) {
		profile := agenttest.Sees("e1")
		profile.Context = 1000
		w.setProfile(profile)
		dollars := 0.25
		w.work.World = func(s *agent.Session) *slash.World {
			return &slash.World{Session: s, Cost: func(context.Context) (float64, bool, error) { return dollars, true, nil }}
		}
		told := func(what string, lines []string, n int) {
			t.Helper()
			list := updates(t, lines, "usage_update")
			if len(list) != n {
				t.Errorf("%s: %d updates, want %d: %q", what, len(list), n, list)
			}
			for _, u := range list {
				if !strings.Contains(u, `"size":1000,"cost":{"amount":0.25,"currency":"USD"}}`) {
					t.Errorf("%s: %s", what, u)
				}
			}
		}
		p := w.boot(hello(v))
		id := p.open(w)
		told("turn", p.send(prompt(1, id, text("a"))), 1)
		told("command", p.send(prompt(2, id, text("/images"))), 1)
		told("mode", p.send(setOption(3, v, id, "mode", "plan")), 0)
		told("model", p.send(setOption(4, v, id, "agent", "main")), 1)
		told("resume", p.reopen(w, v, 5, id, false), 1)
		told("load", p.reopen(w, v, 6, id, true), 1)
		w.model.say = hang
		p.send(prompt(7, id, text("b")))
		told("busy", p.reopen(w, v, 8, id, true), 0)
		told("busy, another model", p.send(setOption(9, v, id, "agent", "blind")), 0)
		p.send(cancel(id))
		p.close()
	})
}
