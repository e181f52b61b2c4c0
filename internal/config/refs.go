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
	at := func(more ...string) []string { return append([]string{"providers", p.Name}, more...) }
	if p.Kind == "" {
		c.fail("lacks kind; want one of "+strings.Join(p.Kind.Values(), ", "), at()...)
		return
	}
	if p.BaseURL == "" && p.Kind != KindOffline && p.Kind != KindBedrockConverse {
		c.fail("lacks base_url"+whereTo(p), at()...)
	}
	only := func(kind Kind, members ...string) {
		for _, m := range members {
			if c.given(at(m)...) && p.Kind != kind {
				c.fail("has an effect only with kind "+string(kind)+", and this is "+string(p.Kind), at(m)...)
			}
		}
	}
	only(KindOffline, "faults")
	only(KindBedrockConverse, "region", "aws_profile")
	only(KindAnthropic, "api_version")
	if p.Kind != KindOffline {
		return
	}
	for _, m := range []string{"base_url", "ca_file", "proxy", "timeouts", "max_retries"} {
		if c.given(at(m)...) {
			c.fail("has no effect with kind offline", at(m)...)
		}
	}
}

// whereTo is what can be said of an address that is missing.
func whereTo(p Provider) string {
	v, ok := vendorNamed(p.Name)
	switch {
	case ok && v.needs != "":
		return ", such as " + azureHint
	case ok:
		var words []string
		for _, u := range v.urls {
			words = append(words, string(u.kind))
		}
		return ": no address of " + v.name + " is known for kind " + string(p.Kind) + ", only for " + strings.Join(words, ", ")
	}
	return ""
}

func (c checker) wholeAgent(cfg *Config, a Agent) {
	at := func(more ...string) []string { return append([]string{"agents", a.Name}, more...) }
	switch {
	case a.Runner != "" && a.Provider != "":
		c.fail("has both runner "+quoted(string(a.Runner))+" and provider "+quoted(a.Provider)+"; want one of them", at()...)
	case a.Runner == RunnerCustom && len(a.Command) == 0:
		c.fail(`lacks command, which the runner custom needs: the program and its arguments, such as ["my-agent", "--print"]`, at()...)
	case a.Runner == "" && a.Provider == "":
		c.fail("lacks provider, or runner: "+strings.Join(a.Runner.Values(), ", "), at()...)
	case a.Runner == "" && a.Model == "":
		c.fail("lacks model", at()...)
	case a.Runner == "" && len(a.Command) > 0:
		c.fail("has an effect only with runner, and this agent has provider "+quoted(a.Provider), at("command")...)
	}
	if a.Provider != "" {
		if _, err := cfg.Provider(a.Provider); err != nil {
			c.fail(err.Error(), at("provider")...)
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
	for _, name := range a.Callable {
		switch _, ok := cfg.Agents[name]; {
		case name == a.Name:
			c.fail("holds the agent itself", at("callable")...)
		case !ok:
			c.unknownAgent(cfg, name, at("callable")...)
		}
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
