//go:build !unix

package ingest_test

import (
	"os"
	"path/filepath"
	"testing"
)

// special makes what is not a regular file and says what each is called.
func special(t *testing.T, dir string) map[string]string {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"sub": "a folder", ".": "a folder"}
}
