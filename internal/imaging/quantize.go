package imaging

import "math"

// indexed is a picture of at most 256 colours.
type indexed struct {
	palette [][4]byte // in the order of first appearance, none unused or twice
	index   []byte
}

// indexExact returns the palette form of a picture that has at most 256
// different colours. The order of the palette depends on the pixels alone, so
// the same picture always gives the same file.
func indexExact(r *raster) (*indexed, bool) {
	out := &indexed{index: make([]byte, r.w*r.h)}
	known := make(map[[4]byte]byte, 256)
	var last [4]byte
	var lastIndex byte
	for i := range out.index {
		c := [4]byte(r.pix[4*i : 4*i+4])
		if i > 0 && c == last {
			out.index[i] = lastIndex
			continue
		}
		n, ok := known[c]
		if !ok {
			if len(out.palette) == 256 {
				return nil, false
			}
			n = byte(len(out.palette))
			known[c] = n
			out.palette = append(out.palette, c)
		}
		out.index[i], last, lastIndex = n, c, n
	}
	return out, true
}

// isFlat reports whether the picture is drawn rather than photographed: the
// 256 fullest of 32768 colour bins hold 90 % of a sample of a ninth.
func isFlat(r *raster) bool {
	bins := make([]uint32, 1<<15)
	total := 0
	for y := 0; y < r.h; y += 3 {
		row := r.pix[4*r.w*y:]
		for x := 0; x < r.w; x += 3 {
			bins[int(row[4*x]>>3)<<10|int(row[4*x+1]>>3)<<5|int(row[4*x+2]>>3)]++
			total++
		}
	}
	// Counting how many bins have each size avoids sorting them.
	sizes := map[uint32]int{}
	for _, n := range bins {
		if n > 0 {
			sizes[n]++
		}
	}
	left, held := 256, 0
	for left > 0 && len(sizes) > 0 {
		largest := uint32(0)
		for n := range sizes {
			largest = max(largest, n)
		}
		take := min(left, sizes[largest])
		held += take * int(largest)
		left -= take
		delete(sizes, largest)
	}
	return held*10 >= total*9
}

// bin is one cell of the colour histogram with the sums of its pixels.
type bin struct {
	count int64
	sum   [4]int64
}

// box is a range of bins of the list and its statistics.
type box struct {
	from, to int
	axis     int
	mean     float64 // along axis
	spread   float64 // squared error along axis
}

// quantize reduces a picture to at most 256 colours by cutting, again and
// again, the box of colours with the largest squared error at its mean. No
// dither: text stays sharp and the file small.
func quantize(r *raster) *indexed {
	cell := binOpaque
	if !r.opaque {
		cell = binAlpha
	}
	slots := make([]int32, 1<<16) // bin number + 1
	var bins []bin
	for i := 0; i+3 < len(r.pix); i += 4 {
		p := r.pix[i : i+4 : i+4]
		slot := &slots[cell(p)]
		if *slot == 0 {
			bins = append(bins, bin{})
			*slot = int32(len(bins))
		}
		b := &bins[*slot-1]
		b.count++
		for c := range 4 {
			b.sum[c] += int64(p[c])
		}
	}
	order := make([]int32, len(bins))
	for i := range order {
		order[i] = int32(i)
	}
	boxes := cut(bins, order)
	colors := make([][4]byte, len(boxes))
	owner := make([]byte, len(bins))
	for n, b := range boxes {
		colors[n] = average(bins, order[b.from:b.to])
		for _, i := range order[b.from:b.to] {
			owner[i] = byte(n)
		}
	}
	out := &indexed{index: make([]byte, r.w*r.h), palette: colors}
	for i := range out.index {
		out.index[i] = owner[slots[cell(r.pix[4*i:4*i+4])]-1]
	}
	out.canonical()
	return out
}

func binOpaque(p []byte) int { return int(p[0]>>3)<<10 | int(p[1]>>3)<<5 | int(p[2]>>3) }

