package headless

import (
	"errors"

	"tote/internal/content"
)

// Problem is an error as a person or a script is told about it.
type Problem struct {
	// Kind is a word that scripts may branch on.
	Kind string
	// Message says what went wrong, Hint what can be done, "" for nothing.
	Message, Hint string
}

// hinted is an error that knows what the user can do.
type hinted interface {
	error
	Kind() string
	UserHint() string
}

// Explain turns an error into what is shown.
func Explain(err error) Problem {
	p := Problem{Kind: "failed", Message: oneLine(err.Error())}
	var h hinted
	if errors.As(err, &h) {
		p.Kind, p.Hint = h.Kind(), h.UserHint()
	}
	return p
}

// oneLine keeps a message from ending its line or driving the terminal.
func oneLine(s string) string {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		if r < ' ' || r == 0x7f || r > 0x7f && content.Clean(string(r)) == "_" {
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}
