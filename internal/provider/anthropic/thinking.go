package anthropic

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"tote/internal/content"
	"tote/internal/provider"
)

// Thinking is the form in which a model is asked to think.
type Thinking uint8

// The forms. Models up to 4.5 know the budget only, those after 4.6 the
// adaptive form only
// (https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking, read
// 2026-11-30).
const (
	// ThinkingNone says nothing about thinking.
	ThinkingNone Thinking = iota
	// ThinkingBudget gives thinking a number of tokens.
	ThinkingBudget
	// ThinkingAdaptive leaves it to the model, with an effort.
	ThinkingAdaptive
)

// The tokens for thinking by effort, the least that the API takes, and the part
// of the answer that thinking may take at most: it counts as part of it.
const (
	budgetLow    = 2048
	budgetMedium = 8192
	budgetHigh   = 24576
	budgetLeast  = 1024
	budgetShare  = 2
)

// spell gives the fields that ask for thinking, each with a comma before it. Room
// is the largest budget.
func (t Thinking) spell(e provider.Effort, room int) string {
	switch t {
	case ThinkingNone:
		return ""
	case ThinkingBudget:
		n := min(budgetOf(e), room)
		if n < budgetLeast {
			return ""
		}
		return `,"thinking":{"type":"enabled","budget_tokens":` + strconv.Itoa(n) + `}`
	case ThinkingAdaptive:
		switch e {
		case provider.EffortDefault:
			return ""
		case provider.EffortNone:
			return `,"thinking":{"type":"disabled"}`
		case provider.EffortLow, provider.EffortMedium, provider.EffortHigh:
			return `,"thinking":{"type":"adaptive"},"output_config":{"effort":"` + e.String() + `"}`
		}
		panic("anthropic: invalid Effort " + strconv.Itoa(int(e)))
	}
	panic("anthropic: invalid Thinking " + strconv.Itoa(int(t)))
}

// budgetOf is 0 where nothing is asked for: without the field a model of the
// budget form does not think.
func budgetOf(e provider.Effort) int {
	switch e {
	case provider.EffortDefault, provider.EffortNone:
		return 0
	case provider.EffortLow:
		return budgetLow
	case provider.EffortMedium:
		return budgetMedium
	case provider.EffortHigh:
		return budgetHigh
	}
	panic("anthropic: invalid Effort " + strconv.Itoa(int(e)))
}

// The types of blocks that hold thinking.
const (
	typeThinking = "thinking"
	typeRedacted = "redacted_thinking"
)

// originOf names a server and a model in eight digits.
func originOf(baseURL, model string) string {
	h := fnv.New32a()
	h.Write([]byte(strings.TrimRight(strings.TrimSpace(baseURL), "/") + "\x00" + model))
	return fmt.Sprintf("%08x", h.Sum32())
}

// reasoning keeps a finished block of thinking. Its signature is the block's
// type, where it came from, and the block's own signature or redacted data,
// with a colon between them.
func reasoning(kind, origin, text, signature string) content.Reasoning {
	return content.Reasoning{Text: text, Signature: kind + ":" + origin + ":" + signature, Path: Path}
}

// openSignature takes a kept signature apart. One that is not in this form is a
// block's own, of an unknown origin.
func openSignature(s string) (kind, origin, signature string) {
	kind, rest, ok := strings.Cut(s, ":")
	origin, signature, ok2 := strings.Cut(rest, ":")
	if !ok || !ok2 || kind != typeThinking && kind != typeRedacted {
		return typeThinking, "", s
	}
	return kind, origin, signature
}
