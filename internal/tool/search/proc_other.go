//go:build !unix

package search

import "os/exec"

// maxArguments is how many bytes of names go into one call. Windows takes 32,767
// characters for a whole command line.
const maxArguments = 24 << 10

// ownGroup leaves it at ending the program itself: neither ripgrep nor git grep
// starts another one.
func ownGroup(*exec.Cmd) {}
