package agenttest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/tool"
)

// Options says what a Bench is made of. The zero value is an agent that sees,
// with the tools read and list.
type Options struct {
	// Profile is that of the agent "main"; a zero one sees.
	Profile delivery.Profile
	// Script is what the model of "main" does.
	Script func(n int, r Received) Reply
	// Tools replace read and list.
	Tools  []tool.Tool
	Policy agent.Policy
	// Describer asks servers about themselves; nil asks none.
	Describer agent.Describer
	// Inlet makes another inlet over the bench's store; nil takes [Inlet].
	Inlet func(*Store) agent.Inlet
	// With changes how the agent is wired, at every start.
	With func(*agent.Options)
}

// Bench is an agent with everything it needs, and one session.
type Bench struct {
	T        testing.TB
	Disk     *Disk
	Store    *Store
	Cutter   *Cutter
	Stager   *Stager
	Models   *Models
	Provider *Provider
	Front    *Front
	Tools    *tool.Registry
	// Policy is what turns that begin from now on go by.
	Policy atomic.Pointer[agent.Policy]
	Inlet  agent.Inlet
	// Cwd is the session's folder.
	Cwd       string
	Agent     *agent.Agent
	Session   *agent.Session
	describer agent.Describer
	with      func(*agent.Options)
	ids       atomic.Int64
	readings  atomic.Int64
}

// Endpoint is the endpoint of the agent "main".
const Endpoint = "main-endpoint"

// New makes a bench with an open session of the agent "main".
func New(tb testing.TB, o Options) *Bench {
	tb.Helper()
	store, disk := NewStore(), NewDisk()
	b := &Bench{
		T: tb, Disk: disk, Store: store, Cutter: &Cutter{Store: store}, Stager: &Stager{Store: store, Root: tb.TempDir()},
		Models: &Models{Disk: disk}, Provider: &Provider{Script: o.Script}, Front: &Front{}, Cwd: tb.TempDir(), describer: o.Describer, with: o.With,
	}
	b.Policy.Store(&o.Policy)
	b.Inlet = &Inlet{Store: store}
	if o.Inlet != nil {
		b.Inlet = o.Inlet(store)
	}
	if o.Profile.Endpoint == "" {
		o.Profile = Sees(Endpoint)
	}
	b.Models.Set("main", agent.Model{Provider: b.Provider, Profile: o.Profile})
	if o.Tools == nil {
		o.Tools = []tool.Tool{tool.Read{}, tool.List{}}
	}
	var err error
	if b.Tools, err = tool.NewRegistry(o.Tools...); err != nil {
		tb.Fatal(err)
	}
	b.Agent = b.newAgent()
	if b.Session, err = b.Agent.Create(context.Background(), "main", b.Cwd, nil); err != nil {
		tb.Fatal(err)
	}
	return b
}

func (b *Bench) newAgent() *agent.Agent {
	var rand atomic.Uint64
	o := agent.Options{
		Inlet: b.Inlet, Store: b.Store, Cutter: b.Cutter, Stager: b.Stager,
		Sessions: b.Disk, Turns: b.Disk, Lanes: b.Disk, Endpoints: b.Disk, Models: b.Models, Prober: Prober{}, Describer: b.describer, Tools: b.Tools,
		Policy: func() agent.Policy { return *b.Policy.Load() },
		Now:    b.now,
		NewID:  func() string { return fmt.Sprintf("id-%06d", b.ids.Add(1)) },
		Rand:   func() uint64 { return rand.Add(1) },
		// What a disk keeps is there in every bench.
		Permits: b.Disk, Descriptions: b.Disk,
	}
	if b.with != nil {
		b.with(&o)
	}
	return agent.New(o)
}

// now is the clock of the bench's agents: each reading is a second later.
func (b *Bench) now() time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(b.readings.Add(1)) * time.Second)
}

// With wires the agent anew, with one more change, and opens the session again.
func (b *Bench) With(change func(*agent.Options)) {
	b.T.Helper()
	before := b.with
	b.with = func(o *agent.Options) {
		if before != nil {
			before(o)
		}
		change(o)
	}
	b.Restart()
}

// Restart opens the session again in a new agent over the same disk and store.
func (b *Bench) Restart() {
	b.T.Helper()
	id := b.Session.ID()
	b.Agent = b.newAgent()
	s, err := b.Agent.Open(context.Background(), id, "", "", nil)
	if err != nil {
		b.T.Fatal(err)
	}
	b.Session = s
}

// File writes a file below the session's folder and returns its path.
func (b *Bench) File(name string, data []byte) string {
	b.T.Helper()
	path := filepath.Join(b.Cwd, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.T.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		b.T.Fatal(err)
	}
	return path
}

// Prompt runs a turn with what its arguments stand for: a string is the prompt's
// text, bytes are a paste, and a content.Source is itself.
func (b *Bench) Prompt(ctx context.Context, parts ...any) (agent.Result, error) {
	b.T.Helper()
	return b.Session.Prompt(ctx, agent.Prompt{Sources: b.Sources(parts...), Front: b.Front})
}

// Sources are the sources that the arguments of Prompt stand for.
func (b *Bench) Sources(parts ...any) []content.Source {
	b.T.Helper()
	var out []content.Source
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			out = append(out, Text(p))
		case []byte:
			out = append(out, Paste("", p))
		case content.Source:
			out = append(out, p)
		default:
			b.T.Fatalf("agenttest: a prompt cannot hold a %T", p)
		}
	}
	return out
}

// Must runs a turn that has to end well.
func (b *Bench) Must(ctx context.Context, parts ...any) agent.Result {
	b.T.Helper()
	r, err := b.Prompt(ctx, parts...)
	if err != nil || r.Stop != content.StopEndTurn {
		b.T.Fatalf("the turn ended with %v, %v", r.Stop, err)
	}
	return r
}

// Last is the newest request.
func (b *Bench) Last() Received {
	b.T.Helper()
	all := b.Provider.Requests()
	if len(all) == 0 {
		b.T.Fatal("nothing was sent")
	}
	return all[len(all)-1]
}

// Text is a prompt's text.
func Text(s string) content.Source {
	return content.Source{Payload: content.Prose{Text: s}, Inlet: content.InletPrompt, Chooser: content.ChosenByUser, As: content.KindText}
}

// Paste is pasted bytes with a name.
func Paste(name string, data []byte) content.Source {
	return content.Source{Payload: content.Bytes{Data: data}, Inlet: content.InletPaste, Chooser: content.ChosenByUser, Name: name}
}

// Path is a file that the user chose.
func Path(path string) content.Source {
	return content.Source{Payload: content.Path{Path: path}, Inlet: content.InletFlag, Chooser: content.ChosenByUser}
}
