package slash

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tote/internal/agent"
	"tote/internal/content"
)

// selector reads what /detach and /reattach pick.
func selector(args string) (agent.Selector, error) {
	var s agent.Selector
	fields := strings.FieldsFunc(args, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' })
	if len(fields) == 0 {
		return s, errors.New("say which: labels such as image-3 or 3, \"last N\", or \"older N\" for those of all turns but the newest N")
	}
	number := func() (int, error) {
		if len(fields) != 2 {
			return 0, fmt.Errorf("%q takes one number", fields[0])
		}
		n, err := strconv.Atoi(fields[1])
		if err != nil || n < 1 {
			return 0, fmt.Errorf("%q is no number above 0", content.Clean(fields[1]))
		}
		return n, nil
	}
	var err error
	switch fields[0] {
	case "last":
		s.Last, err = number()
	case "older":
		s.OlderThan, err = number()
	default:
		s.Names = fields
	}
	return s, err
}

func (w World) detach(ctx context.Context, c Call) (Outcome, error) {
	pick, err := selector(c.Args)
	if err != nil {
		return Outcome{}, fmt.Errorf("/detach: %w", err)
	}
	changed, err := w.Session.Detach(ctx, pick)
	if err != nil {
		return Outcome{}, fmt.Errorf("/detach: %w", err)
	}
	return switched("taken out: ", changed), nil
}

func (w World) reattach(ctx context.Context, c Call) (Outcome, error) {
	pick, err := selector(c.Args)
	if err != nil {
		return Outcome{}, fmt.Errorf("/reattach: %w", err)
	}
	pick.On = true
	changed, err := w.Session.Detach(ctx, pick)
	if err != nil {
		return Outcome{}, fmt.Errorf("/reattach: %w", err)
	}
	return switched("put back: ", changed), nil
}

func switched(did string, changed []content.Handle) Outcome {
	if len(changed) == 0 {
		return Outcome{Text: "nothing changed: they were so before\n"}
	}
	names := make([]string, 0, len(changed))
	for _, h := range changed {
		names = append(names, string(h))
	}
	return Outcome{Text: did + strings.Join(names, ", ") + "\n"}
}

func (w World) compact(ctx context.Context, c Call) (Outcome, error) {
	made, err := w.Session.Summarise(ctx, c.Front)
	switch {
	case err != nil:
		return Outcome{}, fmt.Errorf("/compact: %w", err)
	case !made:
		return Outcome{Text: "there is nothing new to summarise\n"}, nil
	}
	return Outcome{Text: "the older turns are summarised; they stay in the record\n"}, nil
}

func (w World) undo(ctx context.Context, c Call) (Outcome, error) {
	n := 1
	if c.Args != "" {
		var err error
		if n, err = strconv.Atoi(c.Args); err != nil || n < 1 {
			return Outcome{}, fmt.Errorf("/undo: %q is no number of turns", content.Clean(c.Args))
		}
	}
	r, err := w.Session.Undo(ctx, n)
	return undone("/undo", r, err)
}

func (w World) rewind(ctx context.Context, c Call) (Outcome, error) {
	id, err := w.turn(c.Args)
	if err != nil {
		return Outcome{}, fmt.Errorf("/rewind: %w", err)
	}
	r, err := w.Session.Rewind(ctx, id)
	return undone("/rewind", r, err)
}

// turn finds a turn by its number, from 1, or its id.
func (w World) turn(arg string) (string, error) {
	turns := w.Session.Turns()
	if n, err := strconv.Atoi(arg); err == nil {
		if n < 1 || n > len(turns) {
			return "", fmt.Errorf("there is no turn %d: the session has %d", n, len(turns))
		}
		return turns[n-1].ID, nil
	}
	if len(turns) == 0 {
		return "", errors.New("say which turn; the session has none yet")
	}
	if arg == "" {
		return "", fmt.Errorf("say which turn: 1 to %d", len(turns))
	}
	return arg, nil
}

// undone says what was taken back, and what the prompt was, so that it can be sent
// again.
func undone(name string, r agent.UndoResult, err error) (Outcome, error) {
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	var sb strings.Builder
	if r.Turn != "" && err == nil {
		sb.WriteString("taken back. The prompt was:\n")
		for line := range strings.Lines(content.Compact(r.Blocks)) {
			sb.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
		}
	}
	for _, list := range []struct {
		what  string
		files []string
	}{{"put back", r.Files.Files}, {"removed", r.Files.Removed}, {"left as it is, since somebody else has changed it", r.Files.Kept}} {
		for _, f := range list.files {
			sb.WriteString(list.what + ": " + f + "\n")
		}
	}
	if len(r.Ran) > 0 && err == nil {
		sb.WriteString("not taken back, whatever it did: " + content.Clean(strings.Join(r.Ran, ", ")) + "\n")
	}
	return Outcome{Text: sb.String(), Restored: r.Sources}, err
}

func (w World) fork(ctx context.Context, c Call) (Outcome, error) {
	if w.Fork == nil {
		return Outcome{}, fmt.Errorf("/fork: %w", errNotHere)
	}
	turn := ""
	if c.Args != "" {
		var err error
		if turn, err = w.turn(c.Args); err != nil {
			return Outcome{}, fmt.Errorf("/fork: %w", err)
		}
	}
	id, err := w.Fork(ctx, turn)
	if err != nil {
		return Outcome{}, fmt.Errorf("/fork: %w", err)
	}
	return Outcome{Text: "the copy is session " + id + "\n", Session: id}, nil
}

func (w World) images(context.Context, Call) (Outcome, error) {
	var sb strings.Builder
	for i, t := range w.Session.Turns() {
		for _, m := range t.Messages {
			for _, b := range m.Blocks() {
				a, ok := content.AttachmentOf(b)
				if !ok {
					continue
				}
				size := ""
				if o := a.Original; o.Width > 0 {
					size = fmt.Sprintf("%dx%d, ", o.Width, o.Height)
				}
				fmt.Fprintf(&sb, "%-20s turn %-4d %s%d bytes  %s\n", a.Handle, i+1, size, a.Original.Size, content.Clean(a.Name))
			}
		}
	}
	if sb.Len() == 0 {
		return Outcome{Text: "there are no attachments in this session\n"}, nil
	}
	return Outcome{Text: sb.String()}, nil
}
