package audio

import (
	"bytes"
	"encoding/binary"
	"math"
)

// measureMP4 takes an ISO media file for sound when its brand says so or when
// it has a sound track and no video track.
func measureMP4(data []byte) (Info, bool) {
	if len(data) < 12 || string(data[4:8]) != "ftyp" {
		return Info{}, false
	}
	brand := string(data[8:12])
	sound := brand == "M4A " || brand == "M4B " || brand == "M4P " || brand == "F4A "
	info := Info{MIME: MP4}
	video := false
	moov, _ := box(data, "moov")
	if mvhd, ok := box(moov, "mvhd"); ok {
		scale, length := mp4Times(mvhd)
		info.Duration = span(length, scale)
	}
	eachBox(moov, func(kind string, trak []byte) {
		if kind != "trak" {
			return
		}
		mdia, _ := box(trak, "mdia")
		hdlr, _ := box(mdia, "hdlr")
		if len(hdlr) < 12 {
			return
		}
		switch string(hdlr[8:12]) {
		case "vide":
			video = true
		case "soun":
			sound = true
			info.soundTrack(mdia)
		}
	})
	return info, sound && !video
}

// soundTrack reads the first sample entry of a sound track.
func (i *Info) soundTrack(mdia []byte) {
	minf, _ := box(mdia, "minf")
	stbl, _ := box(minf, "stbl")
	stsd, _ := box(stbl, "stsd")
	if i.Channels == 0 && len(stsd) >= 8+36 {
		entry := stsd[8:]
		i.Channels = int(binary.BigEndian.Uint16(entry[24:]))
		i.SampleRate = int(binary.BigEndian.Uint32(entry[32:]) >> 16)
	}
}

// mp4Times reads the time scale and the duration of mvhd, version 0 or 1.
func mp4Times(b []byte) (scale, length uint64) {
	switch {
	case len(b) >= 32 && b[0] == 1:
		return uint64(binary.BigEndian.Uint32(b[20:])), known(binary.BigEndian.Uint64(b[24:]), math.MaxUint64)
	case len(b) >= 20 && b[0] == 0:
		return uint64(binary.BigEndian.Uint32(b[12:])), known(uint64(binary.BigEndian.Uint32(b[16:])), math.MaxUint32)
	default:
		return 0, 0
	}
}

// known turns the value that stands for "unknown" into 0.
func known(v, unknown uint64) uint64 {
	if v == unknown {
		return 0
	}
	return v
}

func box(data []byte, want string) (body []byte, ok bool) {
	eachBox(data, func(kind string, b []byte) {
		if kind == want && !ok {
			body, ok = b, true
		}
	})
	return body, ok
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

// measureWebM recognises a WebM file without a video track and reads what its
// first bytes state. Elements are found by their ids (RFC 8794 and the
// Matroska element list); a file whose duration is not stated gives 0.
func measureWebM(data []byte) (Info, bool) {
	if !bytes.HasPrefix(data, []byte("\x1a\x45\xdf\xa3")) || !bytes.Contains(data[:min(len(data), 64)], []byte("webm")) {
		return Info{}, false
	}
	info := Info{MIME: WebM}
	head := data[:min(len(data), 64<<10)]
	if cluster := bytes.Index(head, []byte("\x1f\x43\xb6\x75")); cluster >= 0 {
		head = head[:cluster]
	}
	for _, codec := range []string{"V_VP8", "V_VP9", "V_AV1"} {
		if bytes.Contains(head, []byte(codec)) {
			return Info{}, false
		}
	}
	if i := bytes.Index(head, []byte("\x44\x89\x88")); i >= 0 && len(head) >= i+11 {
		// Duration, a float64 in time code units, which are milliseconds
		// unless another scale is stated.
		ms := math.Float64frombits(binary.BigEndian.Uint64(head[i+3:]))
		if ms > 0 && ms < 1e12 && webmScale(head) == 1_000_000 {
			info.Duration = span(uint64(ms*1000), 1_000_000)
		}
	}
	return info, true
}

// webmScale returns the nanoseconds of one time code unit.
func webmScale(head []byte) uint64 {
	i := bytes.Index(head, []byte("\x2a\xd7\xb1"))
	if i < 0 || len(head) < i+4 {
		return 1_000_000
	}
	n := int(head[i+3] & 0x7f)
	if head[i+3]&0x80 == 0 || n > 8 || len(head) < i+4+n {
		return 0
	}
	var v uint64
	for _, b := range head[i+4 : i+4+n] {
		v = v<<8 | uint64(b)
	}
	return v
}
