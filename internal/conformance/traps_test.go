package conformance_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/openai"
	"tote/internal/provider/providertest"
)

// The traps of this file are servers that answer well and look at nothing. No
// error shows it, so each has an arm with its guard off, which loses the picture,
// and one with it on, which does not.

// userEyes is a chat server that looks at pictures of users only, and says
// nothing of others. It counts what it looked at and what it passed over.
type userEyes struct{ seen, ignored atomic.Int64 }

func (s *userEyes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	chat, err := providertest.ParseChat(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, m := range chat.Messages {
		parts, err := m.Parts()
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		for _, p := range parts {
			switch {
			case p.Type != "image_url":
			case m.Role == "user":
				s.seen.Add(1)
			default:
				s.ignored.Add(1)
			}
		}
	}
	providertest.TextUsage(plenty(), "Done.")(w, r, body)
}

// TestTrapResultOfTool: a chat server passes over pictures in role "tool".
func TestTrapResultOfTool(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		place         delivery.Placement
		seen, ignored int64
	}{
		{"guard off", delivery.Placement{}, 0, 1},
		{"guard on", delivery.Placement{HoistResults: true}, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var server userEyes
			s := httptest.NewServer(&server)
			defer s.Close()
			var blobs providertest.Blobs
			p := providertest.Profile("openai-chat")
			p.Placement = c.place
			shot := providertest.Picture("image-1.png", blobs.Put(agenttest.PNG(20, 20, 1), "image/png"), 20, 20)
			prompt := providertest.Settle(t, p, &blobs,
				providertest.User(content.Text{Body: "take one"}),
				providertest.Say(content.ToolCall{ID: "call-1", Name: "shoot", Arguments: "{}"}),
				providertest.Results(content.ToolResult{CallID: "call-1", Name: "shoot", Blocks: []content.Block{shot}}))
			model := openai.New(provider.Options{BaseURL: s.URL}, openai.Config{Model: "m"})
			body, err := model.Encode(provider.Request{Prompt: prompt, Blobs: &blobs})
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range model.Stream(t.Context(), body) {
				if err != nil {
					t.Fatalf("the server says no: %v", err)
				}
			}
			if seen, ignored := server.seen.Load(), server.ignored.Load(); seen != c.seen || ignored != c.ignored {
				t.Errorf("%d pictures were seen and %d passed over, want %d and %d", seen, ignored, c.seen, c.ignored)
			}
		})
	}
	t.Run("the program", func(t *testing.T) {
		g := tongueOf("openai-chat")
		r := newRig(t, g) // refuses pictures in results
		const model = "m"
		r.on(model, func(n int, _ letter) providertest.Reply {
			if n == 0 {
				return g.calls(content.ToolCall{ID: "call-1", Name: "read", Arguments: `{"path":"shot.png"}`})
			}
			return nil
		})
		w := newWorld(t, r.settings("", "", bind{model: model, vision: "true"}))
		_, shot := w.snap("shot.png", 20, 20, 1)
		p := w.launch()
		defer p.stop()
		p.prompt(p.with(model), prose("read it"))
		l := r.last(t, model)
		last := l.sent.Messages[len(l.sent.Messages)-1]
		i := slices.IndexFunc(last.Parts, func(p providertest.SentPart) bool { return bytes.Equal(p.Data, shot) })
		if last.Role != "user" || i < 1 || !strings.Contains(last.Parts[i-1].Text, "call-1") {
			t.Errorf("the picture does not stand in a message of the user's behind the name of its call: %+v", last)
		}
	})
}

// bindOllama is a configuration for an Ollama server.
func bindOllama(url, vision, limits string) string {
	return fmt.Sprintf(`{"providers":{"p":{"kind":"ollama","base_url":%q,"max_retries":0,"limits":{%s}}},
		"agents":{"m":{"provider":"p","model":"m","vision":%s}},"default_agent":"m"}`, url, limits, vision)
}

