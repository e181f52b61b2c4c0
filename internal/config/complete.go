package config

import "maps"

// The names of the built-in provider and agent, and the model they have.
const (
	offlineName  = "offline"
	offlineModel = "describe"
)

// complete fills in what entries leave to their name and kind, and adds the
// built-in ones.
func complete(cfg *Config) {
	for name, p := range cfg.Providers {
		cfg.Providers[name] = completeProvider(p)
	}
	for name, s := range cfg.MCPServers {
		cfg.MCPServers[name] = completeServer(s)
	}
	for _, list := range cfg.Hooks.byEvent() {
		for i := range list.hooks {
			if h := &list.hooks[i]; h.Timeout == 0 {
				h.Timeout = defaultHook
			}
		}
	}
	if _, ok := cfg.Providers[offlineName]; !ok {
		cfg.Providers = with(cfg.Providers, offlineName, Provider{Name: offlineName, Kind: KindOffline})
	}
	// A file may say something of the built-in agent without redefining it.
	a := cfg.Agents[offlineName]
	a.Name = offlineName
	if a.Provider == "" && a.Runner == "" {
		a.Provider = offlineName
	}
	if a.Provider == offlineName && a.Model == "" {
		a.Model = offlineModel
	}
	cfg.Agents = with(cfg.Agents, offlineName, a)
}

func completeServer(s MCPServer) MCPServer {
	switch {
	case s.Type == transportLong:
		s.Type = TransportHTTP
	case s.Type != "":
	case s.Command != "":
		s.Type = TransportStdio
	case s.URL != "":
		s.Type = TransportHTTP
	}
	if s.Timeout == 0 {
		s.Timeout = defaultCall
	}
	if s.StartTimeout == 0 {
		s.StartTimeout = defaultStart
	}
	return s
}

// settleBash makes the two times of the tool agree: a timeout that is given lifts
// a bound that is not, and is else cut to the bound.
func settleBash(b *BashTool, root *node) {
	if root.get("tools", "bash", "max_timeout") == nil {
		b.MaxTimeout = max(b.MaxTimeout, b.Timeout)
	}
	b.Timeout = min(b.Timeout, b.MaxTimeout)
}

// completeProvider takes a vendor's key only together with the vendor's own
// address, and never another vendor's address for a name that is known: what is
// called groq does not send anything to OpenAI. Where that leaves it without an
// address, the check says so.
func completeProvider(p Provider) Provider {
	v, known := vendorNamed(p.Name)
	if p.Kind == "" {
		p.Kind = v.kind
		// Servers that took over a vendor's protocol speak the elder one.
		if p.Kind == KindOpenAIResponses && p.BaseURL != "" && p.BaseURL != v.url(p.Kind) {
			p.Kind = KindOpenAIChat
		}
	}
	if !known {
		v, _ = vendorOf(p.Kind)
	}
	if p.BaseURL == "" {
		p.BaseURL = v.url(p.Kind)
		if p.Kind == KindBedrockConverse {
			p.BaseURL = bedrockURL(p.Region)
		}
		if p.BaseURL != "" && p.APIKey == "" && len(p.Headers) == 0 && len(v.env) > 0 {
			p.APIKey = "$" + v.env[0]
		}
	}
	if r := &p.Faults.RefuseImages; r.Message != "" && r.Status == 0 {
		r.Status = refusalStatus
	}
	return p
}

// with returns a copy of the map with one entry set.
func with[V any](m map[string]V, name string, v V) map[string]V {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]V{}
	}
	out[name] = v
	return out
}
