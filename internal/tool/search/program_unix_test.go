//go:build unix

package search_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"tote/internal/tool/search"
)

// fake makes a program of a shell script, in the place of ripgrep.
func fake(t *testing.T, script string, used *int) *search.Grep {
	t.Helper()
	program := filepath.Join(t.TempDir(), "rg")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return search.NewGrepWith(func(string) { *used++ }, func(name string) (string, error) {
		if name != "rg" {
			return "", errors.New("none")
		}
		return program, nil
	})
}

// A program that is not as it should be changes nothing.
func TestStrangePrograms(t *testing.T) {
	env := project(t, map[string]string{"a.txt": "needle\n", "b.txt": "needle\n", "c.txt": "needle\n"})
	v := map[string]any{"pattern": "needle", "files_only": true}
	for name, script := range map[string]string{
		"fails": "exit 2", "complains": "printf './b.txt\\0'; echo odd >&2", "is killed": "kill -9 $$", "has no end": "printf ./b.txt", "knows other files": `printf './a.txt\0./b.txt\0./c.txt\0./../x\0/etc/passwd\0'`,
	} {
		var used int
		if got := must(t, fake(t, script, &used), env, v); got != "a.txt\nb.txt\nc.txt\n" {
			t.Errorf("%s: %q", name, got)
		}
		if (used > 0) != (name == "knows other files") {
			t.Errorf("%s was trusted %d times", name, used)
		}
	}
	if got := must(t, search.NewGrepWith(func(string) {}, func(string) (string, error) { return "/nowhere/rg", nil }), env, v); got != "a.txt\nb.txt\nc.txt\n" {
		t.Errorf("gone: %q", got)
	}
}

// A program that hangs ends with the call.
func TestHangingProgram(t *testing.T) {
	env := project(t, map[string]string{"a.txt": "needle\n", "b.txt": "needle\n"})
	started := filepath.Join(t.TempDir(), "started")
	if err := syscall.Mkfifo(started, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// It ends when the program has opened the pipe.
	go func() {
		if _, err := os.ReadFile(started); err == nil {
			cancel()
		}
	}()
	var used int
	g := fake(t, "echo x > '"+started+"'\nsleep 1000\n", &used)
	if _, err := g.Run(ctx, args(t, map[string]any{"pattern": "needle"}), env); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
}
