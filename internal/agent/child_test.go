package agent_test

import (
	"strings"
	"sync"
	"testing"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/tool"
)

func child(t *testing.T, b *agenttest.Bench, kind string) *agent.Session {
	t.Helper()
	s, err := b.Agent.CreateChild(t.Context(), b.Session, kind, "main")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestChild(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	b.Must(t.Context(), "look", agenttest.PNG(9, 9, 1))
	c := child(t, b, "task")
	if st := c.Stored(); st.Parent != b.Session.ID() || st.Kind != "task" || st.Cwd != b.Cwd {
		t.Errorf("stored = %+v", st)
	}
	block, ok := b.Session.Block("image-1.png")
	if !ok {
		t.Fatal("the session does not know its picture")
	}
	given := content.Source{Payload: content.Given{Block: block}, Inlet: content.InletTool, Chooser: content.ChosenByModel}
	front := &agenttest.Front{}
	r, err := c.Prompt(t.Context(), agent.Prompt{
		Sources: append(b.Sources("what is it?", agenttest.PNG(7, 7, 2)), given), Front: front,
	})
	if err != nil || r.Stop != content.StopEndTurn {
		t.Fatalf("%v, %v", r.Stop, err)
	}
	if got := b.Last().Handles(); got != "image-2.png image-1.png" {
		t.Errorf("the child was sent %q", got)
	}
	lacks(t, b.Last().Text, "look")
	if _, err := b.Agent.CreateChild(t.Context(), b.Session, "task", "nobody"); err == nil {
		t.Error("an agent that does not exist was chosen")
	}
}

// A child asks for nothing that the user allowed its parent, and may never do more.
func TestChildMode(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	c := child(t, b, "job")
	for _, tt := range []struct{ parent, child, want permission.Mode }{
		{permission.ModeEdits, permission.ModeFull, permission.ModeEdits},
		{permission.ModeFull, permission.ModeAsk, permission.ModeAsk},
		{permission.ModePlan, permission.ModeFull, permission.ModePlan},
		{permission.ModeAsk, permission.ModePlan, permission.ModePlan},
	} {
		b.Session.SetMode(tt.parent)
		c.SetMode(tt.child)
		if got := c.Mode(); got != tt.want {
			t.Errorf("%v under %v is %v, want %v", tt.child, tt.parent, got, tt.want)
		}
	}
	b.Session.SetMode(permission.ModeFull)
	if got := child(t, b, "job").Mode(); got != permission.ModeFull {
		t.Errorf("a new child's mode is %v", got)
	}
}

func TestCompactConversation(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(
		calls(agenttest.Say("reading"), agenttest.Call("c1", "read", `{"path":"a.txt"}`)), agenttest.Reply{agenttest.Say("done")},
	)})
	b.File("a.txt", []byte(strings.Repeat("líne\n", 1000)))
	b.Must(t.Context(), "read it", agenttest.PNG(9, 9, 1))
	all := b.Session.Compact(1 << 20)
	contains(t, all, "User: read it\n[attached image: image-1.png (image/png)]", "Assistant: reading", `Call of read: {"path":"a.txt"}`, "Result of read: ", "Assistant: done")
	if len(all) > 3000 {
		t.Errorf("it has %d bytes", len(all))
	}
	for n := range 200 {
		if got := b.Session.Compact(n); len(got) > n+60 || !strings.HasSuffix(all, got[strings.Index(got, "]\n")+2:]) || strings.ContainsRune(got, 0xfffd) {
			t.Fatalf("Compact(%d) = %q", n, got)
		}
	}
}

// A job's end is shown by the running turn or to the watcher, and told to the model
// once.
func TestJobs(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	var watched []string
	b.Session.WatchJobs(func(j tool.JobState) { watched = append(watched, j.ID+" "+j.State) })
	b.Session.JobChanged(tool.JobState{ID: "1", Title: "tests", State: "running"})
	b.Session.JobChanged(tool.JobState{ID: "1", Title: "tests", State: "done", Report: "all green"})
	b.Session.JobChanged(tool.JobState{ID: "2", State: "failed", Report: "red"})
	b.Session.JobTold("2")
	if got := strings.Join(watched, ", "); got != "1 running, 1 done, 2 failed" {
		t.Errorf("watched %s", got)
	}
	b.Must(t.Context(), "go on")
	contains(t, b.Last().Text, "go on", "[job 1 (tests) ended: done]", "all green")
	lacks(t, b.Last().Text, "red")
	if n := len(b.Front.Events()[0].(agent.Accepted).Blocks); n != 1 {
		t.Errorf("%d blocks were accepted", n)
	}
	blocks := b.Session.Turns()[0].Messages[0].Blocks()
	if agent.IsNote(blocks[0]) || !agent.IsNote(blocks[1]) || b.Session.Stored().Title != "go on" {
		t.Errorf("blocks = %+v, title %q", blocks, b.Session.Stored().Title)
	}
	b.Front.On = func(e agent.Event) {
		if _, ok := e.(agent.Text); ok {
			b.Front.On = nil
			b.Session.AddNote("[job 3 ended]")
		}
	}
	b.Must(t.Context(), "and on")
	lacks(t, b.Last().Text, "job 3")
	b.Must(t.Context(), "once more")
	contains(t, b.Last().Text, "job 3")
}

// Within a turn a note goes with the next results.
func TestNoteInTurn(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(calls(agenttest.Call("c1", "list", "{}")))})
	b.Front.On = func(e agent.Event) {
		if _, ok := e.(agent.ToolRunning); ok {
			// It ends with the change, which waits for this event.
			go b.Session.JobChanged(tool.JobState{ID: "1", State: "running"})
			b.Session.AddNote("[job 1 ended]")
		}
	}
	b.Must(t.Context(), "go")
	contains(t, b.Last().Text, "[job 1 ended]")
	consistent(t, b.Disk.Turns(b.Session.ID()))
}

// Background work shares nothing of the turn: what its prompt holds is its own.
func TestBackgroundHoldsNoPicture(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	var wg sync.WaitGroup
	for i := range 4 {
		c := child(t, b, "job")
		// It ends after its prompts.
		wg.Go(func() {
			for range 10 {
				if _, err := c.Prompt(t.Context(), agent.Prompt{Sources: b.Sources("background"), Front: &agenttest.Front{}}); err != nil {
					t.Error(err)
				}
			}
		})
		b.Must(t.Context(), "foreground", agenttest.PNG(9, 9, uint64(i)))
	}
	wg.Wait()
	for _, r := range b.Provider.Requests() {
		if strings.Contains(r.Text, "background") && len(r.Media) > 0 {
			t.Fatalf("background work was sent %s", r.Handles())
		}
	}
}
