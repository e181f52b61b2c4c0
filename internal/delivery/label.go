package delivery

import (
	"strconv"
	"strings"

	"tote/internal/content"
)

// label spells the line that stands before a part, or in its place. Names from
// outside are made safe first, so a file name cannot end the line or the
// bracket.
type label struct {
	order *Order
	call  string
	// lookers and view are those of the facts; sees that the model takes
	// pictures.
	lookers []string
	view    string
	sees    bool
}

// labelFor spells labels for the order that o points to.
func labelFor(in *Input, o *Order) label {
	return label{order: o, lookers: in.Facts.Lookers, view: in.Facts.View, sees: in.Profile.Images.Answer == Yes}
}

func (l *label) text(b content.Block) string {
	s, _ := content.Visit(b, content.Visitor[string](l)) // its methods return no error
	return s
}

func (l *label) head(sb *strings.Builder, name, mime string) {
	sb.Grow(labelSize)
	sb.WriteByte('[')
	sb.WriteString(string(l.order.Handle))
	sep := ": "
	if name != "" {
		sb.WriteString(sep)
		sb.WriteString(content.Clean(name))
		sep = ", "
	}
	if mime != "" {
		sb.WriteString(sep)
		sb.WriteString(content.Clean(mime))
	}
}

// tail says what became of it where it is not shown, and closes the bracket.
func (l *label) tail(sb *strings.Builder) string {
	o := l.order
	if l.call != "" && o.whole() {
		sb.WriteString(", from tool call ")
		sb.WriteString(content.Clean(l.call))
	}
	switch o.Disposition {
	case Inline, Shrunk, Converted:
		sb.WriteByte(']')
	case Described:
		l.missing(sb)
		sb.WriteString("; ")
		sb.WriteString(o.Note)
		sb.WriteByte(']')
	case Path:
		l.missing(sb)
		sb.WriteString(". Its file: @")
		sb.WriteString(o.Note)
		sb.WriteByte(']')
	case Placeholder, Stripped, Refused:
		l.missing(sb)
		sb.WriteByte(']')
	}
	return sb.String()
}

func (l *label) missing(sb *strings.Builder) {
	if l.order.Reason == ReasonSummarised {
		sb.WriteString(", no longer in view")
	} else {
		sb.WriteString(", not shown: ")
		sb.WriteString(l.order.Reason.Model())
	}
	if l.order.Detail != "" {
		sb.WriteString(" (")
		sb.WriteString(content.Clean(l.order.Detail))
		sb.WriteByte(')')
	}
	l.offer(sb)
}

// lookTool is the name of the tool that has someone else look at a picture.
const lookTool = "look"

// offer says how the model can come by what is in a picture that is not shown.
func (l *label) offer(sb *strings.Builder) {
	o := l.order
	if o.block.Kind() != content.KindImage {
		return
	}
	if l.sees && l.view != "" && o.Disposition == Placeholder && o.Reason.passed() {
		sb.WriteString("; call ")
		sb.WriteString(content.Clean(l.view))
		sb.WriteString(" with ")
		sb.WriteString(string(o.Handle))
		sb.WriteString(" to see it again")
		return
	}
	if len(l.lookers) == 0 || !o.Reason.unseen() && (l.sees || !o.Reason.passed()) {
		return
	}
	sb.WriteString("; to have it looked at, call " + lookTool + " with ")
	sb.WriteString(string(o.Handle))
	sb.WriteString(" and a question (")
	for i, name := range l.lookers {
		if i > 0 {
			sb.WriteString(", ")
		}
		sb.WriteString(content.Clean(name))
	}
	if len(l.lookers) == 1 {
		sb.WriteString(" sees pictures)")
		return
	}
	sb.WriteString(" see pictures)")
}

// Text implements content.Visitor. It stands for the output of a tool that is not
// shown.
func (l *label) Text(b content.Text) (string, error) {
	var sb strings.Builder
	l.head(&sb, "", "")
	l.bytes(&sb, int64(len(b.Body)))
	return l.tail(&sb), nil
}

