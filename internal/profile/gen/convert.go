package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"tote/internal/profile"
)

// wire says how one of the source's APIs is spoken here.
type wire struct {
	kind   string // empty: not spoken
	suffix string // what the source's client adds to the base URL and ours does not
	why    string // set when it is left out or rewritten
}

// wires names every API in the source, so that a new one is a decision.
var wires = map[string]wire{
	"openai-completions":      {kind: "openai-chat"},
	"openai-responses":        {kind: "openai-responses"},
	"anthropic-messages":      {kind: "anthropic"},
	"google-generative-ai":    {kind: "gemini"},
	"bedrock-converse-stream": {kind: "bedrock-converse"},
	"mistral-conversations":   {kind: "openai-chat", suffix: "/v1", why: "the client posts to v1/chat/completions under its base URL"},

	"azure-openai-responses":           {why: "every customer has an own host, the source gives no URL"},
	"google-vertex":                    {why: "other authentication and paths than gemini"},
	"openai-codex-responses":           {why: "needs a subscription login"},
	"pi-messages":                      {why: "a protocol of the source's own"},
	"openai-decisions":                 {why: "classifiers only"},
	"openrouter-images":                {why: "image generation only"},
	"typesafe-system-one":              {why: "classifiers only"},
	"cloudflare-workers-ai-system-one": {why: "classifiers only"},
}

// regional rewrites base URLs of which the source names single regions: AWS
// serves the same models under one host name per region.
var regional = map[string]string{
	"https://bedrock-runtime.us-east-1.amazonaws.com":    "https://bedrock-runtime.{region}.amazonaws.com",
	"https://bedrock-runtime.eu-central-1.amazonaws.com": "https://bedrock-runtime.{region}.amazonaws.com",
}

// leftOut are quirks whose value is neither a flag nor a word.
var leftOut = map[string]string{
	"allowedFallbackModels": "a list of other models; fallbacks are the user's choice",
	"chatTemplateArgs":      "arguments that depend on the source's reasoning levels",
}

// sourceModel holds what is read of one entry; the other fields are about
// things that are decided elsewhere (headers, reasoning levels, cache times).
type sourceModel struct {
	ID            string                     `json:"id"`
	Name          string                     `json:"name"`
	Type          string                     `json:"type"`
	API           string                     `json:"api"`
	Provider      string                     `json:"provider"`
	BaseURL       string                     `json:"baseUrl"`
	Reasoning     bool                       `json:"reasoning"`
	Input         []string                   `json:"input"`
	ContextWindow int                        `json:"contextWindow"`
	MaxTokens     int                        `json:"maxTokens"`
	Cost          sourceCost                 `json:"cost"`
	Compat        map[string]json.RawMessage `json:"compat"`
	InputLimits   struct {
		MaxRequestBytes int `json:"maxRequestBytes"`
		Images          struct {
			MaxPerMessage int `json:"maxPerMessage"`
			MaxPerRequest int `json:"maxPerRequest"`
			Resize        struct {
				MaxWidth  int `json:"maxWidth"`
				MaxHeight int `json:"maxHeight"`
				MaxBytes  int `json:"maxBytes"`
			} `json:"resize"`
		} `json:"images"`
	} `json:"inputLimits"`
}

type sourceRates struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
}

type sourceCost struct {
	sourceRates
	Tiers []struct {
		sourceRates
		InputTokensAbove int `json:"inputTokensAbove"`
	} `json:"tiers"`
}

const (
	dataDir      = "package/dist/providers/data/"
	manifestName = ".manifest.json"
	maxFile      = 16 << 20 // bytes; the largest data file has 0.3 MB
)

// unpack returns the data files of a package archive by base name.
func unpack(archive []byte) (map[string][]byte, error) {
	zr, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("unpack archive: %w", err)
	}
	files := make(map[string][]byte)
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("unpack archive: %w", err)
		}
		name, ok := strings.CutPrefix(path.Clean(h.Name), dataDir)
		if !ok || path.Ext(name) != ".json" {
			continue
		}
		if h.Size > maxFile {
			return nil, fmt.Errorf("unpack archive: %s has %d bytes, at most %d are read", h.Name, h.Size, maxFile)
		}
		if files[name], err = io.ReadAll(tr); err != nil {
			return nil, fmt.Errorf("unpack %s: %w", h.Name, err)
		}
	}
}

// conversion is the result of convert with what did not come along.
type conversion struct {
	date    string
	records []profile.Record
	skipped map[string]int // reason -> models
	quirks  map[string]int // quirk left out -> models
}

