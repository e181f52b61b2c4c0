package app

import (
	"context"
	"time"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/history"
	"tote/internal/profile"
)

// records is the history, as the agent knows it.
type records struct {
	db  *history.DB
	now func() time.Time
}

func fromStored(s agent.Stored) history.Session {
	return history.Session{
		ID: s.ID, Title: s.Title, Cwd: s.Cwd, Agent: s.Agent, Dirs: s.Dirs, Generation: s.Generation,
		Created: s.Created, Updated: s.Updated, Turns: s.Turns, Pictures: s.Pictures, Parent: s.Parent, Kind: s.Kind, Mode: s.Mode,
	}
}

// ToStored is a session of the history, as the agent lists it.
func ToStored(s history.Session) agent.Stored {
	return agent.Stored{
		ID: s.ID, Title: s.Title, Cwd: s.Cwd, Agent: s.Agent, Dirs: s.Dirs, Generation: s.Generation,
		Created: s.Created, Updated: s.Updated, Turns: s.Turns, Pictures: s.Pictures, Parent: s.Parent, Kind: s.Kind, Mode: s.Mode,
	}
}

// CreateSession implements agent.SessionRecorder.
func (r records) CreateSession(ctx context.Context, s agent.Stored) error {
	if s.Kind != "" {
		return r.db.CreateChild(ctx, fromStored(s), s.Parent)
	}
	return r.db.CreateSession(ctx, fromStored(s))
}

// UpdateSession implements agent.SessionRecorder.
func (r records) UpdateSession(ctx context.Context, s agent.Stored) error {
	return r.db.UpdateSession(ctx, fromStored(s))
}

// Session implements agent.SessionRecorder.
func (r records) Session(ctx context.Context, id string) (agent.Stored, error) {
	s, err := r.db.Session(ctx, id)
	return ToStored(s), err
}

// BeginTurn implements agent.TurnRecorder.
func (r records) BeginTurn(ctx context.Context, session string, t content.Turn) error {
	return r.db.BeginTurn(ctx, session, t)
}

// AppendMessage implements agent.TurnRecorder.
func (r records) AppendMessage(ctx context.Context, session, turn string, m content.Message) error {
	return r.db.AppendMessage(ctx, session, turn, m)
}

// SaveDraft implements agent.TurnRecorder.
func (r records) SaveDraft(ctx context.Context, session, turn, text string) error {
	return r.db.SaveDraft(ctx, session, turn, text)
}

// EndTurn implements agent.TurnRecorder.
func (r records) EndTurn(ctx context.Context, session, turn string, stop content.StopReason, u content.Usage) error {
	return r.db.EndTurn(ctx, session, turn, stop, u)
}

// Load implements agent.TurnRecorder.
func (r records) Load(ctx context.Context, session string) ([]content.Turn, error) {
	return r.db.Load(ctx, session)
}

// Envelopes implements agent.TurnRecorder.
func (r records) Envelopes(ctx context.Context, session string, fn func(turn string, n int, env content.Envelope) error) error {
	return r.db.Envelopes(ctx, session, func(turn string, n int, _ content.Part, env content.Envelope) error {
		return fn(turn, n, env)
	})
}

// TakeHandles implements agent.SessionRecorder.
func (r records) TakeHandles(ctx context.Context, session string, counts map[content.Kind]int) (map[content.Kind]int, error) {
	return r.db.TakeHandles(ctx, session, counts)
}

// Ledger implements agent.LaneMemory.
func (r records) Ledger(ctx context.Context, session string, lane agent.Lane) (map[content.Handle]delivery.LedgerEntry, error) {
	return r.db.Ledger(ctx, session, history.Lane(lane))
}

// SaveLedger implements agent.LaneMemory.
func (r records) SaveLedger(ctx context.Context, session string, lane agent.Lane, rows map[content.Handle]delivery.LedgerEntry) error {
	return r.db.SaveLedger(ctx, session, history.Lane(lane), rows)
}

// SaveReceipts implements agent.LaneMemory.
func (r records) SaveReceipts(ctx context.Context, session, turn string, request, attempt int, rs []delivery.Receipt) error {
	return r.db.SaveReceipts(ctx, session, turn, request, attempt, rs)
}

// NextRequest implements agent.LaneMemory.
func (r records) NextRequest(ctx context.Context, session string) (int, error) {
	return r.db.NextRequest(ctx, session)
}

// Facts implements agent.EndpointMemory.
func (r records) Facts(ctx context.Context, endpoint string) (delivery.Facts, error) {
	now := r.now()
	rows, err := r.db.Verdicts(ctx, endpoint, now)
	if err != nil {
		return delivery.Facts{}, err
	}
	limits, err := r.db.Limits(ctx, endpoint)
	if err != nil {
		return delivery.Facts{}, err
	}
	vs := make([]profile.Verdict, 0, len(rows))
	for _, v := range rows {
		vs = append(vs, profile.Verdict{Digest: v.Digest, MIME: v.MIME, Accepted: v.Accepted, Reason: v.Reason, Until: v.Until})
	}
	return profile.Facts(vs, limits, now), nil
}

// SaveVerdicts implements agent.EndpointMemory.
func (r records) SaveVerdicts(ctx context.Context, vs []agent.Verdict) error {
	now := r.now()
	for _, v := range vs {
		p := verdict(v, now)
		if err := r.db.SaveVerdict(ctx, history.Verdict{
			Endpoint: v.Endpoint, Digest: p.Digest, MIME: p.MIME, Accepted: p.Accepted, Reason: p.Reason, Until: p.Until, Created: now,
		}); err != nil {
			return err
		}
	}
	return nil
}

// verdict gives what was learned the time for which it counts.
func verdict(v agent.Verdict, now time.Time) profile.Verdict {
	switch {
	case v.Accepted:
		return profile.Accepted(content.Blob{Digest: v.Digest, MIME: v.MIME})
	case v.Digest.IsZero():
		return profile.RefusedType(v.MIME, v.Reason, now)
	case v.Doubtful:
		return profile.DoubtedPicture(content.Blob{Digest: v.Digest, MIME: v.MIME}, v.Reason, now)
	}
	return profile.RefusedPicture(content.Blob{Digest: v.Digest, MIME: v.MIME}, v.Reason, v.Suspects, now)
}

// SaveEvidence implements agent.EndpointMemory.
func (r records) SaveEvidence(ctx context.Context, endpoint string, k content.Kind, c delivery.Capability) error {
	return r.db.SaveEvidence(ctx, history.Evidence{
		Endpoint: endpoint, Kind: k, Answer: c.Answer, Evidence: c.Evidence, Detail: c.Detail, At: r.now(),
	})
}

// SaveLimit implements agent.EndpointMemory.
func (r records) SaveLimit(ctx context.Context, endpoint, name string, value int64) error {
	return r.db.SaveLimit(ctx, endpoint, name, value)
}
