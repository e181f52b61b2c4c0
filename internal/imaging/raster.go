package imaging

import (
	"context"
	"image"
	"math/bits"
)

// raster is a prepared picture: straight RGBA, 4*w*h bytes, rows without gaps.
type raster struct {
	w, h   int
	pix    []byte // read-only: may be the decoded picture's own memory
	opaque bool
}

// rowsPerCheck is how many rows are worked on between looks at the context.
const rowsPerCheck = 64

// resample returns the source at dw x dh, which must not be larger.
func resample(ctx context.Context, src *source, dw, dh int) (*raster, error) {
	if dw == src.w && dh == src.h {
		return copyRows(ctx, src)
	}
	return shrink(ctx, src, dw, dh)
}

// copyRows takes the memory of a picture that has the right layout already.
func copyRows(ctx context.Context, src *source) (*raster, error) {
	out := &raster{w: src.w, h: src.h, opaque: src.opaque}
	var pix []byte
	var stride int
	switch m := src.img.(type) {
	case *image.NRGBA:
		pix, stride = m.Pix, m.Stride
	case *image.RGBA:
		if src.opaque {
			pix, stride = m.Pix, m.Stride
		}
	}
	if pix != nil && src.img.Bounds() == image.Rect(0, 0, src.w, src.h) && stride == 4*src.w {
		out.pix = pix[:4*src.w*src.h]
		return out, nil
	}
	out.pix = make([]byte, 4*src.w*src.h)
	for y := range src.h {
		if y%rowsPerCheck == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		dst := out.pix[4*src.w*y : 4*src.w*(y+1)]
		copy(dst, src.row(y, dst))
	}
	return out, nil
}

// shrink averages areas. Weights are whole numbers: a source sample is dw (dh)
// units wide and a result sample is src.w (src.h) units, so shares at the
// edges are exact and the result does not depend on floating point.
func shrink(ctx context.Context, src *source, dw, dh int) (*raster, error) {
	// A column sum reaches 255*255*src.h when weighted by alpha.
	if uint64(src.h)*255*255 < 1<<32 {
		return shrinkIn[uint32](ctx, src, dw, dh)
	}
	return shrinkIn[uint64](ctx, src, dw, dh)
}

func shrinkIn[T uint32 | uint64](ctx context.Context, src *source, dw, dh int) (*raster, error) {
	out := &raster{w: dw, h: dh, pix: make([]byte, 4*dw*dh), opaque: src.opaque}
	columns := make([]T, 4*src.w)
	scratch := make([]byte, 4*src.w)
	filled, done := 0, 0
	for y := range src.h {
		if y%rowsPerCheck == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		row := src.row(y, scratch)
		for left := dh; left > 0; {
			part := min(left, src.h-filled)
			if src.opaque {
				addOpaque(columns, row, T(part))
			} else {
				addWeighted(columns, row, T(part))
			}
			left, filled = left-part, filled+part
			if filled < src.h {
				continue
			}
			dst := out.pix[4*dw*done : 4*dw*(done+1)]
			if src.opaque {
				foldOpaque(dst, columns, src.w, dw, uint64(src.w)*uint64(src.h))
			} else {
				foldWeighted(dst, columns, src.w, dw, uint64(src.w)*uint64(src.h))
			}
			clear(columns)
			filled, done = 0, done+1
		}
	}
	return out, nil
}

func addOpaque[T uint32 | uint64](columns []T, row []byte, weight T) {
	row = row[:len(columns)]
	for i := 0; i+3 < len(columns); i += 4 {
		c, p := columns[i:i+4:i+4], row[i:i+4:i+4]
		c[0] += T(p[0]) * weight
		c[1] += T(p[1]) * weight
		c[2] += T(p[2]) * weight
	}
}

func addWeighted[T uint32 | uint64](columns []T, row []byte, weight T) {
	row = row[:len(columns)]
	for i := 0; i+3 < len(columns); i += 4 {
		c, p := columns[i:i+4:i+4], row[i:i+4:i+4]
		a := T(p[3]) * weight
		c[0] += T(p[0]) * a
		c[1] += T(p[1]) * a
		c[2] += T(p[2]) * a
		c[3] += a
	}
}

