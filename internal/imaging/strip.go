package imaging

import (
	"bytes"
	"encoding/binary"
)

// Strip removes what a picture file says beyond its pixels and their colours:
// places and cameras (EXIF), XMP, IPTC, comments, texts, times, previews,
// private data, and whatever follows the end of the picture. What a decoder
// needs is kept byte for byte, so the pixels are the same before and after, and
// stripping again removes nothing more.
//
// An orientation is metadata too: Strip is for pictures that are upright as
// stored, which all those are that [Prepare] passes on.
//
// JPEG, PNG, WebP and GIF are stripped; other formats come back as they are.
// Without anything to remove out is data itself. Nothing is decoded. The error
// is an *[Error] of kind [Damaged] where the parts of the file cannot be told
// apart up to its end; out is data then, with all that it holds.
func Strip(data []byte) (out []byte, removed bool, err error) {
	k := &keeper{data: data}
	switch Sniff(data) {
	case JPEG:
		err = k.stripJPEG()
	case PNG:
		err = k.stripPNG()
	case WebP:
		err = k.stripWebP()
	case GIF:
		err = k.stripGIF()
	case BMP, TIFF, HEIC, AVIF, JXL, ICO:
	}
	if err != nil || k.out == nil {
		return data, false, err
	}
	return k.result(), true, nil
}

// keeper copies a file without the parts that are cut out of it. Nothing is
// copied before the first cut.
type keeper struct {
	data []byte
	out  []byte // nil before the first cut
	from int    // where the part of data begins that is not in out yet
}

// cut leaves out data[start:end], which lies behind all earlier cuts, and puts
// other bytes in its place.
func (k *keeper) cut(start, end int, instead ...byte) {
	if start == end {
		return
	}
	if k.out == nil {
		k.out = make([]byte, 0, len(k.data))
	}
	k.out = append(k.out, k.data[k.from:start]...)
	k.out = append(k.out, instead...)
	k.from = end
}

// offset returns where data[at], which is kept, will stand in the output.
func (k *keeper) offset(at int) int { return len(k.out) + at - k.from }

func (k *keeper) result() []byte {
	k.out = append(k.out, k.data[k.from:]...)
	k.from = len(k.data)
	return k.out
}

// stripJPEG drops the segments that no decoder needs, also those between scans,
// stray bytes before the first scan, and what follows the end: further
// pictures, films. From the first scan on, what stands between the segments may
// be entropy-coded and is stepped over as the decoder does it.
func (k *keeper) stripJPEG() error {
	scan := false
	for at := 2; ; {
		marker, start, end := nextMarker(k.data[at:])
		start, end = at+start, at+end
		if !scan {
			k.cut(at, start)
		}
		switch {
		case marker == 0:
			return damaged(JPEG, "no end of picture")
		case marker == 0xd9:
			k.cut(end, len(k.data))
			return nil
		case len(k.data)-end < 2:
			return damaged(JPEG, "segment cut off")
		}
		n := int(binary.BigEndian.Uint16(k.data[end:]))
		if n < 2 || n > len(k.data)-end {
			return damaged(JPEG, "segment cut off")
		}
		scan = scan || marker == 0xda
		at = end + n
		switch body := k.data[end+2 : at]; {
		case !jpegKeeps(marker, body):
			k.cut(start, at)
		case marker == 0xe0 && len(body) > jfifSize:
			// A preview follows the densities: a picture of 0x0 instead.
			k.cut(end, end+2, 0, jfifSize+2)
			k.cut(at-len(body)+jfifSize-2, at, 0, 0)
		}
	}
}

// jfifSize is the length of a JFIF segment without a preview, in bytes, after
// the segment's own length (JFIF 1.02; ITU-T T.871, 10.1).
const jfifSize = 14

// jpegKeeps says whether a segment has a say in the pixels or their colours: of
// the application segments JFIF, ICC profiles and Adobe's colour transform.
func jpegKeeps(marker byte, body []byte) bool {
	has := func(name string) bool { return bytes.HasPrefix(body, []byte(name)) }
	switch marker {
	case 0xe0:
		return has("JFIF\x00")
	case 0xe2:
		return has("ICC_PROFILE\x00")
	case 0xee:
		return has("Adobe")
	}
	return marker != 0xfe && (marker < 0xe0 || marker > 0xef)
}

