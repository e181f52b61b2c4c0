package imaging

import (
	"bytes"
	"encoding/binary"
)

// Format is a recognised picture file format. The zero value is unknown.
type Format uint8

// The closed set of formats.
const (
	PNG Format = iota + 1
	JPEG
	GIF
	WebP
	BMP
	TIFF
	HEIC
	AVIF
	JXL
	ICO
)

var formatNames = [...]string{"unknown", "png", "jpeg", "gif", "webp", "bmp", "tiff", "heic", "avif", "jxl", "ico"}

// String returns the short lower-case name of the format.
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return formatNames[0]
}

// MIME returns the media type of the format, empty when unknown.
func (f Format) MIME() string {
	switch f {
	case PNG, JPEG, GIF, WebP, BMP, TIFF, HEIC, AVIF, JXL:
		return "image/" + f.String()
	case ICO:
		return "image/x-icon"
	default:
		return ""
	}
}

// Color is how a file stores its colours. The zero value is unknown.
type Color uint8

// The closed set of colour layouts.
const (
	Gray Color = iota + 1
	GrayAlpha
	RGB
	RGBA
	Palette
	CMYK
	YCCK
)

var colorNames = [...]string{"unknown", "gray", "gray-alpha", "rgb", "rgba", "palette", "cmyk", "ycck"}

// String returns the lower-case name of the colour layout.
func (c Color) String() string {
	if int(c) < len(colorNames) {
		return colorNames[c]
	}
	return colorNames[0]
}

// Change is one thing Prepare or Crop did to a picture. The zero value is invalid.
type Change uint8

// The closed set of changes.
const (
	// Oriented means that the EXIF orientation was applied to the pixels.
	Oriented Change = iota + 1
	// Shrunk means that the output has fewer pixels than the source shows.
	Shrunk
	// Converted means that the output has another file format.
	Converted
	// Recompressed means that pixels were encoded again with loss, or that
	// the file was rewritten for no other listed reason.
	Recompressed
	// FirstFrame means that only the first frame of an animation was kept.
	FirstFrame
	// DepthReduced means that more than 8 bits a sample became 8.
	DepthReduced
	// Flattened means that transparency was laid on white.
	Flattened
	// ColorConverted means that palette, CMYK, YCCK or grey with alpha
	// became another colour layout.
	ColorConverted
)

var changeNames = [...]string{
	"unknown", "oriented", "shrunk", "converted", "recompressed", "first frame",
	"depth reduced", "flattened", "color converted",
}

// String returns the change in lower-case words.
func (c Change) String() string {
	if int(c) < len(changeNames) {
		return changeNames[c]
	}
	return changeNames[0]
}

// Sniff recognises a picture format by its magic bytes alone.
func Sniff(data []byte) Format {
	has := func(magic string) bool { return bytes.HasPrefix(data, []byte(magic)) }
	switch {
	case has("\x89PNG\r\n\x1a\n"):
		return PNG
	case has("\xff\xd8\xff"):
		return JPEG
	case has("GIF87a"), has("GIF89a"):
		return GIF
	case has("RIFF") && len(data) >= 12 && string(data[8:12]) == "WEBP":
		return WebP
	case has("BM") && plausibleBMP(data):
		return BMP
	case has("II*\x00"), has("MM\x00*"):
		return TIFF
	case has("\xff\x0a"), has("\x00\x00\x00\x0cJXL \r\n\x87\n"):
		return JXL
	case has("\x00\x00\x01\x00") && plausibleICO(data):
		return ICO
	case len(data) >= 12 && string(data[4:8]) == "ftyp":
		return sniffBrand(data)
	default:
		return 0
	}
}

// plausibleBMP keeps text that begins with "BM" from being taken for a picture.
func plausibleBMP(data []byte) bool {
	if len(data) < 26 {
		return false
	}
	switch binary.LittleEndian.Uint32(data[14:]) {
	case 12, 40, 52, 56, 64, 108, 124:
		return true
	default:
		return false
	}
}

func plausibleICO(data []byte) bool {
	if len(data) < 22 {
		return false
	}
	n := int(binary.LittleEndian.Uint16(data[4:]))
	offset := int64(binary.LittleEndian.Uint32(data[18:]))
	return n > 0 && data[9] == 0 && offset >= int64(6+16*n)
}

// sniffBrand reads the brands of an ISO base media file. mif1 alone says only
// "still picture", so the compatible brands decide.
func sniffBrand(data []byte) Format {
	n := int(min(uint64(binary.BigEndian.Uint32(data)), uint64(len(data)), 256))
	generic := false
	for i := 8; i+4 <= n; i += 4 {
		if i == 12 {
			continue // minor version, not a brand
		}
		switch string(data[i : i+4]) {
		case "avif", "avis":
			return AVIF
		case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs":
			return HEIC
		case "mif1", "msf1":
			generic = true
		}
	}
	if generic {
		return HEIC
	}
	return 0
}
