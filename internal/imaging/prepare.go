package imaging

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
)

// Result is a picture within bounds.
type Result struct {
	Data          []byte
	Same          bool // Data is the input, byte for byte
	MIME          string
	Width, Height int
	Changes       []Change // what was done; empty when Same, for a view shown without loss, or where Detail says all
	Frames        int      // of the source; 1 = still
	Zoom          int      // the whole number by which it was enlarged; 0 and 1 = not
	Source        Info
	// Detail says in words, without a full stop, which damaged parts were left
	// out that are not needed to show the picture; empty for none. Where that
	// is all that was done, Changes is empty: no pixel was touched.
	Detail string
}

// Rect is a region in displayed (upright) pixels of the full picture.
type Rect struct{ X, Y, W, H int }

// Prepare makes a picture keep to the bounds. It passes through unchanged when
// it does so already and is upright, 8-bit, grey or RGB(A), still, and decodes
// to its end. A PNG of which only parts are damaged that are not needed to show
// it passes without them, the rest byte for byte; Result.Detail names them.
// Errors are *Error or the context's own.
func Prepare(ctx context.Context, data []byte, b Bounds) (Result, error) {
	h, err := measure(data)
	if err != nil {
		return Result{}, err
	}
	img, err := decode(ctx, data, &h)
	if err != nil {
		return Result{}, err
	}
	j := job{b: b, h: &h, src: newSource(img), turn: h.Orientation}
	body := h.mended(data)
	if !j.inBounds(len(body)) {
		return j.run(ctx)
	}
	if h.Format == PNG {
		if h.spoils, err = h.unsoundPacked(ctx, data); err != nil {
			return Result{}, err
		}
		body = h.mended(data)
	}
	passes, err := j.passes(ctx, body)
	if err != nil {
		return Result{}, err
	}
	if !passes {
		return j.run(ctx)
	}
	return Result{
		Data: body, Same: h.spoils == 0, MIME: h.MIME, Width: h.Width, Height: h.Height, Frames: h.Frames, Source: h.Info,
		Detail: h.spoils.String(),
	}, nil
}

// storedRect maps a displayed region to the stored pixels.
func storedRect(r Rect, h *header) Rect {
	x0, y0 := storedPoint(h.Orientation, r.X, r.Y, h.StoredWidth, h.StoredHeight)
	x1, y1 := storedPoint(h.Orientation, r.X+r.W-1, r.Y+r.H-1, h.StoredWidth, h.StoredHeight)
	return Rect{X: min(x0, x1), Y: min(y0, y1), W: max(x0, x1) - min(x0, x1) + 1, H: max(y0, y1) - min(y0, y1) + 1}
}

// job is one preparation.
type job struct {
	b       Bounds
	h       *header
	src     *source
	turn    int // orientation of what is shown, EXIF 1 to 8
	cropped bool
}

// inBounds says whether the file as it is keeps to every limit and is upright and still.
func (j *job) inBounds(size int) bool {
	w, h := j.b.target(j.h.Width, j.h.Height)
	return j.b.accepts(j.h.Format) && w == j.h.Width && h == j.h.Height &&
		(j.b.MaxBytes <= 0 || int64(size) <= j.b.MaxBytes) && j.h.Orientation == 1 && j.h.Frames == 1
}

// plain says whether the file stores 8-bit grey or RGB(A). Grey with a
// transparent value is not plain: decoders disagree about it.
func (j *job) plain() bool {
	if j.h.BitDepth != 8 {
		return false
	}
	return j.h.Color == RGB || j.h.Color == RGBA || j.h.Color == Gray && !j.h.Alpha
}

// passes says whether a file within the bounds can be handed on as it is.
func (j *job) passes(ctx context.Context, data []byte) (bool, error) {
	if j.h.Color == Palette && j.h.Format == PNG && j.h.BitDepth == 8 {
		return j.ownPalette(ctx, data)
	}
	return j.plain(), nil
}

// ownPalette recognises a palette PNG that this package wrote: encoding its
// pixels again gives the same bytes. Others are prepared.
func (j *job) ownPalette(ctx context.Context, data []byte) (bool, error) {
	r, err := copyRows(ctx, j.src)
	if err != nil {
		return false, err
	}
	r.settle()
	p, ok := indexExact(r)
	if !ok {
		return false, nil
	}
	return bytes.Equal(pngPalette(r, p, int64(len(data))).data, data), nil
}

// size returns the displayed size of what is prepared.
func (j *job) size() (w, h int) {
	if j.turn >= 5 {
		return j.src.h, j.src.w
	}
	return j.src.w, j.src.h
}

