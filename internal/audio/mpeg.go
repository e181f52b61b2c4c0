package audio

import (
	"bytes"
	"encoding/binary"
)

// hasID3 wants a known version and a well-formed size, so that text which
// begins with the letters is not taken for a tag.
func hasID3(data []byte) bool {
	return len(data) >= 10 && string(data[:3]) == "ID3" && data[3] >= 2 && data[3] <= 4 &&
		(data[6]|data[7]|data[8]|data[9])&0x80 == 0
}

// skipID3 returns what follows an ID3v2 tag at the start.
func skipID3(data []byte) []byte {
	if !hasID3(data) {
		return data
	}
	size := uint64(data[6]&0x7f)<<21 | uint64(data[7]&0x7f)<<14 | uint64(data[8]&0x7f)<<7 | uint64(data[9]&0x7f)
	size += 10
	if data[5]&0x10 != 0 {
		size += 10 // footer
	}
	return from(data, size)
}

// frame is one MPEG audio frame header (ISO 11172-3 and 13818-3).
type frame struct {
	rate     int // samples a second
	samples  int // in the frame
	size     int // bytes
	channels int
	side     int // bytes from the header to the Xing tag
	layer    int
	version  byte
}

// Bit rates in kbit/s by table and index, from the standards.
var bitRates = [5][15]int{
	{0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448}, // MPEG-1 layer I
	{0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},    // MPEG-1 layer II
	{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},     // MPEG-1 layer III
	{0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},    // MPEG-2 layer I
	{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},         // MPEG-2 layers II and III
}

// parseFrame reads a frame header with a stated bit rate.
func parseFrame(b []byte) (frame, bool) {
	if len(b) < 4 || b[0] != 0xff || b[1]&0xe0 != 0xe0 {
		return frame{}, false
	}
	version, layerBits := b[1]>>3&3, b[1]>>1&3
	rateIndex, sampleIndex := b[2]>>4, b[2]>>2&3
	if version == 1 || layerBits == 0 || rateIndex == 0 || rateIndex == 15 || sampleIndex == 3 || b[3]&3 == 2 {
		return frame{}, false
	}
	f := frame{layer: 4 - int(layerBits), version: version, channels: 2}
	if b[3]>>6 == 3 {
		f.channels = 1
	}
	f.rate = [3]int{44100, 48000, 32000}[sampleIndex]
	table := f.layer - 1
	switch version {
	case 2: // MPEG-2
		f.rate /= 2
	case 0: // MPEG-2.5
		f.rate /= 4
	}
	if version != 3 {
		table = 3 + min(1, f.layer-1)
	}
	padding := int(b[2] >> 1 & 1)
	bits := bitRates[table][rateIndex] * 1000
	switch {
	case f.layer == 1:
		f.samples = 384
		f.size = (12*bits/f.rate + padding) * 4
	case f.layer == 3 && version != 3:
		f.samples = 576
		f.size = 72*bits/f.rate + padding
	default:
		f.samples = 1152
		f.size = 144*bits/f.rate + padding
	}
	f.side = 4 + sideInfo(version, f.channels)
	return f, true
}

func sideInfo(version byte, channels int) int {
	switch {
	case version == 3 && channels == 2:
		return 32
	case version == 3 || channels == 2:
		return 17
	default:
		return 9
	}
}

// searchForFrame is how many bytes of junk before the first frame are looked
// through, and only after an ID3 tag says that this is MPEG audio.
const searchForFrame = 64 << 10

// measureMPEG wants two frames in a row, or an ID3 tag, so that other data is
// not taken for sound.
func measureMPEG(data []byte) (Info, bool) {
	tagged := hasID3(data)
	rest := skipID3(data)
	if tagged {
		rest = rest[firstFrame(rest):]
	}
	first, ok := parseFrame(rest)
	if !ok {
		return Info{MIME: MPEG}, tagged
	}
	if !tagged && !follows(rest, first) {
		return Info{}, false
	}
	info := Info{MIME: MPEG, Channels: first.channels, SampleRate: first.rate}
	frames, stated := statedFrames(rest, first)
	if !stated {
		frames = countFrames(rest)
	}
	info.Duration = span(frames*uint64(first.samples), uint64(first.rate))
	return info, true
}

func firstFrame(b []byte) int {
	for i := range min(len(b), searchForFrame) {
		if f, ok := parseFrame(b[i:]); ok && follows(b[i:], f) {
			return i
		}
	}
	return 0
}

// follows reports whether another frame of the same kind comes next, or the
// file ends with this one.
func follows(b []byte, f frame) bool {
	if len(b) == f.size {
		return true
	}
	next, ok := parseFrame(from(b, uint64(f.size)))
	return ok && next.layer == f.layer && next.version == f.version && next.rate == f.rate
}

// statedFrames reads the Xing, Info or VBRI header in the first frame.
func statedFrames(b []byte, f frame) (uint64, bool) {
	body := b[:min(len(b), f.size)]
	if tag := from(body, uint64(f.side)); len(tag) >= 12 {
		if bytes.HasPrefix(tag, []byte("Xing")) || bytes.HasPrefix(tag, []byte("Info")) {
			return uint64(binary.BigEndian.Uint32(tag[8:])), tag[7]&1 != 0
		}
	}
	if tag := from(body, 36); len(tag) >= 18 && bytes.HasPrefix(tag, []byte("VBRI")) {
		return uint64(binary.BigEndian.Uint32(tag[14:])), true
	}
	return 0, false
}

// countFrames walks the frames; each is at least 24 bytes, so this is linear.
func countFrames(b []byte) uint64 {
	var n uint64
	for {
		f, ok := parseFrame(b)
		if !ok || f.size < 4 {
			return n
		}
		n++
		b = from(b, uint64(f.size))
	}
}
