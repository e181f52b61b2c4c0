package acp_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"tote/internal/imaging/imagingtest"
)

var rewrite = flag.Bool("update", false, "write the pictures of the end-to-end test again")

// TestEndToEndPicture holds that the picture of the end-to-end test is the one
// that imagingtest makes: 60x40 as stored, to be turned by a quarter.
func TestEndToEndPicture(t *testing.T) {
	name := filepath.Join("..", "..", "..", "e2e", "acp", "testdata", "orientation6.jpg")
	picture := imagingtest.JPEG(imagingtest.Corners(60, 40), 6)
	if *rewrite {
		if err := os.WriteFile(name, picture, 0o644); err != nil { //nolint:gosec // a file of the repository
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, picture) {
		t.Errorf("%s differs; run this test with -update", name)
	}
}
