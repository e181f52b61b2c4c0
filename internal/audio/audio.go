package audio

import (
	"errors"
	"math"
	"strings"
	"time"
)

// Info is what the headers of a sound file say.
type Info struct {
	MIME       string        // normalised media type
	Duration   time.Duration // 0 = unknown
	Channels   int           // 0 = unknown
	SampleRate int           // in Hz, 0 = unknown
}

// Media types in normalised form.
const (
	WAV  = "audio/wav"
	MPEG = "audio/mpeg"
	Ogg  = "audio/ogg"
	FLAC = "audio/flac"
	MP4  = "audio/mp4"
	WebM = "audio/webm"
)

// Errors of Measure.
var (
	// ErrEmpty means that there are no bytes at all.
	ErrEmpty = errors.New("read audio: empty")
	// ErrNotAudio means that the data is no sound format known here.
	ErrNotAudio = errors.New("read audio: not a known sound format")
)

// Measure recognises a sound file by its content and reads its headers. A file
// that is cut off is measured as far as it goes.
func Measure(data []byte) (Info, error) {
	if len(data) == 0 {
		return Info{}, ErrEmpty
	}
	for _, measure := range []func([]byte) (Info, bool){
		measureWAV, measureFLAC, measureOgg, measureMP4, measureWebM, measureMPEG,
	} {
		if info, ok := measure(data); ok {
			return info, nil
		}
	}
	return Info{}, ErrNotAudio
}

var aliases = map[string]string{
	"audio/wave": WAV, "audio/x-wav": WAV, "audio/vnd.wave": WAV, "audio/x-pn-wav": WAV,
	"audio/mp3": MPEG, "audio/x-mp3": MPEG, "audio/mpeg3": MPEG, "audio/x-mpeg-3": MPEG,
	"audio/x-mpeg": MPEG, "audio/mpg": MPEG, "audio/mpga": MPEG,
	"application/ogg": Ogg, "audio/x-ogg": Ogg, "audio/vorbis": Ogg, "audio/opus": Ogg, "audio/oga": Ogg,
	"audio/x-flac": FLAC,
	"audio/m4a":    MP4, "audio/x-m4a": MP4, "audio/mp4a-latm": MP4, "audio/x-mp4": MP4, "audio/m4b": MP4,
	"audio/x-webm": WebM,
}

// Normalize returns the one spelling used here of a media type: lower case,
// without parameters, aliases replaced. Types that are not known pass through.
func Normalize(mime string) string {
	mime, _, _ = strings.Cut(mime, ";")
	mime = strings.ToLower(strings.TrimSpace(mime))
	if known, ok := aliases[mime]; ok {
		return known
	}
	return mime
}

// span returns the time that count units of a rate a second take; 0 when it is
// unknown or beyond what a Duration holds.
func span(count, rate uint64) time.Duration {
	if rate == 0 || count/rate > uint64(math.MaxInt64/time.Second)-1 {
		return 0
	}
	whole := time.Duration(count/rate) * time.Second
	return whole + time.Duration(float64(count%rate)/float64(rate)*float64(time.Second))
}

// from returns the bytes from offset on, nil when it lies past the end.
func from(b []byte, offset uint64) []byte {
	if offset > uint64(len(b)) {
		return nil
	}
	return b[offset:]
}
