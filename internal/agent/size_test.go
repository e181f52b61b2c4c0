package agent_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// capped takes bodies up to a size.
func capped(limit int, k delivery.FailureKind) func(int, agenttest.Received) agenttest.Reply {
	return func(_ int, r agenttest.Received) agenttest.Reply {
		if len(r.Body) > limit {
			return agenttest.Reply{agenttest.Failing(k, 413, "<html>too large</html>")}
		}
		return agenttest.Reply{agenttest.Say("ok")}
	}
}

// A body that is not taken is sent once more with less, and the size that was
// taken is remembered.
func TestTooLargeEvictsOnce(t *testing.T) {
	for _, k := range []delivery.FailureKind{delivery.FailTooLarge, delivery.FailUpload} {
		t.Run(k.String(), func(t *testing.T) {
			b := agenttest.New(t, agenttest.Options{Script: capped(2<<20, k)})
			for i := range 8 {
				b.Must(t.Context(), agenttest.PNG(500, 500, uint64(i)))
			}
			all := b.Provider.Requests()
			failed, name, limit := 0, delivery.LimitRequest, int64(900_000)
			if k == delivery.FailUpload {
				name = delivery.LimitDoubted
				i := slices.IndexFunc(all, func(r agenttest.Received) bool { return len(r.Body) > 2<<20 })
				if all[i].Body != all[i+1].Body {
					t.Error("the resend has other bytes")
				}
				all = slices.Delete(all, i, i+1)
			}
			for i, r := range all {
				if len(r.Body) > 2<<20 {
					failed++
					if next := all[i+1]; len(next.Body) >= len(r.Body) || !strings.Contains(next.Handles(), "image-"+fmt.Sprint(i+1)) {
						t.Errorf("the retry has %d bytes after %d, media %s", len(next.Body), len(r.Body), next.Handles())
					}
				}
			}
			if failed != 1 || len(all) != 9 {
				t.Errorf("%d of %d requests were too large: %v", failed, len(all), handles(b.Provider))
			}
			if got := b.Disk.Limit(agenttest.Endpoint, name); got != limit {
				t.Errorf("remembered %d, want %d", got, limit)
			}
			if !noticed(b.Front, "did not take a request of that size") {
				t.Error("nothing was said")
			}
			b.Restart()
			b.Must(t.Context(), "hi")
			if n := int64(len(b.Last().Body)); n > limit {
				t.Errorf("after a restart %d bytes", n)
			}
		})
	}
}

// When nothing is left to give way, the same is never sent again.
func TestNothingLeftToGiveWay(t *testing.T) {
	for _, k := range []delivery.FailureKind{delivery.FailTooLarge, delivery.FailOverflow, delivery.FailUpload} {
		b := agenttest.New(t, agenttest.Options{Script: capped(10, k)})
		_, err := b.Prompt(t.Context(), strings.Repeat("text ", 1000))
		var pe *provider.Error
		if !errors.As(err, &pe) || pe.Failure.Kind != k {
			t.Fatalf("err = %v", err)
		}
		want := 1
		if k == delivery.FailUpload {
			want = 2 // the way may have been to blame
		}
		if n := len(b.Provider.Requests()); n != want {
			t.Errorf("%v: %d requests", k, n)
		}
		if got := b.Disk.Limit(agenttest.Endpoint, "max_request"); got != 0 {
			t.Errorf("remembered %d of a request that never went through", got)
		}
	}
}

// A small body that breaks off says nothing about sizes.
func TestSmallUploadIsNoLimit(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	b.Must(t.Context(), agenttest.PNG(100, 100, 1))
	n := len(b.Provider.Requests())
	b.Provider.Script = func(i int, _ agenttest.Received) agenttest.Reply {
		if i == n {
			return agenttest.Reply{agenttest.Failing(delivery.FailUpload, 0, "connection reset")}
		}
		return agenttest.Reply{agenttest.Say("ok")}
	}
	b.Must(t.Context(), "hi")
	if got := b.Disk.Limit(agenttest.Endpoint, "max_request"); got != 0 {
		t.Errorf("remembered %d", got)
	}
}

// More tokens than the context holds: the media of earlier turns go, once.
func TestOverflow(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: func(_ int, r agenttest.Received) agenttest.Reply {
		if len(r.Media) > 2 {
			return agenttest.Reply{agenttest.Failing(delivery.FailOverflow, 400, "prompt is too long")}
		}
		return agenttest.Reply{agenttest.Say("ok")}
	}})
	for i := range 3 {
		b.Must(t.Context(), agenttest.PNG(20, 20, uint64(i)))
	}
	b.Must(t.Context(), "hi")
	sent(t, b, "image-1.png", "image-1.png image-2.png", "image-1.png image-2.png image-3.png", "image-3.png", "image-3.png")
}

// The measured body is larger than the limit although the estimate is not:
// measured, it is decided again, and never sent too large.
func TestMeasuredOverhead(t *testing.T) {
	p := agenttest.Sees(agenttest.Endpoint)
	p.MaxRequest = 60_000
	b := agenttest.New(t, agenttest.Options{Profile: p})
	// Every quoted byte of this text takes four, which no estimate knows.
	b.Must(t.Context(), agenttest.PNG(100, 100, 1), strings.Repeat("\x01", 8000))
	b.Must(t.Context(), agenttest.PNG(100, 100, 2))
	for i, r := range b.Provider.Requests() {
		if len(r.Body) > 60_000 {
			t.Errorf("request %d has %d bytes", i, len(r.Body))
		}
	}
	contains(t, b.Last().Handles(), "image-2.png")
	lacks(t, b.Last().Handles(), "image-1.png")
	if !noticed(b.Front, "image-1.png") {
		t.Error("nothing was said about the picture that gave way")
	}
}

