package delegate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delegate"
	"tote/internal/tool"
	toolsDelegate "tote/internal/tool/delegate"
)

// ledger keeps jobs in memory.
type ledger struct {
	mu   sync.Mutex
	rows []delegate.Record
}

func (l *ledger) SaveJob(_ context.Context, r delegate.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.rows {
		if l.rows[i].Parent == r.Parent && l.rows[i].ID == r.ID {
			l.rows[i] = r
			return nil
		}
	}
	l.rows = append(l.rows, r)
	return nil
}

func (l *ledger) Jobs(_ context.Context, parent string) ([]delegate.Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.rows), func(r delegate.Record) bool { return r.Parent != parent }), nil
}

// directory lets every agent call every other of the list.
type directory []string

func (d directory) Callable(name string) []agent.Callable {
	var out []agent.Callable
	for _, n := range d {
		if n != name {
			out = append(out, agent.Callable{Name: n})
		}
	}
	return out
}

// office is a bench whose agents may delegate to each other: "main", and "deep",
// which has a model of its own.
type office struct {
	*agenttest.Bench
	crew *delegate.Crew
	jobs *ledger
	deep *agenttest.Provider
}

func open(t *testing.T, main, deep func(int, agenttest.Received) agenttest.Reply) *office {
	t.Helper()
	o := &office{jobs: &ledger{}, deep: &agenttest.Provider{Script: deep}}
	o.Bench = agenttest.New(t, agenttest.Options{
		Script: main, Tools: append(toolsDelegate.All(), tool.Read{}),
		With: func(x *agent.Options) {
			dir := directory{"main", "deep"}
			o.crew = delegate.New(delegate.Options{
				Directory: dir, Models: x.Models, Records: o.jobs, NewID: x.NewID, Now: x.Now, Owner: "this",
				Limits: func() delegate.Limits { return delegate.Limits{} },
			})
			x.Hosts, x.Directory = o.crew, dir
		},
	})
	o.crew.Bind(o.Agent)
	o.Models.Set("main", agent.Model{Provider: o.Provider, Profile: agenttest.Sees(agenttest.Endpoint), EscalateTo: "deep"})
	o.Models.Set("deep", agent.Model{Provider: o.deep, Profile: agenttest.Sees("deep-endpoint")})
	return o
}

// results is what the tools of the newest turn gave, as text.
func (o *office) results() string {
	turns := o.Session.Turns()
	var sb strings.Builder
	for _, m := range turns[len(turns)-1].Messages {
		if m.Role == content.RoleTool {
			sb.WriteString(content.Compact(m.Blocks()) + "\n")
		}
	}
	return sb.String()
}

func has(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in:\n%s", w, text)
		}
	}
}

func TestTaskGetsTheBytes(t *testing.T) {
	o := open(t,
		agenttest.Replies(agenttest.Reply{agenttest.Call("c1", "task", `{"agent":"deep","prompt":"count the dots of image-1.png","attachments":["image-1.png"]}`)}, agenttest.Reply{agenttest.Say("four")}),
		agenttest.Replies(agenttest.Reply{agenttest.Say("there are 4 dots in image-1.png")}))
	picture := agenttest.PNG(30, 20, 1)
	o.Must(t.Context(), "how many dots?", picture, agenttest.PNG(9, 9, 2))
	got := o.deep.Requests()
	if len(got) != 1 || got[0].Handles() != "image-1.png" || !strings.Contains(got[0].Text, "count the dots") || strings.Contains(got[0].Text, "how many dots?") {
		t.Fatalf("deep was sent %+v", got)
	}
	if string(got[0].Media[0].Data) != string(picture) {
		t.Error("the child's picture has other bytes")
	}
	has(t, o.results(), "[answer of deep]", "4 dots")
}

