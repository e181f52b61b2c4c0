package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"tote/internal/app"
	"tote/internal/auth"
	"tote/internal/config"
	"tote/internal/front/headless"
)

const authHelp = `Keeps keys outside of configuration files: in the keyring of this system, else in
a file that only you can read. A provider uses one with "api_key": "keyring:NAME".

list            names the kept keys, and the keys found in the environment
set NAME        keeps the key that stands on the first line of standard input; at a
                terminal it is not shown as you type
remove NAME     forgets a key
login copilot   logs in to GitHub Copilot in a browser and keeps the login as
                "copilot"`

type jsonKey struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Place string `json:"place"`
}

func cmdAuth(ctx context.Context, e environment, args []string) int {
	f := newFlags(e, "auth", "list | set NAME | remove NAME | login copilot", authHelp).withJSON()
	rest, code, done := f.parse(args)
	if done {
		return code
	}
	if len(rest) == 0 {
		rest = []string{"list"}
	}
	a, _, err := f.open()
	if err != nil {
		return f.fail(err)
	}
	defer closeApp(a, e)
	switch {
	case rest[0] == "list" && len(rest) == 1:
		err = f.listKeys(a)
	case rest[0] == "set" && len(rest) == 2:
		err = f.setKey(ctx, a, rest[1])
	case rest[0] == "remove" && len(rest) == 2:
		if err = keyFault(a.Keys().Delete(rest[1])); err == nil {
			say(e.stderr, "the key %q is forgotten", rest[1])
		}
	case rest[0] == "login" && len(rest) == 2 && rest[1] == "copilot":
		err = f.loginCopilot(ctx, a)
	default:
		err = misuse("auth takes list, set NAME, remove NAME or login copilot, not %q", strings.Join(rest, " "))
	}
	if err != nil {
		return f.fail(err)
	}
	return headless.ExitAnswered
}

// keyFault makes what the user wrote wrong an error of usage.
func keyFault(err error) error {
	if errors.Is(err, auth.ErrName) || errors.Is(err, auth.ErrNoKey) {
		return misuse("%v", err)
	}
	return err
}

func (f *flags) listKeys(a *app.App) error {
	list, err := a.Keys().List()
	if err != nil {
		return err
	}
	put := func(name, place string) error {
		if f.json {
			return headless.PutJSON(f.e.stdout, jsonKey{"key", name, place})
		}
		_, err := fmt.Fprintf(f.e.stdout, "%-24s %s\n", name, place)
		return err
	}
	for _, k := range list {
		if err := put(k.Name, string(k.Place)); err != nil {
			return err
		}
	}
	found := config.Offers(f.e.env)
	for _, o := range found {
		if o.Env == "" {
			continue
		}
		if err := put("$"+o.Env, "environment"); err != nil {
			return err
		}
	}
	if len(list)+len(found) == 0 && !f.json {
		say(f.e.stdout, "no keys are kept, and none is in the environment; keep one with: tote auth set NAME")
	}
	return nil
}

// setKey keeps the key on the first line of standard input. It is no argument:
// those stand in the shell's history.
func (f *flags) setKey(ctx context.Context, a *app.App, name string) error {
	line, err := f.readKey(ctx)
	if err != nil {
		return fmt.Errorf("read the key: %w", err)
	}
	if strings.TrimSpace(line) == "" {
		return misuse("no key on standard input; for example: tote auth set %s < file", name)
	}
	place, err := a.Keys().Set(name, line)
	if err != nil {
		return keyFault(err)
	}
	f.sayKept(a, name, place)
	return nil
}

// readKey reads a line, at a terminal without showing it. When ctx ends, the terminal
// is as it was.
func (f *flags) readKey(ctx context.Context) (string, error) {
	in, ok := f.e.stdin.(*os.File)
	if !f.e.inTerminal || !ok {
		line, err := bufio.NewReader(io.LimitReader(f.e.stdin, 1<<16)).ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return line, err
	}
	fd := int(in.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	say(f.e.stderr, "type or paste the key, then Enter; it is not shown:")
	type typed struct {
		key []byte
		err error
	}
	got := make(chan typed, 1)
	// It ends with the line that the person types, or with the process: a read
	// from a terminal cannot be taken back.
	go func() {
		key, err := term.ReadPassword(fd)
		got <- typed{key, err}
	}()
	select {
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), term.Restore(fd, before))
	case t := <-got:
		return string(t.key), t.err
	}
}

func (f *flags) sayKept(a *app.App, name string, place auth.Place) {
	if place == auth.InFile {
		say(f.e.stderr, "kept in %s, which only you can read: there is no keyring here", a.KeyFile())
	} else {
		say(f.e.stderr, "kept in the keyring")
	}
	say(f.e.stderr, `use it with "api_key": "keyring:%s"`, name)
}

func (f *flags) loginCopilot(ctx context.Context, a *app.App) error {
	token, err := a.Copilot().Login(ctx, func(c auth.Code) {
		say(f.e.stderr, "Open %s and type the code %s (good for %s). Waiting; Ctrl-C gives up.", c.URL, c.User, c.Expires)
	})
	if err != nil {
		return err
	}
	place, err := a.Keys().Set("copilot", token)
	if err != nil {
		return err
	}
	f.sayKept(a, "copilot", place)
	return nil
}
