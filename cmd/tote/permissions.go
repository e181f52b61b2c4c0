package main

import (
	"context"
	"errors"
	"fmt"

	"tote/internal/app"
	"tote/internal/front/headless"
)

const permissionsHelp = `Lists what you allowed for good when you were asked ("always in this project"), by
folder. Rules of configuration files are shown by: tote config.

--remove RULE takes one back in this folder (or that of --cwd).`

type jsonPermit struct {
	Type    string `json:"type"`
	Folder  string `json:"folder"`
	Rule    string `json:"rule"`
	Created string `json:"created"`
}

func cmdPermissions(ctx context.Context, e environment, args []string) int {
	f := newFlags(e, "permissions", "", permissionsHelp).withJSON()
	remove := f.String("remove", "", "take this `rule` back")
	rest, code, done := f.parse(args)
	if done {
		return code
	}
	if len(rest) > 0 {
		return f.fail(misuse("permissions takes no arguments"))
	}
	a, cwd, err := f.open()
	if err != nil {
		return f.fail(err)
	}
	defer closeApp(a, e)
	if *remove != "" {
		if err = a.TakeBack(ctx, cwd, *remove); err == nil {
			say(e.stderr, "%s is asked about again in %s", *remove, cwd)
		}
		if errors.Is(err, app.ErrNoPermit) {
			err = misuse("%v", err)
		}
	} else {
		err = f.listPermits(ctx, a)
	}
	if err != nil {
		return f.fail(err)
	}
	return headless.ExitAnswered
}

func (f *flags) listPermits(ctx context.Context, a *app.App) error {
	list, err := a.Permits(ctx)
	if err != nil {
		return err
	}
	for _, p := range list {
		if f.json {
			err = headless.PutJSON(f.e.stdout, jsonPermit{"permit", p.Folder, p.Rule, p.Created.UTC().Format("2006-01-02T15:04:05Z")})
		} else {
			_, err = fmt.Fprintf(f.e.stdout, "%s  %s  since %s\n", p.Folder, p.Rule, p.Created.Local().Format("2006-01-02 15:04"))
		}
		if err != nil {
			return err
		}
	}
	if len(list) == 0 && !f.json {
		say(f.e.stdout, "nothing is allowed for good")
	}
	return nil
}
