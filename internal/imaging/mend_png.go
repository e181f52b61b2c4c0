package imaging

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"iter"
	"strings"
)

// part is one chunk of a PNG.
type part struct {
	kind string
	raw  []byte // with length, kind and checksum
	at   int    // where it stands in the file
}

func (p part) body() []byte { return p.raw[8 : len(p.raw)-4] }

// pngParts steps through the chunks up to IEND, or up to the first one that
// does not end inside the file.
func pngParts(data []byte) iter.Seq[part] {
	return func(yield func(part) bool) {
		for at := len(pngSignature); len(data)-at >= 12; {
			n := uint64(binary.BigEndian.Uint32(data[at:]))
			if n > uint64(len(data)-at-12) {
				return
			}
			p := part{kind: string(data[at+4 : at+8]), raw: data[at : at+12+int(n)], at: at}
			if !yield(p) || p.kind == "IEND" {
				return
			}
			at += len(p.raw)
		}
	}
}

// spoils is the set of what is damaged in a picture without being needed to
// show it.
type spoils uint8

const (
	spoiltProfile spoils = 1 << iota
	spoiltColors
	spoiltMetadata
	spoiltAnimation
	spoiltOther
)

var spoilWords = [...]string{
	"a damaged colour profile", "damaged colour data", "damaged metadata", "a damaged animation", "damaged extra data",
}

// String says in words, without a full stop, what was left out; "" for nothing.
func (s spoils) String() string {
	var words []string
	for i, w := range spoilWords {
		if s&(1<<i) != 0 {
			words = append(words, w)
		}
	}
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0] + " was left out"
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1] + " were left out"
	}
}

func spoilOf(kind string) spoils {
	switch kind {
	case "iCCP":
		return spoiltProfile
	case "gAMA", "cHRM", "sRGB", "cICP", "mDCV", "mDCv", "cLLI", "cLLi", "sBIT":
		return spoiltColors
	case "eXIf", "tEXt", "zTXt", "iTXt", "tIME":
		return spoiltMetadata
	case "acTL", "fcTL", "fdAT":
		return spoiltAnimation
	}
	return spoiltOther
}

// spoilt says whether a chunk is damaged that no decoder needs: an ancillary
// one (its first letter is a small one) whose checksum or size is wrong, or
// whose kind is not made of letters. Transparency is ancillary by its name only:
// without it another picture is seen.
func (p part) spoilt() bool {
	if p.kind[0]&0x20 == 0 || p.kind == "tRNS" {
		return false
	}
	sum := binary.BigEndian.Uint32(p.raw[len(p.raw)-4:])
	if crc32.ChecksumIEEE(p.raw[4:len(p.raw)-4]) != sum {
		// Where the checksum is that of transparency, its name was damaged.
		return crc32.Update(crc32.ChecksumIEEE([]byte("tRNS")), crc32.IEEETable, p.body()) != sum
	}
	return !isLetters(p.kind) || !fitsKind(p.kind, len(p.body()))
}

func isLetters(kind string) bool {
	for _, c := range []byte(kind) {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			return false
		}
	}
	return true
}

// fitsKind says whether a chunk of that kind may have a body of n bytes. Kinds
// whose size is free, depends on other chunks, or is not known always fit.
// (PNG third edition, W3C, section 11.3.)
func fitsKind(kind string, n int) bool {
	switch kind {
	case "sRGB":
		return n == 1
	case "gAMA", "cICP":
		return n == 4
	case "tIME":
		return n == 7
	case "acTL", "cLLI", "cLLi":
		return n == 8
	case "pHYs":
		return n == 9
	case "mDCV", "mDCv":
		return n == 24
	case "fcTL":
		return n == 26
	case "cHRM":
		return n == 32
	case "fdAT":
		return n >= 4
	}
	return true
}

// mended returns the PNG without what is spoilt and, since it is another file
// anyway, without metadata, animation and what follows the end, as every file
// has it that is written here. All else is kept byte for byte. Where nothing is
// spoilt, it is the data itself.
func (h *header) mended(data []byte) []byte {
	if h.spoils == 0 {
		return data
	}
	k := &keeper{data: data}
	end := len(data)
	for p := range pngParts(data) {
		end = p.at + len(p.raw)
		what := spoilOf(p.kind)
		if !pngKeeps(p.kind) || p.spoilt() || what == spoiltAnimation || what&h.spoils == spoiltProfile {
			k.cut(p.at, end)
		}
	}
	k.cut(end, len(data))
	return k.result()
}

// What is unpacked at most to see whether packed chunks are sound, in bytes. A
// chunk that holds more is taken as it is.
const (
	unpackProfile = 4 << 20
	unpackTexts   = 4 << 20 // of all texts together
)

// unsoundPacked says which packed chunks, sound on the outside, do not unpack:
// the first colour profile, and texts. Nothing of them is held.
func (h *header) unsoundPacked(ctx context.Context, data []byte) (spoils, error) {
	var u unpacker
	found, texts, profiles := h.spoils, int64(unpackTexts), 0
	for p := range pngParts(data) {
		what := spoilOf(p.kind)
		if found&what != 0 || p.kind != "iCCP" && p.kind != "zTXt" && p.kind != "iTXt" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		limit := &texts
		if p.kind == "iCCP" {
			if profiles++; profiles > 1 {
				continue // no decoder looks at it
			}
			own := int64(unpackProfile)
			limit = &own
		}
		stream, packed, ok := packedStream(p)
		if ok && packed && *limit > 0 {
			var n int64
			n, ok = u.unpack(stream, *limit)
			*limit -= n
		}
		if !ok {
			found |= what
		}
	}
	return found, nil
}

// packedStream returns the zlib stream of a colour profile or a text. packed is
// false for an international text that is not packed; ok is false where the
// fields in front are wrong.
func packedStream(p part) (stream []byte, packed, ok bool) {
	name, rest, ok := bytes.Cut(p.body(), []byte{0})
	if !ok || len(name) < 1 || len(name) > 79 || len(rest) < 1 {
		return nil, false, false
	}
	if p.kind != "iTXt" {
		return rest[1:], true, rest[0] == 0
	}
	if rest[0] == 0 {
		return nil, false, true
	}
	if len(rest) < 2 || rest[0] != 1 || rest[1] != 0 {
		return nil, false, false
	}
	fields := bytes.SplitN(rest[2:], []byte{0}, 3) // language, translated keyword, text
	return fields[len(fields)-1], true, len(fields) == 3
}

// unpacker unpacks streams one after the other in the same memory.
type unpacker struct{ z io.ReadCloser }

// unpack returns how much came out, and whether the stream is sound up to its
// end or the limit.
func (u *unpacker) unpack(stream []byte, limit int64) (n int64, ok bool) {
	var err error
	r := bytes.NewReader(stream)
	if again, is := u.z.(zlib.Resetter); is {
		err = again.Reset(r, nil)
	} else {
		u.z, err = zlib.NewReader(r)
	}
	if err != nil {
		return 0, false
	}
	n, err = io.CopyN(io.Discard, u.z, limit)
	return n, err == nil || errors.Is(err, io.EOF)
}