func binAlpha(p []byte) int {
	return int(p[0]>>4)<<12 | int(p[1]>>4)<<8 | int(p[2]>>4)<<4 | int(p[3]>>4)
}

// cut partitions the bins into at most 256 boxes.
func cut(bins []bin, order []int32) []box {
	boxes := []box{measureBox(bins, order, 0, len(order))}
	for len(boxes) < 256 {
		worst := 0
		for i, b := range boxes {
			if b.spread > boxes[worst].spread {
				worst = i
			}
		}
		b := boxes[worst]
		if b.spread <= 0 {
			break
		}
		middle := b.from
		for i := b.from; i < b.to; i++ {
			n := &bins[order[i]]
			if float64(n.sum[b.axis])/float64(n.count) <= b.mean {
				order[i], order[middle] = order[middle], order[i]
				middle++
			}
		}
		if middle == b.from || middle == b.to {
			boxes[worst].spread = 0
			continue
		}
		boxes[worst] = measureBox(bins, order, b.from, middle)
		boxes = append(boxes, measureBox(bins, order, middle, b.to))
	}
	return boxes
}

// measureBox finds the axis with the largest squared error. Explicit
// conversions keep products and sums apart, so no machine fuses them and the
// palette is the same everywhere.
func measureBox(bins []bin, order []int32, from, to int) box {
	b := box{from: from, to: to}
	var count, sum, square [4]float64
	for _, i := range order[from:to] {
		n := &bins[i]
		for c := range 4 {
			mean := float64(n.sum[c]) / float64(n.count)
			count[c] += float64(n.count)
			sum[c] += float64(n.sum[c])
			square[c] += float64(mean * float64(n.sum[c]))
		}
	}
	for c := range 4 {
		spread := square[c] - float64(sum[c]*sum[c]/count[c])
		if spread > b.spread {
			b.axis, b.spread, b.mean = c, spread, sum[c]/count[c]
		}
	}
	if to-from < 2 {
		b.spread = 0
	}
	return b
}

// average is the mean colour weighted by alpha and the mean alpha.
func average(bins []bin, members []int32) [4]byte {
	var count int64
	var sum [4]int64
	for _, i := range members {
		count += bins[i].count
		for c := range 4 {
			sum[c] += bins[i].sum[c]
		}
	}
	var out [4]byte
	for c := range 4 {
		out[c] = byte((sum[c] + count/2) / count)
	}
	if out[3] == 0 {
		return [4]byte{}
	}
	return out
}

// canonical puts the palette in the order indexExact would give.
func (p *indexed) canonical() {
	old := p.palette
	known := make(map[[4]byte]byte, len(old))
	var remap [256]int
	p.palette = make([][4]byte, 0, len(old))
	for i := range remap {
		remap[i] = -1
	}
	for i, n := range p.index {
		if remap[n] < 0 {
			to, ok := known[old[n]]
			if !ok {
				to = byte(len(p.palette))
				known[old[n]] = to
				p.palette = append(p.palette, old[n])
			}
			remap[n] = int(to)
		}
		p.index[i] = byte(remap[n])
	}
}

// psnr compares a sample of a ninth of the pixels, premultiplied, in decibels.
func (p *indexed) psnr(r *raster) float64 {
	var sum, count int64
	for y := 0; y < r.h; y += 3 {
		for x := 0; x < r.w; x += 3 {
			a, b := r.pix[4*(y*r.w+x):], p.palette[p.index[y*r.w+x]]
			for c := range 3 {
				d := int64(a[c])*int64(a[3]) - int64(b[c])*int64(b[3])
				sum += d * d / (255 * 255)
			}
			if !r.opaque {
				d := int64(a[3]) - int64(b[3])
				sum += d * d
			}
			count += 3
		}
	}
	if sum == 0 {
		return math.Inf(1)
	}
	return 10 * math.Log10(255*255*float64(count)/float64(sum))
}
