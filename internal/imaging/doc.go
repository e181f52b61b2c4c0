// Package imaging measures pictures and makes them fit for a model.
//
// Measure reads headers only. Prepare passes a picture through byte for byte,
// leaves damaged decoration out of it, or re-encodes it, and lists every change
// it made. Show cuts a region at full resolution, turns and enlarges it.
// SideBySide and Marked put two pictures into one and say how they differ. Strip
// takes the metadata out of a file without decoding it. Describe says what
// colours a picture holds, Probe and Sample draw pictures for checks and
// demonstrations.
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
//   - Chunks of a PNG that are damaged and not needed to show it (a wrong
//     checksum, size or packing of an ancillary chunk) are left out, as every
//     viewer does, and Result.Detail says so. Transparency and all critical
//     chunks are needed: damage to them is Damaged.
//   - What is not the input byte for byte holds no metadata.
//
// Averages are taken on stored (gamma-encoded) values weighted by alpha. Colour
// profiles are not applied, and metadata is not copied into a re-encoded file.
//
// The package refuses to guess from names or declared types, does no file or
// network access, and imports nothing else of this module. Any package may
// import it.
package imaging
