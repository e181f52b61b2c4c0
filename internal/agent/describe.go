package agent

import (
	"context"
	"slices"
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// describeTimeout bounds what a turn waits for a server's word about itself.
const describeTimeout = 5 * time.Second

// describe asks the server what it says of itself, before the first medium of a
// turn goes to a model of which nothing stronger is known. Its word may withhold
// media or lead to a probe; it enables nothing. An error settles nothing. again
// says that what is known has changed.
func (t *turn) describe(ctx context.Context, plan delivery.Plan) (again bool, err error) {
	if t.s.a.o.Describer == nil || t.described || !t.unproven(plan) {
		return false, nil
	}
	t.described = true
	short, cancel := context.WithTimeout(ctx, describeTimeout)
	changed, err := t.s.a.o.Describer.Describe(short, t.model.Name)
	cancel()
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil || !changed {
		return false, nil
	}
	before := t.model.Profile
	m, err := t.s.a.o.Models.Model(ctx, t.model.Name)
	if err != nil {
		return false, err
	}
	t.adopt(m)
	for _, k := range mediaKinds {
		if !t.holds(k) {
			continue
		}
		was, is := capability(&before, k), capability(&m.Profile, k)
		if is.Answer == delivery.No && is.Evidence == delivery.EvidenceServer && was.Answer != delivery.No {
			t.notice(delivery.SeverityWarning, m.called()+" takes no "+nounOf(k), is.Detail)
		}
	}
	return true, t.learn(ctx)
}

// adopt goes on with what is now known of the model, and with what this turn has
// learned about it.
func (t *turn) adopt(m Model) {
	t.model = m
	if t.hoisted {
		t.model.Profile.Placement.HoistResults = true
	}
	if t.s.forgetful {
		t.model.Profile.Placement.NoReasoning = true
	}
}

// mediaKinds are the kinds that a model may or may not take as they are.
var mediaKinds = [...]content.Kind{content.KindImage, content.KindAudio, content.KindDocument}

func capability(p *delivery.Profile, k content.Kind) delivery.Capability {
	switch k {
	case content.KindImage:
		return p.Images
	case content.KindAudio:
		return p.Audio
	case content.KindDocument:
		return p.Documents
	case content.KindText, content.KindResourceText, content.KindResourceLink, content.KindOpaque:
	}
	return delivery.Capability{Answer: delivery.Yes, Evidence: delivery.EvidenceBinding} // it is text in the end
}

func nounOf(k content.Kind) string {
	if k == content.KindImage {
		return "pictures"
	}
	if k == content.KindAudio {
		return "sound"
	}
	return "documents"
}

// measured reports whether evidence is stronger than a server's own word.
func measured(e delivery.Evidence) bool {
	switch e {
	case delivery.EvidenceBinding, delivery.EvidenceAnswered, delivery.EvidenceProbe:
		return true
	case delivery.EvidenceNone, delivery.EvidenceCatalogue, delivery.EvidenceServer:
	}
	return false
}

// unproven reports whether a plan sends a medium that this endpoint has not
// taken before, or holds one back, without having measured whether the model
// takes it. What earlier turns held back does not count: a prompt of text does
// not wait for it.
func (t *turn) unproven(plan delivery.Plan) bool {
	var current map[content.Handle]bool
	for i := range plan.Orders() {
		o := &plan.Orders()[i]
		c := capability(&t.model.Profile, o.Block().Kind())
		if measured(c.Evidence) || c.Answer == delivery.No {
			continue
		}
		if o.Cut != nil || !o.Send.IsZero() && !t.facts.Proven[o.Send.Digest] {
			return true
		}
		if current == nil {
			current = handlesOf(t.conversation[t.opened:])
		}
		if a, _ := content.AttachmentOf(o.Block()); c.Answer == delivery.Unknown && a.Fault == content.FaultNone && current[o.Handle] {
			return true // what has a fault is held back whatever the model takes
		}
	}
	return false
}

// holds reports whether a block of the current turn is of a kind.
func (t *turn) holds(k content.Kind) bool {
	for _, m := range t.conversation[t.opened:] {
		if slices.ContainsFunc(m.Blocks(), func(b content.Block) bool { return b.Kind() == k }) {
			return true
		}
	}
	return false
}

// handlesOf are the handles of all blocks of some messages.
func handlesOf(ms []content.Message) map[content.Handle]bool {
	out := map[content.Handle]bool{}
	for _, m := range ms {
		for _, b := range m.Blocks() {
			out[b.BlockHandle()] = true
		}
	}
	return out
}

// remark tells what a backend did with the request in its own way.
func (t *turn) remark(a *answer, r provider.Remark) {
	severity := delivery.SeverityInfo
	if r.Lost {
		severity, a.lost = delivery.SeverityWarning, true
	}
	t.notice(severity, "the backend says: "+r.Text, "")
}
