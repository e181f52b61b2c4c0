package imaging

import (
	"encoding/binary"
	"image"
	"image/color"
	"math/bits"
)

// bmpHeader is what decoding a BMP needs. Run-length coded files and files that
// embed a JPEG or PNG are not supported.
type bmpHeader struct {
	w, h      int
	topDown   bool
	bpp       int
	masks     [4]uint32 // red, green, blue, alpha; used from 16 bits a pixel on
	palette   int       // offset of the palette
	entrySize int       // bytes a palette entry
	colors    int
	offset    uint64 // of the pixels
}

func (b *bmpHeader) stride() int64 { return (int64(b.w)*int64(b.bpp) + 31) / 32 * 4 }

func (h *header) readBMP(data []byte) error {
	b, unsupported, err := h.parseBMP(data)
	if err != nil {
		return err
	}
	h.unsupported, h.lossless = unsupported, true
	switch {
	case b.bpp <= 8:
		h.Color, h.BitDepth = Palette, b.bpp
	default:
		h.BitDepth = 0
		for _, m := range b.masks[:3] {
			h.BitDepth = max(h.BitDepth, bits.OnesCount32(m))
		}
		if b.masks[3] != 0 {
			h.Color, h.Alpha = RGBA, true
		}
	}
	if h.unsupported == "" && b.offset+uint64(b.stride())*uint64(b.h) > uint64(len(data)) {
		h.cut = "truncated after " + byteSize(len(data))
	}
	return nil
}

func (h *header) parseBMP(data []byte) (b bmpHeader, unsupported string, err error) {
	le := binary.LittleEndian
	n := int(le.Uint32(data[14:]))
	if len(data) < 14+n {
		return b, "", damaged(BMP, "no complete header")
	}
	b.offset = uint64(le.Uint32(data[10:]))
	b.palette, b.entrySize = 14+n, 4
	if n == 12 {
		b.entrySize = 3
		b.bpp = int(le.Uint16(data[24:]))
		err = h.setSize(uint64(le.Uint16(data[18:])), uint64(le.Uint16(data[20:])))
	} else {
		b.bpp = int(le.Uint16(data[28:]))
		height := int64(int32(le.Uint32(data[22:])))
		if height < 0 {
			b.topDown, height = true, -height
		}
		err = h.setSize(uint64(int64(int32(le.Uint32(data[18:])))), uint64(height))
	}
	if err != nil {
		return b, "", err
	}
	b.w, b.h = h.StoredWidth, h.StoredHeight
	if n >= 40 {
		unsupported = b.compression(data, n)
		b.colors = int(min(le.Uint32(data[46:]), 256))
	}
	switch b.bpp {
	case 1, 2, 4, 8:
		if b.colors == 0 || b.colors > 1<<b.bpp {
			b.colors = 1 << b.bpp
		}
	case 16, 24, 32:
	default:
		return b, "", damaged(BMP, "%d bits a pixel", b.bpp)
	}
	b.defaultMasks()
	return b, unsupported, nil
}

// compression reads the colour masks, which follow a 40-byte header and are
// part of a longer one.
func (b *bmpHeader) compression(data []byte, n int) (unsupported string) {
	le := binary.LittleEndian
	method := le.Uint32(data[30:])
	count := 0
	switch {
	case method == 0 && n >= 56 && b.bpp == 32:
		b.masks[3] = le.Uint32(data[66:]) & 0xff000000
		return ""
	case method == 0:
		return ""
	case method == 3:
		count = 3
	case method == 6:
		count = 4
	default:
		return "compressed bmp"
	}
	if n == 40 {
		b.palette += 4 * count
	}
	if n >= 56 {
		count = 4
	}
	for i := range count {
		if field := skip(data, 54+4*i); len(field) >= 4 {
			b.masks[i] = le.Uint32(field)
		}
	}
	return ""
}

func (b *bmpHeader) defaultMasks() {
	if b.masks[0]|b.masks[1]|b.masks[2] != 0 {
		return
	}
	switch b.bpp {
	case 16:
		b.masks[0], b.masks[1], b.masks[2] = 0x7c00, 0x03e0, 0x001f
	case 24, 32:
		b.masks[0], b.masks[1], b.masks[2] = 0xff0000, 0x00ff00, 0x0000ff
	}
}

// decodeBMP decodes a file whose header was read and whose pixels are all there.
func decodeBMP(data []byte) (image.Image, error) {
	var h header
	b, _, err := h.parseBMP(data)
	if err != nil {
		return nil, err
	}
	stride := int(b.stride())
	row := func(y int) []byte {
		if !b.topDown {
			y = b.h - 1 - y
		}
		at := int(b.offset) + y*stride
		return data[at : at+stride]
	}
	if b.bpp <= 8 {
		return b.decodePalette(data, row)
	}
	img := image.NewNRGBA(image.Rect(0, 0, b.w, b.h))
	var seen byte
	for y := range b.h {
		seen |= b.decodeRow(img.Pix[y*img.Stride:], row(y))
	}
	if b.masks[3] != 0 && seen == 0 {
		// An alpha channel that is zero everywhere was never written.
		for i := 3; i < len(img.Pix); i += 4 {
			img.Pix[i] = 255
		}
	}
	return img, nil
}

func (b *bmpHeader) decodePalette(data []byte, row func(int) []byte) (image.Image, error) {
	palette := make(color.Palette, b.colors)
	for i := range palette {
		entry := skip(data, b.palette+i*b.entrySize)
		if len(entry) < 3 {
			return nil, damaged(BMP, "palette cut off")
		}
		palette[i] = color.NRGBA{R: entry[2], G: entry[1], B: entry[0], A: 255}
	}
	img := image.NewPaletted(image.Rect(0, 0, b.w, b.h), palette)
	per := 8 / b.bpp
	for y := range b.h {
		src := row(y)
		for x := range b.w {
			shift := 8 - b.bpp*(x%per+1)
			v := src[x/per] >> shift & (1<<b.bpp - 1)
			if int(v) >= len(palette) {
				return nil, damaged(BMP, "colour %d of %d", v, len(palette))
			}
			img.Pix[y*img.Stride+x] = v
		}
	}
	return img, nil
}

// decodeRow fills one row of NRGBA and returns the alpha values seen, or-ed.
func (b *bmpHeader) decodeRow(dst, src []byte) (seen byte) {
	size := b.bpp / 8
	var channels [4]struct {
		mask  uint32
		shift int
		top   uint64
	}
	for i, m := range b.masks {
		shift := bits.TrailingZeros32(m) & 31
		channels[i].mask, channels[i].shift, channels[i].top = m, shift, uint64(m>>shift)
	}
	for x := range b.w {
		p := src[x*size:]
		v := uint32(p[0]) | uint32(p[1])<<8
		if size > 2 {
			v |= uint32(p[2]) << 16
		}
		if size > 3 {
			v |= uint32(p[3]) << 24
		}
		for i, c := range channels {
			out := byte(255)
			if c.top != 0 {
				out = byte((uint64(v&c.mask>>c.shift)*255 + c.top/2) / c.top)
			} else if i < 3 {
				out = 0
			}
			dst[4*x+i] = out
		}
		if b.masks[3] != 0 {
			seen |= dst[4*x+3]
		}
	}
	return seen
}
