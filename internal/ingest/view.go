package ingest

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"tote/internal/content"
	"tote/internal/imaging"
)

// given hands on what another session of the store holds, as it is.
func (in *Inlet) given(ctx context.Context, s content.Source, p content.Given) (taken, error) {
	if p.Block == nil {
		return in.broken(ctx, s, "it has no block")
	}
	for _, blob := range content.Blobs(p.Block) {
		if err := ctx.Err(); err != nil {
			return taken{}, err
		}
		if in.blobs.Check(blob.Digest) != nil {
			return one(bereft(p.Block)), nil
		}
	}
	return one(p.Block), nil
}

// bereft marks a block whose bytes are gone. An opaque block has no place for a
// fault; who sends it finds its bytes missing.
func bereft(b content.Block) content.Block {
	mark := func(a *content.Attachment) {
		a.Prepared = content.Blob{}
		a.Fault, a.Detail = content.FaultMissing, "its stored bytes cannot be read"
	}
	switch b := b.(type) {
	case content.Image:
		mark(&b.Attachment)
		return b
	case content.Audio:
		mark(&b.Attachment)
		return b
	case content.Document:
		mark(&b.Attachment)
		return b
	case content.ResourceText:
		mark(&b.Attachment)
		return b
	case content.Text, content.ResourceLink, content.Opaque:
	}
	return b
}

// viewReadLimit bounds what is read back from the store for a view, in bytes.
// Everything that is stored passed a limit on its way in.
const viewReadLimit = 1 << 30

// held finds a picture that the session holds, with its original bytes. The
// error is a *trouble.
func (in *Inlet) held(h content.Handle, sc Scope) (content.Image, []byte, error) {
	src, ok := content.Block(nil), false
	if sc.Lookup != nil {
		src, ok = sc.Lookup(h)
	}
	name := content.Clean(string(h))
	if !ok {
		return content.Image{}, nil, troublef(content.FaultNotFound, "no block is called %s", name)
	}
	img, ok := src.(content.Image)
	if !ok || img.Original.IsZero() {
		return content.Image{}, nil, troublef(content.FaultBadPayload, "%s holds no picture", name)
	}
	data, err := in.blobs.ReadAll(img.Original.Digest, viewReadLimit)
	if err != nil {
		return img, nil, troublef(content.FaultMissing, "the stored bytes of %s cannot be read", name)
	}
	return img, data, nil
}

// crop shows a region of the original of a picture that the session holds: what
// it is as text, then the picture.
func (in *Inlet) crop(ctx context.Context, s content.Source, p content.Crop, sc Scope) (taken, error) {
	cl := claimOf(s)
	cl.as = content.KindImage
	cl.att.Name = fmt.Sprintf("%s crop %d,%d,%d,%d", p.Handle, p.X, p.Y, p.W, p.H)
	if p.W == 0 && p.H == 0 {
		cl.att.Name, p.X, p.Y = string(p.Handle)+" again", 0, 0
	}
	img, data, err := in.held(p.Handle, sc)
	if err != nil {
		return in.troubled(err, cl)
	}
	v := imaging.View{Rect: imaging.Rect{X: p.X, Y: p.Y, W: p.W, H: p.H}, Rotate: p.Rotate, Zoom: p.Zoom}
	if v == (imaging.View{Zoom: p.Zoom}) && p.Zoom <= 1 && in.whole(img) {
		again := content.Image{Attachment: cl.att, Frames: img.Frames}
		again.Original, again.Prepared, again.Changes, again.Detail = img.Original, img.Prepared, img.Changes, img.Detail
		return facts(viewed(p, img.Original, img.Prepared), again), nil
	}
	r, err := imaging.Show(ctx, data, v, imaging.Default)
	if err != nil {
		f, detail, err := pictureFault(ctx, err)
		return one(faulty(cl, f, detail)), err
	}
	removed, err := in.stripped(&r)
	if err != nil {
		return one(faulty(cl, content.FaultDamaged, err.Error())), nil
	}
	b, err := in.drawn(ctx, r, cl)
	if err != nil {
		return taken{}, err
	}
	b.Changes = changesOf(r.Changes)
	if removed {
		b.Detail = metadataRemoved
	}
	full := content.Blob{Width: r.Source.Width, Height: r.Source.Height}
	if w := shownWidth(p, full); r.Width < w {
		b.Detail = fmt.Sprintf("shrunk from %d to %d pixels across", w, r.Width)
	}
	return facts(viewed(p, full, b.Prepared), b), nil
}

// whole reports whether a picture was prepared already and can be shown again
// without decoding it.
func (in *Inlet) whole(img content.Image) bool {
	return img.Fault == content.FaultNone && !img.Prepared.IsZero() && in.blobs.Check(img.Prepared.Digest) == nil
}

