package config

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Project is what a working folder's repository brings along.
type Project struct {
	// Folder is what the user trusts: the one that holds .tote/config.json or, if
	// none does, .mcp.json or .tote; else the repository root. Symlinks are resolved.
	Folder string
	// Root is the repository root, or the working folder where there is none.
	Root string
	// ConfigFile and MCPFile are the paths in Folder, whether or not the files exist.
	ConfigFile, MCPFile string
	// Files are the files that carry powers and exist, relative to Folder, with
	// slashes, sorted. Trust covers these and no others, so hooks, skills
	// and commands are read from this list only. Find leaves it empty; Load fills it.
	Files []string
}

// ErrTooManyFiles says that a project brings more hooks, skills and commands than are read,
// so it cannot be trusted.
var ErrTooManyFiles = errors.New("too many or too large files with powers")

// Bounds on the hooks, skills and commands of a project.
const (
	maxPowerFiles   = 1000
	maxPowerBytes   = 8 << 20
	maxPowerEntries = 10_000 // files, folders and links seen
)

// powerDirs are the folders below a project whose files run or instruct: those of
// tote, and those that other programs read skills and commands from.
func powerDirs() []string {
	return []string{".tote/hooks", ".tote/skills", ".tote/commands", ".claude/skills", ".claude/commands", ".agents/skills"}
}

// sayPowers tells which skills and commands are among the files of a project.
func sayPowers(files []string) []string {
	var skills, commands []string
	for _, name := range files {
		dir, base := path.Split(name)
		switch {
		case base == "SKILL.md" && strings.Contains(dir, "/skills/"):
			skills = append(skills, clean(path.Base(dir)))
		case path.Ext(base) == ".md" && strings.Contains(dir, "/commands/"):
			_, below, _ := strings.Cut(strings.TrimSuffix(name, ".md"), "/commands/")
			commands = append(commands, "/"+clean(strings.ReplaceAll(below, "/", ":")))
		}
	}
	var out []string
	for _, list := range []struct {
		what  string
		names []string
	}{{"skills ", skills}, {"commands ", commands}} {
		slices.Sort(list.names)
		if names := slices.Compact(list.names); len(names) > 0 {
			out = append(out, printable(list.what+strings.Join(names, ", "), maxLine))
		}
	}
	return out
}

// Find looks for a project from a working folder up to the root of its repository.
// Outside a repository it looks at the working folder alone, since the folders
// above it may be anyone's.
func Find(cwd string) (Project, error) {
	abs, err := canonical(cwd)
	if err != nil {
		return Project{}, fmt.Errorf("look for a project from %s: %w", cwd, err)
	}
	root := repositoryRoot(abs)
	folder := nearestWith(abs, root, ".tote/config.json")
	if folder == "" {
		folder = nearestWith(abs, root, ".mcp.json", ".tote")
	}
	if folder == "" {
		folder = root
	}
	return Project{
		Folder:     folder,
		Root:       root,
		ConfigFile: filepath.Join(folder, ".tote", "config.json"),
		MCPFile:    filepath.Join(folder, ".mcp.json"),
	}, nil
}

// canonical makes a path absolute and resolves its symlinks.
func canonical(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// repositoryRoot is the nearest folder with a .git, which is a file in a worktree
// or submodule. Without one it is the folder itself.
func repositoryRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if exists(filepath.Join(at, ".git")) {
			return at
		}
		if filepath.Dir(at) == at {
			return dir
		}
	}
}

// nearestWith is the nearest folder from dir up to root that has one of the names.
func nearestWith(dir, root string, names ...string) string {
	for at := dir; ; at = filepath.Dir(at) {
		for _, name := range names {
			if exists(filepath.Join(at, filepath.FromSlash(name))) {
				return at
			}
		}
		if at == root || filepath.Dir(at) == at {
			return ""
		}
	}
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// fingerprint is a digest over the names and bytes of all files of the project
// that carry powers: the two configuration files, hooks, skills and commands. A file that
// is missing and an empty one differ. It is empty where there is no such file. The
// error wraps ErrTooManyFiles where they are too many to read.
func fingerprint(p Project, config, mcp file) (sum string, files []string, err error) {
	h := fingerprinter{hash: sha256.New()}
	h.hash.Write([]byte("tote project 1\n"))
	if config.exists {
		h.add(".tote/config.json", "file", config.data)
	}
	if mcp.exists {
		h.add(".mcp.json", "file", mcp.data)
	}
	if err := h.dirs(p.Folder); err != nil {
		return "", nil, fmt.Errorf("fingerprint %s: %w", p.Folder, err)
	}
	if h.entries == 0 {
		return "", nil, nil
	}
	slices.Sort(h.files)
	return "sha256:" + hex.EncodeToString(h.hash.Sum(nil)), h.files, nil
}

// fingerprinter hashes files, each part with its length before it.
type fingerprinter struct {
	hash    hash.Hash
	files   []string
	entries int
	bytes   int64
}

func (h *fingerprinter) add(name, kind string, data []byte) {
	h.entries++
	if kind == "file" {
		h.files = append(h.files, name)
	}
	for _, part := range [][]byte{[]byte(name), []byte(kind), data} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.hash.Write(size[:])
		h.hash.Write(part)
	}
}

// dirs walks the folders of hooks, skills and commands without leaving the project. The
// walk is in lexical order.
func (h *fingerprinter) dirs(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // opened for reading: nothing can be lost
	for _, dir := range powerDirs() {
		info, err := root.Stat(dir)
		if err != nil || !info.IsDir() {
			continue // absent, or not reachable within the project: nobody reads it
		}
		err = fs.WalkDir(root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return h.entry(root, name, d)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (h *fingerprinter) entry(root *os.Root, name string, d fs.DirEntry) error {
	if d.IsDir() {
		return h.count(0)
	}
	if d.Type()&fs.ModeSymlink != 0 {
		target, err := root.Readlink(name)
		if err != nil {
			return err
		}
		h.add(name, "link", []byte(target))
	}
	// A link that leaves the project, or leads to a folder, is no file of it.
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return h.count(0)
	}
	if err := h.count(info.Size()); err != nil {
		return err
	}
	data, err := root.ReadFile(name)
	if err != nil {
		return err
	}
	h.add(name, "file", data)
	return nil
}

// count fails where the bounds are passed. Folders count too: an empty tree can
// be as wide as a full one.
func (h *fingerprinter) count(size int64) error {
	h.bytes += size
	if h.entries++; h.entries > maxPowerEntries || len(h.files) >= maxPowerFiles || h.bytes > maxPowerBytes {
		return ErrTooManyFiles
	}
	return nil
}
