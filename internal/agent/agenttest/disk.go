package agenttest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/permission"
)

// Disk is a database in memory. It outlives the agents that use it.
type Disk struct {
	mu       sync.Mutex
	sessions map[string]*kept
	evidence map[string]delivery.Capability
	verdicts map[string]map[content.Digest]agent.Verdict
	mimes    map[string]map[string]bool
	limits   map[string]map[string]int64
	fail     func(op string) error
	permits  map[string][]permission.Rule
	// descriptions by picture and question.
	descriptions map[string]delivery.Description
}

// kept is what is stored of one session.
type kept struct {
	stored   agent.Stored
	turns    []content.Turn
	drafts   map[string][]string
	handles  map[content.Kind]int
	ledgers  map[agent.Lane]map[content.Handle]delivery.LedgerEntry
	receipts []Receipt
	requests int
	summary  agent.Summary
	detached map[content.Handle]bool
}

// Receipt is a stored receipt.
type Receipt struct {
	Turn             string
	Request, Attempt int
	delivery.Receipt
}

var (
	_ agent.SessionRecorder = (*Disk)(nil)
	_ agent.TurnRecorder    = (*Disk)(nil)
	_ agent.LaneMemory      = (*Disk)(nil)
	_ agent.EndpointMemory  = (*Disk)(nil)
)

// NewDisk makes an empty database.
func NewDisk() *Disk {
	return &Disk{
		sessions: map[string]*kept{}, evidence: map[string]delivery.Capability{},
		verdicts: map[string]map[content.Digest]agent.Verdict{}, mimes: map[string]map[string]bool{},
		limits: map[string]map[string]int64{}, permits: map[string][]permission.Rule{}, descriptions: map[string]delivery.Description{},
	}
}

// FailWhen decides before every write whether it fails; op is the method's name.
// Nil ends that.
func (d *Disk) FailWhen(f func(op string) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = f
}

// write runs fn on a session, unless the write fails.
func (d *Disk) write(ctx context.Context, op, session string, fn func(*kept) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if d.fail != nil {
		if err := d.fail(op); err != nil {
			return err
		}
	}
	if session == "" {
		return fn(nil)
	}
	k, ok := d.sessions[session]
	if !ok {
		return fmt.Errorf("there is no session %q", session)
	}
	return fn(k)
}

// CreateSession implements agent.SessionRecorder.
func (d *Disk) CreateSession(ctx context.Context, s agent.Stored) error {
	return d.write(ctx, "CreateSession", "", func(*kept) error {
		k := &kept{
			stored: s, drafts: map[string][]string{}, handles: make(map[content.Kind]int),
			ledgers: map[agent.Lane]map[content.Handle]delivery.LedgerEntry{}, detached: map[content.Handle]bool{},
		}
		if from := d.sessions[s.Parent]; from != nil && s.Kind != "" {
			maps.Copy(k.handles, from.handles) // it counts on
		}
		d.sessions[s.ID] = k
		return nil
	})
}

// UpdateSession implements agent.SessionRecorder.
func (d *Disk) UpdateSession(ctx context.Context, s agent.Stored) error {
	return d.write(ctx, "UpdateSession", s.ID, func(k *kept) error {
		k.stored = s
		return nil
	})
}

// Session implements agent.SessionRecorder.
func (d *Disk) Session(_ context.Context, id string) (agent.Stored, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k, ok := d.sessions[id]
	if !ok {
		return agent.Stored{}, fmt.Errorf("there is no session %q", id)
	}
	return k.stored, nil
}

// BeginTurn implements agent.TurnRecorder.
func (d *Disk) BeginTurn(ctx context.Context, session string, t content.Turn) error {
	return d.write(ctx, "BeginTurn", session, func(k *kept) error {
		k.turns = append(k.turns, cloneTurn(t))
		return nil
	})
}

// AppendMessage implements agent.TurnRecorder.
func (d *Disk) AppendMessage(ctx context.Context, session, turn string, m content.Message) error {
	return d.write(ctx, "AppendMessage", session, func(k *kept) error {
		t, err := k.turn(turn)
		if err != nil {
			return err
		}
		t.Messages = append(t.Messages, cloneMessage(m))
		return nil
	})
}

// SaveDraft implements agent.TurnRecorder.
func (d *Disk) SaveDraft(ctx context.Context, session, turn, text string) error {
	return d.write(ctx, "SaveDraft", session, func(k *kept) error {
		k.drafts[turn] = append(k.drafts[turn], text)
		return nil
	})
}

// EndTurn implements agent.TurnRecorder.
func (d *Disk) EndTurn(ctx context.Context, session, turn string, stop content.StopReason, u content.Usage) error {
	return d.write(ctx, "EndTurn", session, func(k *kept) error {
		t, err := k.turn(turn)
		if err != nil {
			return err
		}
		t.Stop, t.Usage = stop, u
		return nil
	})
}

func (k *kept) turn(id string) (*content.Turn, error) {
	for i := range k.turns {
		if k.turns[i].ID == id {
			return &k.turns[i], nil
		}
	}
	return nil, fmt.Errorf("there is no turn %q", id)
}

