// Package store keeps the bytes of attachments by their content.
//
// A blob is the file attachments/<sha256 in lower-case hex>, mode 0600 in a
// folder of mode 0700. It is written to a temporary file beside its place,
// fsynced, renamed, and the folder is fsynced, so that a name never stands for
// half a blob, also after a crash. Equal bytes are stored once; storing them
// again refreshes the time of the file, and repairs it if it was damaged.
//
// Invariants:
//
//   - Bytes are checked against their name before anybody gets them: once for
//     each process and file, and again whenever the file's size, time or
//     identity has changed.
//   - Storing holds the lock file .lock shared; collecting and removing hold it
//     exclusively. So what is stored while a collection runs is either fresh
//     enough for its grace period or is stored after it, and a temporary file
//     that a collection sees was left by a process that died.
//   - Files whose names are neither a digest nor a temporary name are left
//     alone. No name from outside is ever used as a path.
//
// Several processes may use one folder at once. The package knows nothing
// about who refers to a blob: the caller of Collect says so.
//
// It imports content only. Adapters and surfaces do not import it; they get
// bytes through an interface of their own.
package store
