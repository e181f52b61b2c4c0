package app

import (
	"os"

	"tote/internal/ingest"
)

// Find returns the path of the file that the user's spelling names. It reads
// nothing of it.
func Find(cwd, name string) (string, bool) {
	home, _ := os.UserHomeDir() // without one, "~" names nothing
	return ingest.New(nil, ingest.Options{Home: home}).Find(name, ingest.Scope{Cwd: cwd})
}
