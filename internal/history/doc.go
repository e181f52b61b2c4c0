// Package history keeps the record of every session in one SQLite database for
// each home: turns, what was sent for them, and what was learned about
// endpoints.
//
// The ordered list of blocks is the record. Texts that are derived from it
// (titles, summaries, compact lines) are never parsed back. Payload bytes are
// never in the database, only digests of blobs; the text of a conversation is.
//
// # Terms
//
//   - session: a conversation; it lives in one folder (cwd) and may be a fork
//     of another (parent).
//   - child: a session that works for another (parent), which its kind says; it
//     is not listed with the user's sessions and goes with its parent. A fork
//     has no kind and stays.
//   - undone turn: one that was taken out of the conversation. It stays on
//     record, with its blobs, handles and receipts, and nothing else counts it.
//   - turn: a prompt and all messages that answer it, in order.
//   - draft: the streamed text of an answer that is not a message yet.
//   - lane: a session on one endpoint in one generation; it has a ledger.
//   - endpoint: the hash of provider kind, base URL and model; never a key.
//
// # Schema
//
//	session  one row each; counts what lists show; dirs is a JSON list
//	turn     seq counts from 1 without holes; stop and usage when it ended;
//	         request is the first request that receipts were stored for; undone
//	         is 0 for a turn of the conversation, n for the n-th undo, and -n
//	         for the bare row of such a turn in a fork; cost is in US dollars
//	message  seq counts from 1 in its turn; parts is a JSON list, see below
//	envelope a client's block with its payload cut out, for one part
//	draft    at most one for each turn
//	counter  the last handle number of each kind; never goes back
//	summary  texts that stand for the leading turns up to the seq upto, at
//	         most 16 a session; those of undone turns are removed
//	detached the handles that the user switched off
//	checkpoint  files before and after a turn changed them (package checkpoint)
//	job      work in the background, and the process that does it
//	blob_ref every digest that a session's parts, envelopes, ledgers and
//	         checkpoints (before) name
//	lane, ledger   what was last sent, by handle; older generations are dropped
//	receipt  new and changed receipts only, by handle and request; the full
//	         list of a request is made of the newest before it
//	endpoint, verdict, evidence, learned   what is known about endpoints;
//	         verdicts say when they end, learned limits when they were learned
//	said     what a server said of itself, in the form of the package profile
//	variant  a cache of what was cut from originals, at most 20,000; its blobs
//	         are no references, what is lost is cut again
//	description  a cache of what models said about pictures, at most 10,000,
//	         by digest and question; no references either
//	permit   what users allowed for good, by project folder
//
// Times are Unix nanoseconds, 0 for none. Enumerations are stored as the words
// that they print, except sets of changes and spellings, which are numbers.
//
// parts is a list of {"k": kind, "v": value} with short field names (wire.go).
// The encoder visits parts, so a kind that is added and forgotten here does not
// compile. A word that this program does not know is an *UnknownKindError,
// never an empty part. Strings are valid UTF-8 when they get here; a byte that
// is not is stored as U+FFFD, which is what any JSON would make of it.
//
// The schema's version is SQLite's user_version. Files in migrations are applied
// in order and never edited; a new kind of part needs one too, so that an older
// program refuses the database as a whole (*VersionError).
//
// # Invariants
//
//   - BeginTurn, AppendMessage, SaveDraft, EndTurn, UndoTurns, checkpoints,
//     jobs, permits, detached blocks and whatever makes or removes a session are
//     on the disk when they return (WAL, synchronous=FULL). What only saves work
//     (ledgers, receipts, counters, verdicts, summaries, costs) is written in
//     order but not synced by itself: the next of the durable ones takes it
//     along, so a power cut loses a tail and never the middle.
//   - Handle numbers and request numbers are never given twice, in a session or
//     in its forks; a child begins after the numbers of its parent.
//   - Several processes may use the database at once: writers wait for each
//     other for up to five seconds.
//   - The file has mode 0600. Removed text is overwritten (secure_delete).
//
// # Forgetting
//
// ForgetHandle takes a block out of a session and of all that was made from it
// (children, forks, and theirs), undone turns included: the same handle with the
// same bytes, and the same bytes under other handles. What goes: digests in
// parts and receipts, envelopes, ledger rows with their notes, texts, titles
// made of them, summaries over the turn, variants, descriptions, and verdicts on
// bytes that are gone. What stays: that there was a block, its name, its receipts
// without the digest, what others said about it in answers and reports, files
// kept by checkpoints, and the session that a fork was made from. It returns the
// digests that nothing names any more; the caller removes these blobs.
// DeleteSession takes children along and the descriptions of pictures that no
// session has any more.
//
// The package imports content and delivery. The agent uses it through
// interfaces of its own; surfaces ask the agent.
package history
