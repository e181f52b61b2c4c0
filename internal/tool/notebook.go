package tool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tote/internal/content"
)

// The bounds of a notebook.
const (
	maxNotebook         = 32 << 20 // bytes of its file
	maxNotebookPictures = 20
	maxOutputBytes      = 8_000 // of one output of a cell
)

// notebook is a Jupyter notebook of format 4 (nbformat.readthedocs.io, read
// 2026-11-30). Older ones are read as text.
type notebook struct {
	Format   int    `json:"nbformat"`
	Cells    []cell `json:"cells"`
	Metadata struct {
		Kernel struct {
			Name string `json:"name"`
		} `json:"kernelspec"`
	} `json:"metadata"`
}

type cell struct {
	Type        string                       `json:"cell_type"`
	Source      multiline                    `json:"source"`
	Count       *int                         `json:"execution_count"`
	Outputs     []output                     `json:"outputs"`
	Attachments map[string]map[string]string `json:"attachments"`
}

type output struct {
	Type      string                     `json:"output_type"`
	Name      string                     `json:"name"`
	Text      multiline                  `json:"text"`
	Data      map[string]json.RawMessage `json:"data"`
	EName     string                     `json:"ename"`
	EValue    string                     `json:"evalue"`
	Traceback []string                   `json:"traceback"`
}

// multiline is a text that may be spelt as a list of its lines.
type multiline string

// UnmarshalJSON implements json.Unmarshaler.
func (m *multiline) UnmarshalJSON(b []byte) error {
	var parts []string
	if len(b) > 0 && b[0] == '[' {
		if err := json.Unmarshal(b, &parts); err != nil {
			return fmt.Errorf("read a text of a notebook: %w", err)
		}
		*m = multiline(strings.Join(parts, ""))
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("read a text of a notebook: %w", err)
	}
	*m = multiline(s)
	return nil
}

// mayBeNotebook tells from the beginning of a file whether it is worth reading as
// a notebook; its content decides.
func mayBeNotebook(path string, head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte(bom)), " \t\r\n")
	return bytes.HasPrefix(head, []byte("{")) &&
		(strings.EqualFold(filepath.Ext(path), ".ipynb") || bytes.Contains(head, []byte(`"cell_type"`)))
}

// readNotebook reads a notebook as its cells. The result is empty for a file that
// is none; the reader it returns then gives the file from its beginning.
func readNotebook(ctx context.Context, br *bufio.Reader, name string) (Result, *bufio.Reader, error) {
	data, err := io.ReadAll(io.LimitReader(br, maxNotebook+1))
	if err != nil {
		return Result{}, nil, err
	}
	if err := ctx.Err(); err != nil {
		return Result{}, nil, err
	}
	if len(data) <= maxNotebook {
		if sources := notebookSources(data, name); sources != nil {
			return Result{Sources: sources}, nil, nil
		}
	}
	return Result{}, bufio.NewReaderSize(io.MultiReader(bytes.NewReader(data), br), sniffBytes), nil
}

// notebookSources gives the cells of a notebook, numbered, with their outputs:
// text and, where they stand, the decoded pictures. It is nil for what is no
// notebook.
func notebookSources(data []byte, name string) []content.Source {
	var nb notebook
	if json.Unmarshal(bytes.TrimPrefix(data, []byte(bom)), &nb) != nil || nb.Format < 4 || nb.Cells == nil {
		return nil
	}
	p := &page{name: name}
	kernel := ""
	if k := nb.Metadata.Kernel.Name; k != "" {
		kernel = ", " + content.Clean(k)
	}
	p.printf("[notebook%s, %s; give offset to read its JSON]\n", kernel, plural(len(nb.Cells), "cell"))
	for i, c := range nb.Cells {
		if p.size > maxReadBytes {
			p.printf("\n[cut: %s; give offset to read the JSON]\n", plural(len(nb.Cells)-i, "more cell"))
			break
		}
		p.cell(i+1, c)
	}
	p.flush()
	return p.sources
}

// page collects the text of a notebook, and pictures where they stand in it.
type page struct {
	name     string
	sb       strings.Builder
	size     int
	pictures int
	sources  []content.Source
}

func (p *page) printf(format string, args ...any) {
	n := p.sb.Len()
	fmt.Fprintf(&p.sb, format, args...)
	p.size += p.sb.Len() - n
}