// stripPNG drops the chunks that no decoder needs, and what follows the end.
func (k *keeper) stripPNG() error {
	for at := len(pngSignature); ; {
		if len(k.data)-at < 12 {
			return damaged(PNG, "no end of picture")
		}
		n := uint64(binary.BigEndian.Uint32(k.data[at:]))
		if n > uint64(len(k.data)-at-12) {
			return damaged(PNG, "chunk cut off")
		}
		next := at + 12 + int(n)
		kind := string(k.data[at+4 : at+8])
		if !pngKeeps(kind) {
			k.cut(at, next)
		}
		if kind == "IEND" {
			k.cut(next, len(k.data))
			return nil
		}
		at = next
	}
}

// pngKeeps says whether a chunk has a say in the pixels, their colours or their
// order: all that are critical, and these. (PNG third edition, W3C; mDCv and
// cLLi are how its drafts spelled them.)
func pngKeeps(kind string) bool {
	switch kind {
	case "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "sBIT", "pHYs", "bKGD", "hIST", "sPLT",
		"cICP", "mDCV", "mDCv", "cLLI", "cLLi", "acTL", "fcTL", "fdAT":
		return true
	}
	return kind[0]&0x20 == 0 // critical
}

// Flags of a VP8X chunk that announce metadata (RFC 9649, 2.7).
const (
	webpHasEXIF = 0x08
	webpHasXMP  = 0x04
)

// stripWebP drops the chunks that no decoder needs, takes their announcement
// back, and drops what follows the end.
func (k *keeper) stripWebP() error {
	size := uint64(binary.LittleEndian.Uint32(k.data[4:])) + 8
	if size < 12 || size > uint64(len(k.data)) {
		return damaged(WebP, "no end of picture")
	}
	end, canvas := int(size), []int{}
	at := 12
	for end-at >= 8 {
		n := uint64(binary.LittleEndian.Uint32(k.data[at+4:]))
		if n > uint64(end-at-8) {
			return damaged(WebP, "chunk cut off")
		}
		next := min(end, at+8+int(n)+int(n&1))
		switch string(k.data[at : at+4]) {
		case "VP8X":
			if n > 0 {
				canvas = append(canvas, k.offset(at+8))
			}
		case "VP8 ", "VP8L", "ALPH", "ANIM", "ANMF", "ICCP":
		default:
			k.cut(at, next)
		}
		at = next
	}
	k.cut(at, end)
	size = uint64(k.offset(end))
	k.cut(end, len(k.data))
	if k.out == nil {
		return nil
	}
	out := k.result()
	binary.LittleEndian.PutUint32(out[4:], uint32(size-8))
	for _, flags := range canvas {
		out[flags] &^= webpHasEXIF | webpHasXMP
	}
	return nil
}

// stripGIF drops the extensions that no decoder needs, and what follows the
// end. A graphic control stays, also before a text that goes: decoders that do
// not draw texts hold it to be the next frame's.
func (k *keeper) stripGIF() error {
	if len(k.data) < 13 {
		return damaged(GIF, "no complete header")
	}
	rest := k.data[13:]
	if k.data[10]&0x80 != 0 {
		rest = skip(rest, 3<<(k.data[10]&7+1))
	}
	for len(rest) > 0 {
		at := len(k.data) - len(rest)
		switch rest[0] {
		case 0x3b:
			k.cut(at+1, len(k.data))
			return nil
		case 0x2c:
			rest = gifFrameEnd(rest)
		case 0x21:
			keep, err := gifKeeps(rest)
			if err != nil {
				return err
			}
			if rest = skipSubBlocks(skip(rest, 2)); !keep {
				k.cut(at, len(k.data)-len(rest))
			}
		default:
			return damaged(GIF, "unknown block 0x%02x", rest[0])
		}
	}
	return damaged(GIF, "no end of picture")
}

// gifKeeps says whether an extension has a say in the frames or their colours:
// graphic control, the two ways to say how often to loop, and ICC profiles.
// Texts and applications whose first block has no legal size are read in more
// than one way, so they are refused.
func gifKeeps(ext []byte) (bool, error) {
	if len(ext) < 3 {
		return false, damaged(GIF, "extension cut off")
	}
	switch label, size := ext[1], int(ext[2]); {
	case label == 0xf9:
		return true, nil
	case label == 0x01 && size != 12, label == 0xff && (size == 0 || size > len(ext)-3):
		return false, damaged(GIF, "extension of a wrong size")
	case label == 0xff:
		switch string(ext[3 : 3+size]) {
		case "NETSCAPE2.0", "ANIMEXTS1.0", "ICCRGBG1012":
			return true, nil
		}
	}
	return false, nil
}
