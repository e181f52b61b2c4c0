//go:build !linux

package shell

import (
	"errors"
	"runtime"
)

func landlockABI() (int, error) { return 0, errNoSandbox() }

func errNoSandbox() error { return errors.New("there is no sandbox for " + runtime.GOOS) }

func lockIn(cage) error { return errNoSandbox() }

func become([]string) error { return errNoSandbox() }
