package content

import "strconv"

// Kind is the kind of a block.
type Kind uint8

// The kinds. The zero value is not one.
const (
	_ Kind = iota
	KindText
	KindImage
	KindAudio
	KindDocument
	KindResourceText
	KindResourceLink
	KindOpaque
)

var kindNames = [...]string{
	KindText: "text", KindImage: "image", KindAudio: "audio", KindDocument: "document", KindResourceText: "resource",
	KindResourceLink: "link", KindOpaque: "opaque",
}

// String is the word used in handles and receipts.
func (k Kind) String() string {
	if int(k) < len(kindNames) && k > 0 {
		return kindNames[k]
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// A Block is one piece of content that a user or a tool handed over. The set
// of kinds is closed: Text, Image, Audio, Document, ResourceText, ResourceLink
// and Opaque. Adding one breaks every [Visitor] at compile time.
//
//sumtype:decl
type Block interface {
	Part
	block()
	// Kind returns which of the kinds it is.
	Kind() Kind
	// BlockHandle returns the handle, "" before the session gave one.
	BlockHandle() Handle
}

// Text is prose, verbatim.
type Text struct {
	Handle Handle `json:"handle,omitempty"`
	Body   string `json:"body"`
}

// Image is a raster picture.
type Image struct {
	Attachment
	// Frames counts the pictures of an animation; 1 is a still.
	Frames int `json:"frames,omitempty"`
}

// Audio is a recording.
type Audio struct {
	Attachment
	// Millis is the duration in milliseconds, 0 when it is not known.
	Millis int64 `json:"millis,omitempty"`
}

// Document is a file that is neither picture, sound nor plain text: a PDF, an
// office file, an archive, or bytes of unknown nature.
type Document struct {
	Attachment
	// Pages is 0 when it is not known.
	Pages int `json:"pages,omitempty"`
	// Text is the text taken out of it, zero when there is none.
	Text Blob `json:"text"`
}

// ResourceText is a file or an embedded resource that is text, SVG included.
type ResourceText struct {
	Attachment
	// URI is how the client or the user named it.
	URI string `json:"uri,omitempty"`
	// Body is empty in a record: the text is a blob. Settling a prompt
	// fills it from there for the time of one request.
	Body string `json:"-"`
}

// ResourceLink names a resource without carrying it.
type ResourceLink struct {
	Handle      Handle `json:"handle,omitempty"`
	Origin      Origin `json:"origin"`
	URI         string `json:"uri"`
	Name        string `json:"name,omitempty"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mime,omitempty"`
	// Size is in bytes as the client stated it, 0 when it did not.
	Size int64 `json:"size,omitempty"`
	// Fault says why the target was not captured, FaultNone when it was or
	// when nobody tried (network links).
	Fault  Fault  `json:"fault,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Opaque is a block of a kind that this program does not know. It is carried
// verbatim, never guessed at.
type Opaque struct {
	Handle Handle `json:"handle,omitempty"`
	Origin Origin `json:"origin"`
	// Type is the kind as its sender spelt it.
	Type string `json:"type"`
	// Raw is the sender's block as a stored blob.
	Raw Blob `json:"raw"`
}

func (Text) block()         {}
func (Image) block()        {}
func (Audio) block()        {}
func (Document) block()     {}
func (ResourceText) block() {}
func (ResourceLink) block() {}
func (Opaque) block()       {}

func (Text) part()         {}
func (Image) part()        {}
func (Audio) part()        {}
func (Document) part()     {}
func (ResourceText) part() {}
func (ResourceLink) part() {}
func (Opaque) part()       {}

// Kind implements Block.
func (Text) Kind() Kind { return KindText }

// Kind implements Block.
func (Image) Kind() Kind { return KindImage }

// Kind implements Block.
func (Audio) Kind() Kind { return KindAudio }

// Kind implements Block.
func (Document) Kind() Kind { return KindDocument }

// Kind implements Block.
func (ResourceText) Kind() Kind { return KindResourceText }

// Kind implements Block.
func (ResourceLink) Kind() Kind { return KindResourceLink }

// Kind implements Block.
func (Opaque) Kind() Kind { return KindOpaque }

// BlockHandle implements Block.
func (b Text) BlockHandle() Handle { return b.Handle }

// BlockHandle implements Block for every block that has an attachment.
func (a Attachment) BlockHandle() Handle { return a.Handle }

// BlockHandle implements Block.
func (b ResourceLink) BlockHandle() Handle { return b.Handle }

// BlockHandle implements Block.
func (b Opaque) BlockHandle() Handle { return b.Handle }

// A Visitor handles every kind of block. An exit implements it, so that it
// cannot forget one.
type Visitor[R any] interface {
	Text(Text) (R, error)
	Image(Image) (R, error)
	Audio(Audio) (R, error)
	Document(Document) (R, error)
	ResourceText(ResourceText) (R, error)
	ResourceLink(ResourceLink) (R, error)
	Opaque(Opaque) (R, error)
}

// Visit calls the method of v for the kind of b. It panics on a nil block,
// which no inlet makes.
func Visit[R any](b Block, v Visitor[R]) (R, error) {
	switch b := b.(type) {
	case Text:
		return v.Text(b)
	case Image:
		return v.Image(b)
	case Audio:
		return v.Audio(b)
	case Document:
		return v.Document(b)
	case ResourceText:
		return v.ResourceText(b)
	case ResourceLink:
		return v.ResourceLink(b)
	case Opaque:
		return v.Opaque(b)
	}
	panic("content: nil or foreign Block")
}

// WithHandle returns b carrying h.
func WithHandle(b Block, h Handle) Block {
	switch b := b.(type) {
	case Text:
		b.Handle = h
		return b
	case Image:
		b.Handle = h
		return b
	case Audio:
		b.Handle = h
		return b
	case Document:
		b.Handle = h
		return b
	case ResourceText:
		b.Handle = h
		return b
	case ResourceLink:
		b.Handle = h
		return b
	case Opaque:
		b.Handle = h
		return b
	}
	panic("content: nil or foreign Block")
}

// AttachmentOf returns the attachment of a block that has one.
func AttachmentOf(b Block) (Attachment, bool) {
	switch b := b.(type) {
	case Image:
		return b.Attachment, true
	case Audio:
		return b.Attachment, true
	case Document:
		return b.Attachment, true
	case ResourceText:
		return b.Attachment, true
	case Text, ResourceLink, Opaque:
		return Attachment{}, false
	}
	panic("content: nil or foreign Block")
}

// Blobs lists every blob that b needs to stay whole, for reachability.
func Blobs(b Block) []Blob {
	var out []Blob
	add := func(bs ...Blob) {
		for _, x := range bs {
			if !x.IsZero() {
				out = append(out, x)
			}
		}
	}
	switch b := b.(type) {
	case Image:
		add(b.Original, b.Prepared)
	case Audio:
		add(b.Original, b.Prepared)
	case Document:
		add(b.Original, b.Prepared, b.Text)
	case ResourceText:
		add(b.Original, b.Prepared)
	case Opaque:
		add(b.Raw)
	case Text, ResourceLink:
	}
	return out
}
