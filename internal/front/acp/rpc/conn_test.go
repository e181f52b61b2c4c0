package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/front/acp/rpc"
)

func want(t *testing.T, got []string, lines ...string) {
	t.Helper()
	if diff := cmp.Diff(lines, got); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func result(id, body string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":` + body + `}` }

func failure(id string, code int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, message)
}

const (
	update = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1"}}`
	ended  = `{"stopReason":"end_turn"}`
	killed = `{"stopReason":"cancelled"}`
)

func TestConnBeforeInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSessions()
		p := start(t, s.handlers(), rpc.Options{})
		want(t, p.send(
			request(1, "session/new", `{}`), request(`"x"`, "unknown", `{}`),
			notification("session/cancel", `{"sessionId":"s1"}`), notification("initialize", `{}`),
		),
			failure("1", rpc.CodeInvalidRequest, "not initialized"), failure(`"x"`, rpc.CodeInvalidRequest, "not initialized"))
		want(t, p.send(initialize, initialize), result("0", `{"protocolVersion":1}`), result("0", `{"protocolVersion":1}`))
		want(t, p.send(request(2, "session/set_mode", `{"sessionId":"s1"}`)), result("2", "{}"))
		want(t, p.send(initialize), failure("0", rpc.CodeInvalidRequest, "already initialized"))
		if err := p.close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		want(t, s.log, "mode of s1")
	})
}

func TestConnFailedInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newSessions().handlers()
		h.Requests["initialize"] = func(context.Context, *rpc.Request) (any, error) {
			return nil, rpc.Errorf(rpc.CodeUnknownProtocol, "no").WithData(map[string][]int{"supported": {1}})
		}
		p := start(t, h, rpc.Options{})
		want(t, p.send(initialize, request(1, "session/new", `{}`)),
			`{"jsonrpc":"2.0","id":0,"error":{"code":-32022,"message":"no","data":{"supported":[1]}}}`,
			failure("1", rpc.CodeInvalidRequest, "not initialized"))
		if err := p.close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestConnOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSessions()
		p := start(t, s.handlers(), rpc.Options{})
		s.conn = p.conn
		// All at once: nothing overtakes initialize, the prompt waits for the
		// session to open, and the cancel for the prompt to begin.
		want(t, p.send(
			initialize, request(1, "session/new", `{"cwd":"/"}`),
			request(2, "session/prompt", `{"prompt":[],"sessionId":"s1"}`), notification("session/cancel", `{"sessionId":"s1"}`),
		), result("0", `{"protocolVersion":1}`))
		time.Sleep(time.Second)
		want(t, p.got(), result("1", `{"sessionId":"s1"}`), update, result("2", killed))
		if err := p.close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		want(t, s.log, "prompt s1 2")
	})
}

func TestConnRunningPromptBlocksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSessions()
		p := serve(t, s, rpc.Options{})
		want(t, p.send(
			request(1, "session/prompt", `{"sessionId":"s1"}`),
			request(2, "session/prompt", `{"sessionId":"s2"}`),
			request(3, "session/set_mode", `{"sessionId":"s1"}`),
		), result("3", "{}"))
		s.finish("s1", "end_turn")
		want(t, p.got(), update, result("1", ended))
		want(t, p.send(notification("session/cancel", `{"sessionId":"s2"}`)),
			strings.ReplaceAll(update, "s1", "s2"), result("2", killed))
		if err := p.close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

// TestConnKnownSession holds that a session that was opened here does not wait for
// another one to open.
func TestConnKnownSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := serve(t, newSessions(), rpc.Options{})
		p.conn.Known("s1")
		want(t, p.send(
			request(1, "session/new", `{}`), request(2, "session/set_mode", `{"sessionId":"s1"}`), request(3, "session/set_mode", `{"sessionId":"s9"}`),
		), result("2", "{}"))
		time.Sleep(time.Second)
		got := p.got()
		if len(got) != 2 || got[0] != result("1", `{"sessionId":"s1"}`) || got[1] != result("3", "{}") {
			t.Errorf("got %q", got)
		}
		if err := p.close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestConnReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := serve(t, newSessions(), rpc.Options{})
		want(t, p.send(request(1, "nope/\u00e9", `{}`)), failure("1", rpc.CodeMethodNotFound, `method "nope/é" is not supported`))
		want(t, p.send(request(1.50, "_x/y", `[]`)), failure("1.5", rpc.CodeMethodNotFound, `method "_x/y" is not supported`))
		want(t, p.send(request("null", "nope", `{}`)), failure("null", rpc.CodeMethodNotFound, `method "nope" is not supported`))
		want(t, p.send(notification("_x/y", `{}`), notification("$/what", `{}`), result("77", `{}`), result(`"q"`, `{}`)))
		want(t, p.send(`[]`), failure("null", rpc.CodeInvalidRequest, "batches are not supported"))
		want(t, p.send(`{"id":5,`), failure("null", rpc.CodeParse, "message is not valid JSON"))
		want(t, p.send(`{"jsonrpc":"2.0","id":5,"method":"m","params":"`+"\xff"+`"}`), failure("5", rpc.CodeParse, "message is not valid UTF-8"))
		want(t, p.send(`{"jsonrpc":"2.0","id":5,"method":"m",`), failure("5", rpc.CodeParse, "message is not valid JSON"))
		if err := p.close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestConnPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := serve(t, newSessions(), rpc.Options{})
		want(t, p.send(request(1, "panic", `{}`), notification("panic", `{}`)), failure("1", rpc.CodeInternal, "internal error"))
		want(t, p.send(request(2, "session/set_mode", `{"sessionId":"s1"}`)), result("2", "{}"))
		if err := p.close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		if logs := p.logs.String(); strings.Contains(logs, "secret") || strings.Count(logs, "handler panicked") != 2 {
			t.Errorf("logs: %s", logs)
		}
	})
}

func TestConnOverLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSessions()
		p := serve(t, s, rpc.Options{MaxLine: 200})
		fill := strings.Repeat("A", 300)
		line := `{"jsonrpc":"2.0","method":"session/prompt","params":{"data":"` + fill + `","sessionId":"s1"},"id":9}`
		want(t, p.send(line), fmt.Sprintf(`{"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"message too long: %d bytes, the limit is 200",`+
			`"data":{"limitBytes":200,"receivedBytes":%d}}}`, len(line), len(line)))
		want(t, p.send(notification("session/cancel", `{"sessionId":"`+fill+`"}`)))
		want(t, p.send(fill), `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"message too long: 300 bytes, the limit is 200",`+
			`"data":{"limitBytes":200,"receivedBytes":300}}}`)
		want(t, p.send(request(2, "session/set_mode", `{"sessionId":"s1"}`)), result("2", "{}"))
		if err := p.close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		want(t, s.log, "dropped session/prompt of s1", "dropped session/cancel of "+fill, "dropped  of ", "mode of s1")
		if logs := p.logs.String(); strings.Contains(logs, "AAAA") || strings.Count(logs, "exceeds the limit") != 3 {
			t.Errorf("logs: %s", logs)
		}
	})
}

func TestConnCancelRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newSessions().handlers()
		h.Requests["wait"] = func(ctx context.Context, _ *rpc.Request) (any, error) {
			<-ctx.Done()
			return nil, fmt.Errorf("wait: %w", context.Cause(ctx))
		}
		p := start(t, h, rpc.Options{})
		p.send(initialize)
		want(t, p.send(request(1, "wait", `{}`), request(`"b"`, "wait", `{}`), request(3, "wait", `{}`)))
		// One that has not begun, by another spelling of its id, then the
		// running one. A late cancel is ignored.
		want(t, p.send(notification("$/cancel_request", `{"requestId":"\u0062"}`), notification("$/cancel_request", `{}`)))
		want(t, p.send(notification("$/cancel_request", `{"requestId":1}`)),
			failure("1", rpc.CodeCancelled, "request cancelled"), failure(`"b"`, rpc.CodeCancelled, "request cancelled"))
		want(t, p.send(notification("$/cancel_request", `{"requestId":1}`)))
		want(t, p.send(notification("$/cancel_request", `{"requestId":3}`)), failure("3", rpc.CodeCancelled, "request cancelled"))
		if err := p.close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

// TestConnEndOfInput closes the input right behind the requests: what was read is
// served, the running turn is cancelled, and Serve returns at once.
func TestConnEndOfInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSessions()
		p := serve(t, s, rpc.Options{})
		before := time.Now()
		p.send(request(1, "session/prompt", `{"sessionId":"s1"}`), request(2, "session/new", `{}`), request(3, "session/prompt", `{"sessionId":"s2"}`))
		if err := p.close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		if took := time.Since(before); took != time.Second { // session/new takes one
			t.Errorf("Serve returned after %v", took)
		}
		want(t, p.got(), update, result("1", killed), result("2", `{"sessionId":"s1"}`),
			strings.ReplaceAll(update, "s1", "s2"), result("3", killed))
	})
}

func TestConnEndOfInputInTheMiddleOfALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := serve(t, newSessions(), rpc.Options{})
		line := request(1, "session/set_mode", `{"sessionId":"s1"}`)
		if _, err := p.to.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
		if err := p.close(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		want(t, p.got(), result("1", "{}"))
	})
}

// TestConnStubbornHandler holds that the grace bounds what a handler can hold up.
func TestConnStubbornHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newSessions().handlers()
		h.Requests["slow"] = func(ctx context.Context, _ *rpc.Request) (any, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		stuck := make(chan struct{})
		h.Requests["stuck"] = func(context.Context, *rpc.Request) (any, error) {
			<-stuck
			return nil, nil
		}
		p := start(t, h, rpc.Options{Grace: 3 * time.Second})
		p.send(initialize, request(1, "slow", `{}`))
		before := time.Now()
		if err := p.close(); err != nil || time.Since(before) != 3*time.Second {
			t.Errorf("Serve: %v after %v, want nil after the grace", err, time.Since(before))
		}
		p = start(t, h, rpc.Options{Grace: 3 * time.Second})
		p.send(initialize, request(1, "stuck", `{}`))
		if err := p.close(); err == nil {
			t.Error("Serve does not tell that a request is still running")
		}
		close(stuck)
	})
}

func TestConnContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := serve(t, newSessions(), rpc.Options{})
		p.send(request(1, "session/prompt", `{"sessionId":"s1"}`))
		p.stop()
		if err := <-p.done; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve: %v", err)
		}
		want(t, p.got(), update, result("1", killed))
		_ = p.to.Close() // lets the reader end; a pipe never fails to close
	})
}

func TestConnBrokenOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := serve(t, newSessions(), rpc.Options{})
		p.send(request(1, "session/prompt", `{"sessionId":"s1"}`))
		broken := errors.New("broken pipe")
		p.out.mu.Lock()
		p.out.broken = broken
		p.out.mu.Unlock()
		p.send(request(2, "session/set_mode", `{"sessionId":"s1"}`))
		if err := <-p.done; !errors.Is(err, broken) {
			t.Errorf("Serve: %v", err)
		}
		if err := p.conn.Notify(t.Context(), "x", nil); !errors.Is(err, rpc.ErrClosed) {
			t.Errorf("Notify: %v", err)
		}
		if _, err := p.conn.Call(t.Context(), "x", nil); !errors.Is(err, rpc.ErrClosed) {
			t.Errorf("Call: %v", err)
		}
		_ = p.to.Close()
	})
}
