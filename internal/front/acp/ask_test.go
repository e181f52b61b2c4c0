package acp_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/front/acp"
	"tote/internal/permission"
	"tote/internal/provider"
)

// outside makes a file that lies outside the project, and a script that reads it.
func outside(t *testing.T, w *world) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "secret.txt")
	if err := os.WriteFile(file, []byte("the secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.model.say = events(
		[]provider.Event{provider.Call{Call: content.ToolCall{ID: "1", Name: "read", Arguments: `{"path":` + quote(file) + `}`}}, provider.Finish{Stop: content.StopEndTurn}},
		[]provider.Event{provider.TextDelta{Text: "done"}, provider.Finish{Stop: content.StopEndTurn}},
	)
	return file
}

// answered is the reply to the first call of the agent.
func answered(outcome string) string { return `{"jsonrpc":"2.0","id":1,"result":` + outcome + `}` }

// TestPermission holds what counts as approval: an option that was offered.
func TestPermission(t *testing.T) {
	tests := []struct {
		name, answer string
		allowed      bool
	}{
		{"once", answered(`{"outcome":{"outcome":"selected","optionId":"allow"}}`), true},
		{"session", answered(`{"outcome":{"outcome":"selected","optionId":"allow_session"}}`), true},
		{"reject", answered(`{"outcome":{"outcome":"selected","optionId":"reject"}}`), false},
		{"always", answered(`{"outcome":{"outcome":"selected","optionId":"allow_always"}}`), true},
		{"not offered", answered(`{"outcome":{"outcome":"selected","optionId":"allow_for_ever"}}`), false},
		{"dismissed", answered(`{"outcome":{"outcome":"cancelled"}}`), false},
		{"unknown", answered(`{"outcome":{"outcome":"approved"}}`), false},
		{"null", answered(`null`), false},
		{"neither result nor error", `{"jsonrpc":"2.0","id":1}`, false},
		{"error of null", `{"jsonrpc":"2.0","id":1,"error":null}`, false},
		{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(w *world) {
				t := w.t
				file := outside(t, w)
				p := w.boot(plain)
				id := p.open(w)
				asked := p.send(prompt(1, id, text("read it")))
				call := updates(t, asked, "tool_call")
				question := asked[len(asked)-1]
				if len(call) != 1 || !strings.Contains(call[0], `"status":"pending"`) || !strings.Contains(question, `"session/request_permission"`) ||
					!strings.Contains(question, quote(file)) || !strings.Contains(question, `"toolCallId":"`+toolID(call[0])+`"`) {
					t.Fatalf("asked: %q", asked)
				}
				got := p.send(tt.answer)
				ends := strings.Join(updates(t, got, "tool_call_update"), "\n")
				if strings.Contains(ends, "the secret") != tt.allowed || strings.Contains(ends, `"failed"`) == tt.allowed {
					t.Errorf("allowed = %v, got %s", !tt.allowed, ends)
				}
				want(t, "stop", stop(t, got, 1), "end_turn")
				p.close()
			})
		})
	}
}

func toolID(update string) string {
	_, rest, _ := strings.Cut(update, `"toolCallId":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// TestCancelWhileAsking holds that a cancel does not wait for the user's answer.
func TestCancelWhileAsking(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		outside(t, w)
		p := w.boot(plain)
		id := p.open(w)
		p.send(prompt(1, id, text("read it")))
		got := p.send(notification("session/cancel", `{"sessionId":`+quote(id)+`}`))
		want(t, "stop", stop(t, got, 1), "cancelled")
		ends := updates(t, got, "tool_call_update")
		if len(ends) == 0 || !strings.Contains(ends[len(ends)-1], `"failed"`) {
			t.Errorf("the call has no end: %q", got)
		}
		// The answer comes too late and changes nothing.
		want(t, "late answer", p.send(answered(`{"outcome":{"outcome":"selected","optionId":"allow"}}`)), []string(nil))
		p.close()
	})
}

// TestAskForAFile attaches a file of the prompt for which permission is needed.
func TestAskForAFile(t *testing.T) {
	for _, allowed := range []bool{true, false} {
		in(t, func(w *world) {
			t := w.t
			file := outside(t, w)
			w.model.say = nil
			p := w.boot(plain)
			id := p.open(w)
			asked := p.send(prompt(1, id, `{"type":"resource_link","name":"secret.txt","uri":`+quote("file://"+filepath.ToSlash(file))+`}`))
			call := updates(t, asked, "tool_call")
			if len(call) == 0 {
				t.Fatalf("nobody was asked: %q", asked)
			}
			if !strings.Contains(call[0], `"kind":"read"`) || !strings.Contains(call[0], `"pending"`) {
				t.Errorf("call: %q", call)
			}
			option, end := "allow", "completed"
			if !allowed {
				option, end = "reject", "failed"
			}
			got := p.send(answered(`{"outcome":{"outcome":"selected","optionId":"` + option + `"}}`))
			want(t, "end", updates(t, got, "tool_call_update"),
				[]string{`{"sessionUpdate":"tool_call_update","toolCallId":"` + toolID(call[0]) + `","status":"` + end + `"}`})
			want(t, "stop", stop(t, got, 1), "end_turn")
			p.close()
		})
	}
}

// TestTrust holds that a project's settings are asked about once, before the first
// prompt is run, and stay without effect unless the user says yes.
func TestTrust(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		accept       error
		trusted      bool
		end          string
	}{
		{"yes", `{"outcome":{"outcome":"selected","optionId":"trust"}}`, nil, true, "completed"},
		{"no", `{"outcome":{"outcome":"selected","optionId":"reject"}}`, nil, false, "failed"},
		{"unknown", `{"outcome":{"outcome":"maybe"}}`, nil, false, "failed"},
		{"not recorded", `{"outcome":{"outcome":"selected","optionId":"trust"}}`, errors.New("read-only"), true, "failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(w *world) {
				t := w.t
				accepted := false
				w.work.Untrusted = &acp.Untrusted{
					Folder: "/p", Fingerprint: "f", Withheld: []string{"providers.x", "mcp_servers.y"},
					Accept: func(context.Context) error {
						accepted = true
						return tt.accept
					},
				}
				p := w.boot(plain)
				id := p.open(w)
				asked := p.send(prompt(1, id, text("a")))
				question := asked[len(asked)-1]
				if !strings.Contains(question, "providers.x; mcp_servers.y") || len(w.model.sent()) != 0 {
					t.Fatalf("asked: %q after %d requests", asked, len(w.model.sent()))
				}
				got := p.send(answered(tt.answer))
				want(t, "accepted", accepted, tt.trusted)
				ends := updates(t, got, "tool_call_update")
				if len(ends) != 1 || !strings.Contains(ends[0], tt.end) {
					t.Errorf("end: %q", ends)
				}
				want(t, "stop", stop(t, got, 1), "end_turn")
				want(t, "not asked again", stop(t, p.send(prompt(2, id, text("b"))), 2), "end_turn")
				p.close()
			})
		})
	}
}

// TestMode holds that the mode that the client chose decides.
func TestMode(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		outside(t, w)
		w.rules = permission.Rules{Mode: permission.ModeAsk}
		p := w.boot(plain)
		id := p.open(w)
		p.send(request(2, "session/set_config_option", `{"sessionId":`+quote(id)+`,"configId":"mode","value":"full"}`))
		got := p.send(prompt(1, id, text("read it")))
		if !strings.Contains(strings.Join(updates(t, got, "tool_call_update"), ""), "the secret") {
			t.Errorf("full mode asks: %q", got)
		}
		p.close()
	})
}
