package acp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/front/acp"
	"tote/internal/ingest"
	"tote/internal/permission"
	"tote/internal/provider"
	"tote/internal/tool"
)

// inlet is the real inlet on a store in memory.
type inlet struct {
	in    *ingest.Inlet
	store *agenttest.Store
}

func (i inlet) Ingest(ctx context.Context, s content.Source, sc agent.Scope) ([]content.Block, []content.Envelope, error) {
	return i.in.Ingest(ctx, s, ingest.Scope{Cwd: sc.Cwd, Roots: sc.Roots, Forbidden: sc.Forbidden, Ask: sc.Ask, Lookup: sc.Lookup})
}

func (inlet) Extension(b content.Block) string             { return ingest.Extension(b) }
func (inlet) Mentions(text string) []string                { return ingest.Mentions(text) }
func (i inlet) Restore(e content.Envelope) ([]byte, error) { return ingest.Restore(e, i.store) }

// model is a backend that says what a test has scripted.
type model struct {
	mu       sync.Mutex
	requests []provider.Request
	// say answers the n-th request, counted from 0; nil echoes "ok".
	say func(ctx context.Context, n int, yield func(provider.Event, error) bool)
	// forgets: the requests are not kept.
	forgets bool
}

func (m *model) Encode(r provider.Request) (provider.Body, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.forgets {
		m.requests = m.requests[:0]
	}
	m.requests = append(m.requests, r)
	return provider.NewBody(nil, r.Blobs), nil
}

func (m *model) Stream(ctx context.Context, _ provider.Body) iter.Seq2[provider.Event, error] {
	m.mu.Lock()
	n, say := len(m.requests)-1, m.say
	m.mu.Unlock()
	return func(yield func(provider.Event, error) bool) {
		if say == nil {
			say = answer("ok")
		}
		say(ctx, n, yield)
	}
}

func (m *model) sent() []provider.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

type (
	ctx    = context.Context
	yield  = func(provider.Event, error) bool
	script = func(ctx context.Context, n int, yield func(provider.Event, error) bool)
)

// prompted is a prompt of another surface.
func prompted(sources ...content.Source) agent.Prompt {
	return agent.Prompt{Sources: sources, Front: &agenttest.Front{}}
}

func answer(text string) script {
	return func(_ context.Context, _ int, yield func(provider.Event, error) bool) {
		_ = yield(provider.TextDelta{Text: text}, nil) && yield(provider.Finish{Stop: content.StopEndTurn}, nil)
	}
}

// hang says a word and then nothing until the turn is cancelled.
func hang(ctx context.Context, _ int, yield func(provider.Event, error) bool) {
	if yield(provider.TextDelta{Text: "hm"}, nil) {
		<-ctx.Done()
		yield(nil, &provider.Error{Failure: delivery.Failure{Kind: delivery.FailCancelled}, Err: ctx.Err()})
	}
}

// events plays one list of events for each request.
func events(turns ...[]provider.Event) script {
	return func(_ context.Context, n int, yield func(provider.Event, error) bool) {
		for _, e := range turns[min(n, len(turns)-1)] {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// world is what outlives a process: the disk, the store and the backend.
type world struct {
	t       *testing.T
	dir     string
	disk    *agenttest.Disk
	store   *agenttest.Store
	models  *agenttest.Models
	model   *model
	tools   []tool.Tool
	rules   permission.Rules
	choices []acp.Choice
	work    acp.Workspace // what is set here is handed out with each workspace
	deleted []string
	ids     int
	maxLine int64
	v2      bool
	fork    bool
	mu      sync.Mutex
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, disk: agenttest.NewDisk(), store: agenttest.NewStore(), model: &model{}}
	w.models = &agenttest.Models{Disk: w.disk}
	w.models.Set("main", agent.Model{Provider: w.model, Profile: agenttest.Sees("e1")})
	w.models.Set("blind", agent.Model{Provider: w.model, Profile: agenttest.Blind("e2")})
	w.tools = []tool.Tool{tool.Read{}, tool.List{}}
	w.choices = []acp.Choice{
		{Name: "main", Title: "Main", Model: "model-e1", Vision: agenttest.Sees("e1").Images},
		{Name: "blind", Model: "model-e2", Vision: delivery.Capability{Answer: delivery.No}},
	}
	return w
}

func (w *world) newID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids++
	return "id" + strconv.Itoa(w.ids)
}

func (w *world) agent() *agent.Agent {
	tools, err := tool.NewRegistry(w.tools...)
	if err != nil {
		w.t.Fatal(err)
	}
	return agent.New(agent.Options{
		Inlet: inlet{ingest.New(w.store, ingest.Options{}), w.store}, Store: w.store, Cutter: &agenttest.Cutter{Store: w.store},
		Stager:   &agenttest.Stager{Store: w.store, Root: filepath.Join(w.dir, "scratch")},
		Sessions: w.disk, Turns: w.disk, Lanes: w.disk, Endpoints: w.disk, Models: w.models, Prober: agenttest.Prober{}, Tools: tools,
		Policy: func() agent.Policy {
			return agent.Policy{Rules: w.rules}
		},
		Now: clock, NewID: w.newID, Rand: func() uint64 { return 1 },
	})
}

func clock() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// host is one process in a world.
type host struct {
	*world
	a *agent.Agent
}

func (h *host) Workspace(_ context.Context, cwd string) (acp.Workspace, error) {
	if strings.Contains(cwd, "broken") {
		return acp.Workspace{}, fmt.Errorf("read the configuration of %s: it is broken", filepath.Base(cwd))
	}
	w := h.work
	w.Agent, w.Default = h.a, "main"
	w.Choices = func(context.Context) ([]acp.Choice, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		return slices.Clone(h.choices), nil
	}
	return w, nil
}

func (h *host) List(_ context.Context, cwd, cursor string) ([]agent.Stored, string, error) {
	if cursor == "more" {
		return []agent.Stored{{ID: "b", Cwd: "/b"}}, "", nil
	}
	if cursor != "" {
		return nil, "", fmt.Errorf("read the list: %w", acp.ErrCursor)
	}
	return []agent.Stored{{ID: "a", Cwd: "/a", Title: "T" + cwd, Updated: clock(), Dirs: []string{"/x"}}}, "more", nil
}

func (h *host) Delete(_ context.Context, id string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.Contains(h.deleted, id) {
		return fmt.Errorf("delete %s: %w", id, acp.ErrNoSession)
	}
	h.deleted = append(h.deleted, id)
	return nil
}

func (h *host) Stored(ctx context.Context, id string) (agent.Stored, error) {
	st, err := h.disk.Session(ctx, id)
	if err != nil {
		return st, fmt.Errorf("%w: %w", acp.ErrNoSession, err)
	}
	return st, nil
}

// peer is a client of a server, inside a bubble of synctest.
type peer struct {
	t    *testing.T
	to   *io.PipeWriter
	mu   sync.Mutex
	buf  bytes.Buffer
	done chan error
	logs bytes.Buffer
}

func (p *peer) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.buf.Write(b)
}