// A label that names nothing fails loudly, before anything is sent.
func TestTaskWithoutItsPicture(t *testing.T) {
	o := open(t, agenttest.Replies(
		agenttest.Reply{agenttest.Call("c1", "task", `{"prompt":"look","attachments":["image-7.png"]}`), agenttest.Call("c2", "task", `{"prompt":"look","agent":"nobody"}`)},
		agenttest.Reply{agenttest.Say("sorry")}), nil)
	o.Must(t.Context(), "go", agenttest.PNG(9, 9, 1))
	has(t, o.results(), `no attachment "image-7.png"`, `no agent "nobody"`, "there are: deep")
	if n := len(o.Provider.Requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
}

func TestEscalation(t *testing.T) {
	o := open(t,
		agenttest.Replies(agenttest.Reply{agenttest.Say("hm")}, agenttest.Reply{agenttest.Call("c1", "escalate", `{"prompt":"find the fault"}`)}, agenttest.Reply{agenttest.Say("done")}),
		agenttest.Replies(agenttest.Reply{agenttest.Say("it is the loop")}))
	o.Must(t.Context(), "an earlier matter", agenttest.PNG(9, 9, 1))
	o.Must(t.Context(), "what is wrong here?", agenttest.PNG(8, 8, 2))
	got := o.deep.Requests()
	if len(got) != 1 || got[0].Handles() != "image-2.png" {
		t.Fatalf("deep was sent %+v", got)
	}
	has(t, got[0].Text, "find the fault", "an earlier matter", "[attached image: image-1.png", "what is wrong here?")
	has(t, o.results(), "it is the loop")
	for _, r := range got {
		if strings.Contains(r.Text, "base64") {
			t.Error("a payload stands in text")
		}
	}
}

// A child's own picture that its answer names comes back.
func TestFoundPicture(t *testing.T) {
	o := open(t,
		agenttest.Replies(agenttest.Reply{agenttest.Call("c1", "task", `{"agent":"deep","prompt":"take a screenshot"}`)}, agenttest.Reply{agenttest.Say("nice")}),
		agenttest.Replies(agenttest.Reply{agenttest.Call("d1", "read", `{"path":"shot.png"}`)}, agenttest.Reply{agenttest.Say("see image-1.png")}))
	o.File("shot.png", agenttest.PNG(40, 30, 5))
	o.Must(t.Context(), "show me")
	has(t, o.Last().Text, "image-1.png of deep")
	if got := o.Last().Handles(); got != "image-1.png" {
		t.Errorf("the parent was sent %q", got)
	}
}

// As deep as it may get, nothing is delegated any more.
func TestDepth(t *testing.T) {
	again := func(n int, r agenttest.Received) agenttest.Reply {
		if strings.Contains(r.Text, "cannot be delegated") || strings.Contains(r.Text, "[answer of") {
			return agenttest.Reply{agenttest.Say("the end: " + fmt.Sprint(strings.Contains(r.Text, "cannot be delegated")))}
		}
		return agenttest.Reply{agenttest.Call("c", "task", `{"prompt":"go deeper"}`)}
	}
	o := open(t, again, nil)
	o.Must(t.Context(), "dig")
	if n := len(o.Provider.Requests()); n != 6 {
		t.Errorf("%d requests, want two for each of three levels", n)
	}
}

func TestJobReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := open(t,
			agenttest.Replies(agenttest.Reply{agenttest.Call("c1", "job", `{"action":"start","agent":"deep","prompt":"run the tests","title":"tests","attachments":["image-1.png"]}`)},
				agenttest.Reply{agenttest.Say("started")}, agenttest.Reply{agenttest.Say("good")}),
			agenttest.Replies(agenttest.Reply{agenttest.Wait(time.Minute), agenttest.Say("all green")}))
		o.Must(t.Context(), "test it", agenttest.PNG(9, 9, 1))
		has(t, o.results(), "job job-1 has begun")
		if err := o.crew.Wait(t.Context(), o.Session.ID()); err != nil {
			t.Fatal(err)
		}
		if got := o.deep.Requests(); len(got) != 1 || got[0].Handles() != "image-1.png" {
			t.Errorf("deep was sent %+v", got)
		}
		o.Must(t.Context(), "and?")
		has(t, o.Last().Text, "[job job-1 (tests) ended: done]", "all green")
		jobs, err := o.crew.Jobs(t.Context(), o.Session.ID())
		if err != nil || len(jobs) != 1 || jobs[0].State != delegate.StateDone || jobs[0].Report != "all green" || jobs[0].Ended.IsZero() {
			t.Errorf("%+v, %v", jobs, err)
		}
	})
}

func TestJobStopsAndIsNotThere(t *testing.T) {
	o := open(t, nil, agenttest.Replies(agenttest.Reply{agenttest.Hang{}}))
	id, err := o.crew.Start(t.Context(), o.Session, "deep", "hang", o.Sources("hang"))
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if j, err := o.crew.WaitJob(short, o.Session.ID(), id); !errors.Is(err, context.Canceled) || j.State != delegate.StateRunning {
		t.Errorf("%+v, %v", j, err)
	}
	if err := o.crew.StopJob(t.Context(), o.Session.ID(), id); err != nil {
		t.Error(err)
	}
	if j, err := o.crew.WaitJob(t.Context(), o.Session.ID(), id); err != nil || j.State != delegate.StateStopped {
		t.Errorf("%+v, %v", j, err)
	}
	if err := o.crew.StopJob(t.Context(), o.Session.ID(), "job-9"); err == nil {
		t.Error("a job that there is not was stopped")
	}
	if _, err := o.crew.WaitJob(t.Context(), "another session", id); err == nil {
		t.Error("a job of another session was found")
	}
}

