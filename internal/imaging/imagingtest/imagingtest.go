// Package imagingtest generates pictures for tests: screenshots, photographs,
// EXIF orientation, animations and cut-off files. Everything is deterministic.
// It refuses nothing and panics when an encoder fails, which only a broken
// toolchain can cause. Only tests may import it.
package imagingtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
)

func must(err error) {
	if err != nil {
		panic("imagingtest: " + err.Error())
	}
}

// Screenshot returns a PNG of windows and lines of writing with a noisy inset,
// as a picture on a screen has. At 3840x2400 it has about 7 MB.
func Screenshot(w, h int, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 0x5c2ee))
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	fill := func(x, y, fw, fh int, c color.RGBA) {
		draw.Draw(img, image.Rect(x, y, x+fw, y+fh), image.NewUniform(c), image.Point{}, draw.Src)
	}
	fill(0, 0, w, h, color.RGBA{30, 34, 42, 255})
	unit := max(1, h/240)
	for y := 4 * unit; y < h-6*unit; y += 6 * unit {
		x := unit * (4 + rng.IntN(20))
		for x < w-20*unit {
			ww := unit * (2 + rng.IntN(12))
			c := color.RGBA{uint8(90 + rng.IntN(160)), uint8(90 + rng.IntN(160)), uint8(90 + rng.IntN(160)), 255}
			for glyph := 0; glyph < ww; glyph += 2 * unit {
				fill(x+glyph, y+rng.IntN(unit+1), unit, 3*unit, c)
			}
			x += ww + 2*unit
		}
	}
	inset := image.Rect(w/2, h/4, w/2+w*48/100, h/4+h*70/100)
	Shade(img, inset, rng)
	var out bytes.Buffer
	must((&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, img))
	return out.Bytes()
}

// Shade fills a part of a picture with smooth colours and noise.
func Shade(img *image.RGBA, r image.Rectangle, rng *rand.Rand) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			fx, fy := float64(x-r.Min.X)/float64(r.Dx()), float64(y-r.Min.Y)/float64(r.Dy())
			noise := rng.Uint32()
			at := func(v float64, shift uint) uint8 {
				return uint8(min(255, max(0, 20+200*v+float64(noise>>shift&31))))
			}
			img.SetRGBA(x, y, color.RGBA{
				at(0.5+0.5*math.Sin(7*fx+3*fy), 0), at(fy, 8), at(0.5+0.5*math.Cos(5*fy-4*fx), 16), 255,
			})
		}
	}
}

// Photo returns a picture with smooth colours and noise everywhere.
func Photo(w, h int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	Shade(img, img.Rect, rand.New(rand.NewPCG(1, 2)))
	return img
}

// Corners returns a picture of four plain quarters: red, green, blue and
// yellow, read from the top left as a page is. It has no symmetry, so every
// orientation of it is told apart.
func Corners(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	colors := [4]color.NRGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 0, 255}}
	for y := range h {
		for x := range w {
			img.SetNRGBA(x, y, colors[x*2/w+2*(y*2/h)])
		}
	}
	return img
}

// PNG encodes a picture.
func PNG(img image.Image) []byte {
	var out bytes.Buffer
	must(png.Encode(&out, img))
	return out.Bytes()
}

// EXIF returns a big-endian TIFF structure whose only entry is the orientation.
func EXIF(orientation int) []byte {
	out := []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01")
	out = binary.BigEndian.AppendUint16(out, uint16(orientation))
	return append(out, 0, 0, 0, 0, 0, 0)
}

// JPEG encodes a picture at quality 95 with an EXIF segment; orientation 0
// leaves the segment out.
func JPEG(img image.Image, orientation int) []byte {
	var out bytes.Buffer
	must(jpeg.Encode(&out, img, &jpeg.Options{Quality: 95}))
	if orientation == 0 {
		return out.Bytes()
	}
	exif := append([]byte("Exif\x00\x00"), EXIF(orientation)...)
	segment := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(exif)+2))
	return bytes.Join([][]byte{out.Bytes()[:2], segment, exif, out.Bytes()[2:]}, nil)
}

// PNGChunk returns one chunk with its checksum.
func PNGChunk(kind string, body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	out = append(append(out, kind...), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// InsertPNGChunk puts a chunk after the header of a PNG.
func InsertPNGChunk(data []byte, kind string, body []byte) []byte {
	return bytes.Join([][]byte{data[:33], PNGChunk(kind, body), data[33:]}, nil)
}

// PNGWithOrientation encodes a picture with an eXIf chunk.
func PNGWithOrientation(img image.Image, orientation int) []byte {
	return InsertPNGChunk(PNG(img), "eXIf", EXIF(orientation))
}

// WebPWithOrientation wraps a simple lossy or lossless WebP file of a known
// size into an extended one with an EXIF chunk.
func WebPWithOrientation(data []byte, w, h, orientation int) []byte {
	canvas := make([]byte, 10)
	canvas[0] = 0x08
	put24 := func(b []byte, v int) { b[0], b[1], b[2] = byte(v), byte(v>>8), byte(v>>16) }
	put24(canvas[4:], w-1)
	put24(canvas[7:], h-1)
	body := append([]byte("WEBP"), RIFFChunk("VP8X", canvas)...)
	body = append(body, data[12:]...)
	body = append(body, RIFFChunk("EXIF", EXIF(orientation))...)
	return RIFFChunk("RIFF", body)
}

// RIFFChunk returns one chunk, padded to an even size.
func RIFFChunk(kind string, body []byte) []byte {
	if len(kind) != 4 {
		panic(fmt.Sprintf("imagingtest: chunk kind %q", kind))
	}
	out := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(body)))
	out = append(out, body...)
	if len(body)%2 != 0 {
		out = append(out, 0)
	}
	return out
}

// Truncated returns the first half of a file.
func Truncated(data []byte) []byte { return bytes.Clone(data[:len(data)/2]) }

// AnimatedGIF returns 16x16 pixels that are red in the first frame and green
// in the second.
func AnimatedGIF() []byte {
	return GIF(color.RGBA{255, 0, 0, 255}, color.RGBA{0, 255, 0, 255})
}

// GIF returns 16x16 pixels with one plain frame for each colour.
func GIF(frames ...color.Color) []byte {
	all := &gif.GIF{}
	for _, c := range frames {
		// 0x2c and 0x21 in the palette look like block starts to a careless reader.
		frame := image.NewPaletted(image.Rect(0, 0, 16, 16), color.Palette{c, color.RGBA{0x2c, 0x21, 0x2c, 255}})
		all.Image = append(all.Image, frame)
		all.Delay = append(all.Delay, 10)
	}
	var out bytes.Buffer
	must(gif.EncodeAll(&out, all))
	return out.Bytes()
}
