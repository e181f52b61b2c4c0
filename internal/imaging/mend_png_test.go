package imaging_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/imaging"
	"tote/internal/imaging/imagingtest"
)

// badSum returns a chunk whose checksum is wrong.
func badSum(kind, body string) []byte {
	out := imagingtest.PNGChunk(kind, []byte(body))
	out[len(out)-1] ^= 0xff
	return out
}

func goodSum(kind, body string) []byte { return imagingtest.PNGChunk(kind, []byte(body)) }

// behindHeader puts chunks behind the header of a PNG.
func behindHeader(data []byte, chunks ...[]byte) []byte {
	return slices.Insert(bytes.Clone(data), 33, join(chunks...)...)
}

// beforeEnd puts chunks before the IEND of a PNG.
func beforeEnd(data []byte, chunks ...[]byte) []byte {
	return slices.Insert(bytes.Clone(data), len(data)-12, join(chunks...)...)
}

func glass() []byte {
	img := imagingtest.Corners(20, 20)
	img.SetNRGBA(3, 3, color.NRGBA{9, 9, 9, 99})
	return imagingtest.PNG(img)
}

type spoiltPNG struct {
	name       string
	data, want []byte
	detail     string
}

// spoiltPNGs returns pictures that every viewer shows, each with what is to be
// sent of it.
func spoiltPNGs() []spoiltPNG {
	plain := glass()
	profile := "ICC Profile\x00\x00" + string(deflate(bytes.Repeat([]byte("profile "), 400)))
	density := goodSum("pHYs", "\x00\x00\x16\x25\x00\x00\x16\x25\x01")
	exif := imagingtest.PNGChunk("eXIf", imagingtest.Place(1))
	xmp := goodSum("iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00<x:xmpmeta>"+imagingtest.Secret)
	frame := strings.Repeat("\x00", 26)
	const (
		noProfile  = "a damaged colour profile was left out"
		noColors   = "damaged colour data was left out"
		noMetadata = "damaged metadata was left out"
		noMotion   = "a damaged animation was left out"
		noOther    = "damaged extra data was left out"
	)
	behind := func(chunks ...[]byte) []byte { return behindHeader(plain, chunks...) }
	return []spoiltPNG{
		{"profile, metadata behind it", behind(badSum("iCCP", profile), exif, density, xmp), behind(density), noProfile},
		{"every chunk before the picture", behind(badSum("gAMA", "\x00\x00\xb1\x8f"), density, badSum("sRGB", "\x00")), behind(density), noColors},
		{"text behind the picture", beforeEnd(plain, badSum("tEXt", "Comment\x00x")), plain, noMetadata},
		{"turned, by a damaged word", behind(badSum("eXIf", string(imagingtest.EXIF(6)))), plain, noMetadata},
		{"unknown", behind(badSum("prVt", "x"), goodSum("vpAg", "x")), plain, noOther},
		{"kind of no letters", behind(goodSum("a\x00\xffZ", "x")), plain, noOther},
		{"between the data", splitData(plain, badSum("tIME", "\x07\xea\x01\x02\x03\x04\x05")), splitData(plain), noMetadata},
		{"two", behind(badSum("iCCP", profile), badSum("zTXt", "x")), plain, "a damaged colour profile and damaged metadata were left out"},
		{
			"five", behind(badSum("iCCP", profile), badSum("cHRM", ""), badSum("zTXt", "x"), badSum("acTL", ""), badSum("abCd", "")), plain,
			"a damaged colour profile, damaged colour data, damaged metadata, a damaged animation and damaged extra data were left out",
		},
		{"sizes", behind(goodSum("pHYs", "abc")), plain, noOther},
		{"size of colours", behind(goodSum("cHRM", "abc"), density), behind(density), noColors},
		{"animation", behind(badSum("acTL", "\x00\x00\x00\x05\x00\x00\x00\x00"), goodSum("fcTL", frame)), plain, noMotion},
		{"profile that does not unpack", behind(goodSum("iCCP", "x\x00\x00no stream"), density), behind(density), noProfile},
		{"profile cut off", behind(goodSum("iCCP", profile[:len(profile)-6]), density), behind(density), noProfile},
		{"profile without a name", behind(goodSum("iCCP", profile[11:])), plain, noProfile},
		{"profile of another packing", behind(goodSum("iCCP", "x\x00\x01")), plain, noProfile},
		{"one profile of two", behind(badSum("iCCP", profile), goodSum("iCCP", profile)), plain, noProfile},
		{"text that does not unpack", beforeEnd(plain, goodSum("zTXt", "k\x00\x00no stream"), exif), plain, noMetadata},
		{"second text", behind(goodSum("zTXt", "k\x00\x00"+string(deflate([]byte("x")))), goodSum("iTXt", "k\x00\x01\x00\x00\x00x")), plain, noMetadata},
		{"text of odd fields", behind(goodSum("iTXt", "k\x00\x02\x00\x00\x00")), plain, noMetadata},
		{"trailer", join(behind(badSum("iCCP", profile)), []byte(imagingtest.Secret)), plain, noProfile},
	}
}

