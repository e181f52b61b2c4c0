package imaging

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/klauspost/compress/zlib"
)

// pngLevel is the deflate level: the size of the next levels is within 2 %.
const pngLevel = 6

// errTooLong ends an encoder once its output is over the limit.
var errTooLong = errors.New("output over the limit")

// boundedBuffer takes at most limit bytes; 0 means no limit.
type boundedBuffer struct {
	bytes.Buffer
	limit int64
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.limit > 0 && int64(b.Len()+len(p)) > b.limit {
		return 0, errTooLong
	}
	return b.Buffer.Write(p)
}

// attempt is the outcome of one encoding. data is nil when it is over the
// limit; size is then an estimate of what it would have been.
type attempt struct {
	data   []byte
	size   int64
	format Format
	lossy  bool
}

// pngOverhead is the space of everything but palette and picture data.
const pngOverhead = 8 + 25 + 12 + 12

// pngTrueColor writes grey, RGB or RGBA at 8 bits, whichever is least and exact.
func pngTrueColor(r *raster, limit int64) attempt {
	colorType, channels := byte(6), 4
	switch {
	case r.gray():
		colorType, channels = 0, 1
	case r.opaque:
		colorType, channels = 2, 3
	}
	size := channels * r.w
	f := newFilter(channels, size)
	line := make([]byte, size)
	return writePNG(r, colorType, nil, limit, func(y int) []byte {
		row := r.pix[4*r.w*y : 4*r.w*(y+1)]
		if channels == 4 {
			return f.apply(row)
		}
		for x := range r.w {
			copy(line[channels*x:channels*(x+1)], row[4*x:])
		}
		return f.apply(line)
	})
}

// pngPalette writes one byte a pixel.
func pngPalette(r *raster, p *indexed, limit int64) attempt {
	line := make([]byte, 1+r.w)
	return writePNG(r, 3, p.palette, limit, func(y int) []byte {
		copy(line[1:], p.index[r.w*y:r.w*(y+1)])
		return line
	})
}

// writePNG writes the file with the filtered rows that row returns.
func writePNG(r *raster, colorType byte, palette [][4]byte, limit int64, row func(y int) []byte) attempt {
	overhead := int64(pngOverhead)
	plte, trns := paletteChunks(palette)
	if plte != nil {
		overhead += int64(12 + len(plte))
	}
	if trns != nil {
		overhead += int64(12 + len(trns))
	}
	body := &boundedBuffer{limit: limit - overhead}
	switch {
	case limit <= 0:
		body.limit = 0
	case limit <= overhead:
		return attempt{format: PNG, size: overhead + int64(r.w)*int64(r.h)/8 + 1}
	}
	z, err := zlib.NewWriterLevel(body, pngLevel)
	if err != nil {
		panic("imaging: invalid deflate level: " + err.Error())
	}
	for y := 0; y < r.h && err == nil; y++ {
		if _, err = z.Write(row(y)); err != nil {
			// Rows are compressed late, so this guess errs on the large side.
			return attempt{format: PNG, size: max(limit+1, limit*int64(r.h)/int64(y+1))}
		}
	}
	if err = z.Close(); err != nil {
		return attempt{format: PNG, size: limit + limit/16 + 1}
	}
	out := make([]byte, 0, overhead+int64(body.Len()))
	out = append(out, pngSignature...)
	head := binary.BigEndian.AppendUint32(nil, uint32(r.w))
	head = binary.BigEndian.AppendUint32(head, uint32(r.h))
	out = appendPNGChunk(out, "IHDR", append(head, 8, colorType, 0, 0, 0))
	if plte != nil {
		out = appendPNGChunk(out, "PLTE", plte)
	}
	if trns != nil {
		out = appendPNGChunk(out, "tRNS", trns)
	}
	out = appendPNGChunk(out, "IDAT", body.Bytes())
	out = appendPNGChunk(out, "IEND", nil)
	return attempt{data: out, size: int64(len(out)), format: PNG}
}

// paletteChunks returns the bodies of PLTE and tRNS; the latter ends with the
// last entry that is not opaque and is nil when all are.
func paletteChunks(palette [][4]byte) (plte, trns []byte) {
	last := 0
	for i, c := range palette {
		plte = append(plte, c[0], c[1], c[2])
		trns = append(trns, c[3])
		if c[3] != 255 {
			last = i + 1
		}
	}
	if last == 0 {
		return plte, nil
	}
	return plte, trns[:last]
}

func appendPNGChunk(dst []byte, kind string, body []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(body)))
	start := len(dst)
	dst = append(dst, kind...)
	dst = append(dst, body...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[start:]))
}

// filter chooses, row by row, the PNG filter with the least sum of absolute
// differences (the heuristic of the PNG specification, section 12.8).
type filter struct {
	step     int // bytes a pixel
	previous []byte
	rows     [5][]byte // each begins with its filter number
}

func newFilter(step, size int) *filter {
	f := &filter{step: step, previous: make([]byte, size)}
	for i := range f.rows {
		f.rows[i] = make([]byte, 1+size)
		f.rows[i][0] = byte(i)
	}
	return f
}

func (f *filter) apply(line []byte) []byte {
	none, sub, up, average, paeth := f.rows[0][1:], f.rows[1][1:], f.rows[2][1:], f.rows[3][1:], f.rows[4][1:]
	copy(none, line)
	for i, v := range line {
		var left, corner byte
		above := f.previous[i]
		if i >= f.step {
			left, corner = line[i-f.step], f.previous[i-f.step]
		}
		sub[i] = v - left
		up[i] = v - above
		average[i] = v - byte((int(left)+int(above))/2)
		paeth[i] = v - paethPredictor(left, above, corner)
	}
	best, least := 0, -1
	for i := range f.rows {
		sum := 0
		for _, v := range f.rows[i][1:] {
			d := int(int8(v))
			sum += max(d, -d)
		}
		if least < 0 || sum < least {
			best, least = i, sum
		}
	}
	copy(f.previous, line)
	return f.rows[best]
}

func paethPredictor(left, above, corner byte) byte {
	a, b, c := int(left), int(above), int(corner)
	pa, pb, pc := b-c, a-c, a+b-2*c
	pa, pb, pc = max(pa, -pa), max(pb, -pb), max(pc, -pc)
	switch {
	case pa <= pb && pa <= pc:
		return left
	case pb <= pc:
		return above
	default:
		return corner
	}
}