// run shrinks to the target size and encodes; where no encoding fits, it tries
// a smaller edge, always from the full picture.
func (j *job) run(ctx context.Context) (Result, error) {
	if !j.b.accepts(PNG) && !j.b.accepts(JPEG) {
		return Result{}, &Error{Kind: CannotFit, Format: j.h.Format, Detail: fmt.Sprintf(
			"%s has to be converted and only png and jpeg can be written", j.h.Format)}
	}
	fullW, fullH := j.size()
	w, h := j.b.target(fullW, fullH)
	for {
		r, err := j.render(ctx, w, h)
		if err != nil {
			return Result{}, err
		}
		enc, flattened, err := j.encode(ctx, r)
		if err != nil {
			return Result{}, err
		}
		if enc.data != nil {
			return j.result(enc, r, flattened), nil
		}
		if w == 1 && h == 1 {
			return Result{}, &Error{Kind: CannotFit, Format: j.h.Format, Detail: fmt.Sprintf(
				"no picture fits into %d bytes", j.b.MaxBytes)}
		}
		step := math.Sqrt(float64(j.b.MaxBytes)/float64(max(1, enc.size))) * 0.97
		scale := float64(max(w, h)) / float64(max(fullW, fullH)) * min(0.9, max(0.3, step))
		nw := max(1, int(float64(fullW)*scale))
		nh := max(1, int(float64(fullH)*scale))
		nw, nh = j.b.target(min(nw, w), min(nh, h))
		if nw == w && nh == h {
			nw, nh = max(1, w*3/4), max(1, h*3/4)
		}
		w, h = nw, nh
	}
}

// render returns the picture as displayed at w x h.
func (j *job) render(ctx context.Context, w, h int) (*raster, error) {
	if j.turn >= 5 {
		w, h = h, w
	}
	r, err := resample(ctx, j.src, w, h)
	if err != nil {
		return nil, err
	}
	r.settle()
	return r.orient(j.turn), ctx.Err()
}

// Quality a palette must reach. Where JPEG is no way out, a coarser palette is
// still better than a stamp.
const (
	palettePSNR     = 40 // dB
	palettePSNROnly = 30 // dB
)

// encode tries the encodings that suit the picture, best first. When none
// fits, the attempt holds the smallest size seen.
func (j *job) encode(ctx context.Context, r *raster) (enc attempt, flattened bool, err error) {
	pngOK, jpegOK := j.b.accepts(PNG), j.b.accepts(JPEG)
	if !r.opaque && !pngOK {
		r, flattened = r.onWhite(), true
	}
	jpegOK = jpegOK && r.opaque
	fw, fh := j.size()
	flat := !jpegOK || j.h.lossless && isFlat(r)
	exact := j.h.lossless && r.w >= fw && r.h >= fh
	enc.size = math.MaxInt64
	if pngOK && (flat || exact) {
		enc = pngTrueColor(r, j.b.MaxBytes)
	}
	if pngOK && flat && enc.data == nil && ctx.Err() == nil {
		least := float64(palettePSNROnly)
		if jpegOK {
			least = palettePSNR
		}
		enc = smaller(enc, encodePalette(r, j.b.MaxBytes, least))
	}
	if jpegOK && enc.data == nil && ctx.Err() == nil {
		try, err := jpegLadder(ctx, r, j.b.MaxBytes)
		if err != nil {
			return attempt{}, false, err
		}
		enc = smaller(enc, try)
	}
	return enc, flattened, ctx.Err()
}

// smaller returns the second attempt when it fits or is the smaller one.
func smaller(a, b attempt) attempt {
	if b.data != nil || b.size < a.size {
		return b
	}
	return a
}

// encodePalette writes a palette PNG. Where at least the given likeness, in
// decibels, cannot be had with 256 colours, it does not count as an attempt.
func encodePalette(r *raster, limit int64, least float64) attempt {
	p, exact := indexExact(r)
	if !exact {
		p = quantize(r)
		if p.psnr(r) < least {
			return attempt{size: math.MaxInt64}
		}
	}
	a := pngPalette(r, p, limit)
	a.lossy = !exact
	return a
}

func (j *job) result(enc attempt, r *raster, flattened bool) Result {
	fullW, fullH := j.size()
	var changes []Change
	add := func(c Change, applies bool) {
		if applies {
			changes = append(changes, c)
		}
	}
	palette := enc.format == PNG && enc.data[25] == 3
	add(Oriented, j.h.Orientation != 1)
	add(Shrunk, r.w < fullW || r.h < fullH)
	add(Converted, enc.format != j.h.Format)
	add(FirstFrame, j.h.Frames > 1)
	add(DepthReduced, j.h.BitDepth > 8)
	add(Flattened, flattened)
	add(ColorConverted, slices.Contains([]Color{GrayAlpha, CMYK, YCCK}, j.h.Color) || j.h.Color == Palette && !palette)
	add(Recompressed, enc.lossy || len(changes) == 0 && !j.cropped)
	return Result{
		Data: enc.data, MIME: enc.format.MIME(), Width: r.w, Height: r.h,
		Changes: changes, Frames: j.h.Frames, Source: j.h.Info,
		Detail: j.h.spoils.String(),
	}
}
