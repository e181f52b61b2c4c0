package history

import (
	"fmt"

	"tote/internal/content"
)

// The kind words of parts that are not blocks; blocks take their kind's.
const (
	wordReasoning = "reasoning"
	wordCall      = "call"
	wordResult    = "result"
)

// encoder turns a part into its JSON value.
type encoder struct{}

var _ content.PartVisitor[wirePart] = encoder{}

// encodeParts returns the JSON of a message's parts.
func encodeParts(parts []content.Part) (string, error) {
	list := make([]wirePart, 0, len(parts))
	for i, p := range parts {
		w, err := content.VisitPart(p, content.PartVisitor[wirePart](encoder{}))
		if err != nil {
			return "", fmt.Errorf("encode part %d: %w", i, err)
		}
		list = append(list, w)
	}
	return compactJSON(list)
}

func (encoder) Text(b content.Text) (wirePart, error) {
	return wirePart{b.Kind().String(), wireText(b)}, nil
}

func (encoder) Image(b content.Image) (wirePart, error) {
	a, err := toWireAttachment(b.Attachment)
	return wirePart{b.Kind().String(), wireImage{a, b.Frames}}, err
}

func (encoder) Audio(b content.Audio) (wirePart, error) {
	a, err := toWireAttachment(b.Attachment)
	return wirePart{b.Kind().String(), wireAudio{a, b.Millis}}, err
}

func (encoder) Document(b content.Document) (wirePart, error) {
	a, err := toWireAttachment(b.Attachment)
	return wirePart{b.Kind().String(), wireDocument{a, b.Pages, toWireBlob(b.Text)}}, err
}

// ResourceText leaves the body out: it is a blob.
func (encoder) ResourceText(b content.ResourceText) (wirePart, error) {
	a, err := toWireAttachment(b.Attachment)
	return wirePart{b.Kind().String(), wireResource{a, b.URI}}, err
}

func (encoder) ResourceLink(b content.ResourceLink) (wirePart, error) {
	origin, err := toWireOrigin(b.Origin)
	if err != nil {
		return wirePart{}, err
	}
	fault, err := word(b.Fault)
	return wirePart{b.Kind().String(), wireLink{
		Handle: b.Handle, Origin: origin, URI: b.URI, Name: b.Name, Title: b.Title, Description: b.Description,
		MIME: b.MIME, Size: b.Size, Fault: fault, Detail: b.Detail,
	}}, err
}

func (encoder) Opaque(b content.Opaque) (wirePart, error) {
	origin, err := toWireOrigin(b.Origin)
	return wirePart{b.Kind().String(), wireOpaque{b.Handle, origin, b.Type, toWireBlob(b.Raw)}}, err
}

func (encoder) Reasoning(p content.Reasoning) (wirePart, error) {
	return wirePart{wordReasoning, wireReasoning(p)}, nil
}

func (encoder) ToolCall(p content.ToolCall) (wirePart, error) {
	return wirePart{wordCall, wireCall(p)}, nil
}

func (e encoder) ToolResult(p content.ToolResult) (wirePart, error) {
	w := wireResult{CallID: p.CallID, Name: p.Name, IsError: p.IsError}
	for i, b := range p.Blocks {
		wb, err := content.Visit(b, content.Visitor[wirePart](e))
		if err != nil {
			return wirePart{}, fmt.Errorf("encode block %d of a result: %w", i, err)
		}
		w.Blocks = append(w.Blocks, wb)
	}
	return wirePart{wordResult, w}, nil
}
