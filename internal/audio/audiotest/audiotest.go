// Package audiotest generates sound files for tests. Only tests may import it.
package audiotest

import (
	"encoding/binary"
	"math"
	"time"
)

const sampleRate = 16000

// WAV returns a sine tone of a length and a frequency: 16 bit, mono, 16 kHz.
func WAV(d time.Duration, hz int) []byte {
	le := binary.LittleEndian
	samples := int(d * sampleRate / time.Second)
	out := le.AppendUint32([]byte("RIFF"), uint32(36+2*samples))
	out = append(out, "WAVEfmt "...)
	out = le.AppendUint32(out, 16)
	out = le.AppendUint16(out, 1)
	out = le.AppendUint16(out, 1)
	out = le.AppendUint32(out, sampleRate)
	out = le.AppendUint32(out, 2*sampleRate)
	out = le.AppendUint16(out, 2)
	out = le.AppendUint16(out, 16)
	out = le.AppendUint32(append(out, "data"...), uint32(2*samples))
	for i := range samples {
		v := 12000 * math.Sin(2*math.Pi*float64(hz)*float64(i)/sampleRate)
		out = le.AppendUint16(out, uint16(int16(v)))
	}
	return out
}
