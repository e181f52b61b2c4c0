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

// jpegLadder returns the highest quality that keeps to the limit. Bisection
// takes for granted that size grows with quality; where it does not, the
// result is still one that fits.
func jpegLadder(ctx context.Context, r *raster, limit int64) (attempt, error) {
	img := jpegImage(r)
	best, err := jpegAt(img, jpegHighest, limit)
	if err != nil || best.data != nil {
		return best, err
	}
	best, err = jpegAt(img, jpegLowest, limit)
	if err != nil || best.data == nil {
		return best, err
	}
	low, high := jpegLowest, jpegHighest
	for high-low > 1 {
		if ctx.Err() != nil {
			return attempt{}, ctx.Err()
		}
		middle := (low + high) / 2
		try, err := jpegAt(img, middle, limit)
		if err != nil {
			return attempt{}, err
		}
		if try.data == nil {
			high = middle
		} else {
			low, best = middle, try
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
