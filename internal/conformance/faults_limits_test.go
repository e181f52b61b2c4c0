package conformance_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	_ "image/jpeg" // what is cut smaller may be one
	_ "image/png"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider/providertest"
)

// size is that of a picture as its server decodes it, 0 for what is none.
func size(data []byte) (w, h int) {
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return 0, 0
	}
	return c.Width, c.Height
}

// named is a limit that a server names when it refuses, and what it checks.
type named struct {
	name, kind string
	words      string
	over       func(l letter) bool
	limit      string
	want       int64
}

func anyPicture(over func(data []byte) bool) func(letter) bool {
	return func(l letter) bool { return slices.ContainsFunc(l.media, over) }
}

func wider(edge int) func(letter) bool {
	return anyPicture(func(data []byte) bool { w, h := size(data); return max(w, h) > edge })
}

func heavier(raw int) func(letter) bool {
	return anyPicture(func(data []byte) bool { return len(data) > raw })
}

func aboveTwo(l letter) bool { return len(l.media) > 2 }

func namedLimits() []named {
	const path = "messages.2.content.1.image.source.base64"
	edge := path + ".data: At least one of the image dimensions exceed max allowed size: 300 pixels"
	weight := path + ": image exceeds 0.1 MB maximum: 273068 bytes > 160000 bytes"
	many := "At least one of the image dimensions exceed max allowed size for many-image requests: 300 pixels"
	behind := "The model returned the following errors: "
	return []named{
		{"edge", "anthropic", edge, wider(300), delivery.LimitEdge, 300},
		{"edge of many", "anthropic", many, wider(300), delivery.LimitEdge, 300},
		{"bytes", "anthropic", weight, heavier(120_000), delivery.LimitBytes, 120_000},
		{"count", "anthropic", "too many images and documents: 3 + 0 > 2", aboveTwo, delivery.LimitCount, 2},
		{"edge", "bedrock-converse", behind + edge, wider(300), delivery.LimitEdge, 300},
		{"bytes", "bedrock-converse", behind + weight, heavier(120_000), delivery.LimitBytes, 120_000},
		{"count", "bedrock-converse", "Too many images in request: 3 images provided, maximum of 2 allowed", aboveTwo, delivery.LimitCount, 2},
		{"count (vLLM)", "openai-chat", "At most 2 image(s) may be provided in one prompt.", aboveTwo, delivery.LimitCount, 2},
		{"count (Copilot)", "openai-responses", "Too many images in request: 3 images provided, maximum of 2 allowed", aboveTwo, delivery.LimitCount, 2},
	}
}

// TestNamedLimits has servers name what they take. The turn goes on without the
// picture, the number is learned, and from the next turn on each picture is cut
// to it, or gives way to it, before it is sent.
func TestNamedLimits(t *testing.T) {
	for _, c := range namedLimits() {
		t.Run(c.kind+"/"+c.name, func(t *testing.T) {
			t.Parallel()
			g := tongueOf(c.kind)
			r := newRig(t, g)
			const model = "m"
			r.on(model, func(_ int, l letter) providertest.Reply {
				if c.over(l) {
					return g.rejects(400, "", c.words)
				}
				return nil
			})
			w := newWorld(t, r.settings("", "", bind{model: model, vision: "true"}))
			p := w.launch()
			s := p.with(model)
			one, _ := w.snap("one.png", 30, 30, 1)
			two, _ := w.snap("two.png", 31, 30, 2)
			p.prompt(s, one, two, prose("look"))
			large, _ := w.snap("large.png", 450, 450, 3)
			f := p.prompt(s, large, prose("and at this"))
			if n := voided(f); n != 1 || len(told(f, "large.png")) != 1 {
				t.Errorf("%d attempts were withdrawn, %q", n, f.Notices())
			}
			if m := p.learned(model); m.Limits[c.limit] != c.want || m.against() != 0 {
				t.Errorf("learned %+v, want %s = %d", m, c.limit, c.want)
			}
			noRetry(t, p.prompt(s, prose("what of the last one?")))
			c.obeyed(t, r.last(t, model), 450)
			p.stop()
			p = w.launch()
			defer p.stop()
			other, _ := w.snap("other.png", 440, 440, 4)
			noRetry(t, p.prompt(p.open(s.ID()), other, prose("and this?")))
			c.obeyed(t, r.last(t, model), 440)
		})
	}
}

