package conformance_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"testing"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/imaging"
	"tote/internal/provider"
	"tote/internal/provider/offline"
	"tote/internal/provider/openai"
	"tote/internal/provider/providertest"
)

// adapter is a row of the matrix.
type adapter struct {
	// path is its name in profiles.
	path string
	// kind is the protocol's name in a configuration.
	kind string
	// spell makes the adapter that encodes.
	spell provider.Provider
	// dial makes one that sends to a server at base.
	dial func(base string) provider.Provider
	// reply is how that server answers, nil for a few words.
	reply providertest.Reply
	read  func(body []byte) (wire, error)
}

// adapters has a row for every folder below provider.
var adapters = map[string]adapter{
	"openai": {path: openai.ChatPath, kind: "openai-chat", spell: chatAt("http://127.0.0.1:1"), dial: chatAt, read: readChat},
	"offline": {
		path: "offline", kind: "offline", spell: offline.New(offline.Options{}), dial: chatAt, reply: answerOffline, read: readChat,
	},
}

// noAdapters are the folders below provider that spell nothing.
var noAdapters = map[string]string{
	"providertest": "it is the servers and stores that adapters are tested with",
}

func chatAt(base string) provider.Provider {
	return openai.New(provider.Options{BaseURL: base, MaxRetries: -1}, openai.Config{Model: "test-model"})
}

// answerOffline has the offline backend's own server answer over loopback.
func answerOffline(w http.ResponseWriter, r *http.Request, body []byte) {
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	offline.NewHandler(offline.Options{}).ServeHTTP(w, r)
}

func TestEveryAdapterIsInTheMatrix(t *testing.T) {
	present := dirs(t, "../provider")
	for _, name := range present {
		_, row := adapters[name]
		_, excused := noAdapters[name]
		if row == excused {
			t.Errorf("provider/%s: in the matrix %v, excused %v; it has to be one of them", name, row, excused)
		}
	}
	for name := range adapters {
		if !slices.Contains(present, name) {
			t.Errorf("the matrix has a row for provider/%s, which is gone", name)
		}
	}
	for name := range noAdapters {
		if !slices.Contains(present, name) {
			t.Errorf("provider/%s is excused and gone", name)
		}
	}
}

// placing puts blocks on a route into a request. current is the index of the
// message that opened the turn.
type placing struct {
	name  string
	route delivery.Route
	// result: the blocks stand in a tool's result.
	result bool
	make   func(blocks []content.Block) (messages []content.Message, current int)
}

func say(n int, text string) content.Text {
	return content.Text{Handle: content.NewHandle(content.KindText, 9000+n, ""), Body: text}
}

func toolRound(blocks []content.Block) []content.Message {
	return []content.Message{
		providertest.User(say(1, "please look")),
		providertest.Say(
			content.ToolCall{ID: "call-a", Name: "read", Arguments: `{"path":"a"}`},
			content.ToolCall{ID: "call-b", Name: "read", Arguments: `{"path":"b"}`},
			content.ToolCall{ID: "call-c", Name: "read", Arguments: `{"path":"c"}`},
		),
		providertest.Results(
			content.ToolResult{CallID: "call-a", Name: "read", Blocks: []content.Block{say(2, "first result")}},
			content.ToolResult{CallID: "call-b", Name: "read", Blocks: blocks},
			content.ToolResult{CallID: "call-c", Name: "read", IsError: true, Blocks: blocks[:0]},
		),
	}
}

var placings = []placing{
	{"prompt", delivery.RoutePrompt, false, func(blocks []content.Block) ([]content.Message, int) {
		return []content.Message{
			providertest.User(say(1, "hello")), providertest.Say(content.Text{Body: "good day"}), providertest.User(blocks...),
		}, 2
	}},
	{"history", delivery.RouteHistory, false, func(blocks []content.Block) ([]content.Message, int) {
		return []content.Message{
			providertest.User(blocks...), providertest.Say(content.Text{Body: "seen"}), providertest.User(say(1, "and now?")),
		}, 2
	}},
	{"result", delivery.RouteResult, true, func(blocks []content.Block) ([]content.Message, int) {
		return toolRound(blocks), 0
	}},
	{"old result", delivery.RouteHistory, true, func(blocks []content.Block) ([]content.Message, int) {
		return append(toolRound(blocks), providertest.Say(content.Text{Body: "seen"}), providertest.User(say(3, "and now?"))), 4
	}},
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
func send(t *testing.T, a adapter, rec *providertest.Recorder, r request) wire {
	t.Helper()
	body, err := a.spell.Encode(provider.Request{Prompt: r.prompt, Blobs: r.shelf, System: "be brief", Seed: 7})
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	ended := false
	for e, err := range a.dial(rec.URL).Stream(t.Context(), body) {
		if err != nil {
			t.Fatalf("stream: %v", err)
		}
		_, ok := e.(provider.Finish)
		ended = ended || ok
	}
	if !ended {
		t.Error("the answer did not end")
	}
	got := rec.Last().Body
	if int64(len(got)) != body.Len() {
		t.Errorf("%d bytes reached the server, the body has %d", len(got), body.Len())
	}
	w, err := a.read(got)
	if err != nil {
		t.Fatalf("what reached the server: %v", err)
	}
	return w
}

// seen collects what the matrix came across.
type seen map[content.Kind]map[delivery.Disposition]bool

func (s seen) note(r request) {
	for _, x := range r.receipts {
		if s[x.Kind] == nil {
			s[x.Kind] = make(map[delivery.Disposition]bool)
		}
		s[x.Kind][x.Disposition] = true
	}
}

// TestNothingIsDropped is the matrix: what reached the server is what the
// receipts say.
func TestNothingIsDropped(t *testing.T) {
	var s shelf
	alone, crowd := s.sounds(t), s.crowd(t)
	for name, a := range adapters {
		met := make(seen)
		for _, c := range conditions() {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				rec := providertest.NewRecorder(t)
				if a.reply != nil {
					rec.Then(a.reply)
				}
				for _, b := range alone {
					t.Run("alone/"+string(b.BlockHandle()), func(t *testing.T) {
						r := settle(t, &s, c, a, placings[0], []content.Block{b})
						met.note(r)
						checkWire(t, r, send(t, a, rec, r))
					})
				}
				for _, p := range placings {
					t.Run(p.name, func(t *testing.T) {
						r := settle(t, &s, c, a, p, crowd)
						met.note(r)
						checkWire(t, r, send(t, a, rec, r))
					})
				}
			})
		}
		t.Run(name+"/coverage", func(t *testing.T) { checkCoverage(t, met) })
	}
}

// checkCoverage sees that the matrix proves what it is meant to prove: every
// disposition, and for each kind both the block itself and less than it.
func checkCoverage(t *testing.T, met seen) {
	t.Helper()
	for _, k := range kinds() {
		whole, degraded := false, false
		for d := range met[k] {
			whole, degraded = whole || !d.Degraded(), degraded || d.Degraded()
		}
		if !degraded && k != content.KindText { // prose is itself
			t.Errorf("no %v was ever degraded", k)
		}
		if !whole && k != content.KindOpaque { // what nobody knows is never sent
			t.Errorf("no %v was ever sent", k)
		}
	}
	for _, d := range delivery.Dispositions() {
		if !slices.ContainsFunc(kinds(), func(k content.Kind) bool { return met[k][d] }) {
			t.Errorf("nothing was ever %v", d)
		}
	}
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
