package delivery

import (
	"slices"
	"strconv"
	"strings"

	"tote/internal/content"
)

// This file puts a summary in the place of the oldest turns, and says when one
// should be made and for what.

const (
	// MaxSummary bounds the text of a summary, in bytes. In a small window a
	// summary may take about a quarter of it.
	MaxSummary = 32_000
	minSummary = 2_000
	// summaryStubs is how many attachments are listed behind a summary at
	// most, maxStubs what the list may take in bytes; in a small window it
	// may take about a sixteenth.
	summaryStubs = 100
	maxStubs     = 16_000
	minStubs     = 1_000
	// summaryKeeps is how much of the window the newest turns that no summary
	// should stand for take at least, in percent.
	summaryKeeps = 30
	// summaryPays is how much of the window a summary has to stand for to be
	// worth a request, in percent.
	summaryPays = 10
)

// crowdedAt is how much of the window history may take, in percent, when all has
// given way that can, before a summary is wanted.
func (d *decider) crowdedAt() int64 {
	return min(100, orDefault(int64(d.in.Budgets.Summary), DefaultSummary))
}

// summarise leaves out the turns that the summary stands for.
func (d *decider) summarise() {
	n := d.summarised()
	if n == 0 {
		return
	}
	d.covered = n
	d.leave(n, ReasonSummarised)
	d.head = d.summaryText(d.in.Facts.Summary.Text)
}

// summarised is how many leading messages the summary stands for.
func (d *decider) summarised() int {
	if s := &d.in.Facts.Summary; !blank(s.Text) {
		return d.turnStart(s.Messages)
	}
	return 0
}

// roomFor is n bytes, less in a small window, but not below low. share is how many
// tokens of the window there have to be for each byte. It rests on the profile alone, which
// stays the same within a lane.
func (d *decider) roomFor(n, low, share int) int {
	if c := d.in.Profile.Context; c > 0 {
		n = min(n, max(low, c/share))
	}
	return n
}

// summaryText is what stands in the place of the turns. It is the same as long as
// the summary is.
func (d *decider) summaryText(text string) string {
	var sb strings.Builder
	if d.covered == 1 {
		sb.WriteString("[summary of the earlier message, which is not shown any more]\n")
	} else {
		sb.WriteString("[summary of the " + strconv.Itoa(d.covered) + " earlier messages, which are not shown any more]\n")
	}
	sb.WriteString(clip(strings.TrimSpace(text), d.roomFor(MaxSummary, minSummary, 1)))
	sb.WriteString("\n[end of the summary]")
	lines, unlisted := d.summaryStubs()
	if unlisted > 0 {
		sb.WriteString("\n[older attachments that are not listed here: " + strconv.Itoa(unlisted) + "]")
	}
	for _, l := range lines {
		sb.WriteByte('\n')
		sb.WriteString(l)
	}
	return sb.String()
}

// summaryStubs lists the newest attachments of what the summary stands for, and
// counts the others.
func (d *decider) summaryStubs() (lines []string, unlisted int) {
	end := 0
	for end < len(d.orders) && d.orders[end].message < d.covered {
		end++
	}
	var o Order
	l := labelFor(d.in, &o)
	room := d.roomFor(maxStubs, minStubs, bytesPerToken)
	for i := end - 1; i >= 0; i-- {
		o = d.orders[i]
		if k := o.block.Kind(); k == content.KindText || k == content.KindOpaque {
			continue
		}
		if unlisted == 0 && len(lines) < summaryStubs {
			if o.Reason.passed() {
				o.Disposition, o.Reason, o.Detail = Placeholder, ReasonSummarised, ""
			}
			line := l.text(o.block)
			if room -= len(line) + 1; room >= 0 {
				lines = append(lines, line)
				continue
			}
		}
		unlisted++
	}
	slices.Reverse(lines)
	return lines, unlisted
}

// costs is what messages from up to to take of the window.
func (d *decider) costs(from, to int) int64 {
	n := int64(0)
	for i := max(from, d.left); i < min(to, len(d.in.Messages)); i++ {
		for _, p := range d.in.Messages[i].Parts {
			n += d.gauge.scale(i, proseTokens(p))
		}
	}
	for i := range d.orders {
		if o := &d.orders[i]; o.message >= from && o.message < to {
			n += d.gauge.scale(o.message, int64(orderTokens(&d.in.Profile, o)))
		}
	}
	return n
}

// crowded reports whether history fills most of the window even when all has
// given way that can, so that a summary should be made before turns have to go.
func (d *decider) crowded(limit int64) bool {
	most := percent(limit, d.crowdedAt())
	n := d.tokens()
	if n <= most {
		return false
	}
	n -= d.costs(d.in.Current, len(d.in.Messages)) + d.gauge.more(int64(textTokens(d.in.Facts.Fixed)))
	s := d.window(limit)
	for _, r := range spent {
		if r.route == RouteHistory {
			n -= d.gain(s, r)
		}
	}
	return n > most && d.summaryHelps(limit)
}

// summaryHelps reports whether a summary would stand for enough to be worth it.
func (d *decider) summaryHelps(limit int64) bool {
	upTo := d.summaryUpTo(limit)
	return upTo > d.covered && (d.left > d.covered || d.costs(d.left, upTo) > percent(limit, summaryPays))
}

// SummaryUpTo returns how many leading messages of the conversation a summary
// should stand for, 0 for none. They end with a turn and include what
// Facts.Summary stands for. The newest turns, worth about 30 percent of the
// window, and the current turn are not among them.
func (p Plan) SummaryUpTo() int {
	d := p.decider()
	limit := d.tokenLimit()
	if limit <= 0 {
		limit = d.tokens()
	}
	return d.summaryUpTo(limit)
}

func (d *decider) summaryUpTo(limit int64) int {
	cut := d.turnStart(d.in.Current)
	keep := percent(limit, summaryKeeps)
	room := percent(limit, EvictTo) - d.costs(cut, len(d.in.Messages)) - d.gauge.more(d.fixedTokens())
	kept, turn := int64(0), int64(0)
	last := len(d.orders) - 1
	for i := cut - 1; i >= d.left; i-- {
		for _, p := range d.in.Messages[i].Parts {
			turn += d.gauge.scale(i, proseTokens(p))
		}
		for ; last >= 0 && d.orders[last].message >= i; last-- {
			if o := &d.orders[last]; o.message == i {
				turn += d.gauge.scale(i, int64(orderTokens(&d.in.Profile, o)))
			}
		}
		if i > 0 && !d.opens(i) {
			continue
		}
		if kept >= keep || kept+turn > room {
			break
		}
		kept, turn, cut = kept+turn, 0, i
	}
	return max(cut, d.left)
}
