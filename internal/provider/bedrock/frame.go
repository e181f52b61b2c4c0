package bedrock

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream/eventstreamapi"

	"tote/internal/provider"
)

const (
	// preludeLen is the length of a frame, that of its headers, and a sum of
	// both, in bytes; frameRest is the least that stands behind.
	preludeLen = 12
	frameRest  = 4
)

// frame is one message of an answer: an event, or an exception.
type frame struct {
	kind string // of eventstreamapi: event, exception, error
	name string
	// message is what an error's header says.
	message string
	// payload is valid until the next frame.
	payload []byte
}

// frames reads an event stream. The library's decoder trusts lengths and takes
// a cut frame for the end of the stream, so it gets whole frames only.
type frames struct {
	r   io.Reader
	buf bytes.Buffer
	// payload is the room for the last frame's.
	payload []byte
	dec     *eventstream.Decoder
}

func newFrames(r io.Reader) *frames { return &frames{r: r, dec: eventstream.NewDecoder()} }

// next returns the next frame. io.EOF is the end between frames; a stream that
// ends inside one is io.ErrUnexpectedEOF. Memory grows with what came and not
// with what a length says.
func (f *frames) next() (frame, error) {
	var prelude [preludeLen]byte
	if _, err := io.ReadFull(f.r, prelude[:]); err != nil {
		return frame{}, err
	}
	total := binary.BigEndian.Uint32(prelude[0:4])
	headers := binary.BigEndian.Uint32(prelude[4:8])
	switch {
	case crc32.ChecksumIEEE(prelude[:8]) != binary.BigEndian.Uint32(prelude[8:]):
		return frame{}, provider.Unreadable("the head of a frame has a wrong checksum")
	case total > provider.MaxLine:
		return frame{}, provider.Unreadable("a frame of the answer is too long")
	case total < preludeLen+frameRest || headers > total-preludeLen-frameRest:
		return frame{}, provider.Unreadable("a frame of the answer has impossible lengths")
	}
	f.buf.Reset()
	f.buf.Write(prelude[:])
	if _, err := io.CopyN(&f.buf, f.r, int64(total-preludeLen)); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return frame{}, err
	}
	return f.decode()
}

func (f *frames) decode() (frame, error) {
	m, err := f.dec.Decode(bytes.NewReader(f.buf.Bytes()), f.payload)
	if err != nil {
		if _, sum := errors.AsType[eventstream.ChecksumError](err); sum {
			return frame{}, provider.Unreadable("a frame of the answer has a wrong checksum")
		}
		return frame{}, provider.Unreadable("a frame of the answer cannot be read")
	}
	f.payload = m.Payload
	header := func(name string) string {
		if v, ok := m.Headers.Get(name).(eventstream.StringValue); ok {
			return string(v)
		}
		return ""
	}
	out := frame{kind: header(eventstreamapi.MessageTypeHeader), payload: m.Payload}
	switch out.kind {
	case eventstreamapi.ExceptionMessageType:
		out.name = header(eventstreamapi.ExceptionTypeHeader)
	case eventstreamapi.ErrorMessageType:
		out.name, out.message = header(eventstreamapi.ErrorCodeHeader), header(eventstreamapi.ErrorMessageHeader)
	default:
		out.name = header(eventstreamapi.EventTypeHeader)
	}
	return out, nil
}
