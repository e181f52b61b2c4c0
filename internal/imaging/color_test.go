package imaging_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/color/palette"
	"slices"
	"testing"

	"golang.org/x/image/tiff"

	"tote/internal/imaging"
	"tote/internal/imaging/imagingtest"
)

var (
	red         = color.NRGBA{255, 0, 0, 255}
	green       = color.NRGBA{0, 255, 0, 255}
	blue        = color.NRGBA{0, 0, 255, 255}
	white       = color.NRGBA{255, 255, 255, 255}
	transparent = color.NRGBA{}
)

func paletted(n, w, h int) *image.Paletted {
	img := image.NewPaletted(image.Rect(0, 0, w, h), palette.WebSafe[:n])
	for i := range img.Pix {
		img.Pix[i] = uint8(i * 7 % n)
	}
	return img
}

// Every layout is turned into 8-bit grey or RGB(A) with the same colours.
func TestLayoutsKeepTheirColours(t *testing.T) {
	gray16 := image.NewGray16(image.Rect(0, 0, 64, 8))
	rgba64 := image.NewNRGBA64(image.Rect(0, 0, 64, 8))
	for i := range 64 * 8 {
		x, y := i%64, i/64
		gray16.SetGray16(x, y, color.Gray16{Y: uint16(x * 1040)})
		rgba64.SetNRGBA64(x, y, color.NRGBA64{R: uint16(x * 1040), G: 65535 - uint16(x*1040), B: 30000, A: uint16(8000*y + 9000)})
	}
	rgb64 := image.NewRGBA64(gray16.Rect)
	for i := range 64 * 8 {
		rgb64.SetRGBA64(i%64, i/64, color.RGBA64{R: uint16(i * 128), G: 40000, B: 5, A: 65535})
	}
	tests := []struct {
		name  string
		img   image.Image
		color imaging.Color
		depth int
	}{
		{"1-bit palette", paletted(2, 30, 7), imaging.Palette, 1},
		{"2-bit palette", paletted(4, 30, 7), imaging.Palette, 2},
		{"4-bit palette", paletted(16, 30, 7), imaging.Palette, 4},
		{"8-bit palette", paletted(200, 30, 7), imaging.Palette, 8},
		{"16-bit grey", gray16, imaging.Gray, 16},
		{"16-bit rgb", rgb64, imaging.RGB, 16},
		{"16-bit rgba", rgba64, imaging.RGBA, 16},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := imagingtest.PNG(tt.img)
			info, err := imaging.Measure(data)
			if err != nil || info.Color != tt.color || info.BitDepth != tt.depth {
				t.Fatalf("Measure = %+v, %v", info, err)
			}
			r := prepare(t, data, imaging.Default)
			out, err := imaging.Measure(r.Data)
			if err != nil || r.Same || out.BitDepth != 8 || out.Color == imaging.Palette {
				t.Fatalf("output %+v, same %v, %v", out, r.Same, err)
			}
			if got := slices.Contains(r.Changes, imaging.DepthReduced); got != (tt.depth > 8) {
				t.Errorf("changes = %v", r.Changes)
			}
			samePixels(t, decode(t, r.Data), tt.img, 1)
		})
	}
}

func samePixels(t *testing.T, got, want image.Image, tolerance int) {
	t.Helper()
	b := want.Bounds()
	if got.Bounds().Size() != b.Size() {
		t.Fatalf("size %v, want %v", got.Bounds().Size(), b.Size())
	}
	for y := range b.Dy() {
		for x := range b.Dx() {
			if g, w := pixel(got, x, y), pixel(want, x, y); !near(g, w, tolerance) {
				t.Fatalf("pixel %d,%d = %v, want %v", x, y, g, w)
			}
		}
	}
}

// lowGray returns a hand-made PNG: the standard encoder writes no grey below 8
// bits and no grey with alpha.
func rawPNG(w, h int, depth, colorType byte, rows []byte, chunks ...[]byte) []byte {
	head := binary.BigEndian.AppendUint32(nil, uint32(w))
	head = binary.BigEndian.AppendUint32(head, uint32(h))
	out := append([]byte("\x89PNG\r\n\x1a\n"), imagingtest.PNGChunk("IHDR", append(head, depth, colorType, 0, 0, 0))...)
	for _, c := range chunks {
		out = append(out, c...)
	}
	out = append(out, imagingtest.PNGChunk("IDAT", deflate(rows))...)
	return append(out, imagingtest.PNGChunk("IEND", nil)...)
}

