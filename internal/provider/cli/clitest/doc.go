// Package clitest stands in for the programs of package cli: the test binary,
// started again, takes the part of claude, codex, gemini or a custom program. It
// records what it was given as the real one reads it, and answers in its form.
//
// A package that uses [Fake] calls [Main] first thing in its TestMain.
//
// Only tests import it.
package clitest
