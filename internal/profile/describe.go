package profile

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
)

// Query is a question to a server about one of its models.
type Query struct {
	// Name says what is asked, for people and for Read: "api/show".
	Name string
	// Method is GET or POST.
	Method string
	// Path stands behind the base URL, or behind the host alone where Root is
	// set. It is escaped.
	Path string
	Root bool
	// Body is JSON, nil for none.
	Body []byte
	// Model is whom it is about.
	Model string
}

// Said is what a server said of one of its models. The zero value of a field is
// what it did not say.
type Said struct {
	Images, Audio, Documents delivery.Answer
	// Context is the longest context window of the model, and Window the one
	// that it runs with, in tokens. Output is the longest answer.
	Context, Window, Output int
	// MaxImages bounds the pictures of one request, ImageBytes each of them
	// before base64.
	MaxImages, ImageBytes int
	// MIMEs are the picture formats it takes.
	MIMEs []string
	// Detail says where the answers stand, for people.
	Detail string
	// Sentence is what the answers rest on where nothing was asked and told,
	// as with a program that is too old. It is whole, for people, and takes
	// the place of "the server said …" and Detail. "" for none.
	Sentence string `json:",omitempty"`
	// At is when it was said, zero for now.
	At time.Time
}

// IsZero reports whether nothing was said.
func (s Said) IsZero() bool {
	return s.Images == delivery.Unknown && s.Audio == delivery.Unknown && s.Documents == delivery.Unknown &&
		max(s.Context, s.Window, s.Output, s.MaxImages, s.ImageBytes) == 0 && len(s.MIMEs) == 0
}

// counts reports whether it still says something.
func (s Said) counts(now time.Time) bool { return s.At.IsZero() || now.Sub(s.At) < LifeServer }

// Settled reports whether there is nothing left to ask: it is known whether the
// model sees, and how much it holds.
func (s Said) Settled() bool { return s.Images != delivery.Unknown && max(s.Context, s.Window) > 0 }

// With adds what another answer of the same server says and this one does not.
func (s Said) With(t Said) Said {
	fill := func(a *delivery.Answer, b delivery.Answer) {
		if *a == delivery.Unknown {
			*a = b
		}
	}
	if s.Images == delivery.Unknown && s.Audio == delivery.Unknown && s.Documents == delivery.Unknown {
		s.Detail, s.Sentence = t.Detail, t.Sentence
	}
	fill(&s.Images, t.Images)
	fill(&s.Audio, t.Audio)
	fill(&s.Documents, t.Documents)
	for _, n := range [...]struct {
		to   *int
		from int
	}{{&s.Context, t.Context}, {&s.Window, t.Window}, {&s.Output, t.Output}, {&s.MaxImages, t.MaxImages}, {&s.ImageBytes, t.ImageBytes}} {
		if *n.to == 0 {
			*n.to = n.from
		}
	}
	if len(s.MIMEs) == 0 {
		s.MIMEs = t.MIMEs
	}
	if s.At.IsZero() {
		s.At = t.At
	}
	return s
}

// Facts are the answers as evidence, to be stored.
func (s Said) Facts(now time.Time) []Fact {
	if !s.At.IsZero() {
		now = s.At
	}
	var out []Fact
	for _, a := range [...]struct {
		kind   content.Kind
		answer delivery.Answer
	}{{content.KindImage, s.Images}, {content.KindAudio, s.Audio}, {content.KindDocument, s.Documents}} {
		if a.answer == delivery.Unknown {
			continue
		}
		f := Fact{Kind: a.kind, Answer: a.answer, Evidence: delivery.EvidenceServer, At: now}
		if s.Sentence != "" {
			f.Detail = s.Sentence
		} else if s.Detail != "" {
			f.Detail = f.sentence() + " (" + s.Detail + ")"
		}
		out = append(out, f)
	}
	return out
}

// queryRow is a question that servers of a protocol are asked.
type queryRow struct {
	kinds []string
	// hosts are who is asked, nil for servers of one's own: those of which
	// neither the tables nor the catalogue know anything.
	hosts []string
	name  string
	// path and body hold {model} where the model stands.
	method, path, body string
	root               bool
}

