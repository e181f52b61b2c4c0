package profile

import (
	"maps"
	"slices"
	"strings"
)

// Wire is how one server wants its protocol spelled for one model, where servers
// differ. Fields that a protocol has no use for are zero.
type Wire struct {
	// KeyHeader carries the key alone; "" is "Authorization: Bearer KEY".
	KeyHeader string
	// PictureHeaders are sent with a request that holds a picture anywhere,
	// history included.
	PictureHeaders map[string]string
	// Version is the generation of Anthropic's API.
	Version string
	// MaxField names the longest answer in Chat Completions.
	MaxField string
	// MaxOutput is the longest answer in tokens to ask for where the protocol
	// demands a number and the user gives none.
	MaxOutput int
	// SystemRole is the role of the system prompt in Chat Completions.
	SystemRole string
	// Detail is sent with each picture; "" leaves it out.
	Detail string
	// CallIDs is what an id of a tool call may be in Chat Completions: "nine" for
	// nine letters and digits, "any", or "" for the usual short ones.
	CallIDs string
	// Effort is the form in which the model is told how hard to think, or
	// EffortNone. See the constants, and for Chat Completions the catalogue's
	// "thinkingFormat": "openrouter", "deepseek", "zai", "qwen", "together",
	// "baseten", "ant-ling".
	Effort string
	// EffortWords are the words for "none", "low", "medium" and "high" where
	// the form alone does not tell them: an empty one is left out, and one
	// that is there stands beside the form's switch.
	EffortWords map[string]string
	// NoSeed, NoStreamOptions and NoStore leave out what is refused.
	NoSeed, NoStreamOptions, NoStore bool
	// CachePoints: marks for the prompt cache are understood. NoToolCache: not
	// behind tools.
	CachePoints, NoToolCache bool
	// NoCallIDs: calls and results have no ids.
	NoCallIDs bool
	// CallSignatures: calls of earlier turns must carry their signatures.
	CallSignatures bool
	// ResultStatus: a tool result may say that it is an error.
	ResultStatus bool
	// ImageCompression is the policy for older pictures to ask for; "" leaves
	// it out.
	ImageCompression string
	// NoEncryptedReasoning: reasoning cannot be asked for in a form that is
	// sent back.
	NoEncryptedReasoning bool
	// EmptySignatures: thinking without a signature may be sent back.
	EmptySignatures bool
	// ThoughtAlways: every assistant message must carry reasoning_content.
	ThoughtAlways bool
	// Extra holds further members of the body, each raw JSON.
	Extra map[string]string
}

// The forms of an effort beyond those of Chat Completions.
const (
	EffortNone     = "none"     // nothing may be sent
	EffortOpenAI   = "openai"   // reasoning_effort, and reasoning on Responses
	EffortBudget   = "budget"   // a number of tokens to think: Claude, Gemini 2.5
	EffortAdaptive = "adaptive" // Claude decides, told an effort
	EffortLevel    = "level"    // a word: Gemini since 3
	EffortThink    = "think"    // Ollama
	EffortNova     = "nova"     // Nova since 2
	EffortField    = "field"    // OpenAI's models on Bedrock
)

// wireSet changes a Wire. A word that is "" leaves what there is, clearWord
// clears it. A choice that is TriAuto leaves what there is.
type wireSet struct {
	keyHeader, version, maxField, systemRole, detail, callIDs, effort, compression string

	noSeed, noStreamOptions, noStore, cachePoints, noToolCache, noCallIDs, callSignatures, resultStatus Tri
	noEncrypted, emptySignatures, thoughtAlways                                                         Tri

	maxOutput             int
	pictureHeaders, extra map[string]string
	effortWords           map[string]string
}

const clearWord = "-"

// WireOf says how the server at baseURL wants protocol kind spelled for a model:
// what holds for the protocol, then for the server, then for the model there, and
// last what the exact catalogue record says.
func WireOf(kind, baseURL, model string) Wire { return wireOf(Open(), kind, baseURL, model) }

