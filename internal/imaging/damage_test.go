package imaging_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tote/internal/imaging"
	"tote/internal/imaging/imagingtest"
)

func deflate(b []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, _ = w.Write(b) // a bytes.Buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

// No strict prefix of any file is taken for a picture.
func TestEveryPrefixIsAnError(t *testing.T) {
	picture := imagingtest.Corners(24, 13)
	files := map[string][]byte{
		"png":           imagingtest.PNG(picture),
		"png noise":     imagingtest.PNG(imagingtest.Photo(24, 13)),
		"jpeg":          imagingtest.JPEG(imagingtest.Photo(24, 13), 6),
		"gif":           imagingtest.GIF(red),
		"gif animated":  imagingtest.AnimatedGIF(),
		"bmp":           bmpFile(1, 2, 24, 0, nil, make([]byte, 8)),
		"webp lossy":    fixture(t, "lossy.webp"),
		"webp lossless": fixture(t, "lossless-alpha.webp"),
		"webp alpha":    fixture(t, "lossy-alpha.webp"),
		"webp animated": fixture(t, "animated.webp"),
		"tiff":          tiffFile(picture, binary.LittleEndian, 1, 1)[:8+24*13*3],
	}
	for name, data := range files {
		t.Run(name, func(t *testing.T) {
			if name != "tiff" {
				prepare(t, data, imaging.Default)
			}
			for n := range data {
				if r, err := imaging.Prepare(t.Context(), data[:n], imaging.Default); err == nil {
					t.Fatalf("%d of %d bytes: %v %dx%d, want an error", n, len(data), r.MIME, r.Width, r.Height)
				}
			}
		})
	}
}

func TestTruncatedSaysWhere(t *testing.T) {
	_, err := imaging.Prepare(t.Context(), imagingtest.Truncated(imagingtest.Screenshot(600, 400, 1)), imaging.Default)
	wantKind(t, err, imaging.Damaged)
	if !strings.HasPrefix(err.Error(), "decode png: truncated after ") {
		t.Errorf("error = %q", err)
	}
}

// A flipped bit anywhere in a PNG breaks a checksum.
func TestFlippedBitInPNG(t *testing.T) {
	data := imagingtest.PNG(imagingtest.Corners(9, 5))
	for i := range 8 * len(data) {
		bad := bytes.Clone(data)
		bad[i/8] ^= 1 << (i % 8)
		if r, err := imaging.Prepare(t.Context(), bad, imaging.Default); err == nil {
			t.Errorf("bit %d flipped: %dx%d, want an error", i, r.Width, r.Height)
		}
	}
}

func TestKinds(t *testing.T) {
	bigGIF := append([]byte("GIF89a\xff\xff\xff\xff\x00\x00\x00"), imagingtest.GIF(red)[19:]...)
	tests := []struct {
		name string
		data []byte
		want imaging.Kind
	}{
		{"no bytes", nil, imaging.Empty},
		{"text", []byte("this is notes.txt named foo.png\n"), imaging.NotPicture},
		{"text that begins like a bmp", []byte("BM is short for bitmap, a format of long ago\n"), imaging.NotPicture},
		{"svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), imaging.NotPicture},
		{"png of 900 megapixels", rawPNG(30000, 30000, 1, 0, make([]byte, 100)), imaging.TooManyPixels},
		{"png of 2^62 pixels", rawPNG(1<<31-1, 1<<31-1, 1, 0, nil), imaging.TooManyPixels},
		{"png of no width", rawPNG(0, 4, 8, 0, nil), imaging.Damaged},
		{"png of odd depth", rawPNG(4, 4, 3, 0, nil), imaging.Damaged},
		{"gif of 65535 squared", bigGIF, imaging.TooManyPixels},
		{"heic", []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"), imaging.Unsupported},
		{"avif", []byte("\x00\x00\x00\x18ftypmif1\x00\x00\x00\x00mif1avif"), imaging.Unsupported},
		{"jxl", []byte("\xff\x0a\x00\x00"), imaging.Unsupported},
		{"ico", []byte("\x00\x00\x01\x00\x01\x00\x10\x10\x00\x00\x01\x00\x20\x00\x00\x00\x00\x00\x16\x00\x00\x00"), imaging.Unsupported},
		{"12-bit jpeg", []byte("\xff\xd8\xff\xc1\x00\x0b\x0c\x00\x08\x00\x08\x01\x01\x11\x00\xff\xd9"), imaging.Unsupported},
		{"arithmetic jpeg", []byte("\xff\xd8\xff\xc9\x00\x0b\x08\x00\x08\x00\x08\x01\x01\x11\x00\xff\xd9"), imaging.Unsupported},
		{"lossless jpeg", []byte("\xff\xd8\xff\xc3\x00\x0b\x08\x00\x08\x00\x08\x01\x01\x11\x00\xff\xd9"), imaging.Unsupported},
		{"jpeg without frame", []byte("\xff\xd8\xff\xd9"), imaging.Damaged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := imaging.Prepare(t.Context(), tt.data, imaging.Default)
			wantKind(t, err, tt.want)
			if len(err.Error()) > 200 {
				t.Errorf("error text of %d bytes", len(err.Error()))
			}
		})
	}
}

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Measuring and refusing cost nothing that depends on the announced size, and
// what is packed in a chunk beside the picture is not held when it is unpacked.
func TestBombsCostNothing(t *testing.T) {
	bomb := append([]byte("k\x00\x00"), deflate(make([]byte, 30<<20))...)
	files := map[string][]byte{
		"many pixels": rawPNG(30000, 30000, 1, 0, make([]byte, 100)),
		"zTXt":        imagingtest.InsertPNGChunk(imagingtest.PNG(imagingtest.Corners(4, 4)), "zTXt", bomb),
		"iCCP":        imagingtest.InsertPNGChunk(imagingtest.PNG(imagingtest.Corners(4, 4)), "iCCP", bomb),
	}
	for name, data := range files {
		n := allocated(func() {
			_, _ = imaging.Measure(data)                                          // only the cost is looked at here
			_, _ = imaging.Prepare(t.Context(), data, imaging.Bounds{MaxEdge: 1}) // as above
			_, _ = imaging.Prepare(t.Context(), data, imaging.Default)            // as above
		})
		if n > 2<<20 {
			t.Errorf("%s: %d bytes allocated", name, n)
		}
	}
	info, err := imaging.Measure(files["many pixels"])
	if err != nil || info.Width != 30000 || info.Height != 30000 || info.BitDepth != 1 {
		t.Errorf("Measure = %+v, %v", info, err)
	}
}

// A frame inside a WebP canvas must not be larger than the limit either: the
// decoder allocates for the frame.
func TestWebPFrameLargerThanCanvas(t *testing.T) {
	lossless := fixture(t, "lossless.webp")
	bits := bytes.Clone(lossless[20:])
	binary.LittleEndian.PutUint32(bits[1:], 16383|16383<<14)
	canvas := make([]byte, 10)
	body := append([]byte("WEBP"), imagingtest.RIFFChunk("VP8X", canvas)...)
	body = append(body, imagingtest.RIFFChunk("VP8L", bits)...)
	_, err := imaging.Prepare(t.Context(), imagingtest.RIFFChunk("RIFF", body), imaging.Default)
	wantKind(t, err, imaging.TooManyPixels)
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, data := range map[string][]byte{
		"png": imagingtest.PNG(imagingtest.Corners(300, 300)), "jpeg": imagingtest.JPEG(imagingtest.Photo(64, 64), 1),
		"gif": imagingtest.GIF(red), "webp": fixture(t, "lossy.webp"),
	} {
		if _, err := imaging.Prepare(ctx, data, imaging.Default); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error = %v, want context.Canceled", name, err)
		}
	}
}

func TestErrorText(t *testing.T) {
	e := &imaging.Error{Kind: imaging.Damaged, Format: imaging.PNG, Detail: "truncated after 1.2 MB", Err: errors.New("unexpected EOF")}
	if got, want := e.Error(), "decode png: truncated after 1.2 MB: unexpected EOF"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	for kind := imaging.Damaged; kind <= imaging.BadRegion; kind++ {
		if got := (&imaging.Error{Kind: kind, Format: imaging.PNG}).Error(); got == "" || kind.String() == "unknown" {
			t.Errorf("kind %d has no text", kind)
		}
	}
	if got := fmt.Sprint(imaging.Kind(200), imaging.Color(200), imaging.Change(200), imaging.Format(200)); got != "unknown unknown unknown unknown" {
		t.Errorf("out of range = %q", got)
	}
}

func TestFrames(t *testing.T) {
	picture := imagingtest.PNG(imagingtest.Corners(8, 8))
	apng := imagingtest.InsertPNGChunk(picture, "acTL", []byte{0, 0, 0, 5, 0, 0, 0, 0})
	tests := []struct {
		name  string
		data  []byte
		want  int
		pixel *[2]int
	}{
		{"still gif", imagingtest.GIF(red), 1, nil},
		{"animated gif", imagingtest.AnimatedGIF(), 2, nil},
		{"three frames", imagingtest.GIF(red, green, blue), 3, nil},
		{"apng", apng, 5, nil},
		{"webp", fixture(t, "animated.webp"), 2, nil},
		{"webp with offset", fixture(t, "animated-offset.webp"), 2, &[2]int{10, 6}},
		{"tiff pages", tiffFile(imagingtest.Corners(8, 8), binary.BigEndian, 1, 3), 3, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := prepare(t, tt.data, imaging.Default)
			if r.Frames != tt.want || r.Source.Frames != tt.want || r.Same {
				t.Errorf("frames = %d, same %v, want %d", r.Frames, r.Same, tt.want)
			}
			if got := slices.Contains(r.Changes, imaging.FirstFrame); got != (tt.want > 1) {
				t.Errorf("changes = %v", r.Changes)
			}
			at := [2]int{1, 1}
			if tt.pixel != nil {
				at = *tt.pixel
				if p := pixel(decode(t, r.Data), 1, 1); p.A != 0 {
					t.Errorf("around the frame: %v, want nothing", p)
				}
			}
			if p := pixel(decode(t, r.Data), at[0], at[1]); !near(p, red, 8) {
				t.Errorf("first frame is %v, want red", p)
			}
		})
	}
}

func TestSizeOfUndecodedFormats(t *testing.T) {
	box := func(kind string, body ...[]byte) []byte {
		b := bytes.Join(body, nil)
		return append(append(binary.BigEndian.AppendUint32(nil, uint32(8+len(b))), kind...), b...)
	}
	ispe := func(w, h uint32) []byte {
		b := binary.BigEndian.AppendUint32(make([]byte, 4), w)
		return box("ispe", binary.BigEndian.AppendUint32(b, h))
	}
	heic := append(box("ftyp", []byte("heic\x00\x00\x00\x00mif1")),
		box("meta", make([]byte, 4), box("iprp", box("ipco", ispe(320, 240), ispe(4032, 3024))))...)
	info, err := imaging.Measure(heic)
	if err != nil || info.Format != imaging.HEIC || info.MIME != "image/heic" || (image.Point{info.Width, info.Height}) != image.Pt(4032, 3024) {
		t.Errorf("Measure = %+v, %v", info, err)
	}
}
