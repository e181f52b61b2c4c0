package bedrock

import (
	"strconv"

	"tote/internal/provider"
)

// Thinking is the form in which a model is told how hard to think. Each vendor
// on Bedrock has its own, and a model refuses those of others.
type Thinking uint8

// The forms.
const (
	// ThinkingNone sends nothing.
	ThinkingNone Thinking = iota
	// ThinkingBudget gives a number of tokens: Claude up to 4.5
	// (https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html,
	// read 2026-11-30).
	ThinkingBudget
	// ThinkingAdaptive names an effort: Claude from 4.6 on
	// (https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-adaptive-thinking.html,
	// read 2026-11-30).
	ThinkingAdaptive
	// ThinkingNova names an effort: Nova 2
	// (https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html,
	// read 2026-11-30).
	ThinkingNova
	// ThinkingEffort names an effort: OpenAI's models.
	ThinkingEffort
)

const (
	// minBudget is the least that Claude takes.
	minBudget = 1024
	// answerRoom is left for the answer beside a budget where no limit is
	// given, in tokens. The limit has to be larger than the budget.
	answerRoom = 8192
)

// budgets are tokens for an effort. With answerRoom the largest fits into the
// longest answer of each model that takes one (32,000 tokens).
var budgets = [...]int{provider.EffortLow: 2048, provider.EffortMedium: 8192, provider.EffortHigh: 16384}

// thought is what an effort comes to for a model: a JSON object of fields, ""
// for none, and the longest answer, 0 to leave that to the backend.
type thought struct {
	fields string
	output int
}

func (t Thinking) spell(e provider.Effort, output int) thought {
	plain := thought{output: output}
	if e == provider.EffortDefault || int(e) >= len(budgets) {
		return plain
	}
	off := e == provider.EffortNone
	switch t {
	case ThinkingNone:
	case ThinkingBudget:
		return budget(e, output)
	case ThinkingAdaptive:
		if off {
			return thought{`{"thinking":{"type":"disabled"}}`, output}
		}
		// Newer models leave the words out where "display" does not ask for them.
		return thought{`{"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"` + e.String() + `"}}`, output}
	case ThinkingNova:
		switch {
		case off:
			return thought{`{"reasoningConfig":{"type":"disabled"}}`, output}
		case e == provider.EffortHigh:
			output = 0 // Nova refuses a limit beside the highest effort
		}
		return thought{`{"reasoningConfig":{"type":"enabled","maxReasoningEffort":"` + e.String() + `"}}`, output}
	case ThinkingEffort:
		word := e.String()
		if off {
			word = provider.EffortLow.String() // they always think
		}
		return thought{`{"reasoning_effort":"` + word + `"}`, output}
	}
	return plain
}

// budget makes room for an answer beside the thinking, and gives the thinking
// up where the limit leaves none.
func budget(e provider.Effort, output int) thought {
	n := budgets[e]
	if output > 0 {
		n = min(n, output/2)
	}
	if n < minBudget {
		return thought{`{"thinking":{"type":"disabled"}}`, output}
	}
	if output == 0 {
		output = n + answerRoom
	}
	return thought{`{"thinking":{"type":"enabled","budget_tokens":` + strconv.Itoa(n) + `}}`, output}
}
