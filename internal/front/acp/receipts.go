package acp

import "tote/internal/agent"

// receipts are those of a turn, the newest of each block, in the order of the
// blocks.
type receipts struct {
	list []agent.ReceiptRecord
	at   map[string]int // by id
}

// add books an event and returns its receipts as they go out.
func (rs *receipts) add(e agent.Receipts) []agent.ReceiptRecord {
	if rs.at == nil {
		rs.at = map[string]int{}
	}
	out := make([]agent.ReceiptRecord, 0, len(e.List))
	for _, r := range e.List {
		next := agent.RecordOf(r, e.Request, e.Attempt)
		out = append(out, next)
		if i, ok := rs.at[next.ID]; ok {
			rs.list[i] = next
			continue
		}
		rs.at[next.ID] = len(rs.list)
		rs.list = append(rs.list, next)
	}
	return out
}
