package headless

import (
	"strings"
	"unicode"

	"tote/internal/agent"
	"tote/internal/content"
)

// Problem is an error as a person or a script is told about it.
type Problem struct {
	// Kind is a word that scripts may branch on.
	Kind string
	// Message says what went wrong, Hint what can be done, "" for nothing.
	Message, Hint string
}

// Explain turns an error into what is shown. A message of several lines keeps
// them; nothing in it can drive a terminal.
func Explain(err error) Problem {
	kind, message, hint := agent.Explain(err)
	return Problem{Kind: kind, Message: Clean(message), Hint: Clean(hint)}
}

// Clean takes out of a text what would drive a terminal or reorder its letters,
// and keeps its lines.
func Clean(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = oneLine(l)
	}
	return strings.Join(lines, "\n")
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

// harmless is a model's text for a terminal: the control characters that could
// drive it become U+FFFD; lines and tabs stay.
func harmless(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return -1
		case r == '\n' || r == '\t' || !unicode.IsControl(r):
			return r
		}
		return unicode.ReplacementChar
	}, s)
}
