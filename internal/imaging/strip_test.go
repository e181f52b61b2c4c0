package imaging_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/imaging"
	"tote/internal/imaging/imagingtest"
)

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// strip strips a file and checks what holds for every file: the input is left
// alone, and stripping again removes nothing.
func strip(tb testing.TB, data []byte) (out []byte, removed bool) {
	tb.Helper()
	before := bytes.Clone(data)
	out, removed, err := imaging.Strip(data)
	if err != nil {
		tb.Fatalf("Strip: %v", err)
	}
	if !bytes.Equal(data, before) {
		tb.Fatal("Strip wrote into its input")
	}
	if removed == bytes.Equal(out, data) {
		tb.Errorf("removed = %v, %d bytes of %d", removed, len(out), len(data))
	}
	if again, more, err := imaging.Strip(out); err != nil || more || !bytes.Equal(again, out) {
		tb.Errorf("stripped again: removed %v, %v", more, err)
	}
	return out, removed
}

// The output of Strip is, byte for byte, the file as it was before the metadata
// was put in.
func TestStrip(t *testing.T) {
	photo := imagingtest.Photo(40, 30)
	jpeg, png := imagingtest.JPEG(photo, 0), imagingtest.PNG(photo)
	gray := imagingtest.JPEG(grayOf(photo), 0)
	cmyk := fourComponentJPEG([4]byte{255, 0, 0, 255}, 0)
	anim := imagingtest.AnimatedGIF()
	icc := imagingtest.JPEGSegment(0xe2, "ICC_PROFILE\x00\x01\x01profile")
	jfif := func(preview string) []byte {
		size := "\x00\x00"
		if preview != "" {
			size = "\x01\x01"
		}
		return imagingtest.JPEGSegment(0xe0, "JFIF\x00\x01\x02\x00\x00\x01\x00\x01"+size+preview)
	}
	chunk := imagingtest.PNGChunk
	colors := join(chunk("iCCP", []byte("x\x00\x00x")), chunk("pHYs", make([]byte, 9)), chunk("cICP", []byte("\x01\x0d\x00\x01")))
	profile := imagingtest.GIFExtension(0xff, "ICCRGBG1012", "profile")
	control := imagingtest.GIFExtension(0xf9, "\x04\x0a\x00\x00")
	insert := func(data []byte, at int, parts ...[]byte) []byte {
		return slices.Insert(bytes.Clone(data), at, join(parts...)...)
	}
	scan := bytes.Index(jpeg, []byte{0xff, 0xda})
	tests := []struct {
		name      string
		got, want []byte
	}{
		{"jpeg", imagingtest.JPEGWithMetadata(photo, 1), jpeg},
		{"jpeg grey", insert(gray, 2, imagingtest.JPEGSegment(0xfe, imagingtest.Secret)), gray},
		{"jpeg keeps colours", insert(jpeg, 2, jfif(""), icc, imagingtest.JPEGSegment(0xfe, "c"), imagingtest.JPEGSegment(0xe2, "MPF\x00")), insert(jpeg, 2, jfif(""), icc)},
		{"jpeg keeps adobe", insert(cmyk, 2, imagingtest.JPEGSegment(0xee, "Other")), cmyk},
		{"jpeg previews", insert(jpeg, 2, jfif("rgb"), imagingtest.JPEGSegment(0xe0, "JFXX\x00\x10preview")), insert(jpeg, 2, jfif(""))},
		{"jpeg fill bytes", insert(jpeg, 2, []byte("\xff\xff"), imagingtest.JPEGSegment(0xef, "x")), jpeg},
		{"jpeg stray bytes", insert(jpeg, 2, imagingtest.JPEGSegment(0xe1, "x"), []byte("stray\xff\x00\xff\xd0")), jpeg},
		{"jpeg before the scan", insert(jpeg, scan, imagingtest.JPEGSegment(0xfe, "x")), jpeg},
		{"jpeg after the scan", insert(jpeg, len(jpeg)-2, imagingtest.JPEGSegment(0xfe, "x")), jpeg},
		{"jpeg second picture", join(jpeg, imagingtest.JPEGWithMetadata(photo, 1)), jpeg},
		{"png", imagingtest.PNGWithMetadata(photo, 1), png},
		{"png keeps colours", insert(png, 33, colors, chunk("iTXt", []byte("x")), chunk("zTXt", nil), chunk("prVt", []byte("x"))), insert(png, 33, colors)},
		{"png trailer", join(png, []byte(imagingtest.Secret)), png},
		{"gif", imagingtest.InsertGIF(
			anim, imagingtest.GIFExtension(0xfe, imagingtest.Secret, "more"), imagingtest.GIFExtension(0x01, strings.Repeat("x", 12), "text"),
			profile, control, imagingtest.GIFExtension(0xff, "XMP DataXMP", "<x:xmpmeta>"),
		), imagingtest.InsertGIF(anim, profile, control)},
		{"gif odd extension", imagingtest.InsertGIF(anim, imagingtest.GIFExtension(0x99, "x")), anim},
		{"gif trailer", join(anim, []byte("more")), anim},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, removed := strip(t, tt.got)
			if !removed || !bytes.Equal(out, tt.want) {
				t.Errorf("removed %v, %d bytes, want %d of %d", removed, len(out), len(tt.want), len(tt.got))
			}
			if before, _, err := image.Decode(bytes.NewReader(tt.got)); err == nil {
				samePixels(t, decode(t, out), before, 0)
			} else if tt.name != "gif odd extension" {
				t.Error(err)
			}
			if out, removed := strip(t, tt.want); removed || &out[0] != &tt.want[0] {
				t.Errorf("clean file: removed %v", removed)
			}
		})
	}
}

