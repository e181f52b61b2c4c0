package app

import (
	"encoding/json"
	"fmt"
	"time"

	"tote/internal/config"
	"tote/internal/profile"
	"tote/internal/provider"
	"tote/internal/provider/anthropic"
	"tote/internal/provider/bedrock"
	"tote/internal/provider/gemini"
	"tote/internal/provider/offline"
	"tote/internal/provider/ollama"
	"tote/internal/provider/openai"
)

// bind says what an agent stands for, without making anything.
func (w *Workspace) bind(cfg *config.Config, a config.Agent) (profile.Binding, config.Provider, error) {
	if a.Runner != "" {
		return bindRunner(a), config.Provider{}, nil
	}
	p, err := cfg.Provider(a.Provider)
	if err != nil {
		return profile.Binding{}, p, err
	}
	b := binding(p, a)
	b.BaseURL = p.Address(w.app.env())
	if p.Kind == config.KindOffline {
		b.BaseURL, b.Offline = offline.BaseURL, true
	}
	return b, p, nil
}

// pathKey is what a path to a model is made of, within one reading of the
// configuration.
type pathKey struct {
	agent string
	// context is the window in tokens, which one wire sends along.
	context int
}

// path makes the path of an agent to its model, once for each key.
func (w *Workspace) path(p config.Provider, a config.Agent, b profile.Binding, context int) (provider.Provider, error) {
	key := pathKey{a.Name, context}
	w.mu.Lock()
	made, ok := w.paths[key]
	w.mu.Unlock()
	if ok {
		return made, nil
	}
	made, err := w.build(p, a, b, context)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if other, ok := w.paths[key]; ok {
		return other, nil
	}
	w.paths[key] = made
	return made, nil
}

func (w *Workspace) build(p config.Provider, a config.Agent, b profile.Binding, context int) (provider.Provider, error) {
	if a.Runner != "" {
		return w.runner(a)
	}
	if p.Kind == config.KindOffline {
		return offline.New(offline.Options{Name: p.Name, Model: a.Model, Faults: faults(p.Faults)}), nil
	}
	x := profile.WireOf(b.Kind, b.BaseURL, a.Model)
	o, err := w.app.reach(p, x)
	if err != nil {
		return nil, fmt.Errorf("agent %q: %w", a.Name, err)
	}
	switch p.Kind {
	case config.KindOpenAIChat:
		return openai.New(o, chatConfig(a, x)), nil
	case config.KindOpenAIResponses:
		return openai.NewResponses(o, responsesConfig(a, x)), nil
	case config.KindAnthropic:
		return anthropic.New(o, anthropicConfig(p, a, x)), nil
	case config.KindGemini:
		return gemini.New(o, geminiConfig(a, x)), nil
	case config.KindOllama:
		return ollama.New(o, ollama.Config{Model: a.Model, Context: context}), nil
	case config.KindBedrockConverse:
		return bedrock.New(o, w.app.bedrockConfig(p, a, x)), nil
	case config.KindOffline:
	}
	return nil, fmt.Errorf("agent %q: unknown provider kind %q", a.Name, p.Kind)
}

// reach says how the server of a provider is reached.
func (a *App) reach(p config.Provider, x profile.Wire) (provider.Options, error) {
	o := provider.Options{
		Name: p.Name, BaseURL: p.BaseURL, Key: func() (string, error) { return a.key(p) }, KeyHeader: x.KeyHeader,
		UserAgent: "tote/" + a.o.Version, Now: a.o.Now, MaxRetries: int(p.MaxRetries),
		ConnectTimeout: time.Duration(p.Timeouts.Connect), FirstByteTimeout: time.Duration(p.Timeouts.FirstByte),
		IdleTimeout: time.Duration(p.Timeouts.Idle),
	}
	var err error
	if o.Headers, err = p.HeaderValues(a.env()); err != nil {
		return o, err
	}
	if o.CA, err = p.Certificates(); err != nil {
		return o, err
	}
	if o.Proxy, err = p.ProxyAddress(a.env()); err != nil {
		return o, err
	}
	if n := p.KeyName(); n != "" {
		o.KeyFrom = "$" + n
	}
	return o, nil
}

