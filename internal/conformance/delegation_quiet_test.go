package conformance_test

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"tote/internal/content"
	"tote/internal/provider/providertest"
)

// TestJobsSendNothingOfTheTurn has a turn with a picture run, its backend holding
// the answer, while jobs on the same agent begin and end. A job sends nothing of
// the turn; one that was started with pictures sends exactly those.
func TestJobsSendNothingOfTheTurn(t *testing.T) {
	t.Parallel()
	for _, g := range tongues() {
		if !tried(g.kind) {
			continue
		}
		t.Run(g.kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, g)
			held, come := make(chan struct{}), make(chan struct{})
			var once sync.Once
			r.on("main", func(_ int, l letter) providertest.Reply {
				if !bytes.Contains(l.body, []byte("mark-turn")) {
					return nil
				}
				return func(w http.ResponseWriter, req *http.Request, body []byte) {
					once.Do(func() { close(come) })
					<-held
					r.said(plenty(), "done")(w, req, body)
				}
			})
			w := newWorld(t, cast(`,"limits":{"jobs":8}`, r.plays("main", "true", "")))
			p := w.launch()
			defer p.stop()
			s := p.with("main")
			shot, own := w.snap("own.png", 60, 50, 1)
			var turn sync.WaitGroup
			// It ends with the turn, which the test lets go on below.
			turn.Go(func() { p.prompt(s, shot, prose("mark-turn")) })
			<-come
			const jobs = 4
			staged := startJobs(t, p, jobs, func(sources []content.Source) (string, error) {
				return p.workspace.Crew().Start(t.Context(), s, "main", "a job", sources)
			})
			if err := p.workspace.Crew().Wait(t.Context(), s.ID()); err != nil {
				t.Error(err)
			}
			close(held)
			turn.Wait()
			sent := 0
			for _, x := range r.wires(t, "main") {
				for i := range jobs {
					if !bytes.Contains(x.body, fmt.Appendf(nil, "mark-job-%d", i)) {
						continue
					}
					sent++
					holdsExactly(t, fmt.Sprintf("job %d", i), x, staged[i]...)
				}
				if bytes.Contains(x.body, []byte("mark-turn")) {
					holdsExactly(t, "the turn", x, given{"image-1.png", own})
				}
			}
			if sent != jobs {
				t.Errorf("%d requests of jobs", sent)
			}
		})
	}
}

// startJobs starts jobs of which the i-th has i pictures, and returns those under
// the labels that they get: a child counts on from its parent.
func startJobs(t *testing.T, p *process, n int, start func([]content.Source) (string, error)) [][]given {
	t.Helper()
	var out [][]given
	for i := range n {
		list := []content.Source{prose(fmt.Sprintf("mark-job-%d", i))}
		var want []given
		for j := range i {
			src, data := p.snap(fmt.Sprintf("job-%d-%d.png", i, j), 62+j, 50+i, uint64(100*i+j))
			list = append(list, src)
			want = append(want, given{content.NewHandle(content.KindImage, 2+j, ".png"), data})
		}
		if _, err := start(list); err != nil {
			t.Fatal(err)
		}
		out = append(out, want)
	}
	return out
}