// Over 900 KB with something new, the server is asked before the body is sent.
func TestExpect(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	b.Must(t.Context(), agenttest.PNG(100, 100, 1))
	b.Must(t.Context(), agenttest.PNG(900, 900, 2))
	b.Must(t.Context(), "hi")
	for i, want := range []bool{false, true, false} {
		if got := b.Provider.Requests()[i].Expect; got != want {
			t.Errorf("request %d asks = %v", i, got)
		}
	}
}

// A blob that is gone or damaged leaves a line at its place and a notice, and
// the turn goes on.
func TestMissingBlob(t *testing.T) {
	for name, spoil := range map[string]func(*agenttest.Store, content.Digest){
		"lost": (*agenttest.Store).Lose, "damaged": (*agenttest.Store).Damage,
	} {
		t.Run(name, func(t *testing.T) {
			b := agenttest.New(t, agenttest.Options{})
			b.Must(t.Context(), agenttest.PNG(20, 20, 1), agenttest.PNG(20, 20, 2), agenttest.Paste("a.txt", []byte("hello")))
			b.Restart()
			b.Front.Forget()
			b.Provider.Script = nil
			spoil(b.Store, b.Provider.Requests()[0].Media[0].Digest())
			text, _ := content.AttachmentOf(b.Session.Turns()[0].Messages[0].Blocks()[2])
			spoil(b.Store, text.Original.Digest)
			b.Must(t.Context(), "hi")
			sent(t, b, "image-1.png image-2.png", "image-2.png")
			contains(t, b.Last().Text, "[image-1.png: image/png, 20x20", "its bytes are no longer available")
			lacks(t, b.Last().Text, "hello")
			if !noticed(b.Front, "image-1.png") || !noticed(b.Front, "resource-1.txt (a.txt)") {
				t.Errorf("notices = %v", b.Front.Notices())
			}
		})
	}
}

// A variant that cannot be cut falls to a file, or to a line where a file would
// be the answer to reading it.
func TestCutFails(t *testing.T) {
	p := agenttest.Sees(agenttest.Endpoint)
	p.ImageLimits.MaxEdge = 10
	b := agenttest.New(t, agenttest.Options{Profile: p, Script: agenttest.Replies(
		calls(agenttest.Call("c1", "read", `{"path":"b.png"}`)),
	)})
	b.Cutter.Fail(errors.New("no decoder"))
	b.File("b.png", agenttest.PNG(30, 30, 2))
	b.Must(t.Context(), agenttest.PNG(20, 20, 1))
	contains(t, b.Last().Text, "[image-1.png: image/png, 20x20", "Its file: @", "[image-2.png: b.png")
	_, after, _ := strings.Cut(b.Last().Text, "[image-2.png: b.png")
	lacks(t, after, "Its file")
	if !noticed(b.Front, "no decoder") {
		t.Errorf("notices = %v", b.Front.Notices())
	}
}

func TestCut(t *testing.T) {
	p := agenttest.Sees(agenttest.Endpoint)
	p.ImageLimits.MaxEdge = 10
	b := agenttest.New(t, agenttest.Options{Profile: p})
	b.Must(t.Context(), agenttest.PNG(20, 20, 1))
	b.Must(t.Context(), "hi")
	sent(t, b, "image-1.png", "image-1.png")
	contains(t, b.Last().Text, "scaled from 20x20")
	if got := b.Cutter.Cuts(); got != 1 {
		t.Errorf("cut %d times", got)
	}
	// The variant is lost and cannot be made again.
	b.Store.Lose(b.Last().Media[0].Digest())
	b.Cutter.Fail(errors.New("no decoder"))
	b.Must(t.Context(), "hi")
	contains(t, b.Last().Text, "Its file: @")
}

// A disk that is full is said, before anything is sent or after.
func TestDiskFull(t *testing.T) {
	full := errors.New("no space left on device")
	for op, sends := range map[string]int{
		"TakeHandles": 0, "BeginTurn": 0, "NextRequest": 0, "SaveReceipts": 0, "SaveLedger": 0,
		"AppendMessage": 1, "SaveVerdicts": 1, "EndTurn": 1,
	} {
		t.Run(op, func(t *testing.T) {
			b := agenttest.New(t, agenttest.Options{})
			b.Disk.FailWhen(func(o string) error {
				if o == op {
					return full
				}
				return nil
			})
			r, err := b.Prompt(t.Context(), "hi", agenttest.PNG(9, 9, 1))
			if !errors.Is(err, full) || r.Stop != content.StopFailed {
				t.Fatalf("%v, %v", r.Stop, err)
			}
			if got := len(b.Provider.Requests()); got != sends {
				t.Errorf("%d requests, want %d", got, sends)
			}
			b.Disk.FailWhen(nil)
			b.Must(t.Context(), "again")
			consistent(t, b.Disk.Turns(b.Session.ID()))
		})
	}
	b := agenttest.New(t, agenttest.Options{})
	b.Store.Fill(full)
	if r, err := b.Prompt(t.Context(), agenttest.PNG(9, 9, 1)); !errors.Is(err, full) || r.Stop != content.StopFailed {
		t.Errorf("store: %v, %v", r.Stop, err)
	}
}

// A backend of small means never makes a turn fail that a smaller one could do.
func TestSmallRequests(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Policy: agent.Policy{Budgets: delivery.Budgets{Request: 30_000}}})
	b.Must(t.Context(), "look", agenttest.PNG(200, 200, 1))
	sent(t, b, "")
	contains(t, b.Last().Text, "Its file: @")
}