func wireOf(c *Catalogue, kind, baseURL, model string) Wire {
	var w Wire
	host, bare := hostOf(baseURL), bareModel(kind, model)
	for i := range wires {
		if r := &wires[i]; r.isFor(kind, host, bare) {
			r.set.apply(&w)
		}
	}
	if kind == kindOffline {
		return w
	}
	if r, ok := c.Lookup(kind, addressOf(kind, baseURL), model); ok {
		w.record(&r)
		if kind == kindAnthropic && r.MaxOutput > 0 {
			w.MaxOutput = r.MaxOutput
		}
	} else if sibling, ok := siblings[kind]; ok {
		// Whether a model thinks does not depend on the protocol.
		if r, ok := c.Lookup(sibling, baseURL, model); ok && !r.Reasoning {
			thoughtless.apply(&w)
		}
	}
	return w
}

func (r *wireRow) isFor(kind, host, bare string) bool {
	return slices.Contains(r.kinds, kind) && (r.hosts == nil || among(host, r.hosts)) && (r.models == nil || named(bare, r.models))
}

// record takes over what the exact record says.
func (w *Wire) record(r *Record) {
	q := &r.Quirks
	(&wireSet{maxField: q.Words["maxTokensField"], effort: q.Words["thinkingFormat"]}).apply(w)
	for i := range quirkSets {
		s := &quirkSets[i]
		if s.matches(q, w.Effort) {
			s.set.apply(w)
		}
	}
	if !r.Reasoning {
		thoughtless.apply(w)
	}
}

// quirkRow changes a Wire where a record has a quirk.
type quirkRow struct {
	// flag is a name with its value: "supportsStore=false"; word the same for
	// a word. One of them is set.
	flag, word string
	// efforts are the forms for which it counts, nil for all.
	efforts []string
	set     wireSet
}

func (r *quirkRow) matches(q *Quirks, effort string) bool {
	if r.efforts != nil && !slices.Contains(r.efforts, effort) {
		return false
	}
	if r.word != "" {
		name, value, _ := strings.Cut(r.word, "=")
		return q.Words[name] == value
	}
	name, value, _ := strings.Cut(r.flag, "=")
	got, ok := q.Flags[name]
	return ok && got == (value == "true")
}

func (s *wireSet) apply(w *Wire) {
	for _, p := range [...]struct {
		to   *string
		from string
	}{
		{&w.KeyHeader, s.keyHeader},
		{&w.Version, s.version},
		{&w.MaxField, s.maxField},
		{&w.SystemRole, s.systemRole},
		{&w.Detail, s.detail},
		{&w.CallIDs, s.callIDs},
		{&w.Effort, s.effort},
		{&w.ImageCompression, s.compression},
	} {
		switch p.from {
		case "":
		case clearWord:
			*p.to = ""
		default:
			*p.to = p.from
		}
	}
	for _, p := range [...]struct {
		to   *bool
		from Tri
	}{
		{&w.NoSeed, s.noSeed},
		{&w.NoStreamOptions, s.noStreamOptions},
		{&w.NoStore, s.noStore},
		{&w.CachePoints, s.cachePoints},
		{&w.NoToolCache, s.noToolCache},
		{&w.NoCallIDs, s.noCallIDs},
		{&w.CallSignatures, s.callSignatures},
		{&w.ResultStatus, s.resultStatus},
		{&w.NoEncryptedReasoning, s.noEncrypted},
		{&w.EmptySignatures, s.emptySignatures},
		{&w.ThoughtAlways, s.thoughtAlways},
	} {
		if p.from != TriAuto {
			*p.to = p.from == TriYes
		}
	}
	if s.maxOutput > 0 {
		w.MaxOutput = s.maxOutput
	}
	add(&w.PictureHeaders, s.pictureHeaders)
	add(&w.Extra, s.extra)
	if s.effortWords != nil {
		w.EffortWords = maps.Clone(s.effortWords)
	}
}

// add puts more into a map that the caller owns.
func add(to *map[string]string, more map[string]string) {
	if len(more) == 0 {
		return
	}
	if *to == nil {
		*to = make(map[string]string, len(more))
	}
	maps.Copy(*to, more)
}