// splitData puts chunks between two halves of the only data chunk.
func splitData(data []byte, between ...[]byte) []byte {
	at := bytes.Index(data, []byte("IDAT")) - 4
	n := int(binary.BigEndian.Uint32(data[at:]))
	body := string(data[at+8 : at+8+n])
	return join(data[:at], goodSum("IDAT", body[:n/2]), join(between...), goodSum("IDAT", body[n/2:]), data[at+12+n:])
}

// Damage to what is not needed to show a picture is left out of it, and all
// else is the same byte for byte.
func TestSpoiltChunksAreLeftOut(t *testing.T) {
	want := decode(t, glass())
	for _, tt := range spoiltPNGs() {
		t.Run(tt.name, func(t *testing.T) {
			before := bytes.Clone(tt.data)
			r := prepare(t, tt.data, imaging.Default)
			if !bytes.Equal(r.Data, tt.want) || r.Same || len(r.Changes) != 0 || r.Detail != tt.detail {
				t.Errorf("%d bytes, want %d; same %v, changes %v, %q", len(r.Data), len(tt.want), r.Same, r.Changes, r.Detail)
			}
			if !bytes.Equal(tt.data, before) {
				t.Error("Prepare wrote into its input")
			}
			checkResult(t, tt.data, r, imaging.Default)
			isStrictPNG(t, r.Data)
			samePixels(t, decode(t, r.Data), want, 0)
			if _, removed := strip(t, r.Data); removed || bytes.Contains(r.Data, []byte(imagingtest.Secret)) {
				t.Error("metadata is left")
			}
		})
	}
}

// isStrictPNG fails for a file that a decoder refuses that checks all there is.
func isStrictPNG(tb testing.TB, data []byte) {
	tb.Helper()
	if _, err := png.Decode(bytes.NewReader(data)); err != nil {
		tb.Error(err)
	}
	for at := 8; at < len(data); {
		n := int(binary.BigEndian.Uint32(data[at:]))
		if at+12+n > len(data) || crc32.ChecksumIEEE(data[at+4:at+8+n]) != binary.BigEndian.Uint32(data[at+8+n:]) {
			tb.Fatalf("chunk at %d is damaged", at)
		}
		at += 12 + n
	}
}

// What is encoded anew says so as well, and every function takes such pictures.
func TestSpoiltChunksElsewhere(t *testing.T) {
	data := behindHeader(imagingtest.PNG(imagingtest.Corners(40, 20)), badSum("iCCP", "x"))
	const detail = "a damaged colour profile was left out"
	r := prepare(t, data, imaging.Bounds{MaxEdge: 10})
	if !cmp.Equal(r.Changes, []imaging.Change{imaging.Shrunk}) || r.Detail != detail {
		t.Errorf("shrunk: %v, %q", r.Changes, r.Detail)
	}
	indexed := behindHeader(imagingtest.PNG(paletted(16, 9, 5)), badSum("iCCP", "x"))
	r = prepare(t, indexed, imaging.Default)
	checkResult(t, indexed, r, imaging.Default)
	if r.Detail != detail {
		t.Errorf("palette: %v, %q", r.Changes, r.Detail)
	}
	r, err := imaging.Show(t.Context(), data, imaging.View{Rect: imaging.Rect{W: 4, H: 4}}, imaging.Default)
	if err != nil || r.Width != 4 {
		t.Errorf("Show: %d wide, %v", r.Width, err)
	}
	if s, err := imaging.Describe(t.Context(), data); err != nil || s.Width != 40 {
		t.Errorf("Describe: %+v, %v", s, err)
	}
	_, d, err := imaging.Marked(t.Context(), data, imagingtest.PNG(imagingtest.Corners(40, 20)), imaging.Default)
	if err != nil || !d.Identical() {
		t.Errorf("Marked: %+v, %v", d, err)
	}
	// A file that is over the limit only with what is left out passes.
	small := glass()
	r = prepare(t, behindHeader(small, badSum("prVt", strings.Repeat("x", 5000))), imaging.Bounds{MaxBytes: int64(len(small))})
	if !bytes.Equal(r.Data, small) {
		t.Errorf("%d bytes, want %d", len(r.Data), len(small))
	}
	moving := behindHeader(glass(), goodSum("acTL", "\x00\x00\x00\x05\x00\x00\x00\x00"), badSum("fdAT", "xxxx"))
	r = prepare(t, moving, imaging.Default)
	if r.Frames != 5 || !slices.Contains(r.Changes, imaging.FirstFrame) || r.Detail != "a damaged animation was left out" {
		t.Errorf("animation: %d frames, %v, %q", r.Frames, r.Changes, r.Detail)
	}
}

