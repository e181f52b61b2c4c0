// Package document measures PDF files and extracts their text.
//
// It reads the file itself instead of using a library: the ones at hand
// allocate what a hostile file announces, and an allocation that fails or a
// stack that overflows ends the process, which no recover can catch. Here every
// loop, depth, unpacked byte and array is bounded and the context is looked at
// along the way, so there is nothing that has to run in the background.
//
// Objects are found by walking the file from front to back, the last definition
// of a number wins, and cross-reference tables are not used. Files with a
// damaged table are read as well.
//
// It refuses to decrypt, to follow links, to run anything, to draw pages and to
// guess at text in fonts that do not say what their codes mean.
//
// The package imports nothing else of this module. Any package may import it.
package document
