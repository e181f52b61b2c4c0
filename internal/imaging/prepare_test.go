package imaging_test

import (
	"bytes"
	"image"
	"image/color"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/imaging"
	"tote/internal/imaging/imagingtest"
)

func TestPassesUnchanged(t *testing.T) {
	alpha := imagingtest.Corners(9, 9)
	alpha.SetNRGBA(1, 1, color.NRGBA{9, 9, 9, 9})
	files := map[string][]byte{
		"png rgb":       imagingtest.PNG(imagingtest.Photo(40, 30)),
		"png rgba":      imagingtest.PNG(alpha),
		"png tag 1":     imagingtest.PNGWithOrientation(imagingtest.Corners(9, 9), 1),
		"jpeg":          imagingtest.JPEG(imagingtest.Photo(40, 30), 0),
		"jpeg tag 1":    imagingtest.JPEG(imagingtest.Photo(40, 30), 1),
		"webp lossy":    fixture(t, "lossy.webp"),
		"webp lossless": fixture(t, "lossless.webp"),
		"own sample":    must(imaging.Sample()),
	}
	for name, data := range files {
		r := prepare(t, data, imaging.Default)
		if !r.Same || !bytes.Equal(r.Data, data) || len(r.Changes) != 0 {
			t.Errorf("%s: same %v, changes %v", name, r.Same, r.Changes)
		}
		if r.MIME != r.Source.MIME || r.Width != r.Source.Width || r.Frames != 1 {
			t.Errorf("%s: result %s %dx%d of %+v", name, r.MIME, r.Width, r.Height, r.Source)
		}
	}
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}

func TestOutputFormat(t *testing.T) {
	shot := imagingtest.Screenshot(1000, 700, 3)
	flat := imagingtest.PNG(imagingtest.Corners(2400, 1200))
	photo := imagingtest.JPEG(imagingtest.Photo(900, 700), 0)
	noisy := noise(700, 700, 255)
	ghost := noise(500, 500, 128)
	only := func(mimes ...string) imaging.Bounds {
		return imaging.Bounds{MaxEdge: 800, MaxBytes: 120_000, MIMEs: mimes}
	}
	tests := []struct {
		name    string
		data    []byte
		b       imaging.Bounds
		mime    string
		changes []imaging.Change
	}{
		{"flat stays png", flat, imaging.Default, "image/png", []imaging.Change{imaging.Shrunk}},
		{"screenshot with a photo", shot, only(), "image/jpeg", []imaging.Change{imaging.Shrunk, imaging.Converted, imaging.Recompressed}},
		{"photo", photo, only(), "image/jpeg", []imaging.Change{imaging.Shrunk, imaging.Recompressed}},
		{"photo as png only", photo, only("image/png"), "image/png", []imaging.Change{imaging.Shrunk, imaging.Converted, imaging.Recompressed}},
		{"opaque noise", noisy, only(), "image/jpeg", []imaging.Change{imaging.Shrunk, imaging.Converted, imaging.Recompressed}},
		{"transparent noise", ghost, only(), "image/png", []imaging.Change{imaging.Shrunk, imaging.Recompressed}},
		{"transparent noise as jpeg only", ghost, only("image/jpeg"), "image/jpeg", []imaging.Change{imaging.Converted, imaging.Flattened, imaging.Recompressed}},
		{"still gif", imagingtest.GIF(red), imaging.Default, "image/png", []imaging.Change{imaging.Converted, imaging.ColorConverted}},
		{"animated gif", imagingtest.AnimatedGIF(), imaging.Default, "image/png", []imaging.Change{imaging.Converted, imaging.FirstFrame, imaging.ColorConverted}},
		{"webp to png", fixture(t, "lossless.webp"), only("image/png"), "image/png", []imaging.Change{imaging.Converted}},
		{"lossy webp to jpeg", fixture(t, "lossy.webp"), only("image/png", "image/jpeg"), "image/jpeg", []imaging.Change{imaging.Converted, imaging.Recompressed}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := prepare(t, tt.data, tt.b)
			changes := r.Changes
			if tt.name == "transparent noise" {
				// Whether a smaller edge is enough without a palette is not the point.
				changes = slices.DeleteFunc(slices.Clone(changes), func(c imaging.Change) bool { return c == imaging.Recompressed })
				changes = append(changes, imaging.Recompressed)
			}
			if r.MIME != tt.mime || !cmp.Equal(changes, tt.changes) {
				t.Errorf("%s %v, want %s %v", r.MIME, r.Changes, tt.mime, tt.changes)
			}
			checkResult(t, tt.data, r, tt.b)
		})
	}
}