// fold sums columns into dw cells and hands each sum on.
func fold[T uint32 | uint64](columns []T, sw, dw int, emit func(i int, sum *[4]uint64)) {
	var sum [4]uint64
	filled, done := 0, 0
	for x := range sw {
		c := columns[4*x : 4*x+4 : 4*x+4]
		for left := dw; left > 0; {
			part := min(left, sw-filled)
			k := uint64(part)
			sum[0] += uint64(c[0]) * k
			sum[1] += uint64(c[1]) * k
			sum[2] += uint64(c[2]) * k
			sum[3] += uint64(c[3]) * k
			left, filled = left-part, filled+part
			if filled == sw {
				emit(done, &sum)
				sum = [4]uint64{}
				filled, done = 0, done+1
			}
		}
	}
}

// foldOpaque divides by the area with a multiplication: exact as long as
// sum*area < 2^64, and both sum <= 255*area and area <= 50 million hold.
func foldOpaque[T uint32 | uint64](dst []byte, columns []T, sw, dw int, area uint64) {
	inverse := ^uint64(0)/area + 1
	fold(columns, sw, dw, func(i int, sum *[4]uint64) {
		for c := range 3 {
			q, _ := bits.Mul64(sum[c]+area/2, inverse)
			if area == 1 {
				q = sum[c]
			}
			dst[4*i+c] = byte(q)
		}
		dst[4*i+3] = 255
	})
}

// foldWeighted divides colours by the alpha they were weighted with, so a
// transparent pixel lends no colour to its neighbours.
func foldWeighted[T uint32 | uint64](dst []byte, columns []T, sw, dw int, area uint64) {
	fold(columns, sw, dw, func(i int, sum *[4]uint64) {
		alpha := (sum[3] + area/2) / area
		if alpha == 0 {
			return
		}
		for c := range 3 {
			dst[4*i+c] = byte((sum[c] + sum[3]/2) / sum[3])
		}
		dst[4*i+3] = byte(alpha)
	})
}

// settle finds out whether any transparency is left and clears the colour of
// fully transparent pixels, which nobody sees, so equal pictures are equal bytes.
func (r *raster) settle() {
	if r.opaque {
		return
	}
	opaque, hidden := true, false
	for i := 0; i+3 < len(r.pix); i += 4 {
		opaque = opaque && r.pix[i+3] == 255
		hidden = hidden || r.pix[i+3] == 0 && r.pix[i]|r.pix[i+1]|r.pix[i+2] != 0
	}
	r.opaque = opaque
	if !hidden {
		return
	}
	pix := make([]byte, len(r.pix))
	for i := 0; i+3 < len(r.pix); i += 4 {
		if r.pix[i+3] != 0 {
			copy(pix[i:i+4], r.pix[i:i+4])
		}
	}
	r.pix = pix
}

// gray reports whether every pixel is opaque and has three equal samples.
func (r *raster) gray() bool {
	if !r.opaque {
		return false
	}
	for i := 0; i+3 < len(r.pix); i += 4 {
		if r.pix[i] != r.pix[i+1] || r.pix[i] != r.pix[i+2] {
			return false
		}
	}
	return true
}

// onWhite lays the picture on white.
func (r *raster) onWhite() *raster {
	out := &raster{w: r.w, h: r.h, pix: make([]byte, len(r.pix)), opaque: true}
	for i := 0; i+3 < len(r.pix); i += 4 {
		a := uint32(r.pix[i+3])
		for c := i; c < i+3; c++ {
			out.pix[c] = byte((uint32(r.pix[c])*a + 255*(255-a) + 127) / 255)
		}
		out.pix[i+3] = 255
	}
	return out
}

// storedPoint maps a displayed pixel to the stored one; w and h are stored sizes.
func storedPoint(orientation, x, y, w, h int) (int, int) {
	switch orientation {
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return y, h - 1 - x
	case 7:
		return w - 1 - y, h - 1 - x
	case 8:
		return w - 1 - y, x
	default:
		return x, y
	}
}

// orient returns the picture as displayed.
func (r *raster) orient(orientation int) *raster {
	if orientation == 1 {
		return r
	}
	out := &raster{w: r.w, h: r.h, pix: make([]byte, len(r.pix)), opaque: r.opaque}
	if orientation >= 5 {
		out.w, out.h = r.h, r.w
	}
	for y := range out.h {
		for x := range out.w {
			sx, sy := storedPoint(orientation, x, y, r.w, r.h)
			from, to := 4*(sy*r.w+sx), 4*(y*out.w+x)
			copy(out.pix[to:to+4], r.pix[from:from+4])
		}
	}
	return out
}
