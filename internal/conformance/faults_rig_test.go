package conformance_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/app"
	"tote/internal/config"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/history"
	"tote/internal/imaging"
	"tote/internal/profile"
	"tote/internal/provider/providertest"
)

// tongue is one wire as its server speaks it.
type tongue struct {
	kind string
	// base goes behind the server's address in the configuration, at ends the
	// path of a request for an answer.
	base, at string
	read     func(body []byte) (providertest.Sent, error)
	said     func(u providertest.Usage, words ...string) providertest.Reply
	calls    func(calls ...content.ToolCall) providertest.Reply
	// fault spells an error in the vendor's form; code may be "".
	fault func(status int, code, words string) string
	// within is an error inside a 200 before anything was said, midway one
	// after the answer had begun without a word in it.
	within, midway func(fault string) providertest.Reply
	// counts: the wire can say what pictures cost.
	counts bool
	// conversation is the member of a body that grows.
	conversation string
}

func tongues() []tongue {
	openAI := func(status int, code, words string) string {
		return fmt.Sprintf(`{"error":{"message":%s,"type":"invalid_request_error","param":null,"code":%s}}`, spell(words), orNull(code))
	}
	chat := tongue{
		kind: "openai-chat", base: "/v1", at: "/chat/completions", read: providertest.ReadChat, said: providertest.TextUsage,
		calls: providertest.Calls, fault: openAI, counts: true, conversation: "messages",
		within: func(f string) providertest.Reply { return providertest.Raw("application/json", f) },
		midway: func(f string) providertest.Reply {
			return providertest.Events(providertest.Delta(`{"role":"assistant","content":""}`), f, providertest.Done)
		},
	}
	responses := tongue{
		kind: "openai-responses", base: "/v1", at: "/responses", read: providertest.ReadResponses, said: providertest.ResponsesUsage,
		calls: providertest.ResponsesCalls, fault: openAI, conversation: "input",
		within: func(f string) providertest.Reply { return providertest.Raw("application/json", f) },
		midway: func(f string) providertest.Reply {
			var e struct {
				Error struct{ Code, Message string }
			}
			_ = json.Unmarshal([]byte(f), &e) // it was spelled above
			return providertest.ResponsesFailed(e.Error.Code, e.Error.Message)
		},
	}
	anthropic := tongue{
		kind: "anthropic", at: "/v1/messages", read: providertest.ReadAnthropic, calls: providertest.AnthropicCalls, conversation: "messages",
		said: func(u providertest.Usage, words ...string) providertest.Reply {
			return providertest.AnthropicTextUsage(providertest.AnthropicUsage{Input: u.Prompt, Output: u.Completion, CacheRead: 0, CacheWrite: 0}, words...)
		},
		fault: func(_ int, code, words string) string {
			if code == "" {
				code = "invalid_request_error"
			}
			return providertest.AnthropicErrorJSON(code, words, "")
		},
		within: func(f string) providertest.Reply { return providertest.Raw("application/json", f) },
		midway: func(f string) providertest.Reply {
			return providertest.AnthropicEvents(providertest.AnthropicStart(providertest.AnthropicUsage{Input: 5, CacheRead: -1, CacheWrite: -1}), f)
		},
	}
	return []tongue{chat, responses, anthropic, geminiTongue(), ollamaTongue(), converseTongue()}
}

func geminiTongue() tongue {
	return tongue{
		kind: "gemini", base: "/v1beta", at: ":streamGenerateContent", read: providertest.ReadGemini, said: providertest.GeminiUsage,
		calls: providertest.GeminiCalls, counts: true, conversation: "contents",
		fault: func(status int, code, words string) string {
			if code == "" {
				code = "INVALID_ARGUMENT"
			}
			return fmt.Sprintf(`{"error":{"code":%d,"message":%s,"status":%s}}`, status, spell(words), spell(code))
		},
		within: func(f string) providertest.Reply { return providertest.Raw("application/json", f) },
		midway: func(f string) providertest.Reply { return providertest.Events(f) },
	}
}

