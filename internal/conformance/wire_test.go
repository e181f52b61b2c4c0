package conformance_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"tote/internal/content"
	"tote/internal/provider/providertest"
)

// medium is one payload that a server decoded.
type medium struct {
	kind content.Kind
	mime string
	role string
	data []byte
}

// wire is a request as its server reads it.
type wire struct {
	body []byte
	// flat is all text in order, one part a line, with a mark where a
	// medium stands.
	flat  string
	media []medium
	// results are the ids of the calls that are answered, in order.
	results []string
	// thoughts and calls are what assistant messages hold beside their text.
	thoughts []string
	calls    []content.ToolCall
}

// mark stands for the n-th medium in the flat text.
func mark(n int) string { return fmt.Sprintf("\x00%d\x00", n) }

// readChat reads a request for Chat Completions.
func readChat(body []byte) (wire, error) {
	w := wire{body: body}
	c, err := providertest.ParseChat(body)
	if err != nil {
		return w, err
	}
	var thoughts struct {
		Messages []struct {
			Thought string `json:"reasoning_content"`
			Short   string `json:"reasoning"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &thoughts); err != nil {
		return w, err
	}
	var flat []string
	for i, m := range c.Messages {
		if s := thoughts.Messages[i].Thought + thoughts.Messages[i].Short; s != "" {
			w.thoughts = append(w.thoughts, s)
		}
		for _, call := range m.ToolCalls {
			w.calls = append(w.calls, content.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments})
		}
		if m.Role == "tool" {
			w.results = append(w.results, m.ToolCallID)
		}
		parts, err := m.Parts()
		if err != nil {
			return w, err
		}
		for j, p := range parts {
			if p.Type == "text" {
				if strings.TrimSpace(p.Text) == "" && m.Role != "assistant" {
					return w, fmt.Errorf("message %d (%s), part %d: blank text", i, m.Role, j)
				}
				flat = append(flat, p.Text)
				continue
			}
			x, err := readMedium(p)
			if err != nil {
				return w, fmt.Errorf("message %d (%s), part %d: %w", i, m.Role, j, err)
			}
			x.role = m.Role
			flat = append(flat, mark(len(w.media)))
			w.media = append(w.media, x)
		}
	}
	w.flat = strings.Join(flat, "\n")
	return w, stowaway("", decoded(body))
}

func readMedium(p providertest.ChatPart) (medium, error) {
	switch p.Type {
	case "image_url":
		mime, data, err := providertest.DataURI(p.ImageURL.URL)
		return medium{kind: content.KindImage, mime: mime, data: data}, err
	case "input_audio":
		data, err := base64.StdEncoding.Strict().DecodeString(p.InputAudio.Data)
		mime := map[string]string{"wav": "audio/wav", "mp3": "audio/mpeg"}[p.InputAudio.Format]
		return medium{kind: content.KindAudio, mime: mime, data: data}, err
	case "file":
		mime, data, err := providertest.DataURI(p.File.FileData)
		return medium{kind: content.KindDocument, mime: mime, data: data}, err
	}
	return medium{}, fmt.Errorf("a part of type %q", p.Type)
}

func decoded(body []byte) any {
	var v any
	_ = json.Unmarshal(body, &v) // it was read as JSON before
	return v
}

// payloadFields are the only ones in which a payload may stand.
var payloadFields = map[string]bool{
	"image_url.url": true, "input_audio.data": true, "file.file_data": true,
}

// maxRun is the longest run of base64 characters that can be words.
const maxRun = 200

// stowaway finds base64 where text belongs. path holds the last two names.
func stowaway(path string, v any) error {
	switch v := v.(type) {
	case string:
		if n := longestRun(v); n > maxRun && !payloadFields[path] {
			return fmt.Errorf("%d characters of base64 in %s", n, path)
		}
	case []any:
		for _, x := range v {
			if err := stowaway(path, x); err != nil {
				return err
			}
		}
	case map[string]any:
		_, last, _ := strings.Cut(path, ".")
		for k, x := range v {
			if err := stowaway(last+"."+k, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// longestRun is the longest run of characters that base64 is made of.
func longestRun(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("+/-_=", c) >= 0:
			run++
			longest = max(longest, run)
		default:
			run = 0
		}
	}
	return longest
}

// spelt is a piece out of the middle of data as base64 from its beginning spells
// it, "" where data is too short to be told by one.
func spelt(data []byte) string {
	const piece = 30
	at := len(data) / 2 / 3 * 3
	if at+piece > len(data) {
		return ""
	}
	return base64.StdEncoding.EncodeToString(data[at : at+piece])
}
