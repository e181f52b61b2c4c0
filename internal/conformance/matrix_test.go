package conformance_test

import (
	"io"
	"reflect"
	"slices"
	"testing"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/imaging"
	"tote/internal/provider"
	"tote/internal/provider/providertest"
)

// placing puts blocks on a route into a request. current is the index of the
// message that opened the turn.
type placing struct {
	name  string
	route delivery.Route
	// result: the blocks stand in a tool's result, failed: in one that says
	// that the tool failed.
	result, failed bool
	make           func(blocks []content.Block) (messages []content.Message, current int)
}

func say(n int, text string) content.Text {
	return content.Text{Handle: content.NewHandle(content.KindText, 9000+n, ""), Body: text}
}

func toolRound(blocks []content.Block, failed bool) []content.Message {
	return []content.Message{
		providertest.User(say(1, "please look")),
		providertest.Say(
			content.ToolCall{ID: "call-a", Name: "read", Arguments: `{"path":"a"}`},
			content.ToolCall{ID: "call-b", Name: "read", Arguments: `{"path":"b"}`},
			content.ToolCall{ID: "call-c", Name: "read", Arguments: `{"path":"c"}`},
		),
		providertest.Results(
			content.ToolResult{CallID: "call-a", Name: "read", Blocks: []content.Block{say(2, "first result")}},
			content.ToolResult{CallID: "call-b", Name: "read", IsError: failed, Blocks: blocks},
			content.ToolResult{CallID: "call-c", Name: "read", IsError: true, Blocks: blocks[:0]},
		),
	}
}

var placings = []placing{
	{name: "prompt", route: delivery.RoutePrompt, make: func(blocks []content.Block) ([]content.Message, int) {
		return []content.Message{
			providertest.User(say(1, "hello")), providertest.Say(content.Text{Body: "good day"}), providertest.User(blocks...),
		}, 2
	}},
	{name: "history", route: delivery.RouteHistory, make: func(blocks []content.Block) ([]content.Message, int) {
		return []content.Message{
			providertest.User(blocks...), providertest.Say(content.Text{Body: "seen"}), providertest.User(say(1, "and now?")),
		}, 2
	}},
	{name: "result", route: delivery.RouteResult, result: true, make: func(blocks []content.Block) ([]content.Message, int) {
		return toolRound(blocks, false), 0
	}},
	{name: "failed result", route: delivery.RouteResult, result: true, failed: true, make: func(blocks []content.Block) ([]content.Message, int) {
		return toolRound(blocks, true), 0
	}},
	{name: "old result", route: delivery.RouteHistory, result: true, make: func(blocks []content.Block) ([]content.Message, int) {
		return append(toolRound(blocks, false), providertest.Say(content.Text{Body: "seen"}), providertest.User(say(3, "and now?"))), 4
	}},
}

// placings are where blocks stand under a condition. To start a program is dear,
// and all of a transcript is spelled alike: the routes of a runner are tried where
// they matter.
func (a adapter) placings(c condition) []placing {
	if a.runner == "" || slices.Contains([]string{"own with files", "fewer with files", "no history with files"}, c.name) {
		return placings
	}
	return placings[:1]
}

// request is a settled conversation and what is known about it.
type request struct {
	shelf    *shelf
	profile  delivery.Profile
	placing  placing
	blocks   []content.Block
	prompt   delivery.Prompt
	receipts map[content.Handle]delivery.Receipt
	ledger   delivery.Ledger
}

// settle has the real heart decide and carries out what it wants, as an agent
// does.
func settle(t *testing.T, s *shelf, c condition, a adapter, p placing, blocks []content.Block) request {
	t.Helper()
	r := request{shelf: s, profile: c.profile(a), placing: p, blocks: blocks, receipts: map[content.Handle]delivery.Receipt{}}
	if p.result {
		blocks = fromTool(blocks)
		r.blocks = blocks
	}
	messages, current := p.make(blocks)
	in := delivery.Input{Profile: r.profile, Ledger: c.ledger, Messages: messages, Current: current, Budgets: delivery.Budgets{
		Picture: delivery.Unlimited, History: delivery.Unlimited, Request: c.request(),
	}}
	if c.facts != nil {
		in.Facts = c.facts(blocks)
	}
	in.Facts.Files = c.files
	plan := delivery.Decide(in)
	var receipts []delivery.Receipt
	r.prompt, receipts, r.ledger = delivery.Settle(plan, carryOut(t, s, c, plan))
	var all []content.Block
	for _, m := range messages {
		if m.Role != content.RoleAssistant {
			all = append(all, m.Blocks()...)
		}
	}
	if len(receipts) != len(all) {
		t.Fatalf("%d receipts for %d blocks", len(receipts), len(all))
	}
	for i, b := range all {
		got := receipts[i]
		if got.Handle != b.BlockHandle() || got.Kind != b.Kind() {
			t.Errorf("receipt %d is about %s (%v), the block is %s (%v)", i, got.Handle, got.Kind, b.BlockHandle(), b.Kind())
		}
		if _, twice := r.receipts[got.Handle]; twice {
			t.Errorf("%s has two receipts", got.Handle)
		}
		r.receipts[got.Handle] = got
	}
	return r
}

