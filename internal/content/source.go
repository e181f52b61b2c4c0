package content

// A Payload is what an inlet hands over. The set is closed: Prose, Bytes,
// Base64, DataURI, Path, Link, EmbeddedText, Given, Crop, Compare, Unknown and
// Broken.
//
//sumtype:decl
type Payload interface{ payload() }

// Prose is text that the user or a tool wrote; it reaches the model verbatim.
type Prose struct{ Text string }

// Bytes is raw content. The receiver owns Data.
type Bytes struct{ Data []byte }

// Base64 is content in any base64 spelling, as it stood in a JSON string
// without escapes. The receiver may keep Data (it aliases the client's line).
type Base64 struct{ Data []byte }

// DataURI is a whole "data:" URI.
type DataURI struct{ URI string }

// Path names a file. Relative paths are taken from the session's folder.
type Path struct{ Path string }

// Link names a resource; a file: URI that its chooser may read is captured.
type Link struct {
	URI, Name, Title, Description, MIME string
	// Size is in bytes as stated, 0 when it was not.
	Size int64
}

// EmbeddedText is a text resource that came by value.
type EmbeddedText struct{ URI, Text string }

// Given is a block that another session of the same store holds. It is handed
// over as it is, with its handle; nothing of it is decoded again.
type Given struct{ Block Block }

// MaxZoom is the most that a region is enlarged.
const MaxZoom = 8

// Crop is a region of a picture that the session holds. The region is in pixels
// of the original, upright, whatever the picture was shown at; W and H of 0 mean
// the whole picture.
type Crop struct {
	Handle     Handle
	X, Y, W, H int
	// Rotate turns the region clockwise after it was cut: 0, 90, 180 or 270
	// degrees.
	Rotate int
	// Zoom is the whole number by which the region is enlarged, 1 to MaxZoom;
	// 0 is 1. What would be larger than a picture may be is enlarged less.
	Zoom int
}

// Compare is two pictures that the session holds, in one.
type Compare struct {
	A, B Handle
	How  CompareHow
}

// CompareHow is how two pictures are put into one.
type CompareHow uint8

// The ways to compare. The zero value is not one.
const (
	_ CompareHow = iota
	// CompareSide puts them side by side at the same height.
	CompareSide
	// CompareDiff marks on a dimmed copy of the first where the second
	// differs. They must have the same size.
	CompareDiff
)

var compareNames = [...]string{CompareSide: "side", CompareDiff: "diff"}

// String is the word that a tool's argument uses.
func (h CompareHow) String() string {
	if int(h) < len(compareNames) && h > 0 {
		return compareNames[h]
	}
	return "compare?"
}

// Unknown is a block of a kind nobody here knows. Raw is its JSON.
type Unknown struct {
	Type string
	Raw  []byte
}

// Broken is a block of a known kind whose payload cannot be read.
type Broken struct{ Why string }

func (Prose) payload()        {}
func (Bytes) payload()        {}
func (Base64) payload()       {}
func (DataURI) payload()      {}
func (Path) payload()         {}
func (Link) payload()         {}
func (EmbeddedText) payload() {}
func (Given) payload()        {}
func (Crop) payload()         {}
func (Compare) payload()      {}
func (Unknown) payload()      {}
func (Broken) payload()       {}

// ClientBlock is the JSON of a client's content block and where its payload
// stands in it: Raw[Start:End] is the inside of the payload's JSON string,
// without the quotes. Start == End means that there is no payload to cut out.
// Raw may alias the client's line; the receiver may keep it.
type ClientBlock struct {
	Raw        []byte
	Start, End int
}

// Source is one thing that an inlet hands over.
type Source struct {
	Payload Payload
	Inlet   Inlet
	Chooser Chooser
	// As is the kind that the inlet claims, 0 where it leaves that open.
	// Content beats it.
	As Kind
	// Declared is the media type that the inlet claims, "" for none.
	Declared string
	// Name is the user's name for it, "" for none.
	Name string
	// URI is the name under which a client embedded or sent it, "" for none.
	URI string
	// Client is the block as a client sent it, zero from other inlets.
	Client ClientBlock
}