// obeyed checks that the newest picture came within the limit: smaller where it
// had to be, in its own size where others gave way.
func (c *named) obeyed(t *testing.T, l letter, edge int) {
	t.Helper()
	if len(l.media) == 0 || c.over(l) {
		t.Fatalf("%d pictures came, over the limit: %v", len(l.media), len(l.media) > 0)
	}
	w, h := size(l.media[len(l.media)-1])
	if c.limit == delivery.LimitEdge {
		edge = int(c.want)
	}
	if max(w, h) > edge || max(w, h) < edge/2 {
		t.Errorf("the newest picture is %dx%d, want about %d", w, h, edge)
	}
}

// giant is a grey picture of more than 50 megapixels, 4.5 MB of it noise.
var giant = sync.OnceValue(func() []byte {
	const w, h, noisy = 9000, 5700, 520
	var pixels bytes.Buffer
	z, _ := zlib.NewWriterLevel(&pixels, zlib.BestSpeed) // the level is valid
	row := make([]byte, w+1)
	rng := rand.New(rand.NewPCG(1, 2))
	for y := range h {
		clear(row)
		for x := 1; x <= w && y < noisy; x++ {
			row[x] = byte(rng.Uint32())
		}
		_, _ = z.Write(row) // a buffer takes everything
	}
	_ = z.Close()
	out := bytes.NewBufferString("\x89PNG\r\n\x1a\n")
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	for _, c := range []struct {
		name string
		data []byte
	}{{"IHDR", append(head, 8, 0, 0, 0, 0)}, {"IDAT", pixels.Bytes()}, {"IEND", nil}} {
		body := append([]byte(c.name), c.data...)
		_ = binary.Write(out, binary.BigEndian, uint32(len(c.data))) // a buffer takes everything
		out.Write(body)
		_ = binary.Write(out, binary.BigEndian, crc32.ChecksumIEEE(body))
	}
	return out.Bytes()
})

// TestVendorsOwnNumbers has a picture that is too large to be prepared meet the
// numbers that Anthropic names. It is learned from, and does not go again.
func TestVendorsOwnNumbers(t *testing.T) {
	t.Parallel()
	g := tongueOf("anthropic")
	r := newRig(t, g)
	cases := every([]named{
		{name: "8000", words: "image dimensions exceed max allowed size: 8000 pixels", over: wider(8000), limit: delivery.LimitEdge, want: 8000},
		{name: "2000", words: "image dimensions exceed max allowed size for many-image requests: 2000 pixels", over: wider(2000), limit: delivery.LimitEdge, want: 2000},
		{name: "5MB", words: fmt.Sprintf("image exceeds 5 MB maximum: %d bytes > 5242880 bytes", len(giant())/3*4), over: heavier(3_932_160), limit: delivery.LimitBytes, want: 3_932_160},
	}, 3)
	agents := make([]bind, 0, len(cases))
	for _, c := range cases {
		agents = append(agents, bind{model: c.name, vision: "true"})
	}
	w := newWorld(t, r.settings(`"image_edge":20000,"image_bytes":9000000`, "", agents...))
	p := w.launch()
	defer p.stop()
	file := w.file("giant.png", giant())
	for _, c := range cases {
		r.on(c.name, func(_ int, l letter) providertest.Reply {
			if c.over(l) {
				return g.rejects(400, "", c.words)
			}
			return nil
		})
		s := p.with(c.name)
		f := p.prompt(s, flagged(file), prose("look"))
		if got := r.got(c.name); len(got) != 2 || !got[0].holds(giant()) || voided(f) != 1 {
			t.Fatalf("%s: %d requests, %q", c.name, len(got), f.Notices())
		}
		if m := p.learned(c.name); m.Limits[c.limit] != c.want {
			t.Errorf("%s: learned %+v", c.name, m)
		}
		f = p.prompt(s, prose("and now?"))
		noRetry(t, f)
		small := agenttest.PNG(30, 30, 1)
		noRetry(t, p.prompt(s, content.Source{
			Payload: content.Bytes{Data: small}, Name: "small.png", Inlet: content.InletPaste, Chooser: content.ChosenByUser, As: content.KindImage,
		}, prose("and this?")))
		if !r.last(t, c.name).holds(small) {
			t.Errorf("%s: a later picture does not come", c.name)
		}
	}
}
