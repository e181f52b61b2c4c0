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
	"slices"
	"strings"
	"sync"
	"testing"

	"tote/internal/imaging"
	"tote/internal/profile"
	"tote/internal/provider/providertest"
)

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
var key = awsKey

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