// noise returns a PNG that no encoder can make small.
func noise(w, h int, alpha uint8) []byte {
	rng := rand.New(rand.NewPCG(5, 5))
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = uint8(rng.Uint32())
		if i%4 == 3 {
			img.Pix[i] = alpha
		}
	}
	return imagingtest.PNG(img)
}

// checkResult holds what is true of every result: it keeps to the bounds, says
// the truth about itself, and passes through unchanged when prepared again.
func checkResult(t *testing.T, data []byte, r imaging.Result, b imaging.Bounds) {
	t.Helper()
	info, err := imaging.Measure(r.Data)
	if err != nil {
		t.Fatalf("measure result: %v", err)
	}
	if info.Width != r.Width || info.Height != r.Height || info.MIME != r.MIME {
		t.Errorf("result says %s %dx%d, is %+v", r.MIME, r.Width, r.Height, info)
	}
	accepted := b.MIMEs
	if len(accepted) == 0 {
		accepted = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
	}
	if !slices.Contains(accepted, r.MIME) {
		t.Errorf("%s is not accepted", r.MIME)
	}
	if b.MaxEdge > 0 && max(r.Width, r.Height) > b.MaxEdge || b.MaxBytes > 0 && int64(len(r.Data)) > b.MaxBytes ||
		b.MaxPixels > 0 && int64(r.Width)*int64(r.Height) > b.MaxPixels {
		t.Errorf("%dx%d in %d bytes is over %+v", r.Width, r.Height, len(r.Data), b)
	}
	if r.Same != bytes.Equal(r.Data, data) || r.Same != (len(r.Changes) == 0 && r.Detail == "") {
		t.Errorf("same %v, changes %v, %q", r.Same, r.Changes, r.Detail)
	}
	if info.Orientation != 1 || info.Frames != 1 || info.BitDepth != 8 {
		t.Errorf("result is %+v", info)
	}
	again := prepare(t, r.Data, b)
	if !again.Same {
		t.Errorf("prepared again: %v", again.Changes)
	}
	if twice := prepare(t, data, b); !bytes.Equal(twice.Data, r.Data) {
		t.Error("two calls, two results")
	}
}

func TestBoundsHold(t *testing.T) {
	files := map[string][]byte{
		"shot":  imagingtest.Screenshot(700, 500, 9),
		"noise": noise(300, 200, 200),
		"photo": imagingtest.JPEG(imagingtest.Photo(400, 300), 6),
		"line":  imagingtest.PNG(imagingtest.Photo(900, 1)),
		"gif":   imagingtest.AnimatedGIF(),
	}
	multiple := func(w, h int) (int, int) { return max(28, w/28*28), max(28, h/28*28) }
	bounds := []imaging.Bounds{
		{},
		{MaxEdge: 64},
		{MaxEdge: 301, MaxPixels: 5000},
		{MaxPixels: 1},
		{MaxPixels: 777, MIMEs: []string{"image/jpeg"}},
		{MaxBytes: 20_000},
		{MaxBytes: 3000},
		{MaxBytes: 3000, MIMEs: []string{"image/png"}},
		{MaxEdge: 500, MaxBytes: 30_000, Fit: multiple},
	}
	for name, data := range files {
		for _, b := range bounds {
			r := prepare(t, data, b)
			checkResult(t, data, r, b)
			if t.Failed() {
				t.Fatalf("%s with %+v", name, b)
			}
		}
	}
}

// A picture that cannot be made to fit is an error, not a picture over the limit.
func TestCannotFit(t *testing.T) {
	data := noise(40, 40, 255)
	for _, b := range []imaging.Bounds{{MaxBytes: 10}, {MaxEdge: 8, MIMEs: []string{"image/webp"}}} {
		_, err := imaging.Prepare(t.Context(), data, b)
		wantKind(t, err, imaging.CannotFit)
	}
}

