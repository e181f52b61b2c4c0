//go:build !unix

package tool

import "os"

const openFlags = os.O_RDONLY
