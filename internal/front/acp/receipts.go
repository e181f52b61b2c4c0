package acp

import (
	"strconv"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/delivery"
)

// receipt says what was done with one block, with the same fields as a receipt
// line of "tote run --json".
type receipt struct {
	ID          string         `json:"id"`
	Request     int            `json:"request"`
	Attempt     int            `json:"attempt"`
	Label       string         `json:"label"`
	Name        string         `json:"name"`
	Kind        string         `json:"kind"`
	Origin      *receiptOrigin `json:"origin"`
	Disposition string         `json:"disposition"`
	Reason      string         `json:"reason"`
	Detail      string         `json:"detail"`
	Route       string         `json:"route"`
	Model       string         `json:"model"`
	Path        string         `json:"path"`
	MIME        string         `json:"mime"`
	Bytes       int64          `json:"bytes"`
	Width       int            `json:"width"`
	Height      int            `json:"height"`
	SHA256      string         `json:"sha256"`
	Tokens      int            `json:"tokens"`
}

type receiptOrigin struct {
	Inlet  string `json:"inlet"`
	Path   string `json:"path,omitempty"`
	Chosen string `json:"chosen_by,omitempty"`
}

func receiptOf(r delivery.Receipt, request, attempt int) receipt {
	detail := r.Reason.User()
	if r.Detail != "" {
		detail += ": " + r.Detail
	}
	out := receipt{
		ID: strconv.Itoa(request) + ":" + string(r.Handle), Request: request, Attempt: attempt,
		Label: string(r.Handle), Name: r.Name, Kind: r.Kind.String(), Disposition: r.Disposition.String(), Reason: r.Reason.String(),
		Detail: detail, Route: r.Route.String(), Model: r.Model, Path: r.Path, MIME: r.Blob.MIME, Bytes: r.Blob.Size,
		Width: r.Blob.Width, Height: r.Blob.Height, Tokens: r.Tokens,
	}
	if !r.Blob.IsZero() {
		out.SHA256 = r.Blob.Digest.String()
	}
	if r.Origin != (content.Origin{}) {
		out.Origin = &receiptOrigin{Inlet: r.Origin.Inlet.String(), Path: r.Origin.Path, Chosen: r.Origin.Chooser.String()}
	}
	return out
}

// receipts are those of a turn, the newest of each block, in the order of the
// blocks.
type receipts struct {
	list []receipt
	at   map[string]int // by id
}

// add books an event and returns its receipts as they go out.
func (rs *receipts) add(e agent.Receipts) []receipt {
	if rs.at == nil {
		rs.at = map[string]int{}
	}
	out := make([]receipt, 0, len(e.List))
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