// Image implements content.Visitor.
func (l *label) Image(b content.Image) (string, error) {
	var sb strings.Builder
	shown := l.order.Send
	if shown.IsZero() {
		shown = b.Original
	}
	l.head(&sb, b.Name, orDeclared(shown.MIME, b.Declared))
	if shown.Width > 0 {
		sb.WriteString(", ")
		size(&sb, shown)
		if o := b.Original; shown.Width != o.Width && o.Width > 0 {
			sb.WriteString(" scaled from ")
			size(&sb, o)
		}
	}
	if b.Frames > 1 {
		sb.WriteString(", frame 1 of ")
		sb.WriteString(strconv.Itoa(b.Frames))
	}
	if !l.order.whole() {
		l.bytes(&sb, b.Original.Size)
	}
	return l.tail(&sb), nil
}

func size(sb *strings.Builder, b content.Blob) {
	sb.WriteString(strconv.Itoa(b.Width))
	sb.WriteByte('x')
	sb.WriteString(strconv.Itoa(b.Height))
}

func orDeclared(found, declared string) string {
	if found != "" {
		return found
	}
	return declared
}

// Audio implements content.Visitor.
func (l *label) Audio(b content.Audio) (string, error) {
	var sb strings.Builder
	l.head(&sb, b.Name, orDeclared(b.Original.MIME, b.Declared))
	if b.Millis > 0 {
		sb.WriteString(", ")
		sb.WriteString(strconv.FormatFloat(float64(b.Millis)/1000, 'f', 1, 64))
		sb.WriteString(" s")
	}
	l.bytes(&sb, b.Original.Size)
	return l.tail(&sb), nil
}

// Document implements content.Visitor.
func (l *label) Document(b content.Document) (string, error) {
	var sb strings.Builder
	l.head(&sb, b.Name, orDeclared(b.Original.MIME, b.Declared))
	if b.Pages > 0 {
		sb.WriteString(", ")
		sb.WriteString(strconv.Itoa(b.Pages))
		sb.WriteString(" pages")
	}
	l.bytes(&sb, b.Original.Size)
	if l.order.loadsText() {
		sb.WriteString(", its text follows")
	}
	return l.tail(&sb), nil
}

func (l *label) bytes(sb *strings.Builder, n int64) {
	if n > 0 {
		sb.WriteString(", ")
		sb.WriteString(strconv.FormatInt(n, 10))
		sb.WriteString(" bytes")
	}
}

// ResourceText implements content.Visitor.
func (l *label) ResourceText(b content.ResourceText) (string, error) {
	var sb strings.Builder
	name := b.Name
	if b.URI != "" {
		name = b.URI
	}
	l.head(&sb, name, orDeclared(b.Original.MIME, b.Declared))
	l.bytes(&sb, b.Original.Size)
	return l.tail(&sb), nil
}

// ResourceLink implements content.Visitor.
func (l *label) ResourceLink(b content.ResourceLink) (string, error) {
	var sb strings.Builder
	l.head(&sb, b.Name, "")
	sb.WriteString(" <")
	sb.WriteString(cleanURI(b.URI))
	sb.WriteByte('>')
	for _, s := range []string{b.Title, b.Description, b.MIME} {
		if s != "" && s != b.Name {
			sb.WriteString(", ")
			sb.WriteString(content.Clean(s))
		}
	}
	if b.Fault != content.FaultNone {
		sb.WriteString(", its content is not here: ")
		sb.WriteString(l.order.Reason.Model())
	}
	sb.WriteByte(']')
	return sb.String(), nil
}

// cleanURI keeps a link whole, so that it can be followed, and safe in a line.
func cleanURI(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r == ' ' || r == ']' || r == '>' || r > 0x7f && content.Clean(string(r)) == "_" {
			return '_'
		}
		return r
	}, s)
}

// Opaque implements content.Visitor.
func (l *label) Opaque(b content.Opaque) (string, error) {
	var sb strings.Builder
	l.head(&sb, "", "")
	sb.WriteString(": a block")
	return l.tail(&sb), nil
}

func nameOf(b content.Block) string {
	if a, ok := content.AttachmentOf(b); ok && a.Name != "" {
		return a.Name
	}
	return string(b.BlockHandle())
}
