package imaging

import (
	"context"
	"fmt"
)

// MaxZoom is the most that a view enlarges.
const MaxZoom = 8

// View is a region and how it is shown.
type View struct {
	// Rect lies in the upright picture. W and H of 0 mean all of it.
	Rect
	// Rotate turns what was cut clockwise: 0, 90, 180 or 270 degrees.
	Rotate int
	// Zoom enlarges by a whole number, 1 to MaxZoom; 0 is 1. Where the result
	// would not keep to the bounds, a smaller number is taken.
	Zoom int
}

// Show cuts a region at full resolution, turns and enlarges it, and makes it
// keep to the bounds. Result.Zoom says how far it was enlarged in the end.
// Errors are *Error or the context's own.
func Show(ctx context.Context, data []byte, v View, b Bounds) (Result, error) {
	h, err := measure(data)
	if err != nil {
		return Result{}, err
	}
	if err := h.decodable(); err != nil {
		return Result{}, err
	}
	if v.Rect == (Rect{}) {
		v.W, v.H = h.Width, h.Height
	}
	if err := v.check(&h); err != nil {
		return Result{}, err
	}
	if v.Rotate == 0 && v.Zoom <= 1 && v.Rect == (Rect{W: h.Width, H: h.Height}) {
		return Prepare(ctx, data, b)
	}
	img, err := decode(ctx, data, &h)
	if err != nil {
		return Result{}, err
	}
	j := job{b: b, h: &h, src: newSource(img).crop(storedRect(v.Rect, &h)), turn: turned(h.Orientation, v.Rotate), cropped: true}
	if v.Zoom > 1 {
		r, ok, err := j.enlarged(ctx, v.Zoom)
		if err != nil || ok {
			return r, err
		}
	}
	return j.run(ctx)
}

func (v View) check(h *header) error {
	bad := func(format string, args ...any) error {
		return &Error{Kind: BadRegion, Format: h.Format, Detail: fmt.Sprintf(format, args...)}
	}
	switch {
	case v.X < 0 || v.Y < 0 || v.W < 1 || v.H < 1 || v.W > h.Width-v.X || v.H > h.Height-v.Y:
		return bad("region %d,%d %dx%d does not lie inside the %dx%d picture", v.X, v.Y, v.W, v.H, h.Width, h.Height)
	case v.Rotate != 0 && v.Rotate != 90 && v.Rotate != 180 && v.Rotate != 270:
		return bad("it cannot be turned by %d degrees", v.Rotate)
	case v.Zoom < 0 || v.Zoom > MaxZoom:
		return bad("zoom is %d, want 1 to %d", v.Zoom, MaxZoom)
	}
	return nil
}

// turned is the orientation that shows a picture of the given one turned
// clockwise as well.
func turned(orientation, degrees int) int {
	clockwise := [...]int{1: 6, 6: 3, 3: 8, 8: 1, 2: 7, 7: 4, 4: 5, 5: 2}
	for ; degrees > 0; degrees -= 90 {
		orientation = clockwise[orientation]
	}
	return orientation
}

// enlarged enlarges by the largest whole number up to zoom that keeps to the
// bounds; ok is false where that is 1.
func (j *job) enlarged(ctx context.Context, zoom int) (res Result, ok bool, err error) {
	w, h := j.size()
	for zoom > 1 && !j.holds(zoom*w, zoom*h) {
		zoom--
	}
	if zoom <= 1 || !j.b.accepts(PNG) && !j.b.accepts(JPEG) {
		return Result{}, false, nil
	}
	plain, err := j.render(ctx, w, h)
	if err != nil {
		return Result{}, false, err
	}
	for ; zoom > 1; zoom-- {
		r := plain.enlarge(zoom)
		enc, flattened, err := j.encode(ctx, r)
		if err != nil {
			return Result{}, false, err
		}
		if enc.data != nil {
			res := j.result(enc, r, flattened)
			res.Zoom = zoom
			return res, true, nil
		}
	}
	return Result{}, false, nil
}

// holds reports whether a picture of that size keeps to the bounds, and to what
// this package decodes.
func (j *job) holds(w, h int) bool {
	tw, th := j.b.target(w, h)
	return tw == w && th == h && int64(w)*int64(h) <= MaxDecodePixels
}

// enlarge repeats every pixel k times in both directions.
func (r *raster) enlarge(k int) *raster {
	out := &raster{w: k * r.w, h: k * r.h, pix: make([]byte, 4*k*k*r.w*r.h), opaque: r.opaque}
	stride := 4 * out.w
	for y := range r.h {
		first := out.pix[k*y*stride : (k*y+1)*stride]
		for x := range r.w {
			from := r.pix[4*(y*r.w+x) : 4*(y*r.w+x)+4]
			for i := range k {
				copy(first[4*(k*x+i):], from)
			}
		}
		for i := 1; i < k; i++ {
			copy(out.pix[(k*y+i)*stride:], first)
		}
	}
	return out
}
