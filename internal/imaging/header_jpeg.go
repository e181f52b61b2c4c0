package imaging

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// readJPEG walks the marker segments up to the first scan.
func (h *header) readJPEG(data []byte) error {
	var adobe, seen bool
	var transform byte
	for rest := data[2:]; ; {
		marker, body, after := nextSegment(rest)
		if marker == 0 {
			break
		}
		rest = after
		switch {
		case isSOF(marker) && !seen:
			if err := h.jpegFrame(marker, body); err != nil {
				return err
			}
			seen = true
		case marker == 0xe1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")):
			h.Orientation = exifOrientation(body)
		case marker == 0xee && len(body) >= 12 && bytes.HasPrefix(body, []byte("Adobe")):
			adobe, transform = true, body[11]
		}
	}
	if !seen {
		return damaged(JPEG, "no frame header")
	}
	if h.Color == CMYK {
		h.plainCMYK = !adobe
		if adobe && transform != 0 {
			h.Color = YCCK
		}
	}
	return nil
}

// nextSegment returns the next marker with a body, 0 at the first scan or the
// end.
func nextSegment(rest []byte) (marker byte, body, after []byte) {
	marker, _, end := nextMarker(rest)
	rest = rest[end:]
	if marker == 0 || marker == 0xd9 || marker == 0xda || len(rest) < 2 {
		return 0, nil, nil
	}
	n := int(binary.BigEndian.Uint16(rest))
	if n < 2 || n > len(rest) {
		return 0, nil, nil
	}
	return marker, rest[2:n], rest[n:]
}

// nextMarker finds the next marker that has a body or ends the picture; it is
// data[start:end] with its fill bytes. Stray bytes, entropy-coded data and
// markers without a body are skipped as the decoder skips them, so both see the
// same segments. The marker is 0 where there is none.
func nextMarker(data []byte) (marker byte, start, end int) {
	for {
		i := bytes.IndexByte(data[end:], 0xff)
		if i < 0 {
			return 0, len(data), len(data)
		}
		start = end + i
		for end = start; end < len(data) && data[end] == 0xff; {
			end++
		}
		if end == len(data) {
			return 0, end, end
		}
		marker = data[end]
		end++
		if marker != 0 && marker != 0x01 && (marker < 0xd0 || marker > 0xd7) {
			return marker, start, end
		}
	}
}

// isSOF reports a start-of-frame marker: C0 to CF without DHT, JPG and DAC.
func isSOF(marker byte) bool {
	return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
}

func (h *header) jpegFrame(marker byte, body []byte) error {
	if len(body) < 6 {
		return damaged(JPEG, "short frame header")
	}
	h.BitDepth = int(body[0])
	height, width := binary.BigEndian.Uint16(body[1:]), binary.BigEndian.Uint16(body[3:])
	if err := h.setSize(uint64(width), uint64(height)); err != nil {
		return err
	}
	switch body[5] {
	case 1:
		h.Color = Gray
	case 3:
		h.Color = RGB
	case 4:
		h.Color = CMYK
	default:
		h.unsupported = fmt.Sprintf("%d colour components", body[5])
	}
	switch {
	case marker == 0xc9 || marker >= 0xca && marker <= 0xcf:
		h.unsupported = "arithmetic coding"
	case marker > 0xc2:
		h.unsupported = "lossless or hierarchical coding"
	case h.BitDepth != 8:
		h.unsupported = fmt.Sprintf("%d bits a sample", h.BitDepth)
	}
	return nil
}

// withAdobeMarker returns a CMYK JPEG with an Adobe segment that says "no
// transform". The decoder refuses four components without one.
func withAdobeMarker(data []byte) []byte {
	segment := []byte("\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00")
	out := make([]byte, 0, len(data)+len(segment))
	out = append(out, data[:2]...)
	out = append(out, segment...)
	return append(out, data[2:]...)
}
