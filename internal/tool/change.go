package tool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tote/internal/permission"
)

// maxChangeBytes is the largest file that is read to be changed or compared.
const maxChangeBytes = 16 << 20

var (
	errUnread = errors.New("it is there already and you have not read it in this session; read it first")
	errStale  = errors.New("it has changed since you last saw it; read it again")
	errNoFile = errors.New("there is no such file")
	errLink   = errors.New("it is a link that leads outside the folders that you may change, or to nothing; name the file itself")
)

// target is a file that a tool is about to change. It is opened under a root, so
// that nothing that is put in its way meanwhile leads out.
type target struct {
	root *os.Root
	// rel is the file under root, without links on the way; abs the same as a
	// full path.
	rel, abs string
	// place is the file as it was found by name.
	place Place
	spot  Spot
	// denied: the user's rules keep the file from being read, so that nothing of
	// it may be shown.
	denied bool
	// info is nil where there is no such file yet.
	info fs.FileInfo
	// old is what it holds, read where it is not larger than maxChangeBytes.
	old  []byte
	read bool
}

// openTarget finds the file that a model wants to change, and reads it.
//
// Outside the roots the folder itself is opened, so a link that is put in the way
// of the file later does not lead out of it.
func openTarget(path string, env Env) (*target, error) {
	if strings.HasSuffix(path, "/") || strings.HasSuffix(path, string(filepath.Separator)) {
		return nil, errors.New("it names a folder; name the file")
	}
	p, err := Find(path, env)
	if err != nil {
		return nil, err
	}
	spot, err := p.Settle(env)
	switch {
	case err != nil && spot.Linked && errors.Is(err, ErrOutside):
		return nil, errLink
	case err != nil:
		return nil, err
	case spot.Pseudo():
		return nil, errPseudo
	}
	t := &target{abs: spot.real, rel: spot.Rel, place: p, spot: spot, denied: spot.Denied(env)}
	if t.root, err = os.OpenRoot(spot.Dir); err != nil {
		return nil, plain(err)
	}
	err = spot.Check()
	if err == nil {
		err = t.load()
	}
	if err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// load looks at the file and reads it, if it is there.
func (t *target) load() error {
	info, err := t.root.Lstat(t.rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return plain(err)
	case info.IsDir():
		return errors.New("it is a folder")
	case info.Mode()&fs.ModeSymlink != 0:
		return errLink // links were followed: it leads to nothing
	case !info.Mode().IsRegular():
		return errOdd
	case info.Mode().Perm()&0o200 == 0:
		return errors.New("it is read-only")
	}
	t.info = info
	f, err := t.root.OpenFile(t.rel, openFlags, 0)
	if err != nil {
		return plain(err)
	}
	defer func() { _ = f.Close() }() // opened for reading: nothing to lose
	if t.info, err = f.Stat(); err != nil {
		return plain(err)
	}
	if t.info.Size() > maxChangeBytes {
		return nil
	}
	t.old, err = io.ReadAll(io.LimitReader(f, maxChangeBytes+1))
	t.read = len(t.old) <= maxChangeBytes
	return plain(err)
}

// awaitTarget is openTarget for a call that may be stopped.
func awaitTarget(ctx context.Context, path string, env Env) (*target, error) {
	return Await(ctx, func() (*target, error) { return openTarget(path, env) }, (*target).close)
}

func (t *target) close() { _ = t.root.Close() } // nothing is written through it

// known reports whether the file is as the model last saw it.
func (t *target) known(env Env) error {
	if t.info == nil {
		return nil
	}
	seen, ok := env.Files.Seen(t.abs)
	switch {
	case !ok:
		return errUnread
	case t.read && seen.Sum != [sha256.Size]byte{}:
		if sha256.Sum256(t.old) != seen.Sum {
			return errStale
		}
	case seen.Size != t.info.Size() || !seen.ModTime.Equal(t.info.ModTime()):
		return errStale
	}
	return nil
}

// newFile is the mode of a file that was not there, before the umask.
const newFile, newFolder = 0o644, 0o755

// replace writes data in the place of the file, all of it or nothing: into a new
// file in the same folder, which then takes its name. The mode stays.
//
// The file is compared with what was read from it right before that. Somebody who
// changes it between the comparison and the renaming, within microseconds, loses
// that change; no file system offers both in one step.
func (t *target) replace(ctx context.Context, data []byte, env Env) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if env.Keep != nil {
		if err := env.Keep(ctx, t.abs); err != nil {
			return fmt.Errorf("keep it as it was: %w", err)
		}
	}
	if env.Expect != nil {
		if err := env.Expect(ctx, t.abs, sha256.Sum256(data)); err != nil {
			return fmt.Errorf("note what will be written: %w", err)
		}
	}
	if err := t.spot.Check(); err != nil {
		return err
	}
	made, err := t.folders()
	if err == nil {
		err = t.put(data)
	}
	if err != nil {
		for _, dir := range made {
			_ = t.root.Remove(dir) // one that somebody has used meanwhile stays
		}
		return err
	}
	stamp := Stamp{Sum: sha256.Sum256(data), Size: int64(len(data))}
	if info, err := t.root.Lstat(t.rel); err == nil {
		stamp.ModTime = info.ModTime()
	}
	env.Files.Saw(t.abs, stamp)
	return nil
}

