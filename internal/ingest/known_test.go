package ingest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/imaging/imagingtest"
	"tote/internal/ingest"
	"tote/internal/store"
)

// TestSamePictureIsPreparedOnce takes a picture in twice; the second block must
// equal the first, also after the prepared form was lost from the store.
func TestSamePictureIsPreparedOnce(t *testing.T) {
	st, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := ingest.New(st, ingest.Options{})
	for name, data := range map[string][]byte{
		"large":   imagingtest.Screenshot(2400, 1500, 3),
		"as is":   imagingtest.PNG(imagingtest.Corners(60, 40)),
		"damaged": imagingtest.Truncated(imagingtest.PNG(imagingtest.Corners(300, 200))),
	} {
		t.Run(name, func(t *testing.T) {
			take := func() content.Block {
				t.Helper()
				blocks, _, err := in.Ingest(t.Context(), content.Source{Payload: content.Bytes{Data: data}, Inlet: content.InletStdin, Chooser: content.ChosenByUser}, ingest.Scope{})
				if err != nil || len(blocks) != 1 {
					t.Fatal(blocks, err)
				}
				return blocks[0]
			}
			first := take()
			if diff := cmp.Diff(first, take()); diff != "" {
				t.Errorf("the second time (-first +second):\n%s", diff)
			}
			img, ok := first.(content.Image)
			if !ok || img.Prepared.IsZero() || img.Prepared.Digest == img.Original.Digest {
				return
			}
			if err := st.Remove(img.Prepared.Digest); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(first, take()); diff != "" {
				t.Errorf("after a loss (-first +third):\n%s", diff)
			}
			if err := st.Check(img.Prepared.Digest); err != nil {
				t.Errorf("the prepared form was not made again: %v", err)
			}
		})
	}
}
