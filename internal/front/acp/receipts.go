package acp

import (
	"strconv"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/front/acp/wire"
)

func receiptOf(r delivery.Receipt, request, attempt int) wire.Receipt {
	detail := r.Reason.User()
	if r.Detail != "" {
		detail += ": " + r.Detail
	}
	out := wire.Receipt{
		ID: strconv.Itoa(request) + ":" + string(r.Handle), Request: request, Attempt: attempt,
		Label: string(r.Handle), Name: r.Name, Kind: r.Kind.String(), Disposition: r.Disposition.String(), Reason: r.Reason.String(),
		Detail: detail, Route: r.Route.String(), Model: r.Model, Path: r.Path, MIME: r.Blob.MIME, Bytes: r.Blob.Size,
		Width: r.Blob.Width, Height: r.Blob.Height, Tokens: r.Tokens,
	}
	if !r.Blob.IsZero() {
		out.SHA256 = r.Blob.Digest.String()
	}
	if r.Origin != (content.Origin{}) {
		out.Origin = &wire.ReceiptOrigin{Inlet: r.Origin.Inlet.String(), Path: r.Origin.Path, Chosen: r.Origin.Chooser.String()}
	}
	return out
}

// receipts are those of a turn, the newest of each block, in the order of the
// blocks.
type receipts struct {
	list []wire.Receipt
	at   map[string]int // by id
}

// add books an event and returns its receipts as they go out.
func (rs *receipts) add(e agent.Receipts) []wire.Receipt {
	if rs.at == nil {
		rs.at = map[string]int{}
	}
	out := make([]wire.Receipt, 0, len(e.List))
	for _, r := range e.List {
		next := receiptOf(r, e.Request, e.Attempt)
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
