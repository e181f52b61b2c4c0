package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tote/internal/content"
	"tote/internal/delivery"
)

// This file holds summaries against what they are to stand for, and puts together
// what takes the place of turns that no model summarises.

const (
	// A text of less than fewBytes may be said in a word. Of more, a summary says
	// at least one part in leastPart, up to enoughBytes: less is an excuse or a
	// refusal in words ("I can't help with that"), and would cost the turns that
	// it stands for. A summary that is much longer than its text is none either.
	fewBytes    = 1_000
	leastPart   = 40
	enoughBytes = 300
	muchLonger  = 4_000
)

// summarises reports whether a text of said bytes can be a summary of one of from
// bytes. The words themselves are not judged: a refusal has no fixed form.
func summarises(said, from int) bool {
	switch {
	case said == 0 || said > from+muchLonger:
		return false
	case from < fewBytes:
		return true
	}
	return said >= min(from/leastPart, enoughBytes)
}

const (
	// outlineSays and outlineAnswers are how much of a prompt and of the last answer
	// to it an outline has, outlineCall of a call, in bytes. outlineCalls is how many
	// different calls it has of a turn.
	outlineSays    = 300
	outlineAnswers = 200
	outlineCall    = 100
	outlineCalls   = 12
	// outlineBytes bounds an outline where the window is large, outlineLeast where
	// it is small: less than is shown of a summary.
	outlineBytes = 12_000
	outlineLeast = 1_500
)

// outlineHead begins every outline.
const outlineHead = "No summary could be made of these turns. This is what the record says of them, cut short:\n"

// outlined puts an outline in the place of the first n turns. It is made of what was
// recorded, so that it cannot fail or invent anything.
func (s *Session) outlined(ctx context.Context, f Front, m Model, n int) (made bool, err error) {
	_, old, err := s.summary(ctx)
	if err != nil || n <= old.Turns {
		return false, err
	}
	room := outlineBytes
	if c := m.Profile.Context; c > 0 {
		room = min(room, max(outlineLeast, c/2))
	}
	text := outline(old.Text, s.Turns()[old.Turns:n], room)
	if err := s.replace(ctx, Summary{Turns: n, Text: text, Model: "the record", Created: s.a.o.Now()}); err != nil {
		return false, err
	}
	tell(f, delivery.Notice{
		Severity: delivery.SeverityWarning, Title: fmt.Sprintf("of the oldest %d turns the model gets an outline", n),
		Detail: "what you wrote, the calls and the answers, cut short; they stay in the session's record, and /compact tries again to have them summarised",
	})
	return true, nil
}

// outline tells in room bytes what was asked, called and answered in turns, and what
// is known of those before them. The oldest lines give way first.
func outline(before string, turns []content.Turn, room int) string {
	head := outlineHead
	var lines []string
	if earlier, is := strings.CutPrefix(before, outlineHead); is {
		lines = strings.Split(earlier, "\n")
	} else if before != "" {
		head += "What came before them:\n" + clipped(before, room/2) + "\n\n"
	}
	for _, t := range turns {
		lines = append(lines, outlineTurn(t)...)
	}
	room -= len(head) + len(outlineCut)
	first := len(lines)
	for first > 0 && room > len(lines[first-1]) {
		first--
		room -= len(lines[first]) + 1
	}
	if first > 0 {
		head += outlineCut
	}
	return head + strings.Join(lines[first:], "\n")
}

// outlineCut stands for what an outline has no room for.
const outlineCut = "[what was said before is left out]\n"

// outlineTurn are the lines of one turn.
func outlineTurn(t content.Turn) []string {
	var out, calls []string
	answer := ""
	for i, m := range t.Messages {
		if i == 0 {
			out = append(out, "User: "+line(content.Compact(m.Blocks()), outlineSays))
		}
		if m.Role != content.RoleAssistant {
			continue
		}
		for _, p := range m.Parts {
			if c, ok := p.(content.ToolCall); ok {
				calls = append(calls, "  called "+line(c.Name+" "+c.Arguments, outlineCall))
			} else if text, ok := p.(content.Text); ok && strings.TrimSpace(text.Body) != "" {
				answer = text.Body
			}
		}
	}
	slices.Sort(calls)
	calls = slices.Compact(calls)
	if n := len(calls) - outlineCalls; n > 0 {
		calls = append(calls[:outlineCalls], fmt.Sprintf("  and %d other calls", n))
	}
	out = append(out, calls...)
	if answer != "" {
		out = append(out, "  answered: "+line(answer, outlineAnswers))
	}
	return out
}

// line is the beginning of s in one line, n bytes at most.
func line(s string, n int) string {
	return content.Clean(clipped(strings.Join(strings.Fields(s), " "), n))
}
