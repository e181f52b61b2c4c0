package acp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/front/acp"
	"tote/internal/provider"
)

// TestRaces cancels prompts at every point of their way, in every order, and holds
// that each is answered once, that nothing follows its end, and that the session
// works on.
func TestRaces(t *testing.T) {
	both(t, func(t *testing.T, w *world, v int) {
		outside(t, w)
		reads := w.model.say
		w.model.say = func(ctx ctx, n int, yield yield) {
			switch n % 3 {
			case 0:
				reads(ctx, 0, yield)
			case 1:
				hang(ctx, n, yield)
			default:
				answer("ok")(ctx, n, yield)
			}
		}
		p := w.boot(hello(v))
		id := p.open(w)
		rng := rand.New(rand.NewPCG(1, uint64(v))) //nolint:gosec // a test
		n := 100
		for range 40 {
			var lines []string
			sent := map[int]bool{}
			for range 1 + rng.IntN(4) {
				n++
				sent[n] = true
				lines = append(lines, prompt(n, id, text("a")))
				switch rng.IntN(4) {
				case 0:
					lines = append(lines, cancel(id))
				case 1:
					lines = append(lines, withdraw(n-rng.IntN(2)))
				case 2:
					lines = append(lines, request(9, "session/resume", `{"sessionId":`+quote(id)+`,"cwd":`+quote(w.dir)+`}`))
				default:
				}
			}
			got := p.send(lines...)
			if rng.IntN(2) == 0 {
				got = append(got, p.send(cancel(id))...)
			}
			for len(replies(t, got, sent)) < len(sent) || v == 2 && busy(t, got) {
				more := p.send(cancel(id))
				if len(more) == 0 {
					t.Fatalf("wedged: %q", got)
				}
				got = append(got, more...)
			}
			for id, times := range replies(t, got, sent) {
				if times != 1 {
					t.Errorf("request %d is answered %d times", id, times)
				}
			}
			want(t, "afterwards", p.got(), []string(nil))
		}
		w.model.say = answer("ok")
		want(t, "it works on", ended(t, v, p.send(prompt(7, id, text("b"))), 7), "end_turn")
		p.close()
	})
}

// replies counts the answers to requests.
func replies(t *testing.T, lines []string, of map[int]bool) map[int]int {
	t.Helper()
	out := map[int]int{}
	for _, e := range eventsOf(t, lines) {
		if e.method == "" && of[e.id] {
			out[e.id]++
		}
	}
	return out
}

// busy reports whether the last state in lines is not idle.
func busy(t *testing.T, lines []string) bool {
	t.Helper()
	last := ""
	for _, e := range eventsOf(t, lines) {
		if e.kind == "state_update" {
			last = e.text("state")
		}
	}
	return last != "" && last != "idle"
}

