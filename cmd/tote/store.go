package main

import (
	"context"
	"time"

	"tote/internal/app"
	"tote/internal/content"
	"tote/internal/front/headless"
	"tote/internal/store"
)

const storeHelp = `Looks after the stored attachments.

stat    says how many there are and how much room they take
verify  reads every one and says which are damaged
gc      removes those that no session names and that are older than a day;
        --dry-run only says what would go`

// collectGrace keeps what was stored lately: a prompt that is being taken in is
// stored before its session names it.
const collectGrace = 24 * time.Hour

type jsonStore struct {
	Type    string   `json:"type"`
	Blobs   int      `json:"blobs"`
	Bytes   int64    `json:"bytes"`
	Removed int      `json:"removed"`
	Damaged []string `json:"damaged"`
}

func cmdStore(ctx context.Context, e environment, args []string) int {
	f := newFlags(e, "store", "stat | verify | gc", storeHelp).withJSON()
	dry := f.Bool("dry-run", false, "with gc: remove nothing")
	rest, code, done := f.parse(args)
	if done {
		return code
	}
	if len(rest) != 1 {
		return f.fail(misuse("store takes one of stat, verify and gc"))
	}
	a, _, err := f.open()
	if err != nil {
		return f.fail(err)
	}
	defer closeApp(a, e)
	st, err := a.Store(ctx)
	if err != nil {
		return f.fail(err)
	}
	out := jsonStore{Type: "store", Damaged: []string{}}
	switch rest[0] {
	case "stat":
		var u store.Usage
		u, err = st.Stat()
		out.Blobs, out.Bytes = u.Blobs, u.Bytes
	case "verify":
		var r store.Report
		r, err = st.Verify(ctx, func(d content.Digest, err error) {
			if err != nil {
				out.Damaged = append(out.Damaged, d.String())
			}
		})
		out.Blobs = r.Kept
	case "gc":
		mode := store.Sweep
		if *dry {
			mode = store.DryRun
		}
		err = collect(ctx, a, st, mode, &out)
	default:
		err = misuse("store takes one of stat, verify and gc, not %q", rest[0])
	}
	if err != nil {
		return f.fail(err)
	}
	if f.json {
		err = headless.PutJSON(e.stdout, out)
	} else {
		sayStore(e, rest[0], out)
	}
	if err != nil {
		return f.fail(err)
	}
	if len(out.Damaged) > 0 {
		return headless.ExitFailed
	}
	return headless.ExitAnswered
}

// collect removes what no session names.
func collect(ctx context.Context, a *app.App, st *store.Store, mode store.Mode, out *jsonStore) error {
	db, err := a.History(ctx)
	if err != nil {
		return err
	}
	named := map[content.Digest]bool{}
	if err := db.References(ctx, func(d content.Digest) { named[d] = true }); err != nil {
		return err
	}
	r, err := st.Collect(ctx, func(d content.Digest) bool { return named[d] }, collectGrace, mode)
	out.Blobs, out.Removed, out.Bytes = r.Kept, r.Removed, r.Bytes
	return err
}

func sayStore(e environment, what string, out jsonStore) {
	switch what {
	case "stat":
		say(e.stdout, "%s, %s", many(out.Blobs, "file"), headless.Size(out.Bytes))
	case "verify":
		n, are := out.Blobs-len(out.Damaged), "are"
		if n == 1 {
			are = "is"
		}
		say(e.stdout, "%s %s sound", many(n, "file"), are)
		for _, d := range out.Damaged {
			say(e.stdout, "damaged: %s", d)
		}
	case "gc":
		say(e.stdout, "%d removed, %s; %d kept", out.Removed, headless.Size(out.Bytes), out.Blobs)
	}
}
