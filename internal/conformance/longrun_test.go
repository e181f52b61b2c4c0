package conformance_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider/providertest"
)

// longTurns are how many turns a long session has, and how many of each hundred
// have a picture in the prompt, and one in a tool's result.
const (
	longTurns   = 2000
	longPrompts = 10
	longResults = 5
)

// TestLongRun works all day in one session with a window of 128k tokens: nothing of
// what the user has just written is ever missing, what goes is told, the earlier
// part of a request stays as it is between evictions, and neither memory nor the
// record grows with more than what was said.
func TestLongRun(t *testing.T) {
	for _, c := range []struct {
		kind  string
		turns int
	}{{"openai-chat", longTurns}, {"anthropic", longTurns / 5}} {
		t.Run(c.kind, func(t *testing.T) {
			turns := c.turns
			if testing.Short() {
				turns = 60
			}
			m := &marathon{
				tongue: tongueOf(c.kind), t: t, handles: map[uint64]content.Digest{}, receipts: map[content.Handle]delivery.Receipt{},
				digests: map[content.Handle]content.Digest{}, tally: tally{least: 1},
			}
			r := newRig(t, m.tongue)
			r.guard(m.gate)
			w := newWorld(t, cast("", r.within("main", "true", fmt.Sprintf(`"context_tokens":%d,"output_tokens":8000`, marathonWindow), "")))
			run(t, w, m, turns)
		})
	}
}

// stage is how large things are at a moment.
type stage struct {
	heap, disk int64
}

func (w *world) stage(t *testing.T) stage {
	t.Helper()
	runtime.GC()
	runtime.GC() // what pools hold goes at the second
	s := stage{heap: int64(heap())}
	files, err := filepath.Glob(w.database() + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		s.disk += info.Size()
	}
	return s
}

func run(t *testing.T, w *world, m *marathon, turns int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 11))
	for i := range 20 {
		w.file(fmt.Sprintf("out-%d.txt", i), []byte(strings.Repeat(fmt.Sprintf("line of output %d, as good as any other\n", i), 10+i*i*2)))
	}
	p := w.launch()
	s := p.with("main")
	began, early := time.Now(), stage{}
	for i := range turns {
		if i == turns/4 {
			early = w.stage(t)
		}
		m.turn(w, rng, i)
		f := &agenttest.Front{On: m.watch}
		res, err := s.Prompt(t.Context(), agent.Prompt{Sources: m.sources(w, rng, i), Front: f})
		if err != nil || res.Stop != content.StopEndTurn {
			t.Fatalf("turn %d: %v, %v", i, res.Stop, err)
		}
	}
	late := w.stage(t)
	p.stop()
	m.report(t, turns, early, late, time.Since(began))
}

// sources are the prompt of a turn.
func (m *marathon) sources(w *world, rng *rand.Rand, i int) []content.Source {
	text := fmt.Sprintf("mark-%d: %s", i, strings.Repeat("do what is to be done, and then the rest. ", 2+rng.IntN(20)))
	list := []content.Source{prose(text)}
	if i%(100/longPrompts) == 3 {
		list = append(list, m.picture(w, fmt.Sprintf("given-%d.png", i), i))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.prompt = text
	return list
}

// picture writes a picture that nobody has seen.
func (m *marathon) picture(w *world, name string, i int) content.Source {
	w.t.Helper()
	src, data := w.snap(name, 24+i%7, 24, uint64(i)+1)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.handles[maphash.Bytes(seedOfHashes, []byte(base64.StdEncoding.EncodeToString(data)))] = content.Digest(sha256.Sum256(data))
	return src
}

// turn scripts a turn.
func (m *marathon) turn(w *world, rng *rand.Rand, i int) {
	call := func(path string) func(u providertest.Usage) providertest.Reply {
		return func(u providertest.Usage) providertest.Reply {
			return m.asks(u, content.ToolCall{ID: fmt.Sprintf("call-%d", i), Name: "read", Arguments: `{"path":"` + path + `"}`})
		}
	}
	var list []func(u providertest.Usage) providertest.Reply
	switch {
	case i%(100/longResults) == 7:
		name := fmt.Sprintf("found-%d.png", i)
		m.picture(w, name, 100_000+i)
		list = append(list, call(name))
	case i%3 == 1:
		list = append(list, call(fmt.Sprintf("out-%d.txt", rng.IntN(20))))
	}
	answer := fmt.Sprintf("So much for %d. ", i) + strings.Repeat("It is done as it was asked for. ", 1+rng.IntN(15))
	list = append(list, func(u providertest.Usage) providertest.Reply { return m.said(u, answer) })
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script = list
}

// report prints what was seen and holds it against what may be.
func (m *marathon) report(t *testing.T, turns int, early, late stage, took time.Duration) {
	t.Helper()
	x := &m.tally
	between := x.kept / max(1, x.pairs)
	perTurn := (late.disk - early.disk) / int64(turns-turns/4)
	t.Logf("%d turns, %d pictures, %d requests in %v", turns, len(m.handles), x.requests, took.Round(time.Millisecond))
	t.Logf("at most %d of %d tokens and %d pictures in a request; %d requests were refused for their size", x.most, marathonWindow, x.media, x.refused)
	t.Logf("%d evictions, %d summaries, up to %d labels in a summary", x.evictions, x.summaries, x.stubs)
	t.Logf("of the request before: %.4f unchanged between evictions (at least %.4f), %.4f in all", between, x.least, x.all/max(1, x.whole))
	t.Logf("heap %d KiB at turn %d, %d KiB at the end; database %d bytes a turn", early.heap>>10, turns/4, late.heap>>10, perTurn)
	if between <= 0.95 {
		t.Errorf("%.4f of the request before is unchanged between evictions", between)
	}
	if grown := late.heap - early.heap; grown > 64<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	if perTurn > 64<<10 {
		t.Errorf("the database grew by %d bytes a turn", perTurn)
	}
	if !testing.Short() && (x.summaries == 0 || x.evictions == 0 || x.stubs == 0) {
		t.Errorf("nothing gave way: this proves nothing")
	}
}