func grayOf(img image.Image) *image.Gray {
	out := image.NewGray(img.Bounds())
	for i := range out.Pix {
		out.Set(i%out.Stride, i/out.Stride, img.At(i%out.Stride, i/out.Stride))
	}
	return out
}

func TestStripWebP(t *testing.T) {
	for _, name := range []string{"lossy.webp", "lossless.webp", "lossy-alpha.webp", "lossless-alpha.webp", "animated.webp", "animated-offset.webp"} {
		t.Run(name, func(t *testing.T) {
			plain := fixture(t, name)
			if out, removed := strip(t, plain); removed || !bytes.Equal(out, plain) {
				t.Errorf("clean file: removed %v", removed)
			}
			data := imagingtest.RIFFChunk("RIFF", join(plain[8:], imagingtest.RIFFChunk("XMP ", []byte(imagingtest.Secret)), imagingtest.RIFFChunk("priv", []byte("odd"))))
			if out, removed := strip(t, append(data, "trailer"...)); !removed || !bytes.Equal(out, plain) {
				t.Errorf("%d bytes, want %d", len(out), len(plain))
			}
		})
	}
	plain := fixture(t, "lossy.webp")
	data := imagingtest.WebPWithMetadata(plain, 40, 20, 1)
	out, removed := strip(t, data)
	if !removed || bytes.Contains(out, []byte(imagingtest.Secret)) || out[20] != 0 || !bytes.Equal(out[30:], plain[12:]) {
		t.Errorf("removed %v, flags %#x, %d bytes", removed, out[20], len(out))
	}
	samePixels(t, decode(t, out), decode(t, data), 0)
	samePixels(t, decode(t, out), decode(t, plain), 0)
}

