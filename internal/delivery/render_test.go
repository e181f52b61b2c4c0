package delivery_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
)

// faultyEncoder is plain with one thing wrong with it.
type faultyEncoder struct {
	plain
	message func(role content.Role, parts [][]delivery.Segment) ([]delivery.Segment, error)
	image   func(content.Image) ([]delivery.Segment, error)
}

func (e faultyEncoder) Message(role content.Role, parts [][]delivery.Segment) ([]delivery.Segment, error) {
	if e.message != nil {
		return e.message(role, parts)
	}
	return e.plain.Message(role, parts)
}

func (e faultyEncoder) Image(b content.Image) ([]delivery.Segment, error) {
	if e.image != nil {
		return e.image(b)
	}
	return e.plain.Image(b)
}

func TestRenderCatchesAdapters(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name string
		enc  faultyEncoder
		want error
		text string
	}{
		{"sound", faultyEncoder{}, nil, ""},
		{"leaves out a picture", faultyEncoder{image: func(content.Image) ([]delivery.Segment, error) { return nil, nil }}, delivery.ErrDropped, "0 of 2 media parts"},
		{"writes the digest only", faultyEncoder{image: func(b content.Image) ([]delivery.Segment, error) {
			return []delivery.Segment{delivery.Literal(b.Prepared.Digest.String())}, nil
		}}, delivery.ErrDropped, "0 of 2 media parts"},
		{"sends the original", faultyEncoder{image: func(b content.Image) ([]delivery.Segment, error) {
			return []delivery.Segment{delivery.Hole(b.Original)}, nil
		}}, delivery.ErrDropped, "out of place"},
		{"sends a picture twice", faultyEncoder{image: func(b content.Image) ([]delivery.Segment, error) {
			return []delivery.Segment{delivery.Hole(b.Prepared), delivery.Hole(b.Prepared)}, nil
		}}, delivery.ErrDropped, "out of place"},
		{"turns the order", faultyEncoder{message: func(_ content.Role, parts [][]delivery.Segment) ([]delivery.Segment, error) {
			var out []delivery.Segment
			for _, p := range parts {
				out = append(out, p...)
			}
			slices.Reverse(out)
			return out, nil
		}}, delivery.ErrDropped, "out of place"},
		{"hollow message", faultyEncoder{message: func(content.Role, [][]delivery.Segment) ([]delivery.Segment, error) { return nil, nil }}, delivery.ErrDropped, "nothing on the wire"},
		{"empty literals", faultyEncoder{message: func(content.Role, [][]delivery.Segment) ([]delivery.Segment, error) {
			return []delivery.Segment{{}, delivery.Literal("")}, nil
		}}, delivery.ErrDropped, "nothing on the wire"},
		{"fails on a part", faultyEncoder{image: func(content.Image) ([]delivery.Segment, error) { return nil, broken }}, broken, "render message 2 part 0 (content.ToolResult): broken"},
		{"fails on a message", faultyEncoder{message: func(content.Role, [][]delivery.Segment) ([]delivery.Segment, error) { return nil, broken }}, broken, "render message 0: broken"},
	}
	in := delivery.Input{Profile: sees(), Messages: []content.Message{
		user(prose(1, "a")), assistant(call("a")), results(result("a", picture(1, shrunk), picture(2))),
	}}
	p, _, _ := settle(in)
	for _, tt := range tests {
		msgs, err := delivery.Render(p, tt.enc)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
			continue
		}
		if err == nil {
			if len(msgs) != p.Len() {
				t.Errorf("%s: %d messages, want %d", tt.name, len(msgs), p.Len())
			}
			continue
		}
		if !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %q, want %q in it", tt.name, err, tt.text)
		}
	}
}

func TestRenderGivesEveryPart(t *testing.T) {
	in := delivery.Input{Profile: sees(), Messages: []content.Message{
		user(prose(1, "say"), picture(1), recording(1), document(1), resource(1), link(), content.Opaque{Handle: "opaque-1", Type: "video"}),
		assistant(content.Reasoning{Text: "hm", Signature: "s", Path: "openai-chat"}, content.Text{Body: "well"}, call("a")),
		results(result("a", prose(2, "done"))),
	}}
	p, _, _ := settle(in)
	w := wire(t, p)
	for _, want := range []string{"say", "image image/png hole:", "audio audio/wav hole:", "doc application/pdf hole:", "text of resource-1.txt", "https://example.invalid", "opaque-1", "hm", "well", `"path"`, "done"} {
		if !strings.Contains(strings.ReplaceAll(w, `\"`, `"`), want) {
			t.Errorf("%q is not on the wire:\n%s", want, w)
		}
	}
}

func TestSegments(t *testing.T) {
	for _, tt := range []struct {
		s    delivery.Segment
		want int64
	}{
		{delivery.Segment{}, 0},
		{delivery.Literal("abc"), 3},
		{delivery.Hole(blob(1, png, 0, 0, 0)), 0},
		{delivery.Hole(blob(1, png, 1, 0, 0)), 4},
		{delivery.Hole(blob(1, png, 3, 0, 0)), 4},
		{delivery.Hole(blob(1, png, 4, 0, 0)), 8},
	} {
		if got := tt.s.Len(); got != tt.want {
			t.Errorf("Len(%v) = %d, want %d", tt.s, got, tt.want)
		}
	}
	if diff := cmp.Diff(delivery.Segment{Literal: []byte("x")}, delivery.Literal("x")); diff != "" {
		t.Error(diff)
	}
}
