package web

import "net/url"

// Render turns a page into text.
func Render(page string, base *url.URL, f Format) string { return render(page, base, f) }

// The bounds of a body.
const (
	MaxText  = maxText
	MaxMedia = maxMedia
	PerPage  = perPage
)
