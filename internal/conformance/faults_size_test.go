package conformance_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider/providertest"
)

// mostBytes is the largest body that the servers of these tests take, and some of
// it has to be read before a connection is broken.
const (
	mostBytes = 1_000_000
	someBytes = 200_000
)

// doors are ways in which a body that is too large is turned away.
func doors(g *tongue) map[string]func(http.ResponseWriter, *http.Request) {
	too := g.rejects(http.StatusRequestEntityTooLarge, "", "there is a limit to everything")
	taken := func(w http.ResponseWriter, req *http.Request, n int64) net.Conn {
		conn, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return nil // the client went away
		}
		if req.Header.Get("Expect") != "" {
			_, _ = io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\n") // a client that left sees nothing
		}
		_, _ = io.CopyN(io.Discard, buffered, n) // what follows is the same for one that left
		return conn
	}
	return map[string]func(http.ResponseWriter, *http.Request){
		"413 at once": func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Connection", "close")
			too(w, req, nil)
		},
		"413 in the end": func(w http.ResponseWriter, req *http.Request) {
			_, _ = io.Copy(io.Discard, req.Body) // what follows is the same for one that left
			too(w, req, nil)
		},
		"reset": func(w http.ResponseWriter, req *http.Request) {
			if conn, ok := taken(w, req, someBytes).(*net.TCPConn); ok {
				_ = conn.SetLinger(0) // closing then resets
				_ = conn.Close()
			}
		},
		"broken pipe": func(w http.ResponseWriter, req *http.Request) {
			if conn := taken(w, req, someBytes); conn != nil {
				_ = conn.Close() // what comes after it meets a closed socket
			}
		},
	}
}

// TestBodyTooLarge has each wire's server turn large bodies away in every manner.
// One attempt with less history follows, the user is told, and the size is
// remembered by the next process.
func TestBodyTooLarge(t *testing.T) {
	for _, g := range tongues() {
		for name, door := range doors(&g) {
			if testing.Short() && name != "reset" {
				continue
			}
			t.Run(g.kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, g)
				const model = "m"
				w := newWorld(t, r.settings("", "", bind{model: model, vision: "true"}))
				p := w.launch()
				s := p.with(model)
				list := []content.Source{prose("look")}
				var newest []byte
				for i := range 6 {
					shot, data := w.snap(fmt.Sprintf("shot-%d.png", i), 450, 450, uint64(i))
					list, newest = append(list, shot), data
				}
				p.prompt(s, list...)
				r.guard(func(w http.ResponseWriter, req *http.Request) bool {
					if req.ContentLength <= mostBytes {
						return false
					}
					door(w, req)
					return true
				})
				f := p.prompt(s, prose("and now?"))
				want, kept := 1, delivery.LimitRequest
				if name == "reset" || name == "broken pipe" { // once more as it was: the way may have been to blame
					want, kept = 2, delivery.LimitDoubted
				}
				if n := voided(f); n != want || len(told(f, "did not take a request of that size")) != 1 {
					t.Errorf("%d attempts were withdrawn, %q", n, f.Notices())
				}
				if l := r.last(t, model); !l.holds(newest) || len(l.media) >= 6 {
					t.Errorf("%d pictures are left, and the newest must be among them", len(l.media))
				}
				limit := p.learned(model).Limits[kept]
				if limit <= 0 || limit > mostBytes {
					t.Errorf("learned a limit of %d", limit)
				}
				noRetry(t, p.prompt(s, prose("and next?")))
				p.stop()
				p = w.launch()
				defer p.stop()
				more, data := w.snap("more.png", 450, 450, 7)
				noRetry(t, p.prompt(p.open(s.ID()), more, prose("and after a restart?")))
				if l := r.last(t, model); int64(len(l.body)) > limit || !l.holds(data) {
					t.Errorf("a body of %d bytes with %d pictures, the limit is %d", len(l.body), len(l.media), limit)
				}
			})
		}
	}
}

// TestPromptTooLarge has a server turn a prompt away that is itself too large.
// What fits of it goes, and the rest is told by name.
func TestPromptTooLarge(t *testing.T) {
	for _, g := range tongues() {
		t.Run(g.kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, g)
			const model = "m"
			w := newWorld(t, r.settings(g.roomy(), "", bind{model: model, vision: "true"}))
			p := w.launch()
			defer p.stop()
			r.guard(func(w http.ResponseWriter, req *http.Request) bool {
				if req.ContentLength > mostBytes {
					doors(&g)["reset"](w, req)
					return true
				}
				return false
			})
			list := []content.Source{prose("look")}
			for i := range 6 {
				shot, _ := w.snap(fmt.Sprintf("shot-%d.png", i), 450, 450, uint64(i))
				list = append(list, shot)
			}
			s := p.with(model)
			f := p.prompt(s, list...)
			if n := voided(f); n != 2 || len(told(f, "did not take a request of that size")) != 1 {
				t.Errorf("%d attempts were withdrawn, %q", n, f.Notices())
			}
			sent := len(r.last(t, model).media)
			if left := len(told(f, delivery.ReasonRequestSize.User())); sent == 0 || left == 0 || left < 6-sent && left > 1 {
				t.Errorf("%d pictures were sent, %d notices tell of others: %q", sent, left, f.Notices())
			}
			noRetry(t, p.prompt(s, prose("and now?")))
		})
	}
}