func TestFitCannotEnlarge(t *testing.T) {
	data := imagingtest.PNG(imagingtest.Corners(30, 20))
	r := prepare(t, data, imaging.Bounds{Fit: func(w, h int) (int, int) { return w * 2, h * 2 }})
	if !r.Same {
		t.Errorf("changes %v, want none", r.Changes)
	}
	r = prepare(t, data, imaging.Bounds{Fit: func(int, int) (int, int) { return 0, -4 }})
	if r.Width != 1 || r.Height != 1 {
		t.Errorf("%dx%d, want 1x1", r.Width, r.Height)
	}
}

// A drawing that does not fit as true colour keeps sharp edges in a palette.
func TestPaletteBeforeQuality(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 900, 900))
	rng := rand.New(rand.NewPCG(2, 3))
	for i := 0; i < len(img.Pix); i += 4 {
		c := uint8(rng.Uint32()) & 0x80
		copy(img.Pix[i:], []byte{c + uint8(rng.Uint32())&7, c + uint8(rng.Uint32())&7, c + uint8(rng.Uint32())&7, 255})
	}
	b := imaging.Bounds{MaxBytes: 600_000}
	data := imagingtest.PNG(img)
	r := prepare(t, data, b)
	if info, err := imaging.Measure(r.Data); err != nil || info.Color != imaging.Palette {
		t.Errorf("result %+v, %v", info, err)
	}
	if r.Width != 900 || !cmp.Equal(r.Changes, []imaging.Change{imaging.Recompressed}) {
		t.Errorf("width %d, changes %v", r.Width, r.Changes)
	}
	checkResult(t, data, r, b)
}

func TestCrop(t *testing.T) {
	photo := imagingtest.Photo(120, 80)
	data := imagingtest.PNG(photo)
	region := image.Rect(17, 9, 17+40, 9+30)
	r, err := imaging.Show(t.Context(), data, imaging.View{Rect: imaging.Rect{X: 17, Y: 9, W: 40, H: 30}}, imaging.Default)
	if err != nil {
		t.Fatal(err)
	}
	if r.MIME != "image/png" || r.Same || len(r.Changes) != 0 || r.Source.Width != 120 {
		t.Errorf("crop: %s, same %v, %v, %+v", r.MIME, r.Same, r.Changes, r.Source)
	}
	samePixels(t, decode(t, r.Data), photo.(*image.RGBA).SubImage(region), 0)
	whole, err := imaging.Show(t.Context(), data, imaging.View{Rect: imaging.Rect{W: 120, H: 80}}, imaging.Default)
	if err != nil || !whole.Same {
		t.Errorf("whole picture: same %v, %v", whole.Same, err)
	}
	small, err := imaging.Show(t.Context(), data, imaging.View{Rect: imaging.Rect{X: 17, Y: 9, W: 40, H: 30}}, imaging.Bounds{MaxEdge: 20})
	if err != nil || small.Width != 20 || small.Height != 15 || small.Changes[0] != imaging.Shrunk {
		t.Errorf("small crop: %dx%d %v, %v", small.Width, small.Height, small.Changes, err)
	}
	for _, bad := range []imaging.Rect{{W: 1}, {X: -1, W: 2, H: 2}, {W: 121, H: 1}, {X: 119, W: 2, H: 1}, {Y: 80, W: 1, H: 1}, {X: 1, Y: 1, W: 1<<62 - 1, H: 1}} {
		_, err := imaging.Show(t.Context(), data, imaging.View{Rect: bad}, imaging.Default)
		wantKind(t, err, imaging.BadRegion)
	}
}

