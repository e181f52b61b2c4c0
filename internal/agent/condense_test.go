package agent_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// outputs is a tool whose output is long.
func outputs(size int) agenttest.Tool {
	return agenttest.Tool{Name: "dump", Do: func(_ context.Context, args string) ([]content.Source, error) {
		return prose(args + strings.Repeat("output ", size/7)).Sources, nil
	}}
}

var output = regexp.MustCompile(`(\{"n":\d+\})((?:output )+)`)

// wholeOutputs are the calls of which a request has the output with its middle.
func wholeOutputs(r agenttest.Received) map[string]bool {
	out := map[string]bool{}
	for _, m := range output.FindAllStringSubmatch(r.Text, -1) {
		if len(m[2]) > 1_000 {
			out[m[1]] = true
		}
	}
	return out
}

// The request after a summary is not larger than the one before with the new turn
// and the summary: what was cut out of the turns that stay is not put back.
func TestSummaryBringsNothingBack(t *testing.T) {
	p := agenttest.Sees(agenttest.Endpoint)
	p.Context, p.Output = 24_000, 2_000
	step, made := 0, 0
	b := agenttest.New(t, agenttest.Options{Profile: p, With: agenttest.Reduces, Tools: toolsOf(outputs(6_000)), Script: func(n int, r agenttest.Received) agenttest.Reply {
		if strings.Contains(r.Text, "<transcript>") {
			made++
			return agenttest.Reply{agenttest.Say(spelt("SUMMARY", made)), agenttest.Tokens(500, 20)}
		}
		if step--; step > 0 {
			return calls(agenttest.Call(fmt.Sprint("c", n), "dump", fmt.Sprintf(`{"n":%d}`, n)))
		}
		return agenttest.Reply{agenttest.Say(strings.Repeat("well ", 100))}
	}})
	for i := 0; made < 6; i++ {
		if i == 60 {
			t.Fatal("nothing was summarised")
		}
		step = 1 + i%7
		b.Must(t.Context(), fmt.Sprintf("prompt %d ", i)+strings.Repeat("word ", 100))
		if i%10 == 9 {
			b.Restart()
		}
	}
	var before agenttest.Received
	compared := 0
	all := b.Provider.Requests()
	for i, r := range all {
		if !strings.Contains(r.Text, "<transcript>") {
			before = r
			continue
		}
		after := all[i+1]
		if strings.Contains(after.Text, "<transcript>") {
			continue // a summary in parts
		}
		// What is new is an answer or a result, or a prompt, and the summary.
		if room := len(before.Body) + 6_000 + 1_500 + 2_000; len(after.Body) > room {
			t.Errorf("the request after summary %d has %d bytes, the one before %d", compared+1, len(after.Body), len(before.Body))
		}
		was, back := wholeOutputs(before), 0
		for n := range wholeOutputs(after) {
			if !was[n] {
				back++
			}
		}
		if back > 1 {
			t.Errorf("%d outputs came back whole with summary %d", back, compared+1)
		}
		compared++
	}
	if compared < 2 {
		t.Errorf("%d summaries", compared)
	}
}

// A count that cannot be of the whole request is not believed, and that is told once.
func TestStrangeCounts(t *testing.T) {
	for name, tokens := range map[string]int64{"a cache's": 3, "of many requests": 9_000_000} {
		p := agenttest.Sees(agenttest.Endpoint)
		p.Context = 10_000
		b := agenttest.New(t, agenttest.Options{Profile: p, Script: func(int, agenttest.Received) agenttest.Reply {
			return agenttest.Reply{agenttest.Say("ok"), agenttest.Tokens(tokens, 1)}
		}})
		for range 6 {
			b.Must(t.Context(), strings.Repeat("word ", 1000))
		}
		report, err := b.Session.Context(t.Context())
		if err != nil || report.Usage.Reported {
			t.Errorf("%s: %+v, %v", name, report.Usage, err)
		}
		n := 0
		for _, x := range b.Front.Notices() {
			if strings.Contains(x.Title, "counts of tokens cannot be right") && x.Severity == delivery.SeverityInfo {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: %d notices: %v", name, n, b.Front.Notices())
		}
	}
}

// A turn of many calls in a tiny window ends with an answer.
func TestLongTurnInATinyWindow(t *testing.T) {
	const steps = 25
	p := agenttest.Sees(agenttest.Endpoint)
	p.Context = 8_000
	b := agenttest.New(t, agenttest.Options{Profile: p, With: agenttest.Reduces, Tools: toolsOf(outputs(4_000)), Script: func(n int, r agenttest.Received) agenttest.Reply {
		switch {
		case len(r.Body) > 4*8_000:
			return agenttest.Reply{agenttest.Fail{Err: &provider.Error{Failure: delivery.Failure{Kind: delivery.FailOverflow}, Message: "too long"}}}
		case n < steps:
			return calls(agenttest.Call(fmt.Sprint("c", n), "dump", fmt.Sprintf(`{"n":%d}`, n)))
		}
		return agenttest.Reply{agenttest.Say("done")}
	}})
	b.Must(t.Context(), "go on")
	contains(t, b.Last().Text, fmt.Sprintf(`{"n":%d}output`, steps-1), "not shown: it was left out to keep the context short enough")
	if n := len(b.Provider.Requests()); n != steps+1 {
		t.Errorf("%d requests", n)
	}
	if !noticed(b.Front, "is not shown; the model is told so") {
		t.Errorf("notices %v", b.Front.Notices())
	}
}
