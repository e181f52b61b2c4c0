package agent

import (
	"context"

	"tote/internal/content"
	"tote/internal/permission"
)

// Question is what a user is asked to permit.
type Question struct {
	// Call is the tool call it is about, zero for a file of the prompt.
	Call    content.ToolCall
	Request permission.Request
	Title   string
	Reason  string
	// Rule is what PermitSession and PermitAlways allow; its zero value means
	// that neither can be offered for more than this very request.
	Rule permission.Rule
	// Looser are the modes that would have asked nothing, the narrowest first.
	Looser []permission.Mode
	// Preview is what will be written or run, whole, for people: a diff, a
	// command. "" for none.
	Preview string
}

// Permit is a user's answer. The zero value denies, so an answer that nobody
// understands is never approval.
type Permit uint8

// The answers.
const (
	PermitDeny Permit = iota
	PermitOnce
	// PermitSession allows what Question.Rule covers for as long as the
	// session is open.
	PermitSession
	// PermitAlways allows it in this project from now on.
	PermitAlways
)

// A Front shows a turn to a user.
type Front interface {
	Visitor
	// Ask asks the user. An error counts as a denial.
	Ask(ctx context.Context, q Question) (Permit, error)
}

// Prompt is what a front hands over for one turn.
type Prompt struct {
	Sources []content.Source
	Front   Front
	// Strict ends the turn with ErrStrict before anything is sent when a
	// block of the prompt would be degraded.
	Strict bool
	// TurnID names the turn, "" makes an id.
	TurnID string
}

// Result is how a turn ended.
type Result struct {
	Turn     string
	Stop     content.StopReason
	Usage    content.Usage
	Degraded bool
}
