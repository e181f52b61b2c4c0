package ingest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/imaging/imagingtest"
	"tote/internal/ingest"
	"tote/internal/store"
)

// memory is a store of blobs in memory.
type memory struct {
	mu    sync.Mutex
	blobs map[content.Digest][]byte
	full  error
}

func newMemory() *memory { return &memory{blobs: map[content.Digest][]byte{}} }

func (m *memory) PutBytes(_ context.Context, data []byte) (content.Digest, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full != nil {
		return content.Digest{}, m.full
	}
	d := content.Digest(sha256.Sum256(data))
	m.blobs[d] = bytes.Clone(data)
	return d, nil
}

func (m *memory) ReadAll(d content.Digest, limit int64) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.blobs[d]
	switch {
	case !ok:
		return nil, fmt.Errorf("blob %s: not found", d.Short())
	case limit > 0 && int64(len(data)) > limit:
		return nil, fmt.Errorf("blob %s: over %d bytes", d.Short(), limit)
	}
	return bytes.Clone(data), nil
}

func (m *memory) Check(d content.Digest) error {
	_, err := m.ReadAll(d, 0)
	return err
}

// get returns the bytes of a blob that must be there and agree with its size.
func (m *memory) get(t *testing.T, b content.Blob) []byte {
	t.Helper()
	data, err := m.ReadAll(b.Digest, 0)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(data)) != b.Size {
		t.Errorf("blob says %d bytes, has %d", b.Size, len(data))
	}
	return data
}

// take ingests one source and checks what holds for all of them.
func take(t *testing.T, in *ingest.Inlet, s content.Source, sc ingest.Scope) ([]content.Block, []content.Envelope) {
	t.Helper()
	blocks, envs, err := in.Ingest(t.Context(), s, sc)
	if err != nil {
		t.Fatalf("ingest: %v", err)
	}
	if len(blocks) == 0 || len(blocks) != len(envs) {
		t.Fatalf("%d blocks and %d envelopes", len(blocks), len(envs))
	}
	_, given := s.Payload.(content.Given)
	for _, b := range blocks {
		if h := b.BlockHandle(); h != "" && !given {
			t.Errorf("handle %q was given by ingest", h)
		}
		sound(t, b)
	}
	return blocks, envs
}

// sound checks the invariants of a block.
func sound(t *testing.T, b content.Block) {
	t.Helper()
	a, ok := content.AttachmentOf(b)
	if !ok {
		return
	}
	if strings.ContainsRune(a.Name, '/') || strings.HasSuffix(a.Detail, ".") {
		t.Errorf("name %q, detail %q", a.Name, a.Detail)
	}
	if a.Fault != content.FaultNone && !a.Prepared.IsZero() {
		t.Errorf("%s has the fault %s and something to send", b.Kind(), a.Fault)
	}
	if a.Fault == content.FaultNone && (a.Prepared.IsZero() || a.Original.IsZero()) {
		t.Errorf("%s has no fault and nothing to send", b.Kind())
	}
	if img, ok := b.(content.Image); ok && a.Fault == content.FaultNone {
		switch img.Prepared.MIME {
		case "image/png", "image/jpeg", "image/gif", "image/webp":
		default:
			t.Errorf("picture prepared as %q", img.Prepared.MIME)
		}
		if img.Prepared.Width < 1 || img.Prepared.Height < 1 || img.Frames < 1 {
			t.Errorf("picture without measures: %+v, %d frames", img.Prepared, img.Frames)
		}
	}
}

func takeOne(t *testing.T, in *ingest.Inlet, s content.Source, sc ingest.Scope) content.Block {
	t.Helper()
	blocks, _ := take(t, in, s, sc)
	if len(blocks) != 1 {
		t.Fatalf("%d blocks, want 1: %+v", len(blocks), blocks)
	}
	return blocks[0]
}

// shown takes a source that shows pictures of the session: the picture comes
// last, after what is known about it.
func shown(t *testing.T, in *ingest.Inlet, s content.Source, sc ingest.Scope) content.Image {
	t.Helper()
	blocks, envs := take(t, in, s, sc)
	for _, e := range envs {
		if !e.IsZero() {
			t.Errorf("envelope %+v", e)
		}
	}
	img, ok := blocks[len(blocks)-1].(content.Image)
	if !ok || len(blocks) > 2 || (img.Fault == content.FaultNone) != (len(blocks) == 2) {
		t.Fatalf("blocks = %+v", blocks)
	}
	return img
}

func attachment(t *testing.T, b content.Block) content.Attachment {
	t.Helper()
	a, ok := content.AttachmentOf(b)
	if !ok {
		t.Fatalf("%s has no attachment", b.Kind())
	}
	return a
}

