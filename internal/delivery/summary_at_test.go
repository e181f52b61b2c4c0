package delivery_test

import (
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/delivery"
)

// A summary is wanted earlier where the user wants the window less full.
func TestSummaryAt(t *testing.T) {
	var messages []content.Message
	for range 40 {
		messages = append(messages,
			content.Message{Role: content.RoleUser, Parts: []content.Part{content.Text{Body: strings.Repeat("word ", 200)}}},
			content.Message{Role: content.RoleAssistant, Parts: []content.Part{content.Text{Body: "ok"}}})
	}
	messages = append(messages, content.Message{Role: content.RoleUser, Parts: []content.Part{content.Text{Body: "now"}}})
	in := delivery.Input{Messages: messages, Current: len(messages) - 1, Profile: delivery.Profile{Context: 20_000}}
	for at, want := range map[int]bool{0: false, 90: false, 30: true} {
		in.Budgets.Summary = at
		if got := delivery.Decide(in).WantsSummary(); got != want {
			t.Errorf("at %d %%: wants a summary = %v, want %v", at, got, want)
		}
	}
}
