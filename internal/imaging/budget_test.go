package imaging_test

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"tote/internal/imaging"
	"tote/internal/imaging/imagingtest"
)

// TestDeepPicturesCountTwice: a picture of 16 bits a sample takes twice the
// memory of one of 8, so it is refused at half as many pixels.
func TestDeepPicturesCountTwice(t *testing.T) {
	for _, c := range []struct {
		w, h  uint32
		depth byte
		kind  imaging.Kind
	}{
		{7000, 7100, 16, imaging.TooManyPixels}, {7000, 7100, 8, imaging.Damaged}, {4900, 5000, 16, imaging.Damaged}, {7100, 7100, 8, imaging.TooManyPixels},
	} {
		data := imagingtest.PNG(imagingtest.Corners(8, 6))
		binary.BigEndian.PutUint32(data[16:], c.w)
		binary.BigEndian.PutUint32(data[20:], c.h)
		data[24] = c.depth
		binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
		_, err := imaging.Prepare(t.Context(), data, imaging.Default)
		var e *imaging.Error
		if !errors.As(err, &e) || e.Kind != c.kind {
			t.Errorf("%d x %d at %d bits: %v, want %v", c.w, c.h, c.depth, err, c.kind)
		}
	}
}