// TestManySessions runs turns in a hundred sessions at once: none waits for another,
// and none is told what another is.
func TestManySessions(t *testing.T) {
	const count = 100
	both(t, func(t *testing.T, w *world, v int) {
		var mu sync.Mutex
		waiting := 0
		together := make(chan struct{})
		w.model.say = func(ctx ctx, _ int, yield yield) {
			mu.Lock()
			if waiting++; waiting == count {
				close(together)
			}
			mu.Unlock()
			select {
			case <-together:
				answer("ok")(ctx, 0, yield)
			case <-ctx.Done():
				yield(nil, ctx.Err())
			}
		}
		p := w.boot(hello(v))
		ids := make([]string, count)
		for i := range ids {
			ids[i] = p.open(w)
		}
		lines := make([]string, count)
		for i, id := range ids {
			lines[i] = prompt(i+1, id, text("from "+id+"."))
		}
		got := p.send(lines...)
		for i, id := range ids {
			var own []string
			for _, line := range got {
				if strings.Contains(line, `"sessionId":`+quote(id)) || strings.HasPrefix(line, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,`, i+1)) {
					own = append(own, line)
				}
			}
			if s := ended(t, v, own, i+1); s != "end_turn" {
				t.Errorf("session %s ends with %q", id, s)
			}
			list := messages(t, own)
			if len(list) != 2 || list[0].Text != "from "+id+"." || list[1].Text != "ok" {
				t.Errorf("session %s is told %+v", id, list)
			}
		}
		p.close()
	})
}

// counter is a client that only counts what it is told.
type counter struct {
	mu   sync.Mutex
	buf  []byte
	ends chan struct{}
	mark []byte // what a line holds that ends a turn
	ids  chan string
}

func (c *counter) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.buf = append(c.buf, b...)
	for {
		i := bytes.IndexByte(c.buf, '\n')
		if i < 0 {
			return len(b), nil
		}
		line := c.buf[:i]
		switch {
		case bytes.Contains(line, c.mark):
			c.ends <- struct{}{}
		case bytes.Contains(line, []byte(`"result":{"sessionId":"`)):
			var r struct{ Result struct{ SessionID string } }
			if err := json.Unmarshal(line, &r); err != nil {
				return 0, err
			}
			c.ids <- r.Result.SessionID
		}
		c.buf = c.buf[:copy(c.buf, c.buf[i+1:])]
	}
}

// forgetful is a host that keeps nothing of a session once it is closed: what is left
// then is the server's.
type forgetful struct{ *host }

func (h forgetful) Workspace(ctx context.Context, cwd string) (acp.Workspace, error) {
	h.disk, h.store = agenttest.NewDisk(), agenttest.NewStore()
	h.models.Disk = h.disk
	h.a = h.agent()
	return h.host.Workspace(ctx, cwd)
}

// TestTenThousandPrompts runs that many in one process, in sessions that come and go,
// and holds that it has afterwards what it had early on.
func TestTenThousandPrompts(t *testing.T) {
	for _, v := range versions {
		t.Run(fmt.Sprintf("v%d", v), func(t *testing.T) {
			w := newWorld(t)
			w.v2 = true
			w.model.forgets = true
			w.model.say = func(_ ctx, _ int, yield yield) {
				_ = yield(provider.TextDelta{Text: "ok"}, nil) && yield(provider.Finish{Stop: content.StopEndTurn}, nil)
			}
			c := &counter{ends: make(chan struct{}, 1), ids: make(chan string, 1)}
			c.mark = []byte(map[int]string{1: `"result":{"stopReason":"end_turn"`, 2: `"state":"idle","stopReason":"end_turn"`}[v])
			in, to := io.Pipe()
			done := make(chan error, 1)
			// Ends when the input does.
			go func() {
				done <- acp.Serve(t.Context(), in, c, acp.Options{Host: forgetful{&host{w, nil}}, V2: true, Now: clock, NewID: w.newID})
			}()
			send := func(line string) {
				t.Helper()
				if _, err := io.WriteString(to, line+"\n"); err != nil {
					t.Fatal(err)
				}
			}
			send(hello(v))
			round := func() {
				send(request(1, "session/new", `{"cwd":`+quote(w.dir)+`,"mcpServers":[]}`))
				id := <-c.ids
				for n := range 50 {
					send(prompt(n+2, id, text("a")))
					<-c.ends
				}
				send(request(90, "session/close", `{"sessionId":`+quote(id)+`}`))
			}
			for range 20 {
				round()
			}
			early := footprint()
			for range 180 {
				round()
			}
			late := footprint()
			if late.goroutines > early.goroutines+5 {
				t.Errorf("%d goroutines, early on %d", late.goroutines, early.goroutines)
			}
			if grown := late.heap - early.heap; grown > 512<<10 {
				t.Errorf("the heap has grown by %d KB over 9000 prompts", grown>>10)
			}
			if err := to.Close(); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Errorf("Serve: %v", err)
			}
		})
	}
}

type footing struct{ goroutines, heap int64 }

func footprint() footing {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return footing{int64(runtime.NumGoroutine()), int64(m.HeapAlloc)} //nolint:gosec // bytes of a heap
}

// TestClientGone holds that a client that goes away in the middle of everything leaves
// nothing behind, and that what was said is on the disk.
func TestClientGone(t *testing.T) {
	both(t, func(t *testing.T, w *world, v int) {
		w.model.say = hang
		p := w.boot(hello(v))
		id := p.open(w)
		p.send(prompt(1, id, text("a")), prompt(2, id, text("b")))
		began := time.Now()
		p.close()
		if d := time.Since(began); d > time.Second {
			t.Errorf("it took %v", d)
		}
		turns := w.disk.Turns(id)
		if len(turns) != 1 {
			t.Errorf("%d turns are recorded", len(turns))
		}
	})
}

// TestAfterClose holds that nothing is sent of a session that has been closed, and that
// its questions are called back.
func TestAfterClose(t *testing.T) {
	both(t, func(t *testing.T, w *world, v int) {
		outside(t, w)
		p := w.boot(hello(v))
		id := p.open(w)
		asked := p.send(prompt(5, id, text("read it")))
		got := p.send(request(6, "session/close", `{"sessionId":`+quote(id)+`}`))
		want(t, "stop", ended(t, v, append(asked, got...), 5), map[int]string{1: "cancelled", 2: "cancelled"}[v])
		list := eventsOf(t, got)
		if at(list, isReply(6)) != len(list)-1 {
			t.Errorf("after the reply: %q", got)
		}
		if at(list, func(e event) bool { return e.method == "$/cancel_request" }) < 0 {
			t.Errorf("the question stands: %q", got)
		}
		want(t, "late answer", p.send(answered(`{"outcome":{"outcome":"selected","optionId":"allow"}}`)), []string(nil))
		p.close()
	})
}