// Load implements agent.TurnRecorder. A turn that a crash cut off ends with its
// last draft.
func (d *Disk) Load(_ context.Context, session string) ([]content.Turn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k, ok := d.sessions[session]
	if !ok {
		return nil, fmt.Errorf("there is no session %q", session)
	}
	var out []content.Turn
	for _, t := range k.turns {
		t = cloneTurn(t)
		for i := range t.Messages {
			t.Messages[i].Envelopes = nil
		}
		if drafts := k.drafts[t.ID]; t.Stop == content.StopNone && len(drafts) > 0 {
			t.Messages = append(t.Messages, content.Message{
				Role: content.RoleAssistant, Parts: []content.Part{content.Text{Body: drafts[len(drafts)-1]}},
			})
		}
		out = append(out, t)
	}
	return out, nil
}

// Envelopes implements agent.TurnRecorder.
func (d *Disk) Envelopes(ctx context.Context, session string, fn func(turn string, n int, env content.Envelope) error) error {
	d.mu.Lock()
	k, ok := d.sessions[session]
	var turns []content.Turn
	if ok {
		turns = slices.Clone(k.turns)
	}
	d.mu.Unlock()
	if !ok {
		return fmt.Errorf("there is no session %q", session)
	}
	for _, t := range turns {
		for n, e := range t.Messages[0].Envelopes {
			if err := errors.Join(ctx.Err(), fn(t.ID, n, e)); err != nil {
				return err
			}
		}
	}
	return nil
}

// TakeHandles implements agent.SessionRecorder.
func (d *Disk) TakeHandles(ctx context.Context, session string, counts map[content.Kind]int) (map[content.Kind]int, error) {
	out := make(map[content.Kind]int)
	err := d.write(ctx, "TakeHandles", session, func(k *kept) error {
		for kind, n := range counts {
			out[kind] = k.handles[kind] + 1
			k.handles[kind] += n
		}
		return nil
	})
	return out, err
}

// Drafts are the drafts of a turn in order.
func (d *Disk) Drafts(session, turn string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.sessions[session].drafts[turn])
}

// Turns are the stored turns of a session, with their envelopes.
func (d *Disk) Turns(session string) []content.Turn {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []content.Turn
	for _, t := range d.sessions[session].turns {
		out = append(out, cloneTurn(t))
	}
	return out
}

func cloneTurn(t content.Turn) content.Turn {
	t.Messages = slices.Clone(t.Messages)
	for i, m := range t.Messages {
		t.Messages[i] = cloneMessage(m)
	}
	return t
}

// cloneMessage copies what a record keeps: the texts of resources are blobs.
func cloneMessage(m content.Message) content.Message {
	m.Parts, m.Envelopes = slices.Clone(m.Parts), slices.Clone(m.Envelopes)
	for i, p := range m.Parts {
		if r, ok := p.(content.ToolResult); ok {
			r.Blocks = slices.Clone(r.Blocks)
			m.Parts[i] = r
		}
		if r, ok := p.(content.ResourceText); ok {
			r.Body = ""
			m.Parts[i] = r
		}
	}
	return m
}

// Ledger implements agent.LaneMemory.
func (d *Disk) Ledger(_ context.Context, session string, lane agent.Lane) (map[content.Handle]delivery.LedgerEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k, ok := d.sessions[session]
	if !ok {
		return nil, fmt.Errorf("there is no session %q", session)
	}
	return maps.Clone(k.ledgers[lane]), nil
}

// SaveLedger implements agent.LaneMemory.
func (d *Disk) SaveLedger(ctx context.Context, session string, lane agent.Lane, rows map[content.Handle]delivery.LedgerEntry) error {
	return d.write(ctx, "SaveLedger", session, func(k *kept) error {
		if k.ledgers[lane] == nil {
			k.ledgers[lane] = map[content.Handle]delivery.LedgerEntry{}
		}
		maps.Copy(k.ledgers[lane], rows)
		return nil
	})
}

// SaveReceipts implements agent.LaneMemory.
func (d *Disk) SaveReceipts(ctx context.Context, session, turn string, request, attempt int, rs []delivery.Receipt) error {
	return d.write(ctx, "SaveReceipts", session, func(k *kept) error {
		for _, r := range rs {
			k.receipts = append(k.receipts, Receipt{turn, request, attempt, r})
		}
		return nil
	})
}

// NextRequest implements agent.LaneMemory.
func (d *Disk) NextRequest(ctx context.Context, session string) (int, error) {
	n := 0
	err := d.write(ctx, "NextRequest", session, func(k *kept) error {
		k.requests++
		n = k.requests
		return nil
	})
	return n, err
}

// Receipts are the stored receipts of a session in order.
func (d *Disk) Receipts(session string) []Receipt {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.sessions[session].receipts)
}

// Lanes are the lanes that have rows, and how many.
func (d *Disk) Lanes(session string) map[agent.Lane]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := map[agent.Lane]int{}
	for lane, rows := range d.sessions[session].ledgers {
		out[lane] = len(rows)
	}
	return out
}
