package shell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// landlockABI asks the kernel which version of Landlock it has.
func landlockABI() (int, error) {
	abi, err := ll.LandlockGetABIVersion()
	switch {
	case errors.Is(err, syscall.ENOSYS):
		return 0, errors.New("this kernel has no Landlock")
	case errors.Is(err, syscall.EOPNOTSUPP):
		return 0, errors.New("this kernel has Landlock switched off")
	case err != nil:
		return 0, fmt.Errorf("ask the kernel for Landlock: %w", err)
	case abi < 1:
		return 0, errors.New("this kernel has no Landlock")
	}
	return abi, nil
}

const (
	readFile = landlock.AccessFSSet(ll.AccessFSExecute | ll.AccessFSReadFile)
	readDir  = landlock.AccessFSSet(ll.AccessFSReadDir)
)

// handled are the accesses to files that a version can forbid. Controlling
// devices is left alone.
func handled(abi int) landlock.AccessFSSet {
	set := landlock.AccessFSSet(ll.AccessFSRefer - 1)
	if abi >= 2 {
		set |= ll.AccessFSRefer
	}
	if abi >= 3 {
		set |= ll.AccessFSTruncate
	}
	return set
}

// lockIn gives up everything but what the cage allows, for this process and all
// that come of it. Names of files can be listed everywhere.
func lockIn(c cage) error {
	abi, err := landlockABI()
	if err != nil {
		return err
	}
	config := landlock.Config{HandledAccessFS: handled(abi)}
	if c.Offline {
		config.HandledAccessNet = ll.AccessNetBindTCP | ll.AccessNetConnectTCP
	}
	rules := []landlock.Rule{
		landlock.PathAccess(readDir, "/"),
		landlock.RWFiles("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx").IgnoreIfMissing(),
		landlock.RWDirs("/dev/pts", "/dev/shm").IgnoreIfMissing(),
	}
	for _, p := range readable(real(c.Hidden)) {
		info, err := os.Stat(p)
		switch {
		case err != nil:
			// A link to nowhere: there is nothing to read.
		case info.IsDir():
			rules = append(rules, landlock.PathAccess(readFile|readDir, p).IgnoreIfMissing())
		default:
			rules = append(rules, landlock.PathAccess(readFile, p).IgnoreIfMissing())
		}
	}
	for _, p := range c.Write {
		write := landlock.RWDirs(p)
		if abi >= 2 {
			write = write.WithRefer()
		}
		rules = append(rules, write.IgnoreIfMissing())
	}
	return config.Restrict(rules...)
}

// real follows links: what is not there stands for itself.
func real(paths []string) []string {
	var out []string
	for _, p := range paths {
		if r, err := filepath.EvalSymlinks(p); err == nil {
			p = r
		}
		out = append(out, filepath.Clean(p))
	}
	return out
}

// readable lists what may be read so that everything may but the hidden: a folder
// that holds something hidden is replaced by what else is in it.
func readable(hidden []string) []string {
	var out []string
	var walk func(dir string)
	walk = func(dir string) {
		if slices.ContainsFunc(hidden, func(h string) bool { return lies(h, dir) }) {
			return
		}
		holds := slices.ContainsFunc(hidden, func(h string) bool { return lies(dir, h) })
		if !holds {
			out = append(out, dir)
			return
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return // who may not list it does not read in it either
		}
		for _, e := range entries {
			if e.Type()&os.ModeSymlink == 0 {
				walk(filepath.Join(dir, e.Name()))
			}
		}
	}
	walk("/")
	return out
}

// lies reports whether path is dir or lies in it.
func lies(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// giveUp takes from root, for all that comes of this thread, what lets it read the
// environment of processes outside of the sandbox although Landlock forbids tracing
// them. Others have nothing to give up and may not ask for it.
func giveUp() error {
	for _, c := range []uintptr{unix.CAP_PERFMON, unix.CAP_SYS_ADMIN, unix.CAP_SYS_PTRACE} {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if err != nil && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EINVAL) { // EINVAL: an older kernel does not know it
			return err
		}
	}
	return nil
}

// become runs a program in the place of this one.
func become(argv []string) error {
	if !strings.HasPrefix(argv[0], "/") {
		return fmt.Errorf("start %s: its path is not absolute", argv[0])
	}
	// Capabilities belong to a thread, and it is this one that becomes the program.
	runtime.LockOSThread()
	if err := giveUp(); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	if err := syscall.Exec(argv[0], argv, os.Environ()); err != nil {
		return fmt.Errorf("start %s: %w", argv[0], err)
	}
	return nil
}