// body writes a text with its lines bounded and with an end.
func (p *page) body(text string) {
	text = strings.ToValidUTF8(text, "\ufffd")
	n := p.sb.Len()
	for line := range strings.Lines(text) {
		if p.size+p.sb.Len()-n > 2*maxReadBytes {
			p.sb.WriteString("[cut]\n")
			break
		}
		p.sb.WriteString(clip(line, maxLineBytes))
	}
	if text != "" && !strings.HasSuffix(p.sb.String()[n:], "\n") {
		p.sb.WriteByte('\n')
	}
	p.size += p.sb.Len() - n
}

func (p *page) flush() {
	if p.sb.Len() > 0 {
		p.sources = append(p.sources, Prose(p.sb.String()))
		p.sb.Reset()
	}
}

func (p *page) cell(n int, c cell) {
	run := ""
	if c.Count != nil {
		run = ", run " + strconv.Itoa(*c.Count)
	}
	p.printf("\n[cell %d, %s%s]\n", n, content.Clean(c.Type), run)
	p.body(string(c.Source))
	names := make([]string, 0, len(c.Attachments))
	for name := range c.Attachments {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		raw := map[string]json.RawMessage{}
		for mime, data := range c.Attachments[name] {
			if b, err := json.Marshal(data); err == nil {
				raw[mime] = b
			}
		}
		p.printf("[attachment %s]\n", content.Clean(name))
		p.data(raw, fmt.Sprintf("%s cell %d %s", p.name, n, name))
	}
	for i, o := range c.Outputs {
		p.printf("[output %d of cell %d]\n", i+1, n)
		p.output(o, fmt.Sprintf("%s cell %d output %d", p.name, n, i+1))
	}
}

func (p *page) output(o output, label string) {
	switch o.Type {
	case "stream":
		p.out(string(o.Text))
	case "error":
		text := strings.Join(o.Traceback, "\n")
		if text == "" {
			text = o.EName + ": " + o.EValue
		}
		p.out(text)
	default: // display_data, execute_result, and what later formats bring
		p.data(o.Data, label)
	}
}

// escapes are the colours that tracebacks hold.
var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

// out writes an output in bounds: long ones bury the cells.
func (p *page) out(text string) {
	text = escapes.ReplaceAllString(text, "")
	all := len(text)
	if all > maxOutputBytes {
		text = text[:runeStart([]byte(text), maxOutputBytes)]
	}
	p.body(bounded(text, maxLineBytes))
	if len(text) < all {
		p.printf("[output cut at %d of %d bytes]\n", len(text), all)
	}
}

// pictureTypes are the picture formats of outputs, best first. SVG is text.
var pictureTypes = [...]string{"image/png", "image/jpeg", "image/webp", "image/gif", "image/bmp"}

// textTypes are the text formats of outputs, plainest first.
var textTypes = [...]string{"text/plain", "text/markdown", "text/latex", "application/json", "image/svg+xml", "text/html"}

// data writes an output that comes in several formats: its picture, and the
// plainest text.
func (p *page) data(data map[string]json.RawMessage, label string) {
	shown := false
	for _, mime := range textTypes {
		if raw, ok := data[mime]; ok && !shown {
			p.out(textOf(raw))
			shown = true
		}
	}
	for _, mime := range pictureTypes {
		if raw, ok := data[mime]; ok {
			p.picture(mime, textOf(raw), label)
			return
		}
	}
	if !shown {
		names := make([]string, 0, len(data))
		for mime := range data {
			names = append(names, content.Clean(mime))
		}
		slices.Sort(names)
		p.printf("[not shown: %s]\n", strings.Join(names[:min(len(names), maxNamed)], ", "))
	}
}

// textOf is the text of an entry, its JSON where it is none.
func textOf(raw json.RawMessage) string {
	var m multiline
	if m.UnmarshalJSON(raw) == nil {
		return string(m)
	}
	return string(raw)
}

// picture hands the decoded bytes of a picture over; what they are, the inlet
// finds out.
func (p *page) picture(mime, encoded, label string) {
	data, err := base64.StdEncoding.DecodeString(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == ' ' {
			return -1
		}
		return r
	}, encoded))
	switch p.pictures++; {
	case err != nil || len(data) == 0:
		p.printf("[a picture, %s, that cannot be decoded]\n", mime)
		return
	case p.pictures > maxNotebookPictures:
		p.printf("[a picture, %s, not shown: more than %d]\n", mime, maxNotebookPictures)
		return
	}
	p.printf("[a picture, %s, follows]\n", mime)
	p.flush()
	if !utf8.ValidString(label) {
		label = strings.ToValidUTF8(label, "\ufffd")
	}
	p.sources = append(p.sources, content.Source{
		Payload: content.Bytes{Data: data}, Inlet: content.InletTool, Chooser: content.ChosenByTool, Declared: mime, Name: label,
	})
}
