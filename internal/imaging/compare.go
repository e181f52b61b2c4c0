package imaging

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
)

// Difference says how two pictures differ, pixel by pixel. Pixels that nobody
// sees are alike whatever their colour.
type Difference struct {
	// A and B are the sizes as displayed.
	A, B image.Point
	// Counted: the sizes are the same and the pixels were compared. All that
	// follows is zero where they were not.
	Counted bool
	// Pixels is how many differ, Box where they lie.
	Pixels int64
	Box    Rect
	// Most is the largest difference of one channel, 0 to 255. Noise of a lossy
	// format stays small.
	Most int
}

// Identical reports whether both pictures show the same.
func (d Difference) Identical() bool { return d.Counted && d.Pixels == 0 }

// pair is two decoded pictures, upright. Both are held at once, so that
// comparing takes up to twice MaxDecodeBytes.
type pair struct {
	a, b     *source
	lossless bool
	diff     Difference
}

func decodePair(ctx context.Context, a, b []byte) (pair, error) {
	var p pair
	ha, err := decodable(a)
	if err != nil {
		return p, err
	}
	hb, err := decodable(b)
	if err != nil {
		return p, err
	}
	p.lossless = ha.lossless && hb.lossless
	p.diff.A, p.diff.B = image.Pt(ha.Width, ha.Height), image.Pt(hb.Width, hb.Height)
	if p.a, err = upright(ctx, a, &ha); err != nil {
		return p, err
	}
	p.b, err = upright(ctx, b, &hb)
	return p, err
}

func decodable(data []byte) (header, error) {
	h, err := measure(data)
	if err != nil {
		return h, err
	}
	return h, h.decodable()
}

// upright decodes a picture as it is displayed.
func upright(ctx context.Context, data []byte, h *header) (*source, error) {
	img, err := decode(ctx, data, h)
	if err != nil || h.Orientation == 1 {
		return newSourceOf(img), err
	}
	r, err := copyRows(ctx, newSource(img))
	if err != nil {
		return nil, err
	}
	return r.orient(h.Orientation).source(), nil
}

func newSourceOf(img image.Image) *source {
	if img == nil {
		return nil
	}
	return newSource(img)
}

// source reads a raster as a decoded picture is read.
func (r *raster) source() *source {
	return newSource(&image.NRGBA{Pix: r.pix, Stride: 4 * r.w, Rect: image.Rect(0, 0, r.w, r.h)})
}

// compare counts what differs and calls each for every pixel that does, row by
// row. The sizes must be the same.
func (p *pair) compare(ctx context.Context, each func(x, y int)) error {
	d := &p.diff
	d.Counted = true
	bufA, bufB := make([]byte, 4*p.a.w), make([]byte, 4*p.a.w)
	box := image.Rectangle{}
	for y := range p.a.h {
		if y%rowsPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		rowA, rowB := p.a.row(y, bufA), p.b.row(y, bufB)
		if bytes.Equal(rowA, rowB) {
			continue
		}
		for x := range p.a.w {
			most := apart(rowA[4*x:4*x+4], rowB[4*x:4*x+4])
			if most == 0 {
				continue
			}
			d.Pixels++
			d.Most = max(d.Most, most)
			box = box.Union(image.Rect(x, y, x+1, y+1))
			each(x, y)
		}
	}
	d.Box = Rect{X: box.Min.X, Y: box.Min.Y, W: box.Dx(), H: box.Dy()}
	return nil
}

// apart is the largest difference of a channel of two pixels.
func apart(a, b []byte) int {
	if binary.LittleEndian.Uint32(a) == binary.LittleEndian.Uint32(b) || a[3]|b[3] == 0 {
		return 0
	}
	most := 0
	for i := range 4 {
		d := int(a[i]) - int(b[i])
		most = max(most, d, -d)
	}
	return most
}

// The look of comparisons.
const (
	divider   = 12 // pixels between two pictures: white, black, white
	frameGap  = 3  // pixels between what differs and the frame around it
	frameLine = 2
)

// SideBySide puts two pictures beside each other at the same height, with a
// divider between them, on white. It also counts what differs where the sizes are
// the same. Errors are *Error or the context's own.
func SideBySide(ctx context.Context, a, b []byte, bounds Bounds) (Result, Difference, error) {
	p, err := decodePair(ctx, a, b)
	if err != nil {
		return Result{}, p.diff, err
	}
	if p.diff.A == p.diff.B {
		if err := p.compare(ctx, func(int, int) {}); err != nil {
			return Result{}, p.diff, err
		}
	}
	height := max(p.a.h, p.b.h)
	width := func() int { return p.a.widthAt(height) + divider + p.b.widthAt(height) }
	for height > 1 {
		w, h := width(), height
		tw, th := bounds.target(w, h)
		if tw >= w && th >= h && int64(w)*int64(h) <= MaxDecodePixels {
			break
		}
		height = max(1, min(height-1, height*tw/w, int(int64(height)*MaxDecodePixels/max(1, int64(w)*int64(h)))))
	}
	c := newCanvas(width(), height, 255, 255, 255)
	c.fill(p.a.widthAt(height)+divider/3, 0, divider/3, height, 0, 0, 0)
	for _, half := range []struct {
		src *source
		x   int
	}{{p.a, 0}, {p.b, p.a.widthAt(height) + divider}} {
		r, err := half.src.atHeight(ctx, height)
		if err != nil {
			return Result{}, p.diff, err
		}
		c.lay(r.onWhite(), half.x)
	}
	res, err := p.encode(ctx, &c.raster, bounds)
	return res, p.diff, err
}

