package agenttest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"tote/internal/agent"
	"tote/internal/content"
)

// Inlet is a small inlet: it knows PNG, WAV, PDF and text by their bytes, reads
// real files, and confines what a model or a tool chose to the roots.
type Inlet struct{ Store *Store }

var _ agent.Inlet = (*Inlet)(nil)

// Ingest implements agent.Inlet.
func (in *Inlet) Ingest(ctx context.Context, s content.Source, sc agent.Scope) ([]content.Block, []content.Envelope, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	b, err := in.block(ctx, s, sc)
	if err != nil {
		return nil, nil, err
	}
	envs := make([]content.Envelope, 1)
	if len(s.Client.Raw) > 0 {
		d, err := in.Store.PutBytes(ctx, s.Client.Raw)
		if err != nil {
			return nil, nil, err
		}
		envs[0] = content.Envelope{Payload: d, Spelling: content.SpellingStored}
	}
	return []content.Block{b}, envs, nil
}

func (in *Inlet) block(ctx context.Context, s content.Source, sc agent.Scope) (content.Block, error) {
	a := content.Attachment{Name: s.Name, Declared: s.Declared, Origin: content.Origin{Inlet: s.Inlet, Chooser: s.Chooser}}
	switch p := s.Payload.(type) {
	case content.Prose:
		return content.Text{Body: p.Text}, nil
	case content.Bytes:
		return in.attach(ctx, a, p.Data, "")
	case content.EmbeddedText:
		return in.attach(ctx, a, []byte(p.Text), p.URI)
	case content.Base64:
		data, err := base64.StdEncoding.DecodeString(string(p.Data))
		if err != nil {
			return faulty(s.As, a, content.FaultBadPayload, "no base64"), nil
		}
		return in.attach(ctx, a, data, s.URI)
	case content.Path:
		return in.file(ctx, a, p.Path, sc)
	case content.Link:
		return content.ResourceLink{Origin: a.Origin, URI: p.URI, Name: p.Name, Title: p.Title, MIME: p.MIME, Size: p.Size}, nil
	case content.Unknown:
		d, err := in.Store.PutBytes(ctx, p.Raw)
		if err != nil {
			return nil, err
		}
		return content.Opaque{Origin: a.Origin, Type: p.Type, Raw: content.Blob{Digest: d, MIME: "application/json", Size: int64(len(p.Raw))}}, nil
	case content.Broken:
		return faulty(s.As, a, content.FaultBadPayload, p.Why), nil
	case content.Given:
		return p.Block, nil
	case content.DataURI, content.Crop, content.Compare:
	}
	return faulty(s.As, a, content.FaultUnsupported, ""), nil
}

func faulty(k content.Kind, a content.Attachment, f content.Fault, detail string) content.Block {
	a.Fault, a.Detail = f, detail
	switch k {
	case content.KindImage:
		return content.Image{Attachment: a}
	case content.KindAudio:
		return content.Audio{Attachment: a}
	case content.KindText, content.KindDocument, content.KindResourceText, content.KindResourceLink, content.KindOpaque:
	}
	return content.Document{Attachment: a}
}

// attach makes the block that the bytes call for.
func (in *Inlet) attach(ctx context.Context, a content.Attachment, data []byte, uri string) (content.Block, error) {
	if len(data) == 0 {
		return faulty(0, a, content.FaultEmpty, ""), nil
	}
	d, err := in.Store.PutBytes(ctx, data)
	if err != nil {
		return nil, err
	}
	a.Original = content.Blob{Digest: d, Size: int64(len(data))}
	switch {
	case bytes.HasPrefix(data, []byte(pngMagic)):
		w, h, ok := pngSize(data)
		a.Original.MIME, a.Original.Width, a.Original.Height = "image/png", w, h
		if !ok {
			return faulty(content.KindImage, a, content.FaultDamaged, "truncated"), nil
		}
		a.Prepared = a.Original
		return content.Image{Attachment: a, Frames: 1}, nil
	case bytes.HasPrefix(data, []byte("RIFF")) && len(data) >= 44:
		a.Original.MIME = "audio/wav"
		a.Prepared = a.Original
		return content.Audio{Attachment: a, Millis: int64(binary.LittleEndian.Uint32(data[40:])) / 8}, nil
	case bytes.HasPrefix(data, []byte("%PDF-")):
		a.Original.MIME = "application/pdf"
		a.Prepared = a.Original
		return content.Document{Attachment: a, Pages: 1}, nil
	case utf8.Valid(data) && bytes.IndexByte(data, 0) < 0:
		a.Original.MIME = "text/plain"
		a.Prepared = a.Original
		return content.ResourceText{Attachment: a, URI: uri}, nil
	}
	a.Original.MIME = "application/octet-stream"
	a.Prepared = a.Original
	return content.Document{Attachment: a}, nil
}

// file reads a file as its chooser may.
func (in *Inlet) file(ctx context.Context, a content.Attachment, path string, sc agent.Scope) (content.Block, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(sc.Cwd, path)
	}
	if a.Name == "" {
		a.Name = filepath.Base(path)
	}
	a.Origin.Path = path
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return faulty(0, a, content.FaultNotFound, "no file "+path), nil
	}
	if err != nil {
		return faulty(0, a, content.FaultUnreadable, ""), nil
	}
	free := a.Origin.Chooser == content.ChosenByUser && a.Origin.Inlet != content.InletACP
	if !free && !under(real, sc.Roots) {
		if sc.Ask == nil {
			return faulty(0, a, content.FaultDenied, ""), nil
		}
		yes, err := sc.Ask(ctx, real)
		if cause := ctx.Err(); cause != nil {
			return nil, cause
		}
		if err != nil || !yes {
			return faulty(0, a, content.FaultDenied, ""), nil
		}
	}
	data, err := os.ReadFile(real)
	if err != nil {
		return faulty(0, a, content.FaultUnreadable, ""), nil
	}
	return in.attach(ctx, a, data, "")
}

func under(path string, roots []string) bool {
	for _, r := range roots {
		if real, err := filepath.EvalSymlinks(r); err == nil {
			r = real
		}
		if rel, err := filepath.Rel(r, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// Mentions implements agent.Inlet: words that begin with "@".
func (in *Inlet) Mentions(text string) []string {
	var out []string
	for word := range strings.FieldsSeq(text) {
		if rest, ok := strings.CutPrefix(word, "@"); ok {
			if rest = strings.TrimRight(rest, ".,;:!?)"); rest != "" {
				out = append(out, rest)
			}
		}
	}
	return out
}

// Extension implements agent.Inlet.
func (in *Inlet) Extension(b content.Block) string {
	a, ok := content.AttachmentOf(b)
	if !ok {
		return ""
	}
	switch a.Original.MIME {
	case "image/png":
		return ".png"
	case "audio/wav":
		return ".wav"
	case "application/pdf":
		return ".pdf"
	case "text/plain":
		return ".txt"
	}
	return ".bin"
}

// Restore implements agent.Inlet.
func (in *Inlet) Restore(e content.Envelope) ([]byte, error) {
	if e.Spelling != content.SpellingStored {
		return nil, fmt.Errorf("restore a client's block: spelling %d is not used here", e.Spelling)
	}
	return in.Store.ReadAll(e.Payload, 0)
}
