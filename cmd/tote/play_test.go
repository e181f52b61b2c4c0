package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/imaging/imagingtest"
	p "tote/internal/provider/providertest"
)

// args are the arguments of a scripted call.
type args map[string]any

// call is a tool call as a model makes it.
func call(id, name string, a args) content.ToolCall {
	data, err := json.Marshal(a)
	if err != nil {
		panic("a scripted call cannot be spelled: " + err.Error())
	}
	return content.ToolCall{ID: id, Name: name, Arguments: string(data)}
}

// asks is an answer with one call.
func asks(id, name string, a args) p.Reply { return p.Calls(call(id, name, a)) }

// meanwhile does something between a request and its answer.
func meanwhile(do func(), then p.Reply) p.Reply {
	return func(w http.ResponseWriter, r *http.Request, body []byte) {
		do()
		then(w, r, body)
	}
}

func parse(t *testing.T, body []byte) p.Chat {
	t.Helper()
	chat, err := p.ParseChat(body)
	if err != nil {
		t.Fatal(err)
	}
	return chat
}

// told is what a model was told of a call.
func told(t *testing.T, body []byte, id string) string {
	t.Helper()
	for _, m := range parse(t, body).Messages {
		if m.Role == "tool" && m.ToolCallID == id {
			return m.Text()
		}
	}
	t.Fatalf("the request holds no result of %s", id)
	return ""
}

// tells holds that a model was told something of a call.
func tells(t *testing.T, body []byte, id string, want ...string) {
	t.Helper()
	got := told(t, body, id)
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("the result of %s lacks %q:\n%s", id, w, got)
		}
	}
}

// system is the system prompt of a request.
func system(t *testing.T, body []byte) string {
	t.Helper()
	s := ""
	for _, m := range parse(t, body).Messages {
		if m.Role == "system" {
			s += m.Text() + "\n"
		}
	}
	return s
}

// noPayload holds that the bytes stand in no text of a request.
func noPayload(t *testing.T, body, payload []byte) {
	t.Helper()
	spelt := base64.StdEncoding.EncodeToString(payload)
	if text := system(t, body) + everyText(t, body); strings.Contains(text, spelt[:60]) {
		t.Error("a payload stands in the text of a request")
	}
}

// command holds what a /command printed.
func (o output) command() string {
	o.t.Helper()
	l := o.lines("command")
	if len(l) != 1 {
		o.t.Fatalf("%d command lines in\n%s\n%s", len(l), o.stdout, o.stderr)
	}
	return l[0].str("text")
}

// says holds that a text has what is wanted.
func says(t *testing.T, what, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("%s lacks %q:\n%s", what, w, got)
		}
	}
}

// settings configures one agent that sees, with further members.
func (r *rig) settings(url, members string) {
	r.configure(fmt.Sprintf(`{"providers": {"p": {"kind": "openai-chat", "base_url": %q}}, "default_agent": "main",
		"agents": {"main": {"provider": "p", "model": "m", "vision": true}}%s}`, url, members))
}

// screenshotOf is a small picture.
func screenshotOf(t *testing.T) []byte {
	t.Helper()
	return imagingtest.PNG(imagingtest.Corners(60, 40))
}
