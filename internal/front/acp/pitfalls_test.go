package acp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/front/acp"
	"tote/internal/permission"
	"tote/internal/provider"
	"tote/internal/tool"
)

// pitfall is a way in which agents and editors have misunderstood each other.
type pitfall struct {
	name string
	// versions are those in which it can happen.
	versions []int
	test     func(t *testing.T, w *world, v int)
}

// TestPitfalls walks into every pitfall that is known of the protocol, against the
// whole server.
func TestPitfalls(t *testing.T) {
	list := []pitfall{
		{"01-echo", versions, pitEcho},
		{"02-updates-before-the-session-is-known", versions, pitBeforeOpened},
		{"03-history-after-the-reply", versions, pitHistory},
		{"04-other-ids-in-the-replay", versions, pitReplayIDs},
		{"05-wrong-stop-reason", versions, pitStopReason},
		{"06-cancel-wedges-the-session", versions, pitWedge},
		{"07-updates-after-the-end", versions, pitAfterEnd},
		{"08-calls-never-announced", versions, pitAnnounced},
		{"09-modes-without-an-option", versions, pitModes},
		{"10-current-value-not-offered", versions, pitCurrentValue},
		{"11-advertised-and-not-honoured", versions, pitAdvertised},
		{"12-calls-nobody-agreed-to", versions, pitAgreed},
		{"13-relative-paths", versions, pitPaths},
		{"14-lists-restored-on-load", versions, pitLists},
		{"15-terminals-of-nobody", versions, pitTerminals},
		{"16-more-than-protocol-on-stdout", versions, pitStdout},
		{"17-kinds-of-our-own", versions, pitKinds},
		{"18-null-for-empty", versions, pitNull},
		{"19-empty-reply-to-a-prompt", []int{2}, pitInserted},
		{"20-unknown-answers-approve", versions, pitApproval},
		{"21-lossy-pictures", versions, pitLossy},
	}
	for _, p := range list {
		t.Run(p.name, func(t *testing.T) {
			for _, v := range p.versions {
				t.Run(fmt.Sprintf("v%d", v), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						w := newWorld(t)
						w.v2 = true
						p.test(t, w, v)
					})
				})
			}
		})
	}
}