func ollamaTongue() tongue {
	return tongue{
		kind: "ollama", at: "/api/chat", read: providertest.ReadOllama, said: providertest.OllamaUsage, calls: providertest.OllamaCalls,
		conversation: "messages",
		fault:        func(_ int, _, words string) string { return `{"error":` + spell(words) + `}` },
		within:       func(f string) providertest.Reply { return providertest.Raw("application/json", f) },
		midway: func(f string) providertest.Reply {
			return providertest.Lines(providertest.OllamaLine(`{"role":"assistant","content":""}`), f)
		},
	}
}

func converseTongue() tongue {
	exception := func(f string) []byte { return providertest.ConverseFault("validationException", f) }
	return tongue{
		kind: "bedrock-converse", at: "/converse-stream", read: providertest.ReadConverse, said: providertest.ConverseUsage,
		calls: providertest.ConverseCalls, conversation: "messages",
		fault:  func(_ int, _, words string) string { return `{"message":` + spell(words) + `}` },
		within: func(f string) providertest.Reply { return providertest.ConverseFrames(exception(f)) },
		midway: func(f string) providertest.Reply {
			return providertest.ConverseFrames(providertest.ConverseFrame("messageStart", `{"role":"assistant"}`), exception(f))
		},
	}
}

func spell(s string) string {
	b, _ := json.Marshal(s) // a string has a spelling
	return string(b)
}

func orNull(s string) string {
	if s == "" {
		return "null"
	}
	return spell(s)
}

// rejects answers with an error status in the vendor's form.
func (g *tongue) rejects(status int, code, words string) providertest.Reply {
	if g.kind == "bedrock-converse" && code == "" {
		code = "ValidationException"
	}
	var head []string
	if g.kind == "bedrock-converse" {
		head = []string{"X-Amzn-Errortype", code + ":http://internal.amazon.com/coral/"}
	}
	return providertest.Status(status, g.fault(status, code, words), head...)
}

// plenty is a usage that no picture of these tests is too dear for, without a
// count of pictures.
func plenty() providertest.Usage {
	return providertest.Usage{Prompt: 90_000, Completion: 5, Image: -1, Cached: -1}
}

// letter is one request as it came.
type letter struct {
	body  []byte
	sent  providertest.Sent
	media [][]byte
}

func (l letter) holds(picture []byte) bool {
	return slices.ContainsFunc(l.media, func(m []byte) bool { return bytes.Equal(m, picture) })
}

// rig is a server on loopback that speaks one tongue, strictly. What it does is
// scripted for each model; a model without a script says how much it sees.
type rig struct {
	tongue
	url string
	t   testing.TB

	mu sync.Mutex
	// gate sees a request before its body is read, and reports whether it has
	// dealt with it; nil is an open one.
	gate    func(w http.ResponseWriter, req *http.Request) bool
	scripts map[string]func(n int, l letter) providertest.Reply
	letters map[string][]letter
	probes  map[string]int
}

// newRig starts a server that ends with the test.
func newRig(t testing.TB, g tongue) *rig {
	t.Helper()
	r := &rig{
		tongue: g, t: t, scripts: map[string]func(int, letter) providertest.Reply{}, letters: map[string][]letter{}, probes: map[string]int{},
	}
	s := httptest.NewServer(r)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	r.url = s.URL
	return r
}

// on scripts a model. n counts its requests from 0, test pictures left out; a nil
// reply says how much it sees.
func (r *rig) on(model string, script func(n int, l letter) providertest.Reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scripts[model] = script
}

// guard puts a gate before the server, nil for none.
func (r *rig) guard(gate func(w http.ResponseWriter, req *http.Request) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gate = gate
}

// got are the requests for a model so far, test pictures left out.
func (r *rig) got(model string) []letter {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.letters[model])
}

// last is the newest request for a model.
func (r *rig) last(t *testing.T, model string) letter {
	t.Helper()
	all := r.got(model)
	if len(all) == 0 {
		t.Fatalf("no request for %s came", model)
	}
	return all[len(all)-1]
}

// modelOf is whom a request asks.
func modelOf(r *http.Request, body []byte) string {
	var b struct{ Model string }
	if json.Unmarshal(body, &b) == nil && b.Model != "" {
		return b.Model
	}
	for segment := range strings.SplitSeq(r.URL.Path, "/") {
		if m, _, ok := strings.Cut(segment, ":streamGenerateContent"); ok {
			return m
		}
	}
	_, m, _ := strings.Cut(r.URL.Path, "/model/")
	return strings.TrimSuffix(m, "/converse-stream")
}

