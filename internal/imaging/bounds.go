package imaging

import (
	"math"
	"slices"
)

// Bounds is what a picture must keep to. The zero value sets no limit and
// accepts PNG, JPEG, GIF and WebP.
type Bounds struct {
	MaxEdge   int                       // of the longer side, in pixels; 0 = none
	MaxPixels int64                     // of the output; 0 = none
	MaxBytes  int64                     // of the encoded output; 0 = none
	MIMEs     []string                  // accepted media types; empty = png, jpeg, gif, webp
	Fit       func(w, h int) (int, int) // extra rule, applied last; must be idempotent; can only shrink
}

// Default is what pictures are held to on their way in.
var Default = Bounds{MaxEdge: 2000, MaxBytes: 500_000}

func (b *Bounds) accepts(f Format) bool {
	if len(b.MIMEs) == 0 {
		return f == PNG || f == JPEG || f == GIF || f == WebP
	}
	return slices.Contains(b.MIMEs, f.MIME())
}

// target returns the size a picture of w x h must shrink to.
func (b *Bounds) target(w, h int) (int, int) {
	tw, th := w, h
	if long := max(tw, th); b.MaxEdge > 0 && long > b.MaxEdge {
		tw, th = scaled(tw, b.MaxEdge, long), scaled(th, b.MaxEdge, long)
	}
	if pixels := int64(tw) * int64(th); b.MaxPixels > 0 && pixels > b.MaxPixels {
		k := math.Sqrt(float64(b.MaxPixels) / float64(pixels))
		tw, th = max(1, int(float64(tw)*k)), max(1, int(float64(th)*k))
		// A side that was held at 1 leaves the other too long.
		tw = max(1, int(min(int64(tw), b.MaxPixels/int64(th))))
		th = max(1, int(min(int64(th), b.MaxPixels/int64(tw))))
	}
	if b.Fit != nil {
		fw, fh := b.Fit(tw, th)
		tw, th = min(tw, max(1, fw)), min(th, max(1, fh))
	}
	return tw, th
}

// scaled returns side*to/from, rounded, at least 1.
func scaled(side, to, from int) int {
	return max(1, int((int64(side)*int64(to)+int64(from)/2)/int64(from)))
}
