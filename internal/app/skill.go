package app

import (
	"context"
	_ "embed" // for the tool's description
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/tool"
)

//go:embed skill.md
var skillText string

const (
	// maxSkillFiles bounds the list of a skill's files, maxSkillFile one of them
	// in bytes.
	maxSkillFiles = 200
	maxSkillFile  = 256 << 10
)

// skill is the tool that reads skills, which may lie outside the roots. Only files
// of listed skills are read.
type skill struct{ g guide }

var _ tool.Tool = skill{}

type skillArgs struct {
	Name string `json:"name"`
	File string `json:"file"`
}

// Spec implements tool.Tool.
func (skill) Spec() tool.Spec {
	return tool.Spec{
		Name: "skill", Description: strings.TrimSpace(skillText), Parallel: true,
		Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"The skill's name."},"file":{"type":"string","description":"One of its files, relative to its folder."}},"required":["name"],"additionalProperties":false}`),
	}
}

func (skill) args(raw json.RawMessage) (skillArgs, error) {
	var a skillArgs
	if err := tool.Decode(raw, &a); err != nil {
		return a, err
	}
	if a.Name == "" {
		return a, errors.New("skill: the argument \"name\" is empty")
	}
	if a.File != "" && !filepath.IsLocal(filepath.FromSlash(a.File)) {
		return a, fmt.Errorf("skill: the file %q is not below the skill's folder", content.Clean(a.File))
	}
	return a, nil
}

// Request implements tool.Tool.
func (s skill) Request(raw json.RawMessage, env tool.Env) (permission.Request, string, error) {
	a, err := s.args(raw)
	q := permission.Request{Tool: "skill", Action: permission.Read, Inside: true, Detail: a.Name}
	if err != nil || a.File == "" {
		return q, "Read the skill " + content.Clean(a.Name), err
	}
	// A skill that is not there is told when it is read.
	if _, dir, err := s.g.reader.Skill(s.g.options(env.Cwd, nil), a.Name); err == nil {
		for _, name := range fileNames(dir, a.File) {
			q.Paths = append(q.Paths, filepath.ToSlash(name))
		}
	}
	return q, "Read " + content.Clean(a.File) + " of the skill " + content.Clean(a.Name), nil
}

// fileNames are the path of a skill's file and, where that differs, the one that it
// has behind links.
func fileNames(dir, file string) []string {
	name := filepath.Join(dir, filepath.FromSlash(file))
	if target, err := filepath.EvalSymlinks(name); err == nil && target != name {
		return []string{name, target}
	}
	return []string{name}
}

// Run implements tool.Tool.
func (s skill) Run(ctx context.Context, raw json.RawMessage, env tool.Env) (tool.Result, error) {
	a, err := s.args(raw)
	if err != nil {
		return tool.Result{}, err
	}
	text, dir, err := s.g.reader.Skill(s.g.options(env.Cwd, nil), a.Name)
	if err != nil {
		return tool.Result{}, fmt.Errorf("skill %q: %w", content.Clean(a.Name), err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return tool.Result{}, fmt.Errorf("skill %q: its folder cannot be opened", content.Clean(a.Name))
	}
	defer func() { _ = root.Close() }() // read only
	if a.File != "" {
		if slices.ContainsFunc(fileNames(dir, a.File), s.g.w.unreadable) {
			return tool.Result{}, fmt.Errorf("skill %q: read %s: the user's rules deny reading it", content.Clean(a.Name), content.Clean(a.File))
		}
		text, err = skillFile(root, a.File)
		if err != nil {
			return tool.Result{}, fmt.Errorf("skill %q: read %s: %w", content.Clean(a.Name), content.Clean(a.File), err)
		}
		return tool.Result{Sources: []content.Source{tool.Prose(text)}}, nil
	}
	if files := skillFiles(ctx, root); files != "" {
		text += "\n\n[files of this skill, to be read with \"file\"; its folder is " + dir + "]\n" + files
	}
	return tool.Result{Sources: []content.Source{tool.Prose(text)}}, nil
}

func skillFile(root *os.Root, name string) (string, error) {
	info, err := root.Stat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", errors.New("there is no such file")
	case err != nil:
		return "", errors.New("it cannot be opened")
	case !info.Mode().IsRegular():
		return "", errors.New("it is no regular file")
	case info.Size() > maxSkillFile:
		return "", fmt.Errorf("it has %d bytes, the limit is %d", info.Size(), maxSkillFile)
	}
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return "", errors.New("it cannot be opened")
	}
	defer func() { _ = f.Close() }() // read only
	data, err := io.ReadAll(io.LimitReader(f, maxSkillFile))
	switch {
	case err != nil:
		return "", errors.New("it cannot be read")
	case !utf8.Valid(data):
		return "", errors.New("it is no text")
	}
	return string(data), nil
}

// skillFiles lists the files below a skill's folder, one a line.
func skillFiles(ctx context.Context, root *os.Root) string {
	var sb strings.Builder
	n := 0
	_ = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil || n >= maxSkillFiles:
			return fs.SkipAll
		case err != nil || !e.Type().IsRegular() || path.Base(name) == "SKILL.md":
			return nil // what cannot be listed is left out
		}
		n++
		sb.WriteString(content.Clean(name) + "\n")
		return nil
	})
	return sb.String()
}