// key is what signs requests for Bedrock.
var key = providertest.SigV4{ID: "AKIDEXAMPLE", Secret: "a secret of tests", Region: "us-east-1", Service: "bedrock"}

// ServeHTTP implements [http.Handler].
func (r *rig) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost || !strings.HasSuffix(req.URL.Path, r.at) {
		http.NotFound(w, req) // it says nothing of itself
		return
	}
	r.mu.Lock()
	gate := r.gate
	r.mu.Unlock()
	if gate != nil && gate(w, req) {
		return
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the client went away
	}
	model := modelOf(req, body)
	sent, err := r.read(body)
	if err == nil && r.kind == "bedrock-converse" {
		err = providertest.CheckSigV4(req, body, key)
	}
	if err != nil {
		r.t.Errorf("%s, %s: what came is not what the server takes: %v", r.kind, model, err)
		r.rejects(400, "", "not what this server takes")(w, req, body)
		return
	}
	l := letter{body: body, sent: sent}
	for _, m := range sent.Media() {
		l.media = append(l.media, m.Data)
	}
	if reply := r.probed(model, l); reply != nil {
		reply(w, req, body)
		return
	}
	r.mu.Lock()
	n, script := len(r.letters[model]), r.scripts[model]
	r.letters[model] = append(r.letters[model], l)
	r.mu.Unlock()
	var reply providertest.Reply
	if script != nil {
		reply = script(n, l)
	}
	if reply == nil {
		reply = r.said(plenty(), fmt.Sprintf("I see %d.", len(l.media)))
	}
	reply(w, req, body)
}

// probed answers a test picture as a model that sees: with the code on it.
func (r *rig) probed(model string, l letter) providertest.Reply {
	if len(l.media) != 1 || !bytes.Contains(l.body, []byte(profile.Question)) {
		return nil
	}
	r.mu.Lock()
	r.probes[model]++
	r.mu.Unlock()
	code, err := readCode(l.media[0])
	if err != nil {
		r.t.Errorf("%s: the test picture cannot be read: %v", model, err)
	}
	return r.said(plenty(), code)
}

// glyph is a letter at its place in a test picture: the pixels it blackens.
type glyph struct {
	place  int
	letter rune
	pixels []image.Point
}

// glyphs are all letters at all places.
var glyphs = sync.OnceValues(func() ([]glyph, error) {
	var out []glyph
	for place := range 4 {
		for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" {
			code := []rune("    ")
			code[place] = c
			data, err := imaging.Probe(string(code))
			if err != nil {
				return nil, err
			}
			img, err := png.Decode(bytes.NewReader(data))
			if err != nil {
				return nil, err
			}
			out = append(out, glyph{place, c, blackOf(img)})
		}
	}
	return out, nil
})

func black(img image.Image, p image.Point) bool {
	r, g, b, _ := img.At(p.X, p.Y).RGBA()
	return r|g|b == 0
}

