package hook

// Parse reads the output of a hook.
func Parse(out []byte) (Decision, string) {
	a, what := parse(out)
	return a.decision, what
}

// Encode writes an event.
func Encode(e Event) []byte { return encode(e) }
