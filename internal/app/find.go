package app

import (
	"os"

	"tote/internal/ingest"
)

// Find reports whether the user's spelling of a path names a file. It reads
// nothing of it.
func Find(cwd, name string) bool {
	home, _ := os.UserHomeDir() // without one, "~" names nothing
	_, ok := ingest.New(nil, ingest.Options{Home: home}).Find(name, ingest.Scope{Cwd: cwd})
	return ok
}
