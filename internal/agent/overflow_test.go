package agent

import (
	"testing"
	"testing/quick"

	"tote/internal/delivery"
)

// The next try is smaller than the last, leaves what cannot give way out of the
// account, and does not touch the current turn while earlier ones can go.
func TestFewer(t *testing.T) {
	for name, c := range map[string]struct {
		e          delivery.Estimates
		least, top int64
	}{
		"half of a long conversation":         {delivery.Estimates{Whole: 100_000, Fixed: 10_000, Alone: 12_000}, 50_000, 60_000},
		"tools are most of it":                {delivery.Estimates{Whole: 12_000, Fixed: 9000, Alone: 11_000}, 11_000, 11_999},
		"nothing but the turn":                {delivery.Estimates{Whole: 12_000, Fixed: 4000, Alone: 12_000}, 4000, 8000},
		"the turn is nearly all of it":        {delivery.Estimates{Whole: 12_000, Fixed: 4000, Alone: 11_990}, 11_990, 11_999},
		"an estimate of nothing is no number": {delivery.Estimates{}, 1, 1},
	} {
		if n := fewer(c.e); n < c.least || n > c.top {
			t.Errorf("%s: %d is not from %d to %d", name, n, c.least, c.top)
		}
	}
	holds := func(fixed, turn, history uint16) bool {
		e := delivery.Estimates{Fixed: int64(fixed) + 1, Alone: int64(fixed) + 1 + int64(turn), Whole: int64(fixed) + 1 + int64(turn) + int64(history)}
		n := fewer(e)
		return n >= e.Fixed && n <= e.Whole && (history == 0 || n >= e.Alone && n < e.Whole)
	}
	if err := quick.Check(holds, nil); err != nil {
		t.Error(err)
	}
}
