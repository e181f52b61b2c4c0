package imaging_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"os"
	"path/filepath"
	"testing"

	_ "golang.org/x/image/webp"

	"tote/internal/imaging"
)

func prepare(tb testing.TB, data []byte, b imaging.Bounds) imaging.Result {
	tb.Helper()
	r, err := imaging.Prepare(tb.Context(), data, b)
	if err != nil {
		tb.Fatalf("Prepare: %v", err)
	}
	return r
}

func decode(tb testing.TB, data []byte) image.Image {
	tb.Helper()
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		tb.Fatalf("decode output: %v", err)
	}
	return img
}

func pixel(img image.Image, x, y int) color.NRGBA {
	b := img.Bounds()
	return color.NRGBAModel.Convert(img.At(b.Min.X+x, b.Min.Y+y)).(color.NRGBA)
}

// near reports whether two colours differ by at most tolerance in each sample.
func near(a, b color.NRGBA, tolerance int) bool {
	d := func(x, y uint8) bool { return max(x, y)-min(x, y) <= uint8(tolerance) }
	return d(a.R, b.R) && d(a.G, b.G) && d(a.B, b.B) && d(a.A, b.A)
}

func wantKind(tb testing.TB, err error, want imaging.Kind) {
	tb.Helper()
	var e *imaging.Error
	if !errors.As(err, &e) || e.Kind != want {
		tb.Fatalf("error = %v, want kind %v", err, want)
	}
}

func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// tiffFile writes an uncompressed RGB TIFF in either byte order, with one
// directory for each page.
func tiffFile(img *image.NRGBA, order binary.AppendByteOrder, orientation, pages int) []byte {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	magic := "II*\x00"
	if order == binary.AppendByteOrder(binary.BigEndian) {
		magic = "MM\x00*"
	}
	pix := make([]byte, 0, 3*w*h)
	for i := 0; i < len(img.Pix); i += 4 {
		pix = append(pix, img.Pix[i:i+3]...)
	}
	bits := 8 + len(pix) + len(pix)%2
	first := bits + 6
	out := order.AppendUint32([]byte(magic), uint32(first))
	out = append(out, pix...)
	out = append(out, make([]byte, len(pix)%2)...)
	for range 3 {
		out = order.AppendUint16(out, 8)
	}
	entries := [][4]uint32{
		{256, 3, 1, uint32(w)},
		{257, 3, 1, uint32(h)},
		{258, 3, 3, uint32(bits)},
		{259, 3, 1, 1},
		{262, 3, 1, 2},
		{273, 4, 1, 8},
		{274, 3, 1, uint32(orientation)},
		{277, 3, 1, 3},
		{278, 3, 1, uint32(h)},
		{279, 4, 1, uint32(len(pix))},
	}
	for page := range pages {
		out = order.AppendUint16(out, uint16(len(entries)))
		for _, e := range entries {
			out = order.AppendUint16(out, uint16(e[0]))
			out = order.AppendUint16(out, uint16(e[1]))
			out = order.AppendUint32(out, e[2])
			if e[1] == 3 && e[2] == 1 {
				out = order.AppendUint16(out, uint16(e[3]))
				out = order.AppendUint16(out, 0)
			} else {
				out = order.AppendUint32(out, e[3])
			}
		}
		next := uint32(0)
		if page+1 < pages {
			next = uint32(len(out) + 4)
		}
		out = order.AppendUint32(out, next)
	}
	return out
}

// bmpFile writes a BMP; pix holds whole rows, bottom first unless height < 0.
func bmpFile(w, h, bpp int, compression uint32, extra, pix []byte) []byte {
	le := binary.LittleEndian
	out := le.AppendUint32([]byte("BM"), uint32(54+len(extra)+len(pix)))
	out = le.AppendUint32(out, 0)
	out = le.AppendUint32(out, uint32(54+len(extra)))
	out = le.AppendUint32(out, 40)
	out = le.AppendUint32(out, uint32(int32(w)))
	out = le.AppendUint32(out, uint32(int32(h)))
	out = le.AppendUint16(out, 1)
	out = le.AppendUint16(out, uint16(bpp))
	out = le.AppendUint32(out, compression)
	out = append(out, make([]byte, 20)...)
	return append(append(out, extra...), pix...)
}

// bitWriter writes entropy-coded JPEG data with byte stuffing.
type bitWriter struct {
	out   []byte
	acc   uint32
	nbits int
}

func (w *bitWriter) write(v uint32, n int) {
	for i := n - 1; i >= 0; i-- {
		w.acc = w.acc<<1 | v>>i&1
		if w.nbits++; w.nbits == 8 {
			w.out = append(w.out, byte(w.acc))
			if byte(w.acc) == 0xff {
				w.out = append(w.out, 0)
			}
			w.acc, w.nbits = 0, 0
		}
	}
}

func (w *bitWriter) finish() []byte {
	for w.nbits != 0 {
		w.write(1, 1)
	}
	return w.out
}

// fourComponentJPEG writes an 8x8 baseline JPEG of one flat colour. transform
// is that of the Adobe segment, which is left out when negative.
func fourComponentJPEG(samples [4]byte, transform int) []byte {
	out := []byte{0xff, 0xd8}
	segment := func(marker byte, body []byte) {
		out = binary.BigEndian.AppendUint16(append(out, 0xff, marker), uint16(len(body)+2))
		out = append(out, body...)
	}
	if transform >= 0 {
		segment(0xee, append([]byte("Adobe\x00\x64\x00\x00\x00\x00"), byte(transform)))
	}
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...))
	segment(0xc0, []byte{8, 0, 8, 0, 8, 4, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0})
	// Twelve 4-bit codes for the DC categories 0 to 11, one 1-bit code for "end of block".
	segment(0xc4, append([]byte{0x00, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11))
	segment(0xc4, append([]byte{0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0))
	segment(0xda, []byte{4, 1, 0, 2, 0, 3, 0, 4, 0, 0, 63, 0})
	var w bitWriter
	for _, s := range samples {
		dc := (int(s) - 128) * 8
		size := 0
		for v := max(dc, -dc); v > 0; v >>= 1 {
			size++
		}
		w.write(uint32(size), 4)
		if dc < 0 {
			dc += 1<<size - 1
		}
		w.write(uint32(dc), size)
		w.write(0, 1)
	}
	return append(append(out, w.finish()...), 0xff, 0xd9)
}
