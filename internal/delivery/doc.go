// Package delivery is the heart: it decides what happens to each block on its
// way to a model, and accounts for it.
//
// It is pure: the same input gives the same output; no I/O, no clock, no
// randomness, no bytes of an attachment. [Decide] turns measured facts into a
// [Plan]; the agent carries the plan out (cuts variants, stages files, loads
// text); [Settle] checks the results and gives the [Prompt] that an adapter may
// spell, one [Receipt] for every block, and the [Ledger] to decide with next
// time. [Next] says what to do after a request failed.
//
// Where a request would be too long, things give way in one order: old output of
// tools loses its middle, then old media and texts go, then a summary stands for
// the oldest turns where the agent makes one ([Plan.WantsSummary]), and else they
// are left out; last, older outputs of the current turn become lines. What the user
// wrote never gives way, and what the user took out of the conversation is a line.
// [Plan.Usage] tells what each part takes.
//
// Invariants: every block has exactly one receipt per request; order is kept;
// budgets hold or the receipt says which block gave way; within a lane (one
// session on one path, model and generation) a block never goes up again and a
// turn that is left out never comes back, so that the earlier part of the next
// request is the same to the byte; two messages of the user never follow each
// other; recovery adds facts and decides again, nobody edits a prompt.
//
// Any package but content may import delivery; it imports content only.
package delivery
