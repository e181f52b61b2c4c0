package agent_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/permission"
)

// probing answers the question about the test picture with reply, and all else
// with ok.
func probing(reply ...agenttest.Act) func(int, agenttest.Received) agenttest.Reply {
	return func(_ int, r agenttest.Received) agenttest.Reply {
		if strings.Contains(r.Text, "Which code") {
			return reply
		}
		return agenttest.Reply{agenttest.Say("ok")}
	}
}

// A picture meets a model that is not known: it is probed once, in this turn,
// and what was found holds from there on.
func TestProbe(t *testing.T) {
	tests := map[string]struct {
		reply  agenttest.Reply
		answer delivery.Answer
		first  string
		says   string
	}{
		"yes by the code":    {agenttest.Reply{agenttest.Say("It is " + agenttest.Code)}, delivery.Yes, "image-1.png", "sees pictures"},
		"yes by the account": {agenttest.Reply{agenttest.Say("?"), agenttest.Seen(85)}, delivery.Yes, "image-1.png", "sees pictures"},
		"no":                 {agenttest.Reply{agenttest.Refusing()}, delivery.No, "", "does not take pictures"},
		"unknown":            {agenttest.Reply{agenttest.Say("a lovely sunset")}, delivery.Unknown, "", "stays unknown"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := agenttest.Unknown(agenttest.Endpoint)
			p.ImageLimits.MIMEs = append(p.ImageLimits.MIMEs, "image/webp")
			b := agenttest.New(t, agenttest.Options{Profile: p, Script: probing(tt.reply...)})
			r := b.Must(t.Context(), "look", agenttest.PNG(9, 9, 1))
			if r.Degraded != (tt.first == "") {
				t.Errorf("degraded = %v", r.Degraded)
			}
			c, ok := b.Disk.Evidence(agenttest.Endpoint, content.KindImage)
			if !ok || c.Answer != tt.answer || c.Evidence != delivery.EvidenceProbe {
				t.Errorf("evidence = %+v, %v", c, ok)
			}
			if !noticed(b.Front, tt.says) {
				t.Errorf("notices = %v", b.Front.Notices())
			}
			if tt.first == "" {
				contains(t, b.Last().Text, "[image-1.png: image/png, 9x9", "Its file: @")
				if !noticed(b.Front, `"vision"`) {
					t.Error("nothing says how to change it")
				}
			}
			b.Must(t.Context(), "hi")
			b.Restart()
			b.Must(t.Context(), "hi", agenttest.PNG(9, 9, 2))
			both := strings.TrimSpace(tt.first + " " + strings.Replace(tt.first, "1", "2", 1))
			sent(t, b, "image-1.png", tt.first, tt.first, both)
			if all := b.Provider.Requests(); len(all[1].Media) > 0 && all[0].Media[0].Digest() == all[1].Media[0].Digest() {
				t.Error("the user's picture was the probe")
			}
		})
	}
}

// A backend that is not reached, or complains of something else than the picture,
// settles nothing: nothing is remembered, and the next turn asks again.
func TestProbeWithoutAnAnswer(t *testing.T) {
	for _, k := range []delivery.FailureKind{
		delivery.FailServer, delivery.FailAuth, delivery.FailBilling, delivery.FailPermission, delivery.FailRateLimit,
		delivery.FailNetwork, delivery.FailStream, delivery.FailProtocol,
	} {
		t.Run(k.String(), func(t *testing.T) {
			fail := true
			b := agenttest.New(t, agenttest.Options{Profile: agenttest.Unknown(agenttest.Endpoint), Script: func(_ int, r agenttest.Received) agenttest.Reply {
				switch {
				case !strings.Contains(r.Text, "Which code"):
					return agenttest.Reply{agenttest.Say("ok")}
				case fail:
					return agenttest.Reply{agenttest.Failing(k, 500, "no")}
				}
				return agenttest.Reply{agenttest.Say(agenttest.Code)}
			}})
			b.Must(t.Context(), "look", agenttest.PNG(9, 9, 1))
			if c, ok := b.Disk.Evidence(agenttest.Endpoint, content.KindImage); ok {
				t.Errorf("remembered %+v", c)
			}
			if !noticed(b.Front, "could not be asked") {
				t.Errorf("notices = %v", b.Front.Notices())
			}
			fail = false
			b.Must(t.Context(), "again")
			sent(t, b, "image-1.png", "", "image-1.png", "image-1.png")
		})
	}
}

