package content

import (
	"strconv"
	"strings"
)

// Handle names one block for as long as its session lives, for example
// "image-1.png". It is given once, in order, and never reused.
type Handle string

// NewHandle makes the handle of the n-th block of a kind. ext comes with its
// dot, or is empty.
func NewHandle(k Kind, n int, ext string) Handle {
	return Handle(k.String() + "-" + strconv.Itoa(n) + ext)
}

// Ordinal returns the kind word and the number of a handle; ok is false for
// text that was not made by NewHandle.
func (h Handle) Ordinal() (kind string, n int, ok bool) {
	s, _, _ := strings.Cut(string(h), ".")
	i := strings.LastIndexByte(s, '-')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(s[i+1:])
	if err != nil || n < 1 {
		return "", 0, false
	}
	return s[:i], n, true
}

// Inlet is the door through which a block came in.
type Inlet uint8

// The inlets.
const (
	_            Inlet = iota
	InletFlag          // -a FILE
	InletStdin         // -a -
	InletPrompt        // the text of a prompt
	InletMention       // an explicit @path in a prompt
	InletPaste         // clipboard or bracketed paste
	InletDrop          // dropped on a terminal
	InletACP           // a content block of an editor
	InletTool          // output of a built-in tool
	InletMCP           // output of an MCP server's tool
)

var inletNames = [...]string{
	InletFlag: "flag", InletStdin: "stdin", InletPrompt: "prompt", InletMention: "mention", InletPaste: "paste",
	InletDrop: "drop", InletACP: "acp", InletTool: "tool", InletMCP: "mcp",
}

func (i Inlet) String() string {
	if int(i) < len(inletNames) && i > 0 {
		return inletNames[i]
	}
	return "inlet(" + strconv.Itoa(int(i)) + ")"
}

// Chooser is who picked what to hand over; it decides which files may be read.
type Chooser uint8

// The choosers. The zero value is not one, so a forgotten chooser is refused.
const (
	_             Chooser = iota
	ChosenByUser          // may lie anywhere readable
	ChosenByModel         // must lie under the roots
	ChosenByTool          // must lie under the roots
)

var chooserNames = [...]string{ChosenByUser: "user", ChosenByModel: "model", ChosenByTool: "tool"}

func (c Chooser) String() string {
	if int(c) < len(chooserNames) && c > 0 {
		return chooserNames[c]
	}
	return "chooser(" + strconv.Itoa(int(c)) + ")"
}

// Origin says where a block came from.
type Origin struct {
	Inlet Inlet `json:"inlet"`
	// Path is the full path of the file it was read from, empty when it
	// came as bytes.
	Path string `json:"path,omitempty"`
	// Chooser picked it.
	Chooser Chooser `json:"chooser"`
}

// Fault says why an attachment cannot be sent as the kind it claims to be.
// The zero value means that nothing is wrong with it.
type Fault uint8

// The faults.
const (
	FaultNone          Fault = iota
	FaultEmpty               // no bytes at all
	FaultBadPayload          // base64, URI or block fields that cannot be read
	FaultDamaged             // claims a format and does not decode to its end
	FaultTooManyPixels       // never decoded whole
	FaultTooLarge            // over the size cap of an attachment
	FaultUnreadable          // the file could not be read
	FaultNotFound            // no such file
	FaultDenied              // outside the roots and not permitted
	FaultUnsupported         // recognised, but nothing here decodes it
	FaultEncrypted           // needs a password
	FaultMissing             // its blob is gone from the store or damaged there
)

var faultNames = [...]string{
	FaultNone: "none", FaultEmpty: "empty", FaultBadPayload: "bad_payload", FaultDamaged: "damaged",
	FaultTooManyPixels: "too_many_pixels", FaultTooLarge: "too_large", FaultUnreadable: "unreadable", FaultNotFound: "not_found",
	FaultDenied: "denied", FaultUnsupported: "unsupported", FaultEncrypted: "encrypted", FaultMissing: "missing",
}

func (f Fault) String() string {
	if int(f) < len(faultNames) {
		return faultNames[f]
	}
	return "fault(" + strconv.Itoa(int(f)) + ")"
}

// Changes is the set of things that preparation did to a picture.
type Changes uint16

// The changes.
const (
	ChangeOriented     Changes = 1 << iota // turned upright
	ChangeShrunk                           // fewer pixels
	ChangeConverted                        // another format
	ChangeRecompressed                     // same pixels count, fewer bytes
	ChangeFirstFrame                       // first frame of an animation
	ChangeDepth                            // 16-bit or sub-byte to 8-bit
	ChangeFlattened                        // transparency laid on white
	ChangeColor                            // CMYK, YCCK or palette to RGB
)

var changeNames = [...]string{
	"turned upright", "shrunk", "converted", "recompressed", "first frame only", "reduced to 8 bits",
	"transparency flattened", "colours converted",
}

// Has reports whether all of want happened.
func (c Changes) Has(want Changes) bool { return c&want == want }

// String lists the changes in words, "" for none.
func (c Changes) String() string {
	var out []string
	for i, name := range changeNames {
		if c&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

// Attachment is an ingested source: its bytes as they came, the form that was
// prepared for sending, and what is known about both.
type Attachment struct {
	// Handle is empty until the session has given one.
	Handle Handle `json:"handle,omitempty"`
	// Name is the user's file name, without its folder. It may be empty.
	Name   string `json:"name,omitempty"`
	Origin Origin `json:"origin"`
	// Declared is the media type that the inlet claimed.
	Declared string `json:"declared,omitempty"`
	// Original is the bytes as they came in.
	Original Blob `json:"original"`
	// Prepared is the form to send. It equals Original where nothing had to
	// be done, and is zero where nothing can be sent as this kind. In a
	// settled prompt it is the variant that the path takes.
	Prepared Blob `json:"prepared"`
	// Changes is what preparation did between the two.
	Changes Changes `json:"changes,omitempty"`
	Fault   Fault   `json:"fault,omitempty"`
	// Detail tells more about the fault or the changes, for people, without
	// a final full stop: "truncated after 1.2 MB", "frame 1 of 12".
	Detail string `json:"detail,omitempty"`
}
