package imaging

import (
	"encoding/binary"
	"fmt"
)

// TIFF tags, named as in TIFF 6.0 (Adobe, 1992).
const (
	tagImageWidth   = 256
	tagImageLength  = 257
	tagBits         = 258
	tagPhotometric  = 262
	tagSamples      = 277
	tagExtraSamples = 338
)

// maxTIFFPages bounds the walk over a chain of directories that may be a loop.
const maxTIFFPages = 10_000

// readTIFF reads the first directory and counts the pages.
func (h *header) readTIFF(data []byte) error {
	order, offset, _ := tiffOrder(data)
	if order == nil {
		return damaged(TIFF, "no complete header")
	}
	d, ok := openIFD(data, order, offset)
	if !ok {
		return damaged(TIFF, "truncated after %s: no image directory", byteSize(len(data)))
	}
	w, _ := d.first(tagImageWidth)
	ht, _ := d.first(tagImageLength)
	if err := h.setSize(w, ht); err != nil {
		return err
	}
	h.lossless = true
	if v, ok := d.first(tagOrientation); ok && v <= 8 {
		h.Orientation = int(v)
	}
	h.BitDepth = 1
	if v, ok := d.first(tagBits); ok && v <= 64 {
		h.BitDepth = int(v)
	}
	_, h.Alpha = d.first(tagExtraSamples)
	samples, _ := d.first(tagSamples)
	photometric, _ := d.first(tagPhotometric)
	switch photometric {
	case 0, 1:
		h.Color = Gray
		if h.Alpha || samples > 1 {
			h.unsupported = "grey with extra samples"
		}
	case 2:
		h.Color = RGB
		if h.Alpha {
			h.Color = RGBA
		}
	case 3:
		h.Color = Palette
	case 5:
		h.Color, h.unsupported = CMYK, "cmyk samples"
	default:
		h.unsupported = fmt.Sprintf("photometric interpretation %d", photometric)
	}
	h.Frames = tiffPages(data, order, d)
	return nil
}

func tiffPages(data []byte, order binary.ByteOrder, d ifd) int {
	seen := map[uint32]bool{}
	pages := 1
	for pages < maxTIFFPages {
		next := d.next()
		if next == 0 || seen[next] {
			return pages
		}
		seen[next] = true
		var ok bool
		if d, ok = openIFD(data, order, next); !ok || d.count == 0 {
			return pages
		}
		pages++
	}
	return pages
}