func TestHandMadePNGLayouts(t *testing.T) {
	gray := func(v uint8) color.NRGBA { return color.NRGBA{v, v, v, 255} }
	tests := []struct {
		name string
		data []byte
		same bool
		want []color.NRGBA
	}{
		{"1-bit grey", rawPNG(2, 1, 1, 0, []byte{0, 0x40}), false, []color.NRGBA{gray(0), gray(255)}},
		{"2-bit grey", rawPNG(2, 1, 2, 0, []byte{0, 0x60}), false, []color.NRGBA{gray(85), gray(170)}},
		{"4-bit grey", rawPNG(2, 1, 4, 0, []byte{0, 0x3c}), false, []color.NRGBA{gray(51), gray(204)}},
		{"8-bit grey", rawPNG(2, 1, 8, 0, []byte{0, 9, 99}), true, []color.NRGBA{gray(9), gray(99)}},
		{"8-bit rgb", rawPNG(1, 1, 8, 2, []byte{0, 1, 2, 3}), true, []color.NRGBA{{1, 2, 3, 255}}},
		{"8-bit rgba", rawPNG(1, 1, 8, 6, []byte{0, 1, 2, 3, 128}), true, []color.NRGBA{{1, 2, 3, 128}}},
		{"grey with alpha", rawPNG(2, 1, 8, 4, []byte{0, 9, 255, 99, 128}), false, []color.NRGBA{gray(9), {99, 99, 99, 128}}},
		{
			"grey with a transparent value", rawPNG(2, 1, 8, 0, []byte{0, 9, 99}, imagingtest.PNGChunk("tRNS", []byte{0, 9})),
			false,
			[]color.NRGBA{transparent, gray(99)},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := prepare(t, tt.data, imaging.Default)
			if r.Same != tt.same {
				t.Errorf("same = %v, want %v", r.Same, tt.same)
			}
			img := decode(t, r.Data)
			for x, want := range tt.want {
				if got := pixel(img, x, 0); !near(got, want, 1) {
					t.Errorf("pixel %d = %v, want %v", x, got, want)
				}
			}
		})
	}
}

func TestCMYK(t *testing.T) {
	tests := []struct {
		name      string
		samples   [4]byte
		transform int
		color     imaging.Color
		want      color.NRGBA
	}{
		{"adobe cmyk red", [4]byte{255, 0, 0, 255}, 0, imaging.CMYK, red},
		{"adobe cmyk white", [4]byte{255, 255, 255, 255}, 0, imaging.CMYK, white},
		{"plain cmyk red", [4]byte{0, 255, 255, 0}, -1, imaging.CMYK, red},
		{"plain cmyk blue", [4]byte{255, 255, 0, 0}, -1, imaging.CMYK, blue},
		// YCbCr of (0, 255, 255): ink is stored as its complement, twice.
		{"adobe ycck red", [4]byte{179, 171, 0, 255}, 2, imaging.YCCK, red},
		{"adobe ycck half black", [4]byte{0, 128, 128, 128}, 2, imaging.YCCK, color.NRGBA{128, 128, 128, 255}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := prepare(t, fourComponentJPEG(tt.samples, tt.transform), imaging.Default)
			if r.Source.Color != tt.color || !slices.Contains(r.Changes, imaging.ColorConverted) {
				t.Errorf("source %v, changes %v", r.Source.Color, r.Changes)
			}
			if got := pixel(decode(t, r.Data), 4, 4); !near(got, tt.want, 4) {
				t.Errorf("colour = %v, want %v", got, tt.want)
			}
		})
	}
}

// A transparent red pixel next to opaque blue ones lends them no red.
func TestAlphaWeighting(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 90, 90))
	for i := range 90 * 90 {
		c := blue
		if i%90 < 45 {
			c = color.NRGBA{255, 0, 0, 0}
		}
		img.SetNRGBA(i%90, i/90, c)
	}
	out := decode(t, prepare(t, imagingtest.PNG(img), imaging.Bounds{MaxEdge: 7}).Data)
	for x := range 7 {
		c := pixel(out, x, 3)
		if c.A > 0 && (c.R != 0 || c.B != 255) {
			t.Errorf("column %d = %v, want pure blue", x, c)
		}
	}
	if a, b, c := pixel(out, 2, 3).A, pixel(out, 3, 3).A, pixel(out, 4, 3).A; a != 0 || b < 126 || b > 129 || c != 255 {
		t.Errorf("alpha across the edge = %d %d %d, want 0, half, 255", a, b, c)
	}
}

// The average is exact, shares at the edges included.
func TestAreaAverage(t *testing.T) {
	img := image.NewGray(image.Rect(0, 0, 5, 3))
	copy(img.Pix, []byte{0, 50, 100, 150, 200, 10, 60, 110, 160, 210, 20, 70, 120, 170, 220})
	out := decode(t, prepare(t, imagingtest.PNG(img), imaging.Bounds{MaxEdge: 3}).Data)
	if out.Bounds().Size() != image.Pt(3, 2) {
		t.Fatalf("size = %v", out.Bounds().Size())
	}
	for y := range 2 {
		for x := range 3 {
			var sum, weight float64
			for sy := range 3 {
				for sx := range 5 {
					share := overlap(x, sx, 3, 5) * overlap(y, sy, 2, 3)
					sum += share * float64(img.GrayAt(sx, sy).Y)
					weight += share
				}
			}
			if got, want := pixel(out, x, y).R, uint8(sum/weight+0.5); max(got, want)-min(got, want) > 1 {
				t.Errorf("pixel %d,%d = %d, want %d", x, y, got, want)
			}
		}
	}
}

