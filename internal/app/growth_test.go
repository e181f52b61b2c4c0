package app_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"tote/internal/config"
	"tote/internal/imaging/imagingtest"
	"tote/internal/provider/providertest"
)

// swallow answers every request and keeps nothing of it but the newest body.
type swallow struct {
	n    atomic.Int64
	last atomic.Pointer[[]byte]
}

func (s *swallow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	s.last.Store(&body)
	s.n.Add(1)
	providertest.TextUsage(providertest.Usage{Prompt: 900, Completion: 2, Image: 700, Cached: -1}, "ok")(w, r, body)
}

// TestThousandTurnsWithAPicture keeps a session going with the same picture in
// every prompt. It is stored once, nothing of it is anywhere else, and the
// database grows by what a turn says, not by what it shows.
func TestThousandTurnsWithAPicture(t *testing.T) {
	turns := 1000
	if testing.Short() {
		turns = 50
	}
	server := &swallow{}
	http := httptest.NewServer(server)
	t.Cleanup(http.Close)
	p := newPlace(t)
	p.write(p.userFile(), `{
		"providers": {"p": {"kind": "openai-chat", "base_url": `+strconv.Quote(http.URL)+`}},
		"agents": {"main": {"provider": "p", "model": "m", "vision": true}},
		// Less than by default: the test is about what stays, not about what is sent.
		"limits": {"history_bytes": 1500000},
	}`)
	shot := imagingtest.Screenshot(3840, 2400, 7)
	file := filepath.Join(p.cwd, "shot.png")
	p.write(file, string(shot))

	a := p.open(config.Overlay{})
	s := p.prompt(p.workspace(a), nil, "turn 0", file)
	id := s.ID()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	before := size(t, p)

	a = p.open(config.Overlay{})
	w := p.workspace(a)
	s, err := w.Agent().Open(t.Context(), id, "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range turns {
		p.prompt(w, s, "turn "+strconv.Itoa(i+1), file)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got := server.n.Load(); got != int64(turns)+1 {
		t.Errorf("%d requests for %d turns", got, turns+1)
	}
	grown := (size(t, p) - before) / int64(turns)
	t.Logf("%d bytes of database a turn, picture %d bytes", grown, len(shot))
	if grown > 4096 {
		t.Errorf("the database grew by %d bytes a turn, want 4096 at most", grown)
	}
	sent, err := providertest.Pictures(*server.last.Load())
	if err != nil || len(sent) == 0 {
		t.Fatalf("%d pictures in the last request: %v", len(sent), err)
	}
	if !holds(*server.last.Load(), runs(sent[0])) {
		t.Error("the search does not find the picture where it is")
	}
	nowhere(t, p.home, shot, sent[0])
	stored, err := filepath.Glob(filepath.Join(p.home, "data", "attachments", "[0-9a-f]*"))
	if err != nil || len(stored) != 2 {
		t.Errorf("%d stored files, want the picture and its prepared form: %v %v", len(stored), stored, err)
	}
}

func size(t *testing.T, p *place) int64 {
	t.Helper()
	total := int64(0)
	for _, name := range []string{"history.db", "history.db-wal"} {
		info, err := os.Stat(filepath.Join(p.home, "data", name))
		if err == nil {
			total += info.Size()
		}
	}
	return total
}

// runs are 64 characters of the middle of a payload as base64, for each of the
// three ways in which it may be aligned.
func runs(payload []byte) (out [][]byte) {
	for shift := range 3 {
		at := len(payload)/2 + shift
		out = append(out, []byte(base64.StdEncoding.EncodeToString(payload[at:at+48])))
	}
	return out
}

func holds(data []byte, runs [][]byte) bool {
	return slices.ContainsFunc(runs, func(r []byte) bool { return bytes.Contains(data, r) })
}

// nowhere checks that no file below dir holds a run of a payload as base64.
func nowhere(t *testing.T, dir string, payloads ...[]byte) {
	t.Helper()
	var needles [][]byte
	for _, b := range payloads {
		needles = append(needles, runs(b)...)
	}
	files := 0
	var seen []os.FileInfo
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil || slices.ContainsFunc(seen, func(s os.FileInfo) bool { return os.SameFile(s, info) }) {
			return err
		}
		seen = append(seen, info)
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		if holds(data, needles) {
			t.Errorf("%s holds the picture as base64", path)
		}
		return nil
	})
	if err != nil || files < 3 {
		t.Fatalf("%d files were searched: %v", files, err)
	}
}