// drawn stores a picture that was made here. It is an attachment of its own:
// variants are cut from it, not from what it was made of.
func (in *Inlet) drawn(ctx context.Context, r imaging.Result, cl claim) (content.Image, error) {
	b := content.Image{Attachment: cl.att, Frames: 1}
	var err error
	b.Prepared, err = in.putPicture(ctx, r)
	b.Original = b.Prepared
	return b, err
}

// troubled makes the block of a picture that cannot be shown.
func (in *Inlet) troubled(err error, cl claim) (taken, error) {
	bad, ok := troubleOf(err)
	if !ok {
		return taken{}, err
	}
	return one(faulty(cl, bad.fault, bad.detail)), nil
}

// facts puts what is known about a picture before it, so that the model is told
// whatever becomes of the picture.
func facts(text string, img content.Image) taken {
	return taken{blocks: []content.Block{content.Text{Body: text}, img}}
}

// shownWidth is how wide a view is at its full size, in pixels.
func shownWidth(p content.Crop, full content.Blob) int {
	w, h := p.W, p.H
	if w == 0 && h == 0 {
		w, h = full.Width, full.Height
	}
	if p.Rotate == 90 || p.Rotate == 270 {
		return h
	}
	return w
}

// viewed says what is shown, in pixels of the original.
func viewed(p content.Crop, full, shown content.Blob) string {
	name := fmt.Sprintf("%s (%dx%d)", content.Clean(string(p.Handle)), full.Width, full.Height)
	what := "all of " + name
	if p.W != 0 || p.H != 0 {
		what = fmt.Sprintf("region %d,%d %dx%d of %s", p.X, p.Y, p.W, p.H, name)
	}
	if p.Rotate != 0 {
		what += fmt.Sprintf(", turned %d degrees clockwise", p.Rotate)
	}
	scale := math.Round(100*float64(shown.Width)/float64(max(1, shownWidth(p, full)))) / 100
	return fmt.Sprintf("%s, shown at %sx", what, strconv.FormatFloat(scale, 'f', -1, 64))
}

// compare puts two pictures that the session holds into one: how they differ as
// text, then the picture, if there is anything to see on it.
func (in *Inlet) compare(ctx context.Context, s content.Source, p content.Compare, sc Scope) (taken, error) {
	cl := claimOf(s)
	cl.as = content.KindImage
	cl.att.Name = fmt.Sprintf("%s and %s, %s", p.A, p.B, p.How)
	_, a, err := in.held(p.A, sc)
	if err != nil {
		return in.troubled(err, cl)
	}
	_, b, err := in.held(p.B, sc)
	if err != nil {
		return in.troubled(err, cl)
	}
	var r imaging.Result
	var d imaging.Difference
	switch p.How {
	case content.CompareSide:
		r, d, err = imaging.SideBySide(ctx, a, b, imaging.Default)
	case content.CompareDiff:
		r, d, err = imaging.Marked(ctx, a, b, imaging.Default)
	default:
		return one(faulty(cl, content.FaultBadPayload, "it does not say how to compare")), nil
	}
	if err != nil {
		f, detail, err := pictureFault(ctx, err)
		return one(faulty(cl, f, detail)), err
	}
	text := compared(p, d)
	if p.How == content.CompareDiff && d.Identical() {
		return one(content.Text{Body: text}), nil
	}
	img, err := in.drawn(ctx, r, cl)
	return facts(text, img), err
}

// compared says how two pictures differ.
func compared(p content.Compare, d imaging.Difference) string {
	text := fmt.Sprintf("%s (%dx%d) and %s (%dx%d)", content.Clean(string(p.A)), d.A.X, d.A.Y, content.Clean(string(p.B)), d.B.X, d.B.Y)
	switch {
	case d.Identical():
		text += " are identical: every pixel is the same."
	case d.Counted:
		all := int64(d.A.X) * int64(d.A.Y)
		text += fmt.Sprintf(" differ in %d of %d pixels (%s %%), all of them in the region %d,%d %dx%d. One channel differs by at most %d of 255.",
			d.Pixels, all, share(d.Pixels, all), d.Box.X, d.Box.Y, d.Box.W, d.Box.H, d.Most)
	default:
		text += " differ in size; their pixels were not compared."
	}
	switch p.How {
	case content.CompareSide:
		text += fmt.Sprintf(" %s is on the left, %s on the right, at the same height.", content.Clean(string(p.A)), content.Clean(string(p.B)))
	case content.CompareDiff:
		if !d.Identical() {
			text += fmt.Sprintf(" They are red on a dimmed copy of %s, inside a blue frame.", content.Clean(string(p.A)))
		}
	}
	return text
}

// share is a part in percent. Nothing that differs is rounded to nothing.
func share(n, all int64) string {
	pct := 100 * float64(n) / float64(max(1, all))
	if pct < 0.01 {
		return "less than 0.01"
	}
	return strconv.FormatFloat(pct, 'f', 2, 64)
}
