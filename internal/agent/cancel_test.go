package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/permission"
)

// cancelled runs a prompt that is cancelled after d, and the next one, and
// checks what is left behind.
func cancelled(t *testing.T, b *agenttest.Bench, d time.Duration) agent.Result {
	t.Helper()
	c, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	r, err := b.Prompt(c, "go")
	if err != nil || r.Stop != content.StopCancelled {
		t.Fatalf("%v, %v", r.Stop, err)
	}
	synctest.Wait()
	if n := b.Provider.Running(); n != 0 {
		t.Errorf("%d streams still run", n)
	}
	turns := b.Disk.Turns(b.Session.ID())
	consistent(t, turns)
	if got := turns[len(turns)-1].Stop; got != content.StopCancelled {
		t.Errorf("recorded as %v", got)
	}
	lines := b.Front.Lines()
	if got := lines[len(lines)-1]; got != "ended cancelled" {
		t.Errorf("last event = %q", got)
	}
	b.Must(t.Context(), "next")
	return r
}

func TestCancelWhileStreaming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(
			calls(agenttest.Tokens(70, 1), agenttest.Say("half"), agenttest.Call("c1", "list", "{}"), agenttest.Hang{}),
		)})
		r := cancelled(t, b, time.Second)
		if r.Usage.Input.N != 70 {
			t.Errorf("usage = %+v", r.Usage)
		}
		contains(t, b.Last().Body, `text "half"`)
		lacks(t, b.Last().Body, "call c1")
	})
}

func TestCancelBeforeAnything(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	c, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // no chance may let it in
		if r, err := b.Prompt(c, "go"); err != nil || r.Stop != content.StopCancelled {
			t.Fatalf("%v, %v", r.Stop, err)
		}
	}
	if n := len(b.Disk.Turns(b.Session.ID())) + len(b.Front.Events()); n != 0 {
		t.Errorf("%d turns and events", n)
	}
}

func TestCancelWhileAToolRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began []string
		b := agenttest.New(t, agenttest.Options{
			Tools: toolsOf(
				agenttest.Tool{Name: "done", Do: func(ctx, string) ([]content.Source, error) { return agenttest.Output("written"), nil }},
				agenttest.Tool{Name: "waits", Do: func(c ctx, _ string) ([]content.Source, error) {
					<-c.Done()
					return nil, c.Err()
				}},
				agenttest.Tool{Name: "finishes", Do: func(c ctx, _ string) ([]content.Source, error) {
					<-c.Done()
					return agenttest.Output("it was written all the same"), nil
				}},
				agenttest.Tool{Name: "late", Do: func(ctx, string) ([]content.Source, error) {
					began = append(began, "late")
					return nil, nil
				}},
			),
			Script: agenttest.Replies(calls(
				agenttest.Call("c1", "done", ""), agenttest.Call("c2", "waits", ""), agenttest.Call("c3", "finishes", ""),
				agenttest.Call("c4", "waits", ""), agenttest.Call("c5", "waits", ""), agenttest.Call("c6", "late", ""),
			)),
		})
		cancelled(t, b, time.Second)
		if began != nil {
			t.Error("a call began after the turn was cancelled")
		}
		var got []string
		for _, p := range b.Disk.Turns(b.Session.ID())[0].Messages[2].Parts {
			got = append(got, content.Compact(p.(content.ToolResult).Blocks))
		}
		no := "cancelled by the user"
		if diff := cmp.Diff([]string{"written", no, "it was written all the same", no, no, no}, got); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		ends := 0
		for _, l := range b.Front.Lines() {
			if strings.HasPrefix(l, "finished") {
				ends++
			}
		}
		if ends != 6 {
			t.Errorf("%d of 6 calls came to an end", ends)
		}
	})
}

func TestCancelWhileAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := agenttest.New(t, agenttest.Options{
			Tools:  toolsOf(agenttest.Tool{Name: "x", Wants: permission.Request{Action: permission.Execute, Detail: "rm"}}),
			Script: agenttest.Replies(calls(agenttest.Call("c1", "x", ""), agenttest.Call("c2", "x", ""))),
		})
		b.Front.Answer = func(c ctx, _ agent.Question) (agent.Permit, error) {
			<-c.Done()
			return agent.PermitOnce, c.Err()
		}
		cancelled(t, b, time.Second)
		if n := len(b.Front.Questions()); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// A prompt that waits its turn and is cancelled leaves no trace, and those
