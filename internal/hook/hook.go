package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tote/internal/permission"
)

// The names of events.
const (
	Prompt   = "prompt"
	PreTool  = "pre_tool"
	PostTool = "post_tool"
	Stop     = "stop"
)

// defaultTimeout ends a hook that names no time.
const defaultTimeout = 10 * time.Second

// Hook is one command.
type Hook struct {
	// Event is the name of the event that it runs at.
	Event string
	// Match are the calls that it is for: one of the rules has to match. Nil is all.
	Match []permission.Rule
	// Command is the program and its arguments.
	Command []string
	// Timeout ends it. Zero is 10 s.
	Timeout time.Duration
	// Required makes a broken hook deny.
	Required bool
}

// ParseMatch reads rules that are separated by |, such as "bash(git push *)|write". A
// | inside of parentheses is part of a rule. Empty is nil, which is for all calls.
func ParseMatch(s string) ([]permission.Rule, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	var rules []permission.Rule
	for _, part := range alternatives(s) {
		r, err := permission.ParseRule(part)
		if err != nil {
			return nil, fmt.Errorf("parse match %q: %w", s, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func alternatives(s string) []string {
	var out []string
	depth, start := 0, 0
	for i, r := range s {
		switch {
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case r == '|' && depth == 0:
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return append(out, s[start:])
}

// Event is a moment of a turn. Nothing of it may be a payload.
type Event struct {
	// Name is one of the names above.
	Name               string
	Session, Turn, Cwd string
	// Tool, Arguments and Request are of a tool call.
	Tool      string
	Arguments json.RawMessage
	Request   permission.Request
	// Text is the compact content of the prompt, of the result or of the answer.
	Text string
	// IsError: the call failed.
	IsError bool
}

// Decision is what hooks say of a call or a prompt.
type Decision uint8

// The decisions, from the weakest. A stronger one of several holds.
const (
	None  Decision = iota // nothing is said
	Allow                 // no question is needed, where the rules agree
	Ask                   // the user is to be asked
	Deny                  // it is not to be done
)

// Result is what all hooks said together.
type Result struct {
	Decision Decision
	// Reason is that of the hook that decided.
	Reason string
	// Context is text for the model, from all hooks in order.
	Context string
}

// Problem is a hook that did not work.
type Problem struct {
	// Program is the name of its program.
	Program string
	// What is wrong with it, in one line.
	What string
	// Denied: it is required, so that it denied.
	Denied bool
}

// String returns "hook program: what".
func (p Problem) String() string { return "hook " + p.Program + ": " + p.What }

// Runner runs hooks.
type Runner struct {
	// Hooks in the order of the configuration.
	Hooks []Hook
	// Env is the environment of the commands. Nil is that of this program.
	Env []string
}

// Wants reports whether any hook is for events of that name.
func (r Runner) Wants(name string) bool {
	return slices.ContainsFunc(r.Hooks, func(h Hook) bool { return h.Event == name })
}

// Run runs the hooks that are for the event. It returns when they are done, or ctx
// has ended and the one that ran is killed.
func (r Runner) Run(ctx context.Context, e Event) (Result, []Problem) {
	var out Result
	var problems []Problem
	var input []byte
	var contexts []string
	for _, h := range r.Hooks {
		if !h.For(e) {
			continue
		}
		if input == nil {
			input = encode(e)
		}
		a, what := h.ask(ctx, input, e.Cwd, r.Env)
		if what == "" {
			a, what = a.fit(e.Name)
		}
		if what != "" {
			p := Problem{Program: h.program(), What: what, Denied: h.Required && decides(e.Name)}
			problems = append(problems, p)
			if a = (answer{}); p.Denied {
				a = answer{decision: Deny, Reason: "the hook " + p.Program + ", which is required, did not work: " + what}
			}
		}
		if a.Context != "" {
			contexts = append(contexts, a.Context)
		}
		if a.decision > out.Decision {
			out.Decision, out.Reason = a.decision, a.Reason
		}
		if out.Decision == Deny {
			break
		}
	}
	out.Context = strings.Join(contexts, "\n\n")
	return out, problems
}

// decides reports whether something can still be stopped at an event.
func decides(event string) bool { return event == Prompt || event == PreTool }

// For reports whether the hook runs at an event.
func (h Hook) For(e Event) bool {
	if h.Event != e.Name || len(h.Command) == 0 {
		return false
	}
	if h.Match == nil || e.Name != PreTool && e.Name != PostTool {
		return true
	}
	q := e.Request
	if q.Tool == "" {
		q.Tool = e.Tool
	}
	return slices.ContainsFunc(h.Match, func(r permission.Rule) bool { return r.Matches(q) })
}

// program is the name of the hook for people: without folders, which may be long.
func (h Hook) program() string {
	name := h.Command[0]
	if i := strings.LastIndexAny(name, `/\`); i >= 0 && i+1 < len(name) {
		name = name[i+1:]
	}
	return oneLine(name, maxName)
}
