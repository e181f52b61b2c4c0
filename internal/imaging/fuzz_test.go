package imaging_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"tote/internal/imaging"
	"tote/internal/imaging/imagingtest"
)

func seeds(f *testing.F) [][]byte {
	f.Helper()
	picture := imagingtest.Corners(12, 7)
	spoilt := make([][]byte, 0, len(spoiltPNGs()))
	for _, s := range spoiltPNGs() {
		spoilt = append(spoilt, s.data)
	}
	return append(
		spoilt,
		[]byte{},
		[]byte("BM"), []byte("GIF89a"), []byte("RIFF\x04\x00\x00\x00WEBP"),
		imagingtest.PNG(picture), imagingtest.PNG(paletted(16, 9, 5)), imagingtest.PNGWithOrientation(picture, 7),
		imagingtest.JPEG(picture, 6), fourComponentJPEG([4]byte{255, 0, 0, 255}, 0), fourComponentJPEG([4]byte{1, 2, 3, 4}, -1),
		imagingtest.AnimatedGIF(), imagingtest.GIF(red), noise(5, 5, 100),
		fixture(f, "lossy.webp"), fixture(f, "lossless.webp"), fixture(f, "lossy-alpha.webp"),
		fixture(f, "animated.webp"), fixture(f, "animated-offset.webp"),
		tiffFile(picture, binary.LittleEndian, 3, 2), tiffFile(picture, binary.BigEndian, 8, 1),
		bmpFile(1, 2, 24, 0, nil, make([]byte, 8)), bmpFile(1, -2, 32, 3, []byte{0, 0, 0xff, 0, 0, 0xff, 0, 0, 0xff, 0, 0, 0}, make([]byte, 8)),
		bmpFile(3, 2, 4, 0, make([]byte, 64), make([]byte, 8)),
		[]byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic\x00\x00\x00\x10meta\x00\x00\x00\x00"),
		[]byte("\x00\x00\x01\x00\x01\x00\x10\x10\x00\x00\x01\x00\x20\x00\x00\x00\x00\x00\x16\x00\x00\x00"),
	)
}

func FuzzMeasure(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := imaging.Measure(data)
		if err != nil {
			var e *imaging.Error
			if !errors.As(err, &e) || e.Kind == 0 {
				t.Fatalf("error = %v", err)
			}
			return
		}
		if info.Format != imaging.Sniff(data) || info.MIME == "" || info.Orientation < 1 || info.Orientation > 8 || info.Frames < 1 {
			t.Fatalf("info = %+v", info)
		}
		if info.Width < 0 || info.Height < 0 || (info.Orientation >= 5) != (info.Width == info.StoredHeight) && info.Width != info.Height {
			t.Fatalf("sizes = %+v", info)
		}
	})
}

func FuzzPrepare(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s, uint16(0), uint16(0), uint16(0), uint8(0))
		f.Add(s, uint16(6), uint16(30), uint16(300), uint8(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, edge, pixels, size uint16, mimes uint8) {
		// Larger pictures are the benchmark's business; here they only cost time.
		if info, err := imaging.Measure(data); err == nil && int64(info.Width)*int64(info.Height) > 1<<18 && int64(info.Width)*int64(info.Height) <= imaging.MaxDecodePixels {
			return
		}
		b := imaging.Bounds{MaxEdge: int(edge), MaxPixels: int64(pixels), MaxBytes: int64(size)}
		b.MIMEs = [][]string{nil, {"image/png"}, {"image/jpeg"}, {"image/webp", "image/bmp"}}[mimes%4]
		r, err := imaging.Prepare(t.Context(), data, b)
		if err != nil {
			var e *imaging.Error
			if !errors.As(err, &e) || e.Kind == 0 || e.Error() == "" {
				t.Fatalf("error = %v", err)
			}
			return
		}
		checkResult(t, data, r, b)
	})
}

// FuzzEXIF feeds the directory reader through every container that holds one.
func FuzzEXIF(f *testing.F) {
	for o := range 10 {
		f.Add(imagingtest.EXIF(o))
	}
	f.Add([]byte("II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("MM\x00*\xff\xff\xff\xff"))
	picture := imagingtest.PNG(imagingtest.Corners(6, 4))
	f.Fuzz(func(t *testing.T, block []byte) {
		info, err := imaging.Measure(imagingtest.InsertPNGChunk(picture, "eXIf", block))
		if err != nil || info.Orientation < 1 || info.Orientation > 8 {
			t.Fatalf("png: %+v, %v", info, err)
		}
		if len(block) < 60_000 {
			segment := append([]byte("Exif\x00\x00"), block...)
			head := binary.BigEndian.AppendUint16([]byte("\xff\xd8\xff\xe1"), uint16(len(segment)+2))
			jpeg := append(append(head, segment...), imagingtest.JPEG(imagingtest.Corners(6, 4), 0)[2:]...)
			if j, err := imaging.Measure(jpeg); err != nil || j.Orientation != info.Orientation {
				t.Fatalf("jpeg: %+v, %v; png has orientation %d", j, err, info.Orientation)
			}
		}
		_, _ = imaging.Measure(block) // a TIFF of its own: must only not panic
	})
}
