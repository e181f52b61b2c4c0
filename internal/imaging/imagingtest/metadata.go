package imagingtest

import (
	"bytes"
	"encoding/binary"
	"image"
	"slices"
)

// Secret is the text that all metadata made here holds, as it stands.
const Secret = "48.8584N 2.2945E"

// Place returns a big-endian TIFF structure as a camera writes it: a
// description, which is [Secret], the orientation, and a directory of its own
// for the place.
func Place(orientation int) []byte {
	const entries, gps = 3, 8 + 2 + 3*12 + 4
	const text = gps + 2 + 2*12 + 4
	be := binary.BigEndian
	entry := func(out []byte, tag, kind uint16, count, value uint32) []byte {
		out = be.AppendUint16(be.AppendUint16(out, tag), kind)
		return be.AppendUint32(be.AppendUint32(out, count), value)
	}
	out := be.AppendUint16([]byte("MM\x00*\x00\x00\x00\x08"), entries)
	out = entry(out, 0x010e, 2, uint32(len(Secret)+1), text)
	out = entry(out, 0x0112, 3, 1, uint32(orientation)<<16)
	out = entry(out, 0x8825, 4, 1, gps)
	out = be.AppendUint32(out, 0)
	out = be.AppendUint16(out, 2)
	out = entry(out, 1, 2, 2, 'N'<<24)
	out = entry(out, 2, 5, 3, uint32(text+len(Secret)+1))
	out = be.AppendUint32(out, 0)
	out = append(out, Secret+"\x00"...)
	for _, v := range []uint32{48, 1, 51, 1, 30, 1} {
		out = be.AppendUint32(out, v)
	}
	return out
}

// JPEGSegment returns one segment of a JPEG.
func JPEGSegment(marker byte, body string) []byte {
	out := binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(body)+2))
	return append(out, body...)
}

// JPEGWithMetadata encodes a picture with EXIF, XMP, IPTC and a comment.
func JPEGWithMetadata(img image.Image, orientation int) []byte {
	return slices.Insert(JPEG(img, 0), 2, bytes.Join([][]byte{
		JPEGSegment(0xe1, "Exif\x00\x00"+string(Place(orientation))),
		JPEGSegment(0xe1, "http://ns.adobe.com/xap/1.0/\x00<x:xmpmeta>"+Secret+"</x:xmpmeta>"),
		JPEGSegment(0xed, "Photoshop 3.0\x008BIM\x04\x04"+Secret),
		JPEGSegment(0xfe, Secret),
	}, nil)...)
}

// PNGWithMetadata encodes a picture with EXIF, a text and a time.
func PNGWithMetadata(img image.Image, orientation int) []byte {
	out := InsertPNGChunk(PNG(img), "eXIf", Place(orientation))
	out = InsertPNGChunk(out, "tEXt", []byte("Comment\x00"+Secret))
	return InsertPNGChunk(out, "tIME", []byte{7, 234, 1, 2, 3, 4, 5})
}

// WebPWithMetadata wraps a simple lossy or lossless WebP file of a known size
// into an extended one with EXIF and XMP.
func WebPWithMetadata(data []byte, w, h, orientation int) []byte {
	const canvasEnd = 12 + 8 + 10
	extended := WebPWithOrientation(data, w, h, 1)
	extended[20] |= 0x04 // XMP
	body := bytes.Join([][]byte{
		extended[8:canvasEnd], data[12:], RIFFChunk("EXIF", Place(orientation)),
		RIFFChunk("XMP ", []byte("<x:xmpmeta>"+Secret+"</x:xmpmeta>")),
	}, nil)
	return RIFFChunk("RIFF", body)
}

// GIFExtension returns one extension of a GIF with its blocks.
func GIFExtension(label byte, blocks ...string) []byte {
	out := []byte{0x21, label}
	for _, b := range blocks {
		out = append(append(out, byte(len(b))), b...)
	}
	return append(out, 0)
}

// InsertGIF puts extensions after the header of a GIF and its palette.
func InsertGIF(data []byte, extensions ...[]byte) []byte {
	at := 13
	if data[10]&0x80 != 0 {
		at += 3 << (data[10]&7 + 1)
	}
	return slices.Insert(bytes.Clone(data), at, bytes.Join(extensions, nil)...)
}
