package imaging_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/imaging"
	"tote/internal/imaging/imagingtest"
)

func TestMarked(t *testing.T) {
	was := spots(80, 60)
	now := spots(80, 60)
	now.SetNRGBA(30, 20, color.NRGBA{R: 7, G: 7, B: 7, A: 255})
	now.SetNRGBA(41, 29, color.NRGBA{R: 3 * 41, G: 5*29 + 9, B: (41 * 29) & 255, A: 255})
	r, d, err := imaging.Marked(t.Context(), imagingtest.PNG(was), imagingtest.PNG(now), imaging.Default)
	if err != nil {
		t.Fatal(err)
	}
	want := imaging.Difference{
		A: image.Pt(80, 60), B: image.Pt(80, 60), Counted: true, Pixels: 2, Box: imaging.Rect{X: 30, Y: 20, W: 12, H: 10}, Most: 93,
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("difference (-want +got):\n%s", diff)
	}
	got := decode(t, r.Data)
	for _, p := range []image.Point{{30, 20}, {41, 29}} {
		if c := pixel(got, p.X, p.Y); c != (color.NRGBA{R: 255, A: 255}) {
			t.Errorf("%v is %v", p, c)
		}
	}
	if c := pixel(got, 35, 25); c.R < 170 || c.G < 170 || c.B < 170 {
		t.Errorf("what is alike is %v", c)
	}
	if c := pixel(got, 26, 24); c != (color.NRGBA{B: 255, A: 255}) {
		t.Errorf("the frame is %v", c)
	}
}

// A single pixel stays marked in a copy that is shrunk a lot.
func TestMarkedWhenShrunk(t *testing.T) {
	was, now := imagingtest.Corners(1200, 800), imagingtest.Corners(1200, 800)
	now.SetNRGBA(601, 401, color.NRGBA{R: 1, G: 2, B: 3, A: 255})
	r, d, err := imaging.Marked(t.Context(), imagingtest.PNG(was), imagingtest.PNG(now), imaging.Bounds{MaxEdge: 120, MIMEs: []string{"image/png"}})
	if err != nil || d.Pixels != 1 || r.Width != 120 {
		t.Fatalf("%+v, %v", d, err)
	}
	if c := pixel(decode(t, r.Data), 60, 40); c != (color.NRGBA{R: 255, A: 255}) {
		t.Errorf("the pixel is %v", c)
	}
}

func TestMarkedAlike(t *testing.T) {
	img := spots(40, 30)
	other := imagingtest.PNGWithOrientation(turnedBack(img), 6)
	for name, b := range map[string][]byte{"same file": imagingtest.PNG(img), "stored on its side": other} {
		_, d, err := imaging.Marked(t.Context(), imagingtest.PNG(img), b, imaging.Default)
		if err != nil || !d.Identical() || d.Box != (imaging.Rect{}) {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	hidden := image.NewNRGBA(image.Rect(0, 0, 2, 2))
	coloured := image.NewNRGBA(image.Rect(0, 0, 2, 2))
	coloured.Pix[0] = 200
	if _, d, err := imaging.Marked(t.Context(), imagingtest.PNG(hidden), imagingtest.PNG(coloured), imaging.Default); err != nil || !d.Identical() {
		t.Errorf("colour that nobody sees: %+v, %v", d, err)
	}
}

// turnedBack stores a picture so that orientation 6 shows it upright.
func turnedBack(img *image.NRGBA) *image.NRGBA {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	out := image.NewNRGBA(image.Rect(0, 0, h, w))
	for y := range h {
		for x := range w {
			out.SetNRGBA(y, w-1-x, img.NRGBAAt(x, y))
		}
	}
	return out
}

func TestCompareRefuses(t *testing.T) {
	a, b := imagingtest.PNG(spots(40, 30)), imagingtest.PNG(spots(40, 31))
	_, d, err := imaging.Marked(t.Context(), a, b, imaging.Default)
	wantKind(t, err, imaging.SizesDiffer)
	if d.A != image.Pt(40, 30) || d.B != image.Pt(40, 31) || d.Counted {
		t.Errorf("%+v", d)
	}
	for _, bad := range [][]byte{nil, []byte("x"), imagingtest.Truncated(a)} {
		for _, pair := range [][2][]byte{{a, bad}, {bad, a}} {
			if _, _, err := imaging.Marked(t.Context(), pair[0], pair[1], imaging.Default); err == nil {
				t.Error("a damaged picture was marked")
			}
			if _, _, err := imaging.SideBySide(t.Context(), pair[0], pair[1], imaging.Default); err == nil {
				t.Error("a damaged picture was set beside another")
			}
		}
	}
	c, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := imaging.SideBySide(c, a, b, imaging.Default); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestSideBySide(t *testing.T) {
	a, b := spots(40, 30), spots(20, 60)
	r, d, err := imaging.SideBySide(t.Context(), imagingtest.PNG(a), imagingtest.PNG(b), imaging.Default)
	if err != nil || d.Counted || d.A != image.Pt(40, 30) || d.B != image.Pt(20, 60) {
		t.Fatalf("%+v, %v", d, err)
	}
	if r.Width != 80+12+20 || r.Height != 60 {
		t.Fatalf("%dx%d", r.Width, r.Height)
	}
	got := decode(t, r.Data)
	for _, p := range []struct {
		x, y int
		want color.NRGBA
	}{
		{10, 10, a.NRGBAAt(5, 5)},
		{79, 59, a.NRGBAAt(39, 29)},
		{92, 0, b.NRGBAAt(0, 0)},
		{111, 59, b.NRGBAAt(19, 59)},
		{81, 30, color.NRGBA{R: 255, G: 255, B: 255, A: 255}},
		{85, 30, color.NRGBA{A: 255}},
		{91, 30, color.NRGBA{R: 255, G: 255, B: 255, A: 255}},
	} {
		if c := pixel(got, p.x, p.y); c != p.want {
			t.Errorf("%d,%d = %v, want %v", p.x, p.y, c, p.want)
		}
	}
	_, d, err = imaging.SideBySide(t.Context(), imagingtest.PNG(a), imagingtest.PNG(a), imaging.Default)
	if err != nil || !d.Identical() {
		t.Errorf("same picture: %+v, %v", d, err)
	}
}

// Whatever the sizes, the result keeps to the bounds.
func TestSideBySideIsBounded(t *testing.T) {
	for _, s := range [][4]int{{1500, 1000, 1500, 1000}, {3000, 10, 10, 3000}, {1, 3000, 1, 1}, {1, 1, 1, 1}, {3000, 1, 3000, 1}, {2, 5, 3000, 1}} {
		r, _, err := imaging.SideBySide(t.Context(), imagingtest.PNG(imagingtest.Corners(s[0], s[1])), imagingtest.PNG(imagingtest.Corners(s[2], s[3])), imaging.Default)
		if err != nil || r.Width > 2000 || r.Height > 2000 || int64(len(r.Data)) > imaging.Default.MaxBytes {
			t.Errorf("%v: %dx%d, %d bytes, %v", s, r.Width, r.Height, len(r.Data), err)
		}
	}
}

func BenchmarkMarked(b *testing.B) {
	was, now := imagingtest.Screenshot(1920, 1080, 1), imagingtest.Screenshot(1920, 1080, 2)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := imaging.Marked(b.Context(), was, now, imaging.Default); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSideBySide(b *testing.B) {
	was, now := imagingtest.Screenshot(1920, 1080, 1), imagingtest.Screenshot(1920, 1080, 2)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := imaging.SideBySide(b.Context(), was, now, imaging.Default); err != nil {
			b.Fatal(err)
		}
	}
}