func blackOf(img image.Image) []image.Point {
	var out []image.Point
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			if p := image.Pt(x, y); black(img, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// readCode reads what is written on a test picture: at each place the largest
// letter that is there whole.
func readCode(data []byte) (string, error) {
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	known, err := glyphs()
	if err != nil {
		return "", err
	}
	best := make([]glyph, 4)
	for _, g := range known {
		whole := !slices.ContainsFunc(g.pixels, func(p image.Point) bool { return !black(img, p) })
		if whole && len(g.pixels) > len(best[g.place].pixels) {
			best[g.place] = g
		}
	}
	code := ""
	for _, g := range best {
		if g.letter == 0 {
			return "", errors.New("no letter at one of its places")
		}
		code += string(g.letter)
	}
	return code, nil
}

// bind is an agent of a rig's, whose name is that of its model.
type bind struct {
	model string
	// vision is JSON, "" for "auto".
	vision string
	// more is further members of the agent, after a comma.
	more string
}

// settings spells a configuration whose agents are all at the rig. limits are
// members of the provider's limits, more is members of the whole.
func (r *rig) settings(limits, more string, agents ...bind) string {
	list := make([]string, 0, len(agents))
	for _, a := range agents {
		if a.vision == "" {
			a.vision = `"auto"`
		}
		list = append(list, fmt.Sprintf(`%s:{"provider":"p","model":%s,"vision":%s%s}`, spell(a.model), spell(a.model), a.vision, a.more))
	}
	return fmt.Sprintf(`{"providers":{"p":{"kind":%q,"base_url":%q,"max_retries":0,"limits":{%s}}},"agents":{%s},"default_agent":%s%s}`,
		r.kind, r.url+r.base, limits, strings.Join(list, ","), spell(agents[0].model), more)
}

// launch starts the program with what AWS's library wants to know.
func (w *world) launch() *process {
	w.t.Helper()
	env := map[string]string{
		"AWS_ACCESS_KEY_ID": key.ID, "AWS_SECRET_ACCESS_KEY": key.Secret, "AWS_REGION": key.Region, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": filepath.Join(w.home, "none"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(w.home, "none"),
	}
	a, err := app.Open(app.Options{
		Config: config.Options{Home: w.home, Env: func(k string) string { return env[k] }}, Version: "test", Now: time.Now,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	p := &process{world: w, app: a}
	if p.workspace, err = a.Workspace(w.t.Context(), w.cwd); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// in is the process for a part of the test.
func (p *process) in(t *testing.T) *process {
	w := *p.world
	w.t = t
	return &process{world: &w, app: p.app, workspace: p.workspace}
}

// with begins a session on an agent.
func (p *process) with(name string) *agent.Session {
	p.t.Helper()
	s, err := p.workspace.Agent().Create(p.t.Context(), name, p.cwd, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// ask runs a turn that may fail.
func (p *process) ask(s *agent.Session, sources ...content.Source) (*agenttest.Front, agent.Result, error) {
	p.t.Helper()
	f := &agenttest.Front{}
	res, err := s.Prompt(p.t.Context(), agent.Prompt{Sources: sources, Front: f})
	return f, res, err
}

// snap writes a picture with its own bytes, small enough to pass as it is, and
// gives it back as a user names it.
func (w *world) snap(name string, width, height int, seed uint64) (content.Source, []byte) {
	w.t.Helper()
	data := agenttest.PNG(width, height, seed)
	return flagged(w.file(name, data)), data
}

// memory is what is kept of an endpoint.
type memory struct {
	Verdicts []history.Verdict
	Evidence []history.Evidence
	Limits   map[string]int64
}

// learned reads what is kept of an agent's endpoint.
func (p *process) learned(name string) memory {
	p.t.Helper()
	m, err := p.workspace.Model(p.t.Context(), name)
	if err != nil {
		p.t.Fatal(err)
	}
	db, err := p.app.History(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	var out memory
	if out.Verdicts, err = db.Verdicts(p.t.Context(), m.Profile.Endpoint, time.Now()); err != nil {
		p.t.Fatal(err)
	}
	if out.Evidence, err = db.Evidence(p.t.Context(), m.Profile.Endpoint); err != nil {
		p.t.Fatal(err)
	}
	if out.Limits, err = db.Limits(p.t.Context(), m.Profile.Endpoint); err != nil {
		p.t.Fatal(err)
	}
	return out
}

// against counts the verdicts against something.
func (m memory) against() int {
	n := 0
	for _, v := range m.Verdicts {
		if !v.Accepted {
			n++
		}
	}
	return n
}

// told are the notices that hold words.
func told(f *agenttest.Front, words string) []delivery.Notice {
	return slices.DeleteFunc(f.Notices(), func(n delivery.Notice) bool { return !strings.Contains(n.Title+": "+n.Detail, words) })
}

// voided counts the attempts of a turn that were withdrawn.
func voided(f *agenttest.Front) int {
	n := 0
	for _, e := range f.Events() {
		if _, ok := e.(agent.Voided); ok {
			n++
		}
	}
	return n
}

// withHeader adds a header to a reply.
func withHeader(reply providertest.Reply, name, value string) providertest.Reply {
	return func(w http.ResponseWriter, r *http.Request, body []byte) {
		w.Header().Set(name, value)
		reply(w, r, body)
	}
}
