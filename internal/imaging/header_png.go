package imaging

import (
	"encoding/binary"
	"strings"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

var pngColors = map[byte]struct {
	color  Color
	depths string // allowed bit depths as bytes
}{
	0: {Gray, "\x01\x02\x04\x08\x10"},
	2: {RGB, "\x08\x10"},
	3: {Palette, "\x01\x02\x04\x08"},
	4: {GrayAlpha, "\x08\x10"},
	6: {RGBA, "\x08\x10"},
}

// readPNG reads IHDR and walks the chunk headers for transparency,
// orientation and the number of frames. Spoilt chunks have no say.
func (h *header) readPNG(data []byte) error {
	if len(data) < 33 || binary.BigEndian.Uint32(data[8:]) != 13 || string(data[12:16]) != "IHDR" {
		return damaged(PNG, "no complete header")
	}
	if err := h.setSize(uint64(binary.BigEndian.Uint32(data[16:])), uint64(binary.BigEndian.Uint32(data[20:]))); err != nil {
		return err
	}
	layout, ok := pngColors[data[25]]
	if !ok || strings.IndexByte(layout.depths, data[24]) < 0 {
		return damaged(PNG, "colour type %d at %d bits", data[25], data[24])
	}
	h.BitDepth, h.Color, h.lossless = int(data[24]), layout.color, true
	h.Alpha = h.Color == RGBA || h.Color == GrayAlpha
	for p := range pngParts(data) {
		switch {
		case p.kind == "IEND":
			return nil
		case p.spoilt():
			h.spoils |= spoilOf(p.kind)
		default:
			h.pngChunk(p.kind, p.body())
		}
	}
	h.cut = "truncated after " + byteSize(len(data))
	return nil
}

func (h *header) pngChunk(kind string, body []byte) {
	switch kind {
	case "tRNS":
		h.Alpha = true
	case "eXIf":
		h.Orientation = exifOrientation(body)
	case "acTL":
		if len(body) >= 8 {
			h.Frames = max(1, int(min(binary.BigEndian.Uint32(body), 1<<31-1)))
		}
	}
}
