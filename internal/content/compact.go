package content

import "strings"

// Compact returns the short text that stands for blocks in titles, summaries,
// lists and every other record that must not carry payloads. It is derived
// from the blocks and never read back.
func Compact(blocks []Block) string {
	var sb strings.Builder
	for i, b := range blocks {
		if i > 0 {
			sb.WriteByte('\n')
		}
		s, _ := Visit(b, Visitor[string](compact{})) // its methods return no error
		sb.WriteString(s)
	}
	return sb.String()
}

type compact struct{}

func attached(kind string, a Attachment) string {
	mime := a.Original.MIME
	if mime == "" {
		mime = a.Declared
	}
	s := "[attached " + kind + ": " + string(a.Handle)
	if mime != "" {
		s += " (" + Clean(mime) + ")"
	}
	return s + "]"
}

func (compact) Text(b Text) (string, error)         { return b.Body, nil }
func (compact) Image(b Image) (string, error)       { return attached("image", b.Attachment), nil }
func (compact) Audio(b Audio) (string, error)       { return attached("audio", b.Attachment), nil }
func (compact) Document(b Document) (string, error) { return attached("document", b.Attachment), nil }

func (compact) ResourceText(b ResourceText) (string, error) {
	return attached("text", b.Attachment), nil
}

func (compact) ResourceLink(b ResourceLink) (string, error) {
	return "[link: " + Clean(b.URI) + "]", nil
}

func (compact) Opaque(b Opaque) (string, error) {
	return "[" + Clean(b.Type) + " block: " + string(b.Handle) + "]", nil
}
