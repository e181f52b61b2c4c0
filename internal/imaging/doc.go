// Package imaging measures pictures and makes them fit for a model.
//
// Measure reads headers only. Prepare either passes a picture through byte for
// byte or re-encodes it, and lists every change it made. Show cuts a region at
// full resolution, turns and enlarges it. SideBySide and Marked put two pictures
// into one and say how they differ. Strip takes the metadata out of a file
// without decoding it. Describe says what colours a picture holds, Probe and
// Sample draw pictures for checks and demonstrations.
//
// Invariants:
//   - Limits are checked from the header before any decoder runs. A picture of
//     more than MaxDecodePixels is never decoded.
//   - No input makes the package panic; a decoder that panics is reported as
//     Damaged.
//   - A result passes only when the whole input decodes to its end. A JPEG
//     without its end-of-image marker and a GIF without its trailer count as
//     cut off: the rest of the picture may be missing and nothing tells.
//   - The same input and bounds give the same bytes, and preparing a result
//     again returns it unchanged (as long as Bounds.Fit is idempotent).
//   - Transparency is kept unless only JPEG is accepted; then the picture is
//     laid on white and Flattened is listed.
//
// Averages are taken on stored (gamma-encoded) values weighted by alpha. Colour
// profiles are not applied, and metadata is not copied into a re-encoded file.
//
// The package refuses to guess from names or declared types, does no file or
// network access, and imports nothing else of this module. Any package may
// import it.
package imaging