func write(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// realDir is a temporary folder by its real path (on macOS /tmp is a link).
func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func fileURI(p string) string {
	p = filepath.ToSlash(p)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

func picture() []byte { return imagingtest.PNG(imagingtest.Corners(40, 20)) }

func b64(data []byte) content.Base64 {
	return content.Base64{Data: []byte(base64.StdEncoding.EncodeToString(data))}
}

func acp(p content.Payload, as content.Kind, declared string) content.Source {
	return content.Source{Payload: p, Inlet: content.InletACP, Chooser: content.ChosenByUser, As: as, Declared: declared}
}

func flag(p content.Payload) content.Source {
	return content.Source{Payload: p, Inlet: content.InletFlag, Chooser: content.ChosenByUser}
}

func TestTextIsVerbatim(t *testing.T) {
	in := ingest.New(newMemory(), ingest.Options{})
	for _, text := range []string{
		"", "  \n", "see /tmp/a.png and https://example.invalid/x.png", "@a.png", "data:image/png;base64,AAAA", "a\x00b", "e\u0301\u202f",
	} {
		got := takeOne(t, in, acp(content.Prose{Text: text}, content.KindText, ""), ingest.Scope{})
		if want := content.Block(content.Text{Body: text}); !cmp.Equal(got, want) {
			t.Error(cmp.Diff(want, got))
		}
	}
}

// The same picture is the same attachment whichever way it comes.
func TestInletsAgree(t *testing.T) {
	blobs, dir := newMemory(), realDir(t)
	in := ingest.New(blobs, ingest.Options{})
	sc := ingest.Scope{Cwd: dir, Roots: []string{dir}}
	big := imagingtest.Screenshot(2100, 160, 7)
	for name, data := range map[string][]byte{
		"small.png": picture(), "big.png": big, "turned.jpg": imagingtest.JPEG(imagingtest.Corners(40, 20), 6),
		"text.txt": []byte("grüße\n"), "cut.png": imagingtest.Truncated(big), "moving.gif": imagingtest.AnimatedGIF(),
	} {
		t.Run(name, func(t *testing.T) {
			p := write(t, dir, name, data)
			enc := base64.StdEncoding.EncodeToString(data)
			sources := map[string]content.Source{
				"flag":     flag(content.Path{Path: name}),
				"absolute": flag(content.Path{Path: p}),
				"stdin":    {Payload: content.Bytes{Data: data}, Inlet: content.InletStdin, Chooser: content.ChosenByUser},
				"acp":      acp(content.Base64{Data: []byte(enc)}, 0, ""),
				"prefix":   acp(content.Base64{Data: []byte("data:;base64," + enc)}, 0, ""),
				"url":      acp(content.Base64{Data: []byte(base64.RawURLEncoding.EncodeToString(data))}, 0, ""),
				"data":     {Payload: content.DataURI{URI: "data:;base64," + enc}, Inlet: content.InletPaste, Chooser: content.ChosenByUser},
				"percent":  {Payload: content.DataURI{URI: "data:," + percent(data)}, Inlet: content.InletPaste, Chooser: content.ChosenByUser},
				"link":     acp(content.Link{URI: fileURI(p), Name: "n"}, content.KindResourceLink, ""),
				"tool":     {Payload: content.Path{Path: p}, Inlet: content.InletTool, Chooser: content.ChosenByTool},
				"mcp":      {Payload: b64(data), Inlet: content.InletMCP, Chooser: content.ChosenByTool},
			}
			want := plainBlock(t, in, flag(content.Bytes{Data: data}), sc)
			for how, s := range sources {
				if got := plainBlock(t, in, s, sc); !cmp.Equal(got, want) {
					t.Errorf("%s: %s", how, cmp.Diff(want, got))
				}
			}
		})
	}
}

func percent(data []byte) string {
	var sb strings.Builder
	for _, c := range data {
		fmt.Fprintf(&sb, "%%%02x", c)
	}
	return sb.String()
}

// plainBlock is the last block without what may differ between inlets: name,
// origin, and the URI under which it came.
func plainBlock(t *testing.T, in *ingest.Inlet, s content.Source, sc ingest.Scope) content.Block {
	t.Helper()
	blocks, _ := take(t, in, s, sc)
	last := blocks[len(blocks)-1]
	if b, ok := last.(content.Image); ok {
		b.Name, b.Origin = "", content.Origin{}
		return b
	}
	if b, ok := last.(content.ResourceText); ok {
		b.Name, b.Origin, b.URI = "", content.Origin{}, ""
		return b
	}
	return last
}

func TestLimitsBeforeDecoding(t *testing.T) {
	dir := realDir(t)
	in := ingest.New(newMemory(), ingest.Options{Limit: 1_234_567})
	big := bytes.Repeat([]byte{0x89}, 2_000_000)
	write(t, dir, "big.bin", big)
	wrapped := bytes.ReplaceAll([]byte(base64.StdEncoding.EncodeToString(big)), []byte("iYmJ"), []byte("iYmJ\n"))
	for how, s := range map[string]content.Source{
		"path":     flag(content.Path{Path: "big.bin"}),
		"bytes":    flag(content.Bytes{Data: big}),
		"base64":   acp(b64(big), content.KindImage, "image/png"),
		"wrapped":  acp(content.Base64{Data: wrapped}, content.KindImage, "image/png"),
		"data":     flag(content.DataURI{URI: "data:image/png;base64," + base64.StdEncoding.EncodeToString(big)}),
		"percent":  flag(content.DataURI{URI: "data:image/png," + strings.Repeat("%89", len(big))}),
		"embedded": acp(content.EmbeddedText{Text: strings.Repeat("a", len(big))}, content.KindResourceText, ""),
	} {
		a := attachment(t, takeOne(t, in, s, ingest.Scope{Cwd: dir}))
		if a.Fault != content.FaultTooLarge || a.Detail != "2.0 MB, limit 1.2 MB" {
			t.Errorf("%s: %s, %q", how, a.Fault, a.Detail)
		}
	}
	exact := bytes.Repeat([]byte{0x89}, 1_234_567)
	if a := attachment(t, takeOne(t, in, acp(b64(exact), 0, ""), ingest.Scope{})); a.Fault != content.FaultNone {
		t.Errorf("exactly the limit: %s, %s", a.Fault, a.Detail)
	}
}

// A store that cannot be written is the one thing that is an error, and it says
// which file was lost.
func TestStoreFailureNamesTheFile(t *testing.T) {
	dir, full := realDir(t), errors.New("no space left on device")
	blobs := newMemory()
	blobs.full = full
	in := ingest.New(blobs, ingest.Options{})
	p := write(t, dir, "shot.png", picture())
	for _, s := range []content.Source{
		flag(content.Path{Path: p}),
		{Payload: b64(picture()), Inlet: content.InletACP, Chooser: content.ChosenByUser, Name: "shot.png"},
		acp(content.Link{URI: fileURI(p)}, content.KindResourceLink, ""),
		acp(content.EmbeddedText{URI: "file:///x/shot.png", Text: "a"}, content.KindResourceText, ""),
	} {
		_, _, err := in.Ingest(t.Context(), s, ingest.Scope{Roots: []string{dir}})
		if !errors.Is(err, full) || !strings.Contains(err.Error(), "shot.png") {
			t.Errorf("%T: %v", s.Payload, err)
		}
	}
	if _, _, err := in.Ingest(t.Context(), flag(content.Prose{Text: "hi"}), ingest.Scope{}); err != nil {
		t.Errorf("prose needs no store: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in := ingest.New(newMemory(), ingest.Options{})
	if _, _, err := in.Ingest(ctx, flag(content.Bytes{Data: picture()}), ingest.Scope{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestBroken(t *testing.T) {
	blobs := newMemory()
	in := ingest.New(blobs, ingest.Options{})
	raw := []byte(`{"type":"x","data":7}`)
	for as, want := range map[content.Kind]content.Kind{
		content.KindImage: content.KindImage, content.KindAudio: content.KindAudio, content.KindDocument: content.KindDocument,
		content.KindResourceText: content.KindResourceText, content.KindResourceLink: content.KindResourceLink,
		content.KindText: content.KindOpaque, content.KindOpaque: content.KindOpaque, 0: content.KindDocument,
	} {
		s := acp(content.Broken{Why: "data is a number"}, as, "")
		s.Client = content.ClientBlock{Raw: raw}
		blocks, envs := take(t, in, s, ingest.Scope{})
		if got := blocks[0].Kind(); got != want {
			t.Errorf("%s became %s, want %s", as, got, want)
		}
		back, err := ingest.Restore(envs[0], blobs)
		if err != nil || !bytes.Equal(back, raw) {
			t.Errorf("%s: restored %q, %v", as, back, err)
		}
		switch b := blocks[0].(type) {
		case content.ResourceLink:
			if b.Fault != content.FaultBadPayload || b.Detail != "data is a number" {
				t.Errorf("link: %+v", b)
			}
		case content.Opaque:
			if got := blobs.get(t, b.Raw); !bytes.Equal(got, raw) {
				t.Errorf("opaque holds %q", got)
			}
		case content.Text, content.Image, content.Audio, content.Document, content.ResourceText:
			if a := attachment(t, b); a.Fault != content.FaultBadPayload || a.Detail != "data is a number" {
				t.Errorf("%s: %+v", as, a)
			}
		}
	}
	none := takeOne(t, in, content.Source{}, ingest.Scope{})
	if a := attachment(t, none); a.Fault != content.FaultBadPayload {
		t.Errorf("no payload: %+v", a)
	}
}

func TestOpaqueIsVerbatim(t *testing.T) {
	blobs := newMemory()
	in := ingest.New(blobs, ingest.Options{})
	raw := []byte(`{ "type":"hologram", "data":"AAAA" }`)
	s := acp(content.Unknown{Type: "hologram", Raw: raw}, content.KindOpaque, "")
	s.Client = content.ClientBlock{Raw: raw}
	blocks, envs := take(t, in, s, ingest.Scope{})
	b, ok := blocks[0].(content.Opaque)
	if !ok || b.Type != "hologram" || !bytes.Equal(blobs.get(t, b.Raw), raw) {
		t.Errorf("got %+v", blocks[0])
	}
	if e := envs[0]; e.Spelling != content.SpellingStored || e.Payload != b.Raw.Digest {
		t.Errorf("envelope %+v", e)
	}
}

func TestCrop(t *testing.T) {
	blobs := newMemory()
	in := ingest.New(blobs, ingest.Options{})
	whole := takeOne(t, in, flag(content.Bytes{Data: imagingtest.PNG(imagingtest.Corners(3000, 2000))}), ingest.Scope{}).(content.Image)
	if !whole.Changes.Has(content.ChangeShrunk) || whole.Detail != "shrunk from 3000x2000 to 2000x1333" {
		t.Errorf("prepared: %q, %q", whole.Changes, whole.Detail)
	}
	sc := ingest.Scope{Lookup: func(h content.Handle) (content.Block, bool) {
		switch h {
		case "image-1.png":
			return whole, true
		case "text-1":
			return content.Text{Body: "x"}, true
		case "image-2.png":
			gone := whole
			gone.Original.Digest[0]++
			return gone, true
		}
		return nil, false
	}}
	crop := func(h content.Handle, x, y, w, ht int) content.Image {
		t.Helper()
		s := content.Source{Payload: content.Crop{Handle: h, X: x, Y: y, W: w, H: ht}, Inlet: content.InletTool, Chooser: content.ChosenByModel}
		return shown(t, in, s, sc)
	}
	got := crop("image-1.png", 1400, 900, 200, 100)
	if got.Name != "image-1.png crop 1400,900,200,100" || got.Original.Width != 200 || got.Original.Height != 100 || got.Original != got.Prepared {
		t.Errorf("crop: %+v", got)
	}
	img, _, err := image.Decode(bytes.NewReader(blobs.get(t, got.Prepared)))
	if err != nil {
		t.Fatal(err)
	}
	red := color.NRGBAModel.Convert(img.At(2, 2)).(color.NRGBA)
	if red.R < 200 || red.G > 60 || red.B > 60 {
		t.Errorf("top left of the crop is %v", red)
	}
	for h, want := range map[content.Handle]content.Fault{
		"image-9.png": content.FaultNotFound, "text-1": content.FaultBadPayload, "image-2.png": content.FaultMissing,
	} {
		if got := crop(h, 0, 0, 1, 1); got.Fault != want {
			t.Errorf("%s: %s, want %s", h, got.Fault, want)
		}
	}
	if got := crop("image-1.png", 2999, 0, 2, 1); got.Fault != content.FaultBadPayload || got.Detail == "" {
		t.Errorf("region outside: %s, %q", got.Fault, got.Detail)
	}
	sc = ingest.Scope{}
	if got := crop("image-1.png", 0, 0, 1, 1); got.Fault != content.FaultNotFound {
		t.Errorf("no session: %s", got.Fault)
	}
}

// discard is a store for benchmarks: it keeps nothing.
type discard struct{}

func (discard) PutBytes(context.Context, []byte) (content.Digest, error) {
	return content.Digest{1}, nil
}

func (discard) Check(content.Digest) error { return errors.New("kept nothing") }

func (discard) ReadAll(content.Digest, int64) ([]byte, error) { return nil, errors.New("kept nothing") }

// The real store keeps what the memory of these tests keeps.
func TestRealStore(t *testing.T) {
	blobs, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() }) // nothing is written after the test
	data := imagingtest.Screenshot(1600, 900, 3)
	enc := base64.StdEncoding.EncodeToString(data)
	s := acp(content.Base64{Data: []byte(enc)}, content.KindImage, "image/png")
	s.Client = client("1", enc)
	raw := bytes.Clone(s.Client.Raw)
	blocks, envs := take(t, ingest.New(blobs, ingest.Options{}), s, ingest.Scope{})
	for _, b := range content.Blobs(blocks[0]) {
		if size, err := blobs.Size(b.Digest); err != nil || size != b.Size {
			t.Errorf("%+v: %d bytes, %v", b, size, err)
		}
	}
	if back, err := ingest.Restore(envs[0], blobs); err != nil || !bytes.Equal(back, raw) {
		t.Errorf("restored %d bytes of %d, %v", len(back), len(raw), err)
	}
}
