// Package config finds, reads, merges, checks and fingerprints the
// configuration. Its result is plain data; it starts nothing, opens no
// connection and reads no environment variable beyond those that name folders.
//
// Two files are read: the user's (over the servers of mcp.json in the same folder)
// and, if the session's working folder lies in a project that has one, the project's
// (over the .mcp.json beside it). Objects are merged member by member, user before
// project; lists are replaced, except the permission lists, the hooks, disabled
// tools, instructions and additional directories, which are joined so that a project
// cannot drop what the user laid down. A member that changes what an entry is (a provider's kind or
// base_url, a server's command or url, an agent's runner or provider) replaces
// the whole entry, so that the user's key never follows to another address. A proxy
// and a ca_file do not: a project can give them once it is trusted, and the words
// that ask for trust name them.
//
// Invariants:
//   - A project file that the user has not trusted at its present fingerprint can
//     only narrow. Everything else in it is left out and named in Withheld.
//   - An unknown member, a wrong type and a duplicate are errors with file, line
//     and column. No error and no Redacted output holds a key or a header value.
//   - A key written as "$NAME" or "keyring:NAME" is looked up only when it is used,
//     and so are a proxy and the certificates of a ca_file.
//   - A vendor's key goes to that vendor's own addresses only, and a name that is
//     known never stands for another vendor's address.
//   - Parsing never panics, and never reads more than MaxFile bytes.
//
// It refuses to guess: there is no fallback for a file that is broken. What a
// caller does with one at a reload is the caller's business.
//
// The trust covers the files listed by Project.Files. What those files name,
// such as a script in the repository that a command runs, is not covered.
//
// It imports no package of this module. The wiring and cmd may import it.
package config