func chatConfig(a config.Agent, x profile.Wire) openai.Config {
	c := openai.Config{
		Model: a.Model, Detail: x.Detail, System: x.SystemRole, NoSeed: x.NoSeed, NoStreamOptions: x.NoStreamOptions,
		EffortForm: openai.EffortForm(x.Effort), EffortWords: x.EffortWords, ThoughtAlways: x.ThoughtAlways, CachePoints: x.CachePoints, CallIDs: openai.CallIDs(x.CallIDs),
		PictureHeaders: x.PictureHeaders, Extra: raw(x.Extra),
	}
	if x.MaxField == "max_tokens" {
		c.MaxField = openai.MaxTokens
	}
	return c
}

func responsesConfig(a config.Agent, x profile.Wire) openai.ResponsesConfig {
	return openai.ResponsesConfig{
		Model: a.Model, Detail: x.Detail, NoStore: x.NoStore, NoInclude: x.NoEncryptedReasoning, ImageCompression: x.ImageCompression,
		EffortForm: openai.EffortForm(x.Effort), EffortWords: x.EffortWords, PictureHeaders: x.PictureHeaders, Extra: raw(x.Extra),
	}
}

func anthropicConfig(p config.Provider, a config.Agent, x profile.Wire) anthropic.Config {
	c := anthropic.Config{
		Model: a.Model, Version: string(p.APIVersion), MaxOutput: x.MaxOutput, NoCache: !x.CachePoints,
		NoToolCache: x.NoToolCache, AllowEmptySignature: x.EmptySignatures, PictureHeaders: x.PictureHeaders,
	}
	if n := p.Limits.OutputTokens; n > 0 {
		c.MaxOutput = n
	}
	if c.Version == "" {
		c.Version = x.Version
	}
	switch x.Effort {
	case profile.EffortBudget:
		c.Thinking = anthropic.ThinkingBudget
	case profile.EffortAdaptive:
		c.Thinking = anthropic.ThinkingAdaptive
	}
	return c
}

func geminiConfig(a config.Agent, x profile.Wire) gemini.Config {
	c := gemini.Config{Model: a.Model, NoCallIDs: x.NoCallIDs, CallSignatures: x.CallSignatures, NoSeed: x.NoSeed}
	switch x.Effort {
	case profile.EffortLevel:
		c.Thinking = gemini.ThinkingLevel
	case profile.EffortBudget:
		c.Thinking = gemini.ThinkingBudget
	}
	return c
}

func (a *App) bedrockConfig(p config.Provider, m config.Agent, x profile.Wire) bedrock.Config {
	c := bedrock.Config{Model: m.Model, Region: p.Region, Profile: p.AWSProfile, ResultStatus: x.ResultStatus, Env: a.env()}
	switch {
	case x.CachePoints && x.NoToolCache:
		c.CachePoints = bedrock.CacheNoTools
	case x.CachePoints:
		c.CachePoints = bedrock.CacheAll
	}
	switch x.Effort {
	case profile.EffortBudget:
		c.Thinking = bedrock.ThinkingBudget
	case profile.EffortAdaptive:
		c.Thinking = bedrock.ThinkingAdaptive
	case profile.EffortNova:
		c.Thinking = bedrock.ThinkingNova
	case profile.EffortField:
		c.Thinking = bedrock.ThinkingEffort
	}
	return c
}

// raw takes over members that are JSON already.
func raw(m map[string]string) map[string]json.RawMessage {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]json.RawMessage, len(m))
	for k, v := range m {
		out[k] = json.RawMessage(v)
	}
	return out
}

// effort is how hard an agent's model should think.
func effort(e config.Effort) provider.Effort {
	switch e {
	case config.EffortNone:
		return provider.EffortNone
	case config.EffortLow:
		return provider.EffortLow
	case config.EffortMedium:
		return provider.EffortMedium
	case config.EffortHigh:
		return provider.EffortHigh
	}
	return provider.EffortDefault
}
