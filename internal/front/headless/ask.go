package headless

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"tote/internal/agent"
	"tote/internal/delivery"
	"tote/internal/permission"
)

// errNobody: there is no terminal, so the model is told that nobody was asked.
var errNobody = errors.New("there is no terminal to ask at")

// asker asks a person at a terminal. Without one every question is denied.
type asker struct {
	// in is nil where there is nobody.
	in  *bufio.Reader
	out io.Writer
	// folder is where an answer for good counts.
	folder string
	// mu keeps one question at the terminal at a time.
	mu *sync.Mutex
}

func newAsker(s Streams, folder string) asker {
	a := asker{out: s.Err, folder: folder, mu: &sync.Mutex{}}
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
	_, err := fmt.Fprintf(a.out, "%s\n  %s\n%s%s", clip(oneLine(q.Title), maxDoes), about(q), indented(q.Preview), a.choices(q))
	for n := 1; err == nil; n++ {
		line, rerr := a.line(ctx)
		if ctx.Err() != nil {
			return agent.PermitDeny, ctx.Err()
		}
		permit, understood := understand(line, q)
		switch {
		case understood && (rerr == nil || line != ""):
			return permit, nil
		case rerr != nil: // the end of what is typed is no
			_, err = io.WriteString(a.out, "\n  there is no answer: taken as no\n")
			return agent.PermitDeny, err
		case n == maxAsks:
			_, err = fmt.Fprintf(a.out, "  %d answers were not understood: taken as no\n", maxAsks)
			return agent.PermitDeny, err
		}
		_, err = fmt.Fprintf(a.out, "  \"%s\" is none of the answers\n  allow? %s: ", clip(visible(strings.TrimSpace(line)), 40), letters(q))
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

// about is what is asked for, and why, on one line. What the preview shows in full is
// not said twice.
func about(q agent.Question) string {
	target := q.Request.Path
	if target == "" {
		target = q.Request.Detail
	}
	if target == "" || target != q.Request.Path && strings.Contains(q.Preview, target) {
		return fmt.Sprintf("%s (%s)", q.Request.Action, oneLine(q.Reason))
	}
	return fmt.Sprintf("%s %s (%s)", q.Request.Action, clip(visible(target), maxPreviewLine), oneLine(q.Reason))
}

// choices are the answers that there are, with what each would allow, for how long,
// and where that is kept.
func (a asker) choices(q agent.Question) string {
	var sb strings.Builder
	sb.WriteString("  y  this once\n")
	if q.Rule.Tool == "" {
		sb.WriteString("  s  exactly this again, until this command ends; nothing is stored\n")
	} else {
		rule := scope(q.Rule)
		fmt.Fprintf(&sb, "  s  %s, until this command ends; nothing is stored\n", rule)
		fmt.Fprintf(&sb, "  a  %s, from now on in %s; kept in tote's own record (tote permissions lists it, and takes it back)\n", rule, visible(a.folder))
	}
	return sb.String() + "  n  no\n  allow? " + letters(q) + ": "
}

// scope is what a rule permits.
func scope(r permission.Rule) string {
	if r.Pattern == "" {
		return visible(r.Tool) + ", whatever it is called with"
	}
	return visible(r.String())
}

func letters(q agent.Question) string {
	if q.Rule.Tool == "" {
		return "[y]es, [s]ession, [N]o"
	}
	return "[y]es, [s]ession, [a]lways, [N]o"
}

const (
	// maxPreview is how many lines of what will be written or run are shown, of
	// which previewTail are the last ones.
	maxPreview, previewTail = 40, 10
	// maxPreviewLine is how much of a line is shown, in runes.
	maxPreviewLine = 1000
)

// indented is a preview for a terminal, bounded. What is left out is said.
func indented(preview string) string {
	lines := strings.Split(strings.TrimRight(preview, "\r\n"), "\n")
	if preview == "" {
		return ""
	}
	var sb strings.Builder
	for i, l := range lines {
		left := len(lines) - maxPreview
		switch head := maxPreview - previewTail; {
		case left > 0 && i == head:
			fmt.Fprintf(&sb, "  [%s left out]\n", count(int64(left), "line"))
			continue
		case left > 0 && i > head && i < head+left:
			continue
		}
		l = visible(strings.TrimSuffix(l, "\r"))
		if n := utf8.RuneCountInString(l) - maxPreviewLine; n > 0 {
			l = string([]rune(l)[:maxPreviewLine]) + fmt.Sprintf("… [%s more]", count(int64(n), "character"))
		}
		sb.WriteString("  | " + l + "\n")
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
		Detail: q.Reason + "; there is no terminal to ask at, so it was denied" + remedy(q),
	}
}

// remedy says what would permit it: the modes that do, and a rule where one can.
func remedy(q agent.Question) string {
	if len(q.Looser) == 0 {
		return ""
	}
	var ways []string
	for _, m := range q.Looser {
		ways = append(ways, "--mode "+m.String())
	}
	return " (" + strings.Join(ways, ", ") + ", or a rule under permissions.allow, permits it)"
}

func retryNotice(e agent.Retrying) delivery.Notice {
	return delivery.Notice{
		Severity: delivery.SeverityInfo, Title: fmt.Sprintf("trying again in %.1f s", e.Seconds), Detail: e.Why,
	}
}
