package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"tote/internal/front/acp/rpc"
)

// TestConnCall lets a handler ask the client something.
func TestConnCall(t *testing.T) {
	ask := func(p **peer) rpc.Handler {
		return func(ctx context.Context, r *rpc.Request) (any, error) {
			r.Release()
			answer, err := (*p).conn.Call(ctx, "ask/client", map[string]string{"q": "<a>"})
			if err != nil {
				return nil, rpc.Errorf(1, "%v", err)
			}
			return rpc.Parts{answer}, nil
		}
	}
	question := `{"jsonrpc":"2.0","id":1,"method":"ask/client","params":{"q":"<a>"}}`
	tests := []struct{ name, answer, want string }{
		{"answered", result("1", `{"a":[1]}`), result("7", `{"a":[1]}`)},
		{"null", result("1", `null`), result("7", `null`)},
		{"refused", failure("1", -5, "no"), failure("7", 1, `call ask/client: the client answered "no" (-5)`)},
		{"broken", `{"id":1,"result":{`, failure("7", 1, `call ask/client: the client answered "the client's reply cannot be read" (-32603)`)},
		{"nothing", `{"jsonrpc":"2.0","id":1}`, failure("7", 1, `call ask/client: the client answered "the client's reply holds neither a result nor an error" (-32603)`)},
		{"nothing, spelt out", `{"jsonrpc":"2.0","id":1,"method":null}`, failure("7", 1, `call ask/client: the client answered "the client's reply holds neither a result nor an error" (-32603)`)},
		{"too long", result("1", `"`+strings.Repeat("x", 1000)+`"`), failure("7", 1, `call ask/client: the client answered "message too long: 1036 bytes, the limit is 500" (-32600)`)},
		{"cancelled", notification("$/cancel_request", `{"requestId":7}`), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var p *peer
				h := newSessions().handlers()
				h.Requests["ask"] = ask(&p)
				p = start(t, h, rpc.Options{MaxLine: 500})
				p.send(initialize)
				want(t, p.send(request(7, "ask", `{"sessionId":"s1"}`)), question)
				if tt.want == "" {
					want(t, p.send(tt.answer), `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`,
						failure("7", 1, "call ask/client: request cancelled by the client"))
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

// TestNeitherRequestNorReply holds that what answers no call is answered itself.
func TestNeitherRequestNorReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := serve(t, newSessions(), rpc.Options{})
		want(t, p.send(`{"jsonrpc":"2.0","id":1}`), failure("1", rpc.CodeInvalidRequest, "message has neither a method nor a result"))
		if err := p.close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

// TestConnCallAtEndOfInput holds that no handler waits for a client that is gone.
func TestConnCallAtEndOfInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p *peer
		var asked error
		h := newSessions().handlers()
		h.Requests["ask"] = func(ctx context.Context, _ *rpc.Request) (any, error) {
			_, asked = p.conn.Call(ctx, "fs/read_text_file", nil)
			return nil, asked
		}
		p = start(t, h, rpc.Options{})
		p.send(initialize, request(7, "ask", `{}`))
		if err := p.close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		if !errors.Is(asked, rpc.ErrClosed) {
			t.Errorf("Call: %v", asked)
		}
		want(t, p.got(), failure("7", rpc.CodeCancelled, "request cancelled"))
	})
}

func TestRequestReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p *peer
		h := newSessions().handlers()
		h.Requests["early"] = func(ctx context.Context, r *rpc.Request) (any, error) {
			if err := r.Reply(ctx, map[string]int{"n": 1}); err != nil {
				return nil, err
			}
			if err := r.Reply(ctx, nil); err == nil {
				t.Error("a second reply was taken")
			}
			return "ignored", p.conn.Notify(ctx, "after", rpc.Parts{[]byte(`{`), []byte(`}`)})
		}
		huge := rpc.Parts{[]byte(`"`), bytes.Repeat([]byte("x"), rpc.MaxOut), []byte(`"`)}
		h.Requests["huge"] = func(ctx context.Context, r *rpc.Request) (any, error) {
			var long *rpc.TooLongError
			if err := p.conn.Notify(ctx, "x", huge); !errors.As(err, &long) || long.Limit != rpc.MaxOut || long.Size <= long.Limit {
				t.Errorf("Notify: %v", err)
			}
			if err := r.Reply(ctx, huge); !errors.As(err, &long) {
				t.Errorf("Reply: %v", err)
			}
			return huge, nil
		}
		h.Requests["lines"] = func(context.Context, *rpc.Request) (any, error) { return rpc.Parts{[]byte("{\n}")}, nil }
		p = start(t, h, rpc.Options{})
		p.send(initialize)
		want(t, p.send(request(1, "early", `{}`)), result("1", `{"n":1}`), `{"jsonrpc":"2.0","method":"after","params":{}}`)
		got := p.send(request(2, "huge", `{}`))
		if len(got) != 1 || !strings.Contains(got[0], `"code":-32603,"message":"the reply is too long to send","data":{"limitBytes":31457280,`) {
			t.Errorf("got %.300q", got)
		}
		want(t, p.send(request(3, "lines", `{}`)), failure("3", rpc.CodeInternal, "send message: it contains a line break"))
		if err := p.close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

// TestConnBackpressure fills the queue of a client that does not read. Senders
// wait, a flush waits for all of it, and nothing is lost or out of order.
func TestConnBackpressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := serve(t, newSessions(), rpc.Options{})
		hold := make(chan struct{})
		p.out.mu.Lock()
		p.out.hold = hold
		p.out.mu.Unlock()
		big := rpc.Parts{[]byte(`"`), bytes.Repeat([]byte("x"), rpc.MaxOut-100), []byte(`"`)}
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
