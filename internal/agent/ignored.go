package agent

import (
	"fmt"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// This file looks for pictures that a backend has taken and not seen.

// dropped is the positive evidence that a picture was lost on the way: the
// backend accounts for pictures and reports none, on the first sending of one.
func (t *turn) dropped(ready settled, got *answer) *provider.Error {
	image := got.usage.Image
	if !image.Known || image.N != 0 || len(freshPictures(ready.prompt)) == 0 {
		return nil
	}
	return &provider.Error{
		Failure: delivery.Failure{Kind: delivery.FailDropped},
		Message: "the backend accounts for zero picture tokens",
	}
}

// freshPictures are the pictures that this endpoint has not proven to accept.
func freshPictures(p delivery.Prompt) []delivery.Sent {
	var out []delivery.Sent
	for _, m := range p.Media() {
		if m.Kind == content.KindImage && !m.Proven {
			out = append(out, m)
		}
	}
	return out
}

const (
	// fewTokens is less than any backend charges for a picture.
	fewTokens = 50
	// farBelow is how many times less than the formula says is far below it:
	// a formula is some way off where a server scales in its own way.
	farBelow = 4
)

// leastTokens is what a picture costs at the very least.
func leastTokens(m delivery.TokenModel, b content.Blob) int64 {
	if m.Rule == delivery.TokensFlat && m.Flat == 0 || m.Rule == delivery.TokensPatch && m.Size == 0 || b.Width == 0 || b.Height == 0 {
		return fewTokens // there is no formula
	}
	return int64(m.PictureTokens(b.Width, b.Height) / farBelow)
}

// warnIgnored warns, on a first sending only, when the tokens reported for the
// whole request are far below what the pictures alone must cost. It never sends
// anything again: that a number is small proves nothing.
func (t *turn) warnIgnored(ready settled, got *answer) {
	u := got.usage
	if !u.Input.Known || u.Image.Known {
		return
	}
	fresh := freshPictures(ready.prompt)
	least := int64(0)
	for _, m := range fresh {
		least += leastTokens(t.model.Profile.Tokens, m.Blob)
	}
	// On some paths the input leaves out what a cache gave or took.
	if reported := u.Input.N + u.Cached.N + u.CacheWrite.N; reported < least {
		t.notice(delivery.SeverityWarning, "the backend may have ignored "+t.names(fresh),
			fmt.Sprintf("it reports %d tokens for the whole request, which is less than such pictures cost; ask it what it sees, or run tote probe", reported))
	}
}
