// Package archtest holds no product code. Its tests read the source of the whole
// module and fail when it leaves the architecture: which package may import
// which, which parts of the standard library are kept to one place, and a few
// rules of hygiene for every file.
//
// The tests parse files and run no tool, since go test would answer from its
// cache when only the output of a tool had changed. Every rule says why it
// stands, and a rule about something that no longer exists fails as well.
//
// No package may import archtest.
package archtest
