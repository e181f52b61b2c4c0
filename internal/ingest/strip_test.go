package ingest_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/imaging/imagingtest"
	"tote/internal/ingest"
)

// TestStripMetadata takes in pictures with a place in them, with and without
// the option; the original keeps what it holds either way.
func TestStripMetadata(t *testing.T) {
	photo := imagingtest.Photo(40, 20)
	webp, err := os.ReadFile("../imaging/testdata/lossy.webp")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]struct {
		data   []byte
		passes bool // as it is
		detail string
	}{
		"jpeg":       {imagingtest.JPEGWithMetadata(photo, 1), true, "metadata removed"},
		"png":        {imagingtest.PNGWithMetadata(photo, 1), true, "metadata removed"},
		"webp":       {imagingtest.WebPWithMetadata(webp, 40, 20, 1), true, "metadata removed"},
		"clean":      {imagingtest.PNG(photo), true, ""},
		"turned":     {imagingtest.JPEGWithMetadata(photo, 6), false, "turned upright"},
		"gif":        {imagingtest.InsertGIF(imagingtest.AnimatedGIF(), imagingtest.GIFExtension(0xfe, imagingtest.Secret)), false, "image/gif made image/png, frame 1 of 2"},
		"large jpeg": {imagingtest.JPEGWithMetadata(imagingtest.Corners(2400, 40), 1), false, "shrunk from 2400x40 to 2000x33"},
	}
	for name, f := range files {
		for _, on := range []bool{false, true} {
			blobs := newMemory()
			in := ingest.New(blobs, ingest.Options{StripMetadata: on})
			img := takeOne(t, in, flag(content.Bytes{Data: f.data}), ingest.Scope{}).(content.Image)
			if !bytes.Equal(blobs.get(t, img.Original), f.data) {
				t.Errorf("%s, %v: the original was changed", name, on)
			}
			held := bytes.Contains(blobs.get(t, img.Prepared), []byte(imagingtest.Secret))
			if want := !on && f.passes && name != "clean"; held != want {
				t.Errorf("%s, %v: metadata held %v, want %v", name, on, held, want)
			}
			detail := f.detail
			if f.passes && !on {
				detail = ""
			}
			if img.Detail != detail || f.passes && img.Changes != 0 {
				t.Errorf("%s, %v: detail %q, changes %v", name, on, img.Detail, img.Changes)
			}
			if same := img.Prepared.Digest == img.Original.Digest; same != (f.passes && detail == "") {
				t.Errorf("%s, %v: prepared is original: %v", name, on, same)
			}
			if p := img.Prepared; f.passes && (p.MIME != img.Original.MIME || p.Width != 40 || p.Height != 20) {
				t.Errorf("%s, %v: prepared %+v", name, on, p)
			}
			again := takeOne(t, in, flag(content.Bytes{Data: f.data}), ingest.Scope{})
			if diff := cmp.Diff(content.Block(img), again); diff != "" {
				t.Errorf("%s, %v: the second time:\n%s", name, on, diff)
			}
		}
	}
}

// A crop of all of a picture is the picture itself; it is stripped as well.
func TestStripMetadataOfWholeCrop(t *testing.T) {
	blobs := newMemory()
	in := ingest.New(blobs, ingest.Options{StripMetadata: true})
	img := takeOne(t, in, flag(content.Bytes{Data: imagingtest.JPEGWithMetadata(imagingtest.Photo(40, 20), 1)}), ingest.Scope{})
	s := content.Source{Payload: content.Crop{Handle: "img-1", W: 40, H: 20}, Inlet: content.InletTool, Chooser: content.ChosenByModel}
	sc := ingest.Scope{Lookup: func(content.Handle) (content.Block, bool) { return img, true }}
	got := shown(t, in, s, sc)
	if got.Detail != "metadata removed" || bytes.Contains(blobs.get(t, got.Prepared), []byte(imagingtest.Secret)) {
		t.Errorf("detail %q, %d bytes", got.Detail, got.Prepared.Size)
	}
}
