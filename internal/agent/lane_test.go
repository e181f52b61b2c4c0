package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/permission"
)

// Pictures are kept for the model that sees while one that does not is used, and
// go to it again.
func TestSwitchModels(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: func(_ int, r agenttest.Received) agenttest.Reply { return says("ok", 90*int64(len(r.Media))) }})
	blind := &agenttest.Provider{Script: func(_ int, r agenttest.Received) agenttest.Reply {
		if len(r.Media) > 0 {
			return agenttest.Reply{agenttest.Refusing()}
		}
		return agenttest.Reply{agenttest.Say("ok")}
	}}
	b.Models.Set("blind", agent.Model{Provider: blind, Profile: agenttest.Blind("blind-endpoint")})
	choose := func(name string) {
		t.Helper()
		if err := b.Session.SetAgent(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	b.Must(t.Context(), agenttest.PNG(9, 9, 1))
	choose("blind")
	b.Front.Forget()
	b.Must(t.Context(), "one")
	if !noticed(b.Front, "image-1.png") {
		t.Errorf("notices = %v", b.Front.Notices())
	}
	b.Front.Forget()
	b.Must(t.Context(), "two")
	if n := b.Front.Notices(); len(n) != 0 {
		t.Errorf("said again: %v", n)
	}
	choose("main")
	b.Must(t.Context(), "three")
	choose("blind")
	b.Must(t.Context(), "four")
	sent(t, b, "image-1.png", "image-1.png")
	all := blind.Requests()
	if len(all) != 3 {
		t.Fatalf("%d requests to the model that is blind", len(all))
	}
	contains(t, all[2].Text, "[image-1.png: image/png, 9x9", "you cannot see pictures", "Its file: @")
	if g := b.Session.Stored().Generation; g != 4 {
		t.Errorf("generation = %d", g)
	}
	if err := b.Session.SetAgent(t.Context(), "nobody"); err == nil {
		t.Error("an agent that does not exist was chosen")
	}
}

// prefixes counts the requests whose body does not begin with the one before.
func prefixes(all []agenttest.Received) (breaks []int) {
	for i := 1; i < len(all); i++ {
		if !strings.HasPrefix(all[i].Body, all[i-1].Prefix()) {
			breaks = append(breaks, i)
		}
	}
	return breaks
}

func TestPrefixIsStable(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: func(n int, _ agenttest.Received) agenttest.Reply {
		if n%3 == 1 {
			return calls(agenttest.Say("reading"), agenttest.Call(fmt.Sprintf("c%d", n), "read", `{"path":"b.png"}`))
		}
		return agenttest.Reply{agenttest.Say(fmt.Sprintf("answer %d", n)), agenttest.Tokens(100_000, 1)}
	}})
	b.File("b.png", agenttest.PNG(30, 30, 99))
	for i := range 50 {
		b.Must(t.Context(), fmt.Sprintf("prompt %d", i), agenttest.PNG(40+i, 40, uint64(i)), agenttest.Paste("n.txt", []byte("note")))
		if i == 20 || i == 35 {
			b.Restart()
		}
	}
	if breaks := prefixes(b.Provider.Requests()); breaks != nil {
		t.Errorf("the prefix changed at requests %v", breaks)
	}
}

// With a budget the prefix changes when something is evicted, in few and large
// steps, and evicted pictures stay out.
func TestPrefixWithEvictions(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Policy: agent.Policy{Budgets: delivery.Budgets{History: 100_000}}})
	for i := range 50 {
		b.Must(t.Context(), agenttest.PNG(100, 100, uint64(i)))
		if i == 20 || i == 35 {
			b.Restart()
		}
	}
	all := b.Provider.Requests()
	breaks := prefixes(all)
	if len(breaks) == 0 || len(breaks) > 12 {
		t.Errorf("the prefix changed at requests %v", breaks)
	}
	gone := map[string]bool{}
	for i, r := range all {
		size := 0
		present := map[string]bool{}
		for j, m := range r.Media {
			if j < len(r.Media)-1 {
				size += len(m.Data)
			}
			present[m.Handle] = true
			if gone[m.Handle] {
				t.Errorf("request %d: %s is back", i, m.Handle)
			}
		}
		if size > 100_000 {
			t.Errorf("request %d holds %d bytes of history", i, size)
		}
		for n := 1; n <= i+1; n++ {
			if h := fmt.Sprintf("image-%d.png", n); !present[h] {
				gone[h] = true
			}
		}
	}
}

// After a restart what goes by path is given under replayed/, from then on at the
// same place; the file lies also where it was named before.
func TestRestartGivesReplayedPaths(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Profile: agenttest.Blind(agenttest.Endpoint)})
	b.Must(t.Context(), agenttest.PNG(9, 9, 1))
	contains(t, b.Last().Text, b.Session.ID()+"/image-1.png")
	b.Restart()
	b.Must(t.Context(), "hi", agenttest.PNG(9, 9, 2))
	contains(t, b.Last().Text, "/replayed/image-1.png", b.Session.ID()+"/image-2.png")
	b.Must(t.Context(), "hi")
	if breaks := prefixes(b.Provider.Requests()[1:]); breaks != nil {
		t.Errorf("the prefix changed at requests %v without a restart", breaks)
	}
	b.Restart()
	b.Must(t.Context(), "hi")
	contains(t, b.Last().Text, "/replayed/image-1.png", "/replayed/image-2.png")
	if g := b.Session.Stored().Generation; g != 1 {
		t.Errorf("generation = %d", g)
	}
}

