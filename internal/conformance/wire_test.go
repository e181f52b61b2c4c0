package conformance_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tote/internal/content"
	"tote/internal/provider/cli"
	"tote/internal/provider/cli/clitest"
	"tote/internal/provider/providertest"
)

// The speakers of a conversation.
const (
	speakerUser  = "user"
	speakerModel = "assistant"
	speakerTool  = "tool"
)

// medium is one payload that a server decoded.
type medium struct {
	kind    content.Kind
	mime    string
	speaker string
	// call is the call whose result holds it, "" outside of results.
	call string
	data []byte
}

// thought is what a model thought.
type thought struct{ text, signature string }

// box is a place where media stand behind the text, in order.
type box struct {
	from, to int
	media    []int
}

// wire is a request as its server reads it.
type wire struct {
	body []byte
	// flat is all text in order, one part a line, with a mark where a
	// medium stands. boxes are the stretches of it that have none.
	flat  string
	boxes []box
	media []medium
	// results are the ids of the calls that are answered, in order.
	results []string
	// thoughts and calls are what assistant messages hold beside their text.
	thoughts []thought
	calls    []content.ToolCall
	// speakers take turns.
	speakers []string
	// fields are the members in which payloads stood.
	fields map[string]int
}

// mark stands for the n-th medium in the flat text.
func mark(n int) string { return fmt.Sprintf("\x00%d\x00", n) }

// read reads a body as the server does.
func (a adapter) read(body []byte) (wire, error) {
	s, err := a.sent(body)
	if err != nil {
		return wire{body: body}, err
	}
	w, err := a.flatten(s)
	if err != nil {
		return w, err
	}
	w.body = body
	return w, w.stowaway(a, "", decoded(body))
}

// readCall reads what a program was started with.
func (a adapter) readCall(c clitest.Call) (wire, error) {
	s, err := c.Sent()
	if err != nil {
		return wire{body: c.Stdin}, err
	}
	w, err := a.flatten(s)
	if err != nil {
		return w, err
	}
	w.body = c.Stdin
	for _, m := range toolLines.FindAllStringSubmatch(w.flat, -1) {
		if m[1] == "result of " {
			w.results = append(w.results, m[2])
			continue
		}
		w.calls = append(w.calls, content.ToolCall{ID: m[2], Name: m[3], Arguments: m[4]})
	}
	for i, arg := range c.Argv {
		if n := longestRun(arg); n > maxRun {
			return w, fmt.Errorf("%d characters of base64 in argument %d", n, i)
		}
	}
	if a.runner == cli.Claude {
		return w, w.stowaway(a, "", decoded(c.Stdin))
	}
	if n := longestRun(string(c.Stdin)); n > maxRun {
		return w, fmt.Errorf("%d characters of base64 on the standard input", n)
	}
	return w, nil
}

// toolLines are how a transcript tells of calls and results.
var toolLines = regexp.MustCompile(`\[(result of )?call (\S+) of the tool ([^\],\s]+)[^\]]*\] ?(.*)`)

// flattener makes a wire of what a server read.
type flattener struct {
	adapter
	wire
	sb strings.Builder
}

func (a adapter) flatten(s providertest.Sent) (wire, error) {
	f := flattener{adapter: a}
	for i, m := range s.Messages {
		if err := f.message(m); err != nil {
			return f.wire, fmt.Errorf("message %d (%s): %w", i, m.Role, err)
		}
	}
	f.flat = f.sb.String()
	return f.wire, nil
}

