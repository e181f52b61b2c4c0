// Package checkpoint keeps files as they were before a turn changed them, and
// puts them back.
//
// Whoever changes files calls [Keeper.Keep] before and [Keeper.Wrote] after, both
// with the same name of the file. Keep stores the bytes as a blob and notes mode
// and size, or that there was no file. Wrote notes what the turn left, which is
// how a later change by somebody else is told from the turn's own. A turn has one
// checkpoint of a file; it gets another when the file was changed by somebody
// else between two writes of the turn, so that each checkpoint is a step from
// one content to the next. [Keeper.Expect] may say between the two what is about
// to be written: then a program that is killed after its write is still known as
// the one that wrote.
//
// # Restoring
//
// [Keeper.Restore] follows the steps of a file backwards, newest first, as long
// as each leads to where the next begins, and puts the file there at once. Where
// the chain breaks, somebody else has changed the file: it goes no further back
// and is named. A step whose end nobody noted, because the program died between
// the write and Wrote, is such a break too, unless the file is as it was before or
// as the turn said that it would be.
//
//   - Every file is written beside its place and synced before the first is
//     renamed. Where there is no room for them all, no file is changed; see
//     [ErrNothingRestored].
//   - The mode of a file is that of the checkpoint, unless somebody else has
//     changed the mode since. Owner, times and hard links are those of a new file.
//   - A file that a turn made is removed; folders that it made for it stay. A file
//     that it deleted is made again, with its folders.
//   - A failure stays with its file, and the others are put back. Running again
//     after a failure or a crash does what is left, and cleans up after the first
//     run.
//   - Just before it replaces or removes a file, it looks once more; a file that
//     has changed in the meantime is left alone.
//
// # What is refused
//
// Paths must be absolute. A link is followed when a file is kept, and the file
// behind it is what is put back: never through a link that was put in its place,
// or in that of one of its folders, afterwards. What is not a regular file
// (folders, pipes, devices, links to nothing) is refused, and so is a file over
// the limit, with a [*LimitError].
//
// The package imports content and store. It declares the rows that it needs; the
// history has them. The agent uses it through an interface of its own.
package checkpoint