// While a turn with a picture runs, a job on the same agent sends nothing of it; a
// job that was started with pictures sends exactly those.
func TestJobsShareNothing(t *testing.T) {
	const n = 20
	var mu sync.Mutex
	sent := map[string]string{}
	script := func(_ int, r agenttest.Received) agenttest.Reply {
		mu.Lock()
		defer mu.Unlock()
		for i := range n {
			if strings.Contains(r.Text, fmt.Sprintf("job number %d.", i)) {
				sent[fmt.Sprint(i)] = r.Handles()
			}
		}
		if strings.Contains(r.Text, "the user's turn") {
			sent["turn"] = r.Handles()
		}
		return agenttest.Reply{agenttest.Say("ok")}
	}
	o := open(t, script, nil)
	var wg sync.WaitGroup
	// It ends with the turn.
	wg.Go(func() { o.Must(t.Context(), "the user's turn", agenttest.PNG(50, 50, 99)) })
	for i := range n {
		parts := []any{fmt.Sprintf("job number %d.", i)}
		for k := range i % 3 {
			parts = append(parts, agenttest.PNG(10+i, 10+k, uint64(i)))
		}
		for len(o.crew.Running(o.Session.ID())) >= delegate.DefaultJobs {
			if err := o.crew.Wait(t.Context(), o.Session.ID()); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := o.crew.Start(t.Context(), o.Session, "main", "job", o.Sources(parts...)); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	if err := o.crew.Wait(t.Context(), o.Session.ID()); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	for i := range n {
		if got := len(strings.Fields(sent[fmt.Sprint(i)])); got != i%3 {
			t.Errorf("job %d was sent %q, want %d pictures", i, sent[fmt.Sprint(i)], i%3)
		}
	}
	if got := sent["turn"]; len(strings.Fields(got)) != 1 {
		t.Errorf("the turn was sent %q", got)
	}
}

func TestTooManyJobsAndClose(t *testing.T) {
	o := open(t, nil, func(int, agenttest.Received) agenttest.Reply { return agenttest.Reply{agenttest.Hang{}} })
	for range delegate.DefaultJobs {
		if _, err := o.crew.Start(t.Context(), o.Session, "deep", "hang", o.Sources("hang")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := o.crew.Start(t.Context(), o.Session, "deep", "hang", o.Sources("hang")); err == nil || !strings.Contains(err.Error(), "the limit is") {
		t.Errorf("one too many: %v", err)
	}
	if err := o.crew.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, _ := o.jobs.Jobs(t.Context(), o.Session.ID()) // it has no error
	for _, r := range rows {
		if r.State != delegate.StateInterrupted {
			t.Errorf("%s is %s", r.ID, r.State)
		}
	}
	if _, err := o.crew.Start(t.Context(), o.Session, "deep", "late", o.Sources("late")); !errors.Is(err, delegate.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// What a dead process ran is told as interrupted, once.
func TestOrphans(t *testing.T) {
	o := open(t, nil, nil)
	row := delegate.Record{
		JobState: tool.JobState{ID: "job-1", Agent: "deep", Title: "tests", State: delegate.StateRunning}, Parent: o.Session.ID(), Owner: "dead",
	}
	if err := o.jobs.SaveJob(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	reported := func(want bool) {
		t.Helper()
		rows, err := o.jobs.Jobs(t.Context(), o.Session.ID())
		if err != nil || len(rows) != 1 || rows[0].Reported != want || rows[0].State != delegate.StateInterrupted {
			t.Errorf("rows %+v, %v", rows, err)
		}
	}
	o.crew.Recall(o.Session)
	o.crew.Recall(o.Session)
	reported(false) // a process that ends now has told nobody
	o.Must(t.Context(), "hi")
	reported(true)
	has(t, o.Last().Text, "job-1", "interrupted")
	o.Must(t.Context(), "again")
	if n := strings.Count(o.Last().Text, "interrupted:"); n != 1 {
		t.Errorf("told %d times", n)
	}
}

// A job asks whoever attends to its session; nobody is a denial.
func TestJobAsks(t *testing.T) {
	for name, attended := range map[string]bool{"attended": true, "alone": false} {
		t.Run(name, func(t *testing.T) {
			o := open(t, nil, agenttest.Replies(agenttest.Reply{agenttest.Call("d1", "read", `{"path":"/etc/hostname"}`)}, agenttest.Reply{agenttest.Say("read")}))
			var asked []string
			if attended {
				o.crew.Attend(o.Session.ID(), func(_ context.Context, q agent.Question) (agent.Permit, error) {
					asked = append(asked, q.Title)
					return agent.PermitDeny, nil
				})
			}
			if _, err := o.crew.Start(t.Context(), o.Session, "deep", "look around", o.Sources("read it")); err != nil {
				t.Fatal(err)
			}
			if err := o.crew.Wait(t.Context(), o.Session.ID()); err != nil {
				t.Fatal(err)
			}
			if attended != (len(asked) == 1 && strings.HasPrefix(asked[0], "deep: ")) {
				t.Errorf("asked %q", asked)
			}
			if got := o.deep.Requests(); len(got) != 2 || !strings.Contains(got[1].Text, "permit") {
				t.Errorf("%+v", got)
			}
		})
	}
}
