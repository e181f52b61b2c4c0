package config

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Loaded is all that one reading of the files says.
type Loaded struct {
	Config Config
	Dirs   Dirs
	// UserFile is the path of the user's file, whether or not it exists.
	UserFile string
	// Project is what the working folder brings along; the zero value without one.
	Project Project
	// Fingerprint is what the user trusts or not. Empty: there is nothing to trust.
	Fingerprint string
	// Trusted says that the project's files take full effect.
	Trusted bool
	// Withheld names, in words for the user, what of the project did not take effect.
	Withheld []string
	// Held are the required hooks, at the moments at which a hook may deny, of a
	// project that was trusted as it was before. They do not run; what they are about
	// is denied until the project is trusted again.
	Held Hooks
	// Notes name, in words for the user, what has no effect although it may be meant
	// to: rules about MCP servers that are not there.
	Notes []string
	// Stamp tells whether a later reading would find something else.
	Stamp Stamp
}

// Load finds, reads, merges and checks the configuration. Files that are not there
// are fine, unless the user named one.
func Load(o Options) (Loaded, error) {
	s, err := read(o)
	if err != nil {
		return Loaded{}, err
	}
	l := Loaded{
		Dirs: s.dirs, UserFile: s.user.path, Project: s.project,
		Fingerprint: s.sum, Trusted: s.trusted, Withheld: s.notes, Stamp: s.stamp(),
	}
	user, err := s.own()
	if err == nil {
		err = checkRules(user.root, o.Rule)
	}
	if err != nil {
		return Loaded{}, err
	}
	project, err := Parse(s.config.path, s.config.data)
	if err == nil {
		err = checkRules(project.root, o.Rule)
	}
	switch {
	case err != nil && s.trusted:
		return Loaded{}, err
	case err != nil:
		// A repository that was only cloned must not stop the program.
		project = Layer{}
		l.Withheld = append(l.Withheld, printable("the project's configuration has a fault: "+err.Error(), maxLine))
	}
	// A fault in a file that belongs to other programs too must not stop this one.
	mcp, err := ParseMCP(s.mcp.path, s.mcp.data)
	if err != nil {
		l.Withheld = append(l.Withheld, printable(".mcp.json is left out: "+err.Error(), maxLine))
	}
	standing := Untrusted
	if s.trusted {
		standing = TrustedProject
	}
	both := over(mcp.root, project.root)
	l.Notes = serverNotes(user.root, both)
	cfg, withheld, err := Merge(user, Layer{root: both}, standing)
	if err != nil {
		return Loaded{}, err
	}
	if err := errors.Join(settleFiles(&cfg, o.UserHome), settlePowers(&cfg, o.UserHome)); err != nil {
		return Loaded{}, err
	}
	l.Config, l.Withheld = cfg, append(l.Withheld, withheld...)
	if !l.Trusted {
		l.Withheld = append(l.Withheld, sayPowers(l.Project.Files)...)
	}
	if !l.Trusted && s.changed {
		l.Held = requiredHooks(project.root)
	}
	return l, nil
}

// own is the user's layer: the user's file over the servers that the user shares
// with other programs.
func (s *sources) own() (Layer, error) {
	user, err := Parse(s.user.path, s.user.data)
	shared, sharedErr := ParseMCP(s.servers.path, s.servers.data)
	return Layer{root: over(shared.root, user.root)}, errors.Join(err, sharedErr)
}

// Snapshot returns the stamp that Load would return now. It reads the files, which
// are small, and parses none.
func Snapshot(o Options) (Stamp, error) {
	s, err := read(o)
	if err != nil {
		return Stamp{}, err
	}
	return s.stamp(), nil
}

// sources are the bytes that one reading is made of.
type sources struct {
	dirs                     Dirs
	project                  Project
	user, config, mcp, trust file
	servers                  file // the user's mcp.json
	sum                      string
	trusted                  bool
	// changed: the project was trusted as it was before, and is not as it is.
	changed bool
	notes   []string
}

func read(o Options) (sources, error) {
	var s sources
	var err error
	if s.dirs, err = Home(o); err != nil {
		return sources{}, err
	}
	path, named := UserFile(o, s.dirs)
	if s.user, err = readFile(path); err != nil {
		return sources{}, err
	}
	if named && !s.user.exists {
		return sources{}, usage("read configuration %s: the file does not exist", path)
	}
	if s.servers, err = readFile(filepath.Join(s.dirs.Config, "mcp.json")); err != nil {
		return sources{}, err
	}
	if o.CWD == "" {
		return s, nil
	}
	return s, s.readProject(o)
}

func (s *sources) readProject(o Options) (err error) {
	if s.project, err = Find(o.CWD); err != nil {
		return err
	}
	if s.config, err = readFile(s.project.ConfigFile); err != nil {
		return err
	}
	if s.user.exists && s.config.exists && os.SameFile(s.user.info, s.config.info) {
		s.config = file{path: s.config.path} // the user named it, so it is the user's
	}
	if s.mcp, err = readFile(s.project.MCPFile); err != nil {
		return err
	}
	t := TrustFile(s.dirs, nil)
	if s.trust, err = readFile(t.path); err != nil {
		return err
	}
	s.sum, s.project.Files, err = fingerprint(s.project, s.config, s.mcp)
	if errors.Is(err, ErrTooManyFiles) {
		s.notes = append(s.notes, "the project's hooks, skills and commands: "+ErrTooManyFiles.Error())
		return nil
	}
	if err != nil {
		return err
	}
	if s.trusted, err = t.has(s.trust, s.project.Folder, s.sum); err != nil || s.trusted {
		return err
	}
	s.changed, err = t.knows(s.trust, s.project.Folder)
	return err
}

// FileStamp is the state of one file. Two are the same if they are of the same
// path and both absent, or both there with equal bytes.
type FileStamp struct {
	Path    string
	Exists  bool
	Size    int64
	ModTime time.Time
	Sum     [sha256.Size]byte
}

func stampOf(f file) FileStamp {
	s := FileStamp{Path: f.path, Exists: f.exists}
	if f.exists {
		s.Size, s.ModTime, s.Sum = int64(len(f.data)), f.info.ModTime(), sha256.Sum256(f.data)
	}
	return s
}

// Equal reports whether the files hold the same. A file that was only touched
// does; one that appeared or vanished does not.
func (s FileStamp) Equal(t FileStamp) bool {
	return s.Path == t.Path && s.Exists == t.Exists && s.Sum == t.Sum
}

// Stamp is the state of everything that Load reads.
type Stamp struct {
	User, Project, MCP, Trust FileStamp
	// Servers is the user's own mcp.json.
	Servers FileStamp
	// Fingerprint covers the project's hooks, skills and commands too.
	Fingerprint string
}

// Equal reports whether Load would return the same for both.
func (s Stamp) Equal(t Stamp) bool {
	return s.User.Equal(t.User) && s.Project.Equal(t.Project) && s.MCP.Equal(t.MCP) &&
		s.Trust.Equal(t.Trust) && s.Servers.Equal(t.Servers) && s.Fingerprint == t.Fingerprint
}

func (s *sources) stamp() Stamp {
	return Stamp{
		User: stampOf(s.user), Project: stampOf(s.config), MCP: stampOf(s.mcp), Trust: stampOf(s.trust),
		Servers: stampOf(s.servers), Fingerprint: s.sum,
	}
}

// isNotDir reports that a part of the path is a file, so that nothing is below it.
func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
