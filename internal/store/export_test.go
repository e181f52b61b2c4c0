package store

import (
	"errors"
	"os"
	"syscall"
)

// errFull is what a full disk says.
var errFull error = syscall.ENOSPC

// FillDisk makes every later write fail once a temporary file holds n bytes.
func FillDisk(s *Store, n int) {
	s.create = func(root *os.Root, name string) (tempFile, error) {
		f, err := createTemp(root, name)
		return &fullFile{tempFile: f, left: n}, err
	}
}

type fullFile struct {
	tempFile
	left int
}

func (f *fullFile) Write(p []byte) (int, error) {
	if len(p) <= f.left {
		f.left -= len(p)
		return f.tempFile.Write(p)
	}
	n, err := f.tempFile.Write(p[:f.left])
	f.left = 0
	return n, errors.Join(err, &os.PathError{Op: "write", Path: "attachments", Err: errFull})
}
