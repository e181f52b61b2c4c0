package history

import (
	"encoding/json"
	"fmt"

	"tote/internal/content"
)

// blockDecoders has one for each kind word that encoder writes for a block.
var blockDecoders = map[string]func(json.RawMessage) (content.Block, error){
	content.KindText.String():         decodeText,
	content.KindImage.String():        decodeImage,
	content.KindAudio.String():        decodeAudio,
	content.KindDocument.String():     decodeDocument,
	content.KindResourceText.String(): decodeResource,
	content.KindResourceLink.String(): decodeLink,
	content.KindOpaque.String():       decodeOpaque,
}

// partDecoders has those of the other parts.
var partDecoders = map[string]func(json.RawMessage) (content.Part, error){
	wordReasoning: decodeReasoning,
	wordCall:      decodeCall,
	wordResult:    decodeResult,
}

// decodeParts reads what encodeParts wrote.
func decodeParts(data []byte) ([]content.Part, error) {
	var list []rawPart
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("decode parts: %w", err)
	}
	parts := make([]content.Part, 0, len(list))
	for i, raw := range list {
		p, err := decodePart(raw)
		if err != nil {
			return nil, fmt.Errorf("decode part %d: %w", i, err)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func decodePart(raw rawPart) (content.Part, error) {
	if decode, ok := partDecoders[raw.Kind]; ok {
		return decode(raw.Value)
	}
	return decodeBlock(raw)
}

func decodeBlock(raw rawPart) (content.Block, error) {
	decode, ok := blockDecoders[raw.Kind]
	if !ok {
		return nil, &UnknownKindError{What: "part", Kind: raw.Kind}
	}
	return decode(raw.Value)
}

func decodeText(data json.RawMessage) (content.Block, error) {
	var w wireText
	err := json.Unmarshal(data, &w)
	return content.Text(w), err
}

func decodeImage(data json.RawMessage) (content.Block, error) {
	var w wireImage
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	a, err := fromWireAttachment(w.wireAttachment)
	return content.Image{Attachment: a, Frames: w.Frames}, err
}

func decodeAudio(data json.RawMessage) (content.Block, error) {
	var w wireAudio
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	a, err := fromWireAttachment(w.wireAttachment)
	return content.Audio{Attachment: a, Millis: w.Millis}, err
}

func decodeDocument(data json.RawMessage) (content.Block, error) {
	var w wireDocument
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	a, err := fromWireAttachment(w.wireAttachment)
	return content.Document{Attachment: a, Pages: w.Pages, Text: fromWireBlob(w.Text)}, err
}

func decodeResource(data json.RawMessage) (content.Block, error) {
	var w wireResource
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	a, err := fromWireAttachment(w.wireAttachment)
	return content.ResourceText{Attachment: a, URI: w.URI}, err
}

func decodeLink(data json.RawMessage) (content.Block, error) {
	var w wireLink
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	origin, err := fromWireOrigin(w.Origin)
	if err != nil {
		return nil, err
	}
	fault, err := unword[content.Fault]("fault", w.Fault)
	return content.ResourceLink{
		Handle: w.Handle, Origin: origin, URI: w.URI, Name: w.Name, Title: w.Title, Description: w.Description,
		MIME: w.MIME, Size: w.Size, Fault: fault, Detail: w.Detail,
	}, err
}

func decodeOpaque(data json.RawMessage) (content.Block, error) {
	var w wireOpaque
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	origin, err := fromWireOrigin(w.Origin)
	return content.Opaque{Handle: w.Handle, Origin: origin, Type: w.Type, Raw: fromWireBlob(w.Raw)}, err
}

func decodeReasoning(data json.RawMessage) (content.Part, error) {
	var w wireReasoning
	err := json.Unmarshal(data, &w)
	return content.Reasoning(w), err
}

func decodeCall(data json.RawMessage) (content.Part, error) {
	var w wireCall
	err := json.Unmarshal(data, &w)
	return content.ToolCall(w), err
}

func decodeResult(data json.RawMessage) (content.Part, error) {
	var w rawResult
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	r := content.ToolResult{CallID: w.CallID, Name: w.Name, IsError: w.IsError}
	for i, raw := range w.Blocks {
		b, err := decodeBlock(raw)
		if err != nil {
			return nil, fmt.Errorf("decode block %d of a result: %w", i, err)
		}
		r.Blocks = append(r.Blocks, b)
	}
	return r, nil
}
