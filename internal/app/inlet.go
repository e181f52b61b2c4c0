package app

import (
	"context"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/ingest"
	"tote/internal/store"
)

// inlet is the one inlet, as the agent knows it.
type inlet struct {
	in    *ingest.Inlet
	store *store.Store
}

// Ingest implements agent.Inlet.
func (i inlet) Ingest(ctx context.Context, s content.Source, sc agent.Scope) ([]content.Block, []content.Envelope, error) {
	return i.in.Ingest(ctx, s, ingest.Scope{
		Cwd: sc.Cwd, Roots: sc.Roots, Forbidden: sc.Forbidden, Ask: sc.Ask, Lookup: sc.Lookup,
	})
}

// Extension implements agent.Inlet.
func (inlet) Extension(b content.Block) string { return ingest.Extension(b) }

// Mentions implements agent.Inlet.
func (inlet) Mentions(text string) []string { return ingest.Mentions(text) }

// Restore implements agent.Inlet.
func (i inlet) Restore(e content.Envelope) ([]byte, error) { return ingest.Restore(e, i.store) }