// queries are asked in order, until one settles the matter.
var queries = [...]queryRow{
	// "capabilities" and the window:
	// https://github.com/ollama/ollama/blob/main/docs/api.md#show-model-information
	{kinds: []string{kindOllama}, name: askShow, method: "POST", path: "api/show", body: `{"model":{model}}`},
	{kinds: []string{kindOllama}, hosts: []string{"ollama.com"}, name: askShow, method: "POST", path: "api/show", body: `{"model":{model}}`},

	// The windows alone: https://ai.google.dev/api/models
	{kinds: []string{kindGemini}, hosts: []string{"generativelanguage.googleapis.com"}, name: askModel, method: "GET", path: "models/{model}"},
	{kinds: []string{kindGemini}, name: askModel, method: "GET", path: "models/{model}"},

	// "capabilities": https://docs.anthropic.com/en/api/models
	{kinds: []string{kindAnthropic}, hosts: []string{"api.anthropic.com"}, name: askModel, method: "GET", path: "v1/models/{model}"},
	{kinds: []string{kindAnthropic}, hosts: copilotHosts, name: AskModels, method: "GET", path: "models"},
	{kinds: []string{kindAnthropic}, name: askModel, method: "GET", path: "v1/models/{model}"},

	// https://openrouter.ai/docs/api-reference/list-available-models and
	// https://docs.mistral.ai/api; Copilot's list is not documented; Groq's and
	// Together's hold windows: https://console.groq.com/docs/api-reference
	{
		kinds: []string{kindChat, kindResponses},
		hosts: append([]string{"openrouter.ai", "api.mistral.ai", "api.groq.com", "api.together.ai", "api.together.xyz"}, copilotHosts...),
		name:  AskModels, method: "GET", path: "models",
	},

	// Servers of one's own. LM Studio: https://lmstudio.ai/docs/developer/rest
	// and …/rest/endpoints; llama.cpp:
	// https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md;
	// vLLM's list holds the window it runs with:
	// https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
	{kinds: []string{kindChat, kindResponses}, name: AskModels, method: "GET", path: "models"},
	{kinds: ownKinds, name: askProps, method: "GET", path: "props", root: true},
	{kinds: ownKinds, name: askStudio, method: "GET", path: "api/v1/models", root: true},
	{kinds: ownKinds, name: askOldStudio, method: "GET", path: "api/v0/models", root: true},
	{kinds: ownKinds, name: askShow, method: "POST", path: "api/show", body: `{"model":{model}}`, root: true},
}

// ownKinds are the protocols that servers of one's own speak besides their own.
var ownKinds = []string{kindChat, kindResponses, kindAnthropic}

// AskModels is the name of the question for a list of models, which every server
// that speaks OpenAI's protocols answers. One that does not knows no other.
const AskModels = "models"

// The names of other questions.
const (
	askShow      = "api/show"
	askModel     = "models/MODEL"
	askProps     = "props"
	askStudio    = "api/v1/models"
	askOldStudio = "api/v0/models"
)

// Queries are what a server may be asked about a model, best first. The caller
// ends with the first answer that settles whether it sees, and may put answers
// together with [Said.With]. Nil: nothing is worth asking there.
func Queries(kind, baseURL, model string) []Query {
	if model == "" || hostOf(baseURL) == "" {
		return nil
	}
	host, own := hostOf(baseURL), ownServer(kind, baseURL)
	var out []Query
	for i := range queries {
		r := &queries[i]
		if !slices.Contains(r.kinds, kind) || r.hosts == nil && !own || r.hosts != nil && !among(host, r.hosts) {
			continue
		}
		q := Query{Name: r.name, Method: r.method, Root: r.root, Model: model}
		q.Path = strings.ReplaceAll(r.path, "{model}", url.PathEscape(model))
		if r.body != "" {
			q.Body = []byte(strings.ReplaceAll(r.body, "{model}", quote(model)))
		}
		out = append(out, q)
	}
	return out
}

// ownServer reports whether neither the tables nor the catalogue know an address.
func ownServer(kind, baseURL string) bool {
	return serverOf(kind, baseURL) == nil && len(Open().load().find(kind, baseURL)) == 0
}

// quote spells a string in JSON.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("profile: a string is always JSON: " + err.Error())
	}
	return string(b)
}
