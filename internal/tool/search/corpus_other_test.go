//go:build !unix

package search_test

import "testing"

// unixOnly adds nothing here: such names and things do not exist.
func unixOnly(testing.TB, string) {}
