package imaging

import "encoding/binary"

// isoSize returns the largest picture size that a HEIC or AVIF file declares,
// without applying any rotation it also declares; zero when none is found.
// These formats are not decoded here: the size only serves a message.
func isoSize(data []byte) (w, h int) {
	meta := isoBox(data, "meta")
	if len(meta) < 4 {
		return 0, 0
	}
	properties := isoBox(isoBox(meta[4:], "iprp"), "ipco")
	eachBox(properties, func(kind string, body []byte) {
		if kind != "ispe" || len(body) < 12 {
			return
		}
		bw, bh := binary.BigEndian.Uint32(body[4:]), binary.BigEndian.Uint32(body[8:])
		if bw <= 1<<20 && bh <= 1<<20 && int64(bw)*int64(bh) > int64(w)*int64(h) {
			w, h = int(bw), int(bh)
		}
	})
	return w, h
}

// isoBox returns the body of the first box of a kind, nil when there is none.
func isoBox(data []byte, want string) []byte {
	var found []byte
	eachBox(data, func(kind string, body []byte) {
		if kind == want && found == nil {
			found = body
		}
	})
	return found
}

func eachBox(data []byte, visit func(kind string, body []byte)) {
	for len(data) >= 8 {
		n, start := uint64(binary.BigEndian.Uint32(data)), uint64(8)
		switch {
		case n == 0:
			n = uint64(len(data))
		case n == 1 && len(data) >= 16:
			n, start = binary.BigEndian.Uint64(data[8:]), 16
		}
		if n < start || n > uint64(len(data)) {
			return
		}
		visit(string(data[4:8]), data[start:n])
		data = data[n:]
	}
}

// icoSize returns the size of the largest entry of an icon file.
func icoSize(data []byte) (w, h int) {
	n := int(binary.LittleEndian.Uint16(data[4:]))
	for i := range n {
		entry := skip(data, 6+16*i)
		if len(entry) < 16 {
			break
		}
		side := func(b byte) int { return (int(b)+255)%256 + 1 } // 0 stands for 256
		w, h = max(w, side(entry[0])), max(h, side(entry[1]))
	}
	return w, h
}
