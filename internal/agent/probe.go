package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
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
			Request: permission.Request{Tool: "probe", Action: permission.Fetch, Detail: t.model.called()},
			Title:   "Send " + t.model.called() + " a small test picture", Reason: "it is not known whether it takes pictures",
		})
		if err != nil || p == PermitDeny {
			return false, ctx.Err()
		}
	}
	name := t.model.called()
	t.notice(delivery.SeverityInfo, "asking "+name+" whether it sees pictures, with a small test picture",
		fmt.Sprintf("this happens once and may take up to %v", probeTimeout))
	answer, err := t.s.a.Probe(ctx, t.model)
	var trouble *ProbeError
	switch {
	case errors.As(err, &trouble):
		t.notice(delivery.SeverityWarning, name+" could not be asked whether it sees pictures", trouble.Error())
		return false, nil
	case err != nil:
		return false, err
	}
	switch answer {
	case delivery.Yes:
		t.notice(delivery.SeverityInfo, name+" sees pictures: the test picture reached it", "remembered for this backend")
	case delivery.No:
		t.notice(delivery.SeverityWarning, name+" does not take pictures: it refused or did not see the test picture", `pictures go by path; set "vision": true for the agent, or run tote probe, if that is wrong`)
	case delivery.Unknown:
		t.notice(delivery.SeverityWarning, name+" answered without reading the test picture: it stays unknown whether it sees", `pictures go by path; set "vision": true for the agent to send them`)
	}
	m, err := t.s.a.o.Models.Model(ctx, t.model.Name)
	if err != nil {
		return false, err
	}
	t.adopt(m)
	if answer == delivery.Unknown {
		return false, nil
	}
	return true, t.learn(ctx)
}

// ProbeError says why a probe settled nothing: the backend was not reached, or
// answered about something else than the picture. Nothing is remembered of it.
type ProbeError struct{ Err error }

// Error implements error.
func (e *ProbeError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ProbeError) Unwrap() error { return e.Err }

// Probe sends a model one small picture, judges the answer and keeps the
// evidence. An error may be a *ProbeError.
func (a *Agent) Probe(ctx context.Context, m Model) (delivery.Answer, error) {
	png, code, question, err := a.o.Prober.Picture(a.o.Rand())
	if err != nil {
		return delivery.Unknown, fmt.Errorf("draw the test picture: %w", err)
	}
	short, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	text, usage, failed := a.look(short, m, png, question)
	var failure delivery.Failure
	switch {
	case ctx.Err() != nil:
		return delivery.Unknown, ctx.Err()
	case short.Err() != nil:
		return delivery.Unknown, &ProbeError{fmt.Errorf("no answer within %v", probeTimeout)}
	case failed != nil && !aboutThePicture(failed.Failure.Kind):
		return delivery.Unknown, &ProbeError{failed}
	case failed != nil:
		failure = failed.Failure
	}
	answer := a.o.Prober.Judge(code, text, usage, failure)
	c := delivery.Capability{Answer: answer, Evidence: delivery.EvidenceProbe}
	if err := a.o.Endpoints.SaveEvidence(ctx, m.Profile.Endpoint, content.KindImage, c); err != nil {
		return answer, fmt.Errorf("record the probe: %w", err)
	}
	return answer, nil
}

// aboutThePicture tells failures that may be an answer to the test picture from
// those that would meet any request.
func aboutThePicture(k delivery.FailureKind) bool {
	switch k {
	case delivery.FailRefused, delivery.FailTooLarge, delivery.FailOverflow, delivery.FailDropped:
		return true
	case delivery.FailNone, delivery.FailCancelled, delivery.FailAuth, delivery.FailBilling, delivery.FailPermission,
		delivery.FailRateLimit, delivery.FailSchema, delivery.FailUpload, delivery.FailServer, delivery.FailNetwork,
		delivery.FailStream, delivery.FailProtocol:
		return false
	}
	return false
}

// look asks a model about one picture, outside any session.
func (a *Agent) look(ctx context.Context, m Model, png []byte, question string) (string, content.Usage, *provider.Error) {
	// Its size in pixels is left out: no limit is near, and the label need
	// not tell it.
	blob := content.Blob{Digest: sha256.Sum256(png), MIME: "image/png", Size: int64(len(png))}
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
	got, failed := once(ctx, m, provider.Request{Prompt: prompt, Blobs: single{blob.Digest, png}, MaxOutput: probeOutput})
	if failed != nil && failed.Failure.Kind == delivery.FailStream && !got.finished && got.text() != "" {
		failed = nil // what it had said until then tells enough
	}
	return got.text(), got.usage, failed
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
