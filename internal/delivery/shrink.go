package delivery

// Fit is the rule by which a server shrinks pictures on arrival, as data. What it
// would shrink is cut to that size before it is sent, so that nothing is paid for
// and thrown away. The zero value shrinks nothing.
type Fit struct {
	// MaxEdge bounds the longer side and MaxShort the shorter one, in pixels;
	// 0 is no bound.
	MaxEdge, MaxShort int
	// Patch is the side of a square patch in pixels, MaxPatches how many a
	// picture may have; 0 is no bound.
	Patch, MaxPatches int
	// Padded: MaxEdge bounds the side after it is filled up to whole patches.
	Padded bool
}

// IsZero reports whether nothing is shrunk.
func (f Fit) IsZero() bool { return f == Fit{} }

// Size returns the size to which a picture of w by h pixels is shrunk, the same
// where it fits. Applied again it changes nothing.
func (f Fit) Size(w, h int) (int, int) {
	if w <= 0 || h <= 0 || f.holds(w, h) {
		return w, h
	}
	// The largest long side that holds is searched; the short one follows,
	// rounded half to even as servers do.
	long, short := max(w, h), min(w, h)
	low, high := 1, long-1
	for low < high {
		mid := (low + high + 1) / 2
		if f.holds(mid, scaled(short, mid, long)) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	long, short = low, scaled(short, low, long)
	if w >= h {
		return long, short
	}
	return short, long
}

// holds reports whether a picture keeps within the rule. The order of the sides
// does not matter.
func (f Fit) holds(w, h int) bool {
	long, short := max(w, h), min(w, h)
	if over(int64(short), int64(f.MaxShort)) {
		return false
	}
	if f.Patch <= 0 {
		return !over(int64(long), int64(f.MaxEdge))
	}
	across, down := (w+f.Patch-1)/f.Patch, (h+f.Patch-1)/f.Patch
	edge := long
	if f.Padded {
		edge = max(across, down) * f.Patch
	}
	return !over(int64(edge), int64(f.MaxEdge)) && !over(int64(across)*int64(down), int64(f.MaxPatches))
}

// scaled returns side*to/from, rounded half to even, at least 1.
func scaled(side, to, from int) int {
	n := int64(side) * int64(to)
	q, r := n/int64(from), n%int64(from)
	if twice := 2 * r; twice > int64(from) || twice == int64(from) && q%2 == 1 {
		q++
	}
	return max(1, int(q))
}
