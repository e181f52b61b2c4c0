package imaging

import (
	"context"
	"fmt"
	"image"
	"image/jpeg"
)

// JPEG qualities on the scale of the IJG library. Below the lowest, text is no
// longer legible and a smaller edge serves better.
const (
	jpegHighest = 90
	jpegLowest  = 40
)

// jpegLadder returns a high quality that keeps to the limit: the highest of
// all, or one that uses 95 % of the limit, or the highest that fits. It takes
// for granted that size grows with quality; where it does not, the result is
// still one that fits.
func jpegLadder(ctx context.Context, r *raster, limit int64) (attempt, error) {
	img := jpegImage(r)
	over, err := jpegAt(img, jpegHighest, limit)
	if err != nil || over.data != nil {
		return over, err
	}
	best, err := jpegAt(img, jpegLowest, limit)
	if err != nil || best.data == nil {
		return best, err
	}
	low, high := jpegLowest, jpegHighest
	for round := 0; high-low > 1 && best.size < limit/100*95; round++ {
		if ctx.Err() != nil {
			return attempt{}, ctx.Err()
		}
		quality := (low + high) / 2
		if round%2 == 0 && over.size > best.size {
			// Along the chord, which is quicker while the sizes are far apart.
			quality = low + int(int64(high-low)*(limit-best.size)/(over.size-best.size))
		}
		quality = min(max(quality, low+1), high-1)
		try, err := jpegAt(img, quality, limit)
		if err != nil {
			return attempt{}, err
		}
		if try.data == nil {
			high, over = quality, try
		} else {
			low, best = quality, try
		}
	}
	return best, nil
}

// jpegImage gives the encoder the layout it has a fast path for.
func jpegImage(r *raster) image.Image {
	bounds := image.Rect(0, 0, r.w, r.h)
	if !r.gray() {
		return &image.RGBA{Pix: r.pix, Stride: 4 * r.w, Rect: bounds}
	}
	img := image.NewGray(bounds)
	for i := range img.Pix {
		img.Pix[i] = r.pix[4*i]
	}
	return img
}

// countingBuffer keeps counting when it is over its limit, so that the size
// of what did not fit is known.
type countingBuffer struct {
	boundedBuffer
	written int64
}

func (c *countingBuffer) Write(p []byte) (int, error) {
	c.written += int64(len(p))
	if c.limit <= 0 || c.written <= c.limit {
		return c.boundedBuffer.Write(p)
	}
	return len(p), nil
}

func jpegAt(img image.Image, quality int, limit int64) (attempt, error) {
	b := img.Bounds()
	if b.Dx() > 65535 || b.Dy() > 65535 {
		return attempt{format: JPEG, size: int64(b.Dx()) * int64(b.Dy())}, nil
	}
	var out countingBuffer
	out.limit = limit
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: quality}); err != nil {
		return attempt{}, &Error{Kind: CannotFit, Detail: fmt.Sprintf("jpeg of %d x %d", b.Dx(), b.Dy()), Err: err}
	}
	a := attempt{format: JPEG, size: out.written, lossy: true}
	if limit <= 0 || out.written <= limit {
		a.data = out.Bytes()
	}
	return a, nil
}