// overflow is how a wire says that the context is full. size is the window that
// it names, 0 for none.
func overflow(g *tongue) (reply providertest.Reply, size int64) {
	switch g.kind {
	case "openai-chat":
		return g.rejects(400, "context_length_exceeded", "This model's maximum context length is 16384 tokens. However, your messages resulted in 19210 tokens. Please reduce the length of the messages."), 16_384
	case "openai-responses":
		return providertest.ResponsesFailed("context_length_exceeded", "Your input exceeds the context window of this model. Please adjust your input and try again."), 0
	case "anthropic":
		return g.rejects(400, "", "prompt is too long: 209571 tokens > 200000 maximum"), 200_000
	case "gemini":
		return g.rejects(400, "", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."), 1_048_576
	case "ollama":
		return g.rejects(400, "", "request (19210 tokens) exceeds the available context size (14000 tokens), try increasing it"), 14_000
	}
	return g.rejects(400, "", "Input is too long for requested model."), 0
}

// roomy are the limits of a provider whose models are not taken to have a small
// window, in which not all tools have room.
func (g *tongue) roomy() string {
	if g.kind == "ollama" {
		return `"context_tokens":200000`
	}
	return ""
}

// TestContextOverflow has every wire's server say in its own words that a request
// with two pictures is more than its context holds.
func TestContextOverflow(t *testing.T) {
	for _, g := range tongues() {
		t.Run(g.kind, func(t *testing.T) {
			t.Parallel()
			full, size := overflow(&g)
			p, s, f := overflown(t, g, full, 5000)
			if n := voided(f); n != 1 || len(told(f, "did not take a request of that size")) != 1 {
				t.Errorf("%d attempts were withdrawn, %q", n, f.Notices())
			}
			if got := p.learned("m"); got.Limits[delivery.LimitContext] != size || got.against() != 0 {
				t.Errorf("learned %+v, want a window of %d", got, size)
			}
			noRetry(t, p.prompt(s, prose("and now?")))
			p.stop()
			p = p.launch()
			defer p.stop()
			noRetry(t, p.prompt(p.open(s.ID()), prose("and after a restart?")))
		})
	}
}

// overflown is a session whose second request is too much: it has two pictures. The
// newer one has to be in the request that is made of it.
func overflown(t *testing.T, g tongue, full providertest.Reply, words int) (*process, *agent.Session, *agenttest.Front) {
	t.Helper()
	r := newRig(t, g)
	const model = "m"
	r.on(model, func(_ int, l letter) providertest.Reply {
		if len(l.media) > 1 {
			return full
		}
		return nil
	})
	w := newWorld(t, r.settings(g.roomy(), "", bind{model: model, vision: "true"}))
	p := w.launch()
	one, _ := w.snap("one.png", 40, 40, 1)
	two, data := w.snap("two.png", 41, 40, 2)
	s := p.with(model)
	p.prompt(s, one, prose("look, and read: "+strings.Repeat("so it goes. ", words)))
	f := p.prompt(s, two, prose("and at this"))
	if !r.last(t, model).holds(data) {
		t.Error("the new picture gave way before the old one")
	}
	return p, s, f
}

// TestContextOverflowEarly has a server refuse a request in which little was said
// and the tools are most of it: the old picture gives way, and not the new one.
func TestContextOverflowEarly(t *testing.T) {
	for _, g := range tongues() {
		t.Run(g.kind, func(t *testing.T) {
			t.Parallel()
			full, _ := overflow(&g)
			p, _, f := overflown(t, g, full, 100)
			defer p.stop()
			if n := voided(f); n != 1 || len(told(f, "did not take a request of that size")) != 1 {
				t.Errorf("%d attempts were withdrawn, and told: %v", n, told(f, "did not take a request of that size"))
			}
			if len(told(f, "image-1.png")) == 0 {
				t.Error("nothing was said about the picture that gave way")
			}
		})
	}
}

// TestBodyLimitIsNamed has Gemini name the size that it takes, which is obeyed to
// the byte.
func TestBodyLimitIsNamed(t *testing.T) {
	t.Parallel()
	g := tongueOf("gemini")
	r := newRig(t, g)
	const model = "m"
	r.on(model, func(_ int, l letter) providertest.Reply {
		if len(l.body) > mostBytes {
			return g.rejects(400, "", fmt.Sprintf("Request payload size exceeds the limit: %d bytes.", mostBytes))
		}
		return nil
	})
	w := newWorld(t, r.settings("", "", bind{model: model, vision: "true"}))
	p := w.launch()
	s := p.with(model)
	shot := func(i int) content.Source {
		return flagged(w.file(fmt.Sprintf("shot-%d.png", i), agenttest.PNG(450, 450, uint64(i))))
	}
	for i := range 3 {
		p.prompt(s, shot(i), prose("look"))
	}
	if n := voided(p.prompt(s, shot(3), prose("look"))); n != 1 {
		t.Errorf("%d attempts were withdrawn", n)
	}
	if m := p.learned(model); m.Limits[delivery.LimitRequest] != mostBytes || m.against() != 0 {
		t.Errorf("learned %+v", m)
	}
	p.stop()
	p = w.launch()
	defer p.stop()
	s = p.open(s.ID())
	for i := range 5 {
		noRetry(t, p.prompt(s, shot(4+i), prose("look")))
	}
}
