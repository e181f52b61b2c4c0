package shell

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"tote/internal/tool"
)

// Sandbox is how far commands are locked in. It is Landlock, of Linux alone.
type Sandbox string

// The ways to lock commands in.
const (
	// SandboxOff locks nothing in. The empty string is the same.
	SandboxOff Sandbox = "off"
	// SandboxAuto locks in where the kernel can, and says once where it cannot.
	SandboxAuto Sandbox = "auto"
	// SandboxRequire runs nothing where the kernel cannot.
	SandboxRequire Sandbox = "require"
)

// SandboxArg is the first argument that makes this program lock itself in and
// become another one: see SandboxMain.
const SandboxArg = "__sandbox"

// cage is what a locked-in command may do.
type cage struct {
	// Write are the folders in which it may write.
	Write []string `json:"write"`
	// Hidden are files and folders that it may not read.
	Hidden []string `json:"hidden"`
	// Offline forbids TCP.
	Offline bool `json:"offline"`
}

// exitCannot is the exit code of a sandbox that could not be closed, as shells
// use it for a program that cannot be run.
const exitCannot = 126

// SandboxMain is what a program does whose first argument is SandboxArg: it locks
// itself in and becomes the program in args, which are what follows SandboxArg. It
// returns an exit code where that did not work out, and then nothing was run.
func SandboxMain(args []string) int {
	return sandboxMain(args, os.Stderr)
}

func sandboxMain(args []string, complain io.Writer) int {
	err := enter(args)
	_, _ = fmt.Fprintf(complain, "sandbox: %v\n", err) // nobody else could be told
	return exitCannot
}

// enter returns with an error only: otherwise the program has become another.
func enter(args []string) error {
	if len(args) < 3 || args[1] != "--" {
		return errors.New("start a program: want DESCRIPTION -- PROGRAM ARGUMENTS")
	}
	var c cage
	if err := json.Unmarshal([]byte(args[0]), &c); err != nil {
		return fmt.Errorf("read what is allowed: %w", err)
	}
	if err := lockIn(c); err != nil {
		return fmt.Errorf("lock the command in: %w", err)
	}
	return become(args[2:])
}

// SandboxState says in a sentence how commands are locked in on this system.
func (s *Shells) SandboxState() string {
	if s.o.Sandbox == SandboxOff || s.o.Sandbox == "" {
		return "commands are not locked in"
	}
	abi, err := landlockABI()
	if err != nil {
		return "commands are not locked in: " + err.Error()
	}
	text := fmt.Sprintf("commands write in the project and in scratch folders only (Landlock, ABI %d)", abi)
	if s.o.Offline && abi < abiTCP {
		text += "; this kernel cannot keep them off the network"
	}
	return text
}

// abiTCP is the first ABI of Landlock that can forbid TCP, see
// https://docs.kernel.org/userspace-api/landlock.html (read 2026-11-30).
const abiTCP = 4

// locks reports whether commands are locked in here.
func (s *Shells) locks() bool {
	if s.o.Sandbox != SandboxAuto && s.o.Sandbox != SandboxRequire {
		return false
	}
	_, err := landlockABI()
	return err == nil
}

// locked puts the sandbox in front of a command line. notice is what the user is
// to know once.
func (s *Shells) locked(argv []string, dir, tmp string, env tool.Env) (out []string, notice string, err error) {
	switch s.o.Sandbox {
	case SandboxOff, "":
		return argv, "", nil
	case SandboxAuto, SandboxRequire:
	default:
		return nil, "", fmt.Errorf("the sandbox is %q, want off, auto or require", s.o.Sandbox)
	}
	abi, err := landlockABI()
	if err == nil && s.o.Offline && abi < abiTCP {
		err = fmt.Errorf("this kernel (ABI %d of Landlock) cannot forbid TCP", abi)
		if s.o.Sandbox == SandboxAuto {
			notice, err = "[sandbox: "+err.Error()+"; the network stays open]", nil
		}
	}
	switch {
	case err != nil && s.o.Sandbox == SandboxRequire:
		return nil, "", fmt.Errorf("run without a sandbox: the configuration forbids it, and %w", err)
	case err != nil:
		return argv, "[sandbox: none, " + err.Error() + "]", nil
	}
	self := s.o.Self
	if self == "" {
		if self, err = os.Executable(); err != nil {
			return nil, "", fmt.Errorf("find this program: %w", err)
		}
	}
	c := cage{Write: slices.Concat(env.Roots, s.o.Writable, []string{dir, tmp}), Hidden: slices.Clone(env.Forbidden), Offline: s.o.Offline && abi >= abiTCP}
	if env.Scratch != "" {
		c.Write = append(c.Write, env.Scratch)
	}
	for _, name := range homeSecrets {
		if s.home != "" {
			c.Hidden = append(c.Hidden, filepath.Join(s.home, name))
		}
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, "", fmt.Errorf("describe the sandbox: %w", err)
	}
	return append([]string{self, SandboxArg, string(text), "--"}, argv...), notice, nil
}

// homeSecrets are what commands in a sandbox cannot read in the user's home.
var homeSecrets = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker/config.json", ".config/gcloud", ".config/gh", ".netrc", ".pgpass", ".npmrc", ".pypirc",
	".git-credentials", ".vault-token",
}
