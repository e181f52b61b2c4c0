package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// placePowers makes the paths of hooks and of further folders relative to where
// their file belongs. What lies below the home folder is left to settlePowers.
func placePowers(cfg *Config, root *node) {
	for _, list := range cfg.Hooks.byEvent() {
		n := root.get("hooks", list.event)
		for i, h := range list.hooks {
			if len(h.Command) > 0 && isPath(h.Command[0]) {
				h.Command[0] = beside(n.items[i].at, h.Command[0])
			}
		}
	}
	n := root.get("additional_directories")
	for i, dir := range cfg.AdditionalDirectories {
		cfg.AdditionalDirectories[i] = beside(n.items[i].at, dir)
	}
}

// isPath reports whether a program is named by its path.
func isPath(program string) bool {
	return strings.ContainsRune(program, '/') || strings.ContainsRune(program, filepath.Separator)
}

// beside makes a path that stands in a file relative to the working folder. The
// files of .tote speak of the folder that holds it. The result is a path in form
// too, so that a program is not looked for elsewhere.
func beside(at pos, path string) string {
	if underHome(path) || filepath.IsAbs(path) {
		return path
	}
	dir := filepath.Dir(at.file)
	if filepath.Base(dir) == ".tote" {
		dir = filepath.Dir(dir)
	}
	path = filepath.Join(dir, filepath.FromSlash(path))
	if strings.HasPrefix(path, "~") || !isPath(path) {
		path = "." + string(filepath.Separator) + path
	}
	return path
}

// settlePowers makes the paths of hooks, instructions and further folders absolute.
func settlePowers(cfg *Config, home string) error {
	for _, list := range cfg.Hooks.byEvent() {
		for _, h := range list.hooks {
			if !isPath(h.Command[0]) {
				continue
			}
			if err := settle(&h.Command[0], home); err != nil {
				return fmt.Errorf("find the program of a hook for %s: %w", list.event, err)
			}
		}
	}
	for i := range cfg.AdditionalDirectories {
		if err := settle(&cfg.AdditionalDirectories[i], home); err != nil {
			return fmt.Errorf("find an additional directory: %w", err)
		}
	}
	for i, path := range cfg.Instructions {
		if !underHome(path) {
			continue // it is absolute, or lies below the root of the repository
		}
		if err := settle(&cfg.Instructions[i], home); err != nil {
			return fmt.Errorf("find a file with instructions: %w", err)
		}
	}
	return nil
}

// settle makes a path absolute.
func settle(path *string, home string) (err error) {
	switch {
	case underHome(*path) && home == "":
		return errors.New("no home folder is known")
	case underHome(*path):
		*path = filepath.Join(home, filepath.FromSlash((*path)[2:]))
		return nil
	}
	*path, err = filepath.Abs(*path)
	return err
}
