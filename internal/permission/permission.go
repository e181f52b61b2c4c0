package permission

import (
	"fmt"
	"slices"
)

// Verdict is what may happen.
type Verdict uint8

// The verdicts. The zero value denies.
const (
	Deny Verdict = iota
	Ask
	Allow
)

func (v Verdict) String() string {
	switch v {
	case Deny:
		return "deny"
	case Ask:
		return "ask"
	case Allow:
		return "allow"
	}
	return "verdict?"
}

// Action is what a tool wants to do.
type Action uint8

// The actions. The zero value is not one and is denied.
const (
	_ Action = iota
	Read
	Write
	Execute
	Fetch
	Call     // call a tool that is not ours, such as one of an MCP server
	Delegate // give work to another agent, which asks for itself
)

var actionNames = [...]string{
	Read: "read", Write: "write", Execute: "execute", Fetch: "fetch", Call: "call", Delegate: "delegate",
}

func (a Action) String() string {
	if int(a) < len(actionNames) && a > 0 {
		return actionNames[a]
	}
	return "action?"
}

// Mode is how much a session may do without asking.
type Mode uint8

// The modes. The zero value asks.
const (
	ModeAsk   Mode = iota // ask before writing, running and leaving the project
	ModeEdits             // writing inside the roots needs no question, but for files that steer programs
	ModePlan              // nothing is written, run or fetched
	ModeFull              // no questions; what is denied stays denied
)

var modeNames = [...]string{ModeAsk: "ask", ModeEdits: "edits", ModePlan: "plan", ModeFull: "full"}

func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return "mode?"
}

// Modes lists the modes.
func Modes() []Mode { return []Mode{ModeAsk, ModeEdits, ModePlan, ModeFull} }

// ParseMode reads what String writes.
func ParseMode(s string) (Mode, error) {
	for i, n := range modeNames {
		if n == s {
			return Mode(i), nil
		}
	}
	return ModeAsk, fmt.Errorf("parse permission mode %q: want ask, edits, plan or full", s)
}

// Request is one thing that a tool wants to do.
type Request struct {
	Tool   string
	Action Action
	// Path is absolute with forward slashes, "" where no file is meant.
	Path string
	// Inside: the path lies under the project, an additional root or the
	// session's scratch folder.
	Inside bool
	// Detail is the command or the address, for rules and for people.
	Detail string
	// Commands are the simple commands of a shell line, each as its words with
	// one blank between; a word is quoted where it would not be one word
	// otherwise. A redirection into a file is one of them: "> FILE". Nil where
	// the line could not be taken apart, which no rule with a pattern allows.
	Commands []string
	// Opaque: the line runs more than Commands tell, such as the output of
	// another command. No rule with a pattern allows it.
	Opaque bool
	// Paths are the files that the words of the command name, absolute with
	// forward slashes. They are denied where they hold keys.
	Paths []string
	// ReadOnly: the called tool says that it changes nothing.
	ReadOnly bool
}

// Rules is what the user and the project laid down.
type Rules struct {
	Mode Mode
	// Deny wins over Ask, Ask over Allow.
	Deny, Ask, Allow []Rule
	// Closed are files and folders, absolute with forward slashes, that no tool may
	// touch and no command may name, whatever the rules say.
	Closed []string
	// Names lists the files that the glob of a command stands for, an absolute path
	// with forward slashes. ok is false where that is not known. Nil knows nothing:
	// such a glob may then be any file that it matches.
	Names func(glob string) (names []string, ok bool)
}

