package project

// Head gives the head of a file and its body.
func Head(text string) (map[string]string, string) { return split(text) }

// Pointer reports whether a text only points at AGENTS.md.
func Pointer(text string) bool { return pointer(text) }

// MatchesAny matches patterns of rules.
func MatchesAny(patterns []string, name string) bool { return matchesAny(patterns, name) }

// Fill puts arguments into a text.
func Fill(body, args string) ([]Piece, int) { return fill(body, args) }

// The bounds that tests pass.
const (
	MaxFile   = maxFile
	MaxRules  = maxRules
	MaxPrompt = maxPrompt
)
