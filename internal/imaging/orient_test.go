package imaging_test

import (
	"encoding/binary"
	"fmt"
	"image/color"
	"slices"
	"strings"
	"testing"

	"tote/internal/imaging"
	"tote/internal/imaging/imagingtest"
)

// displayed lists, for each orientation, where the red, green, blue and yellow
// quarters are seen, read as a page is.
var displayed = [9]string{1: "RGBY", 2: "GRYB", 3: "YBGR", 4: "BYRG", 5: "RBGY", 6: "BRYG", 7: "YGBR", 8: "GYRB"}

var inks = map[rune]color.NRGBA{
	'R': {255, 0, 0, 255}, 'G': {0, 255, 0, 255}, 'B': {0, 0, 255, 255}, 'Y': {255, 255, 0, 255},
}

func corners(t *testing.T, data []byte) string {
	t.Helper()
	img := decode(t, data)
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	var seen strings.Builder
	for _, at := range [4][2]int{{2, 2}, {w - 3, 2}, {2, h - 3}, {w - 3, h - 3}} {
		letter := '?'
		for l, ink := range inks {
			if near(pixel(img, at[0], at[1]), ink, 40) {
				letter = l
			}
		}
		seen.WriteRune(letter)
	}
	return seen.String()
}

func TestOrientation(t *testing.T) {
	picture := imagingtest.Corners(40, 20)
	makers := map[string]func(o int) []byte{
		"jpeg":          func(o int) []byte { return imagingtest.JPEG(picture, o) },
		"png":           func(o int) []byte { return imagingtest.PNGWithOrientation(picture, o) },
		"webp lossy":    func(o int) []byte { return imagingtest.WebPWithOrientation(fixture(t, "lossy.webp"), 40, 20, o) },
		"webp lossless": func(o int) []byte { return imagingtest.WebPWithOrientation(fixture(t, "lossless.webp"), 40, 20, o) },
		"tiff II":       func(o int) []byte { return tiffFile(picture, binary.LittleEndian, o, 1) },
		"tiff MM":       func(o int) []byte { return tiffFile(picture, binary.BigEndian, o, 1) },
	}
	for name, maker := range makers {
		for o := 1; o <= 8; o++ {
			t.Run(fmt.Sprintf("%s %d", name, o), func(t *testing.T) {
				data := maker(o)
				w, h := 40, 20
				if o >= 5 {
					w, h = 20, 40
				}
				info, err := imaging.Measure(data)
				if err != nil {
					t.Fatal(err)
				}
				if info.Width != w || info.Height != h || info.StoredWidth != 40 || info.Orientation != o {
					t.Errorf("Measure = %+v, want %dx%d", info, w, h)
				}
				r := prepare(t, data, imaging.Default)
				if got := corners(t, r.Data); got != displayed[o] {
					t.Errorf("corners = %s, want %s", got, displayed[o])
				}
				if r.Width != w || r.Height != h {
					t.Errorf("result is %dx%d, want %dx%d", r.Width, r.Height, w, h)
				}
				if out, err := imaging.Measure(r.Data); err != nil || out.Orientation != 1 {
					t.Errorf("output orientation = %d, %v", out.Orientation, err)
				}
				if got := slices.Contains(r.Changes, imaging.Oriented); got != (o != 1) {
					t.Errorf("changes = %v", r.Changes)
				}
			})
		}
	}
}

func TestOrientationOutOfRangeIsUpright(t *testing.T) {
	for _, o := range []int{9, 255, 65535} {
		data := imagingtest.JPEG(imagingtest.Corners(40, 20), o)
		if r := prepare(t, data, imaging.Default); !r.Same {
			t.Errorf("orientation %d: changes %v, want none", o, r.Changes)
		}
	}
}

// A shrunk picture is turned as well, and its size is that of the turned one.
func TestOrientationWhenShrunk(t *testing.T) {
	for o := 1; o <= 8; o++ {
		r := prepare(t, imagingtest.PNGWithOrientation(imagingtest.Corners(400, 200), o), imaging.Bounds{MaxEdge: 100})
		if got := corners(t, r.Data); got != displayed[o] {
			t.Errorf("orientation %d: corners %s, want %s", o, got, displayed[o])
		}
		if o < 5 && (r.Width != 100 || r.Height != 50) || o >= 5 && (r.Width != 50 || r.Height != 100) {
			t.Errorf("orientation %d: %dx%d", o, r.Width, r.Height)
		}
	}
}

// Crop coordinates are those of the picture as displayed.
func TestCropFollowsOrientation(t *testing.T) {
	for o := 1; o <= 8; o++ {
		data := imagingtest.PNGWithOrientation(imagingtest.Corners(40, 20), o)
		info, err := imaging.Measure(data)
		if err != nil {
			t.Fatal(err)
		}
		w, h := info.Width/2, info.Height/2
		for i, at := range [4][2]int{{0, 0}, {w, 0}, {0, h}, {w, h}} {
			r, err := imaging.Show(t.Context(), data, imaging.View{Rect: imaging.Rect{X: at[0], Y: at[1], W: w, H: h}}, imaging.Default)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Repeat(displayed[o][i:i+1], 4)
			if got := corners(t, r.Data); got != want || r.Width != w || r.Height != h {
				t.Errorf("orientation %d, quarter %d: %s %dx%d, want %s", o, i, got, r.Width, r.Height, want)
			}
		}
	}
}