// fromTool has a tool read the blocks from files.
func fromTool(blocks []content.Block) []content.Block {
	out := make([]content.Block, 0, len(blocks))
	for _, b := range blocks {
		if _, ok := content.AttachmentOf(b); ok {
			b = edit(b, func(v reflect.Value) {
				v.FieldByName("Origin").Set(reflect.ValueOf(content.Origin{
					Inlet: content.InletTool, Path: "/home/u/" + string(b.BlockHandle()), Chooser: content.ChosenByModel,
				}))
			})
		}
		out = append(out, b)
	}
	return out
}

// description is what the describing model says.
func description(h content.Handle) string { return "it shows a cat named " + string(h) }

func staged(h content.Handle) string { return "/scratch/s/" + string(h) }

func carryOut(t *testing.T, s *shelf, c condition, plan delivery.Plan) delivery.Results {
	t.Helper()
	r := delivery.Results{
		Variants: map[content.Handle]content.Blob{}, Texts: map[content.Handle]string{}, Paths: map[content.Handle]string{},
		Descriptions: map[content.Handle]delivery.Description{}, Failed: map[content.Handle]delivery.Failed{},
	}
	for _, o := range plan.Orders() {
		if !o.Stage.IsZero() {
			r.Paths[o.Handle] = staged(o.Handle)
		}
		switch {
		case c.breaks && (o.Cut != nil || !o.Load.IsZero() || o.Describe):
			r.Failed[o.Handle] = delivery.Failed{Reason: delivery.ReasonPrepareFailed, Detail: "the disk is full"}
		case o.Describe:
			r.Descriptions[o.Handle] = delivery.Description{Model: "looker", Text: description(o.Handle)}
		case !o.Load.IsZero():
			r.Texts[o.Handle] = string(s.read(t, o.Load.Digest))
		case o.Cut != nil:
			r.Variants[o.Handle] = cut(t, s, o)
		}
	}
	return r
}

func cut(t *testing.T, s *shelf, o delivery.Order) content.Blob {
	t.Helper()
	a, _ := content.AttachmentOf(o.Block())
	v, err := imaging.Prepare(t.Context(), s.read(t, a.Original.Digest), imaging.Bounds{
		MaxEdge: o.Cut.MaxEdge, MaxPixels: o.Cut.MaxPixels, MaxBytes: o.Cut.MaxBytes, MIMEs: o.Cut.MIMEs,
	})
	if err != nil {
		t.Fatalf("cut %s: %v", o.Handle, err)
	}
	b := s.Put(v.Data, v.MIME)
	b.Width, b.Height = v.Width, v.Height
	return b
}

// send spells a request, sends it and returns what the server read.
func send(t *testing.T, st *station, r request) wire {
	t.Helper()
	return post(t, st, provider.Request{Prompt: r.prompt, Blobs: r.shelf, System: "be brief", Seed: 7})
}

func post(t *testing.T, st *station, r provider.Request) wire {
	t.Helper()
	body, err := st.p.Encode(r)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	key := ""
	if st.known != nil {
		key = spelling(t, body)
		if w, ok := st.known[key]; ok {
			return w
		}
	}
	ended := false
	for e, err := range st.p.Stream(t.Context(), body) {
		if err != nil {
			t.Fatalf("stream: %v", err)
		}
		_, ok := e.(provider.Finish)
		ended = ended || ok
	}
	if !ended {
		t.Error("the answer did not end")
	}
	w, err := st.taken(t)
	if err != nil {
		t.Fatalf("what reached the server: %v", err)
	}
	// A runner's body has the bare names of files, which get a folder then.
	if st.runner == "" && int64(len(w.body)) != body.Len() {
		t.Errorf("%d bytes reached the server, the body has %d", len(w.body), body.Len())
	}
	if st.known != nil {
		st.known[key] = w
	}
	return w
}

