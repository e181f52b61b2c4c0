package delivery

import "strconv"

// Disposition is what was done with one block of one request. The zero value
// is not a disposition.
type Disposition uint8

// The dispositions.
const (
	_           Disposition = iota
	Inline                  // as it is
	Shrunk                  // a smaller variant of the same kind
	Converted               // another format or form: SVG as text, PDF as text, WebP as PNG
	Described               // another model's words about it
	Path                    // the path of a file that the model's tools can read
	Placeholder             // a labelled line that says what is not shown
	Stripped                // taken out of this turn after the backend refused the request
	Refused                 // not sendable at all, or refused by this backend before
)

var dispositionNames = [...]string{
	Inline: "inline", Shrunk: "shrunk", Converted: "converted", Described: "described", Path: "path",
	Placeholder: "placeholder", Stripped: "stripped", Refused: "refused",
}

// String is the word used in receipts.
func (d Disposition) String() string {
	if d.valid() {
		return dispositionNames[d]
	}
	return "disposition(" + strconv.Itoa(int(d)) + ")"
}

func (d Disposition) valid() bool { return d > 0 && int(d) < len(dispositionNames) }

// Dispositions lists all of them.
func Dispositions() []Disposition {
	return []Disposition{Inline, Shrunk, Converted, Described, Path, Placeholder, Stripped, Refused}
}

// Degraded reports whether the model got less than the block itself.
func (d Disposition) Degraded() bool { return d.rank() < rankWhole }

const (
	rankStub      = 0
	rankPath      = 1
	rankDescribed = 2
	rankWhole     = 3
)

// rank orders dispositions by how much of the block the model gets.
func (d Disposition) rank() int {
	switch d {
	case Inline, Shrunk, Converted:
		return rankWhole
	case Described:
		return rankDescribed
	case Path:
		return rankPath
	case Placeholder, Stripped, Refused:
		return rankStub
	}
	panic("delivery: invalid disposition " + d.String())
}
