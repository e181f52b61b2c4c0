//go:build !unix

package tool

import "os"

const openFlags = os.O_RDONLY

func openPlain(path string) (*os.File, error) { return os.Open(path) }
