//go:build !linux

package shell_test

// shieldArg is no argument here: nothing is shielded.
const shieldArg = "__shield"

func shielded() int { return 1 }
