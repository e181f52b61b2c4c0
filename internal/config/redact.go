package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// setWord stands for a secret that is there.
const setWord = "set"

// secretArg matches the name of an argument whose value is likely secret.
var secretArg = form(`(?i)(key|token|secret|passw|auth|credential)`)

// Redacted returns the configuration as indented JSON without secrets: a key
// that names a variable or an entry of the keyring is shown as it stands, a literal one as "set", and so are
// header and environment values. Arguments that look like secrets are hidden too,
// which is a help and no promise: keys belong into the environment.
func (c *Config) Redacted() ([]byte, error) {
	out := *c
	out.Providers = maps.Clone(c.Providers)
	for name, p := range out.Providers {
		p.APIKey = shownKey(p)
		p.Headers = shownAll(p.Headers)
		if p.BaseURL != "" {
			p.BaseURL = safeURL(p.BaseURL)
		}
		p.Proxy = shownProxy(p.Proxy)
		out.Providers[name] = p
	}
	out.Agents = maps.Clone(c.Agents)
	for name, a := range out.Agents {
		a.Command = hideArgs(a.Command)
		out.Agents[name] = a
	}
	out.MCPServers = maps.Clone(c.MCPServers)
	for name, s := range out.MCPServers {
		s.Env, s.Headers, s.Args = shownAll(s.Env), shownAll(s.Headers), hideArgs(s.Args)
		if s.URL != "" && !strings.Contains(s.URL, "${") {
			s.URL = safeURL(s.URL)
		}
		out.MCPServers[name] = s
	}
	out.Hooks = Hooks{
		Prompt: hideHooks(c.Hooks.Prompt), PreTool: hideHooks(c.Hooks.PreTool),
		PostTool: hideHooks(c.Hooks.PostTool), Stop: hideHooks(c.Hooks.Stop),
	}
	data, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write configuration: %w", err)
	}
	return append(data, '\n'), nil
}

// shown is what may be seen of a secret.
func shown(s string) string {
	if s == "" || envName(s) != "" {
		return s
	}
	return setWord
}

// shownKey is what may be seen of a provider's key.
func shownKey(p Provider) string {
	if keyringName(p) != "" {
		return p.APIKey
	}
	return shown(p.APIKey)
}

func hideHooks(hooks []Hook) []Hook {
	out := slices.Clone(hooks)
	for i := range out {
		out[i].Command = hideArgs(out[i].Command)
	}
	return out
}

// shownProxy is what may be seen of a proxy's address, which may hold a password.
func shownProxy(s string) string {
	if s == "" || s == proxyDirect || envName(s) != "" {
		return s
	}
	return safeURL(s)
}

func shownAll(m map[string]string) map[string]string {
	out := maps.Clone(m)
	for k, v := range out {
		out[k] = setWord
		if envName(v) != "" {
			out[k] = v
		}
	}
	return out
}

// hideArgs replaces the value of each argument whose name looks secret, in the
// forms --name=value, name=value and --name value.
func hideArgs(args []string) []string {
	out := slices.Clone(args)
	for i, a := range args {
		name, _, has := strings.Cut(a, "=")
		switch {
		case has && secretArg().MatchString(name):
			out[i] = name + "=" + setWord
		case i > 0 && strings.HasPrefix(args[i-1], "-") && !strings.HasPrefix(a, "-") &&
			!strings.Contains(args[i-1], "=") && secretArg().MatchString(args[i-1]):
			out[i] = setWord
		}
	}
	return out
}
