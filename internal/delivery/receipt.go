package delivery

import (
	"strconv"

	"tote/internal/content"
)

// Route is how a block came into a request.
type Route uint8

// The routes. The zero value is not one.
const (
	_            Route = iota
	RoutePrompt        // in the current prompt
	RouteHistory       // in an earlier turn
	RouteResult        // in a tool result of this turn
)

var routeNames = [...]string{RoutePrompt: "prompt", RouteHistory: "history", RouteResult: "result"}

func (r Route) String() string {
	if int(r) < len(routeNames) && r > 0 {
		return routeNames[r]
	}
	return "route?"
}

// ReceiptID names the receipt of a block in a request of a session. All attempts
// of the request share it.
func ReceiptID(request int, h content.Handle) string {
	return "r" + strconv.Itoa(request) + "-" + string(h)
}

// Receipt says what was done with one block in one request.
type Receipt struct {
	Handle      content.Handle
	Name        string
	Kind        content.Kind
	Origin      content.Origin
	Disposition Disposition
	Reason      Reason
	// Detail adds to the reason, "" for nothing.
	Detail string
	Route  Route
	// Path and Model are where it went.
	Path, Model string
	// Blob is what was sent, or what was not; zero for prose.
	Blob content.Blob
	// Tokens is the estimate of what it costs in this request.
	Tokens int
	// Partial: what goes out is not the whole of it, for example the first
	// frame of an animation.
	Partial bool
}

// Degraded reports whether the model gets less than the block itself.
func (r Receipt) Degraded() bool { return r.Disposition.Degraded() || r.Partial }

// Notice is a line for the user about something that changed what was sent.
type Notice struct {
	Severity Severity
	Title    string
	Detail   string
}

// Severity is how much a notice matters.
type Severity uint8

// The severities.
const (
	SeverityInfo Severity = iota
	SeverityWarning
	SeverityError
)

func (s Severity) String() string {
	switch s {
	case SeverityInfo:
		return "info"
	case SeverityWarning:
		return "warning"
	case SeverityError:
		return "error"
	}
	return "severity?"
}
