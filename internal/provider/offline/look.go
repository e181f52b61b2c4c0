package offline

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/segmentio/asm/base64"

	"tote/internal/imaging"
	"tote/internal/provider"
)

// patch is the side of the square that costs one token, in pixels.
const patch = 32

// maxEarlier is how many pictures of earlier turns are decoded and told.
const maxEarlier = 20

// sight is what was found in a request.
type sight struct {
	// lines are sentences about it.
	lines []string
	// text is the prompt's prose, all the text of the request, both in
	// characters.
	text, all int
	// open is the label of a file whose text is being read, file how many
	// characters of it came, "" and 0 outside.
	open string
	file int
	// tokens is the price of the pictures.
	tokens int
}

// look goes through a request.
func look(ctx context.Context, r request) sight {
	var s sight
	start, _ := r.turn()
	results, resultText, picture, earlier, untold := 0, 0, 0, 0, 0
	for i, m := range r.Messages {
		ends := m.ends()
		for _, p := range m.Content {
			n := utf8.RuneCountInString(p.Text)
			s.all += n
			switch {
			case p.Type == "image_url" && i < start:
				if earlier++; earlier > maxEarlier {
					untold++
				}
				line, tokens := seePicture(ctx, string(p.ImageURL))
				s.tokens += tokens
				if earlier <= maxEarlier {
					s.add("Earlier picture %d: %s.", earlier, line)
				}
			case i < start:
			case p.Type == "image_url":
				picture++
				line, tokens := seePicture(ctx, string(p.ImageURL))
				s.tokens += tokens
				s.add("Picture %d: %s.", picture, line)
			case p.Type == "input_audio":
				s.add("Sound: %s, %s.", strings.ToUpper(p.Audio.Format), decodedSize(p.Audio.Data))
			case p.Type == "file":
				s.seeFile(p)
			case m.Role == "tool":
				resultText += n
			case m.Role == "user":
				s.read(p.Text, n, ends)
			}
		}
		s.closeFile()
		if m.Role == "tool" && i >= start {
			results++
		}
	}
	if untold > 0 {
		s.add("There are %d more earlier pictures.", untold)
	}
	if results > 0 {
		s.add("Tool results: %d, with %d characters of text.", results, resultText)
	}
	return s
}

func (s *sight) add(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

// read tells the user's own words from labels, and from the text of files that
// stands between a label and the mark of its end.
func (s *sight) read(text string, n int, ends map[string]bool) {
	if s.open != "" {
		if text == endOf(s.open) {
			s.closeFile()
			return
		}
		s.file += n
		return
	}
	m := labelled().FindStringSubmatch(text)
	switch {
	case m == nil:
		s.text += n
	case ends[endOf(m[1])]:
		s.open = m[1]
	}
}

// closeFile tells of the file whose text was read.
func (s *sight) closeFile() {
	if s.open != "" {
		s.add("Text of %s: %d characters.", s.open, s.file)
	}
	s.open, s.file = "", 0
}

func endOf(label string) string { return "[end of " + label + "]" }

// ends are the marks in a message at which the text of a file ends.
func (m message) ends() map[string]bool {
	out := map[string]bool{}
	for _, p := range m.Content {
		if strings.HasPrefix(p.Text, "[end of ") {
			out[p.Text] = true
		}
	}
	return out
}

// labelled is the line that stands before an attachment, or in its place.
// It is compiled at its first use, so that starting the program costs nothing.
var labelled = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\[([a-z_]+-[0-9]+(?:\.[A-Za-z0-9.]+)?)[:, ][^\n]*\]$`)
})

func (s *sight) seeFile(p part) {
	mime, payload, ok := splitDataURI(p.File.Data)
	if !ok {
		s.add("Document %q: it does not come as a data URI.", p.File.Name)
		return
	}
	s.add("Document %q: %s, %s.", p.File.Name, mime, decodedSize(payload))
}

// seePicture decodes a picture and says what it shows, and what it costs.
func seePicture(ctx context.Context, uri string) (string, int) {
	mime, payload, ok := splitDataURI(uri)
	if !ok {
		return "it does not come as a data URI, so it was not looked at", 0
	}
	data, err := decode(payload)
	if err != nil {
		return "its base64 is broken", 0
	}
	seen, err := imaging.Describe(ctx, data)
	if err != nil {
		return fmt.Sprintf("sent as %s, %d bytes, but it does not decode", mime, len(data)), 0
	}
	var colors []string
	for _, c := range seen.Colors {
		colors = append(colors, fmt.Sprintf("%s (%.0f%%)", c.Name, c.Share*100))
	}
	line := fmt.Sprintf("%s, %d×%d pixels, %d bytes", formatName(seen.MIME), seen.Width, seen.Height, len(data))
	if len(colors) > 0 {
		line += ", mostly " + strings.Join(colors, ", ")
	}
	if seen.MIME != mime {
		line += ", though it was sent as " + mime
	}
	return line, max(1, (seen.Width+patch-1)/patch) * max(1, (seen.Height+patch-1)/patch)
}

func formatName(mime string) string {
	name := strings.ToUpper(strings.TrimPrefix(mime, "image/"))
	if name == "WEBP" {
		return "WebP"
	}
	return name
}

func decodedSize(payload string) string {
	data, err := decode(payload)
	if err != nil {
		return "whose base64 is broken"
	}
	return fmt.Sprintf("%d bytes", len(data))
}

var errNotPadded = errors.New("base64 is not padded")

func decode(payload string) ([]byte, error) {
	if len(payload)%4 != 0 {
		return nil, errNotPadded
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(payload)))
	n, err := base64.StdEncoding.Decode(out, []byte(payload))
	return out[:n], err
}

// sentences is the answer, one piece to stream each.
func (s *sight) sentences() []string {
	out := []string{
		"This is the offline provider of tote. ",
		"It is no language model: it only says what reached it.\n",
		fmt.Sprintf("Your message: %d characters of text.\n", s.text),
	}
	for _, l := range s.lines {
		out = append(out, l+"\n")
	}
	return append(out, "Choose a model with a provider of its own to get real answers.")
}

// words is a text as a JSON string.
func words(s string) string { return string(provider.AppendString(nil, s)) }
