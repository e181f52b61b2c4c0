package imaging

import (
	"encoding/binary"
	"fmt"
)

// readGIF walks every block to count the frames exactly: bytes inside palettes
// and data are never taken for block starts.
func (h *header) readGIF(data []byte) error {
	if len(data) < 13 {
		return damaged(GIF, "no complete header")
	}
	if err := h.setSize(uint64(binary.LittleEndian.Uint16(data[6:])), uint64(binary.LittleEndian.Uint16(data[8:]))); err != nil {
		return err
	}
	h.Color, h.lossless, h.Frames = Palette, true, 0
	rest := data[13:]
	if data[10]&0x80 != 0 {
		rest = skip(rest, 3<<(data[10]&7+1))
	}
	ended := false
	for len(rest) > 0 && !ended {
		switch rest[0] {
		case 0x3b:
			ended = true
		case 0x2c:
			h.Frames++
			rest = gifFrameEnd(rest)
		case 0x21:
			if len(rest) >= 7 && rest[1] == 0xf9 && rest[3]&1 != 0 {
				h.Alpha = true
			}
			rest = skipSubBlocks(skip(rest, 2))
		default:
			h.cut = fmt.Sprintf("unknown block 0x%02x", rest[0])
			rest = nil
		}
	}
	switch {
	case !ended && h.cut == "":
		h.cut = "truncated after " + byteSize(len(data))
	case h.Frames == 0:
		h.cut = "no frame"
	}
	h.Frames = max(1, h.Frames)
	return nil
}

func gifFrameEnd(rest []byte) []byte {
	if len(rest) < 11 {
		return nil
	}
	flags := rest[9]
	rest = rest[10:]
	if flags&0x80 != 0 {
		rest = skip(rest, 3<<(flags&7+1))
	}
	return skipSubBlocks(skip(rest, 1))
}

// skip returns nil when fewer than n bytes are left.
func skip(b []byte, n int) []byte {
	if len(b) < n {
		return nil
	}
	return b[n:]
}

func skipSubBlocks(b []byte) []byte {
	for len(b) > 0 {
		n := int(b[0])
		b = skip(b, 1+n)
		if n == 0 {
			return b
		}
	}
	return nil
}