// Every frame of an animation, its times and its loops stay as they are.
func TestStripKeepsAnimation(t *testing.T) {
	data := imagingtest.InsertGIF(imagingtest.AnimatedGIF(), imagingtest.GIFExtension(0xfe, imagingtest.Secret))
	out, _ := strip(t, data)
	before, err := gif.DecodeAll(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	after, err := gif.DecodeAll(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
}

// What is not stripped comes back as it is, and what cannot be read to its end
// is told.
func TestStripLeavesAlone(t *testing.T) {
	for name, data := range map[string][]byte{
		"empty": {}, "text": []byte(imagingtest.Secret), "bmp": bmpFile(1, 2, 24, 0, nil, make([]byte, 8)),
	} {
		if out, removed := strip(t, data); removed || !bytes.Equal(out, data) {
			t.Errorf("%s: removed %v", name, removed)
		}
	}
	photo := imagingtest.Photo(20, 10)
	for name, whole := range map[string][]byte{
		"jpeg": imagingtest.JPEGWithMetadata(photo, 1), "png": imagingtest.PNGWithMetadata(photo, 1),
		"webp": imagingtest.WebPWithMetadata(fixture(t, "lossless.webp"), 40, 20, 1), "gif": imagingtest.AnimatedGIF(),
	} {
		for n := 12; n < len(whole); n++ {
			out, removed, err := imaging.Strip(whole[:n])
			var e *imaging.Error
			if !errors.As(err, &e) || e.Kind != imaging.Damaged || removed || !bytes.Equal(out, whole[:n]) {
				t.Fatalf("%s cut after %d: removed %v, %v", name, n, removed, err)
			}
		}
	}
}

// A picture that is encoded anew holds no metadata: whoever strips what passes
// as it is has stripped everything.
func TestPreparedHoldsNoMetadata(t *testing.T) {
	photo, flat, large := imagingtest.Photo(60, 40), imagingtest.Corners(60, 40), imagingtest.Corners(2400, 300)
	files := map[string][]byte{
		"large jpeg": imagingtest.JPEGWithMetadata(large, 1), "large png": imagingtest.PNGWithMetadata(large, 1),
		"gif": imagingtest.InsertGIF(imagingtest.GIF(color.White), imagingtest.GIFExtension(0xfe, imagingtest.Secret)),
	}
	for o := 2; o <= 8; o++ {
		digit := string(rune('0' + o))
		files["jpeg "+digit] = imagingtest.JPEGWithMetadata(photo, o)
		files["png "+digit] = imagingtest.PNGWithMetadata(flat, o)
		files["webp "+digit] = imagingtest.WebPWithMetadata(fixture(t, "lossy.webp"), 40, 20, o)
	}
	for name, data := range files {
		r := prepare(t, data, imaging.Default)
		if r.Same {
			t.Errorf("%s passed as it is", name)
		}
		for _, word := range []string{imagingtest.Secret, "Exif", "eXIf", "EXIF", "xmpmeta", "8BIM", "tEXt", "MM\x00*"} {
			if bytes.Contains(r.Data, []byte(word)) {
				t.Errorf("%s: the result holds %q", name, word)
			}
		}
		if out, removed := strip(t, r.Data); removed {
			t.Errorf("%s: %d bytes of the result could be removed", name, len(r.Data)-len(out))
		}
	}
}

// FuzzStrip holds that no file makes Strip panic, and that a file that decodes
// decodes to the same pixels afterwards.
func FuzzStrip(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	photo := imagingtest.Photo(9, 7)
	f.Add(imagingtest.JPEGWithMetadata(photo, 1))
	f.Add(imagingtest.PNGWithMetadata(photo, 1))
	f.Add(imagingtest.WebPWithMetadata(fixture(f, "lossy.webp"), 40, 20, 1))
	f.Add(imagingtest.InsertGIF(imagingtest.AnimatedGIF(), imagingtest.GIFExtension(0xfe, "x"), imagingtest.GIFExtension(0x01, strings.Repeat("x", 12))))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, removed, err := imaging.Strip(data)
		if err != nil {
			var e *imaging.Error
			if !errors.As(err, &e) || e.Kind != imaging.Damaged || removed || !bytes.Equal(out, data) {
				t.Fatalf("removed %v, error = %v", removed, err)
			}
			return
		}
		strip(t, data)
		if len(out) > len(data) || imaging.Sniff(out) != imaging.Sniff(data) {
			t.Fatalf("%d bytes of %s made of %d of %s", len(out), imaging.Sniff(out), len(data), imaging.Sniff(data))
		}
		if !removed {
			return
		}
		info, err := imaging.Measure(data)
		if err != nil || int64(info.Width)*int64(info.Height) > 1<<16 {
			return
		}
		// What Prepare passes or encodes is what a model gets to see.
		if _, err := imaging.Prepare(t.Context(), data, imaging.Bounds{}); err != nil {
			return
		}
		before, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			return
		}
		samePixels(t, decode(t, out), before, 0)
	})
}

func BenchmarkStrip(b *testing.B) {
	data := imagingtest.JPEGWithMetadata(imagingtest.Photo(800, 600), 1)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, removed, err := imaging.Strip(data); err != nil || !removed {
			b.Fatal(removed, err)
		}
	}
}