func (f *flattener) message(m providertest.SentMessage) error {
	who := speakerUser
	switch m.Role {
	case "assistant", "model", "function_call", "reasoning":
		who = speakerModel
	case "tool", "tools", "function_call_output":
		who = speakerTool
	}
	end := f.open(f.apart == apartEverywhere)
	first := len(f.speakers)
	for i, p := range m.Parts {
		speaker := who
		if p.Result != nil {
			speaker = speakerTool
		}
		// A message of its own is a turn of its own, unless it goes on with
		// what a model or a tool does.
		if n := len(f.speakers); n == 0 || f.speakers[n-1] != speaker || n == first && speaker == speakerUser {
			f.speakers = append(f.speakers, speaker)
		}
		if err := f.part(p, speaker, ""); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	end()
	return nil
}

// open begins a stretch whose media stand behind it, if is, and returns what
// ends it.
func (f *flattener) open(is bool) func() {
	if !is {
		return func() {}
	}
	f.boxes = append(f.boxes, box{from: f.sb.Len(), to: -1})
	return func() { f.boxes[len(f.boxes)-1].to = f.sb.Len() }
}

func (f *flattener) part(p providertest.SentPart, speaker, call string) error {
	switch {
	case p.Result != nil:
		f.results = append(f.results, p.Result.CallID)
		end := func() {}
		if f.apart == apartInResults {
			end = f.open(true)
		}
		for i, q := range p.Result.Parts {
			if err := f.part(q, speaker, p.Result.CallID); err != nil {
				return fmt.Errorf("part %d of a result: %w", i, err)
			}
		}
		end()
	case p.Call != nil:
		f.calls = append(f.calls, *p.Call)
	case p.Kind != 0:
		return f.medium(p, speaker, call)
	case p.Thought != "" || p.Signature != "" && p.Text == "":
		f.thoughts = append(f.thoughts, thought{p.Thought, p.Signature})
	default:
		if strings.TrimSpace(p.Text) == "" && speaker != speakerModel {
			return errors.New("blank text")
		}
		f.line(p.Text)
	}
	return nil
}

func (f *flattener) line(s string) {
	if f.sb.Len() > 0 {
		f.sb.WriteByte('\n')
	}
	f.sb.WriteString(s)
}

func (f *flattener) medium(p providertest.SentPart, speaker, call string) error {
	m := medium{kind: p.Kind, mime: p.MIME, speaker: speaker, call: call, data: p.Data}
	if own, ok := f.types[m.mime]; ok {
		m.mime = own
	}
	if own, ok := soundFiles[filepath.Ext(p.Name)]; ok { // a program tells it by the name
		m.kind, m.mime = content.KindAudio, own
	}
	if m.mime == "" { // the server tells it by the bytes, and so does this
		m.mime = strings.Replace(http.DetectContentType(m.data), "audio/wave", "audio/wav", 1)
	}
	f.media = append(f.media, m)
	if n := len(f.boxes); n > 0 && f.boxes[n-1].to < 0 {
		f.boxes[n-1].media = append(f.boxes[n-1].media, len(f.media)-1)
		return nil
	}
	f.line(mark(len(f.media) - 1))
	return nil
}

// soundFiles are the media types of files that stand-ins for programs know by
// their names alone.
var soundFiles = map[string]string{".aac": "audio/aac", ".ogg": "audio/ogg", ".flac": "audio/flac", ".aiff": "audio/aiff"}

// boxAt is the box at an offset of the flat text, nil for none.
func (w *wire) boxAt(at int) *box {
	for i := range w.boxes {
		if b := &w.boxes[i]; at >= b.from && at < b.to {
			return b
		}
	}
	return nil
}

func decoded(body []byte) any {
	var v any
	_ = json.Unmarshal(body, &v) // it was read as JSON before
	return v
}

// maxRun is the longest run of base64 characters that can be words.
const maxRun = 200

// stowaway finds base64 where text belongs, and notes where payloads stand.
// path names the members down to v.
func (w *wire) stowaway(a adapter, path string, v any) error {
	switch v := v.(type) {
	case string:
		if slices.Contains(a.payloads, path) {
			if w.fields == nil {
				w.fields = map[string]int{}
			}
			w.fields[path]++
			return nil
		}
		if n := longestRun(v); n > maxRun {
			return fmt.Errorf("%d characters of base64 in %s", n, path)
		}
	case []any:
		for _, x := range v {
			if err := w.stowaway(a, path, x); err != nil {
				return err
			}
		}
	case map[string]any:
		for k, x := range v {
			if err := w.stowaway(a, strings.TrimPrefix(path+"."+k, "."), x); err != nil {
				return err
			}
		}
	}
	if path != "" {
		return nil
	}
	n := 0
	for _, count := range w.fields {
		n += count
	}
	if n != len(w.media) {
		return fmt.Errorf("%d members for payloads, and %d media", n, len(w.media))
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