// spelling is a body as a whole.
func spelling(t *testing.T, body provider.Body) string {
	t.Helper()
	rc := body.Open()
	defer func() { _ = rc.Close() }() // it was only read
	data, err := io.ReadAll(rc)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// seen collects what the matrix came across on one path.
type seen struct {
	kinds  map[content.Kind]map[delivery.Disposition]bool
	fields map[string]int
	// cells are what docs/outcomes.md says.
	cells map[cellKey]string
}

func (s *seen) note(r request, w wire) {
	for _, x := range r.receipts {
		if s.kinds[x.Kind] == nil {
			s.kinds[x.Kind] = make(map[delivery.Disposition]bool)
		}
		s.kinds[x.Kind][x.Disposition] = true
	}
	for f, n := range w.fields {
		s.fields[f] += n
	}
}

// TestOutcomes is the matrix: what reached the server is what the receipts say,
// and docs/outcomes.md says it too.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	var s shelf
	alone, crowd := s.sounds(t), s.crowd(t)
	met := map[string]*seen{}
	for path := range adapters {
		met[path] = &seen{
			kinds: make(map[content.Kind]map[delivery.Disposition]bool), fields: make(map[string]int), cells: make(map[cellKey]string),
		}
	}
	t.Run("paths", func(t *testing.T) {
		for path, a := range adapters {
			if !tried(path) {
				continue
			}
			t.Run(path, func(t *testing.T) {
				t.Parallel()
				st := stand(t, a)
				try := func(c condition, p placing, blocks []content.Block) func(t *testing.T) {
					return func(t *testing.T) {
						r := settle(t, &s, c, a, p, blocks)
						w := send(t, st, r)
						met[path].note(r, w)
						checkWire(t, r, w)
						if len(blocks) > 1 {
							met[path].tell(t, c, r, w)
						}
					}
				}
				for _, c := range a.conditions() {
					t.Run(c.name, func(t *testing.T) {
						// A transcript has no places that a crowd would hide, and a
						// short run (with the race detector) leaves them out.
						if a.runner == "" && !testing.Short() {
							for _, b := range alone {
								t.Run("alone/"+string(b.BlockHandle()), try(c, placings[0], []content.Block{b}))
							}
						}
						for _, p := range a.placings(c) {
							t.Run(p.name, try(c, p, crowd))
						}
					})
				}
				checkCoverage(t, a, met[path])
			})
		}
	})
	if !testing.Short() { // the page is about all of them
		t.Run("page", func(t *testing.T) { checkPage(t, met) })
	}
}

// shortPaths are tried in a short run, which is for the race detector: a server of
// events, one of lines, and a program.
var shortPaths = []string{"anthropic", "ollama", "cli-claude"}

// tried reports whether a path is tried in this run.
func tried(path string) bool { return !testing.Short() || slices.Contains(shortPaths, path) }

// checkCoverage sees that the matrix proves what it is meant to prove: every
// disposition, for each kind both the block itself and less than it, and each
// member of the wire in which payloads stand.
func checkCoverage(t *testing.T, a adapter, met *seen) {
	t.Helper()
	full := everything(a)
	for _, k := range kinds() {
		whole, degraded := false, false
		for d := range met.kinds[k] {
			whole, degraded = whole || !d.Degraded(), degraded || d.Degraded()
		}
		if !degraded && k != content.KindText { // prose is itself
			t.Errorf("no %v was ever degraded", k)
		}
		// What nobody knows is never sent, and what the wire has no form for.
		none := k == content.KindOpaque || k == content.KindAudio && full.Audio.Answer == delivery.No
		if whole == none {
			t.Errorf("%v was sent whole: %v", k, whole)
		}
	}
	for _, d := range delivery.Dispositions() {
		if !slices.ContainsFunc(kinds(), func(k content.Kind) bool { return met.kinds[k][d] }) {
			t.Errorf("nothing was ever %v", d)
		}
	}
	for _, f := range a.payloads {
		if met.fields[f] == 0 {
			t.Errorf("no payload ever stood in %s", f)
		}
	}
}

func TestPlacingsTakeEveryRoute(t *testing.T) {
	for _, p := range placings {
		if !slices.Contains(routes(), p.route) {
			t.Errorf("placing %s has no route", p.name)
		}
	}
	for _, r := range routes() {
		if !slices.ContainsFunc(placings, func(p placing) bool { return p.route == r }) {
			t.Errorf("no placing takes the route %v", r)
		}
	}
}
