package acp_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"tote/internal/front/acp"
)

// TestConnCall lets a handler ask the client something.
func TestConnCall(t *testing.T) {
	ask := func(p **peer) acp.Handler {
		return func(ctx context.Context, r *acp.Request) (any, error) {
			r.Release()
			option, err := (*p).conn.RequestPermission(ctx, acp.PermissionParams{
				SessionID: r.SessionID, ToolCall: acp.ToolCall{ToolCallID: "t1"},
				Options: []acp.PermissionOption{{OptionID: "yes", Name: "Yes", Kind: acp.AllowOnce}},
			})
			if err != nil {
				return nil, acp.Errorf(1, "%v", err)
			}
			return option, nil
		}
	}
	question := `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s1",` +
		`"toolCall":{"toolCallId":"t1"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]}}`
	tests := []struct{ name, answer, want string }{
		{"allowed", result("1", `{"outcome":{"outcome":"selected","optionId":"yes"}}`), result("7", `{"optionId":"yes","name":"Yes","kind":"allow_once"}`)},
		{"another option", result("1", `{"outcome":{"outcome":"selected","optionId":"no"}}`), failure("7", 1, "ask for permission: the client chose an option that was not offered")},
		{"dismissed", result("1", `{"outcome":{"outcome":"cancelled"}}`), failure("7", 1, "ask for permission: the client dismissed the permission request")},
		{"unknown outcome", result("1", `{"outcome":{"outcome":"approved"}}`), failure("7", 1, "ask for permission: the client's answer cannot be read")},
		{"null", result("1", `null`), failure("7", 1, "ask for permission: the client's answer cannot be read")},
		{"refused", failure("1", -5, "no"), failure("7", 1, `ask for permission: call session/request_permission: the client answered "no" (-5)`)},
		{"broken", `{"id":1,"result":{`, failure("7", 1, `ask for permission: call session/request_permission: the client answered "the client's reply cannot be read" (-32603)`)},
		{"too long", result("1", `"`+strings.Repeat("x", 1000)+`"`), failure("7", 1, `ask for permission: call session/request_permission: the client answered "message too long: 1036 bytes, the limit is 500" (-32600)`)},
		{"cancelled", notification("$/cancel_request", `{"requestId":7}`), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var p *peer
				h := newSessions().handlers()
				h.Requests["ask"] = ask(&p)
				p = start(t, h, acp.Options{MaxLine: 500})
				p.send(initialize)
				want(t, p.send(request(7, "ask", `{"sessionId":"s1"}`)), question)
				if tt.want == "" {
					want(t, p.send(tt.answer), `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`,
						failure("7", 1, "ask for permission: call session/request_permission: request cancelled by the client"))
				} else {
					want(t, p.send(tt.answer), tt.want)
				}
				if err := p.close(); err != nil {
					t.Errorf("Serve: %v", err)
				}
			})
		})
	}
}

// TestConnCallAtEndOfInput holds that no handler waits for a client that is gone.
func TestConnCallAtEndOfInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p *peer
		var asked error
		h := newSessions().handlers()
		h.Requests["ask"] = func(ctx context.Context, _ *acp.Request) (any, error) {
			_, asked = p.conn.Call(ctx, "fs/read_text_file", nil)
			return nil, asked
		}
		p = start(t, h, acp.Options{})
		p.send(initialize, request(7, "ask", `{}`))
		if err := p.close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		if !errors.Is(asked, acp.ErrClosed) {
			t.Errorf("Call: %v", asked)
		}
		want(t, p.got(), failure("7", acp.CodeCancelled, "request cancelled"))
	})
}

func TestConnFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p *peer
		h := newSessions().handlers()
		h.Requests["copy"] = func(ctx context.Context, _ *acp.Request) (any, error) {
			text, err := p.conn.ReadTextFile(ctx, "s1", "/a")
			if err != nil {
				return nil, err
			}
			return nil, p.conn.WriteTextFile(ctx, "s1", "/b", text)
		}
		p = start(t, h, acp.Options{})
		want(t, p.send(initialize, request(7, "copy", `{}`))[1:],
			`{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"path":"/a","sessionId":"s1"}}`)
		want(t, p.send(result("1", `{"content":"<a>\n"}`)),
			`{"jsonrpc":"2.0","id":2,"method":"fs/write_text_file","params":{"content":"<a>\n","path":"/b","sessionId":"s1"}}`)
		want(t, p.send(result("2", `null`)), result("7", `{}`))
		p.send(request(8, "copy", `{}`))
		want(t, p.send(result("3", `{}`)), failure("8", acp.CodeInternal, `read "/a" through the client: its answer has no content`))
		if err := p.close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestRequestReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p *peer
		h := newSessions().handlers()
		h.Requests["early"] = func(ctx context.Context, r *acp.Request) (any, error) {
			if err := r.Reply(ctx, map[string]int{"n": 1}); err != nil {
				return nil, err
			}
			if err := r.Reply(ctx, nil); err == nil {
				t.Error("a second reply was taken")
			}
			return "ignored", p.conn.Notify(ctx, "after", acp.Parts{[]byte(`{`), []byte(`}`)})
		}
		huge := acp.Parts{[]byte(`"`), bytes.Repeat([]byte("x"), acp.MaxOut), []byte(`"`)}
		h.Requests["huge"] = func(ctx context.Context, r *acp.Request) (any, error) {
			var long *acp.TooLongError
			if err := p.conn.Notify(ctx, "x", huge); !errors.As(err, &long) || long.Limit != acp.MaxOut || long.Size <= long.Limit {
				t.Errorf("Notify: %v", err)
			}
			if err := r.Reply(ctx, huge); !errors.As(err, &long) {
				t.Errorf("Reply: %v", err)
			}
			return huge, nil
		}
		h.Requests["lines"] = func(context.Context, *acp.Request) (any, error) { return acp.Parts{[]byte("{\n}")}, nil }
		p = start(t, h, acp.Options{})
		p.send(initialize)
		want(t, p.send(request(1, "early", `{}`)), result("1", `{"n":1}`), `{"jsonrpc":"2.0","method":"after","params":{}}`)
		got := p.send(request(2, "huge", `{}`))
		if len(got) != 1 || !strings.Contains(got[0], `"code":-32603,"message":"the reply is too long to send","data":{"limitBytes":31457280,`) {
			t.Errorf("got %.300q", got)
		}
		want(t, p.send(request(3, "lines", `{}`)), failure("3", acp.CodeInternal, "send message: it contains a line break"))
		if err := p.close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

// TestConnBackpressure fills the queue of a client that does not read. Senders
// wait, a flush waits for all of it, and nothing is lost or out of order.
func TestConnBackpressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := serve(t, newSessions(), acp.Options{})
		hold := make(chan struct{})
		p.out.mu.Lock()
		p.out.hold = hold
		p.out.mu.Unlock()
		big := acp.Parts{[]byte(`"`), bytes.Repeat([]byte("x"), acp.MaxOut-100), []byte(`"`)}
		sent, flushed := 0, false
		done := make(chan struct{})
		// Ends when everything is sent, after the hold is released.
		go func() {
			defer close(done)
			for range 5 {
				if err := p.conn.Notify(t.Context(), "big", big); err != nil {
					t.Errorf("Notify: %v", err)
				}
				sent++
			}
			if err := p.conn.Flush(t.Context()); err != nil {
				t.Errorf("Flush: %v", err)
			}
			flushed = true
		}()
		synctest.Wait()
		if sent == 0 || sent == 5 || flushed {
			t.Errorf("%d messages went to a client that does not read, flushed: %v", sent, flushed)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.conn.Notify(ctx, "late", big); !errors.Is(err, context.Canceled) {
			t.Errorf("Notify without room and time: %v", err)
		}
		close(hold)
		<-done
		if got := p.got(); len(got) != 5 {
			t.Errorf("%d messages arrived, want 5", len(got))
		}
		if err := p.close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}
