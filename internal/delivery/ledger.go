package delivery

import (
	"maps"

	"tote/internal/content"
)

// LedgerEntry is what was last sent for one block.
type LedgerEntry struct {
	Disposition Disposition
	Reason      Reason
	// Variant is the blob that was sent, zero for a disposition without one.
	Variant content.Blob
	// Detail is what stood beside the reason.
	Detail string
	// Note is the path or the description that the model was given; a stub
	// that named it is sent with the same words again.
	Note string
}

// Ledger is the memory of a lane: for each block what was last sent, and how
// many messages are left out. It is a value: Settle returns a new one and leaves the old as it was.
type Ledger struct {
	entries map[content.Handle]LedgerEntry
}

// NewLedger makes a ledger of stored rows. A row that no lane can have written
// is left out, so that a damaged database costs a prompt cache and no more.
func NewLedger(rows map[content.Handle]LedgerEntry) Ledger {
	entries := maps.Clone(rows)
	maps.DeleteFunc(entries, func(h content.Handle, e LedgerEntry) bool {
		return !e.sound() || h == leftOutHandle && e.leftOut() < 0
	})
	return Ledger{entries: entries}
}

// sound reports whether a lane can have written e.
func (e LedgerEntry) sound() bool {
	switch {
	case !e.Disposition.valid() || !e.Reason.valid() || e.Disposition == Stripped:
		return false
	case e.Disposition == Described && e.Note == "":
		return false
	}
	return !e.Disposition.Degraded() || e.Reason.Model() != "" && e.Variant.IsZero()
}

// copied is a ledger that may be written to.
func (l Ledger) copied() Ledger {
	if l.entries == nil {
		return Ledger{entries: map[content.Handle]LedgerEntry{}}
	}
	return Ledger{entries: maps.Clone(l.entries)}
}

// Len returns how many rows the ledger has.
func (l Ledger) Len() int { return len(l.entries) }

// Lookup returns what was last sent for h.
func (l Ledger) Lookup(h content.Handle) (LedgerEntry, bool) {
	e, ok := l.entries[h]
	return e, ok
}

// Behind is what of l goes on to hold when a summary stands for the messages in
// covered, which lead the conversation: all but their rows, so that nothing of what
// comes behind them comes back larger.
func (l Ledger) Behind(covered []content.Message) Ledger {
	out := l.copied()
	for _, m := range covered {
		for _, b := range m.Blocks() {
			delete(out.entries, b.BlockHandle())
		}
	}
	if l.LeftOut() <= len(covered) {
		delete(out.entries, leftOutHandle)
	}
	return out
}

// Changed returns the entries of l that older lacks or has otherwise, which is
// what has to be stored.
func (l Ledger) Changed(older Ledger) map[content.Handle]LedgerEntry {
	out := map[content.Handle]LedgerEntry{}
	for h, e := range l.entries {
		if o, ok := older.entries[h]; !ok || o != e {
			out[h] = e
		}
	}
	return out
}

// Of returns the entries of some blocks, for a lane that goes on with them.
func (l Ledger) Of(blocks map[content.Handle]bool) map[content.Handle]LedgerEntry {
	out := map[content.Handle]LedgerEntry{}
	for h, e := range l.entries {
		if blocks[h] && h != leftOutHandle {
			out[h] = e
		}
	}
	return out
}