// pitEcho: a client that draws the message itself must not be sent it again, and in
// version 2 every client has to be, once.
func pitEcho(t *testing.T, w *world, v int) {
	for name, drawn := range map[string]bool{"Zed": true, "other": false} {
		p := w.boot(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%d,`+
			`"clientInfo":{"name":%q,"version":"1"},"info":{"name":%q,"version":"1"}}}`, v, name, name))
		got := p.send(prompt(1, p.open(w), text("hello")))
		list := messages(t, got)
		n := slices.IndexFunc(list, func(m message) bool { return m.Role == "user_message" })
		if (n == 0) != (v == 2 || !drawn) || n > 0 {
			t.Errorf("%s: %+v", name, list)
		}
		if n == 0 && (list[0].ID == "" || list[0].Text != "hello") {
			t.Errorf("%s: %+v", name, list[0])
		}
		if v == 2 && !strings.Contains(reply(t, got, 1), quote(list[0].ID)) {
			t.Errorf("the reply names another message: %s", reply(t, got, 1))
		}
		p.close()
	}
}

// pitBeforeOpened: clients drop updates of sessions that they do not know yet.
func pitBeforeOpened(t *testing.T, w *world, v int) {
	w.work.Notices = warnings("look out")
	w.work.World = worldOf
	p := w.boot(hello(v))
	got := p.send(request(1, "session/new", `{"cwd":`+quote(w.dir)+`,"mcpServers":[]}`))
	list := eventsOf(t, got)
	if len(list) < 2 || list[0].id != 1 {
		t.Errorf("before the reply: %q", got)
	}
	want(t, "notices", len(updates(t, got, "notice")), 1)
	p.close()
}

// pitHistory: a load shows all before its reply, a resume nothing.
func pitHistory(t *testing.T, w *world, v int) {
	p := w.boot(hello(v))
	id := p.open(w)
	live := messages(t, p.send(prompt(1, id, text("one"))))
	p.close()
	p = w.boot(hello(v))
	for n, history := range []bool{true, false, true} {
		got := p.reopen(w, v, n+2, id, history)
		list := eventsOf(t, got)
		end := at(list, isReply(n+2))
		if end < 0 {
			t.Fatalf("no reply: %q", got)
		}
		shown := messages(t, got[:end])
		if history {
			want(t, "history", shown, live)
		} else {
			want(t, "resume", shown, []message(nil))
		}
		want(t, "after the reply", messages(t, got[end+1:]), []message(nil))
	}
	p.close()
}

// pitReplayIDs: another id is another message, and turns without an answer do not
// melt into the next.
func pitReplayIDs(t *testing.T, w *world, v int) {
	w.work.Notices = warnings("look out")
	p := w.boot(hello(v))
	id := p.open(w)
	w.model.say = func(_ ctx, n int, yield yield) {
		if n > 0 {
			yield(provider.TextDelta{Text: fmt.Sprintf("answer %d", n)}, nil)
		}
		yield(provider.Finish{Stop: content.StopEndTurn}, nil)
	}
	var live []message
	for n := range 3 {
		live = append(live, messages(t, p.send(prompt(n+1, id, text("same"), text("words"))))...)
	}
	want(t, "distinct ids", len(live), 5)
	p.close()
	p = w.boot(hello(v))
	for n := range 2 {
		got := p.reopen(w, v, n+9, id, true)
		want(t, "replay", messages(t, got), live)
		if end := at(eventsOf(t, got), isReply(n+9)); len(updates(t, got[:end], "notice")) != 0 {
			t.Errorf("notices are replayed: %q", got)
		}
	}
	p.close()
}

// pitStopReason: what ended a turn is what the client is told.
func pitStopReason(t *testing.T, w *world, v int) {
	p := w.boot(hello(v))
	id := p.open(w)
	words := []string{"end_turn", "max_tokens", "refusal"}
	for n, stop := range []content.StopReason{content.StopEndTurn, content.StopMaxTokens, content.StopRefusal} {
		w.model.say = events([]provider.Event{provider.TextDelta{Text: "x"}, provider.Finish{Stop: stop}})
		want(t, words[n], ended(t, v, p.send(prompt(n+1, id, text("a"))), n+1), words[n])
	}
	w.model.say = hang
	p.send(prompt(8, id, text("a")))
	got := p.send(cancel(id))
	want(t, "cancelled", ended(t, v, append(got, `{"jsonrpc":"2.0","id":8,"result":{}}`), 8), "cancelled")
	p.close()
}

// pitWedge: a session works on after a cancel, also one that comes after a load, and
// takes a prompt before the cancelled one has settled.
func pitWedge(t *testing.T, w *world, v int) {
	p := w.boot(hello(v))
	id := p.open(w)
	w.model.say = func(ctx ctx, n int, yield yield) {
		if n%2 == 0 {
			hang(ctx, n, yield)
			return
		}
		answer("ok")(ctx, n, yield)
	}
	for i := range 5 {
		p.send(prompt(10*i+1, id, text("a")))
		if i == 2 {
			p.reopen(w, v, 10*i+2, id, true)
		}
		got := p.send(cancel(id), prompt(10*i+3, id, text("b")))
		want(t, "the next", ended(t, v, got, 10*i+3), "end_turn")
		if stops := strings.Count(strings.Join(got, ""), `"stopReason":"cancelled"`); stops != 1 {
			t.Errorf("%d turns were cancelled: %q", stops, got)
		}
	}
	p.close()
}

// pitAfterEnd: nothing of a turn comes after its end.
func pitAfterEnd(t *testing.T, w *world, v int) {
	file := outside(t, w)
	w.rules = permission.Rules{Mode: permission.ModeFull}
	p := w.boot(hello(v))
	id := p.open(w)
	isEnd := func(e event) bool { return e.id == 1 && v == 1 || e.text("state") == "idle" }
	check := func(what string, got []string) {
		t.Helper()
		list := eventsOf(t, got)
		if n := at(list, isEnd); n != len(list)-1 {
			t.Errorf("%s: the end is message %d of %d: %q", what, n+1, len(list), got[n+1:])
		}
	}
	check("whole", p.send(prompt(1, id, text("read "+file))))
	w.choices = append(w.choices, acp.Choice{Name: "new"})
	check("options that change", p.send(prompt(1, id, text("a"))))
	w.model.say = hang
	p.send(prompt(1, id, text("a")))
	check("cancelled", p.send(cancel(id)))
	want(t, "then", p.got(), []string(nil))
	p.close()
}

// pitAnnounced: a question is about a call that the client knows, and every call ends.
func pitAnnounced(t *testing.T, w *world, v int) {
	for _, ending := range []string{"allow", "reject", "cancel"} {
		outside(t, w)
		base := len(w.model.sent())
		say := w.model.say
		w.model.say = func(ctx ctx, n int, yield yield) { say(ctx, n-base, yield) }
		p := w.boot(hello(v))
		id := p.open(w)
		got := p.send(prompt(5, id, text("read it")))
		list := eventsOf(t, got)
		asked := at(list, func(e event) bool { return e.method == "session/request_permission" })
		if asked < 0 {
			t.Fatalf("nobody was asked: %q", got)
		}
		ids, states := toolCalls(t, got[:asked])
		if len(ids) != 1 || !slices.Equal(states[ids[0]], []string{"pending"}) || !strings.Contains(got[asked], quote(ids[0])) {
			t.Errorf("before the question: %v; the question: %s", states, got[asked])
		}
		if ending == "cancel" {
			got = p.send(cancel(id))
		} else {
			got = p.send(answered(`{"outcome":{"outcome":"selected","optionId":"` + ending + `"}}`))
		}
		_, states = toolCalls(t, got)
		last := map[string]string{"allow": "completed", "reject": "failed", "cancel": map[int]string{1: "failed", 2: "cancelled"}[v]}[ending]
		if s := states[ids[0]]; len(s) == 0 || s[len(s)-1] != last {
			t.Errorf("%s: states %v, want %s last", ending, s, last)
		}
		p.close()
	}
}

// optionsIn are the options in a raw result or update, by id.
func optionsIn(t *testing.T, raw string) map[string]option {
	t.Helper()
	var r struct{ ConfigOptions []option }
	if err := json.Unmarshal([]byte(raw), &r); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	out := map[string]option{}
	for _, o := range r.ConfigOptions {
		out[o.ID+o.ConfigID] = o
	}
	return out
}

type option struct {
	ID, ConfigID, Category, CurrentValue string
	Options                              []struct{ Value string }
}

func (o option) offered() bool {
	return slices.ContainsFunc(o.Options, func(c struct{ Value string }) bool { return c.Value == o.CurrentValue })
}

func setOption(n int, v int, id, option, value string) string {
	kind := map[int]string{1: "", 2: `"type":"id",`}[v]
	return request(n, "session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":%q,%s"value":%q}`, id, option, kind, value))
}

