package imaging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"
)

// reader is a function that reads.
type reader func([]byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

// until returns a reader of the data that fails once the context ends, which
// ends the decoder that reads from it.
func until(ctx context.Context, data []byte) io.Reader {
	r := bytes.NewReader(data)
	return reader(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(p)
	})
}

// decode decodes the first frame to its end. Errors are *Error or the
// context's own. A panic of a decoder is reported as Damaged.
func decode(ctx context.Context, data []byte, h *header) (img image.Image, err error) {
	if err := h.decodable(); err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			img, err = nil, &Error{Kind: Damaged, Format: h.Format, Detail: "damaged", Err: fmt.Errorf("decoder panic: %v", p)}
		}
	}()
	img, err = decodeFormat(ctx, data, h)
	if ctxErr := ctx.Err(); ctxErr != nil {
		return nil, ctxErr
	}
	if err != nil {
		return nil, classify(h.Format, len(data), err)
	}
	if b := img.Bounds(); b.Dx() != h.StoredWidth || b.Dy() != h.StoredHeight {
		return nil, damaged(h.Format, "header and picture differ in size")
	}
	return img, nil
}

func classify(f Format, size int, err error) error {
	var own *Error
	var unsupportedJPEG jpeg.UnsupportedError
	var unsupportedPNG png.UnsupportedError
	var unsupportedTIFF tiff.UnsupportedError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &unsupportedJPEG), errors.As(err, &unsupportedPNG), errors.As(err, &unsupportedTIFF):
		return &Error{Kind: Unsupported, Format: f, Detail: "unsupported", Err: err}
	default:
		return decodeError(f, size, err)
	}
}

func decodeFormat(ctx context.Context, data []byte, h *header) (image.Image, error) {
	switch h.Format {
	case PNG:
		return png.Decode(until(ctx, h.mended(data)))
	case JPEG:
		return decodeJPEG(ctx, data, h)
	case GIF:
		return decodeGIF(until(ctx, data), h)
	case WebP:
		return decodeWebP(ctx, h)
	case BMP:
		return decodeBMP(data)
	case TIFF:
		return tiff.Decode(bytes.NewReader(data))
	case HEIC, AVIF, JXL, ICO:
	}
	return nil, &Error{Kind: Unsupported, Format: h.Format, Detail: "no decoder here"}
}

// decodeJPEG checks first that the decoder sees the size that was measured, so
// that the pixel limit holds for what it allocates.
func decodeJPEG(ctx context.Context, data []byte, h *header) (image.Image, error) {
	if h.plainCMYK {
		data = withAdobeMarker(data)
	}
	config, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if config.Width != h.StoredWidth || config.Height != h.StoredHeight {
		return nil, damaged(JPEG, "two frame headers")
	}
	img, err := jpeg.Decode(until(ctx, data))
	if err != nil {
		return nil, err
	}
	if cmyk, ok := img.(*image.CMYK); ok && h.plainCMYK {
		// The decoder inverts as Adobe files need; this file is not inverted.
		for i := range cmyk.Pix {
			cmyk.Pix[i] = 255 - cmyk.Pix[i]
		}
	}
	return img, nil
}

// decodeGIF lays the first frame on the logical screen, transparent elsewhere.
func decodeGIF(r io.Reader, h *header) (image.Image, error) {
	img, err := gif.Decode(r)
	if err != nil {
		return nil, err
	}
	return onCanvas(img, img.Bounds(), h), nil
}

// decodeWebP decodes the still file made of the first frame and corrects the
// range of lossy colours.
func decodeWebP(ctx context.Context, h *header) (image.Image, error) {
	img, err := webp.Decode(until(ctx, h.frame.still()))
	if err != nil {
		return nil, err
	}
	switch m := img.(type) {
	case *image.YCbCr:
		fullRange(m)
	case *image.NYCbCrA:
		fullRange(&m.YCbCr)
	}
	place := img.Bounds().Sub(img.Bounds().Min).Add(image.Pt(h.frameX, h.frameY))
	return onCanvas(img, place, h), nil
}

// fullRange stretches limited-range planes. VP8 stores luma as 16 to 235 and
// chroma as 16 to 240 (RFC 6386 section 9.2), image.YCbCr means 0 to 255.
func fullRange(m *image.YCbCr) {
	var luma, chroma [256]byte
	for i := range 256 {
		luma[i] = clampByte((float64(i)-16)*255/219 + 0.5)
		chroma[i] = clampByte((float64(i)-128)*255/224 + 128.5)
	}
	for i, v := range m.Y {
		m.Y[i] = luma[v]
	}
	for i, v := range m.Cb {
		m.Cb[i] = chroma[v]
	}
	for i, v := range m.Cr {
		m.Cr[i] = chroma[v]
	}
}

func clampByte(v float64) byte { return byte(min(max(v, 0), 255)) }

// onCanvas returns the frame itself when it covers the picture, else a canvas
// with the frame at its place and nothing around it.
func onCanvas(img image.Image, place image.Rectangle, h *header) image.Image {
	canvas := image.Rect(0, 0, h.StoredWidth, h.StoredHeight)
	if place == canvas {
		return img
	}
	out := image.NewNRGBA(canvas)
	src := newSource(img)
	scratch := make([]byte, 4*src.w)
	for y := range src.h {
		at := image.Rect(place.Min.X, place.Min.Y+y, place.Min.X+src.w, place.Min.Y+y+1)
		part := at.Intersect(canvas)
		if part.Empty() {
			continue
		}
		row := src.row(y, scratch)[4*(part.Min.X-at.Min.X):]
		copy(out.Pix[out.PixOffset(part.Min.X, part.Min.Y):], row[:4*part.Dx()])
	}
	return out
}
