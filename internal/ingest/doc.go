// Package ingest is the one inlet: it turns a [content.Source] into blocks.
//
// Every surface and every tool hands over sources; this package reads them,
// finds out from their bytes what they are, prepares pictures, and stores the
// bytes. A block that comes out holds measured facts and digests only.
//
// Rules that hold here and nowhere else:
//
//   - Content beats names and declared types. Only bytes that a decoder of
//     package imaging recognises make a picture; text is text whatever its file
//     is called. Where the bytes say nothing the declared type stands.
//   - The size cap of an attachment is checked before anything is decoded.
//   - Who chose a path decides which files may be read: the user's choice may
//     lie anywhere, a model's or a tool's must lie under the roots, and neither
//     symbolic links nor ".." lead out of them.
//   - Text is handed on verbatim: nothing is trimmed, joined or searched.
//   - Whatever is wrong with an attachment is a fault of its block, never an
//     error. Errors are a cancelled context or a store that cannot be written.
//   - What another session of the store holds is handed on without being read
//     again, once its bytes are known to be there.
//   - Regions are in pixels of the upright original, whatever a picture was shown
//     at; what is known of a region or a comparison comes as text beside it.
//   - Network links are never fetched.
//   - A client's block can be given back byte for byte: see [Restore].
//
// Handles are not given here; the session does that. No clock and no randomness
// is used; the same source gives the same blocks. An [Inlet] holds no state of a
// session and may be used by many goroutines.
//
// The packages agent, app and the fronts may import ingest; it imports content,
// imaging, document and audio.
package ingest
