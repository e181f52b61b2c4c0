package audio_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"time"

	"tote/internal/audio"
	"tote/internal/audio/audiotest"
)

func be32(b []byte, v uint32) []byte { return binary.BigEndian.AppendUint32(b, v) }

// mp3 returns frames of MPEG-1 layer III, 128 kbit/s, 44.1 kHz, stereo.
func mp3(frames int) []byte {
	frame := make([]byte, 417)
	copy(frame, []byte{0xff, 0xfb, 0x90, 0x00})
	return bytes.Repeat(frame, frames)
}

func id3(body []byte) []byte {
	return append([]byte("ID3\x04\x00\x00\x00\x00\x02\x00"), append(make([]byte, 256), body...)...)
}

func xing(frames uint32) []byte {
	b := mp3(3)
	copy(b[36:], be32([]byte("Xing\x00\x00\x00\x01"), frames))
	return b
}

func oggPage(serial uint32, position uint64, packet []byte) []byte {
	b := binary.LittleEndian.AppendUint64([]byte("OggS\x00\x00"), position)
	b = binary.LittleEndian.AppendUint32(b, serial)
	b = append(b, make([]byte, 8)...)
	return append(append(b, 1, byte(len(packet))), packet...)
}

func opus(samples uint64) []byte {
	head := []byte("OpusHead\x01\x02\x38\x01\x80\xbb\x00\x00\x00\x00\x00")
	b := append(oggPage(7, 0, head), oggPage(7, 960, []byte("OggS in the data"))...)
	b = append(b, oggPage(7, samples+312, []byte("x"))...)
	return append(b, oggPage(7, math.MaxUint64, []byte("x"))...)
}

func vorbis(samples uint64) []byte {
	head := append([]byte("\x01vorbis\x00\x00\x00\x00\x01"), 0x44, 0xac, 0, 0)
	return append(oggPage(1, 0, append(head, make([]byte, 14)...)), oggPage(1, samples, []byte("x"))...)
}

func flac(rate, channels, samples uint64) []byte {
	b := append([]byte("fLaC\x00\x00\x00\x22"), make([]byte, 10)...)
	b = binary.BigEndian.AppendUint64(b, rate<<44|(channels-1)<<41|15<<36|samples)
	return append(b, make([]byte, 16)...)
}

func box(kind string, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	return append(append(be32(nil, uint32(8+len(body))), kind...), body...)
}

func mp4(brand, handler string) []byte {
	mvhd := box("mvhd", make([]byte, 12), be32(nil, 1000), be32(nil, 2500), make([]byte, 80))
	entry := append(make([]byte, 24), 0, 2, 0, 16, 0, 0, 0, 0, 0xac, 0x44, 0, 0)
	stsd := box("stsd", make([]byte, 8), entry)
	hdlr := box("hdlr", make([]byte, 8), []byte(handler), make([]byte, 12))
	trak := box("trak", box("mdia", hdlr, box("minf", box("stbl", stsd))))
	return append(box("ftyp", []byte(brand), make([]byte, 4)), box("moov", mvhd, trak)...)
}

func webm(codec string) []byte {
	b := []byte("\x1a\x45\xdf\xa3\x93\x42\x82\x84webm\x18\x53\x80\x67\x44\x89\x88")
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(1500))
	return append(b, codec...)
}

