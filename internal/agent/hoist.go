package agent

import (
	"context"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// LimitHoist is the name under which it is remembered, as the number 1, that an
// endpoint takes no media in the results of tools: they have to stand in a
// message of the user's after them.
const LimitHoist = "hoist_results"

// hoist answers a refusal of media for the place at which they stood: once, they
// are sent after the results of the tools instead of in them, which opens a new
// lane. It reports whether the request is to be sent so.
func (t *turn) hoist(ctx context.Context, r *request, ready settled, e *provider.Error) (bool, error) {
	placed := e.Failure.Class == delivery.ClassPlacement && !t.model.Profile.Placement.HoistResults
	if !placed || r.hoisted || !t.inResults(ready.prompt) {
		return false, nil
	}
	t.hoisted, r.hoisted = true, true
	t.adopt(t.model)
	return true, t.enter(ctx)
}

// inResults reports whether a prompt of this conversation has media in the
// results of tools.
func (t *turn) inResults(p delivery.Prompt) bool {
	results := map[content.Handle]bool{}
	for _, m := range t.conversation {
		for _, part := range m.Parts {
			if r, ok := part.(content.ToolResult); ok {
				for _, b := range r.Blocks {
					results[b.BlockHandle()] = true
				}
			}
		}
	}
	for _, m := range p.Media() {
		if results[m.Handle] {
			return true
		}
	}
	return false
}
