package imaging

import (
	"encoding/binary"
)

// webpFrame collects the chunks that make one still picture.
type webpFrame struct {
	alpha, bits []byte // payloads of ALPH and VP8 or VP8L
	kind        string
}

// readWebP walks the RIFF chunks, measures every bitstream and keeps the first
// frame, which is all the decoder ever sees.
func (h *header) readWebP(data []byte) error {
	size := uint64(binary.LittleEndian.Uint32(data[4:])) + 8
	if size > uint64(len(data)) {
		h.cut = "truncated after " + byteSize(len(data))
		size = uint64(len(data))
	}
	var first webpFrame
	frames, extended := 0, false
	err := webpChunks(data[12:max(12, size)], func(kind string, body []byte) error {
		switch kind {
		case "VP8X":
			extended = true
			return h.webpCanvas(body)
		case "EXIF":
			h.Orientation = exifOrientation(body)
		case "ALPH", "VP8 ", "VP8L":
			if frames == 0 {
				return first.take(h, kind, body)
			}
		case "ANMF":
			frames++
			return h.webpAnimationFrame(body, frames, &first)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if first.kind == "" {
		if h.StoredWidth == 0 {
			return damaged(WebP, "no picture data")
		}
		if h.cut == "" {
			h.cut = "no picture data"
		}
		return nil
	}
	w, ht := first.size()
	if !extended {
		if err := h.setSize(w, ht); err != nil {
			return err
		}
	} else if frames == 0 && (int(w) != h.StoredWidth || int(ht) != h.StoredHeight) {
		h.cut = "picture and canvas differ in size"
	}
	h.Frames = max(1, frames)
	h.frame = first
	return nil
}

// webpChunks calls visit for each whole chunk, or for what is left of a cut one.
func webpChunks(rest []byte, visit func(kind string, body []byte) error) error {
	for len(rest) >= 8 {
		n := uint64(binary.LittleEndian.Uint32(rest[4:]))
		body := rest[8:min(uint64(len(rest)), 8+n)]
		if err := visit(string(rest[:4]), body); err != nil {
			return err
		}
		rest = rest[min(uint64(len(rest)), 8+n+n&1):]
	}
	return nil
}

func (h *header) webpCanvas(body []byte) error {
	if len(body) < 10 {
		return damaged(WebP, "short canvas header")
	}
	if body[0]&0x10 != 0 {
		h.Alpha, h.Color = true, RGBA
	}
	return h.setSize(uint64(uint24(body[4:]))+1, uint64(uint24(body[7:]))+1)
}

func (h *header) webpAnimationFrame(body []byte, n int, first *webpFrame) error {
	if len(body) < 16 {
		return nil
	}
	frame := first
	if n > 1 {
		frame = &webpFrame{}
	} else {
		h.frameX, h.frameY = 2*uint24(body), 2*uint24(body[3:])
	}
	return webpChunks(body[16:], func(kind string, b []byte) error {
		switch kind {
		case "ALPH", "VP8 ", "VP8L":
			return frame.take(h, kind, b)
		}
		return nil
	})
}

// take records one chunk of a frame and checks its size against the header's
// pixel count: the bitstream, not the canvas, decides what the decoder allocates.
func (f *webpFrame) take(h *header, kind string, body []byte) error {
	if kind == "ALPH" {
		f.alpha, h.Alpha, h.Color = body, true, RGBA
		return nil
	}
	if f.kind != "" {
		return nil
	}
	f.kind, f.bits = kind, body
	w, ht := f.size()
	if w == 0 || ht == 0 {
		return damaged(WebP, "no complete picture header")
	}
	h.pixels = max(h.pixels, int64(w)*int64(ht))
	if kind == "VP8L" {
		h.lossless = true
		if body[4]&0x10 != 0 {
			h.Alpha, h.Color = true, RGBA
		}
	}
	return nil
}

// size reads the size from the bitstream, 0 when it is not there.
func (f *webpFrame) size() (w, h uint64) {
	b := f.bits
	switch {
	case f.kind == "VP8 " && len(b) >= 10 && b[3] == 0x9d && b[4] == 0x01 && b[5] == 0x2a:
		return uint64(binary.LittleEndian.Uint16(b[6:]) & 0x3fff), uint64(binary.LittleEndian.Uint16(b[8:]) & 0x3fff)
	case f.kind == "VP8L" && len(b) >= 5 && b[0] == 0x2f:
		v := binary.LittleEndian.Uint32(b[1:])
		return uint64(v&0x3fff) + 1, uint64(v>>14&0x3fff) + 1
	default:
		return 0, 0
	}
}

// still writes the frame as a file of its own.
func (f *webpFrame) still() []byte {
	body := []byte("WEBP")
	if f.alpha != nil && f.kind == "VP8 " {
		w, h := f.size()
		canvas := []byte{0x10, 0, 0, 0}
		canvas = appendUint24(canvas, uint32(w-1))
		canvas = appendUint24(canvas, uint32(h-1))
		body = appendChunk(body, "VP8X", canvas)
		body = appendChunk(body, "ALPH", f.alpha)
	}
	body = appendChunk(body, f.kind, f.bits)
	out := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body)))
	return append(out, body...)
}

func appendChunk(dst []byte, kind string, body []byte) []byte {
	dst = append(dst, kind...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(body)))
	dst = append(dst, body...)
	if len(body)&1 != 0 {
		dst = append(dst, 0)
	}
	return dst
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

func appendUint24(dst []byte, v uint32) []byte {
	return append(dst, byte(v), byte(v>>8), byte(v>>16))
}