// pitModes: clients that see options look at nothing else, and take what a change
// returns for all that there is.
func pitModes(t *testing.T, w *world, v int) {
	p := w.boot(hello(v))
	got := p.send(request(1, "session/new", `{"cwd":`+quote(w.dir)+`,"mcpServers":[]}`))
	list := optionsIn(t, reply(t, got, 1))
	if list["mode"].Category != "mode" || list["agent"].Category != "model" {
		t.Errorf("options: %+v", list)
	}
	for n, set := range [][2]string{{"mode", "plan"}, {"agent", "blind"}} {
		now := optionsIn(t, reply(t, p.send(setOption(n+2, v, "id1", set[0], set[1])), n+2))
		if len(now) != len(list) || now[set[0]].CurrentValue != set[1] {
			t.Errorf("%v: %+v", set, now)
		}
	}
	w.choices = slices.Clone(w.choices)
	w.choices[0].Title = "Renamed"
	changed := updates(t, p.send(prompt(5, "id1", text("a"))), "config_option_update")
	if len(changed) != 1 || len(optionsIn(t, changed[0])) != len(list) {
		t.Errorf("a reload: %q", changed)
	}
	p.close()
}

// pitCurrentValue: the value that stands is always one that can be chosen, also when a
// reload takes it away.
func pitCurrentValue(t *testing.T, w *world, v int) {
	p := w.boot(hello(v))
	id := p.open(w)
	p.send(setOption(1, v, id, "agent", "blind"))
	w.choices = w.choices[:1]
	for _, o := range optionsIn(t, reply(t, p.send(setOption(2, v, id, "mode", "plan")), 2)) {
		if !o.offered() {
			t.Errorf("%+v", o)
		}
	}
	for n, bad := range []string{setOption(3, v, id, "agent", "nobody"), setOption(4, v, id, "nothing", "x")} {
		if r := reply(t, p.send(bad), n+3); !strings.HasPrefix(r, `error {"code":-32602`) {
			t.Errorf("%s: %s", bad, r)
		}
	}
	st, err := w.disk.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	st.Agent = "gone"
	if err := w.disk.UpdateSession(t.Context(), st); err != nil {
		t.Fatal(err)
	}
	p.close()
	p = w.boot(hello(v))
	got := p.reopen(w, v, 5, id, false)
	now := optionsIn(t, reply(t, got, 5))["agent"]
	if now.CurrentValue != "main" || !now.offered() || len(updates(t, got, "notice")) != 1 {
		t.Errorf("an agent that is gone: %+v", now)
	}
	p.close()
}

