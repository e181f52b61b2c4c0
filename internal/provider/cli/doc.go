// Package cli has the command-line agents claude and codex and gemini, or any
// program that the user describes, answer in place of a server. A [Runner] is a
// provider like any other.
//
// Each request starts a fresh process, which gets the whole settled conversation
// as a transcript with its attachments at their places. No session of the
// program is resumed, so nothing is lost with one and nothing is attached twice.
// The program works with its own tools and its own permissions; the tools, the
// seed and the longest answer of a request do not reach it.
//
// How attachments travel:
//   - claude reads one line of JSON on its standard input. Pictures and PDF stand
//     in it as base64 that is streamed from the store.
//   - codex is given a file by "-i" for each picture; "[Image #1]" stands at the
//     picture's place, the name that codex itself gives it.
//   - gemini finds "@PATH" at the place. What is an "@" in prose gets a backslash,
//     else gemini would look for a file and rewrite the prose. gemini appends
//     files in the order of their names, which therefore begin with a number.
//   - custom finds "[attached file 1: PATH]", and its command may name the files.
//
// A body holds what goes to the standard input. Where files are named in it, the
// body has their bare names, and Stream puts the folder before them.
//
// Invariants: rendering is owned by delivery.Render, with a hole for every
// medium; only then are holes made into references, so none is dropped. No prose
// ever holds base64. Files lie in a folder of their own below the scratch folder,
// with mode 0700 and a lock that is held as long as the process is there, and are
// removed before Stream returns. What a crash left is removed by [Sweep], which
// goes by the lock and never by age. A process is started in a group of its own,
// and the whole group is ended before Stream returns. Where this program is killed
// before that, the group is ended all the same: by the system on Windows, else by
// a small shell in the group that waits for our end, and on Linux the process is
// told by the kernel too. Who has left the group is out of reach.
//
// A program that ends well and has not taken all of its standard input makes a
// remark of a loss. On Linux and macOS that is exact. Elsewhere what fits into the
// pipe, about 4 KB on Windows and up to 64 KB on other systems, counts as taken.
//
// The package refuses media that a program cannot take, and a prompt that it
// would cut. It downloads nothing and reads no credentials.
//
// Package cli imports content, delivery and provider; the wiring imports it.
package cli
