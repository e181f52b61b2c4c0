package history

import (
	"fmt"

	"tote/internal/content"
)

// partForgetter returns a part without the bytes of the blocks that it is about.
type partForgetter struct{ is func(content.Block) bool }

var _ content.PartVisitor[content.Part] = partForgetter{}

// forgetAttachment keeps what is known about the bytes and takes their names.
func forgetAttachment(a content.Attachment) content.Attachment {
	a.Original.Digest = content.Digest{}
	a.Prepared = content.Blob{}
	a.Fault, a.Detail = content.FaultMissing, forgottenDetail
	return a
}

func (f partForgetter) Text(b content.Text) (content.Part, error) {
	if f.is(b) {
		b.Body = forgottenText
	}
	return b, nil
}

func (f partForgetter) Image(b content.Image) (content.Part, error) {
	if f.is(b) {
		b.Attachment = forgetAttachment(b.Attachment)
	}
	return b, nil
}

func (f partForgetter) Audio(b content.Audio) (content.Part, error) {
	if f.is(b) {
		b.Attachment = forgetAttachment(b.Attachment)
	}
	return b, nil
}

func (f partForgetter) Document(b content.Document) (content.Part, error) {
	if f.is(b) {
		b.Attachment, b.Text = forgetAttachment(b.Attachment), content.Blob{}
	}
	return b, nil
}

func (f partForgetter) ResourceText(b content.ResourceText) (content.Part, error) {
	if f.is(b) {
		b.Attachment, b.Body = forgetAttachment(b.Attachment), ""
	}
	return b, nil
}

// ResourceLink has no bytes to forget.
func (f partForgetter) ResourceLink(b content.ResourceLink) (content.Part, error) { return b, nil }

func (f partForgetter) Opaque(b content.Opaque) (content.Part, error) {
	if f.is(b) {
		b.Raw.Digest = content.Digest{}
	}
	return b, nil
}

func (partForgetter) Reasoning(p content.Reasoning) (content.Part, error) { return p, nil }

func (partForgetter) ToolCall(p content.ToolCall) (content.Part, error) { return p, nil }

func (f partForgetter) ToolResult(p content.ToolResult) (content.Part, error) {
	blocks := make([]content.Block, len(p.Blocks))
	for i, b := range p.Blocks {
		after, err := content.VisitPart(b, content.PartVisitor[content.Part](f))
		if err != nil {
			return nil, err
		}
		block, ok := after.(content.Block)
		if !ok {
			return nil, fmt.Errorf("block %d of a result became a %T", i, after)
		}
		blocks[i] = block
	}
	p.Blocks = blocks
	return p, nil
}
