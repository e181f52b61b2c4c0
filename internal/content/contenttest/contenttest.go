// Package contenttest holds samples of every kind of block and part. Each
// carries a marker that must survive any encoding of it.
package contenttest

import "tote/internal/content"

// Digest makes a recognisable digest out of one byte.
func Digest(b byte) content.Digest {
	var d content.Digest
	for i := range d {
		d[i] = b
	}
	return d
}

func blob(b byte, mime string) content.Blob {
	return content.Blob{Digest: Digest(b), MIME: mime, Size: 1000 + int64(b), Width: 30 + int(b), Height: 20 + int(b)}
}

func attachment(b byte, handle content.Handle, mime string) content.Attachment {
	return content.Attachment{
		Handle: handle, Name: "mark-" + string(handle),
		Origin:   content.Origin{Inlet: content.InletACP, Path: "/home/u/mark-" + string(handle), Chooser: content.ChosenByUser},
		Declared: mime, Original: blob(b, mime), Prepared: blob(b+1, mime), Changes: content.ChangeShrunk,
		Fault: content.FaultDamaged, Detail: "truncated after 1.2 MB",
	}
}

// Blocks returns one sample of every kind with no field left empty, so that a
// codec that loses one is seen.
func Blocks() []content.Block {
	return []content.Block{
		content.Text{Handle: "text-1", Body: "mark-text-1"},
		content.Image{Attachment: attachment(0x10, "image-1.png", "image/png"), Frames: 2},
		content.Audio{Attachment: attachment(0x20, "audio-1.wav", "audio/wav"), Millis: 200},
		content.Document{Attachment: attachment(0x30, "document-1.pdf", "application/pdf"), Pages: 3, Text: blob(0x33, "text/plain")},
		content.ResourceText{Attachment: attachment(0x40, "resource-1.txt", "text/plain"), URI: "file:///mark-resource", Body: "mark-body"},
		content.ResourceLink{
			Handle: "link-1", Origin: content.Origin{Inlet: content.InletACP, Path: "/p", Chooser: content.ChosenByUser},
			URI: "https://example.invalid/mark-link-1", Name: "mark-link-1", Title: "t", Description: "d", MIME: "text/html", Size: 7,
			Fault: content.FaultDenied, Detail: "outside the roots",
		},
		content.Opaque{
			Handle: "opaque-1", Origin: content.Origin{Inlet: content.InletACP, Path: "/p", Chooser: content.ChosenByUser},
			Type: "mark-video", Raw: blob(0x50, "application/json"),
		},
	}
}

// Sound returns the same samples with nothing wrong with them.
func Sound() []content.Block {
	out := Blocks()
	for i, b := range out {
		switch b := b.(type) {
		case content.Image:
			b.Fault, b.Detail = content.FaultNone, ""
			out[i] = b
		case content.Audio:
			b.Fault, b.Detail = content.FaultNone, ""
			out[i] = b
		case content.Document:
			b.Fault, b.Detail = content.FaultNone, ""
			out[i] = b
		case content.ResourceText:
			b.Fault, b.Detail, b.Body = content.FaultNone, "", ""
			out[i] = b
		case content.ResourceLink:
			b.Fault, b.Detail = content.FaultNone, ""
			out[i] = b
		case content.Text, content.Opaque:
		}
	}
	return out
}

// Parts returns one sample of every kind of part that is not a block.
func Parts() []content.Part {
	return []content.Part{
		content.Reasoning{Text: "mark-reasoning", Signature: "sig", Path: "openai-chat"},
		content.ToolCall{ID: "mark-call", Name: "read", Arguments: `{"path":"a"}`, Signature: "call-sig", Path: "openai-chat"},
		content.ToolResult{CallID: "mark-call", Name: "read", IsError: true, Blocks: []content.Block{content.Text{Handle: "text-2", Body: "mark-result"}}},
	}
}
