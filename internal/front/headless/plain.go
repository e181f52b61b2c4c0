package headless

import (
	"context"
	"fmt"
	"io"
	"strings"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/tool"
)

// plainFront writes the answer to Out and everything about it to Err.
type plainFront struct {
	out, err io.Writer
	live     bool
	asker
	// answer is text that may still be withdrawn.
	answer strings.Builder
	// open: the last thing on a live Out did not end its line.
	open bool
}

var _ front = (*plainFront)(nil)

func newPlainFront(s Streams, folder string) *plainFront {
	return &plainFront{out: s.Out, err: s.Err, live: s.Live, asker: newAsker(s, folder)}
}

// note writes a line about the turn. A reader that is gone cannot be told so.
func (f *plainFront) note(format string, args ...any) {
	f.endLine()
	_, _ = fmt.Fprintf(f.err, format+"\n", args...)
}

func (f *plainFront) endLine() {
	if f.open {
		_, _ = io.WriteString(f.out, "\n")
		f.open = false
	}
}

func (f *plainFront) session(string)          {}
func (f *plainFront) Accepted(agent.Accepted) {}

func (f *plainFront) said(_, text string) {
	f.flush()
	if f.live {
		text = harmless(text)
	}
	_, _ = io.WriteString(f.out, text)
	f.open = !strings.HasSuffix(text, "\n")
	f.endLine()
}

func (f *plainFront) reported(j tool.JobState) {
	if j.Report != "" {
		f.said("", j.Report+"\n")
	}
}

func (f *plainFront) Receipts(e agent.Receipts) {
	for _, r := range e.List {
		if r.Kind != content.KindText && !r.Degraded() {
			f.note("%s", ReceiptLine(r))
		}
	}
}

// ReceiptLine is a receipt in words, on one line.
func ReceiptLine(r delivery.Receipt) string {
	n := r.Notice()
	s := oneLine(n.Title)
	if r.Blob.Width > 0 {
		s += fmt.Sprintf(", %dx%d", r.Blob.Width, r.Blob.Height)
	}
	if r.Blob.MIME != "" {
		s += ", " + oneLine(r.Blob.MIME)
	}
	if r.Blob.Size > 0 {
		s += ", " + Size(r.Blob.Size)
	}
	return s + " (" + oneLine(n.Detail) + ")"
}

// Size spells a number of bytes; KB is 1,000 bytes.
func Size(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1_000:
		return fmt.Sprintf("%.0f KB", float64(n)/1e3)
	}
	return count(n, "byte")
}

func (f *plainFront) Text(e agent.Text) {
	if !f.live {
		f.answer.WriteString(e.Text)
		return
	}
	_, _ = io.WriteString(f.out, harmless(e.Text))
	f.open = !strings.HasSuffix(e.Text, "\n")
}

func (f *plainFront) Thought(agent.Thought) {}

func (f *plainFront) Voided(e agent.Voided) {
	if f.answer.Len() > 0 || f.open {
		f.answer.Reset()
		f.note("[the text above is withdrawn: %s]", oneLine(e.Reason))
	}
}

// flush writes the text that stands.
func (f *plainFront) flush() {
	if f.answer.Len() > 0 {
		s := f.answer.String()
		f.answer.Reset()
		_, _ = io.WriteString(f.out, s)
		f.open = !strings.HasSuffix(s, "\n")
	}
	f.endLine()
}

func (f *plainFront) ToolStarted(e agent.ToolStarted) {
	f.flush()
	title := clip(oneLine(e.Title), maxDoes)
	more := does(e.Call, title)
	if e.Call.Name == "bash" && more == "" {
		title = "$ " + title // which is the command itself
	}
	f.note("* %s", title)
	for l := range strings.Lines(more) {
		f.note("  %s", strings.TrimRight(l, "\n"))
	}
}

func (f *plainFront) ToolRunning(agent.ToolRunning) {}

// ToolOutput is for those who watch; a pipe gets what the model makes of it.
func (f *plainFront) ToolOutput(e agent.ToolOutput) {
	if f.live {
		for line := range strings.Lines(e.Text) {
			f.note("  | %s", clip(oneLine(strings.TrimRight(line, "\r\n")), 200))
		}
	}
}

func (f *plainFront) Planned(e agent.Planned) {
	f.flush()
	for _, s := range e.Steps {
		f.note("  %s %s", stepMark(string(s.Status)), oneLine(s.Text))
	}
}

func stepMark(status string) string {
	switch status {
	case "completed":
		return "[x]"
	case "in_progress":
		return "[>]"
	}
	return "[ ]"
}

func (f *plainFront) JobChanged(e agent.JobChanged) {
	f.note("job %s (%s) %s", e.Job.ID, oneLine(e.Job.Title), e.Job.State)
}

func (f *plainFront) ToolFinished(e agent.ToolFinished) {
	if e.IsError {
		f.note("  %s", clip(oneLine(content.Compact(e.Blocks)), 200))
	}
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func (f *plainFront) Noticed(e agent.Noticed) {
	s := oneLine(e.Notice.Title)
	if e.Notice.Detail != "" {
		s += " (" + oneLine(e.Notice.Detail) + ")"
	}
	f.note("%s: %s", e.Notice.Severity, s)
}

func (f *plainFront) Retrying(e agent.Retrying) { f.Noticed(agent.Noticed{Notice: retryNotice(e)}) }
func (f *plainFront) Used(agent.Used)           {}
func (f *plainFront) Ended(agent.Ended)         { f.flush() }

// Ask implements agent.Front.
func (f *plainFront) Ask(ctx context.Context, q agent.Question) (agent.Permit, error) {
	f.flush()
	p, err := f.ask(ctx, q)
	f.answered(q, p)
	return p, err
}

func (f *plainFront) answered(q agent.Question, _ agent.Permit) {
	if f.in == nil {
		f.Noticed(agent.Noticed{Notice: unasked(q)})
	}
}

func (f *plainFront) fail(p Problem) {
	f.flush()
	f.note("tote: %s", strings.ReplaceAll(p.Message, "\n", "\n  "))
	if p.Hint != "" {
		f.note("  %s", p.Hint)
	}
}

func (f *plainFront) done(s content.StopReason) {
	f.flush()
	switch s {
	case content.StopRefusal:
		f.note("[the model refused to answer]")
	case content.StopCancelled:
		f.note("[cancelled]")
	case content.StopNone, content.StopEndTurn, content.StopMaxTokens, content.StopMaxSteps, content.StopFailed:
	}
}
