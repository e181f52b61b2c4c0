package imaging

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// canvas is a raster that is drawn on.
type canvas struct{ raster }

func newCanvas(w, h int, r, g, b byte) *canvas {
	c := &canvas{raster{w: w, h: h, pix: make([]byte, 4*w*h), opaque: true}}
	c.fill(0, 0, w, h, r, g, b)
	return c
}

func (c *canvas) fill(x, y, w, h int, r, g, b byte) {
	for py := max(0, y); py < min(c.h, y+h); py++ {
		for px := max(0, x); px < min(c.w, x+w); px++ {
			copy(c.pix[4*(py*c.w+px):], []byte{r, g, b, 255})
		}
	}
}

func (c *canvas) disc(cx, cy, radius int, r, g, b byte) {
	for y := -radius; y <= radius; y++ {
		for x := -radius; x <= radius; x++ {
			if x*x+y*y <= radius*radius {
				c.fill(cx+x, cy+y, 1, 1, r, g, b)
			}
		}
	}
}

// glyphs are 5x7 letter forms: five columns, the lowest bit on top.
var glyphs = map[rune][5]byte{
	'0': {0x3e, 0x51, 0x49, 0x45, 0x3e}, '1': {0x00, 0x42, 0x7f, 0x40, 0x00}, '2': {0x42, 0x61, 0x51, 0x49, 0x46},
	'3': {0x21, 0x41, 0x45, 0x4b, 0x31}, '4': {0x18, 0x14, 0x12, 0x7f, 0x10}, '5': {0x27, 0x45, 0x45, 0x45, 0x39},
	'6': {0x3c, 0x4a, 0x49, 0x49, 0x30}, '7': {0x01, 0x71, 0x09, 0x05, 0x03}, '8': {0x36, 0x49, 0x49, 0x49, 0x36},
	'9': {0x06, 0x49, 0x49, 0x29, 0x1e}, 'A': {0x7e, 0x11, 0x11, 0x11, 0x7e}, 'B': {0x7f, 0x49, 0x49, 0x49, 0x36},
	'C': {0x3e, 0x41, 0x41, 0x41, 0x22}, 'D': {0x7f, 0x41, 0x41, 0x22, 0x1c}, 'E': {0x7f, 0x49, 0x49, 0x49, 0x41},
	'F': {0x7f, 0x09, 0x09, 0x09, 0x01}, 'G': {0x3e, 0x41, 0x49, 0x49, 0x7a}, 'H': {0x7f, 0x08, 0x08, 0x08, 0x7f},
	'I': {0x00, 0x41, 0x7f, 0x41, 0x00}, 'J': {0x20, 0x40, 0x41, 0x3f, 0x01}, 'K': {0x7f, 0x08, 0x14, 0x22, 0x41},
	'L': {0x7f, 0x40, 0x40, 0x40, 0x40}, 'M': {0x7f, 0x02, 0x0c, 0x02, 0x7f}, 'N': {0x7f, 0x04, 0x08, 0x10, 0x7f},
	'O': {0x3e, 0x41, 0x41, 0x41, 0x3e}, 'P': {0x7f, 0x09, 0x09, 0x09, 0x06}, 'Q': {0x3e, 0x41, 0x51, 0x21, 0x5e},
	'R': {0x7f, 0x09, 0x19, 0x29, 0x46}, 'S': {0x46, 0x49, 0x49, 0x49, 0x31}, 'T': {0x01, 0x01, 0x7f, 0x01, 0x01},
	'U': {0x3f, 0x40, 0x40, 0x40, 0x3f}, 'V': {0x1f, 0x20, 0x40, 0x20, 0x1f}, 'W': {0x3f, 0x40, 0x38, 0x40, 0x3f},
	'X': {0x63, 0x14, 0x08, 0x14, 0x63}, 'Y': {0x07, 0x08, 0x70, 0x08, 0x07}, 'Z': {0x61, 0x51, 0x49, 0x45, 0x43},
	'-': {0x08, 0x08, 0x08, 0x08, 0x08}, ' ': {},
}

