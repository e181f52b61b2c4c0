//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// editor drives the program as an editor does: one request after the other, with an
// answer to every question.
type editor struct {
	t   *testing.T
	run *process
	out *bufio.Reader
	id  int
	// answer chooses an option of a question, by its id.
	answer func(q question) string
	// updates are those that came, questions too, in order.
	updates   []update
	questions []question
	session   string
}

// message is a line of the protocol.
type message struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// update is one of session/update, as far as tests look at it.
type update struct {
	Kind      string            `json:"sessionUpdate"`
	Call      string            `json:"toolCallId"`
	Status    string            `json:"status"`
	Title     string            `json:"title"`
	Detail    string            `json:"description"`
	Content   json.RawMessage   `json:"content"`
	Entries   []json.RawMessage `json:"entries"`
	Locations []struct{ Path string }
}

// question is a request for a permission.
type question struct {
	ToolCall update `json:"toolCall"`
	Options  []struct {
		ID   string `json:"optionId"`
		Name string `json:"name"`
		Kind string `json:"kind"`
	} `json:"options"`
}

// offers reports whether an option is among those of a question.
func (q question) offers(id string) bool {
	for _, o := range q.Options {
		if o.ID == id {
			return true
		}
	}
	return false
}

// editor starts the program and opens a session, or the one of that id again.
func (r *rig) editor(t *testing.T, session string, answer func(question) string, flags ...string) *editor {
	t.Helper()
	run := r.command(t, "tote", append([]string{"acp"}, flags...)...)
	run.cmd.Stdout = nil
	out, err := run.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	run.start()
	e := &editor{t: t, run: run, out: bufio.NewReaderSize(out, 1<<20), answer: answer}
	e.request("initialize", `{"protocolVersion":1,"clientCapabilities":{"session":{"notices":{}}}}`)
	if session != "" {
		e.session = session
		e.request("session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, r.cwd))
		return e
	}
	var opened struct{ SessionID string }
	if err := json.Unmarshal(e.request("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, r.cwd)), &opened); err != nil || opened.SessionID == "" {
		t.Fatalf("session/new: %v", err)
	}
	e.session = opened.SessionID
	return e
}

func (e *editor) send(line string) {
	e.t.Helper()
	if _, err := io.WriteString(e.run.stdin, line+"\n"); err != nil {
		e.t.Fatal(err)
	}
}

// request sends one and serves what comes until it is answered.
func (e *editor) request(method, params string) json.RawMessage {
	e.t.Helper()
	e.id++
	e.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, e.id, method, params))
	for {
		line, err := e.out.ReadBytes('\n')
		if err != nil {
			e.t.Fatalf("%s: %v: %s", method, err, e.run.stderr.String())
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			e.t.Fatalf("not a message: %q: %v", line, err)
		}
		switch {
		case m.Method != "":
			e.serve(m)
		case m.ID != nil && *m.ID == e.id && m.Error != nil:
			e.t.Fatalf("%s: %s", method, m.Error)
		case m.ID != nil && *m.ID == e.id:
			return m.Result
		}
	}
}

// serve takes what the program sends of itself.
func (e *editor) serve(m message) {
	e.t.Helper()
	switch m.Method {
	case "session/update":
		var p struct{ Update update }
		if err := json.Unmarshal(m.Params, &p); err != nil {
			e.t.Fatalf("update %s: %v", m.Params, err)
		}
		e.updates = append(e.updates, p.Update)
	case "session/request_permission":
		var q question
		if err := json.Unmarshal(m.Params, &q); err != nil {
			e.t.Fatalf("question %s: %v", m.Params, err)
		}
		if !slices.ContainsFunc(e.updates, func(u update) bool { return u.Kind == "tool_call" && u.Call == q.ToolCall.Call }) {
			e.t.Errorf("asked about %s before it was announced", q.ToolCall.Title)
		}
		e.questions = append(e.questions, q)
		id := e.answer(q)
		if !q.offers(id) {
			e.t.Errorf("%q is not offered for %s: %v", id, q.ToolCall.Title, q.Options)
		}
		e.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"outcome":{"outcome":"selected","optionId":%q}}}`, *m.ID, id))
	default:
		e.t.Errorf("the program calls %s", m.Method)
	}
}

// prompt sends a prompt of text and returns how it ended.
func (e *editor) prompt(text string) string {
	e.t.Helper()
	var got struct{ StopReason string }
	raw := e.request("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, e.session, text))
	if err := json.Unmarshal(raw, &got); err != nil {
		e.t.Fatal(err)
	}
	return got.StopReason
}

// end closes the input, on which the program ends.
func (e *editor) end() {
	e.t.Helper()
	if err := e.run.stdin.Close(); err != nil {
		e.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, e.out) // nobody asks for it
	if err := e.run.cmd.Wait(); err != nil {
		e.t.Errorf("the program ended with %v: %s", err, e.run.stderr.String())
	}
}

// text joins what the agent said.
func (e *editor) text() string {
	var sb strings.Builder
	for _, u := range e.updates {
		var c struct{ Text string }
		if u.Kind == "agent_message_chunk" && json.Unmarshal(u.Content, &c) == nil {
			sb.WriteString(c.Text)
		}
	}
	return sb.String()
}

// asked are the titles of the questions.
func (e *editor) asked() []string {
	var out []string
	for _, q := range e.questions {
		out = append(out, q.ToolCall.Title)
	}
	return out
}

// settled holds that every call that was announced came to an end, and that nothing
// comes after it. It returns the ends in order, and what the calls showed.
func (e *editor) settled() (ends []string, shown string) {
	e.t.Helper()
	state := map[string]string{}
	var order []string
	var sb strings.Builder
	for _, u := range e.updates {
		switch u.Kind {
		case "tool_call":
			if _, twice := state[u.Call]; twice {
				e.t.Errorf("%s is announced twice", u.Title)
			}
			state[u.Call] = "open"
			order = append(order, u.Call)
		case "tool_call_update":
			switch state[u.Call] {
			case "":
				e.t.Errorf("an update of the call %s, which was not announced", u.Call)
			case "completed", "failed":
				e.t.Errorf("an update of the call %s after its end", u.Call)
			}
			if u.Status == "completed" || u.Status == "failed" {
				state[u.Call] = u.Status
			}
		default:
			continue
		}
		sb.Write(u.Content)
	}
	for _, id := range order {
		ends = append(ends, state[id])
	}
	return ends, sb.String()
}
