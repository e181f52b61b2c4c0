package config

import (
	"maps"
	"slices"
	"strings"
)

// checkRefs checks what can be said only of the merged configuration: that what
// an entry names exists, and that entries are complete.
func checkRefs(cfg *Config, root *node, f *faults) {
	c := checker{root: root, faults: f}
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		c.wholeProvider(cfg.Providers[name])
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		c.wholeAgent(cfg, cfg.Agents[name])
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.MCPServers)) {
		c.wholeServer(cfg.MCPServers[name])
	}
	if _, ok := cfg.Agents[cfg.DefaultAgent]; !ok {
		c.unknownAgent(cfg, cfg.DefaultAgent, "default_agent")
	}
	c.cycles(cfg, "describer", func(a Agent) []string { return []string{a.Describer} })
	c.cycles(cfg, "escalate_to", func(a Agent) []string { return []string{a.EscalateTo} })
	c.cycles(cfg, "fallbacks", func(a Agent) []string { return a.Fallbacks })
}

func (c checker) wholeProvider(p Provider) {
	at := []string{"providers", p.Name}
	switch {
	case p.Kind == "":
		c.fail("lacks kind", at...)
	case p.Kind == KindOffline && p.BaseURL != "":
		c.fail("has no effect with kind offline", append(at, "base_url")...)
	case p.Kind != KindOffline && c.given(append(at, "faults")...):
		c.fail("has an effect only with kind offline", append(at, "faults")...)
	}
}

func (c checker) wholeAgent(cfg *Config, a Agent) {
	at := func(more ...string) []string { return append([]string{"agents", a.Name}, more...) }
	switch {
	case a.Runner != "" && a.Provider != "":
		c.fail("has both runner and provider", at()...)
	case a.Runner == RunnerCustom && len(a.Command) == 0:
		c.fail("lacks command, which the runner custom needs", at()...)
	case a.Runner == "" && a.Provider == "":
		c.fail("lacks provider or runner", at()...)
	case a.Runner == "" && a.Model == "":
		c.fail("lacks model", at()...)
	case a.Runner == "" && len(a.Command) > 0:
		c.fail("has an effect only with runner", at("command")...)
	}
	if a.Provider != "" {
		if _, err := cfg.Provider(a.Provider); err != nil {
			known := cfg.providerNames()
			c.fail("no provider is called "+quoted(a.Provider)+meant(a.Provider, known)+"; known: "+list(known), at("provider")...)
		}
	}
	if a.Describer != "" {
		c.target(cfg, a.Describer, at("describer")...)
	}
	if a.EscalateTo != "" {
		c.target(cfg, a.EscalateTo, at("escalate_to")...)
	}
	for _, name := range a.Fallbacks {
		c.target(cfg, name, at("fallbacks")...)
	}
}

func (c checker) target(cfg *Config, name string, path ...string) {
	if _, ok := cfg.Agents[name]; ok {
		return
	}
	if strings.Contains(name, "/") {
		if _, err := cfg.ResolveModel(name); err != nil {
			c.faults.wrap(c.root.find(path...), strings.Join(path, "."), err)
		}
		return
	}
	c.unknownAgent(cfg, name, path...)
}

func (c checker) unknownAgent(cfg *Config, name string, path ...string) {
	known := slices.Collect(maps.Keys(cfg.Agents))
	c.fail("no agent is called "+quoted(name)+meant(name, known)+"; known: "+list(known), path...)
}

func (c checker) wholeServer(s MCPServer) {
	at := []string{"mcp_servers", s.Name}
	switch {
	case s.Command == "" && s.URL == "":
		c.fail("lacks command or url", at...)
	case s.Command != "" && s.URL != "":
		c.fail("has both command and url", at...)
	case s.Command != "" && s.Type != TransportStdio, s.URL != "" && s.Type == TransportStdio:
		c.fail("does not fit the rest of the entry", append(at, "type")...)
	}
}

// cycles reports each agent that one kind of reference leads back to itself.
func (c checker) cycles(cfg *Config, member string, next func(Agent) []string) {
	for _, start := range slices.Sorted(maps.Keys(cfg.Agents)) {
		seen := map[string]bool{}
		todo := slices.Clone(next(cfg.Agents[start]))
		for len(todo) > 0 {
			name := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if name == start {
				c.fail("leads back to the agent itself", "agents", start, member)
				break
			}
			if !seen[name] {
				seen[name] = true
				todo = append(todo, next(cfg.Agents[name])...)
			}
		}
	}
}
