package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Provider returns a provider that is configured or well known. An error wraps
// ErrUsage and lists the names.
func (c *Config) Provider(name string) (Provider, error) {
	if p, ok := c.Providers[name]; ok {
		return p, nil
	}
	if v, ok := vendorNamed(name); ok {
		if v.needs != "" {
			return Provider{}, usage("provider %s has to be configured: set providers.%s.%s, such as %s", quoted(name), name, v.needs, azureHint)
		}
		return v.provider(), nil
	}
	known := c.providerNames()
	return Provider{}, usage("no provider is called %s%s; known: %s", quoted(name), meant(name, known), list(known))
}

func (c *Config) providerNames() []string {
	names := slices.Collect(maps.Keys(c.Providers))
	for _, v := range slices.Concat(vendors(), locals()) {
		names = append(names, v.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Agent returns a configured or built-in agent, the default one for "". A name
// with a slash that is no agent is taken as PROVIDER/MODEL. An error wraps
// ErrUsage and lists the names.
func (c *Config) Agent(name string) (Agent, error) {
	if name == "" {
		name = c.DefaultAgent
	}
	if a, ok := c.Agents[name]; ok {
		return a, nil
	}
	if strings.Contains(name, "/") {
		return c.ResolveModel(name)
	}
	known := slices.Collect(maps.Keys(c.Agents))
	return Agent{}, usage("no agent is called %s%s; known: %s", quoted(name), meant(name, known), list(known))
}

// CallableFrom lists the agents that the one called name may give work to, sorted.
// An agent that is not configured may call all.
func (c *Config) CallableFrom(name string) []string {
	if a, ok := c.Agents[name]; ok && a.Callable != nil {
		names := slices.Clone(a.Callable)
		slices.Sort(names)
		return slices.Compact(names)
	}
	names := slices.Sorted(maps.Keys(c.Agents))
	return slices.DeleteFunc(names, func(n string) bool { return n == name || n == offlineName || strings.Contains(n, "/") })
}

// ResolveModel returns the unnamed agent for PROVIDER/MODEL, which is split at
// the first slash: a model's id may hold more.
func (c *Config) ResolveModel(s string) (Agent, error) {
	provider, model, ok := strings.Cut(s, "/")
	if !ok || provider == "" || model == "" {
		return Agent{}, usage("model %s is not of the form PROVIDER/MODEL", quoted(s))
	}
	if _, err := c.Provider(provider); err != nil {
		return Agent{}, fmt.Errorf("model %s: %w", quoted(s), err)
	}
	return Agent{Name: s, Provider: provider, Model: model, Vision: c.visionOf(provider, model)}, nil
}

// visionOf is what the user says of a model's sight in the agents that have it.
// Agents that contradict each other say nothing.
func (c *Config) visionOf(provider, model string) Vision {
	said := VisionAuto
	for _, a := range c.Agents {
		if a.Provider != provider || a.Model != model || a.Vision == VisionAuto {
			continue
		}
		if said != VisionAuto && said != a.Vision {
			return VisionAuto
		}
		said = a.Vision
	}
	return said
}

// Overlay holds what the command line says. Empty fields say nothing.
type Overlay struct {
	Agent string // --agent
	Model string // --model, PROVIDER/MODEL
	Mode  string // --mode
	// Dirs are absolute, of --add-dir where a session has no list of its own.
	Dirs []string
}

// Apply returns the configuration with the command line's wishes. A model given
// there runs as an unnamed agent that keeps the describer, the escalation target,
// the fallbacks and the callable agents of the agent it replaces. The receiver is not changed.
func (c *Config) Apply(o Overlay) (Config, error) {
	out := *c
	if o.Mode != "" {
		mode, err := ParseMode(o.Mode)
		if err != nil {
			return Config{}, err
		}
		out.Permissions.Mode = mode
	}
	out.AdditionalDirectories = slices.Concat(out.AdditionalDirectories, o.Dirs)
	base, err := c.Agent(o.Agent)
	if err != nil {
		return Config{}, err
	}
	if o.Model != "" {
		picked, err := c.ResolveModel(o.Model)
		if err != nil {
			return Config{}, err
		}
		picked.Describer, picked.EscalateTo, picked.Fallbacks = base.Describer, base.EscalateTo, base.Fallbacks
		picked.Callable = base.Callable
		base = picked
	}
	out.DefaultAgent = base.Name
	out.Agents = with(c.Agents, base.Name, base)
	return out, nil
}

// HeaderValues returns the headers to send, with references looked up.
func (p Provider) HeaderValues(env func(string) string) (map[string]string, error) {
	out := make(map[string]string, len(p.Headers))
	for name, value := range p.Headers {
		v, err := lookUp(value, env)
		if err != nil {
			return nil, fmt.Errorf("read header %s of provider %s: %w", quoted(name), quoted(p.Name), err)
		}
		out[name] = v
	}
	return out, nil
}

func lookUp(value string, env func(string) string) (string, error) {
	name := envName(value)
	if name == "" {
		return value, nil
	}
	if v := env(name); v != "" {
		return v, nil
	}
	return "", fmt.Errorf("environment variable %s is not set", name)
}

// Expand returns the server with ${NAME} and ${NAME:-otherwise} replaced in its
// command, arguments, environment, address and headers, as other programs that
// read .mcp.json do. An error names the variable that is not set.
func (s MCPServer) Expand(env func(string) string) (MCPServer, error) {
	e := expander{env: env}
	s.Command, s.URL, s.CWD = e.text(s.Command), e.text(s.URL), e.text(s.CWD)
	s.Args = slices.Clone(s.Args)
	for i := range s.Args {
		s.Args[i] = e.text(s.Args[i])
	}
	s.Env, s.Headers = e.values(s.Env), e.values(s.Headers)
	if e.missing != "" {
		return MCPServer{}, fmt.Errorf("start mcp server %s: environment variable %s is not set", quoted(s.Name), e.missing)
	}
	if what := badAddress(s.URL); s.URL != "" && what != "" {
		return MCPServer{}, fmt.Errorf("start mcp server %s: url %s", quoted(s.Name), what)
	}
	return s, nil
}

// expander replaces references and remembers the first that has no value.
type expander struct {
	env     func(string) string
	missing string
}

func (e *expander) values(m map[string]string) map[string]string {
	out := maps.Clone(m)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out[k] = e.text(m[k])
	}
	return out
}

func (e *expander) text(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "${")
		inside, after, closed := strings.Cut(rest, "}")
		name, otherwise, has := strings.Cut(inside, ":-")
		if !ok || !closed {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(before)
		s = after
		if envName("${"+name+"}") == "" {
			b.WriteString("${" + inside + "}") // not a reference: kept as it stands
			continue
		}
		v := e.env(name)
		switch {
		case v == "" && has:
			v = otherwise
		case v == "" && e.missing == "":
			e.missing = name
		}
		b.WriteString(v)
	}
}

// quoted shows a name from outside in an error.
func quoted(s string) string { return fmt.Sprintf("%q", clean(s)) }
