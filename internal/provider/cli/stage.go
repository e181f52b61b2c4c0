package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"tote/internal/provider"
)

// The names below the scratch folder. The gate is held while a folder is made or
// swept, so that no folder is ever seen without its lock.
const (
	stagingName = "runners"
	gateName    = ".gate"
	lockName    = "lock"
	filesName   = "files"
	promptName  = "prompt.txt"
)

// gateDelay is how long to wait before the gate is tried again.
const gateDelay = 10 * time.Millisecond

// folderName is what [Options.NewID] may make. Sweep touches nothing else.
var folderName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9-]{8,64}$`) })

// staging is the folder of one process. The zero value is none.
type staging struct {
	dir  string
	lock *flock.Flock
}

// stage puts the files of a job into a folder of their own. The caller removes
// it, also after an error.
func (r *Runner) stage(ctx context.Context, j *job) (staging, error) {
	if len(j.files) == 0 && !r.takes("{prompt_file}") {
		return staging{}, nil
	}
	st, err := newStaging(ctx, r.o.Scratch, r.o.NewID())
	if err != nil {
		return st, fmt.Errorf("make a folder for attachments: %w", err)
	}
	for _, f := range j.files {
		if err := ctx.Err(); err != nil {
			return st, err
		}
		if err := st.add(f, j.blobs); err != nil {
			return st, fmt.Errorf("stage blob %s: %w", f.blob.Digest.Short(), err)
		}
	}
	if r.takes("{prompt_file}") {
		if err := os.WriteFile(st.promptFile(), []byte(j.prompt(r.spec, st.path)), 0o600); err != nil {
			return st, fmt.Errorf("stage the prompt: %w", err)
		}
	}
	return st, nil
}

func newStaging(ctx context.Context, scratch, id string) (st staging, err error) {
	if !folderName().MatchString(id) {
		return st, errors.New("its name is not fit for a folder")
	}
	root := filepath.Join(scratch, stagingName)
	if err := os.MkdirAll(root, 0o700); err != nil {
		return st, err
	}
	gate := flock.New(filepath.Join(root, gateName), flock.SetPermissions(0o600))
	if _, err := gate.TryLockContext(ctx, gateDelay); err != nil {
		return st, fmt.Errorf("wait for a sweep: %w", err)
	}
	defer func() { err = errors.Join(err, gate.Close()) }()
	dir := filepath.Join(root, id)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return st, err
	}
	st.dir = dir
	st.lock = flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600))
	if ok, err := st.lock.TryLock(); err != nil || !ok {
		return st, errors.Join(errors.New("lock it"), err)
	}
	return st, os.Mkdir(st.folder(), 0o700)
}

// folder is where the files lie, "" for none.
func (st staging) folder() string {
	if st.dir == "" {
		return ""
	}
	return filepath.Join(st.dir, filesName)
}

func (st staging) path(name string) string { return filepath.Join(st.folder(), name) }

func (st staging) promptFile() string { return filepath.Join(st.dir, promptName) }

// add copies a blob to a new file.
func (st staging) add(f file, blobs provider.Blobs) (err error) {
	if blobs == nil {
		return errors.New("no store to read from")
	}
	src, err := blobs.Open(f.blob.Digest)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }() // it was only read
	dst, err := os.OpenFile(st.path(f.name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	n, err := io.Copy(dst, src)
	if err == nil && n != f.blob.Size {
		err = fmt.Errorf("it has %d of %d bytes", n, f.blob.Size)
	}
	return err
}

// remove takes the folder away: what is in it under the lock, then the lock.
func (st staging) remove() error {
	if st.dir == "" {
		return nil
	}
	err := os.RemoveAll(st.folder())
	if st.lock != nil {
		err = errors.Join(err, st.lock.Close())
	}
	return errors.Join(err, os.RemoveAll(st.dir))
}

// Sweep removes what runners left below scratch whose processes are gone: the
// folders whose lock nobody holds. It returns how many there were. It is called
// when the program starts.
func Sweep(scratch string) (n int, err error) {
	root := filepath.Join(scratch, stagingName)
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("sweep the folders of runners: %w", err)
	}
	gate := flock.New(filepath.Join(root, gateName), flock.SetPermissions(0o600))
	if err := gate.Lock(); err != nil {
		return 0, fmt.Errorf("sweep the folders of runners: %w", err)
	}
	defer func() { err = errors.Join(err, gate.Close()) }()
	var errs []error
	for _, e := range entries {
		if !e.IsDir() || !folderName().MatchString(e.Name()) {
			continue
		}
		removed, err := sweepOne(filepath.Join(root, e.Name()))
		if err != nil {
			errs = append(errs, fmt.Errorf("sweep the folder %s: %w", e.Name(), err))
		}
		if removed {
			n++
		}
	}
	return n, errors.Join(errs...)
}

// sweepOne removes a folder unless its process is there, or it is gone already.
func sweepOne(dir string) (bool, error) {
	if _, err := os.Stat(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil // its turn ended while the gate was waited for
		}
		return false, err
	}
	lock := flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil || !ok {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return false, err
	}
	if err := (staging{dir: dir, lock: lock}).remove(); err != nil {
		return false, err
	}
	return true, nil
}
