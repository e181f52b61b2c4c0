package tool

import (
	"bytes"
	"context"
	_ "embed" // for the tool's description
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"tote/internal/permission"
)

//go:embed edit.md
var editText string

// maxEdits bounds one call.
const maxEdits = 100

// Edit is the tool that changes parts of a file.
type Edit struct{}

var (
	_ Tool      = Edit{}
	_ Previewer = Edit{}
	_ Checker   = Edit{}
)

// change is one edit: old becomes new.
type change struct {
	Old string `json:"old"`
	New string `json:"new"`
	// All: every occurrence; else there must be exactly one.
	All bool `json:"all"`
}

type editArgs struct {
	Path  string   `json:"path"`
	Edits []change `json:"edits"`
}

// Spec implements Tool.
func (Edit) Spec() Spec {
	return Spec{
		Name: "edit", Description: strings.TrimSpace(editText),
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"The file to change."},"edits":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"object","properties":{"old":{"type":"string","description":"The text to replace, exactly as it stands in the file."},"new":{"type":"string","description":"The text to put in its place."},"all":{"type":"boolean","description":"Replace every occurrence instead of exactly one."}},"required":["old","new"],"additionalProperties":false},"description":"The changes, applied in order; all of them or none."}},"required":["path","edits"],"additionalProperties":false}`),
	}
}

func (Edit) args(raw json.RawMessage) (editArgs, error) {
	var a editArgs
	if err := Decode(raw, &a); err != nil {
		return a, err
	}
	a.Path = strings.TrimPrefix(a.Path, "@")
	switch {
	case a.Path == "":
		return a, errors.New("edit: the argument \"path\" is missing")
	case len(a.Edits) == 0:
		return a, errors.New("edit: there are no edits")
	case len(a.Edits) > maxEdits:
		return a, fmt.Errorf("edit: there are %d edits, the limit is %d; make several calls", len(a.Edits), maxEdits)
	}
	for i, e := range a.Edits {
		switch {
		case e.Old == e.New:
			return a, fmt.Errorf("edit: %sold and new are the same", nth(i, len(a.Edits)))
		case e.Old == "" && len(a.Edits) > 1:
			return a, fmt.Errorf("edit: %sold is empty, which creates a file and must be the only edit", nth(i, len(a.Edits)))
		}
	}
	return a, nil
}

// nth names an edit where there are several.
func nth(i, of int) string {
	if of == 1 {
		return ""
	}
	return fmt.Sprintf("edit %d of %d: ", i+1, of)
}

// Request implements Tool.
func (e Edit) Request(raw json.RawMessage, env Env) (permission.Request, string, error) {
	a, err := e.args(raw)
	if err != nil {
		return permission.Request{}, "", err
	}
	r, err := changed("edit", a.Path, env)
	title := "Edit " + a.Path
	if len(a.Edits) > 1 {
		title += fmt.Sprintf(" (%d places)", len(a.Edits))
	}
	return r, title, err
}

// Preview implements Previewer.
func (e Edit) Preview(raw json.RawMessage, env Env) string {
	a, err := e.args(raw)
	if err != nil || remote(a.Path) {
		return ""
	}
	env = asked(env, func() (permission.Request, string, error) { return e.Request(raw, env) })
	t, err := openTarget(a.Path, env)
	if err != nil {
		return ""
	}
	defer t.close()
	if t.denied && t.info != nil {
		return noDiff
	}
	now, err := a.apply(t)
	switch {
	case err != nil:
		return "It will not apply: " + err.Error() + "\n"
	case t.info == nil:
		return bounded(string(now), maxDiffLine)
	}
	return unified(a.Path, t.old, now)
}

// Check implements Checker.
func (e Edit) Check(ctx context.Context, raw json.RawMessage, env Env) error {
	a, err := e.args(raw)
	if err != nil {
		return err
	}
	r, _, err := e.Request(raw, env)
	if err != nil {
		return err
	}
	err = check(ctx, a.Path, r, env, func(t *target, env Env) error {
		_, err := a.fits(t, env)
		return err
	})
	if err != nil {
		return fmt.Errorf("edit %s: %w", a.Path, err)
	}
	return nil
}

// fits gives what the file will hold, or says why the edits cannot be made.
func (a editArgs) fits(t *target, env Env) ([]byte, error) {
	if t.denied && t.info != nil {
		return nil, errDenied
	}
	if err := t.known(env); err != nil {
		return nil, err
	}
	return a.apply(t)
}

// Run implements Tool.
func (e Edit) Run(ctx context.Context, raw json.RawMessage, env Env) (Result, error) {
	a, err := e.args(raw)
	if err != nil {
		return Result{}, err
	}
	t, err := awaitTarget(ctx, a.Path, env)
	if err != nil {
		return Result{}, fmt.Errorf("edit %s: %w", a.Path, err)
	}
	defer t.close()
	now, err := a.fits(t, env)
	if err != nil {
		return Result{}, fmt.Errorf("edit %s: %w", a.Path, err)
	}
	if err := t.replace(ctx, now, env); err != nil {
		return Result{}, fmt.Errorf("edit %s: %w", a.Path, err)
	}
	note := t.place.called()
	if t.info == nil {
		return said("[created %s: %s]\n", a.Path, extent(now)), nil
	}
	return said("%s[edited %s: %s]\n%s", note, a.Path, plural(len(a.Edits), "change"), unified(a.Path, t.old, now)), nil
}

const bom = "\ufeff"

// apply gives what the file holds after all edits.
func (a editArgs) apply(t *target) ([]byte, error) {
	creates := a.Edits[0].Old == ""
	switch {
	case t.info == nil && !creates:
		return nil, errNoFile
	case creates && (t.info == nil || t.info.Size() == 0):
		return []byte(a.Edits[0].New), nil
	case creates:
		return nil, errors.New("old is empty, but the file is not; say what to replace, or use the write tool")
	case !t.read:
		return nil, fmt.Errorf("it is larger than %d MB", maxChangeBytes>>20)
	case bytes.IndexByte(t.old, 0) >= 0:
		return nil, errors.New("it is no UTF-8 text")
	}
	foreign := !utf8.Valid(t.old)
	text, marked := strings.CutPrefix(string(t.old), bom)
	for i, e := range a.Edits {
		if foreign && !ascii(e.New) {
			return nil, fmt.Errorf("%sthe file is no UTF-8 text: only ASCII can be put into it", nth(i, len(a.Edits)))
		}
		if e.Old = strings.TrimPrefix(e.Old, bom); e.Old == "" {
			return nil, fmt.Errorf("%sold is empty", nth(i, len(a.Edits)))
		}
		now, err := e.apply(text)
		if err != nil {
			return nil, fmt.Errorf("%s%w", nth(i, len(a.Edits)), err)
		}
		text = now
	}
	if marked && !strings.HasPrefix(text, bom) {
		text = bom + text
	}
	if text == string(t.old) {
		return nil, errors.New("the edits undo each other; nothing would change")
	}
	return []byte(text), nil
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
