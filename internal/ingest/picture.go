package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tote/internal/content"
	"tote/internal/imaging"
)

// changes maps what imaging did to the words of package content.
var changes = [...]content.Changes{
	imaging.Oriented:       content.ChangeOriented,
	imaging.Shrunk:         content.ChangeShrunk,
	imaging.Converted:      content.ChangeConverted,
	imaging.Recompressed:   content.ChangeRecompressed,
	imaging.FirstFrame:     content.ChangeFirstFrame,
	imaging.DepthReduced:   content.ChangeDepth,
	imaging.Flattened:      content.ChangeFlattened,
	imaging.ColorConverted: content.ChangeColor,
}

// prepare measures and prepares a picture. cl.att.Original names its stored
// bytes.
func (in *Inlet) prepare(ctx context.Context, data []byte, cl claim) (content.Image, error) {
	b := content.Image{Attachment: cl.att}
	r, err := imaging.Prepare(ctx, data, imaging.Default)
	if err != nil {
		if info, merr := imaging.Measure(data); merr == nil {
			measured(&b, info)
		}
		b.Fault, b.Detail, err = pictureFault(ctx, err)
		return b, err
	}
	measured(&b, r.Source)
	b.Frames = r.Frames
	removed, err := in.stripped(&r)
	if err != nil {
		b.Fault, b.Detail = content.FaultDamaged, err.Error()
		return b, nil
	}
	if r.Same {
		b.Prepared = b.Original
		return b, nil
	}
	if b.Prepared, err = in.putPicture(ctx, r); err != nil {
		return b, err
	}
	b.Changes, b.Detail = changesOf(r.Changes), preparedDetail(r)
	if removed {
		b.Detail = metadataRemoved
	}
	return b, nil
}

// metadataRemoved is the detail of a picture whose pixels are untouched.
const metadataRemoved = "metadata removed"

// stripped takes the metadata out of a picture that passes as it is, where the
// user wants that. A picture that cannot be rid of it must not be handed on.
func (in *Inlet) stripped(r *imaging.Result) (removed bool, err error) {
	if !in.strip || !r.Same {
		return false, nil
	}
	out, removed, err := imaging.Strip(r.Data)
	if err != nil {
		return false, fmt.Errorf("its metadata cannot be removed: %w", err)
	}
	r.Data, r.Same = out, !removed
	return removed, nil
}

func measured(b *content.Image, info imaging.Info) {
	b.Original.MIME = info.MIME
	b.Original.Width, b.Original.Height = info.Width, info.Height
	b.Frames = info.Frames
}

func (in *Inlet) putPicture(ctx context.Context, r imaging.Result) (content.Blob, error) {
	blob, err := in.put(ctx, r.Data)
	blob.MIME, blob.Width, blob.Height = r.MIME, r.Width, r.Height
	return blob, err
}

func changesOf(cs []imaging.Change) content.Changes {
	var out content.Changes
	for _, c := range cs {
		if int(c) < len(changes) {
			out |= changes[c]
		}
	}
	return out
}

// preparedDetail says in numbers what the changes say in words, and what was
// left out because it was damaged.
func preparedDetail(r imaging.Result) string {
	var out []string
	for _, c := range r.Changes {
		switch c {
		case imaging.FirstFrame:
			out = append(out, fmt.Sprintf("frame 1 of %d", r.Frames))
		case imaging.Shrunk:
			out = append(out, fmt.Sprintf("shrunk from %dx%d to %dx%d", r.Source.Width, r.Source.Height, r.Width, r.Height))
		case imaging.Oriented:
			out = append(out, "turned upright")
		case imaging.Converted:
			out = append(out, r.Source.MIME+" made "+r.MIME)
		case imaging.Flattened:
			out = append(out, "transparency laid on white")
		case imaging.DepthReduced, imaging.ColorConverted, imaging.Recompressed:
		}
	}
	if r.Detail != "" {
		out = append(out, r.Detail)
	}
	return strings.Join(out, ", ")
}

// pictureFault maps an error of imaging to a fault. The error it returns ends
// the ingest: the context is over.
func pictureFault(ctx context.Context, err error) (content.Fault, string, error) {
	e, ok := errors.AsType[*imaging.Error](err)
	if !ok {
		if cause := ctx.Err(); cause != nil {
			return content.FaultNone, "", cause
		}
		return content.FaultDamaged, "it cannot be decoded", nil
	}
	detail := e.Detail
	if detail == "" {
		detail = e.Kind.String()
	}
	switch e.Kind {
	case imaging.TooManyPixels:
		return content.FaultTooManyPixels, detail, nil
	case imaging.Unsupported:
		return content.FaultUnsupported, detail + "; convert it to PNG or JPEG", nil
	case imaging.CannotFit:
		return content.FaultTooLarge, detail, nil
	case imaging.BadRegion, imaging.SizesDiffer:
		return content.FaultBadPayload, detail, nil
	case imaging.Empty:
		return content.FaultEmpty, "", nil
	case imaging.NotPicture, imaging.Damaged:
		return content.FaultDamaged, detail, nil
	}
	return content.FaultDamaged, detail, nil
}