// behind it run in the order in which they came.
func TestCancelInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := agenttest.New(t, agenttest.Options{Script: func(int, agenttest.Received) agenttest.Reply {
			return calls(agenttest.Wait(10*time.Second), agenttest.Say("ok"))
		}})
		results := make([]agent.Result, 4)
		for i, text := range []string{"first", "second", "third", "fourth"} {
			c := t.Context()
			if i == 1 {
				short, cancel := context.WithTimeout(c, time.Second)
				defer cancel()
				c = short
			}
			// It ends with its prompt.
			go func() { results[i], _ = b.Prompt(c, text) }()
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if results[1].Stop != content.StopCancelled || results[3].Stop != content.StopEndTurn {
			t.Errorf("results = %+v", results)
		}
		var got []string
		for _, turn := range b.Disk.Turns(b.Session.ID()) {
			got = append(got, content.Compact(turn.Messages[0].Blocks()))
		}
		if diff := cmp.Diff([]string{"first", "third", "fourth"}, got); diff != "" {
			t.Errorf("turns (-want +got):\n%s", diff)
		}
	})
}

func TestCancelDuringAProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := agenttest.New(t, agenttest.Options{
			Profile: agenttest.Unknown(agenttest.Endpoint), Script: agenttest.Replies(calls(agenttest.Hang{})),
		})
		c, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r, err := b.Prompt(c, agenttest.PNG(9, 9, 1))
		if err != nil || r.Stop != content.StopCancelled {
			t.Fatalf("%v, %v", r.Stop, err)
		}
		if _, ok := b.Disk.Evidence(agenttest.Endpoint, content.KindImage); ok {
			t.Error("a probe that was cancelled proves something")
		}
		synctest.Wait()
		if b.Provider.Running() != 0 {
			t.Error("the probe still runs")
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(calls(agenttest.Hang{}))})
		c, cancel := context.WithCancel(t.Context())
		var waiting error
		// They end with their prompts.
		go func() { _, _ = b.Prompt(c, "go") }()
		synctest.Wait()
		go func() { _, waiting = b.Prompt(t.Context(), "waits") }()
		synctest.Wait()
		short, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := b.Session.Close(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("closing while a turn runs: %v", err)
		}
		cancel()
		if err := b.Session.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !errors.Is(waiting, agent.ErrClosed) {
			t.Errorf("the prompt that waited: %v", waiting)
		}
		if _, err := b.Prompt(t.Context(), "late"); !errors.Is(err, agent.ErrClosed) {
			t.Errorf("a late prompt: %v", err)
		}
	})
}

// A front may look at the session from inside any event.
func TestFrontLooksBack(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(
		calls(agenttest.Think("t"), agenttest.Say("a"), agenttest.Call("c1", "list", "{}"), agenttest.Tokens(1, 1)),
	)})
	b.Front.On = func(agent.Event) {
		b.Session.SetMode(permission.ModeEdits)
		_, _, _ = b.Session.Turns(), b.Session.Stored(), b.Session.Mode()
		if _, err := b.Session.Model(t.Context()); err != nil {
			t.Error(err)
		}
		if err := b.Session.SetAgent(t.Context(), "main"); err != nil {
			t.Error(err)
		}
	}
	b.Must(t.Context(), "go", agenttest.PNG(9, 9, 1))
}

// Streamed text is on the disk a second after it came, at the latest.
func TestDrafts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(calls(
			agenttest.Say("a"), agenttest.Wait(1500*time.Millisecond), agenttest.Say("b"), agenttest.Wait(3*time.Second),
			agenttest.Say("c"),
		))})
		r := b.Must(t.Context(), "go")
		if diff := cmp.Diff([]string{"a", "ab"}, b.Disk.Drafts(b.Session.ID(), r.Turn)); diff != "" {
			t.Errorf("drafts (-want +got):\n%s", diff)
		}
	})
}

// A crash in the middle of an answer loses one second of it at most.
func TestCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(calls(
			agenttest.Say("kept"), agenttest.Wait(1500*time.Millisecond), agenttest.Say(" lost"), agenttest.Hang{},
		))})
		c, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		// It ends with its prompt.
		go func() {
			defer close(done)
			_, _ = b.Prompt(c, "go", agenttest.PNG(9, 9, 1))
		}()
		time.Sleep(1900 * time.Millisecond)
		synctest.Wait()
		b.Disk.FailWhen(func(string) error { return errors.New("the process is gone") })
		cancel()
		<-done
		b.Disk.FailWhen(nil)
		b.Restart()
		b.Must(t.Context(), "go on")
		contains(t, b.Last().Body, `text "kept"`, "image image-1.png")
	})
}
