package checkpoint

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"tote/internal/content"
)

// errMoved says that what lies at a path was replaced while it was looked at.
var errMoved = errors.New("something else was put in its place meanwhile")

// ErrNotRegular is wrapped by errors about what is not a regular file.
var ErrNotRegular = errors.New("only regular files are kept")

// state is what lies at a place. The zero state is no file.
type state struct {
	digest content.Digest
	size   int64
	mode   fs.FileMode
	info   os.FileInfo
}

// modeOf is what is kept of a mode: all that chmod can set.
func modeOf(info os.FileInfo) fs.FileMode {
	return info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
}

// resolve follows all links of an absolute path, as far as it exists. A link to
// nothing is an error: it is not known what a write through it would make.
func resolve(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", errors.New("the path is not absolute")
	}
	path = filepath.Clean(path)
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "", fmt.Errorf("%s is a link to nothing: %w", path, ErrNotRegular)
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path, nil
	}
	if dir, err = resolve(dir); err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// kindOf names what is not a regular file.
func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeSymlink != 0:
		return "a link"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "no regular file"
}

// openFile opens the regular file at a place behind all links; f is nil where
// there is none. It never follows a link, nor waits for the other end of a pipe.
func openFile(target string) (f *os.File, info os.FileInfo, err error) {
	found, err := os.Lstat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if !found.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("it is %s: %w", kindOf(found.Mode()), ErrNotRegular)
	}
	if f, err = os.OpenFile(target, openFlags, 0); err != nil {
		return nil, nil, err
	}
	info, err = f.Stat()
	if err == nil && (!info.Mode().IsRegular() || !os.SameFile(found, info)) {
		err = errMoved
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// look reads what lies at a place without keeping it.
func look(ctx context.Context, target string) (state, error) {
	f, info, err := openFile(target)
	if err != nil || f == nil {
		return state{}, err
	}
	defer func() { _ = f.Close() }() // read only
	s := state{mode: modeOf(info), info: info}
	h := sha256.New()
	if s.size, err = io.Copy(h, reader{ctx, f}); err != nil {
		return state{}, err
	}
	h.Sum(s.digest[:0])
	return s, nil
}

// reader ends a copy when its context does.
type reader struct {
	ctx context.Context //nolint:containedctx // lives for one copy only
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
