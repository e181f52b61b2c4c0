package config

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// Trust is the record of which project folders the user trusts, and at which
// fingerprint. Several processes may use one record at the same time.
type Trust struct {
	path string
	now  func() time.Time
}

// TrustFile returns the record in a home. It opens nothing.
func TrustFile(d Dirs, now func() time.Time) Trust {
	return Trust{path: filepath.Join(d.Config, "trust.json"), now: now}
}

// Trusted is one trusted folder.
type Trusted struct {
	Folder      string    `json:"folder"`
	Fingerprint string    `json:"fingerprint"`
	Added       time.Time `json:"added"`
}

// trustFormat is the content of the file.
type trustFormat struct {
	Version int       `json:"v"`
	Folders []Trusted `json:"folders"`
}

// lockRetry is the pause between tries for the lock, which is held for a few
// milliseconds.
const lockRetry = 5 * time.Millisecond

// Has reports whether the folder is trusted at exactly this fingerprint. An empty
// fingerprint never is.
func (t Trust) Has(folder, fingerprint string) (bool, error) {
	if fingerprint == "" {
		return false, nil
	}
	data, err := readFile(t.path)
	if err != nil {
		return false, err
	}
	return t.has(data, folder, fingerprint)
}

func (t Trust) has(f file, folder, fingerprint string) (bool, error) {
	if fingerprint == "" {
		return false, nil
	}
	return t.any(f, folder, func(e Trusted) bool { return e.Fingerprint == fingerprint })
}

// knows reports whether the folder is trusted at any fingerprint.
func (t Trust) knows(f file, folder string) (bool, error) {
	return t.any(f, folder, func(Trusted) bool { return true })
}

func (t Trust) any(f file, folder string, is func(Trusted) bool) (bool, error) {
	all, err := t.decode(f)
	if err != nil {
		return false, err
	}
	path, err := canonical(folder)
	if err != nil {
		return false, fmt.Errorf("look up trust of %s: %w", folder, err)
	}
	return slices.ContainsFunc(all, func(e Trusted) bool {
		return e.Folder == path && is(e)
	}), nil
}

// Add trusts a folder at a fingerprint, in place of an earlier one.
func (t Trust) Add(ctx context.Context, folder, fingerprint string) error {
	if fingerprint == "" {
		return fmt.Errorf("trust %s: it has no files to trust", folder)
	}
	path, err := canonical(folder)
	if err != nil {
		return fmt.Errorf("trust %s: %w", folder, err)
	}
	return t.change(ctx, func(all []Trusted) []Trusted {
		all = without(all, path)
		return append(all, Trusted{Folder: path, Fingerprint: fingerprint, Added: t.now().UTC()})
	})
}

// Remove takes the trust in a folder back. A folder that is gone can be removed
// by the name it was listed under.
func (t Trust) Remove(ctx context.Context, folder string) error {
	path, err := canonical(folder)
	if err != nil {
		path = filepath.Clean(folder)
	}
	return t.change(ctx, func(all []Trusted) []Trusted { return without(all, path) })
}

// List returns the trusted folders, sorted.
func (t Trust) List() ([]Trusted, error) {
	f, err := readFile(t.path)
	if err != nil {
		return nil, err
	}
	return t.decode(f)
}

func without(all []Trusted, folder string) []Trusted {
	return slices.DeleteFunc(all, func(e Trusted) bool { return e.Folder == folder })
}

func (t Trust) decode(f file) ([]Trusted, error) {
	if !f.exists {
		return nil, nil
	}
	var in trustFormat
	if err := json.Unmarshal(f.data, &in); err != nil {
		return nil, fmt.Errorf("read trust records %s: %w", t.path, err)
	}
	if in.Version != 1 {
		return nil, fmt.Errorf("read trust records %s: version %d is not known", t.path, in.Version)
	}
	return in.Folders, nil
}

// change rewrites the record under a lock of its own file, since the record's
// file is replaced.
func (t Trust) change(ctx context.Context, edit func([]Trusted) []Trusted) (err error) {
	if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
		return fmt.Errorf("write trust records: %w", err)
	}
	lock := flock.New(t.path+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		return fmt.Errorf("lock trust records %s: %w", t.path, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	all, err := t.List()
	if err != nil {
		return err
	}
	all = edit(all)
	slices.SortFunc(all, func(a, b Trusted) int { return cmp.Compare(a.Folder, b.Folder) })
	data, err := json.MarshalIndent(trustFormat{Version: 1, Folders: all}, "", "  ")
	if err != nil {
		return fmt.Errorf("write trust records: %w", err)
	}
	return replaceFile(t.path, append(data, '\n'))
}

// replaceFile writes a file beside the target and renames it, with mode 0600.
func replaceFile(path string, data []byte) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			// The first error counts; a file that stays behind has no effect.
			_ = tmp.Close()
			_ = os.Remove(tmp.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if _, err = tmp.Write(data); err != nil {
		return err
	}
	if err = tmp.Sync(); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// file is a file as it was read, or the fact that there is none.
type file struct {
	path   string
	exists bool
	info   fs.FileInfo
	data   []byte
}

// readFile reads a regular file of at most MaxFile bytes.
func readFile(path string) (file, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), isNotDir(err):
		return file{path: path}, nil
	case err != nil:
		return file{}, fmt.Errorf("read configuration: %w", err)
	case !info.Mode().IsRegular():
		return file{}, fmt.Errorf("read configuration %s: it is not a regular file", path)
	case info.Size() > MaxFile:
		return file{}, fmt.Errorf("read configuration %s: it is larger than %d bytes", path, MaxFile)
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return file{path: path}, nil
	}
	if err != nil {
		return file{}, fmt.Errorf("read configuration: %w", err)
	}
	return file{path: path, exists: true, info: info, data: data}, nil
}
