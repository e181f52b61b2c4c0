package imaging

import (
	"image"
	"image/color"
)

// source gives a decoded picture row by row as straight (not premultiplied)
// RGBA bytes, so that no second copy of the whole picture is needed.
type source struct {
	img    image.Image
	x0, y0 int // of the part that is read, in the image's own coordinates
	w, h   int
	opaque bool // every row has alpha 255 throughout
}

func newSource(img image.Image) *source {
	b := img.Bounds()
	return &source{img: img, x0: b.Min.X, y0: b.Min.Y, w: b.Dx(), h: b.Dy(), opaque: isOpaque(img)}
}

// crop returns the part of the source that r names, in pixels from its corner.
func (s *source) crop(r Rect) *source {
	out := *s
	out.x0, out.y0, out.w, out.h = s.x0+r.X, s.y0+r.Y, r.W, r.H
	return &out
}

func isOpaque(img image.Image) bool {
	switch m := img.(type) {
	case *image.YCbCr, *image.Gray, *image.Gray16, *image.CMYK:
		return true
	case interface{ Opaque() bool }:
		return m.Opaque()
	default:
		return false
	}
}

// row returns row y. The result may be the picture's own memory and must not
// be written to; otherwise it lies in scratch, which holds 4*w bytes.
func (s *source) row(y int, scratch []byte) []byte {
	y += s.y0
	dst := scratch[:4*s.w]
	switch m := s.img.(type) {
	case *image.NRGBA:
		o := m.PixOffset(s.x0, y)
		return m.Pix[o : o+4*s.w]
	case *image.RGBA:
		o := m.PixOffset(s.x0, y)
		src := m.Pix[o : o+4*s.w]
		if s.opaque {
			return src
		}
		unpremultiply(dst, src)
	case *image.YCbCr:
		rowYCbCr(dst, m, s.x0, y)
	case *image.NYCbCrA:
		rowYCbCr(dst, &m.YCbCr, s.x0, y)
		for x := range s.w {
			dst[4*x+3] = m.A[m.AOffset(s.x0+x, y)]
		}
	default:
		s.rareRow(dst, y)
	}
	return dst
}

// rareRow converts the layouts that are not worth a path without a copy.
func (s *source) rareRow(dst []byte, y int) {
	switch m := s.img.(type) {
	case *image.Gray:
		o := m.PixOffset(s.x0, y)
		for x, v := range m.Pix[o : o+s.w] {
			setGray(dst[4*x:], v)
		}
	case *image.Gray16:
		o := m.PixOffset(s.x0, y)
		for x := range s.w {
			setGray(dst[4*x:], to8(m.Pix[o+2*x], m.Pix[o+2*x+1]))
		}
	case *image.Paletted:
		s.rowPaletted(dst, m, y)
	case *image.CMYK:
		o := m.PixOffset(s.x0, y)
		rowCMYK(dst, m.Pix[o:o+4*s.w])
	case *image.NRGBA64:
		o := m.PixOffset(s.x0, y)
		for i := range dst {
			dst[i] = to8(m.Pix[o+2*i], m.Pix[o+2*i+1])
		}
	case *image.RGBA64:
		o := m.PixOffset(s.x0, y)
		rowRGBA64(dst, m.Pix[o:o+8*s.w])
	default:
		s.rowGeneric(dst, y)
	}
}

func setGray(dst []byte, v byte) { dst[0], dst[1], dst[2], dst[3] = v, v, v, 255 }

// to8 rounds a 16-bit sample to the nearest of 8 bits.
func to8(hi, lo byte) byte { return round16(uint32(hi)<<8 | uint32(lo)) }

func round16(v uint32) byte { return byte((v*255 + 32767) / 65535) }

func unpremultiply(dst, src []byte) {
	for i := 0; i+3 < len(src); i += 4 {
		a := uint32(src[i+3])
		dst[i+3] = src[i+3]
		for c := i; c < i+3; c++ {
			switch a {
			case 0:
				dst[c] = 0
			case 255:
				dst[c] = src[c]
			default:
				dst[c] = byte(min(255, (uint32(src[c])*255+a/2)/a))
			}
		}
	}
}

func rowRGBA64(dst, src []byte) {
	for i := 0; i+3 < len(dst); i += 4 {
		p := src[2*i : 2*i+8]
		a := uint32(p[6])<<8 | uint32(p[7])
		dst[i+3] = round16(a)
		for c := range 3 {
			v := uint32(p[2*c])<<8 | uint32(p[2*c+1])
			switch a {
			case 0:
				v = 0
			case 65535:
			default:
				v = uint32(min(65535, (uint64(v)*65535+uint64(a)/2)/uint64(a)))
			}
			dst[i+c] = round16(v)
		}
	}
}

func rowCMYK(dst, src []byte) {
	for i := 0; i+3 < len(src); i += 4 {
		dst[i], dst[i+1], dst[i+2] = color.CMYKToRGB(src[i], src[i+1], src[i+2], src[i+3])
		dst[i+3] = 255
	}
}

func (s *source) rowPaletted(dst []byte, m *image.Paletted, y int) {
	var table [256][4]byte
	for i, c := range m.Palette[:min(256, len(m.Palette))] {
		v := color.NRGBAModel.Convert(c).(color.NRGBA)
		table[i] = [4]byte{v.R, v.G, v.B, v.A}
	}
	o := m.PixOffset(s.x0, y)
	for x, v := range m.Pix[o : o+s.w] {
		copy(dst[4*x:4*x+4], table[v][:])
	}
}

func (s *source) rowGeneric(dst []byte, y int) {
	for x := range s.w {
		v := color.NRGBAModel.Convert(s.img.At(s.x0+x, y)).(color.NRGBA)
		dst[4*x], dst[4*x+1], dst[4*x+2], dst[4*x+3] = v.R, v.G, v.B, v.A
	}
}

// rowYCbCr writes one row from column x0 on; the chroma sample of a pixel is
// the one that covers it.
func rowYCbCr(dst []byte, m *image.YCbCr, x0, y int) {
	w := len(dst) / 4
	luma := m.Y[m.YOffset(x0, y):]
	shift := 0
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio440:
	case image.YCbCrSubsampleRatio420, image.YCbCrSubsampleRatio422:
		shift = 1
	case image.YCbCrSubsampleRatio410, image.YCbCrSubsampleRatio411:
		shift = 2
	}
	o := m.COffset(x0, y) - x0>>shift
	for x := range w {
		c := o + (x0+x)>>shift
		r, g, b := color.YCbCrToRGB(luma[x], m.Cb[c], m.Cr[c])
		p := dst[4*x : 4*x+4 : 4*x+4]
		p[0], p[1], p[2], p[3] = r, g, b, 255
	}
}
