package conformance_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/imaging/imagingtest"
)

// fate is what a model that sees everything gets of a source.
type fate uint8

const (
	arrives fate = iota // as a picture
	itself              // whole, as another kind
	stub                // a path or a line that says why not
	nothing             // blank: there is nothing to send
)

// bad is a source that users met trouble with, and what is right. The ids are
// those of reports from the field, a letter for each variant.
type bad struct {
	id  string
	src content.Source
	// fates are those of its blocks, one each.
	fates []fate
}

// asPicture is a picture block of an editor.
func asPicture(data, mime string) content.Source {
	raw := []byte(`{"type":"image","mimeType":"` + mime + `","data":"` + data + `"}`)
	start := bytes.Index(raw, []byte(`"data":"`)) + len(`"data":"`)
	return content.Source{
		Payload: content.Base64{Data: []byte(data)}, Inlet: content.InletACP, Chooser: content.ChosenByUser, As: content.KindImage,
		Declared: mime, Client: content.ClientBlock{Raw: raw, Start: start, End: start + len(data)},
	}
}

// bmp is 4x4 red pixels of 24 or 32 bits.
func bmp(bits int) []byte {
	pixels := bytes.Repeat([]byte{0, 0, 255, 255}[:bits/8], 16)
	out := []byte("BM")
	le := binary.LittleEndian
	for _, v := range []uint32{uint32(54 + len(pixels)), 0, 54, 40, 4, 4} {
		out = le.AppendUint32(out, v)
	}
	out = le.AppendUint16(le.AppendUint16(out, 1), uint16(bits))
	return append(append(out, make([]byte, 24)...), pixels...)
}

// tiff is 4x4 grey pixels.
func tiff(order binary.AppendByteOrder, mark string) []byte {
	out := order.AppendUint32(order.AppendUint16([]byte(mark), 42), 8)
	entries := [][3]uint32{{256, 4, 4}, {257, 4, 4}, {258, 3, 8}, {259, 3, 1}, {262, 3, 1}, {273, 4, 8 + 2 + 9*12 + 4}, {277, 3, 1}, {278, 4, 4}, {279, 4, 16}}
	out = order.AppendUint16(out, uint16(len(entries)))
	for _, e := range entries {
		out = order.AppendUint32(order.AppendUint16(order.AppendUint16(out, uint16(e[0])), uint16(e[1])), 1)
		if e[1] == 3 {
			out = order.AppendUint16(order.AppendUint16(out, uint16(e[2])), 0)
		} else {
			out = order.AppendUint32(out, e[2])
		}
	}
	return append(order.AppendUint32(out, 0), bytes.Repeat([]byte{0x80}, 16)...)
}

// bomb is a PNG of a few bytes that claims w times h pixels.
func bomb(w, h uint32) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), w), h)
	head = append(head, 1, 0, 0, 0, 0)
	out := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), head...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(head))
	return imagingtest.InsertPNGChunk(append(out, "\x00\x00\x00\x00IEND\xaeB`\x82"...), "tEXt", []byte("k\x00v"))
}

// deep is a picture of 16 bits a channel.
func deep() image.Image {
	img := image.NewNRGBA64(image.Rect(0, 0, 16, 16))
	for i := range 256 {
		img.SetNRGBA64(i%16, i/16, color.NRGBA64{uint16(i * 257), 1000, 2000, 65535})
	}
	return img
}

func palette() image.Image {
	img := image.NewPaletted(image.Rect(0, 0, 16, 16), color.Palette{color.Black, color.White})
	img.SetColorIndex(3, 3, 1)
	return img
}

// webp is one pixel.
const webp = "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA"

// huge makes a file over the limit of an attachment that takes no room on the
// disk.
func (w *world) huge(name string) string {
	w.t.Helper()
	path := filepath.Join(w.cwd, w.file(name, agenttest.PNG(8, 8, 1)))
	if err := os.Truncate(path, 33<<20); err != nil {
		w.t.Fatal(err)
	}
	return name
}

