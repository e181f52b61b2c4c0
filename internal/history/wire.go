package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"tote/internal/content"
)

// The JSON of parts. Field names are short because every turn has them.

type wirePart struct {
	Kind  string `json:"k"`
	Value any    `json:"v"`
}

type rawPart struct {
	Kind  string          `json:"k"`
	Value json.RawMessage `json:"v"`
}

type wireBlob struct {
	Digest content.Digest `json:"d"`
	MIME   string         `json:"m,omitempty"`
	Size   int64          `json:"s,omitempty"`
	Width  int            `json:"w,omitempty"`
	Height int            `json:"h,omitempty"`
}

type wireOrigin struct {
	Inlet   string `json:"i,omitempty"`
	Path    string `json:"p,omitempty"`
	Chooser string `json:"c,omitempty"`
}

type wireAttachment struct {
	Handle   content.Handle  `json:"h,omitempty"`
	Name     string          `json:"n,omitempty"`
	Origin   wireOrigin      `json:"o"`
	Declared string          `json:"dc,omitempty"`
	Original *wireBlob       `json:"or,omitempty"`
	Prepared *wireBlob       `json:"pr,omitempty"`
	Same     int             `json:"eq,omitempty"` // 1: prepared is original
	Changes  content.Changes `json:"ch,omitempty"`
	Fault    string          `json:"f,omitempty"`
	Detail   string          `json:"dt,omitempty"`
}

type wireText struct {
	Handle content.Handle `json:"h,omitempty"`
	Body   string         `json:"b"`
}

type wireImage struct {
	wireAttachment
	Frames int `json:"fr,omitempty"`
}

type wireAudio struct {
	wireAttachment
	Millis int64 `json:"ms,omitempty"`
}

type wireDocument struct {
	wireAttachment
	Pages int       `json:"pg,omitempty"`
	Text  *wireBlob `json:"tx,omitempty"`
}

type wireResource struct {
	wireAttachment
	URI string `json:"u,omitempty"`
}

type wireLink struct {
	Handle      content.Handle `json:"h,omitempty"`
	Origin      wireOrigin     `json:"o"`
	URI         string         `json:"u"`
	Name        string         `json:"n,omitempty"`
	Title       string         `json:"t,omitempty"`
	Description string         `json:"ds,omitempty"`
	MIME        string         `json:"m,omitempty"`
	Size        int64          `json:"s,omitempty"`
	Fault       string         `json:"f,omitempty"`
	Detail      string         `json:"dt,omitempty"`
}

type wireOpaque struct {
	Handle content.Handle `json:"h,omitempty"`
	Origin wireOrigin     `json:"o"`
	Type   string         `json:"t"`
	Raw    *wireBlob      `json:"r,omitempty"`
}

type wireReasoning struct {
	Text      string `json:"t,omitempty"`
	Signature string `json:"s,omitempty"`
	Path      string `json:"p,omitempty"`
}

type wireCall struct {
	ID        string `json:"i"`
	Name      string `json:"n"`
	Arguments string `json:"a,omitempty"`
	Signature string `json:"s,omitempty"`
	Path      string `json:"p,omitempty"`
}

type wireResult struct {
	CallID  string     `json:"i"`
	Name    string     `json:"n"`
	IsError bool       `json:"e,omitempty"`
	Blocks  []wirePart `json:"b,omitempty"`
}

type rawResult struct {
	CallID  string    `json:"i"`
	Name    string    `json:"n"`
	IsError bool      `json:"e,omitempty"`
	Blocks  []rawPart `json:"b,omitempty"`
}

// enum is a closed set that prints as words; its zero value is stored as "".
type enum interface {
	~uint8
	String() string
}

// maxEnum is more values than any of the sets has.
const maxEnum = 64

// word returns what an enumeration is stored as. Only members of its set print
// without "(" and "?".
func word[T enum](v T) (string, error) {
	if v == 0 {
		return "", nil
	}
	s := v.String()
	if strings.ContainsAny(s, "(?") {
		return "", fmt.Errorf("%T %d has no word", v, v)
	}
	return s, nil
}

// unword reads what word wrote; what names the set in the error.
func unword[T enum](what, s string) (T, error) {
	if s == "" {
		return 0, nil
	}
	if !strings.ContainsAny(s, "(?") {
		for v := T(1); v < maxEnum; v++ {
			if v.String() == s {
				return v, nil
			}
		}
	}
	return 0, &UnknownKindError{What: what, Kind: s}
}

func toWireBlob(b content.Blob) *wireBlob {
	if b == (content.Blob{}) {
		return nil
	}
	w := wireBlob(b)
	return &w
}

func fromWireBlob(w *wireBlob) content.Blob {
	if w == nil {
		return content.Blob{}
	}
	return content.Blob(*w)
}

func toWireOrigin(o content.Origin) (wireOrigin, error) {
	inlet, err := word(o.Inlet)
	if err != nil {
		return wireOrigin{}, err
	}
	chooser, err := word(o.Chooser)
	return wireOrigin{Inlet: inlet, Path: o.Path, Chooser: chooser}, err
}

func fromWireOrigin(w wireOrigin) (content.Origin, error) {
	inlet, err := unword[content.Inlet]("inlet", w.Inlet)
	if err != nil {
		return content.Origin{}, err
	}
	chooser, err := unword[content.Chooser]("chooser", w.Chooser)
	return content.Origin{Inlet: inlet, Path: w.Path, Chooser: chooser}, err
}

func toWireAttachment(a content.Attachment) (wireAttachment, error) {
	origin, err := toWireOrigin(a.Origin)
	if err != nil {
		return wireAttachment{}, err
	}
	fault, err := word(a.Fault)
	if err != nil {
		return wireAttachment{}, err
	}
	w := wireAttachment{
		Handle: a.Handle, Name: a.Name, Origin: origin, Declared: a.Declared, Original: toWireBlob(a.Original),
		Changes: a.Changes, Fault: fault, Detail: a.Detail,
	}
	if w.Original != nil && a.Prepared == a.Original {
		w.Same = 1
	} else {
		w.Prepared = toWireBlob(a.Prepared)
	}
	return w, nil
}

func fromWireAttachment(w wireAttachment) (content.Attachment, error) {
	origin, err := fromWireOrigin(w.Origin)
	if err != nil {
		return content.Attachment{}, err
	}
	fault, err := unword[content.Fault]("fault", w.Fault)
	if err != nil {
		return content.Attachment{}, err
	}
	a := content.Attachment{
		Handle: w.Handle, Name: w.Name, Origin: origin, Declared: w.Declared, Original: fromWireBlob(w.Original),
		Prepared: fromWireBlob(w.Prepared), Changes: w.Changes, Fault: fault, Detail: w.Detail,
	}
	if w.Same != 0 {
		a.Prepared = a.Original
	}
	return a, nil
}

// compactJSON spells v without the escapes that HTML would need.
func compactJSON(v any) (string, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(buf.String(), "\n"), nil
}
