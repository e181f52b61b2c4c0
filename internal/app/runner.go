package app

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"tote/internal/config"
	"tote/internal/delivery"
	"tote/internal/profile"
	"tote/internal/provider/cli"
)

// This file wires command-line agents, which answer in the place of a server.

// runner makes the path through a command-line agent.
func (w *Workspace) runner(a config.Agent) (*cli.Runner, error) {
	r, err := cli.New(cli.Options{
		Runner: string(a.Runner), Command: a.Command, Model: a.Model, Mode: cli.Mode(w.Loaded().Config.Permissions.Mode),
		Dir: w.cwd, Scratch: w.app.dirs.Scratch,
	})
	if err != nil {
		return nil, fmt.Errorf("agent %q: %w", a.Name, err)
	}
	return r, nil
}

// bindRunner says what an agent with a runner stands for. In the place of an
// address stands the program as it is installed: another version may see less.
func bindRunner(a config.Agent) profile.Binding {
	b := binding(config.Provider{Name: string(a.Runner)}, a)
	b.Kind, b.BaseURL = cli.Path(string(a.Runner)), installed(a)
	return b
}

// installed names a program and what it looks like on the disk, which an update
// changes. Nothing is started for it.
func installed(a config.Agent) string {
	command := a.Command
	if len(command) == 0 {
		command = []string{string(a.Runner)}
	}
	name := strings.Join(command, " ")
	path, err := exec.LookPath(command[0])
	if err != nil {
		return name
	}
	info, err := os.Stat(path)
	if err != nil {
		return name
	}
	return fmt.Sprintf("%s (%s, %d bytes, %d)", name, path, info.Size(), info.ModTime().UnixNano())
}

// askRunner looks at the version of a runner. One that is too old loses pictures
// without a word; whether another one shows them is for the probe.
func (w *Workspace) askRunner(ctx context.Context, a config.Agent) (profile.Said, error) {
	r, err := w.runner(a)
	if err != nil {
		return profile.Said{}, err
	}
	d, err := r.Describe(ctx)
	if err != nil || d.Trusted {
		return profile.Said{}, err
	}
	return profile.Said{Images: delivery.No, Documents: delivery.No, Sentence: d.Why, At: w.app.o.Now()}, nil
}
