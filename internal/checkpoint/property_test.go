package checkpoint_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// event is a content that a file got, and the number of the turn that gave it; 0
// is somebody else.
type event struct {
	turn int
	text string
}

// expected is what a restore of the turns from k on leaves of a file: it goes
// back over their events, up to the first of somebody else or of a turn before.
func expected(events []event, k int) (text string, kept bool) {
	i := len(events) - 1
	for i > 0 && events[i].turn >= k {
		i--
	}
	for _, e := range events[:i] {
		kept = kept || e.turn >= k
	}
	return events[i].text, kept
}

// Random writes by turns and by others, then a restore: every file is as it was,
// except where others have changed it since.
func TestRandomWrites(t *testing.T) {
	names := []string{"a", "b", "c", "d/e", "d/f/g"}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := newBench(t)
		files := map[string][]event{}
		for i, n := range names {
			start := event{text: "-"}
			if i%2 == 0 {
				start.text = "start " + n
				b.set(n, start.text)
			}
			files[n] = []event{start}
		}
		const turns = 4
		for turn := 1; turn <= turns; turn++ {
			for range r.IntN(8) {
				n := names[r.IntN(len(names))]
				events := files[n]
				e := event{turn: turn, text: fmt.Sprint("text ", r.Uint64())}
				switch exists := events[len(events)-1].text != "-"; {
				case r.IntN(4) == 0:
					e.turn = 0
					b.set(n, e.text)
				case exists && r.IntN(4) == 0:
					e.text = "-"
					b.turn(fmt.Sprint(turn), n, "-")
				default:
					b.turn(fmt.Sprint(turn), n, e.text)
				}
				files[n] = append(events, e)
			}
		}
		k := 1 + r.IntN(turns)
		var undo []string
		for turn := turns; turn >= k; turn-- {
			undo = append(undo, fmt.Sprint(turn))
		}
		for run := range 2 {
			_, _, kept := b.restore(undo...)
			for _, n := range names {
				text, stays := expected(files[n], k)
				if got := b.get(n); got != text || slices.Contains(kept, n) != stays {
					t.Fatalf("seed %d, run %d, turns from %d, %s: %q, want %q; kept %v, want %v; %+v", seed, run, k, n, got, text, kept, stays, files[n])
				}
			}
		}
		b.leftovers(names...)
	}
}
