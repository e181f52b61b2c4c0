package ingest_test

import (
	"bytes"
	"image/png"
	"testing"

	"tote/internal/content"
	"tote/internal/imaging/imagingtest"
	"tote/internal/ingest"
)

// A PNG of which only the colour profile is damaged is taken in as a picture.
// What is prepared of it is another file, which a strict decoder takes and which
// holds no metadata, whether or not the user wants it removed.
func TestSpoiltProfileIsNoFault(t *testing.T) {
	plain := imagingtest.PNG(imagingtest.Photo(40, 20))
	data := imagingtest.InsertPNGChunk(imagingtest.PNGWithMetadata(imagingtest.Photo(40, 20), 1), "iCCP", []byte("ICC Profile\x00\x00x"))
	data[33+8+14] ^= 1 // in the body, so that the checksum is wrong
	if _, err := png.Decode(bytes.NewReader(data)); err == nil {
		t.Fatal("a strict decoder takes it as it is")
	}
	for _, on := range []bool{false, true} {
		blobs := newMemory()
		in := ingest.New(blobs, ingest.Options{StripMetadata: on})
		img := takeOne(t, in, flag(content.Bytes{Data: data}), ingest.Scope{}).(content.Image)
		if img.Fault != content.FaultNone || img.Changes != 0 || !bytes.Equal(blobs.get(t, img.Original), data) {
			t.Errorf("%v: fault %v %q, changes %v", on, img.Fault, img.Detail, img.Changes)
		}
		if img.Detail != "a damaged colour profile was left out" {
			t.Errorf("%v: detail %q", on, img.Detail)
		}
		if got := blobs.get(t, img.Prepared); !bytes.Equal(got, plain) {
			t.Errorf("%v: prepared is %d bytes, want %d", on, len(got), len(plain))
		}
	}
}
