package agent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
)

// story keeps the events that tell what a reader saw.
func story(f *agenttest.Front) []string {
	var out []string
	for _, l := range f.Lines() {
		if strings.HasPrefix(l, "text ") || strings.HasPrefix(l, "voided") || strings.HasPrefix(l, "used") {
			out = append(out, l)
		}
	}
	return out
}

func says(text string, image int64) agenttest.Reply {
	return agenttest.Reply{agenttest.Say(text), agenttest.Seen(image)}
}

// A picture for which the backend accounts with zero tokens was lost on the way:
// the same bytes are sent again, up to three times.
func TestDroppedPictureIsReplayed(t *testing.T) {
	tests := map[string]struct {
		replies []agenttest.Reply
		sends   int
		shown   string
		story   []string
		notice  string
	}{
		"seen at once": {replies: []agenttest.Reply{says("a", 9)}, sends: 1, shown: "a", story: []string{"text a", "used"}},
		"seen at the second try": {
			replies: []agenttest.Reply{says("a", 0), says("b", 9)}, sends: 2, shown: "b",
			story: []string{"text a", "voided before 2: dropped", "text b", "used"}, notice: "it saw no picture",
		},
		"never seen": {
			replies: []agenttest.Reply{says("a", 0), says("b", 0), says("c", 0), says("d", 9)}, sends: 3, shown: "c",
			story: []string{
				"text a", "voided before 2: dropped", "text b", "voided before 3: dropped", "text c", "used",
			},
			notice: "without the picture",
		},
		"then the line breaks": {
			replies: []agenttest.Reply{
				says("a", 0), {agenttest.Say("b"), agenttest.Failing(delivery.FailNetwork, 0, "gone")},
			},
			sends: 2, shown: "a",
			story: []string{
				"text a", "voided before 2: dropped", "text b", "voided before 3: taking the earlier answer", "text a", "used",
			},
			notice: "without the picture",
		},
		"then it is refused": {
			replies: []agenttest.Reply{says("a", 0), {agenttest.Refusing()}}, sends: 2, shown: "a",
			story: []string{
				"text a", "voided before 2: dropped", "voided before 3: taking the earlier answer", "text a", "used",
			},
			notice: "without the picture",
		},
		"no account": {replies: []agenttest.Reply{{agenttest.Say("a"), agenttest.Tokens(500, 1)}}, sends: 1, shown: "a", story: []string{"text a", "used"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(tt.replies...)})
			r := b.Must(t.Context(), "look", agenttest.PNG(9, 9, 1))
			all := b.Provider.Requests()
			if len(all) != tt.sends {
				t.Fatalf("%d sends, want %d", len(all), tt.sends)
			}
			for _, x := range all {
				if x.Body != all[0].Body {
					t.Error("a replay is another request")
				}
			}
			if got := b.Front.Shown(); got != tt.shown {
				t.Errorf("shown %q, want %q", got, tt.shown)
			}
			if diff := cmp.Diff(tt.story, story(b.Front)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if in := r.Usage.Input.N; in > 1000 {
				t.Errorf("charged for %d input tokens: discarded attempts are not charged", in)
			}
			if tt.notice != "" && !noticed(b.Front, tt.notice) {
				t.Errorf("no notice with %q in %v", tt.notice, b.Front.Notices())
			}
			if got := content.Compact(b.Disk.Turns(b.Session.ID())[0].Messages[1].Blocks()); got != tt.shown {
				t.Errorf("recorded %q, want %q", got, tt.shown)
			}
			// It is no first sending any more.
			b.Provider.Script = func(int, agenttest.Received) agenttest.Reply { return says("next", 0) }
			b.Must(t.Context(), "more")
			if n := len(b.Provider.Requests()); n != tt.sends+1 {
				t.Errorf("the next turn took %d requests", n-tt.sends)
			}
		})
	}
}

// The answer that is taken in the end may call tools.
func TestDroppedAnswerWithCalls(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(
		agenttest.Reply{agenttest.Call("c1", "list", "{}"), agenttest.Seen(0)},
		agenttest.Reply{agenttest.Failing(delivery.FailServer, 500, "")},
	)})
	b.Must(t.Context(), agenttest.PNG(9, 9, 1))
	contains(t, b.Last().Body, "call c1", "result c1")
	consistent(t, b.Disk.Turns(b.Session.ID()))
}

func TestFewTokensWarnOnFirstSending(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: func(int, agenttest.Received) agenttest.Reply {
		return agenttest.Reply{agenttest.Say("ok"), agenttest.Tokens(20, 1)}
	}})
	b.Must(t.Context(), agenttest.PNG(9, 9, 1))
	b.Must(t.Context(), "more")
	warned := 0
	for _, n := range b.Front.Notices() {
		if strings.Contains(n.Title, "may have ignored") {
			warned++
		}
	}
	if warned != 1 || len(b.Provider.Requests()) != 2 {
		t.Errorf("%d warnings, %d requests", warned, len(b.Provider.Requests()))
	}
}

// What is accounted for is evidence that the endpoint sees.
func TestAnsweredIsEvidence(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(says("a", 700))})
	b.Must(t.Context(), agenttest.PNG(9, 9, 1))
	c, ok := b.Disk.Evidence(agenttest.Endpoint, content.KindImage)
	if !ok || c.Answer != delivery.Yes || c.Evidence != delivery.EvidenceAnswered {
		t.Errorf("evidence = %+v, %v", c, ok)
	}
	i := slices.IndexFunc(b.Front.Events(), func(e agent.Event) bool { _, ok := e.(agent.Used); return ok })
	if used := b.Front.Events()[i].(agent.Used); !used.ImageReported || used.Usage.Image.N != 700 {
		t.Errorf("used = %+v", used)
	}
}