func TestMeasure(t *testing.T) {
	second := time.Second
	tests := []struct {
		name string
		data []byte
		want audio.Info
	}{
		{"wav", audiotest.WAV(1500*time.Millisecond, 440), audio.Info{MIME: audio.WAV, Duration: 1500 * time.Millisecond, Channels: 1, SampleRate: 16000}},
		{"wav cut off", audiotest.WAV(2*second, 440)[:44+32000], audio.Info{MIME: audio.WAV, Duration: second, Channels: 1, SampleRate: 16000}},
		{"mp3", mp3(100), audio.Info{MIME: audio.MPEG, Duration: 100 * 1152 * second / 44100, Channels: 2, SampleRate: 44100}},
		{"mp3 with id3", id3(mp3(100)), audio.Info{MIME: audio.MPEG, Duration: 100 * 1152 * second / 44100, Channels: 2, SampleRate: 44100}},
		{"mp3 with xing", xing(441), audio.Info{MIME: audio.MPEG, Duration: 441 * 1152 * second / 44100, Channels: 2, SampleRate: 44100}},
		{"id3 alone", id3(nil), audio.Info{MIME: audio.MPEG}},
		{"opus", opus(96000), audio.Info{MIME: audio.Ogg, Duration: 2 * second, Channels: 2, SampleRate: 48000}},
		{"vorbis", vorbis(44100 * 3), audio.Info{MIME: audio.Ogg, Duration: 3 * second, Channels: 1, SampleRate: 44100}},
		{"flac", flac(48000, 2, 72000), audio.Info{MIME: audio.FLAC, Duration: 1500 * time.Millisecond, Channels: 2, SampleRate: 48000}},
		{"flac after id3", id3(flac(48000, 2, 72000)), audio.Info{MIME: audio.FLAC, Duration: 1500 * time.Millisecond, Channels: 2, SampleRate: 48000}},
		{"m4a", mp4("M4A ", "soun"), audio.Info{MIME: audio.MP4, Duration: 2500 * time.Millisecond, Channels: 2, SampleRate: 44100}},
		{"mp4 with sound only", mp4("isom", "soun"), audio.Info{MIME: audio.MP4, Duration: 2500 * time.Millisecond, Channels: 2, SampleRate: 44100}},
		{"webm", webm("A_OPUS"), audio.Info{MIME: audio.WebM, Duration: 1500 * time.Millisecond}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := audio.Measure(tt.data)
			if d := got.Duration - tt.want.Duration; err == nil && d > -time.Microsecond && d < time.Microsecond {
				got.Duration = tt.want.Duration
			}
			if err != nil || got != tt.want {
				t.Errorf("Measure = %+v, %v, want %+v", got, err, tt.want)
			}
			for n := range tt.data[:min(len(tt.data), 400)] {
				_, _ = audio.Measure(tt.data[:n]) // must only not panic
			}
		})
	}
}

func TestNotAudio(t *testing.T) {
	if _, err := audio.Measure(nil); !errors.Is(err, audio.ErrEmpty) {
		t.Errorf("no bytes: %v", err)
	}
	for name, data := range map[string][]byte{
		"id3 text": []byte("ID3 is a kind of tag"), "text": []byte("a note named voice.mp3"), "utf-16": []byte("\xff\xfeh\x00i\x00"), "webp": []byte("RIFF\x04\x00\x00\x00WEBP"),
		"jpeg": []byte("\xff\xd8\xff\xe0\x00\x10JFIF"), "video": mp4("isom", "vide"), "video webm": webm("V_VP9"),
		"ones": bytes.Repeat([]byte{0xff}, 5000), "heic": box("ftyp", []byte("heic\x00\x00\x00\x00")),
	} {
		if info, err := audio.Measure(data); !errors.Is(err, audio.ErrNotAudio) {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
	}
}

func TestNormalize(t *testing.T) {
	for mime, want := range map[string]string{
		"audio/x-wav": audio.WAV, "audio/wave": audio.WAV, "Audio/MP3": audio.MPEG, "application/ogg": audio.Ogg,
		"audio/x-m4a": audio.MP4, "audio/x-flac": audio.FLAC, "audio/webm;codecs=opus": audio.WebM,
		" audio/mpeg ": audio.MPEG, "audio/amr": "audio/amr", "image/png": "image/png", "": "",
	} {
		if got := audio.Normalize(mime); got != want {
			t.Errorf("Normalize(%q) = %q, want %q", mime, got, want)
		}
		if got := audio.Normalize(want); got != want {
			t.Errorf("Normalize(%q) = %q, not stable", want, got)
		}
	}
}

func FuzzMeasure(f *testing.F) {
	for _, s := range [][]byte{
		nil, audiotest.WAV(time.Millisecond, 440), mp3(3), id3(mp3(2)), xing(9), opus(960), vorbis(100),
		flac(44100, 1, 5), mp4("M4A ", "soun"), webm("A_OPUS"),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := audio.Measure(data)
		if err != nil {
			return
		}
		if info.Duration < 0 || info.Channels < 0 || info.SampleRate < 0 || audio.Normalize(info.MIME) != info.MIME {
			t.Fatalf("info = %+v", info)
		}
	})
}

func BenchmarkMeasure(b *testing.B) {
	data := mp3(10_000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := audio.Measure(data); err != nil {
			b.Fatal(err)
		}
	}
}