// pitAdvertised: what is promised is kept.
func pitAdvertised(t *testing.T, w *world, v int) {
	p := w.boot(hello(v))
	welcome := reply(t, p.send(hello(v)), 0)
	for _, word := range map[int][]string{
		1: {`"loadSession":true`, `"list":{}`, `"delete":{}`, `"resume":{}`, `"close":{}`, `"additionalDirectories":{}`, `"image":true`, `"audio":true`, `"embeddedContext":true`, `"authMethods":[]`},
		2: {`"delete":{}`, `"additionalDirectories":{}`, `"image":{}`, `"audio":{}`, `"embeddedContext":{}`, `"stdio":{}`, `"http":{}`},
	}[v] {
		if !strings.Contains(welcome, word) {
			t.Errorf("no %s in %s", word, welcome)
		}
	}
	id := p.open(w)
	got := p.send(prompt(1, id, text("a"), picture(), `{"type":"audio","mimeType":"audio/wav","data":"UklGRg=="}`,
		`{"type":"resource","resource":{"uri":"file:///a.txt","text":"b"}}`, `{"type":"resource_link","name":"c","uri":"file:///nowhere"}`))
	want(t, "every kind of block", ended(t, v, got, 1), "end_turn")
	for n, r := range []string{
		request(2, "session/list", `{}`), request(3, "session/close", `{"sessionId":`+quote(id)+`}`), request(4, "session/delete", `{"sessionId":`+quote(id)+`}`),
	} {
		if got := reply(t, p.send(r), n+2); got == "" || strings.HasPrefix(got, "error") {
			t.Errorf("%s: %s", r, got)
		}
	}
	for n, history := range []bool{true, false} {
		if got := reply(t, p.reopen(w, v, n+5, id, history), n+5); got == "" || strings.HasPrefix(got, "error") {
			t.Errorf("opened again: %s", got)
		}
	}
	p.close()
}

