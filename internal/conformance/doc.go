// Package conformance proves that every kind of content gets through every way
// out, or that the receipt says what became of it.
//
// It holds tests only. They run by default, without a flag and without a
// network other than servers on loopback, and read the bytes that reached such
// a server, not the values that were meant to be sent. The matrix is every
// adapter below internal/provider, every kind of block with everything that can
// be wrong with it, every route into a request, and the profiles between a
// model that takes everything and one that takes nothing. The other exits (the
// history, the estimator, the compact text, editors, the terminal) and the
// inlets are driven with the same samples. Closed sets are read from the source
// that declares them, so a member that is added and forgotten here fails.
//
// Nothing may import it; it may import every package of the module but the
// programs.
package conformance