// A crop of every layout is the same part of the whole picture.
func TestCropLayouts(t *testing.T) {
	files := map[string][]byte{
		"jpeg": imagingtest.JPEG(imagingtest.Photo(50, 40), 0), "gif": imagingtest.GIF(red),
		"webp": fixture(t, "lossless-alpha.webp"), "palette": imagingtest.PNG(paletted(20, 30, 30)),
		"webp lossy": fixture(t, "lossy.webp"), "alpha": noise(30, 30, 77),
	}
	b := imaging.Bounds{MIMEs: []string{"image/png"}}
	for name, data := range files {
		whole := decode(t, prepare(t, data, b).Data)
		r, err := imaging.Show(t.Context(), data, imaging.View{Rect: imaging.Rect{X: 3, Y: 5, W: 11, H: 9}}, b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := decode(t, r.Data)
		for i := range 11 * 9 {
			if g, w := pixel(got, i%11, i/11), pixel(whole, 3+i%11, 5+i/11); g != w {
				t.Fatalf("%s: pixel %d,%d = %v, want %v", name, i%11, i/11, g, w)
			}
		}
	}
}

func TestDescribe(t *testing.T) {
	sight, err := imaging.Describe(t.Context(), imagingtest.JPEG(imagingtest.Corners(80, 40), 6))
	if err != nil || sight.Width != 40 || sight.Height != 80 || sight.MIME != "image/jpeg" || len(sight.Colors) != 3 {
		t.Fatalf("Describe = %+v, %v", sight, err)
	}
	names := map[color.NRGBA]string{
		red: "red", green: "green", blue: "blue", white: "white", {A: 255}: "black", {128, 128, 128, 255}: "gray",
		{255, 140, 0, 255}: "orange", {255, 255, 0, 255}: "yellow", {0, 255, 255, 255}: "cyan", {140, 0, 255, 255}: "purple",
		{120, 70, 20, 255}: "brown", {255, 182, 193, 255}: "pink", {255, 0, 255, 255}: "magenta", {}: "transparent",
	}
	for c, want := range names {
		img := image.NewNRGBA(image.Rect(0, 0, 700, 3))
		for i := 0; i < len(img.Pix); i += 4 {
			copy(img.Pix[i:], []byte{c.R, c.G, c.B, c.A})
		}
		sight, err := imaging.Describe(t.Context(), imagingtest.PNG(img))
		if err != nil {
			t.Fatal(err)
		}
		want := []imaging.NamedColor{{Name: want, R: c.R, G: c.G, B: c.B, Share: 1}}
		if diff := cmp.Diff(want, sight.Colors); diff != "" {
			t.Errorf("%v: %s", c, diff)
		}
	}
	_, err = imaging.Describe(t.Context(), imagingtest.Truncated(imagingtest.AnimatedGIF()))
	wantKind(t, err, imaging.Damaged)
}

func TestProbe(t *testing.T) {
	data := must(imaging.Probe("a7-Z"))
	if !bytes.Equal(data, must(imaging.Probe("A7-Z"))) || bytes.Equal(data, must(imaging.Probe("A1-Z"))) {
		t.Error("the picture does not follow the code")
	}
	if r := prepare(t, data, imaging.Default); !r.Same || r.Width != 320 || r.Height != 160 {
		t.Errorf("probe is changed: %v", r.Changes)
	}
	img := decode(t, data)
	if !near(pixel(img, 80, 122), red, 40) || !near(pixel(img, 240, 122), blue, 70) || pixel(img, 0, 0) != white {
		t.Error("circle, square or background has the wrong colour")
	}
	for _, bad := range []string{"", "ABCDEFGHIJK", "é", "a_b"} {
		if _, err := imaging.Probe(bad); err == nil {
			t.Errorf("Probe(%q): no error", bad)
		}
	}
	for _, code := range []string{"0123456789", "ABCDEFGHIJ", "KLMNOPQRST", "UVWXYZ- 0", "8"} {
		must(imaging.Probe(code))
	}
}

func TestSample(t *testing.T) {
	data := must(imaging.Sample())
	if len(data) > 60_000 || !bytes.Equal(data, must(imaging.Sample())) {
		t.Errorf("sample of %d bytes", len(data))
	}
}

func TestGeneratorSizes(t *testing.T) {
	if n := len(imagingtest.Screenshot(3840, 2400, 1)); n < 6_500_000 || n > 7_600_000 {
		t.Errorf("screenshot of %d bytes, want about 7 MB", n)
	}
}
