package agent

import (
	"fmt"

	"tote/internal/delivery"
)

// This file answers a backend that finds a request longer than its window.

// overflowed notes what the next try may take: at most the window that the backend
// named, 0 for none, and less than this try by its estimate.
func (t *turn) overflowed(r *request, ready settled, window int) {
	t.facts.DropHistory = true
	if window > 0 {
		r.context = window
		t.lowerContext(window)
		t.refit(window)
	}
	t.facts.MaxTokens = fewer(ready.estimates)
}

// besides is what may come into the place of earlier turns that are left out, in
// tokens: a line that says so, and lines for their attachments.
const besides = 600

// fewer is how many tokens the next try may take after e did not fit. What cannot
// give way does not count, so that the newest picture is not given up for tools that
// are sent in any case; and as long as there is something of earlier turns, the
// current one is left whole.
func fewer(e delivery.Estimates) int64 {
	half := e.Fixed + max(0, e.Whole-e.Fixed)/2
	if e.Alone < e.Whole {
		half = max(half, min(e.Whole-1, e.Alone+e.Alone/10+besides))
	}
	return max(1, half)
}

// refit leaves tools out in mid-turn where the window is smaller than was thought.
// That changes what the request begins with, but of a request that was refused
// nothing is in a cache.
func (t *turn) refit(window int) {
	before := t.tools.size()
	if n := t.tools.fit(window); n > 0 && !t.model.Runner {
		t.facts.Fixed -= before - t.tools.size()
		t.front.Noticed(Noticed{Notice: fewerTools(n)})
	}
}

// fewerTools says that n tools do not go with the requests.
func fewerTools(n int) delivery.Notice {
	return delivery.Notice{
		Severity: delivery.SeverityInfo, Title: fmt.Sprintf("the model's window is small: %d of the tools are left out", n),
		Detail: "if it is larger than that, set limits.context_tokens of the provider",
	}
}