// A path without a single known format is asked in PNG all the same.
func TestProbeWithoutFormats(t *testing.T) {
	p := agenttest.Unknown(agenttest.Endpoint)
	p.ImageLimits = delivery.Limits{}
	b := agenttest.New(t, agenttest.Options{Profile: p, Script: probing(agenttest.Refusing())})
	b.Must(t.Context(), agenttest.PNG(9, 9, 1))
	sent(t, b, "image-1.png", "")
}

func TestProbeModes(t *testing.T) {
	for name, tt := range map[string]struct {
		mode   agent.ProbeMode
		permit agent.Permit
		sends  int
		asked  int
	}{
		"never":   {mode: agent.ProbeNever, sends: 2},
		"refused": {mode: agent.ProbeAsk, sends: 2, asked: 2},
		"allowed": {mode: agent.ProbeAsk, permit: agent.PermitOnce, sends: 3, asked: 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := agenttest.New(t, agenttest.Options{
				Profile: agenttest.Unknown(agenttest.Endpoint), Policy: agent.Policy{Probe: tt.mode},
				Script: probing(agenttest.Say(agenttest.Code)),
			})
			b.Front.Answer = func(_ ctx, q agent.Question) (agent.Permit, error) {
				if q.Request.Tool != "probe" || q.Request.Action != permission.Fetch {
					t.Errorf("question = %+v", q)
				}
				return tt.permit, nil
			}
			b.Must(t.Context(), agenttest.PNG(9, 9, 1))
			b.Must(t.Context(), "hi")
			if got := len(b.Provider.Requests()); got != tt.sends {
				t.Errorf("%d requests, want %d: %v", got, tt.sends, handles(b.Provider))
			}
			if got := len(b.Front.Questions()); got != tt.asked {
				t.Errorf("asked %d times, want %d", got, tt.asked)
			}
		})
	}
}

// Text needs no probe.
func TestNoProbeForText(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Profile: agenttest.Unknown(agenttest.Endpoint)})
	b.Must(t.Context(), "hi", agenttest.Paste("a.txt", []byte("hello")))
	if n := len(b.Provider.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// A picture that a tool brings in is probed for as well, and what the turn has
// learned before holds on.
func TestProbeForAToolsPicture(t *testing.T) {
	shot := agenttest.Tool{Name: "shot", Do: func(ctx, string) ([]content.Source, error) {
		return []content.Source{agenttest.Screenshot(agenttest.PNG(9, 9, 1))}, nil
	}}
	b := agenttest.New(t, agenttest.Options{
		Profile: agenttest.Unknown(agenttest.Endpoint), Tools: toolsOf(shot),
		Script: func(n int, r agenttest.Received) agenttest.Reply {
			if n == 0 {
				return calls(agenttest.Call("c1", "shot", "{}"))
			}
			return probing(agenttest.Say(agenttest.Code))(n, r)
		},
	})
	b.Must(t.Context(), "look")
	sent(t, b, "", "image-1.png", "image-1.png")
}

// A server that never answers costs thirty seconds and no more.
func TestProbeTakesThirtySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := agenttest.New(t, agenttest.Options{Profile: agenttest.Unknown(agenttest.Endpoint), Script: probing(agenttest.Hang{})})
		start := time.Now()
		b.Must(t.Context(), agenttest.PNG(9, 9, 1))
		if d := time.Since(start); d != 30*time.Second {
			t.Errorf("it took %v", d)
		}
	})
}
