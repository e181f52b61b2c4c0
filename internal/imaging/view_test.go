package imaging_test

import (
	"image"
	"image/color"
	"strconv"
	"testing"

	"tote/internal/imaging"
	"tote/internal/imaging/imagingtest"
)

// spots is a picture in which every pixel says where it is.
func spots(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetNRGBA(x, y, color.NRGBA{R: uint8(3 * x), G: uint8(5 * y), B: uint8(x * y), A: 255})
		}
	}
	return img
}

func show(t *testing.T, data []byte, v imaging.View, b imaging.Bounds) imaging.Result {
	t.Helper()
	r, err := imaging.Show(t.Context(), data, v, b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A view turned and enlarged holds the pixels of the upright picture, whichever
// way the file stores it.
func TestShow(t *testing.T) {
	const x0, y0, w, h = 3, 7, 11, 5
	for orientation := 1; orientation <= 8; orientation++ {
		data := imagingtest.PNGWithOrientation(spots(40, 30), orientation)
		upright := decode(t, prepare(t, data, imaging.Default).Data)
		for _, rotate := range []int{0, 90, 180, 270} {
			for _, zoom := range []int{0, 1, 2, 5, 8} {
				t.Run(strconv.Itoa(orientation)+"/"+strconv.Itoa(rotate)+"/"+strconv.Itoa(zoom), func(t *testing.T) {
					v := imaging.View{Rect: imaging.Rect{X: x0, Y: y0, W: w, H: h}, Rotate: rotate, Zoom: zoom}
					r := show(t, data, v, imaging.Default)
					k := max(1, zoom)
					if max(1, r.Zoom) != k {
						t.Errorf("zoom = %d", r.Zoom)
					}
					got := decode(t, r.Data)
					for y := range h * k {
						for x := range w * k {
							px, py := turnedPoint(rotate, x, y, w*k, h*k)
							if g, want := pixel(got, px, py), pixel(upright, x0+x/k, y0+y/k); g != want {
								t.Fatalf("%d,%d of the region = %v, want %v", x, y, g, want)
							}
						}
					}
				})
			}
		}
	}
}

// turnedPoint is where a pixel of a picture of w x h goes.
func turnedPoint(degrees, x, y, w, h int) (int, int) {
	for ; degrees > 0; degrees -= 90 {
		x, y, w, h = h-1-y, x, h, w
	}
	return x, y
}

func TestShowWhole(t *testing.T) {
	data := imagingtest.PNG(spots(40, 30))
	if r := show(t, data, imaging.View{}, imaging.Default); !r.Same {
		t.Error("the whole picture is encoded anew")
	}
	if r := show(t, data, imaging.View{Rotate: 90}, imaging.Default); r.Width != 30 || r.Height != 40 || r.Same || len(r.Changes) != 0 {
		t.Errorf("turned: %dx%d %v", r.Width, r.Height, r.Changes)
	}
	if r := show(t, data, imaging.View{Zoom: 3}, imaging.Default); r.Width != 120 || r.Height != 90 || r.Zoom != 3 {
		t.Errorf("enlarged: %dx%d %d", r.Width, r.Height, r.Zoom)
	}
}

// What would be too large is enlarged less, and what is too large already is
// shrunk.
func TestZoomIsBounded(t *testing.T) {
	for name, tt := range map[string]struct {
		w, h, zoom, wantZoom, wantW int
		b                           imaging.Bounds
	}{
		"fits":          {100, 50, 4, 4, 400, imaging.Bounds{MaxEdge: 400}},
		"one too large": {101, 50, 4, 3, 303, imaging.Bounds{MaxEdge: 400}},
		"not at all":    {100, 50, 8, 0, 100, imaging.Bounds{MaxEdge: 150}},
		"shrunk":        {100, 50, 8, 0, 50, imaging.Bounds{MaxEdge: 50}},
		"no bounds":     {3600, 3500, 2, 0, 3600, imaging.Bounds{MIMEs: []string{"image/jpeg"}}},
	} {
		t.Run(name, func(t *testing.T) {
			data := imagingtest.PNG(imagingtest.Corners(tt.w, tt.h))
			if r := show(t, data, imaging.View{Zoom: tt.zoom}, tt.b); r.Zoom != tt.wantZoom || r.Width != tt.wantW {
				t.Errorf("zoom %d, width %d", r.Zoom, r.Width)
			}
		})
	}
	data := noise(300, 300, 255)
	r := show(t, data, imaging.View{Zoom: 6}, imaging.Bounds{MaxBytes: 60_000})
	if len(r.Data) > 60_000 {
		t.Errorf("%d bytes", len(r.Data))
	}
	if w := max(1, r.Zoom) * 300; r.Width > w {
		t.Errorf("zoom %d, width %d", r.Zoom, r.Width)
	}
}

func TestShowRefuses(t *testing.T) {
	data := imagingtest.PNG(spots(40, 30))
	for _, v := range []imaging.View{{Rotate: 45}, {Rotate: -90}, {Rotate: 360}, {Zoom: -1}, {Zoom: 9}, {Rect: imaging.Rect{X: 1}}} {
		_, err := imaging.Show(t.Context(), data, v, imaging.Default)
		wantKind(t, err, imaging.BadRegion)
	}
}

func BenchmarkShow(b *testing.B) {
	data := imagingtest.Screenshot(3840, 2400, 1)
	v := imaging.View{Rect: imaging.Rect{X: 1000, Y: 700, W: 400, H: 300}, Rotate: 90, Zoom: 4}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := imaging.Show(b.Context(), data, v, imaging.Default); err != nil {
			b.Fatal(err)
		}
	}
}
