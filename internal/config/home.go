package config

import (
	"fmt"
	"os"
	"path"
	"strings"
)

// Options say where the configuration is looked for. Only Env is required.
type Options struct {
	Home       string              // --home; beats TOTE_HOME
	ConfigFile string              // --config; beats TOTE_CONFIG
	Env        func(string) string // os.Getenv, or a fake
	OS         string              // runtime.GOOS; empty is linux
	UserHome   string              // the user's home folder, empty if there is none
	CWD        string              // the session's working folder; empty is no project
	// Rule reads a rule that stands in "allow", "ask" or "deny" of permissions, or in
	// a "match" of hooks, and says what is wrong with it. Nil leaves that out.
	Rule func(where, rule string) error
}

// Dirs are the folders that the program keeps its files in.
type Dirs struct {
	Config  string // the user's file and the trust records
	Data    string // the database and the attachments
	Cache   string // what can be made again
	Scratch string // copies that tools may read; its path holds no space by default
}

// Home resolves the folders. It reads nothing but Options and touches no disk. An
// error wraps ErrUsage.
func Home(o Options) (Dirs, error) {
	home, from := o.Home, "--home"
	if home == "" {
		home, from = o.Env("TOTE_HOME"), "TOTE_HOME"
	}
	if home != "" {
		if !o.absolute(home) {
			return Dirs{}, usage("%s is %s, which is not an absolute path", from, quoted(home))
		}
		return Dirs{
			Config:  o.join(home, "config"),
			Data:    o.join(home, "data"),
			Cache:   o.join(home, "cache"),
			Scratch: o.join(home, "scratch"),
		}, nil
	}
	d := o.defaults()
	for _, dir := range []string{d.Config, d.Data, d.Cache, d.Scratch} {
		if !o.absolute(dir) {
			return Dirs{}, usage("no home folder is known: set TOTE_HOME or give --home")
		}
	}
	return d, nil
}

// defaults are the folders by the custom of the system. They are not absolute
// where the home folder is not known.
func (o Options) defaults() Dirs {
	const app = "tote"
	switch o.OS {
	case "windows":
		roaming := o.envOr("APPDATA", "AppData", "Roaming")
		local := o.envOr("LOCALAPPDATA", "AppData", "Local")
		return Dirs{
			Config:  o.join(roaming, app),
			Data:    o.join(local, app, "data"),
			Cache:   o.join(local, app, "cache"),
			Scratch: o.join(local, app, "scratch"),
		}
	case "darwin":
		d := Dirs{
			Config: o.join(o.envOr("XDG_CONFIG_HOME", "Library", "Application Support"), app),
			Data:   o.join(o.envOr("XDG_DATA_HOME", "Library", "Application Support"), app, "data"),
			Cache:  o.join(o.envOr("XDG_CACHE_HOME", "Library", "Caches"), app),
			// Not below Application Support: models are told these paths, and a
			// space in one ends an @path early.
			Scratch: o.join(o.envOr("XDG_STATE_HOME", "Library", "Caches"), app, "scratch"),
		}
		if o.absolute(o.Env("XDG_DATA_HOME")) {
			d.Data = o.join(o.Env("XDG_DATA_HOME"), app)
		}
		return d
	default:
		return Dirs{
			Config:  o.join(o.envOr("XDG_CONFIG_HOME", ".config"), app),
			Data:    o.join(o.envOr("XDG_DATA_HOME", ".local", "share"), app),
			Cache:   o.join(o.envOr("XDG_CACHE_HOME", ".cache"), app),
			Scratch: o.join(o.envOr("XDG_STATE_HOME", ".local", "state"), app, "scratch"),
		}
	}
}

// envOr returns an absolute path from the environment, else one below the home
// folder. The XDG specification says that a relative value is to be ignored.
func (o Options) envOr(name string, below ...string) string {
	if v := o.Env(name); o.absolute(v) {
		return v
	}
	if !o.absolute(o.UserHome) {
		return ""
	}
	return o.join(append([]string{o.UserHome}, below...)...)
}

// absolute is filepath.IsAbs for the system of the options.
func (o Options) absolute(p string) bool {
	if o.OS != "windows" {
		return strings.HasPrefix(p, "/")
	}
	p = strings.ReplaceAll(p, "/", `\`)
	drive := len(p) >= 3 && p[1] == ':' && p[2] == '\\' && ('a' <= p[0]|0x20 && p[0]|0x20 <= 'z')
	return drive || strings.HasPrefix(p, `\\`)
}

// join is filepath.Join for the system of the options. It returns "" if the first
// element is empty.
func (o Options) join(elem ...string) string {
	switch {
	case elem[0] == "":
		return ""
	case o.OS == "windows":
		first := strings.TrimRight(strings.ReplaceAll(elem[0], "/", `\`), `\`)
		return strings.Join(append([]string{first}, elem[1:]...), `\`)
	}
	return path.Join(elem...)
}

// UserFile returns the path of the user's file, and whether the user named it. A
// file that was named has to exist.
func UserFile(o Options, d Dirs) (file string, named bool) {
	if o.ConfigFile != "" {
		return o.ConfigFile, true
	}
	if f := o.Env("TOTE_CONFIG"); f != "" {
		return f, true
	}
	return o.join(d.Config, "config.json"), false
}

// Make creates the folders that are missing, and closes each of them to others.
// On Windows the folders inherit the access lists of their parents.
func (d Dirs) Make() error {
	for _, dir := range []string{d.Config, d.Data, d.Cache, d.Scratch} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("create folder %s: %w", dir, err)
		}
		if err := private(dir); err != nil {
			return err
		}
	}
	return nil
}

// private takes the rights of group and others away from a folder.
func private(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("create folder %s: %w", dir, err)
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("close folder %s to others: %w", dir, err)
	}
	return nil
}