// convert reads every data file, after comparing it with the source's manifest.
func convert(files map[string][]byte) (*conversion, error) {
	var manifest struct {
		GeneratedAt string            `json:"generatedAt"`
		Files       map[string]string `json:"files"`
	}
	if err := json.Unmarshal(files[manifestName], &manifest); err != nil {
		return nil, fmt.Errorf("read %s: %w", manifestName, err)
	}
	date, _, ok := strings.Cut(manifest.GeneratedAt, "T")
	if !ok || len(manifest.Files) == 0 || len(files) != len(manifest.Files)+1 {
		return nil, fmt.Errorf("%s has the date %q and names %d files of %d", manifestName, manifest.GeneratedAt, len(manifest.Files), len(files)-1)
	}
	c := &conversion{date: date, skipped: make(map[string]int), quirks: make(map[string]int)}
	seen := make(map[[3]string]profile.Record)
	for _, name := range slices.Sorted(maps.Keys(manifest.Files)) {
		sum := sha256.Sum256(files[name])
		if got := hex.EncodeToString(sum[:]); got != manifest.Files[name] {
			return nil, fmt.Errorf("%s has the hash %s, the manifest says %s", name, got, manifest.Files[name])
		}
		var byAPI map[string]map[string]sourceModel
		if err := json.Unmarshal(files[name], &byAPI); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		for _, api := range slices.Sorted(maps.Keys(byAPI)) {
			for _, key := range slices.Sorted(maps.Keys(byAPI[api])) {
				if err := c.add(seen, byAPI[api][key]); err != nil {
					return nil, fmt.Errorf("convert %s of %s: %w", key, name, err)
				}
			}
		}
	}
	return c, nil
}

func (c *conversion) add(seen map[[3]string]profile.Record, m sourceModel) error {
	w, known := wires[m.API]
	switch {
	case !known:
		return fmt.Errorf("unknown api %q", m.API)
	case m.Type != "chat":
		c.skipped["no chat model"]++
		return nil
	case w.kind == "":
		c.skipped[m.API+": "+w.why]++
		return nil
	case m.BaseURL == "":
		c.skipped[m.API+": no base URL"]++
		return nil
	case m.ID == "":
		return errors.New("no id")
	case !slices.Contains(m.Input, "text"):
		return fmt.Errorf("input %q has no text", m.Input)
	}
	r, err := c.record(m, w)
	if err != nil {
		return err
	}
	key := [3]string{r.Kind, r.BaseURL, r.Model}
	if first, twice := seen[key]; twice {
		// Two plans of one host. Taking either is right only if they agree.
		if first.Image != r.Image || first.Limits != r.Limits {
			return fmt.Errorf("differs from the record of %s at the same URL", first.Provider)
		}
		c.skipped["the same URL and model under another provider name"]++
		return nil
	}
	seen[key] = r
	c.records = append(c.records, r)
	return nil
}

func (c *conversion) record(m sourceModel, w wire) (profile.Record, error) {
	r := profile.Record{
		Provider: m.Provider, Kind: w.kind, BaseURL: m.BaseURL + w.suffix, Model: m.ID, Name: m.Name,
		Reasoning: m.Reasoning, ContextWindow: m.ContextWindow, MaxOutput: m.MaxTokens,
		Cost: profile.Cost{Rates: profile.Rates(m.Cost.sourceRates)},
		Limits: profile.Limits{
			ImageWidth:       m.InputLimits.Images.Resize.MaxWidth,
			ImageHeight:      m.InputLimits.Images.Resize.MaxHeight,
			ImageBytes:       m.InputLimits.Images.Resize.MaxBytes,
			ImagesPerMessage: m.InputLimits.Images.MaxPerMessage,
			ImagesPerRequest: m.InputLimits.Images.MaxPerRequest,
			RequestBytes:     m.InputLimits.MaxRequestBytes,
		},
	}
	if pattern, ok := regional[m.BaseURL]; ok {
		r.BaseURL = pattern
	}
	for _, kind := range m.Input {
		switch kind {
		case "text":
		case "image":
			r.Image = true
		default:
			return r, fmt.Errorf("unknown input %q", kind)
		}
	}
	for _, t := range m.Cost.Tiers {
		r.Cost.Tiers = append(r.Cost.Tiers, profile.Tier{Rates: profile.Rates(t.sourceRates), Above: t.InputTokensAbove})
	}
	slices.SortFunc(r.Cost.Tiers, func(a, b profile.Tier) int { return a.Above - b.Above })
	return r, c.addQuirks(&r.Quirks, m.Compat)
}

func (c *conversion) addQuirks(q *profile.Quirks, compat map[string]json.RawMessage) error {
	for name, raw := range compat {
		if _, ok := leftOut[name]; ok {
			c.quirks[name]++
			continue
		}
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			return fmt.Errorf("quirk %q: %w", name, err)
		}
		switch v := value.(type) {
		case bool:
			if q.Flags == nil {
				q.Flags = make(map[string]bool)
			}
			q.Flags[name] = v
		case string:
			if q.Words == nil {
				q.Words = make(map[string]string)
			}
			q.Words[name] = v
		default:
			return fmt.Errorf("quirk %q is neither a flag nor a word", name)
		}
	}
	return nil
}
