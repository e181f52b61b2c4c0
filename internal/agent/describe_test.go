package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
)

// server says of itself whether it takes pictures; it counts how often it was
// asked.
type server struct {
	b     *agenttest.Bench
	asked int
	says  delivery.Answer
	err   error
	hangs bool
}

func (s *server) Describe(c context.Context, name string) (bool, error) {
	s.asked++
	if name != "main" {
		return false, errors.New("unknown agent " + name)
	}
	if s.hangs {
		<-c.Done()
		return true, c.Err()
	}
	if s.err != nil || s.says == delivery.Unknown {
		return false, s.err
	}
	old, known := s.b.Disk.Evidence(agenttest.Endpoint, content.KindImage)
	if known && old.Answer == s.says {
		return false, nil
	}
	return true, s.b.Disk.SaveEvidence(c, agenttest.Endpoint, content.KindImage, delivery.Capability{
		Answer: s.says, Evidence: delivery.EvidenceServer, Detail: "/api/show lists no vision",
	})
}

func serving(t *testing.T, p delivery.Profile, s *server, script func(int, agenttest.Received) agenttest.Reply) *agenttest.Bench {
	t.Helper()
	s.b = agenttest.New(t, agenttest.Options{Profile: p, Describer: s, Script: script})
	return s.b
}

// A server that says of itself that it does not see gets no picture, and the user
// is told whose word that is.
func TestServerSaysItIsBlind(t *testing.T) {
	for name, p := range map[string]delivery.Profile{"catalogue": agenttest.Sees(agenttest.Endpoint), "unknown": agenttest.Unknown(agenttest.Endpoint)} {
		t.Run(name, func(t *testing.T) {
			s := &server{says: delivery.No}
			b := serving(t, p, s, nil)
			r := b.Must(t.Context(), "look", agenttest.Paste("cat.png", agenttest.PNG(9, 9, 1)))
			sent(t, b, "")
			if !r.Degraded || s.asked != 1 || !noticed(b.Front, "/api/show lists no vision") || !noticed(b.Front, "cat.png") {
				t.Errorf("degraded %v, asked %d times, notices %v", r.Degraded, s.asked, b.Front.Notices())
			}
			contains(t, b.Last().Text, "you cannot see pictures")
			b.Must(t.Context(), agenttest.PNG(9, 9, 2))
			b.Restart()
			b.Must(t.Context(), "hi")
			if s.asked != 1 {
				t.Errorf("asked %d times about what is known", s.asked)
			}
		})
	}
}

// A server that says that it sees enables nothing: an unknown model is probed, one
// that is known from the catalogue gets the picture as before.
func TestServerSaysItSees(t *testing.T) {
	s := &server{says: delivery.Yes}
	b := serving(t, agenttest.Unknown(agenttest.Endpoint), s, probing(agenttest.Say(agenttest.Code)))
	b.Must(t.Context(), "look", agenttest.PNG(9, 9, 1))
	sent(t, b, "image-1.png", "image-1.png")
	if c, _ := b.Disk.Evidence(agenttest.Endpoint, content.KindImage); c.Evidence != delivery.EvidenceProbe {
		t.Errorf("evidence = %+v", c)
	}
	b.Must(t.Context(), agenttest.PNG(9, 9, 2))
	if s.asked != 1 {
		t.Errorf("asked %d times although a probe has settled it", s.asked)
	}

	s = &server{says: delivery.Yes}
	b = serving(t, agenttest.Unknown(agenttest.Endpoint), s, nil)
	b.Policy.Store(&agent.Policy{Probe: agent.ProbeNever})
	b.Must(t.Context(), "look", agenttest.PNG(9, 9, 1))
	sent(t, b, "") // its word alone sends nothing

	s = &server{says: delivery.Yes}
	b = serving(t, agenttest.Sees(agenttest.Endpoint), s, nil)
	b.Must(t.Context(), "look", agenttest.PNG(9, 9, 1))
	sent(t, b, "image-1.png")
}

