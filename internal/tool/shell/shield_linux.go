package shell

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Shield keeps other processes of the same user from reading the memory and the
// environment of this one, in which keys of providers are: neither /proc/PID/environ
// nor ptrace works then. Programs that this one starts are as they always were.
// Core dumps are gone with it.
func Shield() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("shield the memory of this program: %w", err)
	}
	return nil
}
