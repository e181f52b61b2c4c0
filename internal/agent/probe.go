package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/permission"
	"tote/internal/provider"
)

// probeTimeout bounds a probe.
const probeTimeout = 30 * time.Second

// probe finds out whether the model sees: an ordinary prompt with a small
// generated picture that shows a code. It changes what is known, and says so.
// changed is false when the answer stays unknown.
func (t *turn) probe(ctx context.Context) (changed bool, err error) {
	if t.policy.Probe == ProbeAsk {
		p, err := t.front.Ask(ctx, Question{
			Request: permission.Request{Tool: "probe", Action: permission.Fetch, Detail: t.model.Profile.Model},
			Title:   "Send " + t.model.Profile.Model + " a small test picture", Reason: "it is not known whether it takes pictures",
		})
		if err != nil || p == PermitDeny {
			return false, ctx.Err()
		}
	}
	answer, err := t.s.a.Probe(ctx, t.model)
	if err != nil {
		return false, err
	}
	name := t.model.Profile.Model
	switch answer {
	case delivery.Yes:
		t.notice(delivery.SeverityInfo, name+" was sent a small test picture, and sees pictures", "remembered for this backend")
	case delivery.No:
		t.notice(delivery.SeverityWarning, name+" was sent a small test picture, and does not take pictures", `pictures go by path; set "vision": true for the agent if that is wrong`)
	case delivery.Unknown:
		t.notice(delivery.SeverityWarning, name+" was sent a small test picture, and it stays unknown whether it sees", `pictures go by path; set "vision": true for the agent to send them`)
	}
	m, err := t.s.a.o.Models.Model(ctx, t.model.Name)
	if err != nil {
		return false, err
	}
	t.model = m
	if answer == delivery.Unknown {
		return false, nil
	}
	return true, t.learn(ctx)
}

// Probe sends a model one small picture, judges the answer and keeps the
// evidence.
func (a *Agent) Probe(ctx context.Context, m Model) (delivery.Answer, error) {
	png, code, question, err := a.o.Prober.Picture(a.o.Rand())
	if err != nil {
		return delivery.Unknown, fmt.Errorf("draw the test picture: %w", err)
	}
	short, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	text, usage, failure := a.look(short, m, png, question)
	if ctx.Err() != nil {
		return delivery.Unknown, ctx.Err()
	}
	answer := a.o.Prober.Judge(code, text, usage, failure)
	c := delivery.Capability{Answer: answer, Evidence: delivery.EvidenceProbe}
	if err := a.o.Endpoints.SaveEvidence(ctx, m.Profile.Endpoint, content.KindImage, c); err != nil {
		return answer, fmt.Errorf("record the probe: %w", err)
	}
	return answer, nil
}

// look asks a model about one picture, outside any session.
func (a *Agent) look(ctx context.Context, m Model, png []byte, question string) (string, content.Usage, delivery.Failure) {
	blob := content.Blob{Digest: sha256.Sum256(png), MIME: "image/png", Size: int64(len(png)), Width: 1, Height: 1}
	p := m.Profile
	p.Images = delivery.Capability{Answer: delivery.Yes}
	if len(p.ImageLimits.MIMEs) == 0 {
		p.ImageLimits.MIMEs = []string{blob.MIME} // whether it takes any is the question
	}
	plan := delivery.Decide(delivery.Input{Profile: p, Messages: []content.Message{{Role: content.RoleUser, Parts: []content.Part{
		content.Image{Attachment: content.Attachment{Handle: "image-1.png", Original: blob, Prepared: blob}, Frames: 1},
		content.Text{Handle: "text-1", Body: question},
	}}}})
	prompt, _, _ := delivery.Settle(plan, delivery.Results{})
	body, err := m.Provider.Encode(provider.Request{Prompt: prompt, Blobs: single{blob.Digest, png}, MaxOutput: probeOutput})
	if err != nil {
		return "", content.Usage{}, delivery.Failure{Kind: delivery.FailProtocol}
	}
	var out answer
	for ev, err := range m.Provider.Stream(ctx, body) {
		if err != nil {
			return out.text.String(), out.usage, asError(err).Failure
		}
		switch ev := ev.(type) {
		case provider.TextDelta:
			out.text.WriteString(ev.Text)
		case provider.UsageReport:
			out.usage = ev.Usage
		case provider.ThoughtDelta, provider.Thought, provider.Call, provider.Retry, provider.Finish:
		}
	}
	return out.text.String(), out.usage, delivery.Failure{}
}

// probeOutput leaves room for a model that thinks before it answers.
const probeOutput = 2000

// single holds the bytes of one blob in memory.
type single struct {
	digest content.Digest
	data   []byte
}

// Open implements provider.Blobs.
func (s single) Open(d content.Digest) (io.ReadCloser, error) {
	if d != s.digest {
		return nil, fmt.Errorf("open blob %s: only the test picture is here", d.Short())
	}
	return io.NopCloser(bytes.NewReader(s.data)), nil
}
