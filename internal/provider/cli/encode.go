package cli

import (
	"errors"
	"fmt"
	"mime"
	"strconv"
	"strings"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// The frame of a transcript. Its last lines are fixed words: claude takes a last
// text that begins with a slash for a command, and looks for files where an "@"
// stands in it.
const (
	opening = "Below is a conversation, whole and in order. Lines between equals signs say who speaks. Attachments stand where they were given."
	closing = "=== end of the conversation ===\nYou are the assistant in it. Go on from here: answer what was said last."
	markers = "=== "
)

// Encode implements [provider.Provider].
func (r *Runner) Encode(req provider.Request) (provider.Body, error) {
	e := encoder{spec: r.spec}
	rendered, err := delivery.Render(req.Prompt, e)
	if err != nil {
		return provider.Body{}, fmt.Errorf("encode a prompt for %s: %w", r.spec.runner, err)
	}
	j := &job{runner: r.spec.runner, blobs: req.Blobs, effort: req.Effort}
	var s provider.Spelling
	if r.spec.blocks {
		s.Raw(`{"type":"user","message":{"role":"user","content":[`)
		s.Append(e.spell(e.head(req.System), nil))
		for _, m := range rendered {
			s.Raw(",")
			s.Append(m)
		}
		s.Raw(",")
		s.Append(e.spell(closing, nil))
		s.Raw(`]},"parent_tool_use_id":null}` + "\n")
		body := provider.NewBody(s.Segments(), req.Blobs)
		body.Attached = j
		return body, nil
	}
	s.Append(e.spell(e.head(req.System), nil))
	for _, m := range rendered {
		s.Raw("\n\n")
		s.Append(m)
	}
	s.Raw("\n\n")
	s.Append(e.spell(closing, nil))
	s.Raw("\n")
	if err := j.take(r.spec, s.Segments()); err != nil {
		return provider.Body{}, fmt.Errorf("encode a prompt for %s: %w", r.spec.runner, err)
	}
	body := provider.NewBody([]delivery.Segment{delivery.Literal(j.prompt(r.spec, bare))}, req.Blobs)
	body.Attached = j
	return body, nil
}

// job is what Encode hands to Stream.
type job struct {
	runner string
	blobs  provider.Blobs
	effort provider.Effort
	// parts are the prompt and files the files that it names; both are empty
	// where the body is the standard input as it is.
	parts []part
	files []file
}

// part is prose, or the place of a file, counted from 1.
type part struct {
	text string
	file int
}

// file is one to be staged under a name.
type file struct {
	blob content.Blob
	name string
}

// take makes of rendered segments a prompt with files: every hole becomes the
// place of a file.
func (j *job) take(s *spec, segments []delivery.Segment) error {
	for _, seg := range segments {
		if seg.Hole.IsZero() {
			j.parts = append(j.parts, part{text: string(seg.Literal)})
			continue
		}
		ext, err := s.extension(seg.Hole.MIME)
		if err != nil {
			return err
		}
		n := len(j.files) + 1
		j.files = append(j.files, file{blob: seg.Hole, name: fmt.Sprintf("%04d-%s%s", n, seg.Hole.Digest.Short(), ext)})
		j.parts = append(j.parts, part{file: n})
	}
	return nil
}

// prompt is the prompt, with the path that at gives for each file.
func (j *job) prompt(s *spec, at func(name string) string) string {
	var sb strings.Builder
	for _, p := range j.parts {
		if p.file == 0 {
			sb.WriteString(p.text)
			continue
		}
		sb.WriteString(s.reference(p.file, at(j.files[p.file-1].name)))
	}
	return sb.String()
}

func bare(name string) string { return name }

// extension is that of a media type that the program takes.
func (s *spec) extension(t string) (string, error) {
	m, _, err := mime.ParseMediaType(t)
	if err != nil {
		return "", errors.New("an attachment has no media type")
	}
	if s.media == nil {
		return anyExtension(m), nil
	}
	ext, ok := s.media[m]
	if !ok {
		return "", fmt.Errorf("the runner %s takes no %s", s.runner, m)
	}
	return ext, nil
}

// anyExtension is for programs of which nothing is known.
func anyExtension(m string) string {
	for _, s := range []*spec{geminiSpec(), claudeSpec()} {
		if ext, ok := s.media[m]; ok {
			return ext
		}
	}
	return ".bin"
}

// atom is prose, or a blob that has to stand at its place.
type atom struct {
	text string
	blob content.Blob
}

// encoder makes a transcript.
type encoder struct{ spec *spec }

var _ delivery.Encoder[[]atom] = encoder{}

// head is the start of the transcript.
func (e encoder) head(system string) string {
	s := opening
	if e.spec.note != "" {
		s += " " + e.spec.note
	}
	if system != "" {
		s += "\n\n" + mark("instructions") + "\n" + e.spec.escape(system)
	}
	return s
}

func mark(who string) string { return markers + who + " ===" }

func (e encoder) text(s string) ([]atom, error) { return []atom{{text: s}}, nil }

func (e encoder) medium(b content.Blob) ([]atom, error) {
	if _, err := e.spec.extension(b.MIME); err != nil {
		return nil, err
	}
	return []atom{{blob: b}}, nil
}

// Text implements [content.Visitor].
func (e encoder) Text(b content.Text) ([]atom, error) { return e.text(b.Body) }

// Image implements [content.Visitor].
func (e encoder) Image(b content.Image) ([]atom, error) { return e.medium(b.Prepared) }

// Audio implements [content.Visitor].
func (e encoder) Audio(b content.Audio) ([]atom, error) { return e.medium(b.Prepared) }

// Document implements [content.Visitor].
func (e encoder) Document(b content.Document) ([]atom, error) { return e.medium(b.Prepared) }

// ResourceText implements [content.Visitor]. Its label stands before it.
func (e encoder) ResourceText(b content.ResourceText) ([]atom, error) { return e.text(b.Body) }

// ResourceLink implements [content.Visitor]. A settled prompt holds links as
// text; one that got here all the same keeps its address.
func (e encoder) ResourceLink(b content.ResourceLink) ([]atom, error) {
	return e.text("[link: " + b.URI + "]")
}

// Opaque implements [content.Visitor]. A settled prompt holds none.
func (e encoder) Opaque(b content.Opaque) ([]atom, error) {
	return e.text("[" + content.Clean(b.Type) + " block: " + string(b.Handle) + "]")
}

// Reasoning implements [delivery.Encoder]. The path asks for none; one that got
// here is told as what it is.
func (e encoder) Reasoning(r content.Reasoning) ([]atom, error) {
	return e.text("[thought: " + r.Text + "]")
}

// ToolCall implements [delivery.Encoder].
func (e encoder) ToolCall(c content.ToolCall) ([]atom, error) {
	return e.text("[call " + content.Clean(c.ID) + " of the tool " + content.Clean(c.Name) + "] " + c.Arguments)
}

// ToolResult implements [delivery.Encoder].
func (e encoder) ToolResult(r content.ToolResult, parts [][]atom) ([]atom, error) {
	head := "[result of call " + content.Clean(r.CallID) + " of the tool " + content.Clean(r.Name)
	if r.IsError {
		head += ", an error"
	}
	out := []atom{{text: head + "]"}}
	for _, p := range parts {
		out = append(out, p...)
	}
	return out, nil
}

// Message implements [delivery.Encoder].
func (e encoder) Message(role content.Role, parts [][]atom) ([]delivery.Segment, error) {
	var atoms []atom
	for _, p := range parts {
		atoms = append(atoms, p...)
	}
	switch role {
	case content.RoleUser, content.RoleAssistant:
		return e.spell(mark(role.String()), atoms), nil
	case content.RoleTool:
		return e.spell(mark("tools"), atoms), nil
	}
	return nil, fmt.Errorf("unknown role %d", role)
}

// spell writes a head and atoms below it, one a line.
func (e encoder) spell(head string, atoms []atom) []delivery.Segment {
	if e.spec.blocks {
		return spellBlocks(head, atoms)
	}
	var s provider.Spelling
	s.Raw(head)
	for _, a := range atoms {
		s.Raw("\n")
		if a.blob.IsZero() {
			s.Raw(e.spec.escape(a.text))
			continue
		}
		s.Base64(a.blob)
	}
	return s.Segments()
}

// spellBlocks writes them as content blocks. No text block is empty.
func spellBlocks(head string, atoms []atom) []delivery.Segment {
	var s provider.Spelling
	text, sep := head, ""
	flush := func() {
		if text == "" {
			return
		}
		s.Raw(sep + `{"type":"text","text":`)
		s.String(text)
		s.Raw(`}`)
		text, sep = "", ","
	}
	for _, a := range atoms {
		if a.blob.IsZero() {
			if text != "" && a.text != "" {
				text += "\n"
			}
			text += a.text
			continue
		}
		flush()
		kind, m := "image", mediaType(a.blob.MIME)
		if m == "application/pdf" {
			kind = "document"
		}
		s.Raw(sep + `{"type":` + strconv.Quote(kind) + `,"source":{"type":"base64","media_type":` + strconv.Quote(m) + `,"data":"`)
		s.Base64(a.blob)
		s.Raw(`"}}`)
		sep = ","
	}
	flush()
	return s.Segments()
}

// mediaType is a type without parameters; what is none was refused before.
func mediaType(t string) string {
	m, _, err := mime.ParseMediaType(t)
	if err != nil {
		return t
	}
	return m
}
