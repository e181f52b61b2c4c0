package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tote/internal/imaging/imagingtest"
)

func TestStoreCommand(t *testing.T) {
	r := newRig(t)
	r.write("a.png", imagingtest.PNG(imagingtest.Corners(60, 40)))
	id := r.tote("run", "--json", "-a", "a.png", "look").want(0).session()
	if out := r.tote("store", "stat").want(0); !strings.HasPrefix(out.stdout, "1 file,") {
		t.Errorf("stat: %s", out.stdout)
	}
	if out := r.tote("store", "verify").want(0); !strings.HasPrefix(out.stdout, "1 file is sound") {
		t.Errorf("verify: %s", out.stdout)
	}
	r.tote("sessions", "delete", id).want(0)
	blobs, err := filepath.Glob(filepath.Join(r.home, "data", "attachments", strings.Repeat("?", 64)))
	if err != nil || len(blobs) != 1 {
		t.Fatal(blobs, err)
	}
	if out := r.tote("store", "gc").want(0); !strings.HasPrefix(out.stdout, "0 removed") {
		t.Errorf("a file stored just now: %s", out.stdout)
	}
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(blobs[0], old, old); err != nil {
		t.Fatal(err)
	}
	r.tote("store", "gc", "--dry-run").want(0)
	if _, err := os.Stat(blobs[0]); err != nil {
		t.Errorf("a dry run removed it: %v", err)
	}
	r.tote("store", "gc").want(0)
	if _, err := os.Stat(blobs[0]); !os.IsNotExist(err) {
		t.Errorf("what no session names is still there: %v", err)
	}
	r.write("b.png", imagingtest.PNG(imagingtest.Corners(61, 40)))
	r.tote("run", "--json", "-a", "b.png", "look").want(0)
	blobs, err = filepath.Glob(filepath.Join(r.home, "data", "attachments", strings.Repeat("?", 64)))
	if err != nil || len(blobs) != 1 {
		t.Fatal(blobs, err)
	}
	if err := os.Chmod(blobs[0], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(blobs[0], []byte("not that"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := r.tote("store", "verify").want(1); !strings.Contains(out.stdout, "damaged: "+filepath.Base(blobs[0])) {
		t.Errorf("verify of a damaged file: %s", out.stdout)
	}
	r.tote("store", "polish").want(2)
}