// widthAt is the width of the picture at another height.
func (s *source) widthAt(height int) int { return scaled(s.w, height, s.h) }

// atHeight shrinks a picture by averaging areas, or enlarges it by repeating
// pixels.
func (s *source) atHeight(ctx context.Context, height int) (*raster, error) {
	w := s.widthAt(height)
	if height <= s.h && w <= s.w {
		return resample(ctx, s, w, height)
	}
	out := &raster{w: w, h: height, pix: make([]byte, 4*w*height), opaque: s.opaque}
	scratch := make([]byte, 4*s.w)
	for y := range height {
		if y%rowsPerCheck == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		row := s.row(y*s.h/height, scratch)
		dst := out.pix[4*w*y:]
		for x := range w {
			from := 4 * (x * s.w / w)
			copy(dst[4*x:4*x+4], row[from:from+4])
		}
	}
	return out, nil
}

// lay puts a raster of the canvas's height on it.
func (c *canvas) lay(r *raster, x int) {
	for y := range min(r.h, c.h) {
		copy(c.pix[4*(y*c.w+x):4*(y*c.w+x+r.w)], r.pix[4*y*r.w:4*(y+1)*r.w])
	}
}

// Marked marks on a dimmed copy of a where b differs, in red, and draws a frame
// around all of it. A pixel that differs stays marked however much the copy is
// shrunk. Pictures of different sizes are an Error of the kind SizesDiffer.
func Marked(ctx context.Context, a, b []byte, bounds Bounds) (Result, Difference, error) {
	p, err := decodePair(ctx, a, b)
	if err != nil {
		return Result{}, p.diff, err
	}
	if p.diff.A != p.diff.B {
		return Result{}, p.diff, &Error{Kind: SizesDiffer, Detail: fmt.Sprintf(
			"%dx%d and %dx%d", p.diff.A.X, p.diff.A.Y, p.diff.B.X, p.diff.B.Y)}
	}
	w, h := bounds.target(p.a.w, p.a.h)
	base, err := resample(ctx, p.a, w, h)
	if err != nil {
		return Result{}, p.diff, err
	}
	base = base.onWhite()
	for i := range base.pix {
		base.pix[i] = byte((int(base.pix[i]) + 2*255) / 3)
	}
	c := &canvas{*base}
	if err := p.compare(ctx, func(x, y int) {
		copy(c.pix[4*(y*h/p.a.h*w+x*w/p.a.w):], []byte{255, 0, 0, 255})
	}); err != nil {
		return Result{}, p.diff, err
	}
	if p.diff.Pixels > 0 {
		c.frame(p.diff.Box, p.a.w, p.a.h)
	}
	res, err := p.encode(ctx, &c.raster, bounds)
	return res, p.diff, err
}

// frame draws a blue frame around a region of a picture of w x h.
func (c *canvas) frame(box Rect, w, h int) {
	const out = frameGap + frameLine
	x0, y0 := box.X*c.w/w-out, box.Y*c.h/h-out
	x1, y1 := (box.X+box.W-1)*c.w/w+1+out, (box.Y+box.H-1)*c.h/h+1+out
	for _, r := range []Rect{
		{x0, y0, x1 - x0, frameLine},
		{x0, y1 - frameLine, x1 - x0, frameLine},
		{x0, y0, frameLine, y1 - y0},
		{x1 - frameLine, y0, frameLine, y1 - y0},
	} {
		c.fill(r.X, r.Y, r.W, r.H, 0, 0, 255)
	}
}

// encode writes what was drawn within the bounds.
func (p *pair) encode(ctx context.Context, r *raster, bounds Bounds) (Result, error) {
	info := Info{
		Format: PNG, MIME: PNG.MIME(), Width: r.w, Height: r.h, StoredWidth: r.w, StoredHeight: r.h,
		Orientation: 1, BitDepth: 8, Color: RGB, Frames: 1,
	}
	j := job{b: bounds, h: &header{Info: info, lossless: p.lossless}, src: r.source(), turn: 1, cropped: true}
	return j.run(ctx)
}
