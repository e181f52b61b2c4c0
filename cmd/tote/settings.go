package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"tote/internal/config"
	"tote/internal/front/headless"
)

const trustHelp = `Trusts a project folder (default: this one) with its files as they are now, so
that the providers, addresses, keys, commands and permissions that they set take
effect. A changed file asks again. --list shows what is trusted, --remove takes
it back, --check only says what waits for trust.`

type jsonTrust struct {
	Type        string   `json:"type"`
	Folder      string   `json:"folder"`
	Fingerprint string   `json:"fingerprint"`
	Trusted     bool     `json:"trusted"`
	Withheld    []string `json:"withheld"`
}

func cmdTrust(ctx context.Context, e environment, args []string) int {
	f := newFlags(e, "trust", "[FOLDER]", trustHelp).withJSON()
	listed := f.Bool("list", false, "list the trusted folders")
	remove := f.Bool("remove", false, "take the trust back")
	check := f.Bool("check", false, "say what waits for trust, and change nothing")
	rest, code, done := f.parse(args)
	if done {
		return code
	}
	if len(rest) > 1 {
		return f.fail(misuse("trust takes one folder; --list and --remove are flags"))
	}
	if len(rest) == 1 && slices.Contains([]string{"list", "remove", "check"}, rest[0]) {
		if _, err := os.Stat(rest[0]); err != nil {
			return f.fail(misuse("there is no folder %s here; did you mean --%s?", rest[0], rest[0]))
		}
	}
	a, cwd, err := f.open()
	if err != nil {
		return f.fail(err)
	}
	defer closeApp(a, e)
	if len(rest) == 1 {
		if cwd, err = filepath.Abs(rest[0]); err != nil {
			return f.fail(err)
		}
	}
	switch {
	case *listed:
		err = f.listTrusted(a.Trust())
	case *remove:
		if err = a.Trust().Remove(ctx, cwd); err == nil {
			say(e.stderr, "%s is no longer trusted", cwd)
		}
	case *check:
		err = f.checkTrust(cwd)
	default:
		err = f.trust(ctx, cwd)
	}
	if err != nil {
		return f.fail(err)
	}
	return headless.ExitAnswered
}

func (f *flags) listTrusted(trust config.Trust) error {
	list, err := trust.List()
	if err != nil {
		return err
	}
	for _, t := range list {
		if f.json {
			err = headless.PutJSON(f.e.stdout, jsonTrust{"trust", t.Folder, t.Fingerprint, true, []string{}})
		} else {
			_, err = fmt.Fprintf(f.e.stdout, "%s  since %s\n", t.Folder, t.Added.Local().Format("2006-01-02 15:04"))
		}
		if err != nil {
			return err
		}
	}
	if len(list) == 0 && !f.json {
		say(f.e.stdout, "no folder is trusted")
	}
	return nil
}

// project loads the project of a folder. One that brings nothing is the user's
// mistake.
func (f *flags) project(cwd string) (config.Loaded, error) {
	l, err := f.load(cwd)
	if err == nil && l.Fingerprint == "" {
		err = misuse("there is nothing to trust in %s: no .tote/config.json, .mcp.json, hooks or skills", cwd)
	}
	return l, err
}

// checkTrust says what waits for trust.
func (f *flags) checkTrust(cwd string) error {
	l, err := f.project(cwd)
	if err != nil {
		return err
	}
	return f.sayTrust(l, l.Trusted, " is not trusted; waiting:")
}

// trust trusts the project of a folder as it is now.
func (f *flags) trust(ctx context.Context, cwd string) error {
	l, err := f.project(cwd)
	if err != nil {
		return err
	}
	if !l.Trusted {
		if err := config.TrustFile(l.Dirs, f.e.now).Add(ctx, l.Project.Folder, l.Fingerprint); err != nil {
			return err
		}
	}
	return f.sayTrust(l, true, " is now trusted; in effect:")
}

func (f *flags) sayTrust(l config.Loaded, trusted bool, head string) error {
	if f.json {
		w := l.Withheld
		if w == nil {
			w = []string{}
		}
		return headless.PutJSON(f.e.stdout, jsonTrust{"trust", l.Project.Folder, l.Fingerprint, trusted, w})
	}
	if l.Trusted {
		head = " is trusted as it is"
	}
	say(f.e.stdout, "%s%s", l.Project.Folder, head)
	for _, w := range l.Withheld {
		say(f.e.stdout, "  %s", w)
	}
	return nil
}

const configHelp = `Shows the configuration as it is in effect here, without secrets, and which
files it comes from.`

type jsonConfig struct {
	Type     string   `json:"type"`
	UserFile string   `json:"user_file"`
	Project  string   `json:"project"`
	Trusted  bool     `json:"trusted"`
	Withheld []string `json:"withheld"`
	Config   any      `json:"config"`
}

func cmdConfig(_ context.Context, e environment, args []string) int {
	f := newFlags(e, "config", "", configHelp).withJSON()
	rest, code, done := f.parse(args)
	if done {
		return code
	}
	if len(rest) > 0 {
		return f.fail(misuse("config takes no arguments"))
	}
	_, cwd, err := f.open()
	if err != nil {
		return f.fail(err)
	}
	l, err := f.load(cwd)
	if err != nil {
		return f.fail(err)
	}
	doc, err := l.Config.Redacted()
	if err != nil {
		return f.fail(err)
	}
	if f.json {
		w := l.Withheld
		if w == nil {
			w = []string{}
		}
		if err := headless.PutJSON(e.stdout, jsonConfig{"config", l.UserFile, l.Project.Folder, l.Trusted, w, rawJSON(doc)}); err != nil {
			return f.fail(err)
		}
		return headless.ExitAnswered
	}
	say(e.stderr, "user file:    %s", present(l.UserFile))
	if l.Project.Folder != "" {
		say(e.stderr, "project file: %s", present(l.Project.ConfigFile))
	}
	say(e.stderr, "data:         %s", l.Dirs.Data)
	for _, w := range l.Withheld {
		say(e.stderr, "waits for trust: %s", w)
	}
	say(e.stdout, "%s", doc)
	return headless.ExitAnswered
}

func present(file string) string {
	if _, err := os.Stat(file); err != nil {
		return file + " (not there)"
	}
	return file
}
