package agenttest

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// This file is a wire: a line for every part, quoted, with media as base64. A
// request ends with its seed, so that without the last line a body is a prefix
// of the next one for as long as nothing is evicted.

type part = []delivery.Segment

type encoder struct{}

var _ delivery.Encoder[part] = encoder{}

func line(format string, args ...any) (part, error) {
	return part{delivery.Literal(fmt.Sprintf(format, args...) + "\n")}, nil
}

func media(kind string, a content.Attachment) (part, error) {
	return part{
		delivery.Literal(kind + " " + string(a.Handle) + " " + a.Prepared.MIME + " "), delivery.Hole(a.Prepared),
		delivery.Literal("\n"),
	}, nil
}

func (encoder) Text(b content.Text) (part, error)         { return line("text %q", b.Body) }
func (encoder) Image(b content.Image) (part, error)       { return media("image", b.Attachment) }
func (encoder) Audio(b content.Audio) (part, error)       { return media("audio", b.Attachment) }
func (encoder) Document(b content.Document) (part, error) { return media("document", b.Attachment) }

func (encoder) ResourceText(b content.ResourceText) (part, error) { return line("text %q", b.Body) }
func (encoder) ResourceLink(content.ResourceLink) (part, error)   { return line("link") }
func (encoder) Opaque(content.Opaque) (part, error)               { return line("opaque") }

func (encoder) Reasoning(r content.Reasoning) (part, error) {
	return line("reasoning %q%s", r.Text, signed(r.Signature))
}

func (encoder) ToolCall(c content.ToolCall) (part, error) {
	return line("call %s %s %q%s", c.ID, c.Name, c.Arguments, signed(c.Signature))
}

func signed(signature string) string {
	if signature == "" {
		return ""
	}
	return " signed " + signature
}

func (encoder) ToolResult(r content.ToolResult, parts []part) (part, error) {
	out, _ := line("result %s error=%v", r.CallID, r.IsError)
	for _, p := range parts {
		out = append(out, p...)
	}
	return out, nil
}

func (encoder) Message(role content.Role, parts []part) ([]delivery.Segment, error) {
	out, _ := line("# %s", role)
	for _, p := range parts {
		out = append(out, p...)
	}
	return out, nil
}

// spell makes the body of a request.
func spell(r provider.Request) (provider.Body, error) {
	messages, err := delivery.Render(r.Prompt, delivery.Encoder[part](encoder{}))
	if err != nil {
		return provider.Body{}, err
	}
	out, _ := line("system %q", r.System)
	if r.Effort != provider.EffortDefault {
		p, _ := line("effort %s", r.Effort)
		out = append(out, p...)
	}
	for _, t := range r.Tools {
		p, _ := line("tool %s", t.Name)
		out = append(out, p...)
	}
	for _, m := range messages {
		out = append(out, m...)
	}
	end, _ := line("seed %d", r.Seed)
	return provider.NewBody(append(out, end...), r.Blobs), nil
}

// Media is one media part as it arrived.
type Media struct {
	Kind, Handle, MIME string
	Data               []byte
}

// Digest is the digest of what arrived.
func (m Media) Digest() content.Digest { return sha256.Sum256(m.Data) }

// Received is a request as it arrived.
type Received struct {
	// Body is the whole body.
	Body string
	// Expect: the body asked for permission first.
	Expect bool
	// Media are the media parts in order.
	Media []Media
	// Text is every text in order, a line each.
	Text string
}

// Prefix is the body without its seed.
func (r Received) Prefix() string {
	i := strings.LastIndex(r.Body, "seed ")
	return r.Body[:i]
}

// Handles are the handles of the media in order, with a space between.
func (r Received) Handles() string {
	var out []string
	for _, m := range r.Media {
		out = append(out, m.Handle)
	}
	return strings.Join(out, " ")
}

// receive reads a body to its end.
func receive(b provider.Body) (Received, error) {
	rc := b.Open()
	defer rc.Close()
	data, err := io.ReadAll(rc)
	if err != nil {
		return Received{}, err
	}
	if int64(len(data)) != b.Len() {
		return Received{}, fmt.Errorf("body has %d bytes and said %d", len(data), b.Len())
	}
	r := Received{Body: string(data), Expect: b.Expect}
	var text strings.Builder
	for l := range strings.SplitSeq(r.Body, "\n") {
		word, rest, _ := strings.Cut(l, " ")
		switch word {
		case "text":
			s, err := strconv.Unquote(rest)
			if err != nil {
				return r, err
			}
			text.WriteString(s + "\n")
		case "image", "audio", "document":
			f := strings.Fields(rest)
			data, err := base64.StdEncoding.DecodeString(f[2])
			if err != nil {
				return r, err
			}
			r.Media = append(r.Media, Media{Kind: word, Handle: f[0], MIME: f[1], Data: data})
		}
	}
	r.Text = text.String()
	return r, nil
}
