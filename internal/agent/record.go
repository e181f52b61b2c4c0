package agent

import (
	"tote/internal/content"
	"tote/internal/delivery"
)

// ReceiptRecord is a receipt as scripts and clients read it. The names of its
// fields are a contract, described in docs/json.md.
type ReceiptRecord struct {
	// ID is the same for all attempts of a request.
	ID          string         `json:"id"`
	Request     int            `json:"request"`
	Attempt     int            `json:"attempt"`
	Label       string         `json:"label"`
	Name        string         `json:"name"`
	Kind        string         `json:"kind"`
	Origin      *ReceiptOrigin `json:"origin"`
	Disposition string         `json:"disposition"`
	Partial     bool           `json:"partial"`
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

// ReceiptOrigin is where a block came from.
type ReceiptOrigin struct {
	Inlet  string `json:"inlet"`
	Path   string `json:"path,omitempty"`
	Chosen string `json:"chosen_by,omitempty"`
}

// RecordOf spells a receipt of a request and attempt.
func RecordOf(r delivery.Receipt, request, attempt int) ReceiptRecord {
	detail := r.Reason.User()
	if r.Detail != "" {
		detail += ": " + r.Detail
	}
	out := ReceiptRecord{
		ID: delivery.ReceiptID(request, r.Handle), Request: request, Attempt: attempt,
		Label: string(r.Handle), Name: r.Name, Kind: r.Kind.String(), Disposition: r.Disposition.String(), Partial: r.Partial,
		Reason: r.Reason.String(), Detail: detail, Route: r.Route.String(), Model: r.Model, Path: r.Path, MIME: r.Blob.MIME,
		Bytes: r.Blob.Size, Width: r.Blob.Width, Height: r.Blob.Height, Tokens: r.Tokens,
	}
	if !r.Blob.IsZero() {
		out.SHA256 = r.Blob.Digest.String()
	}
	if r.Origin != (content.Origin{}) {
		out.Origin = &ReceiptOrigin{Inlet: r.Origin.Inlet.String(), Path: r.Origin.Path, Chosen: r.Origin.Chooser.String()}
	}
	return out
}
