package agenttest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
)

// PNG makes a valid grey picture of noise. The same arguments give the same
// bytes, and noise does not compress, so it takes about w*h bytes.
func PNG(w, h int, seed uint64) []byte {
	noise := rand.New(rand.NewPCG(seed, uint64(w)<<32|uint64(h)))
	var pixels bytes.Buffer
	z, _ := zlib.NewWriterLevel(&pixels, zlib.NoCompression) // the level is valid
	row := make([]byte, w+1)
	for range h {
		for x := range w {
			row[1+x] = byte(noise.Uint32())
		}
		_, _ = z.Write(row) // a buffer takes everything
	}
	_ = z.Close()

	out := bytes.NewBufferString(pngMagic)
	head := binary.BigEndian.AppendUint32(nil, uint32(w))
	head = binary.BigEndian.AppendUint32(head, uint32(h))
	chunk(out, "IHDR", append(head, 8, 0, 0, 0, 0))
	chunk(out, "IDAT", pixels.Bytes())
	chunk(out, "IEND", nil)
	return out.Bytes()
}

const pngMagic = "\x89PNG\r\n\x1a\n"

func chunk(out *bytes.Buffer, name string, data []byte) {
	body := append([]byte(name), data...)
	_ = binary.Write(out, binary.BigEndian, uint32(len(data)))
	out.Write(body)
	_ = binary.Write(out, binary.BigEndian, crc32.ChecksumIEEE(body))
}

// pngSize reads the size of a whole PNG; ok is false for one that is cut.
func pngSize(data []byte) (w, h int, ok bool) {
	if len(data) < 24 || !bytes.HasPrefix(data, []byte(pngMagic)) {
		return 0, 0, false
	}
	w = int(binary.BigEndian.Uint32(data[16:]))
	h = int(binary.BigEndian.Uint32(data[20:]))
	return w, h, bytes.HasSuffix(data, []byte("IEND\xae\x42\x60\x82"))
}

// WAV makes a valid silent recording.
func WAV(millis int) []byte {
	samples := make([]byte, 8*millis) // 8 kHz, 8 bits
	out := bytes.NewBufferString("RIFF")
	_ = binary.Write(out, binary.LittleEndian, uint32(36+len(samples)))
	out.WriteString("WAVEfmt ")
	for _, v := range []any{uint32(16), uint16(1), uint16(1), uint32(8000), uint32(8000), uint16(1), uint16(8)} {
		_ = binary.Write(out, binary.LittleEndian, v)
	}
	out.WriteString("data")
	_ = binary.Write(out, binary.LittleEndian, uint32(len(samples)))
	out.Write(samples)
	return out.Bytes()
}