// TestTrapTextModel: a local Ollama answers pictures with a model that sees none.
func TestTrapTextModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, vision string
		ignored      int
	}{
		{"guard off", "true", 1},
		{"guard on", `"auto"`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			ollama := &providertest.OllamaServer{Capabilities: []string{"completion", "tools"}}
			s := httptest.NewServer(ollama)
			defer s.Close()
			w := newWorld(t, bindOllama(s.URL, c.vision, ""))
			p := w.launch()
			defer p.stop()
			shot, _ := w.snap("shot.png", 20, 20, 1)
			f := p.prompt(p.with("m"), shot, prose("what is on it?"))
			sights := ollama.Sights()
			if len(sights) != 1 || len(sights[0].Pictures) != 0 {
				t.Fatalf("%d requests", len(sights))
			}
			if sights[0].Ignored != c.ignored {
				t.Errorf("%d pictures were lost without a word from the server, want %d", sights[0].Ignored, c.ignored)
			}
			if c.ignored > 0 {
				return
			}
			if len(told(f, "shot.png")) == 0 || len(told(f, "takes no pictures")) == 0 {
				t.Errorf("nobody is told: %q", f.Notices())
			}
			if !strings.Contains(sights[0].Prompt, "image-1.png") {
				t.Error("the model is not told of the picture")
			}
		})
	}
	t.Run("a model that sees", func(t *testing.T) {
		ollama := &providertest.OllamaServer{Capabilities: []string{"completion", "tools", "vision"}}
		s := httptest.NewServer(ollama)
		defer s.Close()
		w := newWorld(t, bindOllama(s.URL, "true", ""))
		p := w.launch()
		defer p.stop()
		shot, data := w.snap("shot.png", 20, 20, 1)
		p.prompt(p.with("m"), shot, prose("what is on it?"))
		if sights := ollama.Sights(); len(sights) != 1 || len(sights[0].Pictures) != 1 || !bytes.Equal(sights[0].Pictures[0], data) {
			t.Error("the picture did not reach the model")
		}
	})
}

// narrow is an Ollama server on a machine with room for a small context only,
// whatever is asked for. lax drops what tells it not to cut.
type narrow struct {
	*providertest.OllamaServer
	lax bool
}

var contextWords = regexp.MustCompile(`"num_ctx":\d+`)

func (s narrow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	body = contextWords.ReplaceAll(body, []byte(`"num_ctx":3000`))
	if s.lax {
		body = bytes.Replace(body, []byte(`"truncate":false`), []byte(`"truncate":true`), 1)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.OllamaServer.ServeHTTP(w, r)
}

// noTools is the member of a configuration that switches all tools off.
const noTools = `"tools":{"disabled":["read","list","write","edit","todo","view_image","glob","grep","skill","bash","bash_output","bash_kill","look","task","escalate","job","fetch"]}`

// TestTrapContext: an Ollama server leaves out the oldest messages, pictures
// included, when they are more than its context.
func TestTrapContext(t *testing.T) {
	t.Parallel()
	for _, lax := range []bool{true, false} {
		name := "guard on"
		if lax {
			name = "guard off"
		}
		t.Run(name, func(t *testing.T) {
			ollama := &providertest.OllamaServer{Capabilities: []string{"completion", "tools", "vision"}}
			s := httptest.NewServer(narrow{ollama, lax})
			defer s.Close()
			// This server does not count tools, which would be more than its window.
			w := newWorld(t, strings.Replace(bindOllama(s.URL, "true", `"context_tokens":20000`), `{`, `{`+noTools+`,`, 1))
			p := w.launch()
			defer p.stop()
			sess := p.with("m")
			withdrawn, dropped := 0, 0
			var notices []delivery.Notice
			for i := range 5 {
				shot, data := w.snap(fmt.Sprintf("shot-%d.png", i), 20, 20, uint64(i))
				f := p.prompt(sess, shot, prose("look, and read: "+strings.Repeat("so it goes. ", 40)))
				withdrawn += voided(f)
				notices = append(notices, f.Notices()...)
				sights := ollama.Sights()
				sight := sights[len(sights)-1]
				dropped += sight.Dropped
				if n := len(sight.Pictures); n == 0 || !bytes.Equal(sight.Pictures[n-1], data) {
					t.Errorf("turn %d: the new picture did not reach the model", i)
				}
			}
			if lax {
				if dropped == 0 || withdrawn > 0 {
					t.Errorf("%d messages were dropped in silence, %d attempts withdrawn: this is no trap", dropped, withdrawn)
				}
				return
			}
			if dropped > 0 || withdrawn == 0 {
				t.Errorf("%d messages were dropped in silence, %d attempts withdrawn", dropped, withdrawn)
			}
			evicted := slices.ContainsFunc(notices, func(n delivery.Notice) bool {
				return strings.Contains(n.Title, "shot-0.png") || strings.Contains(n.Title, "image-1.png")
			})
			if !evicted {
				t.Errorf("nobody is told what gave way: %q", notices)
			}
			if got := p.learned("m").Limits[delivery.LimitContext]; got != 3000 {
				t.Errorf("learned a window of %d", got)
			}
		})
	}
}

// newestReceipts are the newest receipts of a turn's blocks.
func newestReceipts(f *agenttest.Front) map[content.Handle]delivery.Receipt {
	out := map[content.Handle]delivery.Receipt{}
	for _, e := range f.Events() {
		if r, ok := e.(agent.Receipts); ok {
			for _, x := range r.List {
				out[x.Handle] = x
			}
		}
	}
	return out
}
