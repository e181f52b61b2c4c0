package agent

import (
	"context"
	"fmt"
	"path/filepath"

	"tote/internal/content"
	"tote/internal/delivery"
)

// Preview says what would happen to each source on a model, without sending
// anything and without a session.
func (a *Agent) Preview(ctx context.Context, agent, cwd string, sources []content.Source) ([]delivery.Receipt, Model, error) {
	m, err := a.o.Models.Model(ctx, agent)
	if err != nil {
		return nil, m, err
	}
	facts, err := a.o.Endpoints.Facts(ctx, m.Profile.Endpoint)
	if err != nil {
		return nil, m, fmt.Errorf("read what is known about the model: %w", err)
	}
	_, facts.Files = a.o.Tools.Lookup("read")
	var eyes Model
	eyes, facts.Describer = a.describer(ctx, m)
	message := content.Message{Role: content.RoleUser}
	counts := make(map[content.Kind]int)
	for _, src := range sources {
		blocks, _, err := a.o.Inlet.Ingest(ctx, src, Scope{Cwd: cwd, Roots: []string{filepath.Clean(cwd)}, Forbidden: a.o.Forbidden})
		if err != nil {
			return nil, m, fmt.Errorf("take in the files: %w", err)
		}
		for _, b := range blocks {
			counts[b.Kind()]++
			message.Parts = append(message.Parts, content.WithHandle(b, content.NewHandle(b.Kind(), counts[b.Kind()], a.o.Inlet.Extension(b))))
		}
	}
	plan := delivery.Decide(delivery.Input{
		Profile: m.Profile, Messages: []content.Message{message}, Budgets: a.o.Policy().Budgets, Facts: facts,
	})
	results := delivery.Results{
		Variants: map[content.Handle]content.Blob{}, Texts: map[content.Handle]string{},
		Paths: map[content.Handle]string{}, Failed: map[content.Handle]delivery.Failed{},
		Descriptions: map[content.Handle]delivery.Description{},
	}
	for _, o := range plan.Orders() {
		if o.Describe { // only that there will be one
			results.Descriptions[o.Handle] = delivery.Description{Model: eyes.called(), Text: "\u2026"}
		}
		switch {
		case o.Cut != nil:
			at, _ := content.AttachmentOf(o.Block())
			v, err := a.o.Cutter.Cut(ctx, at.Original, *o.Cut)
			if err != nil {
				results.Failed[o.Handle] = delivery.Failed{Reason: delivery.ReasonPrepareFailed, Detail: err.Error()}
				continue
			}
			results.Variants[o.Handle] = v
		case !o.Load.IsZero():
			results.Texts[o.Handle] = "\u200b" // only that there is a text
		case !o.Stage.IsZero():
			results.Paths[o.Handle] = string(o.Handle)
		}
	}
	_, receipts, _ := delivery.Settle(plan, results)
	return receipts, m, nil
}
