package imaging

import "fmt"

// MaxDecodePixels is the largest width times height that is ever decoded.
const MaxDecodePixels = 50_000_000

// MaxDecodeBytes is the most memory that a decoded picture may take: that of
// MaxDecodePixels at four bytes each. Pictures of 16 bits a sample take eight, so
// they reach it at half as many pixels.
const MaxDecodeBytes = 4 * MaxDecodePixels

// Info is what the header of a picture says.
type Info struct {
	Format                    Format
	MIME                      string
	Width, Height             int // as displayed, after orientation; 0 when the header could not be read for a format without decoder
	StoredWidth, StoredHeight int // as stored
	Orientation               int // EXIF orientation 1 to 8
	BitDepth                  int // bits a sample, before any palette
	Color                     Color
	Alpha                     bool // the file can hold transparency
	Frames                    int  // 1 = still; counted exactly for GIF, APNG and WebP; pages for TIFF
}

// header is Info plus what decoding needs to know.
type header struct {
	Info
	unsupported string    // why no decoder here takes it, empty when one does
	lossless    bool      // the file stores exact pixels
	cut         string    // what is missing at the end, seen without decoding
	pixels      int64     // the most pixels any picture stream in the file announces
	spoils      spoils    // PNG: what is damaged and can be left out
	plainCMYK   bool      // CMYK JPEG without Adobe marker: values not inverted
	frame       webpFrame // WebP: the first frame
	frameX      int       // WebP: place of the first frame on the canvas
	frameY      int
}

// Measure reads the header of a picture. It does not decode pixels, does not
// allocate in proportion to them, and never panics. Errors are *Error.
func Measure(data []byte) (Info, error) {
	h, err := measure(data)
	if err != nil {
		return Info{}, err
	}
	return h.Info, nil
}

func measure(data []byte) (header, error) {
	if len(data) == 0 {
		return header{}, &Error{Kind: Empty}
	}
	f := Sniff(data)
	h := header{Info: Info{Format: f, MIME: f.MIME(), Orientation: 1, BitDepth: 8, Color: RGB, Frames: 1}}
	var err error
	switch f {
	case PNG:
		err = h.readPNG(data)
	case JPEG:
		err = h.readJPEG(data)
	case GIF:
		err = h.readGIF(data)
	case WebP:
		err = h.readWebP(data)
	case BMP:
		err = h.readBMP(data)
	case TIFF:
		err = h.readTIFF(data)
	case HEIC, AVIF:
		h.unsupported = "no decoder for " + f.String() + " here"
		h.StoredWidth, h.StoredHeight = isoSize(data)
	case JXL:
		h.unsupported = "no decoder for jxl here"
	case ICO:
		h.unsupported = "no decoder for ico here"
		h.StoredWidth, h.StoredHeight = icoSize(data)
	default:
		err = &Error{Kind: NotPicture}
	}
	if err != nil {
		return header{}, err
	}
	h.finish()
	return h, nil
}

// finish derives the displayed size and the pixel count.
func (h *header) finish() {
	if h.Orientation < 1 || h.Orientation > 8 {
		h.Orientation = 1
	}
	h.Width, h.Height = h.StoredWidth, h.StoredHeight
	if h.Orientation >= 5 {
		h.Width, h.Height = h.Height, h.Width
	}
	h.pixels = max(h.pixels, int64(h.StoredWidth)*int64(h.StoredHeight))
}

// setSize refuses sizes that are zero or would not fit an int32, so that
// products of two sides fit an int64.
func (h *header) setSize(w, ht uint64) error {
	if w == 0 || ht == 0 || w > 1<<31-1 || ht > 1<<31-1 {
		return damaged(h.Format, "size of %d x %d", w, ht)
	}
	h.StoredWidth, h.StoredHeight = int(w), int(ht)
	return nil
}

// decodable says whether the picture may be handed to a decoder.
func (h *header) decodable() error {
	switch {
	case h.unsupported != "":
		return &Error{Kind: Unsupported, Format: h.Format, Detail: h.unsupported}
	case h.pixels > MaxDecodePixels:
		return &Error{Kind: TooManyPixels, Format: h.Format, Detail: fmt.Sprintf(
			"%d x %d is %.1f megapixels, the limit is %d", h.StoredWidth, h.StoredHeight,
			float64(h.pixels)/1e6, MaxDecodePixels/1_000_000)}
	case h.BitDepth > 8 && 8*h.pixels > MaxDecodeBytes:
		return &Error{Kind: TooManyPixels, Format: h.Format, Detail: fmt.Sprintf(
			"%d x %d at %d bits takes %d MB to decode, the limit is %d", h.StoredWidth, h.StoredHeight, h.BitDepth,
			8*h.pixels/1_000_000, MaxDecodeBytes/1_000_000)}
	case h.cut != "":
		return damaged(h.Format, "%s", h.cut)
	default:
		return nil
	}
}
