package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// closed are the files of the home that no tool may touch and no command may name: the
// keys, what is trusted, and the record of all sessions.
func (a *App) closed() []string {
	names := []string{a.KeyFile(), filepath.Join(a.dirs.Config, "trust.json"), filepath.Join(a.dirs.Data, "history.db"), a.dirs.Data}
	var out []string
	for _, name := range names {
		out = append(out, filepath.ToSlash(name))
		// Tools speak of a file by the name that it has behind links.
		if dir, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
			out = append(out, filepath.ToSlash(filepath.Join(dir, filepath.Base(name))))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

const (
	// maxGlobEntries bounds the names of folders that one glob has looked at,
	// maxGlobNames those that it may stand for.
	maxGlobEntries = 20_000
	maxGlobNames   = 1_000
)

// globNames lists the files that the glob of a shell stands for. A star in front of a
// name stands for no dot. ok is false where it is not known: a folder cannot be read,
// there is too much, or the glob spells any depth.
func globNames(glob string) (names []string, ok bool) {
	if strings.Contains(glob, "**") || !filepath.IsAbs(filepath.FromSlash(glob)) {
		return nil, false
	}
	volume := filepath.VolumeName(filepath.FromSlash(glob))
	at, budget := []string{volume + string(filepath.Separator)}, maxGlobEntries
	for elem := range strings.SplitSeq(strings.Trim(glob[len(volume):], "/"), "/") {
		var next []string
		for _, dir := range at {
			if !strings.ContainsAny(elem, "*?[") {
				next = append(next, filepath.Join(dir, elem))
				continue
			}
			found, ok := globIn(dir, elem, &budget)
			if !ok {
				return nil, false
			}
			next = append(next, found...)
		}
		if len(next) > maxGlobNames {
			return nil, false
		}
		at = next
	}
	for _, name := range at {
		names = append(names, filepath.ToSlash(name))
	}
	return names, true
}

// globIn lists what a pattern stands for in one folder.
func globIn(dir, pattern string, budget *int) (found []string, ok bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		info, statErr := os.Stat(dir)
		return nil, errors.Is(statErr, fs.ErrNotExist) || statErr == nil && !info.IsDir()
	}
	if *budget -= len(entries); *budget < 0 {
		return nil, false
	}
	// Shells and this library spell what is not in a class in different ways.
	pattern = strings.ReplaceAll(pattern, "[!", "[^")
	if strings.Contains(pattern, "[[:") {
		return nil, false
	}
	for _, e := range entries {
		match, err := filepath.Match(strings.ToLower(pattern), strings.ToLower(e.Name()))
		if err != nil {
			return nil, false
		}
		if !match || strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(pattern, ".") {
			continue
		}
		name := filepath.Join(dir, e.Name())
		found = append(found, name)
		if e.Type()&fs.ModeSymlink != 0 {
			if target, err := filepath.EvalSymlinks(name); err == nil {
				found = append(found, target)
			}
		}
	}
	return found, true
}
