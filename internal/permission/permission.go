package permission

import (
	"fmt"
	"path"
	"strings"
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
)

func (a Action) String() string {
	switch a {
	case Read:
		return "read"
	case Write:
		return "write"
	case Execute:
		return "execute"
	case Fetch:
		return "fetch"
	}
	return "action?"
}

// Mode is how much a session may do without asking.
type Mode uint8

// The modes. The zero value asks.
const (
	ModeAsk   Mode = iota // ask before writing, running and leaving the project
	ModeEdits             // writing inside the roots needs no question
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
	// one blank between. A rule allows the line only where rules allow every
	// one of them; one that is denied denies it. Nil where the line could not
	// be taken apart, which no rule with a pattern allows.
	Commands []string
}

// Rule matches requests. Tool is a tool's name or "*"; Pattern matches the path
// or the detail: "" matches all, "**" any number of folders, otherwise the
// syntax of path.Match.
type Rule struct{ Tool, Pattern string }

// ParseRule reads "tool" or "tool(pattern)".
func ParseRule(s string) (Rule, error) {
	name, rest, ok := strings.Cut(strings.TrimSpace(s), "(")
	if name == "" {
		return Rule{}, fmt.Errorf("parse permission rule %q: no tool name", s)
	}
	if !ok {
		return Rule{Tool: name}, nil
	}
	pattern, ok := strings.CutSuffix(rest, ")")
	if !ok {
		return Rule{}, fmt.Errorf("parse permission rule %q: no closing parenthesis", s)
	}
	for elem := range strings.SplitSeq(pattern, "/") {
		if _, err := path.Match(elem, "x"); err != nil {
			return Rule{}, fmt.Errorf("parse permission rule %q: %w", s, err)
		}
	}
	return Rule{Tool: name, Pattern: pattern}, nil
}

// Matches reports whether the rule speaks about r.
func (r Rule) Matches(q Request) bool {
	if r.Tool != "*" && r.Tool != q.Tool {
		return false
	}
	if r.Pattern == "" {
		return true
	}
	subject := q.Path
	if subject == "" {
		subject = q.Detail
		ok, err := path.Match(r.Pattern, subject)
		return err == nil && ok || strings.HasSuffix(r.Pattern, "*") && strings.HasPrefix(subject, strings.TrimSuffix(r.Pattern, "*"))
	}
	return matchPath(strings.Split(r.Pattern, "/"), strings.Split(strings.TrimPrefix(subject, "/"), "/"))
}

// matchPath matches a pattern against the end of a path, or against the whole
// of it when the pattern starts with a slash.
func matchPath(pattern, elems []string) bool {
	if len(pattern) > 0 && pattern[0] == "" {
		return matchElems(pattern[1:], elems)
	}
	for i := range elems {
		if matchElems(pattern, elems[i:]) {
			return true
		}
	}
	return false
}

func matchElems(pattern, elems []string) bool {
	if len(pattern) == 0 {
		return len(elems) == 0
	}
	if pattern[0] == "**" {
		for i := 0; i <= len(elems); i++ {
			if matchElems(pattern[1:], elems[i:]) {
				return true
			}
		}
		return false
	}
	if len(elems) == 0 {
		return false
	}
	ok, err := path.Match(pattern[0], elems[0])
	return err == nil && ok && matchElems(pattern[1:], elems[1:])
}

// Rules is what the user and the project laid down.
type Rules struct {
	Mode Mode
	// Deny wins over Ask, Ask over Allow.
	Deny, Ask, Allow []Rule
}

// secret names files that hold keys; they are denied by default.
var secret = []string{
	".env", ".env.*", "*.pem", "*.key", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", ".pgpass", ".npmrc",
	".aws/credentials", ".ssh/**", ".gnupg/**",
}

// Decide gives the verdict on a request and the reason in words.
func (r Rules) Decide(q Request) (Verdict, string) {
	for _, rule := range r.Deny {
		if rule.Matches(q) {
			return Deny, "a rule denies it: " + rule.String()
		}
	}
	allowed := false
	for _, rule := range r.Allow {
		allowed = allowed || rule.Matches(q)
	}
	if isSecret(q.Path) && !allowed {
		return Deny, "files that hold keys are denied unless a rule allows them"
	}
	if r.Mode == ModePlan && q.Action != Read {
		return Deny, "plan mode changes nothing"
	}
	for _, rule := range r.Ask {
		if rule.Matches(q) {
			return Ask, "a rule asks: " + rule.String()
		}
	}
	switch {
	case allowed:
		return Allow, "a rule allows it"
	case r.Mode == ModeFull:
		return Allow, "full mode"
	case q.Path != "" && !q.Inside:
		return Ask, "it lies outside the project"
	}
	switch q.Action {
	case Read:
		return Allow, "reading inside the project"
	case Write:
		if r.Mode == ModeEdits {
			return Allow, "edits are accepted"
		}
		return Ask, "it changes a file"
	case Execute:
		return Ask, "it runs a command"
	case Fetch:
		return Ask, "it leaves this machine"
	}
	return Deny, "unknown action"
}

func isSecret(p string) bool {
	if p == "" {
		return false
	}
	elems := strings.Split(strings.TrimPrefix(p, "/"), "/")
	for _, s := range secret {
		if matchPath(strings.Split(s, "/"), elems) {
			return true
		}
	}
	return false
}

// String is what ParseRule reads.
func (r Rule) String() string {
	if r.Pattern == "" {
		return r.Tool
	}
	return r.Tool + "(" + r.Pattern + ")"
}
