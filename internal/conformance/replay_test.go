package conformance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tote/internal/agent/agenttest"
	"tote/internal/provider/cli/clitest"
	"tote/internal/provider/providertest"
)

// far is the far end of a path as a configuration names it.
type far struct {
	adapter
	// provider and agent are what a configuration says of it, in JSON.
	provider, agent string
	// taken are the requests for an answer that reached it, in order.
	taken func(t *testing.T) []wire
}

// serve starts the far end of a path for the whole program. Requests for an
// answer get the replies in order, the last of them again and again; what a server
// is asked about itself it does not know.
func serve(t *testing.T, a adapter, replies ...providertest.Reply) far {
	t.Helper()
	if a.runner != "" {
		return serveRunner(t, a)
	}
	if len(replies) == 0 {
		replies = []providertest.Reply{a.reply}
	}
	var rec *providertest.Recorder
	asked := func() []providertest.Request {
		return slices.DeleteFunc(rec.Requests(), func(r providertest.Request) bool { return !strings.HasSuffix(r.Path, a.end) })
	}
	rec = providertest.NewRecorder(t, func(w http.ResponseWriter, r *http.Request, body []byte) {
		if !strings.HasSuffix(r.URL.Path, a.end) {
			http.NotFound(w, r)
			return
		}
		replies[min(len(asked()), len(replies))-1](w, r, body)
	})
	rec.Check(a.end, func(body []byte) error {
		_, err := a.sent(body)
		return err
	})
	f := far{adapter: a, agent: `"provider":"p","model":"` + testModel + `"`}
	f.provider = fmt.Sprintf(`"p":{"kind":%q,"base_url":%q,"limits":{"media_types":["image/*","audio/*","application/pdf"]}}`, a.path, rec.URL)
	f.taken = func(t *testing.T) []wire {
		t.Helper()
		var out []wire
		for i, r := range asked() {
			w, err := a.read(r.Body)
			if err != nil {
				t.Fatalf("request %d: %v", i, err)
			}
			out = append(out, w)
		}
		return out
	}
	return f
}

func serveRunner(t *testing.T, a adapter) far {
	t.Helper()
	command, calls := clitest.Fake(t, a.runner, clitest.OK)
	spelt, err := json.Marshal(command)
	if err != nil {
		t.Fatal(err)
	}
	return far{
		adapter: a, agent: fmt.Sprintf(`"runner":%q,"command":%s`, a.runner, spelt),
		taken: func(t *testing.T) []wire {
			t.Helper()
			var out []wire
			for i, c := range calls() {
				w, err := a.readCall(c)
				if err != nil {
					t.Fatalf("start %d: %v", i, err)
				}
				out = append(out, w)
			}
			return out
		},
	}
}

func (f far) settings(probe, vision string) string {
	return fmt.Sprintf(`{"probe":%q,"providers":{%s},"agents":{"main":{%s,"vision":%s}},"default_agent":"main"}`, probe, f.provider, f.agent, vision)
}

// places are where files lie for a program or for tools: for a program another
// folder at each start, for tools one that is named anew, once, in a process that
// knows a session from the record.
var places = regexp.MustCompile(`runners[/\\]+[0-9a-f]{32}|replayed[/\\]+`)

// TestTheReplayIsTheSame has a whole session on every path: every kind in the
// prompt, a call that brings a picture, thinking. In the next turn, and in a turn
// of another process, which knows it from the record alone, the earlier part
// reaches the server to the byte as it did before.
func TestTheReplayIsTheSame(t *testing.T) {
	t.Parallel()
	for path, a := range adapters {
		if a.own.Offline || !tried(path) {
			continue // its server is in the program; TestTheLaw asks it what it sees
		}
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			f := serve(t, a, a.think.reply, a.reply)
			w := newWorld(t, f.settings("never", "true"))
			w.file("a", agenttest.PNG(20, 16, 77)) // what the call reads
			sources := sourcesOf(everyKind(w))
			p := w.start()
			s := p.create()
			p.prompt(s, sources...)
			first := len(f.taken(t))
			p.prompt(s, prose("and now?"))
			before := session(t, p, s.ID())
			p.stop()

			p = w.start()
			defer p.stop()
			if after := session(t, p, s.ID()); before != after {
				t.Errorf("the record of the session is another one after a restart:\n%s\nwas\n%s", after, before)
			}
			p.prompt(p.open(s.ID()), prose("and in another process?"))
			all := f.taken(t)
			want := 1 // the answer to the call is a request of its own
			if a.think.reply != nil {
				want = 2
			}
			if first != want || len(all) != first+2 {
				t.Fatalf("%d requests, %d of them in the first turn, want %d", len(all), first, want)
			}
			for i := range all {
				all[i].body = places.ReplaceAll(all[i].body, nil)
				if i > 0 {
					beginsAs(t, a, all[i-1].body, all[i].body)
				}
			}
			holdsAll(t, a, all[first-1], all[len(all)-1])
		})
	}
}

// session is what the record says of a session, for comparison.
func session(t *testing.T, p *process, id string) string {
	t.Helper()
	db, err := p.app.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	turns, err := db.Load(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%+v", turns)
}

// holdsAll checks that the last request holds what the first turn did.
func holdsAll(t *testing.T, a adapter, before, after wire) {
	t.Helper()
	if len(before.media) == 0 || len(after.media) != len(before.media) {
		t.Errorf("%d media, there were %d", len(after.media), len(before.media))
	}
	for i := range min(len(before.media), len(after.media)) {
		if b, c := before.media[i], after.media[i]; b.mime != c.mime || string(b.data) != string(c.data) {
			t.Errorf("medium %d is another one", i)
		}
	}
	if a.think.reply != nil && !hasCall(after, thinkingCall) {
		t.Errorf("the call is gone: %+v", after.calls)
	}
}
