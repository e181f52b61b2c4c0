package acp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"tote/internal/agent/agenttest"
)

// versions are those of the protocol.
var versions = []int{1, 2}

// both runs a test in a world of its own for each version.
func both(t *testing.T, f func(t *testing.T, w *world, v int)) {
	t.Helper()
	for _, v := range versions {
		t.Run(fmt.Sprintf("v%d", v), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.v2 = true
				f(t, w, v)
			})
		})
	}
}

// hello is an initialize of a client that takes notices.
func hello(v int) string {
	if v == 1 {
		return noticed
	}
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"test","version":"1"},"capabilities":{}}}`
}

// event is a line of the server.
type event struct {
	method, kind string
	id           int // 0 for a notification
	update       map[string]any
	raw          string
}

func eventsOf(t *testing.T, lines []string) []event {
	t.Helper()
	var out []event
	for _, line := range lines {
		var m struct {
			ID     int
			Method string
			Params struct{ Update map[string]any }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v: %.300s", err, line)
		}
		e := event{method: m.Method, id: m.ID, update: m.Params.Update, raw: line}
		e.kind, _ = m.Params.Update["sessionUpdate"].(string)
		out = append(out, e)
	}
	return out
}

// text is a string of an update.
func (e event) text(name string) string {
	s, _ := e.update[name].(string)
	return s
}

// at is the index of the first event that is so, -1 for none.
func at(list []event, is func(event) bool) int { return slices.IndexFunc(list, is) }

func isReply(id int) func(event) bool {
	return func(e event) bool { return e.method == "" && e.id == id }
}

func isKind(kinds ...string) func(event) bool {
	return func(e event) bool { return slices.Contains(kinds, e.kind) }
}

// ended is how the turn of a prompt ended in either version, "" for one that runs.
func ended(t *testing.T, v int, lines []string, id int) string {
	t.Helper()
	if v == 1 {
		return stop(t, lines, id)
	}
	if r := reply(t, lines, id); strings.HasPrefix(r, "error") {
		return r
	}
	out := ""
	for _, e := range eventsOf(t, lines) {
		if e.kind == "state_update" && e.text("state") == "idle" {
			out = e.text("stopReason")
		}
	}
	return out
}

// reopen opens a session again, with its history or without.
func (p *peer) reopen(w *world, v, n int, id string, history bool) []string {
	params := `{"sessionId":` + quote(id) + `,"cwd":` + quote(w.dir) + `,"mcpServers":[]`
	switch {
	case v == 1 && history:
		return p.send(request(n, "session/load", params+`}`))
	case history:
		params += `,"replayFrom":{"type":"start"}`
	}
	return p.send(request(n, "session/resume", params+`}`))
}

// message is a message as a client has put it together.
type message struct{ Role, ID, Text string }

// messages are those of events, in the order of their first sight.
func messages(t *testing.T, lines []string) []message {
	t.Helper()
	var out []message
	for _, e := range eventsOf(t, lines) {
		role, chunk := strings.CutSuffix(e.kind, "_chunk")
		switch role {
		case "user_message", "agent_message", "agent_thought":
		default:
			continue
		}
		id := e.text("messageId")
		i := slices.IndexFunc(out, func(m message) bool { return m.ID == id })
		if i < 0 {
			i = len(out)
			out = append(out, message{Role: role, ID: id})
		}
		blocks := []any{e.update["content"]}
		if !chunk {
			out[i].Text = ""
			blocks, _ = e.update["content"].([]any)
		}
		for _, b := range blocks {
			b, _ := b.(map[string]any)
			s, ok := b["text"].(string)
			if !ok {
				s = fmt.Sprintf("<%v>", b["type"])
			}
			out[i].Text += s
		}
	}
	return out
}

// toolCalls are the states of the calls of events by their ids, in order.
func toolCalls(t *testing.T, lines []string) (ids []string, states map[string][]string) {
	t.Helper()
	states = map[string][]string{}
	for _, e := range eventsOf(t, lines) {
		if !isKind("tool_call", "tool_call_update")(e) {
			continue
		}
		id := e.text("toolCallId")
		if states[id] == nil {
			ids = append(ids, id)
		}
		if s := e.text("status"); s != "" {
			states[id] = append(states[id], s)
		}
	}
	return ids, states
}

func cancel(id string) string {
	return notification("session/cancel", `{"sessionId":`+quote(id)+`}`)
}

// withdraw takes a request back.
func withdraw(id int) string {
	return notification("$/cancel_request", fmt.Sprintf(`{"requestId":%d}`, id))
}

// picture is a block with a picture.
func picture() string {
	return `{"type":"image","mimeType":"image/png","data":"` + b64(agenttest.PNG(20, 10, 1)) + `"}`
}
