//go:build !unix

package checkpoint

import (
	"errors"
	"os"
	"syscall"
)

// openFlags know no way to refuse links here: the file is compared with what was
// found before.
const openFlags = os.O_RDONLY

// syncFolder does nothing: Windows cannot sync a folder, and NTFS journals names.
func syncFolder(*os.Root) error { return nil }

// diskFull knows Windows' own word for a full disk, ERROR_DISK_FULL.
func diskFull(err error) bool { return errors.Is(err, syscall.Errno(0x70)) }

// makeReplaceable takes the read-only mark away, which would stop a rename.
func makeReplaceable(root *os.Root, name string, info os.FileInfo) error {
	if info == nil || info.Mode()&0o200 != 0 {
		return nil
	}
	return root.Chmod(name, info.Mode().Perm()|0o200)
}
