package slash

import (
	"context"
	"fmt"
	"strings"

	"tote/internal/content"
	"tote/internal/delivery"
)

// maxShownParts is how many parts /context lists: attachments all, of the rest the
// largest.
const maxShownParts = 60

// context says what the next request would hold.
func (w World) context(ctx context.Context, _ Call) (Outcome, error) {
	r, err := w.Session.Context(ctx)
	if err != nil {
		return Outcome{}, fmt.Errorf("/context: %w", err)
	}
	u := r.Usage
	var sb strings.Builder
	how := "estimated"
	if u.Reported {
		how = "by the backend's own count"
	}
	fmt.Fprintf(&sb, "agent %s: %d tokens, %s", r.Model.Name, u.Tokens, how)
	if u.Window > 0 {
		fmt.Fprintf(&sb, "; %d %% of a window of %d", 100*u.Tokens/u.Window, u.Window)
	}
	fmt.Fprintf(&sb, "\nrequest: %d bytes of %d\n", u.Wire, u.WireLimit)
	fmt.Fprintf(&sb, "  %8d tokens  system prompt and tools\n  %8d tokens  attachments\n  %8d tokens  text\n", u.Fixed, u.Media, u.Text)
	if u.Summarised > 0 {
		fmt.Fprintf(&sb, "  %8d tokens  summary of %s, by %s\n", u.Summary, counted(u.Summarised, "message"), content.Clean(r.Summary.Model))
	}
	if n := u.LeftOut - u.Summarised; n > 0 {
		fmt.Fprintf(&sb, "  left out: %s more\n", counted(n, "message"))
	}
	sb.WriteString("\n")
	parts, left := shownParts(u.Parts)
	for _, p := range parts {
		sb.WriteString(partLine(p))
	}
	if left > 0 {
		fmt.Fprintf(&sb, "[not listed: %s]\n", counted(left, "smaller part"))
	}
	return Outcome{Text: sb.String()}, nil
}

// counted is a number of things.
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// shownParts picks the parts to list, in order, and counts the rest.
func shownParts(all []delivery.Part) (shown []delivery.Part, left int) {
	if len(all) <= maxShownParts {
		return all, 0
	}
	floor := int64(1)
	for count(all, floor) > maxShownParts && floor < 1<<40 {
		floor *= 2
	}
	for _, p := range all {
		if listed(p, floor) {
			shown = append(shown, p)
		}
	}
	return shown, len(all) - len(shown)
}

func listed(p delivery.Part, floor int64) bool {
	return p.What == delivery.PartBlock && p.Kind != content.KindText && !p.LeftOut || p.Tokens >= floor
}

func count(all []delivery.Part, floor int64) int {
	n := 0
	for _, p := range all {
		if p.Tokens >= floor && (p.What != delivery.PartBlock || p.Kind == content.KindText) {
			n++
		}
	}
	return n
}

func partLine(p delivery.Part) string {
	what := p.What.String()
	if p.What == delivery.PartBlock {
		what = string(p.Handle)
		if what == "" {
			what = p.Kind.String()
		}
	}
	line := fmt.Sprintf("  turn %-4d %-22s %8d tokens %9d bytes", p.Turn, what, p.Tokens, p.Bytes)
	if p.Name != "" {
		line += "  " + content.Clean(p.Name)
	}
	switch {
	case p.Detached:
		line += "  (taken out)"
	case p.LeftOut:
		line += "  (left out)"
	case p.Trimmed:
		line += "  (trimmed)"
	case p.What == delivery.PartBlock && p.Kind != content.KindText && p.Disposition.Degraded():
		line += "  (" + p.Disposition.String() + ": " + p.Reason.User() + ")"
	}
	return line + "\n"
}