func TestGenerations(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	b.Must(t.Context(), agenttest.PNG(9, 9, 1))
	b.Restart()
	b.Must(t.Context(), "hi")
	if g := b.Session.Stored().Generation; g != 1 {
		t.Errorf("a restart made generation %d", g)
	}
	b.Models.Set("main", agent.Model{Provider: b.Provider, Profile: agenttest.Sees("elsewhere")})
	b.Restart()
	b.Must(t.Context(), "hi")
	if g := b.Session.Stored().Generation; g != 2 {
		t.Errorf("another endpoint after a restart is generation %d", g)
	}
	b.Restart()
	b.Must(t.Context(), "hi")
	if g := b.Session.Stored().Generation; g != 2 {
		t.Errorf("and then generation %d", g)
	}
	for _, r := range b.Provider.Requests() {
		if r.Handles() != "image-1.png" {
			t.Errorf("media = %q", r.Handles())
		}
	}
}

// The session goes on where another process has stopped: title, handles, modes.
func TestOpen(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	b.Must(t.Context(), "the title", agenttest.PNG(9, 9, 1))
	b.Session.SetMode(permission.ModePlan)
	if m := b.Session.Mode(); m != permission.ModePlan {
		t.Errorf("mode = %v", m)
	}
	b.Policy.Store(&agent.Policy{Rules: permission.Rules{Mode: permission.ModeEdits}})
	if m := b.Session.Mode(); m != permission.ModePlan {
		t.Errorf("the configuration beat the session: %v", m)
	}
	b.Restart()
	if m := b.Session.Mode(); m != permission.ModeEdits {
		t.Errorf("mode after a restart = %v", m)
	}
	b.Must(t.Context(), agenttest.PNG(9, 9, 2))
	sent(t, b, "image-1.png", "image-1.png image-2.png")
	if s := b.Session.Stored(); s.Title != "the title" || s.Turns != 2 || s.Pictures != 2 {
		t.Errorf("listed as %+v", s)
	}
	dir := t.TempDir()
	s, err := b.Agent.Open(t.Context(), b.Session.ID(), "main", dir, []string{"/d"})
	if err != nil || s.Stored().Cwd != dir || len(s.Stored().Dirs) != 1 {
		t.Errorf("%+v, %v", s.Stored(), err)
	}
	if _, err := b.Agent.Open(t.Context(), "nobody", "", "", nil); err == nil {
		t.Error("a session that does not exist was opened")
	}
	rc, err := b.Session.Blob(b.Last().Media[0].Digest())
	if err != nil {
		t.Fatal(err)
	}
	if err := rc.Close(); err != nil {
		t.Error(err)
	}
	if _, err := b.Session.Blob(content.Digest{1}); err == nil {
		t.Error("a blob that does not exist was opened")
	}
}

// A thousand turns: nothing grows but the conversation, and what is stored for
// a turn does not depend on how many came before.
func TestThousandTurns(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Policy: agent.Policy{Budgets: delivery.Budgets{History: 20_000}}})
	b.Front.On = func(agent.Event) {}
	const turns = 1000
	most := 0
	for i := range turns {
		parts := []any{"hi"}
		if i%4 == 0 {
			parts = append(parts, agenttest.PNG(20, 20, uint64(i)))
		}
		b.Must(t.Context(), parts...)
		most = max(most, len(b.Last().Media))
		b.Front.Forget()
		b.Provider.Trim()
	}
	rows := 0
	for _, n := range b.Disk.Lanes(b.Session.ID()) {
		rows += n
	}
	receipts := len(b.Disk.Receipts(b.Session.ID()))
	// A picture has a second receipt when it is evicted.
	if rows != turns/4 || receipts > turns+2*turns/4 || most > 60 {
		t.Errorf("%d ledger rows, %d receipts, %d pictures in a request", rows, receipts, most)
	}
}

func TestPreview(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	b.Models.Set("blind", agent.Model{Provider: b.Provider, Profile: agenttest.Blind("blind-endpoint")})
	sources := b.Sources(agenttest.Paste("a.png", agenttest.PNG(9, 9, 1)), agenttest.Paste("a.txt", []byte("hello")))
	for name, want := range map[string]delivery.Disposition{"main": delivery.Inline, "blind": delivery.Path} {
		rs, m, err := b.Agent.Preview(t.Context(), name, b.Cwd, sources)
		if err != nil || m.Name != name || len(rs) != 2 {
			t.Fatalf("%v, %v, %v", rs, m, err)
		}
		if rs[0].Disposition != want || rs[1].Disposition != delivery.Inline {
			t.Errorf("%s: %v, %v", name, rs[0].Disposition, rs[1].Disposition)
		}
	}
	if n := len(b.Provider.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
	if _, _, err := b.Agent.Preview(t.Context(), "nobody", b.Cwd, sources); err == nil {
		t.Error("no error")
	}
}