// overlap is the share of source cell s (of n) in result cell d (of m).
func overlap(d, s, m, n int) float64 {
	from := max(float64(d)/float64(m), float64(s)/float64(n))
	to := min(float64(d+1)/float64(m), float64(s+1)/float64(n))
	return max(0, to-from)
}

// Lossy WebP stores limited-range colours; the decoder leaves them so.
func TestLossyWebPRange(t *testing.T) {
	r := prepare(t, fixture(t, "lossy.webp"), imaging.Bounds{MIMEs: []string{"image/png"}})
	img := decode(t, r.Data)
	for letter, at := range map[rune][2]int{'R': {4, 4}, 'G': {35, 4}, 'B': {4, 15}, 'Y': {35, 15}} {
		if got := pixel(img, at[0], at[1]); !near(got, inks[letter], 6) {
			t.Errorf("%c = %v, want %v", letter, got, inks[letter])
		}
	}
}

func TestWebPAlpha(t *testing.T) {
	for _, name := range []string{"lossy-alpha.webp", "lossless-alpha.webp"} {
		data := fixture(t, name)
		if r := prepare(t, data, imaging.Default); !r.Same {
			t.Errorf("%s: changes %v, want none", name, r.Changes)
		}
		r := prepare(t, data, imaging.Bounds{MIMEs: []string{"image/png", "image/jpeg"}})
		img := decode(t, r.Data)
		if r.MIME != "image/png" || pixel(img, 4, 4).A != 0 || !near(pixel(img, 35, 4), green, 8) {
			t.Errorf("%s: %s, %v, %v", name, r.MIME, pixel(img, 4, 4), pixel(img, 35, 4))
		}
		flat := prepare(t, data, imaging.Bounds{MIMEs: []string{"image/jpeg"}})
		if !slices.Contains(flat.Changes, imaging.Flattened) || !near(pixel(decode(t, flat.Data), 2, 2), white, 8) {
			t.Errorf("%s as jpeg: %v", name, flat.Changes)
		}
	}
}

func TestBMP(t *testing.T) {
	masks := []byte{0, 0, 0xff, 0, 0, 0xff, 0, 0, 0xff, 0, 0, 0}
	tests := []struct {
		name string
		data []byte
	}{
		{"24-bit bottom up", bmpFile(1, 2, 24, 0, nil, []byte{255, 0, 0, 0, 0, 0, 255, 0})},
		{"24-bit top down", bmpFile(1, -2, 24, 0, nil, []byte{0, 0, 255, 0, 255, 0, 0, 0})},
		{"32-bit", bmpFile(1, 2, 32, 0, nil, []byte{255, 0, 0, 0, 0, 0, 255, 0})},
		{"32-bit with masks", bmpFile(1, 2, 32, 3, masks, []byte{255, 0, 0, 0, 0, 0, 255, 0})},
		{"16-bit", bmpFile(1, 2, 16, 0, nil, []byte{0x1f, 0, 0, 0, 0, 0x7c, 0, 0})},
		{"8-bit", bmpFile(1, 2, 8, 0, append([]byte{255, 0, 0, 0, 0, 0, 255, 0}, make([]byte, 254*4)...), []byte{0, 0, 0, 0, 1, 0, 0, 0})},
		{"1-bit", bmpFile(1, 2, 1, 0, []byte{255, 0, 0, 0, 0, 0, 255, 0}, []byte{0, 0, 0, 0, 0x80, 0, 0, 0})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := prepare(t, tt.data, imaging.Default)
			img := decode(t, r.Data)
			if r.MIME != "image/png" || pixel(img, 0, 0) != red || pixel(img, 0, 1) != blue {
				t.Errorf("%s: %v over %v, want red over blue", r.MIME, pixel(img, 0, 0), pixel(img, 0, 1))
			}
		})
	}
	_, err := imaging.Prepare(t.Context(), bmpFile(1, 2, 8, 1, make([]byte, 1024), make([]byte, 8)), imaging.Default)
	wantKind(t, err, imaging.Unsupported)
}

func TestTIFFCompressed(t *testing.T) {
	want := imagingtest.Corners(33, 17)
	for _, compression := range []tiff.CompressionType{tiff.Uncompressed, tiff.Deflate} {
		var out bytes.Buffer
		if err := tiff.Encode(&out, want, &tiff.Options{Compression: compression, Predictor: true}); err != nil {
			t.Fatal(err)
		}
		r := prepare(t, out.Bytes(), imaging.Default)
		if r.MIME != "image/png" {
			t.Errorf("output %s", r.MIME)
		}
		samePixels(t, decode(t, r.Data), want, 0)
	}
}