// boot starts a process and shakes hands.
func (w *world) boot(initialize string) *peer {
	w.t.Helper()
	in, to := io.Pipe()
	p := &peer{t: w.t, to: to, done: make(chan error, 1)}
	o := acp.Options{
		Version: "1.2.3", Host: &host{w, w.agent()}, MaxLine: w.maxLine, V2: w.v2, Fork: w.fork, Now: clock, NewID: w.newID, Log: slog.New(slog.NewTextHandler(&p.logs, nil)),
	}
	// Ends when the test closes the input.
	go func() { p.done <- acp.Serve(w.t.Context(), in, p, o) }()
	if got := p.send(initialize); len(got) != 1 {
		w.t.Fatalf("initialize: %q", got)
	}
	return p
}

// send writes lines, waits until nothing moves any more, and returns what came
// back since the last time.
func (p *peer) send(lines ...string) []string {
	p.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(p.to, line+"\n"); err != nil {
			p.t.Fatalf("send: %v", err)
		}
	}
	return p.got()
}

func (p *peer) got() []string {
	p.t.Helper()
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.buf.String()
	p.buf.Reset()
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			p.t.Errorf("output is not JSON: %.300q", line)
		}
	}
	return lines
}

// close ends the input and returns what Serve did.
func (p *peer) close() {
	p.t.Helper()
	_ = p.to.Close() // a pipe never fails to close
	if err := <-p.done; err != nil {
		p.t.Errorf("Serve: %v", err)
	}
}

// open starts a session in the world's folder and returns its id.
func (p *peer) open(w *world) string {
	p.t.Helper()
	got := p.send(request(100, "session/new", fmt.Sprintf(`{"cwd":%s,"mcpServers":[]}`, quote(w.dir))))
	var reply struct{ Result struct{ SessionID string } }
	if len(got) == 0 || json.Unmarshal([]byte(got[0]), &reply) != nil || reply.Result.SessionID == "" {
		p.t.Fatalf("session/new: %q", got)
	}
	return reply.Result.SessionID
}

func quote(s string) string {
	out, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(out)
}

func request(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

func notification(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
}

func prompt(id int, session string, blocks ...string) string {
	return request(id, "session/prompt", `{"sessionId":`+quote(session)+`,"prompt":[`+strings.Join(blocks, ",")+`]}`)
}

func text(s string) string { return `{"type":"text","text":` + quote(s) + `}` }

const (
	plain   = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`
	noticed = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"session":{"notices":{}}}}}`
)

// updates picks the updates of a kind out of lines, as raw JSON.
func updates(t *testing.T, lines []string, kind string) []string {
	t.Helper()
	var out []string
	for _, line := range lines {
		var m struct {
			Method string
			Params struct{ Update json.RawMessage }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		var u struct{ SessionUpdate string }
		if m.Method == "session/update" && json.Unmarshal(m.Params.Update, &u) == nil && u.SessionUpdate == kind {
			out = append(out, string(m.Params.Update))
		}
	}
	return out
}

// reply returns the raw result or error of the request id.
func reply(t *testing.T, lines []string, id int) string {
	t.Helper()
	for _, line := range lines {
		var m struct {
			ID            *int
			Method        string
			Result, Error json.RawMessage
		}
		if json.Unmarshal([]byte(line), &m) == nil && m.ID != nil && *m.ID == id && m.Method == "" {
			if m.Error != nil {
				return "error " + string(m.Error)
			}
			return string(m.Result)
		}
	}
	return ""
}

// stop is the stop reason in the reply to a prompt.
func stop(t *testing.T, lines []string, id int) string {
	t.Helper()
	var r struct{ StopReason string }
	raw := reply(t, lines, id)
	if json.Unmarshal([]byte(raw), &r) != nil {
		return raw
	}
	return r.StopReason
}

// unixOnly skips what is spelt with paths of unix.
func unixOnly(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the golden lines hold paths of unix")
	}
}
