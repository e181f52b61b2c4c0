package headless

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"tote/internal/agent"
	"tote/internal/delivery"
)

// errNobody: there is no terminal, so the model is told that nobody was asked.
var errNobody = errors.New("there is no terminal to ask at")

// asker asks a person at a terminal. Without one every question is denied.
type asker struct {
	// in is nil where there is nobody.
	in  *bufio.Reader
	out io.Writer
	// mu keeps one question at the terminal at a time.
	mu *sync.Mutex
}

func newAsker(s Streams) asker {
	a := asker{out: s.Err, mu: &sync.Mutex{}}
	if s.Terminal != nil {
		a.in = bufio.NewReader(s.Terminal)
	}
	return a
}

// maxAsks is how often a question is put until an answer is understood.
const maxAsks = 3

func (a asker) ask(ctx context.Context, q agent.Question) (agent.Permit, error) {
	if a.in == nil {
		return agent.PermitDeny, errNobody
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	target := q.Request.Path
	if target == "" {
		target = q.Request.Detail
	}
	_, err := fmt.Fprintf(a.out, "%s\n  %s %s (%s)\n%s%s", oneLine(q.Title), q.Request.Action, oneLine(target), oneLine(q.Reason), indented(q.Preview), choices(q))
	for n := 1; err == nil; n++ {
		line, rerr := a.line(ctx)
		if ctx.Err() != nil {
			return agent.PermitDeny, ctx.Err()
		}
		permit, understood := understand(line, q)
		switch {
		case understood:
			return permit, nil
		case rerr != nil: // the end of what is typed is no
			return agent.PermitDeny, nil
		case n == maxAsks:
			_, err = io.WriteString(a.out, "  taken as no\n")
			return agent.PermitDeny, err
		}
		_, err = fmt.Fprintf(a.out, "  %q is none of the answers; allow? %s: ", clip(oneLine(strings.TrimSpace(line)), 40), letters(q))
	}
	return agent.PermitDeny, err
}

// line reads what the person types, up to Enter.
func (a asker) line(ctx context.Context) (string, error) {
	type typed struct {
		line string
		err  error
	}
	answer := make(chan typed, 1)
	// It ends with the line that the person types, or with the process: a
	// read from a terminal cannot be taken back.
	go func() {
		line, err := a.in.ReadString('\n') // what came before an error is the answer
		answer <- typed{line, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case got := <-answer:
		return got.line, got.err
	}
}

// understand reads an answer. Nothing is no; what is not known is not understood.
func understand(line string, q agent.Question) (p agent.Permit, understood bool) {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return agent.PermitOnce, true
	case "s", "session":
		return agent.PermitSession, true
	case "a", "always":
		return agent.PermitAlways, q.Rule.Tool != ""
	case "", "n", "no":
		return agent.PermitDeny, true
	}
	return agent.PermitDeny, false
}

// choices are the answers that there are, with what each would allow.
func choices(q agent.Question) string {
	if q.Rule.Tool == "" {
		return "  s: this very request, as long as the session is open\n  allow? " + letters(q) + ": "
	}
	rule := oneLine(q.Rule.String())
	return fmt.Sprintf("  s: %s, as long as the session is open; a: the same in this folder from now on (tote permissions lists and removes it)\n  allow? %s: ", rule, letters(q))
}

func letters(q agent.Question) string {
	if q.Rule.Tool == "" {
		return "[y]es, [s]ession, [N]o"
	}
	return "[y]es, [s]ession, [a]lways, [N]o"
}

// maxPreview is how many lines of what will be written or run are shown.
const maxPreview = 40

// indented is a preview for a terminal, bounded.
func indented(preview string) string {
	var sb strings.Builder
	n := 0
	for line := range strings.Lines(preview) {
		if n++; n > maxPreview {
			sb.WriteString("  | [more follows]\n")
			break
		}
		sb.WriteString("  | " + clip(oneLine(line), 200) + "\n")
	}
	return sb.String()
}

func permitWord(p agent.Permit) string {
	switch p {
	case agent.PermitDeny:
		return "deny"
	case agent.PermitOnce:
		return "allow"
	case agent.PermitSession:
		return "allow_session"
	case agent.PermitAlways:
		return "allow_always"
	}
	return "deny"
}

// unasked tells that a question was denied because nobody could be asked.
func unasked(q agent.Question) delivery.Notice {
	return delivery.Notice{
		Severity: delivery.SeverityWarning, Title: "not permitted: " + q.Title,
		Detail: q.Reason + "; there is no terminal to ask at, so it was denied (--mode full, or a rule under permissions.allow, permits it)",
	}
}

func retryNotice(e agent.Retrying) delivery.Notice {
	return delivery.Notice{
		Severity: delivery.SeverityInfo, Title: fmt.Sprintf("trying again in %.1f s", e.Seconds), Detail: e.Why,
	}
}
