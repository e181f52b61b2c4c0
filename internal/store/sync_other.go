//go:build !windows

package store

import "os"

// syncDir makes a rename in the folder durable.
func syncDir(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		_ = d.Close() // the first error is the one to tell
		return err
	}
	return d.Close()
}
