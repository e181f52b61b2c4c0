package hook

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"tote/internal/permission"
)

// Bounds on an event and on what is told of a hook, in bytes, unless said otherwise.
const (
	maxText      = 16 << 10 // the text of an event, and the detail of a request
	maxArguments = 64 << 10 // the arguments of a call
	maxString    = 2 << 10  // a text in arguments that are cut
	maxReason    = 4 << 10  // a reason
	maxName      = 80       // the name of a program, in runes
	maxWords     = 300      // what a hook wrote to standard error, in a problem, in runes
)

// wire is an event as hooks read it. docs/hooks.md describes it.
type wire struct {
	Event        string          `json:"event"`
	Session      string          `json:"session"`
	Turn         string          `json:"turn,omitempty"`
	Cwd          string          `json:"cwd"`
	Tool         string          `json:"tool,omitempty"`
	Arguments    json.RawMessage `json:"arguments,omitempty"`
	ArgumentsCut bool            `json:"arguments_cut,omitempty"`
	Request      *wireRequest    `json:"request,omitempty"`
	Text         string          `json:"text,omitempty"`
	TextCut      bool            `json:"text_cut,omitempty"`
	IsError      bool            `json:"is_error,omitempty"`
}

// wireRequest is what a call wants to do.
type wireRequest struct {
	Action   string   `json:"action"`
	Path     string   `json:"path,omitempty"`
	Inside   bool     `json:"inside"`
	Detail   string   `json:"detail,omitempty"`
	Commands []string `json:"commands,omitempty"`
	Cut      bool     `json:"cut,omitempty"`
}

// encode writes an event as one line of JSON.
func encode(e Event) []byte {
	w := wire{Event: e.Name, Session: e.Session, Turn: e.Turn, Cwd: e.Cwd, Tool: e.Tool, IsError: e.IsError}
	w.Text, w.TextCut = cut(e.Text, maxText)
	if e.Tool != "" {
		w.Arguments, w.ArgumentsCut = arguments(e.Arguments)
		w.Request = request(e.Request)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(w); err != nil {
		// The arguments have been checked, and nothing else can fail.
		panic("hook: encode an event: " + err.Error())
	}
	return b.Bytes()
}

func request(q permission.Request) *wireRequest {
	w := &wireRequest{Action: q.Action.String(), Path: q.Path, Inside: q.Inside}
	w.Detail, w.Cut = cut(q.Detail, maxText)
	room := maxText
	for _, c := range q.Commands {
		if room -= len(c); room < 0 {
			w.Commands, w.Cut = nil, true // a part would pass for the whole
			break
		}
		w.Commands = append(w.Commands, c)
	}
	return w
}

// arguments returns compact JSON within the bound. Where that is too long, long texts
// in it are cut; where that does not help, there are none.
func arguments(raw json.RawMessage) (out json.RawMessage, wasCut bool) {
	var b bytes.Buffer
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, false
	}
	if json.Compact(&b, raw) != nil {
		return nil, true
	}
	if b.Len() <= maxArguments {
		return b.Bytes(), false
	}
	d := json.NewDecoder(&b)
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, true
	}
	short, err := json.Marshal(shorten(v))
	if err != nil || len(short) > maxArguments {
		return nil, true
	}
	return short, true
}

func shorten(v any) any {
	switch v := v.(type) {
	case string:
		s, _ := cut(v, maxString)
		return s
	case []any:
		for i := range v {
			v[i] = shorten(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = shorten(v[k])
		}
	}
	return v
}

// cut returns at most limit bytes of a text, whole characters.
func cut(s string, limit int) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit], true
}

// oneLine makes a text fit for a line of a notice.
func oneLine(s string, runes int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > runes {
		s = string([]rune(s)[:runes]) + "…"
	}
	return s
}

// answer is what one hook said.
type answer struct {
	Word, Reason, Context string

	decision Decision
}

// parse reads the output of a hook that ended well.
func parse(out []byte) (a answer, what string) {
	out = bytes.TrimSpace(bytes.TrimPrefix(out, []byte("\xef\xbb\xbf")))
	if len(out) == 0 {
		return answer{}, ""
	}
	d := json.NewDecoder(bytes.NewReader(out))
	if !read(d, &a) {
		return answer{}, `wrote something else than a JSON object with "decision", "reason" and "context"`
	}
	if _, err := d.Token(); err != io.EOF {
		return answer{}, "wrote more than one JSON object"
	}
	switch a.Word {
	case "":
	case "allow":
		a.decision = Allow
	case "ask":
		a.decision = Ask
	case "deny":
		a.decision = Deny
	default:
		return answer{}, `wrote a decision that is none of "allow", "ask" and "deny"`
	}
	a.Reason = reason(a.Reason)
	return a, ""
}

// read reads the members one by one: a member that stands there twice, or in other
// letters, leaves open what is meant.
func read(d *json.Decoder, a *answer) bool {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	members := map[string]*string{"decision": &a.Word, "reason": &a.Reason, "context": &a.Context}
	for d.More() {
		t, err := d.Token()
		name, _ := t.(string)
		value, known := members[name]
		if err != nil || !known || d.Decode(value) != nil {
			return false
		}
		delete(members, name)
	}
	_, err := d.Token()
	return err == nil
}

func reason(s string) string {
	s, _ = cut(strings.TrimSpace(strings.ToValidUTF8(s, "�")), maxReason)
	return s
}

// fit makes an answer one that means something at an event.
func (a answer) fit(event string) (answer, string) {
	switch {
	case !decides(event) && a.decision == Deny:
		if a.Reason != "" {
			a.Context = strings.TrimSpace(a.Reason + "\n\n" + a.Context)
		}
		a.decision, a.Reason = None, ""
	case !decides(event):
		a.decision, a.Reason = None, ""
	case event == Prompt && a.decision == Ask:
		return answer{}, "asks about a prompt, which can only be denied"
	case event == Prompt && a.decision == Allow:
		a.decision, a.Reason = None, "" // nothing needs a permission
	case a.decision == Deny && a.Reason == "":
		a.Reason = "a hook denies it and gives no reason"
	}
	return a, ""
}