// text draws upper-case letters, digits, dashes and spaces; others are left blank.
func (c *canvas) text(x, y, scale int, s string, r, g, b byte) {
	for _, letter := range s {
		for column, bits := range glyphs[letter] {
			for line := range 7 {
				if bits>>line&1 != 0 {
					c.fill(x+column*scale, y+line*scale, scale, scale, r, g, b)
				}
			}
		}
		x += 6 * scale
	}
}

// Size of the probe picture and the most letters it holds legibly.
const (
	probeWidth   = 320
	probeHeight  = 160
	probeLetters = 10
)

// Probe draws a small PNG with the code in large black letters on white, a red
// circle below on the left and a blue square below on the right. It serves to
// find out whether a model sees. The code may hold up to ten of A-Z, 0-9, dash
// and space; small letters are drawn as capitals.
func Probe(code string) ([]byte, error) {
	code = strings.ToUpper(code)
	if code == "" || len(code) > probeLetters {
		return nil, fmt.Errorf("draw probe: code of %d letters, want 1 to %d", len(code), probeLetters)
	}
	for _, letter := range code {
		if _, ok := glyphs[letter]; !ok {
			return nil, fmt.Errorf("draw probe: no letter form for %q", letter)
		}
	}
	c := newCanvas(probeWidth, probeHeight, 255, 255, 255)
	scale := min(11, (probeWidth-16)/(6*len(code)-1))
	width := (6*len(code) - 1) * scale
	c.text((probeWidth-width)/2, 10+(77-7*scale)/2, scale, code, 0, 0, 0)
	c.disc(80, 122, 28, 220, 20, 20)
	c.fill(212, 94, 56, 56, 20, 60, 220)
	return pngTrueColor(&c.raster, 0).data, nil
}

// Sample draws a picture that looks like a screenshot: two windows, lines of
// writing, a bar chart and a circle. It is the same at every call.
func Sample() ([]byte, error) {
	c := newCanvas(800, 500, 28, 60, 110)
	c.window(30, 30, 440, 400, "EDITOR", 40, 44, 52)
	rng := rand.New(rand.NewPCG(7, 11))
	inks := [][3]byte{{198, 120, 221}, {97, 175, 239}, {152, 195, 121}, {229, 192, 123}, {171, 178, 191}}
	for line := range 21 {
		x := 50 + 20*rng.IntN(4)
		for word := range 2 + rng.IntN(4) {
			ink := inks[(word+line)%len(inks)]
			w := 24 + rng.IntN(60)
			if x+w > 455 {
				break
			}
			c.fill(x, 72+line*17, w, 7, ink[0], ink[1], ink[2])
			x += w + 8
		}
	}
	c.window(420, 110, 350, 300, "REPORT", 250, 250, 250)
	bars := [][3]byte{{214, 39, 40}, {255, 127, 14}, {44, 160, 44}, {31, 119, 180}, {148, 103, 189}}
	for i, bar := range bars {
		height := 50 + 30*((i*3)%5)
		c.fill(445+i*38, 380-height, 28, height, bar[0], bar[1], bar[2])
	}
	c.fill(440, 380, 195, 2, 60, 60, 60)
	c.disc(695, 260, 50, 214, 39, 40)
	c.disc(695, 260, 24, 250, 250, 250)
	c.text(440, 150, 3, "BUILD 42 OK", 20, 20, 20)
	c.fill(0, 464, 800, 36, 18, 18, 24)
	c.text(16, 474, 2, "TOTE SAMPLE", 230, 230, 230)
	return pngTrueColor(&c.raster, 0).data, nil
}

func (c *canvas) window(x, y, w, h int, title string, r, g, b byte) {
	c.fill(x-1, y-1, w+2, h+2, 10, 10, 14)
	c.fill(x, y, w, 28, 70, 76, 90)
	c.fill(x, y+28, w, h-28, r, g, b)
	c.disc(x+16, y+14, 6, 255, 95, 86)
	c.disc(x+34, y+14, 6, 255, 189, 46)
	c.disc(x+52, y+14, 6, 39, 201, 63)
	c.text(x+76, y+7, 2, title, 235, 235, 235)
}
