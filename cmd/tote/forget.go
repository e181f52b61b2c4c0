package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"tote/internal/app"
	"tote/internal/content"
	"tote/internal/front/headless"
	"tote/internal/history"
)

const forgetHelp = `Removes the bytes of an attachment for good: from the session, its forks and the
sessions that worked for it, from the store, and from the copies that tools could
open. That it was there, and what was said about it, stays in the record. HANDLE is
its label: image-1.png. Without --session the newest session of this folder is meant.`

type jsonForgotten struct {
	Type   string `json:"type"`
	Handle string `json:"handle"`
	// Already: there was nothing left to forget.
	Already bool     `json:"already"`
	Blobs   []string `json:"blobs"`
	Files   []string `json:"files"`
	// Kept are the sessions for which the bytes stay.
	Kept []jsonKeeper `json:"kept"`
}

type jsonKeeper struct {
	Session string `json:"session"`
	Label   string `json:"label"`
	Title   string `json:"title"`
	Cwd     string `json:"cwd"`
}

func cmdForget(ctx context.Context, e environment, args []string) int {
	f := newFlags(e, "forget", "HANDLE", forgetHelp).withJSON()
	session := f.String("session", "", "the session's `id`")
	rest, code, done := f.parse(args)
	if done {
		return code
	}
	if len(rest) != 1 {
		return f.fail(misuse("forget takes one label, such as image-1.png"))
	}
	a, cwd, err := f.open()
	if err != nil {
		return f.fail(err)
	}
	defer closeApp(a, e)
	id, err := findSession(ctx, a, cwd, *session)
	if err != nil {
		return f.fail(err)
	}
	got, err := a.Forget(ctx, id, content.Handle(rest[0]))
	if errors.Is(err, history.ErrNotFound) {
		err = misuse("there is no %s in session %s; tote receipts %s lists its labels, --session names another session", rest[0], id, id)
	}
	if err == nil {
		err = f.sayForgotten(rest[0], got)
	}
	if err != nil {
		return f.fail(err)
	}
	return headless.ExitAnswered
}

func (f *flags) sayForgotten(handle string, got app.Forgotten) error {
	if f.json {
		out := jsonForgotten{"forgotten", handle, got.Already, []string{}, []string{}, []jsonKeeper{}}
		for _, d := range got.Blobs {
			out.Blobs = append(out.Blobs, d.String())
		}
		out.Files = append(out.Files, got.Files...)
		for _, k := range got.Kept {
			out.Kept = append(out.Kept, jsonKeeper{k.ID, string(k.Handle), k.Title, k.Cwd})
		}
		return headless.PutJSON(f.e.stdout, out)
	}
	switch {
	case got.Already:
		say(f.e.stdout, "%s was already forgotten: nothing of it is left here", handle)
		return nil
	case got.Kind == content.KindText:
		say(f.e.stdout, "%s is forgotten: its words are removed from the record", handle)
		return nil
	case got.Kind == content.KindResourceLink:
		say(f.e.stdout, "%s is a link: there are no bytes of it to forget", handle)
		return nil
	}
	say(f.e.stdout, "%s is forgotten here: %s and %s removed", handle, many(len(got.Blobs), "stored blob"), many(len(got.Files), "copy"))
	if len(got.Kept) > 0 {
		say(f.e.stdout, "its bytes stay in the store, because others have them too:")
	}
	for _, k := range got.Kept {
		sayKeeper(f.e.stdout, k)
	}
	return nil
}

// sayKeeper names a session in which bytes stay, and what would remove them there.
func sayKeeper(w io.Writer, k app.Keeper) {
	what := "session"
	if k.Kind != "" {
		what = k.Kind + " session"
	}
	name := k.ID
	if k.Title != "" {
		name += " (" + k.Title + ")"
	}
	if k.Handle == "" {
		say(w, "  %s %s in %s: in a turn that was taken back, or as an older form of a file, for /undo; tote sessions delete %s removes it", what, name, k.Cwd, k.ID)
		return
	}
	say(w, "  %s %s in %s: tote forget --session %s %s", what, name, k.Cwd, k.ID, k.Handle)
}

// many spells a number of things.
func many(n int, what string) string {
	if stem, ok := strings.CutSuffix(what, "y"); ok {
		return headless.Count(int64(n), what, stem+"ies")
	}
	return headless.Count(int64(n), what, what+"s")
}
