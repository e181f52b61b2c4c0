package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

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
		return f.fail(misuse("trust takes one folder"))
	}
	a, cwd, err := f.open()
	if err != nil {
		return f.fail(err)
	}
	defer closeApp(a, e)
	if len(rest) == 1 {
		if cwd = rest[0]; !filepath.IsAbs(cwd) {
			wd, err := os.Getwd()
			if err != nil {
				return f.fail(err)
			}
			cwd = filepath.Join(wd, cwd)
		}
	}
	trust := a.Trust()
	switch {
	case *listed:
		list, err := trust.List()
		if err != nil {
			return f.fail(err)
		}
		for _, t := range list {
			if f.json {
				err = headless.PutJSON(e.stdout, jsonTrust{"trust", t.Folder, t.Fingerprint, true, []string{}})
			} else {
				_, err = fmt.Fprintf(e.stdout, "%s  since %s\n", t.Folder, t.Added.Local().Format("2006-01-02 15:04"))
			}
			if err != nil {
				return f.fail(err)
			}
		}
		return headless.ExitAnswered
	case *remove:
		if err := trust.Remove(ctx, cwd); err != nil {
			return f.fail(err)
		}
		say(e.stderr, "%s is no longer trusted", cwd)
		return headless.ExitAnswered
	}
	return f.trust(ctx, cwd, *check)
}

// trust trusts the project of a folder, or says what waits.
func (f *flags) trust(ctx context.Context, cwd string, check bool) int {
	l, err := f.load(cwd)
	if err != nil {
		return f.fail(err)
	}
	if l.Fingerprint == "" {
		return f.fail(misuse("there is nothing to trust in %s: no .tote/config.json, .mcp.json, hooks or skills", cwd))
	}
	trusted := l.Trusted
	if !check && !trusted {
		if err := config.TrustFile(l.Dirs, f.e.now).Add(ctx, l.Project.Folder, l.Fingerprint); err != nil {
			return f.fail(err)
		}
		trusted = true
	}
	if f.json {
		w := l.Withheld
		if w == nil {
			w = []string{}
		}
		if err := headless.PutJSON(f.e.stdout, jsonTrust{"trust", l.Project.Folder, l.Fingerprint, trusted, w}); err != nil {
			return f.fail(err)
		}
		return headless.ExitAnswered
	}
	switch {
	case l.Trusted:
		say(f.e.stdout, "%s is trusted as it is", l.Project.Folder)
	case check:
		say(f.e.stdout, "%s is not trusted; waiting:", l.Project.Folder)
	default:
		say(f.e.stdout, "%s is now trusted; in effect:", l.Project.Folder)
	}
	for _, w := range l.Withheld {
		say(f.e.stdout, "  %s", w)
	}
	return headless.ExitAnswered
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
