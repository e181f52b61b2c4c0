// Package search holds the tools that find files and text: glob and grep.
//
// What is searched is decided in one place, the walk: regular files, not hidden,
// not vendored, not ignored by the rules of git, never behind a symbolic link,
// never in a forbidden folder. What matches is decided in one place too, the
// matcher: Go's regular expressions, line by line.
//
// ripgrep and git only narrow down which of the walked files are worth opening.
// They are asked for a superset: the literal texts that every match holds, or
// for ripgrep a translation of the pattern that matches at least as much. A file
// that they cannot be trusted with is opened anyway, and a run that complains
// about anything is thrown away. So the answer is the same to the byte whichever
// of them is there, and where neither is.
//
// The package refuses patterns that span lines, look around or refer back. It
// writes nothing and starts no shell. It imports content, permission and tool
// only.
package search
