package imaging

import (
	"context"
	"slices"
	"strings"
)

// NamedColor is one colour of a picture under its everyday name.
type NamedColor struct {
	Name    string
	R, G, B uint8   // mean of the pixels that bear the name
	Share   float64 // of the sampled pixels, 0 to 1
}

// Sight is what was seen in a picture.
type Sight struct {
	MIME          string
	Width, Height int          // as displayed
	Colors        []NamedColor // at most three, the largest share first
}

// sightGrid is the most sample points along each side.
const sightGrid = 256

// Describe decodes a picture to its end and says what it saw. Errors are
// *Error or the context's own.
func Describe(ctx context.Context, data []byte) (Sight, error) {
	h, err := measure(data)
	if err != nil {
		return Sight{}, err
	}
	img, err := decode(ctx, data, &h)
	if err != nil {
		return Sight{}, err
	}
	return Sight{MIME: h.MIME, Width: h.Width, Height: h.Height, Colors: dominant(newSource(img))}, nil
}

func dominant(src *source) []NamedColor {
	type tally struct{ n, r, g, b int }
	tallies := map[string]*tally{}
	stepX, stepY := (src.w+sightGrid-1)/sightGrid, (src.h+sightGrid-1)/sightGrid
	scratch := make([]byte, 4*src.w)
	total := 0
	for y := stepY / 2; y < src.h; y += stepY {
		row := src.row(y, scratch)
		for x := stepX / 2; x < src.w; x += stepX {
			p := row[4*x : 4*x+4]
			name := colorName(p[0], p[1], p[2], p[3])
			t := tallies[name]
			if t == nil {
				t = &tally{}
				tallies[name] = t
			}
			t.n++
			t.r, t.g, t.b = t.r+int(p[0]), t.g+int(p[1]), t.b+int(p[2])
			total++
		}
	}
	var out []NamedColor
	for name, t := range tallies {
		out = append(out, NamedColor{
			Name: name, R: uint8(t.r / t.n), G: uint8(t.g / t.n), B: uint8(t.b / t.n),
			Share: float64(t.n) / float64(total),
		})
	}
	slices.SortFunc(out, func(a, b NamedColor) int {
		if a.Share != b.Share {
			if a.Share > b.Share {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out[:min(3, len(out))]
}

// colorName sorts a colour into one of 13 names by lightness, saturation and hue.
func colorName(r, g, b, a uint8) string {
	if a < 128 {
		return "transparent"
	}
	top, bottom := int(max(r, g, b)), int(min(r, g, b))
	spread := top - bottom
	switch {
	case top < 40:
		return "black"
	case spread*6 < top:
		if bottom > 215 {
			return "white"
		}
		return "gray"
	}
	return hueName(hue(int(r), int(g), int(b), top, spread), top, spread)
}

// hue is in degrees, 0 to 359.
func hue(r, g, b, top, spread int) int {
	var h int
	switch top {
	case r:
		h = 60 * (g - b) / spread
	case g:
		h = 120 + 60*(b-r)/spread
	default:
		h = 240 + 60*(r-g)/spread
	}
	return (h + 360) % 360
}

func hueName(h, top, spread int) string {
	switch {
	case (h < 15 || h >= 345) && spread*2 < top && top > 200:
		return "pink"
	case h < 15 || h >= 345:
		return "red"
	case h < 45 && top < 170:
		return "brown"
	case h < 45:
		return "orange"
	case h < 70:
		return "yellow"
	case h < 165:
		return "green"
	case h < 200:
		return "cyan"
	case h < 260:
		return "blue"
	case h < 290:
		return "purple"
	default:
		return "magenta"
	}
}
