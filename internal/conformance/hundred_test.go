package conformance_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider/providertest"
)

// TestHundredCalls has a model read a hundred large files in one turn, in a window
// that holds a few of them. Its server counts for itself and refuses what is too
// much: it never has to.
func TestHundredCalls(t *testing.T) {
	t.Parallel()
	for _, g := range tongues() {
		if !tried(g.kind) {
			continue
		}
		t.Run(g.kind, func(t *testing.T) {
			t.Parallel()
			calls := 100
			if testing.Short() {
				calls = 30
			}
			const window = 32_000
			r := newRig(t, g)
			most, trimmed := 0, 0
			r.on("main", func(n int, l letter) providertest.Reply {
				tokens := tokensOf(l)
				most = max(most, tokens)
				trimmed += bytes.Count(l.body, []byte("of this old output were left out"))
				full, _ := overflow(&g)
				switch {
				case tokens > window:
					return full
				case n < calls:
					return g.asks(counted(tokens), content.ToolCall{ID: fmt.Sprintf("call-%d", n), Name: "read", Arguments: fmt.Sprintf(`{"path":"big-%d.txt"}`, n)})
				}
				return r.said(counted(tokens), "done")
			})
			w := newWorld(t, cast(`,"limits":{"max_steps":200}`, r.within("main", "true", fmt.Sprintf(`"context_tokens":%d,"output_tokens":4000`, window), "")))
			for i := range calls {
				w.file(fmt.Sprintf("big-%d.txt", i), []byte(fmt.Sprintf("mark-%d\n", i)+strings.Repeat(fmt.Sprintf("line of file %d, as good as any\n", i), 250+i%7*100)))
			}
			p := w.launch()
			defer p.stop()
			f := p.prompt(p.with("main"), prose("mark-prompt: read them all"))
			if n := voided(f); n > 0 {
				t.Errorf("%d attempts were withdrawn: %q", n, f.Notices())
			}
			all := r.got("main")
			if len(all) != calls+1 {
				t.Errorf("%d requests for %d calls", len(all), calls)
			}
			for i, l := range all {
				if !bytes.Contains(l.body, []byte("mark-prompt: read them all")) {
					t.Errorf("request %d is without the prompt", i)
				}
				if i > 0 && i <= calls && !bytes.Contains(l.body, fmt.Appendf(nil, "mark-%d", i-1)) {
					t.Errorf("request %d is without the newest result", i)
				}
			}
			told, ended := trims(f.Events())
			if told == 0 || trimmed == 0 || ended != calls {
				t.Errorf("%d receipts tell of trimmed outputs, %d are on the wire, %d calls ended", told, trimmed, ended)
			}
			t.Logf("%d calls, at most %d of %d tokens, %d receipts of trimmed outputs", calls, most, window, told)
		})
	}
}

// trims counts the receipts of outputs without their middle, and the calls that
// ended well.
func trims(events []agent.Event) (receipts, ended int) {
	for _, e := range events {
		list, _ := e.(agent.Receipts) // anything else has none
		for _, x := range list.List {
			if x.Reason == delivery.ReasonTrimmed && x.Partial && x.Disposition == delivery.Inline {
				receipts++
			}
		}
		if end, ok := e.(agent.ToolFinished); ok && !end.IsError {
			ended++
		}
	}
	return receipts, ended
}
