package clitest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"tote/internal/content"
	"tote/internal/provider/providertest"
)

// Sent reads what a call was given in the shape of every wire. Tool calls and
// their results are prose on these paths.
func (c Call) Sent() (providertest.Sent, error) {
	if c.Runner == "claude" {
		return ReadClaude(c.Stdin)
	}
	for _, f := range c.Files {
		if f.Lost {
			return providertest.Sent{}, fmt.Errorf("the program cannot read %s", filepath.Base(f.Path))
		}
	}
	return c.readPrompt()
}

// claudeLine is what claude reads.
type claudeLine struct {
	Type    string
	Parent  *string `json:"parent_tool_use_id"`
	Message struct {
		Role    string
		Content []claudeBlock
	}
}

type claudeBlock struct {
	Type, Text string
	Source     *struct {
		Type, Data string
		MediaType  string `json:"media_type"`
	}
}

// ReadClaude reads the one line that claude gets, strictly.
func ReadClaude(stdin []byte) (providertest.Sent, error) {
	line, rest, ok := bytes.Cut(stdin, []byte("\n"))
	if !ok || len(rest) > 0 {
		return providertest.Sent{}, errors.New("not one line")
	}
	var in claudeLine
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return providertest.Sent{}, fmt.Errorf("parse the line: %w", err)
	}
	if in.Type != "user" || in.Message.Role != "user" || in.Parent != nil {
		return providertest.Sent{}, errors.New("no message of the user")
	}
	var t transcript
	for i, b := range in.Message.Content {
		if err := t.block(b); err != nil {
			return providertest.Sent{}, fmt.Errorf("block %d: %w", i, err)
		}
	}
	return t.end()
}

func (t *transcript) block(b claudeBlock) error {
	switch b.Type {
	case "text":
		if b.Text == "" || b.Source != nil {
			return errors.New("an empty text")
		}
		t.text(b.Text)
		return nil
	case "image", "document":
		if b.Source == nil || b.Source.Type != "base64" || b.Text != "" {
			return errors.New("no source")
		}
		data, err := base64.StdEncoding.Strict().DecodeString(b.Source.Data)
		if err != nil || len(data) == 0 {
			return errors.New("its data is no base64")
		}
		if b.Type == "document" != (b.Source.MediaType == "application/pdf") {
			return fmt.Errorf("a %s of type %q", b.Type, b.Source.MediaType)
		}
		t.medium(b.Source.MediaType, data, "")
		return nil
	}
	return fmt.Errorf("type %q", b.Type)
}

// references finds what stands for a file in a prompt.
var references = map[string]*regexp.Regexp{
	// Alone on a line: a user may write the same in a sentence.
	"codex": regexp.MustCompile(`(?m)^\[Image #(\d+)\]$`), "gemini": atPath, "custom": attached,
}

// readPrompt puts files back where the prompt names them.
func (c Call) readPrompt() (providertest.Sent, error) {
	if payload.MatchString(c.Prompt) {
		return providertest.Sent{}, errors.New("the prompt holds base64")
	}
	var t transcript
	at, used := 0, 0
	for _, m := range references[c.Runner].FindAllStringSubmatchIndex(c.Prompt, -1) {
		if c.Runner == "gemini" && m[0] > 0 && c.Prompt[m[0]-1] == '\\' {
			continue
		}
		if used == len(c.Files) {
			return providertest.Sent{}, fmt.Errorf("%d files and more places", used)
		}
		f := c.Files[used]
		if named := c.Prompt[m[2]:m[3]]; named != strconv.Itoa(used+1) && !strings.HasSuffix(named, filepath.Base(f.Path)) {
			return providertest.Sent{}, fmt.Errorf("place %d names %q, and the file there is %q", used, filepath.Base(named), filepath.Base(f.Path))
		}
		t.text(c.prose(c.Prompt[at:m[0]]))
		t.medium(types[filepath.Ext(f.Path)], f.Data, filepath.Base(f.Path))
		at = m[1]
		used++
	}
	t.text(c.prose(c.Prompt[at:]))
	if used != len(c.Files) {
		return providertest.Sent{}, fmt.Errorf("%d of %d files have a place in the prompt", used, len(c.Files))
	}
	return t.end()
}

// prose takes off what was put in for the program.
func (c Call) prose(s string) string {
	if c.Runner == "gemini" {
		return strings.ReplaceAll(s, `\@`, "@")
	}
	return s
}

// payload is what no prose may hold.
var payload = regexp.MustCompile(`data:[a-z]+/[a-z0-9.+-]+;base64,|[A-Za-z0-9+/]{400}`)

var types = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".pdf": "application/pdf",
	".wav": "audio/wav", ".mp3": "audio/mpeg",
}

// transcript takes a conversation apart again.
type transcript struct {
	sent  providertest.Sent
	where string // "" before the first mark
	lines []string
	ended bool
	err   error
}

var marks = regexp.MustCompile(`^=== (.+) ===$`)

func (t *transcript) text(s string) {
	if payload.MatchString(s) {
		t.err = errors.New("prose holds base64")
	}
	for l := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(s, "\n"), "\n"), "\n") {
		m := marks.FindStringSubmatch(l)
		if m == nil {
			t.lines = append(t.lines, l)
			continue
		}
		t.flush()
		t.where = m[1]
		switch t.where {
		case "instructions":
		case "end of the conversation":
			t.ended = true
		default:
			t.sent.Messages = append(t.sent.Messages, providertest.SentMessage{Role: t.where})
		}
	}
}

// flush ends a piece of prose.
func (t *transcript) flush() {
	s := strings.Trim(strings.Join(t.lines, "\n"), "\n")
	t.lines = nil
	switch {
	case s == "" || t.where == "" || t.ended:
	case t.where == "instructions":
		t.sent.System = s
	default:
		t.part(providertest.SentPart{Text: s})
	}
}

func (t *transcript) medium(mime string, data []byte, name string) {
	t.flush()
	if len(t.sent.Messages) == 0 || t.ended {
		t.err = errors.New("an attachment outside of any message")
		return
	}
	kind := content.KindImage
	switch {
	case strings.HasPrefix(mime, "audio/"):
		kind = content.KindAudio
	case !strings.HasPrefix(mime, "image/"):
		kind = content.KindDocument
	}
	t.part(providertest.SentPart{Kind: kind, MIME: mime, Data: data, Name: name})
}

func (t *transcript) part(p providertest.SentPart) {
	m := &t.sent.Messages[len(t.sent.Messages)-1]
	m.Parts = append(m.Parts, p)
}

func (t *transcript) end() (providertest.Sent, error) {
	switch {
	case t.err != nil:
		return t.sent, t.err
	case !t.ended:
		return t.sent, errors.New("the transcript has no end")
	case len(t.sent.Messages) == 0:
		return t.sent, errors.New("no messages")
	case strings.TrimSpace(strings.Join(t.lines, "")) == "" || strings.HasPrefix(strings.TrimSpace(t.lines[0]), "/"):
		return t.sent, errors.New("the last words are no fixed ones")
	}
	return t.sent, nil
}
