package sdk

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/provider"
)

// Answer is what a client made of a model's answer.
type Answer struct {
	Text, Thinking string
	Calls          []Call
	Usage          content.Usage
	Stop           content.StopReason
}

// Call is a tool call. Its arguments are a tree.
type Call struct {
	ID, Name  string
	Arguments any
}

// Reply is an answer that tote read, and what of it belongs into the conversation.
type Reply struct {
	Answer
	Parts []content.Part
	// Remarks are what the user would be told.
	Remarks []string
	Note    string
}

// Ask sends a body and reads the answer.
func Ask(ctx context.Context, tb testing.TB, p provider.Provider, body provider.Body) Reply {
	tb.Helper()
	var r Reply
	for ev, err := range p.Stream(ctx, body) {
		if err != nil {
			tb.Fatal(err)
		}
		switch ev := ev.(type) {
		case provider.TextDelta:
			r.Text += ev.Text
			r.say(ev.Text)
		case provider.ThoughtDelta:
			r.Thinking += ev.Text
			r.think()
		case provider.Thought:
			r.thought(ev.Reasoning)
		case provider.Call:
			r.Calls = append(r.Calls, Call{ev.Call.ID, ev.Call.Name, Tree(tb, []byte(ev.Call.Arguments))})
			r.Parts = append(r.Parts, ev.Call)
		case provider.UsageReport:
			r.Usage = ev.Usage
		case provider.Remark:
			r.Remarks = append(r.Remarks, ev.Text)
		case provider.Finish:
			r.Stop, r.Note = ev.Stop, ev.Note
		case provider.Retry:
			tb.Fatalf("it tries again: %s", ev.Why)
		}
	}
	r.Parts = closed(r.Parts)
	return r
}

// open stands where thinking began that is not finished.
var open = content.Reasoning{Path: "open"}

func (r *Reply) say(text string) {
	if n := len(r.Parts); n > 0 {
		if t, ok := r.Parts[n-1].(content.Text); ok {
			r.Parts[n-1] = content.Text{Body: t.Body + text}
			return
		}
	}
	r.Parts = append(r.Parts, content.Text{Body: text})
}

func (r *Reply) think() {
	if n := len(r.Parts); n == 0 || r.Parts[n-1] != content.Part(open) {
		r.Parts = append(r.Parts, open)
	}
}

// thought puts a finished thought where thinking began, else at the end.
func (r *Reply) thought(t content.Reasoning) {
	for i, p := range r.Parts {
		if t.Text != "" && p == content.Part(open) {
			r.Parts[i] = t
			return
		}
	}
	r.Parts = append(r.Parts, t)
}

func closed(parts []content.Part) []content.Part {
	var out []content.Part
	for _, p := range parts {
		if p != content.Part(open) {
			out = append(out, p)
		}
	}
	return out
}

// Same reports where two clients made something else of the same answer. How an
// SDK's texts stand apart is its user's affair, so line ends at the seams of
// thinking do not count.
func Same(tb testing.TB, ours Reply, theirs Answer) {
	tb.Helper()
	a, b := ours.Answer, theirs
	a.Thinking, b.Thinking = strings.ReplaceAll(a.Thinking, "\n", ""), strings.ReplaceAll(b.Thinking, "\n", "")
	if d := cmp.Diff(b, a); d != "" {
		tb.Errorf("the answer differs (-SDK +tote):\n%s", d)
	}
}
