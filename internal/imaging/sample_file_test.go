package imaging_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"tote/internal/imaging"
)

var update = flag.Bool("update", false, "write the generated files anew")

// TestSampleFile holds the picture that the README uses against the code that
// draws it.
func TestSampleFile(t *testing.T) {
	const file = "../../docs/sample.png"
	want, err := imaging.Sample()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what Sample draws (%v); run: go test ./internal/imaging -run TestSampleFile -update", file, err)
	}
}
