package main

import (
	"context"
	"errors"
	"strconv"
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
	Type   string   `json:"type"`
	Handle string   `json:"handle"`
	Blobs  []string `json:"blobs"`
	Files  []string `json:"files"`
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
		err = misuse("there is no %s in session %s", rest[0], id)
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
		out := jsonForgotten{"forgotten", handle, []string{}, []string{}}
		for _, d := range got.Blobs {
			out.Blobs = append(out.Blobs, d.String())
		}
		out.Files = append(out.Files, got.Files...)
		return headless.PutJSON(f.e.stdout, out)
	}
	say(f.e.stdout, "%s is forgotten: %s and %s removed", handle, many(len(got.Blobs), "stored blob"), many(len(got.Files), "copy"))
	if len(got.Blobs) == 0 {
		say(f.e.stdout, "its bytes stay in the store: another session has the same attachment")
	}
	return nil
}

// many spells a number of things.
func many(n int, what string) string {
	s := strconv.Itoa(n) + " " + what
	if n == 1 {
		return s
	}
	if stem, ok := strings.CutSuffix(s, "y"); ok {
		return stem + "ies"
	}
	return s + "s"
}