// folders makes the folders that the file needs, and returns those that were not
// there, the deepest one first.
func (t *target) folders() (made []string, err error) {
	if t.info != nil {
		return nil, nil
	}
	var need []string
	for dir := filepath.Dir(t.rel); dir != "."; dir = filepath.Dir(dir) {
		if _, err := t.root.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		need = append(need, dir)
	}
	for _, dir := range slices.Backward(need) {
		switch err := t.root.Mkdir(dir, newFolder); {
		case err == nil:
			made = append([]string{dir}, made...)
		case !errors.Is(err, fs.ErrExist):
			return made, plain(err)
		}
	}
	return made, nil
}

// put writes data beside the file and gives it the file's name.
func (t *target) put(data []byte) error {
	temp, err := t.write(data)
	if err != nil {
		return plain(err)
	}
	err = t.same()
	if err == nil {
		err = plain(t.root.Rename(temp, t.rel))
	}
	if err != nil {
		return errors.Join(err, t.root.Remove(temp))
	}
	return nil
}

// maxTemps bounds how many temporary files may lie about from writes that were
// cut off.
const maxTemps = 100

// write writes data to a new file beside the target and returns its name.
func (t *target) write(data []byte) (temp string, err error) {
	mode := fs.FileMode(newFile)
	if t.info != nil {
		mode = t.info.Mode().Perm()
	}
	var f *os.File
	for n := range maxTemps {
		temp = filepath.Join(filepath.Dir(t.rel), ".tote-"+strconv.Itoa(n)+".tmp")
		f, err = t.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil && t.info != nil {
		err = f.Chmod(mode) // the umask does not apply to a mode that is kept
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, t.root.Remove(temp))
	}
	return temp, nil
}

// same reports whether the file is still what was read.
func (t *target) same() error {
	now, err := t.root.Lstat(t.rel)
	switch {
	case errors.Is(err, fs.ErrNotExist) && t.info == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist) || err == nil && t.info == nil:
		return errStale
	case err != nil:
		return plain(err)
	case !os.SameFile(now, t.info) || now.Size() != t.info.Size() || !now.ModTime().Equal(t.info.ModTime()):
		return errStale
	}
	return nil
}

// changed is what changing a file needs permission for.
func changed(tool, path string, env Env) (permission.Request, error) {
	p, err := Find(path, env)
	if err != nil {
		return permission.Request{}, fmt.Errorf("%s %s: %w", tool, path, err)
	}
	return p.Request(tool, permission.Write), nil
}

// check looks at a file that is about to be changed, before the user is asked. Of one
// outside the roots it tells only where the model has seen it before.
func check(ctx context.Context, path string, r permission.Request, env Env, fits func(*target, Env) error) error {
	if remote(path) {
		return nil
	}
	if _, seen := env.Files.Seen(filepath.FromSlash(r.Path)); !seen && !r.Inside {
		return nil
	}
	env.Permitted, env.Judged = true, r.Path
	t, err := awaitTarget(ctx, path, env)
	if err != nil {
		return err
	}
	defer t.close()
	return fits(t, env)
}

// asked is what a preview may see: the user is being asked about that very file,
// and nobody else sees it.
func asked(env Env, request func() (permission.Request, string, error)) Env {
	env.Permitted = true
	if r, _, err := request(); err == nil {
		env.Judged = r.Path
	}
	return env
}

// noDiff is shown to nobody but for a file whose old text the rules keep hidden.
const noDiff = "[no difference shown: the user's rules deny reading the file]\n"

// lines counts the lines of a text; a last line without an end counts.
func lines(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// extent says how much a text is.
func extent(data []byte) string {
	return plural(lines(data), "line") + ", " + plural(len(data), "byte")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
