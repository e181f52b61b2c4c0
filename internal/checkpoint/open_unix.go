//go:build unix

package checkpoint

import (
	"os"
	"syscall"
)

// openFlags keep an open from following a link and from waiting for the other
// end of a named pipe.
const openFlags = os.O_RDONLY | syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// syncFolder makes a rename in the folder durable.
func syncFolder(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		_ = d.Close() // the first error is the one to tell
		return err
	}
	return d.Close()
}

// diskFull knows no further words for it here.
func diskFull(error) bool { return false }

// makeReplaceable has nothing to do: the mode of a file does not stop a rename.
func makeReplaceable(*os.Root, string, os.FileInfo) error { return nil }
