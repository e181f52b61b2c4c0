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
	in  io.Reader
	out io.Writer
	// mu keeps one question at the terminal at a time.
	mu *sync.Mutex
}

func newAsker(s Streams) asker { return asker{in: s.Terminal, out: s.Err, mu: &sync.Mutex{}} }

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
	choices := "[y]es, [s]ession, [N]o"
	if q.Rule.Tool != "" {
		choices = fmt.Sprintf("[y]es, [s]ession or [a]lways in this project for %s, [N]o", oneLine(q.Rule.String()))
	}
	_, err := fmt.Fprintf(a.out, "%s\n  %s %s (%s)\n%s  allow? %s: ",
		oneLine(q.Title), q.Request.Action, oneLine(target), oneLine(q.Reason), indented(q.Preview), choices)
	if err != nil {
		return agent.PermitDeny, err
	}
	answer := make(chan string, 1)
	// It ends with the line that the person types, or with the process: a
	// read from a terminal cannot be taken back.
	go func() {
		line, _ := bufio.NewReader(a.in).ReadString('\n') // what came before an error is the answer
		answer <- line
	}()
	select {
	case <-ctx.Done():
		return agent.PermitDeny, ctx.Err()
	case line := <-answer:
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return agent.PermitOnce, nil
		case "s", "session":
			return agent.PermitSession, nil
		case "a", "always":
			if q.Rule.Tool != "" {
				return agent.PermitAlways, nil
			}
		}
		return agent.PermitDeny, nil
	}
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
