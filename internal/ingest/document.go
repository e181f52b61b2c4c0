package ingest

import (
	"context"
	"errors"
	"time"

	"tote/internal/audio"
	"tote/internal/content"
	"tote/internal/document"
)

// The bounds of taking text out of a document.
const (
	maxDocumentText  = 2_000_000 // bytes
	documentTextTime = 10 * time.Second
)

// document makes a block of a file that is neither picture, sound nor text.
func (in *Inlet) document(ctx context.Context, data []byte, cl claim) (content.Block, error) {
	b := content.Document{Attachment: cl.att}
	b.Detail = mislabelled(cl, b.Original.MIME)
	if b.Original.MIME == binaryType && b.Detail == "" {
		b.Detail = notText(data)
	}
	if b.Original.MIME != pdfType {
		b.Prepared = b.Original
		return b, nil
	}
	return in.pdf(ctx, data, b)
}

func (in *Inlet) pdf(ctx context.Context, data []byte, b content.Document) (content.Block, error) {
	info, err := document.Measure(ctx, data)
	b.Pages = info.Pages
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		b.Fault, b.Detail = documentFault(err)
		return b, nil
	case info.Encrypted:
		b.Fault, b.Detail = content.FaultEncrypted, "it needs a password"
		return b, nil
	}
	b.Prepared = b.Original
	text, err := documentText(ctx, data)
	if err != nil || text == "" {
		return b, err
	}
	b.Text, err = in.put(ctx, []byte(text))
	b.Text.MIME = plainType
	return b, err
}

// documentText takes the text out of a PDF, "" where there is none or it takes
// too long: the document can be sent without. The error is the context's.
func documentText(ctx context.Context, data []byte) (string, error) {
	limited, cancel := context.WithTimeout(ctx, documentTextTime)
	defer cancel()
	text, _, _, err := document.Text(limited, data, maxDocumentText)
	if err != nil {
		return "", ctx.Err()
	}
	return text, nil
}

// documentFault maps an error of package document.
func documentFault(err error) (content.Fault, string) {
	e, ok := errors.AsType[*document.Error](err)
	switch {
	case !ok:
		return content.FaultDamaged, "it cannot be read as a PDF"
	case e.Kind == document.Encrypted && e.Detail == "":
		return content.FaultEncrypted, "it needs a password"
	case e.Kind == document.Encrypted:
		return content.FaultEncrypted, e.Detail
	case e.Detail == "":
		return content.FaultDamaged, "it cannot be read as a PDF"
	}
	return content.FaultDamaged, e.Detail
}

// sound makes a block of a recording. A recording that cannot be measured is
// still a recording; its length is not known.
func (in *Inlet) sound(data []byte, cl claim) content.Block {
	b := content.Audio{Attachment: cl.att}
	b.Prepared = b.Original
	if info, err := audio.Measure(data); err == nil {
		b.Millis = info.Duration.Milliseconds()
		b.Original.MIME, b.Prepared.MIME = info.MIME, info.MIME
	}
	b.Detail = mislabelled(cl, b.Original.MIME)
	return b
}

// mislabelled tells that a picture block held something else.
func mislabelled(cl claim, mime string) string {
	if cl.as != content.KindImage {
		return ""
	}
	return "sent as a picture, but it is " + mime
}
