package imaging_test

import (
	"testing"

	"tote/internal/imaging"
	"tote/internal/imaging/imagingtest"
)

func benchmark(b *testing.B, data []byte) {
	b.Helper()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := imaging.Prepare(b.Context(), data, imaging.Default); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPrepareScreenshot(b *testing.B) { benchmark(b, imagingtest.Screenshot(3840, 2400, 1)) }

func BenchmarkPreparePhoto(b *testing.B) {
	benchmark(b, imagingtest.JPEG(imagingtest.Photo(3000, 2000), 6))
}

func BenchmarkPrepareFlat(b *testing.B) {
	benchmark(b, imagingtest.PNG(imagingtest.Corners(3840, 2400)))
}

func BenchmarkPassThrough(b *testing.B) {
	benchmark(b, imagingtest.JPEG(imagingtest.Photo(800, 600), 0))
}

func BenchmarkMeasure(b *testing.B) {
	data := imagingtest.JPEG(imagingtest.Corners(600, 400), 6)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := imaging.Measure(data); err != nil {
			b.Fatal(err)
		}
	}
}