// Decide gives the verdict on a request and the reason in words.
func (r Rules) Decide(q Request) (Verdict, string) {
	if r.isClosed(q) {
		return Deny, "tote's own keys and records are closed to every tool"
	}
	q, globs := r.look(q)
	if r.isClosed(q) {
		return Deny, "tote's own keys and records are closed to every tool"
	}
	for _, rule := range r.Deny {
		if rule.reaches(q) {
			return Deny, "a rule denies it: " + rule.String()
		}
	}
	if r.reachesSecret(q) {
		return Deny, "files that hold keys are denied unless a rule names them"
	}
	if r.Mode == ModePlan && !inPlan(q) {
		return Deny, "plan mode changes nothing"
	}
	for _, rule := range r.Ask {
		if rule.reaches(q) {
			return Ask, "a rule asks: " + rule.String()
		}
	}
	if why := r.unsure(q, globs); why != "" {
		return Ask, why
	}
	switch {
	case covers(r.Allow, q):
		return Allow, "a rule allows it"
	case r.Mode == ModeFull && q.Action > 0 && int(q.Action) < len(actionNames):
		return Allow, "full mode"
	case q.Path != "" && !q.Inside:
		return Ask, "it lies outside the project"
	}
	return r.byAction(q)
}

// Unsure reports whether q may run or reach what a rule with a pattern denies or asks
// about, or files that hold keys, without its text showing that. Nothing but a person
// allows such a line: neither a rule, nor full mode, nor what else answers for the user.
func (r Rules) Unsure(q Request) bool {
	q, globs := r.look(q)
	return r.unsure(q, globs) != ""
}

// unsure says why it is unsure, "" where it is not.
func (r Rules) unsure(q Request, globs []string) string {
	if q.Action != Execute {
		return ""
	}
	speaks := func(rule Rule) bool { return rule.Pattern != "" && rule.names(q.Tool) }
	if (q.Opaque || len(q.Commands) == 0) && (slices.ContainsFunc(r.Deny, speaks) || slices.ContainsFunc(r.Ask, speaks)) {
		return "what it runs cannot be told from its text, and there are rules against some commands"
	}
	return r.maybe(q, globs)
}

// Looser are the modes that would allow a request without a question: the wider
// modes are tried, so what a rule asks about has none.
func (r Rules) Looser(q Request) []Mode {
	if r.Mode == ModeFull {
		return nil
	}
	var out []Mode
	for _, m := range []Mode{ModeEdits, ModeFull} {
		if m == r.Mode {
			continue
		}
		r := r
		r.Mode = m
		if v, _ := r.Decide(q); v == Allow {
			out = append(out, m)
		}
	}
	return out
}

// inPlan reports whether plan mode does not forbid the request as such.
func inPlan(q Request) bool {
	return q.Action == Read || q.Action == Delegate || q.Action == Call && q.ReadOnly
}

// byAction is the verdict where no rule speaks.
func (r Rules) byAction(q Request) (Verdict, string) {
	switch q.Action {
	case Read:
		return Allow, "reading inside the project"
	case Write:
		switch {
		case r.Mode == ModeEdits && (steers(q.Path) || slices.ContainsFunc(q.Paths, steers)):
			return Ask, "it changes a file that says what programs run"
		case r.Mode == ModeEdits:
			return Allow, "edits are accepted"
		}
		return Ask, "it changes a file"
	case Execute:
		return Ask, "it runs a command"
	case Fetch:
		return Ask, "it leaves this machine"
	case Call:
		return Ask, "it calls an outside tool"
	case Delegate:
		return Allow, "the other agent asks for itself"
	}
	return Deny, "unknown action"
}

// covers reports whether the rules allow all of the request.
func covers(rules []Rule, q Request) bool {
	if q.Action != Execute {
		return slices.ContainsFunc(rules, func(r Rule) bool { return r.allows(q) })
	}
	if slices.ContainsFunc(rules, func(r Rule) bool { return r.names(q.Tool) && r.Pattern == "" }) {
		return true
	}
	if q.Opaque || len(q.Commands) == 0 {
		return false
	}
	matched := false
	for _, c := range q.Commands {
		hit := isResolved(c) && slices.ContainsFunc(rules, func(r Rule) bool { return r.names(q.Tool) && matchCommand(r.Pattern, c) })
		if !hit && !isFilter(c) {
			return false
		}
		matched = matched || hit
	}
	return matched
}