// badFiles is everything of groups A and B at once, and the bombs.
func badFiles(t *testing.T, w *world) []bad {
	t.Helper()
	std := base64.StdEncoding.EncodeToString
	file := func(name string, data []byte) content.Source { return flagged(w.file(name, data)) }
	png := imagingtest.PNG(imagingtest.Corners(40, 30))
	shot := imagingtest.Screenshot(320, 200, 7)
	webpBytes, err := base64.StdEncoding.DecodeString(webp)
	if err != nil {
		t.Fatal(err)
	}
	ftyp := func(brand string) []byte { return []byte("\x00\x00\x00\x14ftyp" + brand + "\x00\x00\x00\x00mif1") }
	var lines strings.Builder
	for s := range chunks(std(png), 76) {
		lines.WriteString(s + "\n")
	}
	raster := []fate{arrives}
	out := []bad{
		{"B01", file("noise.png", agenttest.PNG(760, 760, 3)), raster},
		{"B03", file("long.png", imagingtest.PNG(imagingtest.Corners(200, 9000))), raster},
		{"B04a", file("x.jpeg", []byte("hello")), []fate{itself}},
		{"B04b", asPicture(std([]byte("hello")), "image/jpeg"), []fate{stub}},
		{"B04c", file("y.png", nil), []fate{stub}},
		{"B04d", file("z.png", imagingtest.Truncated(shot)), []fate{stub}},
		{"B04e", asPicture(std(imagingtest.Truncated(shot)), "image/png"), []fate{stub}},
		{"B04f", file("page.png", []byte("<!DOCTYPE html><html><body>404</body></html>")), []fate{itself}},
		{"B04g", file("eleven.png", []byte("\x01\x02\x03\x04\x05\x06\x07\x08\x00\x80\x81")), []fate{stub}},
		{"B06a", asPicture(std(png), "image/x-foo"), raster},
		{"B06b", asPicture(std(png), ""), raster},
		{"B06c", asPicture(std(tiff(binary.LittleEndian, "II")), "image/png"), raster},
		{"B07a", asPicture("", "image/png"), []fate{stub}},
		{"B07b", asPicture("!!!!", "image/png"), []fate{stub}},
		{"B07c", asPicture("data:image/png;base64,"+std(png), "image/png"), raster},
		{"B07d", asPicture(base64.URLEncoding.EncodeToString(shot), "image/png"), raster},
		{"B07e", asPicture(lines.String(), "image/png"), raster},
		{"B07f", asPicture(std([]byte(std(png))), "image/png"), []fate{stub}},
		{"B07g", asPicture(base64.RawStdEncoding.EncodeToString(png), "image/png"), raster},
		{"B10", prose("  \n"), []fate{nothing}},
		{"B11a", file("really-jpeg.png", imagingtest.JPEG(imagingtest.Corners(16, 16), 0)), raster},
		{"B11b", file("really-webp.jpg", webpBytes), raster},
		{"B12a", file("a.heic", ftyp("heic")), []fate{stub}},
		{"B12b", file("a.avif", ftyp("avif")), []fate{stub}},
		{"B12c", file("a.bmp", bmp(24)), raster},
		{"B12d", file("ii.tiff", tiff(binary.LittleEndian, "II")), raster},
		{"B12e", file("mm.tiff", tiff(binary.BigEndian, "MM")), raster},
		{"B13a", file("a.svg", []byte(svg)), []fate{itself}},
		{"B13b", asPicture(std([]byte(svg)), "image/svg+xml"), []fate{itself}},
		{"B14a", file("notes.pcx", []byte("only notes\n")), []fate{itself}},
		{"B14b", file("data.ico", []byte("only data\n")), []fate{itself}},
		{"B15", asPicture(std(bmp(32)), "image/bmp"), raster},
		{"B17", asPicture(webp, "image/webp"), raster},
		{"B18a", file("two.gif", imagingtest.GIF(color.RGBA{255, 0, 0, 255}, color.RGBA{0, 255, 0, 255})), raster},
		{"B18b", file("still.gif", imagingtest.GIF(color.RGBA{0x2c, 0x2c, 0x2c, 255})), raster},
		{"B18c", file("cut.gif", imagingtest.Truncated(imagingtest.AnimatedGIF())), []fate{stub}},
		{"B19", file("sideways.jpg", imagingtest.JPEG(imagingtest.Corners(40, 20), 6)), raster},
		{"B20a", file("deep.png", imagingtest.PNG(deep())), raster},
		{"B20b", file("one-bit.png", imagingtest.PNG(palette())), raster},
		{"B70a", file("bomb.png", bomb(30000, 30000)), []fate{stub}},
		{"B70b", file("bomb.gif", []byte("GIF89a\xff\xff\xff\xff\x00\x00\x00;")), []fate{stub}},
		{"too large", flagged(w.huge("huge.png")), []fate{stub}},
		{"not there", flagged("nowhere.png"), []fate{stub}},
		{"a folder", flagged("."), []fate{stub}},
	}
	for i := range 12 {
		name := "many-" + string(rune('a'+i)) + ".png"
		out = append(out, bad{"B05" + name[5:6], file(name, agenttest.PNG(300, 300, uint64(100+i))), raster})
	}
	return out
}
