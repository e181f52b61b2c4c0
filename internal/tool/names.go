package tool

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// This file deals with names that mean another file than they spell: rules are about
// the names that files have.

// names is what is asked about the names in folders.
type names struct {
	// same reports whether two paths are one file.
	same func(a, b string) bool
	// list gives the names in a folder, as many as are looked at.
	list func(dir string) []string
}

// onDisk asks the file system.
func onDisk() names { return names{same: sameFile, list: listNames} }

func sameFile(a, b string) bool {
	x, err := os.Lstat(a)
	if err != nil {
		return false
	}
	y, err := os.Lstat(b)
	return err == nil && os.SameFile(x, y)
}

func listNames(dir string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()      // read only
	all, _ := f.Readdirnames(maxSiblings) // what was read counts
	return all
}

// spelled spells a path without links as the folders on it list their names. Some file
// systems take a name in any case, or in any form of Unicode: those of macOS and
// Windows, and what Linux mounts of them. On Windows, following links has done it.
func (n names) spelled(path string) string {
	if runtime.GOOS == "windows" {
		return path
	}
	at := string(filepath.Separator)
	for name := range strings.SplitSeq(strings.TrimPrefix(path, at), string(filepath.Separator)) {
		if name != "" {
			at = filepath.Join(at, n.listed(at, name))
		}
	}
	return at
}

// listed is the name that a folder lists for name; name itself where it lists that,
// or nothing like it.
func (n names) listed(dir, name string) string {
	other := otherwise(name)
	if other == name || !n.same(filepath.Join(dir, name), filepath.Join(dir, other)) {
		return name // the usual case: names are what they spell
	}
	found := name
	for _, e := range n.list(dir) {
		switch {
		case e == name:
			return name
		case strings.EqualFold(norm.NFC.String(e), norm.NFC.String(name)) && n.same(filepath.Join(dir, e), filepath.Join(dir, name)):
			found = e
		}
	}
	return found
}

// otherwise spells a name in another way that some file systems take for the same.
func otherwise(name string) string {
	swapped := strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, name)
	if swapped != name {
		return swapped
	}
	if d := norm.NFD.String(name); d != name {
		return d
	}
	return norm.NFC.String(name)
}

var errOddName = errors.New("it is no plain name of a file on this system: leave out what stands after a colon, blanks and dots at the end, and names of devices")

// oddOnWindows reports whether Windows takes a path for another file than it spells: a
// stream of a file, a name with blanks or dots at its end, a device, or a path that it
// does not look at.
func oddOnWindows(path string) bool {
	path = strings.ReplaceAll(path, "/", `\`)
	if strings.HasPrefix(path, `\\?\`) || strings.HasPrefix(path, `\\.\`) || strings.HasPrefix(path, `\??\`) {
		return true
	}
	if len(path) >= 2 && path[1] == ':' {
		path = path[2:]
	}
	for name := range strings.SplitSeq(path, `\`) {
		switch {
		case name == "" || name == "." || name == "..":
		case strings.ContainsAny(name, `:*?"<>|`), strings.HasSuffix(name, "."), strings.HasSuffix(name, " "):
			return true
		case isDevice(name):
			return true
		}
	}
	return false
}

// isDevice tells the names that are devices in every folder, also with an extension.
func isDevice(name string) bool {
	base, _, _ := strings.Cut(strings.ToUpper(name), ".")
	base = strings.TrimRight(base, " ")
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	port, ok := strings.CutPrefix(base, "COM")
	if !ok {
		port, ok = strings.CutPrefix(base, "LPT")
	}
	return ok && (len(port) == 1 && port[0] >= '0' && port[0] <= '9' || port == "¹" || port == "²" || port == "³")
}
