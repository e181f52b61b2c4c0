package audio

import (
	"bytes"
	"encoding/binary"
)

// measureWAV reads the fmt and data chunks of a RIFF or RF64 file.
func measureWAV(data []byte) (Info, bool) {
	if len(data) < 12 || string(data[8:12]) != "WAVE" {
		return Info{}, false
	}
	switch string(data[:4]) {
	case "RIFF", "RF64", "BW64":
	default:
		return Info{}, false
	}
	le := binary.LittleEndian
	info := Info{MIME: WAV}
	var bytesPerSecond, size uint64
	for rest := data[12:]; len(rest) >= 8; {
		n := uint64(le.Uint32(rest[4:]))
		body := rest[8:]
		switch string(rest[:4]) {
		case "fmt ":
			if len(body) >= 16 {
				info.Channels, info.SampleRate = int(le.Uint16(body[2:])), int(le.Uint32(body[4:]))
				bytesPerSecond = uint64(le.Uint32(body[8:]))
			}
		case "data":
			// A stream that was not closed states 0 or the most there is.
			size = n
			if n == 0 || n > uint64(len(body)) {
				size = uint64(len(body))
			}
		}
		rest = from(rest, 8+n+n&1)
	}
	info.Duration = span(size, bytesPerSecond)
	return info, true
}

// measureFLAC reads STREAMINFO (RFC 9639 section 8.2), after an ID3 tag if
// there is one.
func measureFLAC(data []byte) (Info, bool) {
	data = skipID3(data)
	if !bytes.HasPrefix(data, []byte("fLaC")) {
		return Info{}, false
	}
	info := Info{MIME: FLAC}
	if len(data) < 8+18 || data[4]&0x7f != 0 {
		return info, true
	}
	packed := binary.BigEndian.Uint64(data[18:])
	info.SampleRate = int(packed >> 44)
	info.Channels = int(packed>>41&7) + 1
	info.Duration = span(packed&(1<<36-1), packed>>44)
	return info, true
}

// measureOgg reads the first page for the codec and the last for the position.
func measureOgg(data []byte) (Info, bool) {
	if !bytes.HasPrefix(data, []byte("OggS")) {
		return Info{}, false
	}
	le := binary.LittleEndian
	info := Info{MIME: Ogg}
	if len(data) < 28 {
		return info, true
	}
	packet := from(data, 27+uint64(data[26]))
	var rate, skipped uint64
	switch {
	case bytes.HasPrefix(packet, []byte("OpusHead")) && len(packet) >= 19:
		// Opus positions always count at 48 kHz and include the pre-skip (RFC 7845).
		info.Channels, info.SampleRate = int(packet[9]), int(le.Uint32(packet[12:]))
		rate, skipped = 48000, uint64(le.Uint16(packet[10:]))
	case bytes.HasPrefix(packet, []byte("\x01vorbis")) && len(packet) >= 16:
		info.Channels, info.SampleRate = int(packet[11]), int(le.Uint32(packet[12:]))
		rate = uint64(info.SampleRate)
	case bytes.HasPrefix(packet, []byte("\x80theora")), bytes.HasPrefix(packet, []byte("\x01video")):
		return Info{}, false
	}
	serial := data[14:18]
	for end := len(data); end > 0; {
		i := bytes.LastIndex(data[:end], []byte("OggS"))
		if i < 0 {
			break
		}
		end = i
		page := data[i:]
		if len(page) < 27 || page[4] != 0 || !bytes.Equal(page[14:18], serial) {
			continue
		}
		// A position of all ones means that no packet ends on the page.
		if position := le.Uint64(page[6:]); position != ^uint64(0) {
			if position > skipped {
				info.Duration = span(position-skipped, rate)
			}
			break
		}
	}
	return info, true
}
