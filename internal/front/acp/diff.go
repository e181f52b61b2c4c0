package acp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
	"tote/internal/front/acp/wire2"
	"tote/internal/permission"
	"tote/internal/tool"
)

// maxDiff is the largest text, in bytes, that is shown as one side of a difference.
// Beyond it there is what the tool says.
const maxDiff = 1 << 20

// change is what a tool call does to a file. old is nil for a file that is new.
type change struct {
	path string
	old  *string
	now  string
}

// file is a file that a call changes.
type file struct {
	path string
	// was is what it held before the call ran, nil where it was not there.
	was *string
	// known: was is right.
	known bool
}

// changes is the file that a call changes, nil where it changes none or that is not
// to be shown: nobody looks into what the user's rules keep from being read, or over
// a network.
func changes(a *agent.Session, c content.ToolCall, path string) *file {
	if c.Name != "write" && c.Name != "edit" || path == "" || strings.HasPrefix(path, "//") || strings.HasPrefix(path, `\\`) {
		return nil
	}
	// Inside: what counts is a rule that denies, not where the file lies.
	if v, _ := a.Verdict(permission.Request{Tool: "read", Action: permission.Read, Path: path, Inside: true}); v == permission.Deny {
		return nil
	}
	return &file{path: filepath.FromSlash(path)}
}

// look notes what the file holds before its call runs.
func (f *file) look(ctx context.Context) {
	if f == nil {
		return
	}
	was, err := readText(ctx, f.path)
	f.was, f.known = was, err == nil
}

// planned is what a call would do to the file, nil where that cannot be told here.
// preview is what the tool says of it, which knows the rules best: where that shows
// no difference of a file that is there, none is shown.
func (f *file) planned(ctx context.Context, c content.ToolCall, preview string) *change {
	if f == nil {
		return nil
	}
	was, err := readText(ctx, f.path)
	if err != nil || was != nil && !showsDiff(preview) {
		return nil
	}
	now, ok := after(c, was)
	if !ok || len(now) > maxDiff {
		return nil
	}
	return &change{path: f.path, old: was, now: now}
}

// made is what a call has done to the file, nil where that cannot be told. said is
// what the tool says of it.
func (f *file) made(ctx context.Context, said string) *change {
	if f == nil || !f.known || f.was != nil && !showsDiff(said) {
		return nil
	}
	now, err := readText(ctx, f.path)
	if err != nil || now == nil || f.was != nil && *f.was == *now {
		return nil
	}
	return &change{path: f.path, old: f.was, now: *now}
}

// showsDiff reports whether a text holds a difference.
func showsDiff(text string) bool { return strings.Contains(text, "@@ -") }

var errNoText = errors.New("no text of a size that is shown")

// readText returns what a text file holds, nil where there is none. It waits for a
// file system only as long as ctx.
func readText(ctx context.Context, path string) (*string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return tool.Await(ctx, func() (*string, error) {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil, nil //nolint:nilnil // there is no file, and so no text
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular() || info.Size() > maxDiff:
			return nil, errNoText
		}
		r, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = r.Close() }() // read only
		data, err := io.ReadAll(io.LimitReader(r, maxDiff+1))
		if err != nil {
			return nil, err
		}
		text := string(data)
		if len(text) > maxDiff || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return nil, errNoText
		}
		return &text, nil
	}, nil)
}

// after is what a file holds after a call of write or edit; ok is false where that is
// the tool's to say.
func after(c content.ToolCall, was *string) (now string, ok bool) {
	if c.Name == "write" {
		raw := rpc.Member(arguments(c), "content")
		return rpc.Unquote(raw), rpc.IsString(raw)
	}
	var args struct {
		Edits []struct {
			Old, New string
			All      bool
		}
	}
	if json.Unmarshal(arguments(c), &args) != nil || len(args.Edits) == 0 {
		return "", false
	}
	if was == nil {
		return args.Edits[0].New, len(args.Edits) == 1 && args.Edits[0].Old == ""
	}
	now = *was
	for _, e := range args.Edits {
		n := strings.Count(now, e.Old)
		switch {
		case e.Old == "" || n == 0 || n > 1 && !e.All:
			return "", false
		case e.All:
			now = strings.ReplaceAll(now, e.Old, e.New)
		default:
			now = strings.Replace(now, e.Old, e.New, 1)
		}
	}
	return now, true
}

// arguments are those of a call, nil where they are no JSON.
func arguments(c content.ToolCall) []byte {
	if !json.Valid([]byte(c.Arguments)) {
		return nil
	}
	return []byte(c.Arguments)
}

// first is a change as version 1 shows it.
func (c *change) first() json.RawMessage {
	return encoded(wire.Diff{Type: "diff", Path: c.path, OldText: c.old, NewText: c.now})
}

// second is a change as version 2 shows it.
func (c *change) second() json.RawMessage {
	d := wire2.Diff{Type: "diff", Changes: []wire2.Change{{Operation: wire2.OperationModify, Path: c.path, FileType: "text"}}}
	old := ""
	if c.old == nil {
		d.Changes[0].Operation = wire2.OperationAdd
	} else {
		old = *c.old
	}
	if text := wire2.GitPatch(c.path, old, c.now, c.old == nil); text != "" {
		d.Patch = &wire2.Patch{Format: "git_patch", Text: text}
	}
	return encoded(d)
}

// encoded is a struct of ours as JSON, which never fails.
func encoded(v any) json.RawMessage {
	parts, err := rpc.Encode(v)
	if err != nil {
		panic("acp: " + err.Error())
	}
	return json.RawMessage(parts[0])
}

// locations are those of a call with the line where the change begins.
func (c *change) locations(of *call) []wire.Location {
	line := 1
	if c.old != nil {
		n := 0
		for n < len(*c.old) && n < len(c.now) && (*c.old)[n] == c.now[n] {
			n++
		}
		line += strings.Count(c.now[:n], "\n")
	}
	for _, l := range of.locations {
		if l.Path == c.path {
			return []wire.Location{{Path: l.Path, Line: line}}
		}
	}
	return of.locations
}