// A prompt of text asks nobody, and neither does one whose answer is settled.
func TestServerIsNotAskedInVain(t *testing.T) {
	with := func(e delivery.Evidence, a delivery.Answer) delivery.Profile {
		p := agenttest.Sees(agenttest.Endpoint)
		p.Images = delivery.Capability{Answer: a, Evidence: e}
		return p
	}
	for name, p := range map[string]delivery.Profile{
		"the user's word": with(delivery.EvidenceBinding, delivery.Yes), "answered": with(delivery.EvidenceAnswered, delivery.Yes),
		"probed": with(delivery.EvidenceProbe, delivery.Yes), "known to be blind": with(delivery.EvidenceCatalogue, delivery.No),
	} {
		s := &server{says: delivery.No}
		b := serving(t, p, s, nil)
		b.Must(t.Context(), "look", agenttest.PNG(9, 9, 1))
		if s.asked != 0 {
			t.Errorf("%s: asked", name)
		}
	}
	s := &server{err: errors.New("no such path")}
	b := serving(t, agenttest.Unknown(agenttest.Endpoint), s, nil)
	b.Policy.Store(&agent.Policy{Probe: agent.ProbeNever})
	b.Must(t.Context(), "hi")
	b.Must(t.Context(), "hi", agenttest.Paste("a.txt", []byte("text")))
	if s.asked != 0 {
		t.Errorf("a prompt of text asked %d times", s.asked)
	}
	b.Must(t.Context(), agenttest.PNG(9, 9, 1))
	b.Must(t.Context(), "and a text after a picture that was held back")
	if s.asked != 1 {
		t.Errorf("asked %d times", s.asked)
	}
	for _, n := range b.Front.Notices() {
		lacks(t, n.Title+n.Detail, "no such path")
	}
}

// What the endpoint has taken before needs no word, and a turn asks once.
func TestServerIsAskedOncePerTurn(t *testing.T) {
	s := &server{}
	b := serving(t, agenttest.Sees(agenttest.Endpoint), s, agenttest.Replies(
		calls(agenttest.Call("c1", "read", `{"path":"b.png"}`)), calls(agenttest.Call("c2", "read", `{"path":"b.png"}`)),
	))
	b.File("b.png", agenttest.PNG(30, 30, 2))
	b.Must(t.Context(), agenttest.PNG(9, 9, 1))
	if s.asked != 1 {
		t.Errorf("asked %d times in one turn", s.asked)
	}
	b.Must(t.Context(), "more")
	if s.asked != 1 {
		t.Errorf("asked %d times about pictures that were taken", s.asked)
	}
}

// A picture that a tool brings is one like any other; so are sound and documents.
func TestServerIsAskedAboutAllMedia(t *testing.T) {
	s := &server{}
	b := serving(t, agenttest.Sees(agenttest.Endpoint), s, agenttest.Replies(calls(agenttest.Call("c1", "read", `{"path":"b.png"}`))))
	b.File("b.png", agenttest.PNG(30, 30, 2))
	b.Must(t.Context(), "go")
	if s.asked != 1 {
		t.Errorf("a picture of a tool: asked %d times", s.asked)
	}
	p := agenttest.Sees(agenttest.Endpoint)
	p.Audio = delivery.Capability{Answer: delivery.Yes, Evidence: delivery.EvidenceCatalogue}
	p.AudioLimits.MIMEs = []string{"audio/wav"}
	s = &server{}
	b = serving(t, p, s, nil)
	b.Must(t.Context(), agenttest.WAV(200))
	if s.asked != 1 {
		t.Errorf("sound: asked %d times", s.asked)
	}
}

// A server that does not answer holds a turn up for five seconds, once.
func TestServerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{hangs: true}
		b := serving(t, agenttest.Sees(agenttest.Endpoint), s, agenttest.Replies(calls(agenttest.Call("c1", "list", "{}"))))
		begun := time.Now()
		b.Must(t.Context(), agenttest.PNG(9, 9, 1))
		if took := time.Since(begun); took != 5*time.Second || s.asked != 1 {
			t.Errorf("it took %v, asked %d times", took, s.asked)
		}
		sent(t, b, "image-1.png", "image-1.png")

		s = &server{hangs: true}
		b = serving(t, agenttest.Sees(agenttest.Endpoint), s, nil)
		c, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if r, err := b.Prompt(c, agenttest.PNG(9, 9, 1)); err != nil || r.Stop != content.StopCancelled {
			t.Errorf("%v, %v", r.Stop, err)
		}
		if n := len(b.Provider.Requests()); n != 0 {
			t.Errorf("%d requests", n)
		}
		if strings.Contains(strings.Join(b.Front.Lines(), "\n"), "notice") {
			t.Errorf("notices = %v", b.Front.Notices())
		}
	})
}
