//go:build !unix

package search

import "os"

const openFlags = os.O_RDONLY