// pitAgreed: nothing is called of a client but what it always has.
func pitAgreed(t *testing.T, w *world, v int) {
	file := outside(t, w)
	if err := os.WriteFile(filepath.Join(w.dir, "a.txt"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, capabilities := range []string{`{}`, `{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"elicitation":{}}`} {
		p := w.boot(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%d,"info":{"name":"x","version":"1"},`+
			`"clientCapabilities":%s,"capabilities":%s}}`, v, capabilities, capabilities))
		got := p.send(prompt(9, p.open(w), text("read "+file+" and @a.txt"), `{"type":"resource_link","name":"a.txt","uri":`+quote("file://"+filepath.Join(w.dir, "a.txt"))+`}`))
		for _, e := range eventsOf(t, got) {
			if e.method != "" && e.method != "session/update" && e.method != "session/request_permission" {
				t.Errorf("it calls %s", e.method)
			}
			if v == 1 && e.kind == "notice" {
				t.Errorf("a notice that nobody asked for: %s", e.raw)
			}
		}
		p.close()
	}
}

// pitPaths: paths are absolute on either side, and lines count from 1.
func pitPaths(t *testing.T, w *world, v int) {
	if err := os.WriteFile(filepath.Join(w.dir, "a.txt"), []byte("a\nb\nc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := w.boot(hello(v))
	for n, r := range []string{
		request(1, "session/new", `{"cwd":"x","mcpServers":[]}`), request(2, "session/new", `{"cwd":`+quote(w.dir)+`,"mcpServers":[],"additionalDirectories":["x"]}`),
		request(3, "session/list", `{"cwd":"x"}`), request(4, "session/resume", `{"sessionId":"id1","cwd":"."}`),
	} {
		if got := reply(t, p.send(r), n+1); !strings.HasPrefix(got, `error {"code":-32602`) {
			t.Errorf("%s: %s", r, got)
		}
	}
	id := p.open(w)
	w.model.say = events(
		[]provider.Event{
			provider.Call{Call: content.ToolCall{ID: "1", Name: "read", Arguments: `{"path":"a.txt","offset":2}`}},
			provider.Call{Call: content.ToolCall{ID: "2", Name: "read", Arguments: `{"path":"a.txt","offset":0}`}},
			provider.Finish{Stop: content.StopEndTurn},
		},
		[]provider.Event{provider.TextDelta{Text: "done"}, provider.Finish{Stop: content.StopEndTurn}},
	)
	for what, got := range map[string][]string{"live": p.send(prompt(5, id, text("a"))), "replay": p.reopen(w, v, 6, id, true)} {
		all := strings.Join(got, "\n")
		if !strings.Contains(all, `"locations":[{"path":`+quote(filepath.Join(w.dir, "a.txt"))+`,"line":2}]`) || strings.Contains(all, `"line":0`) {
			t.Errorf("%s: %s", what, all)
		}
	}
	p.close()
}

// pitLists: each request carries the whole of its lists.
func pitLists(t *testing.T, w *world, v int) {
	given := map[string]int{}
	w.work.Give = func(id string, servers []acp.GivenServer) { given[id] = len(servers) }
	p := w.boot(hello(v))
	p.send(request(1, "session/new", `{"cwd":`+quote(w.dir)+`,"additionalDirectories":["/other"],"mcpServers":[{"type":"http","name":"a","url":"http://x","headers":[]}]}`))
	p.send(prompt(2, "id1", text("a")))
	want(t, "given", given, map[string]int{"id1": 1})
	p.reopen(w, v, 3, "id1", true)
	p.send(prompt(4, "id1", text("b"))) // the record follows with the next turn
	st, err := w.disk.Session(t.Context(), "id1")
	if err != nil {
		t.Fatal(err)
	}
	want(t, "given", given, map[string]int{"id1": 0})
	want(t, "folders", st.Dirs, []string{})
	p.close()
}

// pitTerminals: a terminal is shown only where the client knows it, and in version 1,
// where terminals are the client's, never.
func pitTerminals(t *testing.T, w *world, v int) {
	w.tools, w.rules = append(w.tools, tool.Tool(shell{live: true})), permission.Rules{Mode: permission.ModeFull}
	w.model.say = events(
		[]provider.Event{provider.Call{Call: content.ToolCall{ID: "1", Name: "bash", Arguments: `{"command":"make"}`}}, provider.Finish{Stop: content.StopEndTurn}},
		[]provider.Event{provider.TextDelta{Text: "done"}, provider.Finish{Stop: content.StopEndTurn}},
	)
	p := w.boot(hello(v))
	id := p.open(w)
	for what, got := range map[string][]string{"live": p.send(prompt(1, id, text("a"))), "replay": p.reopen(w, v, 2, id, true)} {
		all := strings.Join(got, "\n")
		if strings.Contains(all, "terminal") != (v == 2) || !strings.Contains(all, `"status":"completed"`) {
			t.Errorf("%s: %s", what, all)
		}
		if v == 1 {
			continue
		}
		if shown := terminal(t, got); !strings.HasPrefix(shown, "make in "+w.dir) || !strings.HasSuffix(shown, "exit 3") {
			t.Errorf("%s: %s", what, shown)
		}
	}
	p.close()
}

// worldOf is a world of commands without anything in it.
func worldOf(s *agent.Session) *slashWorld { return &slashWorld{Session: s} }
