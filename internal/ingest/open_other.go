//go:build !unix

package ingest

import "os"

const openFlags = os.O_RDONLY

// notFolder is never told apart here: the system says "not found".
func notFolder(error) bool { return false }