// Damage to what is seen is damage, whatever the name of the chunk.
func TestNeededChunksStayDamaged(t *testing.T) {
	gray := imagingtest.PNG(grayOf(imagingtest.Corners(8, 8)))
	clear := goodSum("tRNS", "\x00\x07")
	indexed := imagingtest.PNG(paletted(16, 9, 5))
	whole := behindHeader(gray, clear)
	renamed := func(data []byte, kind, as string) []byte { return bytes.Replace(data, []byte(kind), []byte(as), 1) }
	sumOf := func(data []byte, kind string) []byte {
		bad := bytes.Clone(data)
		at := bytes.Index(bad, []byte(kind))
		bad[at+4+int(binary.BigEndian.Uint32(bad[at-4:]))] ^= 1
		return bad
	}
	prepare(t, whole, imaging.Default)
	prepare(t, indexed, imaging.Default)
	longer := behindHeader(gray, goodSum("tEXt", "Comment\x00xxxxxxxx"))
	longer[36] += 3
	for name, data := range map[string][]byte{
		"transparency":                 behindHeader(gray, badSum("tRNS", "\x00\x07")),
		"transparency of a wrong size": behindHeader(gray, goodSum("tRNS", "\x00")),
		"transparency renamed":         renamed(whole, "tRNS", "pRNS"),
		"text made critical":           renamed(behindHeader(gray, goodSum("tEXt", "c\x00x")), "tEXt", "TEXt"),
		"header":                       sumOf(whole, "IHDR"),
		"palette":                      sumOf(indexed, "PLTE"),
		"palette renamed":              renamed(indexed, "PLTE", "pLTE"),
		"data":                         sumOf(whole, "IDAT"),
		"data renamed":                 renamed(splitData(gray), "IDAT", "iDAT"),
		"end":                          sumOf(whole, "IEND"),
		"length":                       longer,
		"data, decoration too":         behindHeader(sumOf(gray, "IDAT"), badSum("iCCP", "x")),
	} {
		r, err := imaging.Prepare(t.Context(), data, imaging.Default)
		if err == nil {
			t.Errorf("%s: %v, %q", name, r.Changes, r.Detail)
			continue
		}
		wantKind(t, err, imaging.Damaged)
	}
}

// No part of a picture with a spoilt chunk is taken for a picture.
func TestSpoiltAndCutOff(t *testing.T) {
	for _, tt := range spoiltPNGs()[:4] {
		for n := range tt.data {
			if _, err := imaging.Prepare(t.Context(), tt.data[:n], imaging.Default); err == nil {
				t.Fatalf("%s: %d of %d bytes pass", tt.name, n, len(tt.data))
			}
		}
	}
}

// What is whole passes as it is: profiles, packed texts, unknown chunks, and
// what follows the end.
func TestSoundChunksStay(t *testing.T) {
	packed := string(deflate([]byte("text")))
	profile := goodSum("iCCP", "x\x00\x00"+packed)
	data := behindHeader(
		glass(), profile, profile, goodSum("zTXt", "k\x00\x00"+packed), goodSum("zTXt", "k\x00\x00"+packed), goodSum("iTXt", "k\x00\x01\x00en\x00k\x00"+packed),
		goodSum("iTXt", "k\x00\x00\x00\x00\x00plain"), goodSum("tEXt", "k"), goodSum("vpAg", "x"), goodSum("gAMA", "\x00\x00\xb1\x8f"),
		goodSum("iCCP", "late and odd"), goodSum("zTXt", "big\x00\x00"+string(deflate(make([]byte, 5<<20)))),
	)
	for name, data := range map[string][]byte{"chunks": data, "trailer": join(glass(), []byte("trailer"))} {
		r := prepare(t, data, imaging.Default)
		if !r.Same || !bytes.Equal(r.Data, data) || r.Detail != "" {
			t.Errorf("%s: same %v, %q", name, r.Same, r.Detail)
		}
	}
}

// FuzzSpoiltPNG holds that damage within an unneeded chunk never changes what
// is seen, and that what passes is a file without fault.
func FuzzSpoiltPNG(f *testing.F) {
	f.Add("iCCP", []byte("x\x00\x00x"), uint32(1))
	f.Add("tEXt", []byte("k\x00v"), uint32(0))
	f.Add("iTXt", []byte("k\x00\x01\x00\x00\x00x"), uint32(0))
	f.Add("pHYs", []byte("x"), uint32(0))
	f.Add("tRNS", []byte("123456"), uint32(1))
	plain := imagingtest.PNG(imagingtest.Corners(9, 7))
	before, err := png.Decode(bytes.NewReader(plain))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte, flip uint32) {
		if len(kind) != 4 || kind[0]&0x20 == 0 || kind == "tRNS" || kind == "eXIf" || kind == "acTL" {
			return
		}
		c := imagingtest.PNGChunk(kind, body)
		sum := c[len(c)-4:]
		binary.BigEndian.PutUint32(sum, binary.BigEndian.Uint32(sum)^flip)
		data := behindHeader(plain, c)
		r, err := imaging.Prepare(t.Context(), data, imaging.Default)
		if err != nil {
			asTransparency := imagingtest.PNGChunk("tRNS", body)
			if bytes.Equal(asTransparency[8:], c[8:]) {
				return
			}
			t.Fatal(err)
		}
		checkResult(t, data, r, imaging.Default)
		if flip != 0 && r.Same {
			t.Fatal("a wrong checksum passed")
		}
		isStrictPNG(t, r.Data)
		samePixels(t, decode(t, r.Data), image.Image(before), 0)
	})
}
