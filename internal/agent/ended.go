package agent

import (
	"fmt"

	"tote/internal/content"
	"tote/internal/delivery"
)

// This file says what is odd about the answer that ends a turn: an answer that was
// cut, withheld or never given must not look like one that is whole.

// ended tells it where it has to be told.
func (t *turn) ended(a *answer) {
	silent := a.silent()
	switch a.stop {
	case content.StopMaxTokens:
		t.reachedLimit(a)
	case content.StopRefusal:
		said := ""
		if a.note != "" {
			said = "; its reason: " + content.Clean(a.note)
		}
		switch {
		case silent && said == "":
			t.notice(delivery.SeverityWarning, "the model or its provider refused to answer and gave no reason", "word the prompt otherwise, or choose another model")
		case silent:
			t.notice(delivery.SeverityWarning, "the model or its provider refused to answer", "word the prompt otherwise, or choose another model"+said)
		case a.note != "" && a.note != inWords:
			t.notice(delivery.SeverityWarning, "the answer may not be whole: the model or its provider stopped it", "word the prompt otherwise, or choose another model"+said)
		}
	case content.StopEndTurn:
		if silent {
			t.notice(delivery.SeverityWarning, "the model answered nothing", "ask again, or choose another model")
		}
	case content.StopNone, content.StopMaxSteps, content.StopCancelled, content.StopFailed:
	}
}

// inWords is the note of a refusal that the model words itself, so that it is its own
// notice.
const inWords = "refusal"

// reachedLimit tells of an answer that reached the limit on its length.
func (t *turn) reachedLimit(a *answer) {
	limit := "the longest answer that the model or its provider gives"
	if n := int64(t.model.Profile.Output); n > 0 {
		limit = fmt.Sprintf("its limit of %d tokens", n)
	} else if u := a.usage.Output; u.Known && u.N > 0 {
		limit = fmt.Sprintf("its limit, after %d tokens", u.N)
	}
	title, detail := "the answer was cut at "+limit, "ask it to go on"
	if a.silent() {
		title, detail = "the model came to "+limit+" before it said anything", "ask for less at once"
		if a.thinks() {
			detail = "most of it was thinking: choose a lower effort, or ask for less at once"
		}
	}
	t.notice(delivery.SeverityWarning, title+" (limits.output_tokens)", detail+"; limits.output_tokens of the provider raises the limit where the model allows it")
}
