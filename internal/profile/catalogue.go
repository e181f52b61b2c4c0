package profile

import (
	_ "embed" // for the snapshot
	"maps"
	"slices"
	"strings"
	"sync"
)

//go:generate go run ./gen -o catalogue.json.gz

//go:embed catalogue.json.gz
var embedded string

// embeddedSnapshot unpacks the embedded data at the first call and only then.
var embeddedSnapshot = sync.OnceValue(func() *snapshot {
	s, err := readSnapshot(strings.NewReader(embedded), len(embedded))
	if err != nil {
		panic("profile: the embedded catalogue is not readable: " + err.Error())
	}
	return s
})

// Record is what the catalogue says about one model at one endpoint. A number
// that is zero means that the source gives none, never that nothing is allowed.
type Record struct {
	Provider      string // the source's name for whoever runs the endpoint, such as "anthropic"
	Kind          string // provider kind, such as "openai-chat"
	BaseURL       string // the endpoint as the source writes it, placeholders included
	Model         string // byte for byte as the endpoint wants it
	Name          string // for people
	Image         bool   // explicit in the source: false says "takes no pictures", not "unknown"
	Reasoning     bool   // the model can be asked to reason
	ContextWindow int    // tokens
	MaxOutput     int    // tokens
	Cost          Cost
	Limits        Limits
	Quirks        Quirks
}

// Rates are prices in US dollars for a million tokens.
type Rates struct {
	Input      float64 `json:"in"`
	Output     float64 `json:"out"`
	CacheRead  float64 `json:"read,omitzero"`
	CacheWrite float64 `json:"write,omitzero"`
}

// Tier is the price of a request whose input is longer than Above tokens.
type Tier struct {
	Rates
	Above int `json:"above"`
}

// Cost is what a model costs, with tiers in rising order of Above.
type Cost struct {
	Rates
	Tiers []Tier `json:"tiers,omitempty"`
}

// Limits are what an endpoint takes. ImageWidth, ImageHeight and ImageBytes are
// the bounds to which the source prepares pictures so that one form serves all
// its endpoints: safe to send, and not known to be the most this endpoint takes.
type Limits struct {
	ImageWidth       int `json:"w,omitzero"`     // pixels
	ImageHeight      int `json:"h,omitzero"`     // pixels
	ImageBytes       int `json:"bytes,omitzero"` // of one picture as base64
	ImagesPerMessage int `json:"msg,omitzero"`
	ImagesPerRequest int `json:"req,omitzero"`  // history and tool results count
	RequestBytes     int `json:"body,omitzero"` // the whole request body
}

// Quirks are the ways in which an endpoint departs from its kind, under the
// source's own names ("supportsStore", "maxTokensField"). An absent name means
// that the source says nothing. Records share the maps: read them only.
type Quirks struct {
	Flags map[string]bool   `json:"flags,omitempty"`
	Words map[string]string `json:"words,omitempty"`
}

// Meta says where a catalogue comes from.
type Meta struct {
	Source  string `json:"source"`  // name of the package that held the data
	Version string `json:"version"` // of that package
	SHA256  string `json:"sha256"`  // of that package's archive, hex
	Date    string `json:"date"`    // when the source collected its data, YYYY-MM-DD
	Licence string `json:"licence"` // of the data; the text is in NOTICE
	Body    string `json:"body"`    // SHA-256 of all that follows the header line, hex
}

// Catalogue answers what is known of a model from a snapshot made when the
// program was built. It is safe for concurrent use.
type Catalogue struct {
	load func() *snapshot
}

// Open returns the catalogue that is part of the program. Nothing is unpacked
// before the first question, so a start that asks none pays nothing.
func Open() *Catalogue {
	return &Catalogue{load: embeddedSnapshot}
}

// Lookup finds the record of exactly this model at exactly this endpoint. Only
// a slash at the end of the URL and the case of its scheme and host are
// overlooked. Where the provider's own URL has a part that differs between
// customers (an account, a region), any one label stands for it. A server of
// one's own or a renamed model is not found, whatever it looks like.
func (c *Catalogue) Lookup(kind, baseURL, model string) (Record, bool) {
	for _, e := range c.load().find(kind, baseURL) {
		if r, ok := e.models()[model]; ok {
			return r, true
		}
	}
	return Record{}, false
}

// Models returns every record of one endpoint in order of model, or nothing
// when the endpoint is not in the catalogue. It matches as Lookup does.
func (c *Catalogue) Models(kind, baseURL string) []Record {
	var all []Record
	for _, e := range c.load().find(kind, baseURL) {
		all = slices.AppendSeq(all, maps.Values(e.models()))
	}
	slices.SortFunc(all, func(a, b Record) int { return strings.Compare(a.Model, b.Model) })
	return all
}

// Meta returns the origin of the data.
func (c *Catalogue) Meta() Meta {
	return c.load().meta
}

// normalURL brings the parts of a URL in which case has no meaning to lower
// case and drops one slash at the end. Paths keep their case and their bytes.
func normalURL(raw string) string {
	raw = strings.TrimSuffix(raw, "/")
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return raw
	}
	end := len(scheme) + len("://") + len(rest)
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		end = len(scheme) + len("://") + i
	}
	head := raw[:end]
	if low := strings.ToLower(head); low != head {
		return low + raw[end:]
	}
	return raw
}

// matchURL reports whether url is pattern with one label in place of each
// {placeholder}: letters, digits, hyphens and underscores, at least one.
func matchURL(pattern, url string) bool {
	for {
		open := strings.IndexByte(pattern, '{')
		if open < 0 {
			return pattern == url
		}
		shut := strings.IndexByte(pattern, '}')
		if shut < open || !strings.HasPrefix(url, pattern[:open]) {
			return false
		}
		pattern, url = pattern[shut+1:], url[open:]
		rest := strings.TrimLeft(url, labelBytes)
		if len(rest) == len(url) {
			return false
		}
		url = rest
	}
}

// labelBytes may stand for a placeholder. A pattern never has one of them right
// after a placeholder, so taking as many as there are is right.
const labelBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
