package imaging

import (
	"bytes"
	"encoding/binary"
)

const tagOrientation = 0x0112

// ifd is one image file directory of a TIFF structure, read in place.
type ifd struct {
	data  []byte // the whole structure: offsets count from its start
	order binary.ByteOrder
	start int // of the first entry
	count int
}

// tiffOrder reads the byte order and the offset of the first directory.
func tiffOrder(data []byte) (binary.ByteOrder, uint32, bool) {
	if len(data) < 8 {
		return nil, 0, false
	}
	var order binary.ByteOrder
	switch string(data[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return nil, 0, false
	}
	return order, order.Uint32(data[4:]), true
}

// openIFD reads the directory at offset. A directory that runs past the end
// yields the entries that are there.
func openIFD(data []byte, order binary.ByteOrder, offset uint32) (ifd, bool) {
	if uint64(offset)+2 > uint64(len(data)) {
		return ifd{}, false
	}
	d := ifd{data: data, order: order, start: int(offset) + 2, count: int(order.Uint16(data[offset:]))}
	d.count = min(d.count, (len(data)-d.start)/12)
	return d, true
}

// next returns the offset of the following directory, 0 when there is none.
func (d ifd) next() uint32 {
	end := d.start + 12*d.count
	if end+4 > len(d.data) {
		return 0
	}
	return d.order.Uint32(d.data[end:])
}

// first returns the first value of an unsigned BYTE, SHORT or LONG tag.
func (d ifd) first(tag uint16) (uint64, bool) {
	for n := range d.count {
		e := d.data[d.start+12*n : d.start+12*n+12]
		if d.order.Uint16(e) != tag {
			continue
		}
		size := tagSize(d.order.Uint16(e[2:]))
		count := uint64(d.order.Uint32(e[4:]))
		if size == 0 || count == 0 {
			return 0, false
		}
		field := e[8:12]
		if count*uint64(size) > 4 {
			offset := uint64(d.order.Uint32(e[8:]))
			if offset+uint64(size) > uint64(len(d.data)) {
				return 0, false
			}
			field = d.data[offset:]
		}
		return d.number(field, size), true
	}
	return 0, false
}

// tagSize returns the bytes of one value of a type, 0 when it is not unsigned.
func tagSize(kind uint16) int {
	switch kind {
	case 1:
		return 1
	case 3:
		return 2
	case 4:
		return 4
	default:
		return 0
	}
}

func (d ifd) number(b []byte, size int) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(d.order.Uint16(b))
	default:
		return uint64(d.order.Uint32(b))
	}
}

// exifOrientation reads the orientation of an EXIF block, with or without the
// "Exif\0\0" prefix. It returns 1 when there is none or it is out of range.
func exifOrientation(block []byte) int {
	block = bytes.TrimPrefix(block, []byte("Exif\x00\x00"))
	order, first, ok := tiffOrder(block)
	if !ok {
		return 1
	}
	d, ok := openIFD(block, order, first)
	if !ok {
		return 1
	}
	v, ok := d.first(tagOrientation)
	if !ok || v < 1 || v > 8 {
		return 1
	}
	return int(v)
}
