// Package conformance proves that every kind of content gets through every way
// out, or that the receipt says what became of it.
//
// It holds tests only. They run by default, without a flag and without a
// network other than servers on loopback, and read the bytes that reached such
// a server or a stand-in for a command-line agent, not the values that were
// meant to be sent. The matrix is every path out below internal/provider, every
// kind of block with everything that can be wrong with it, every route into a
// request, and the profiles between a model that takes everything and one that
// takes nothing. What is expected follows from the profile and the receipts, not
// from the path: a path that was added needs its row in adapters_test.go and
// nothing else. The other exits (the history, the estimator, the compact text,
// editors, the terminal) and the inlets are driven with the same samples. Closed
// sets are read from the source that declares them, so a member that is added and
// forgotten here fails.
//
// The matrix writes docs/outcomes.md with
//
//	go test ./internal/conformance -run TestOutcomes -update
//
// and fails where that page is stale.
//
// Nothing may import it; it may import every package of the module but the
// programs.
package conformance
