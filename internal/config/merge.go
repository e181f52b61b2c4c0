package config

import (
	"slices"
)

// Standing is what the user has said of a project. The zero value is Untrusted.
type Standing int

// The standings of a project.
const (
	Untrusted      Standing = iota // its files can only narrow
	TrustedProject                 // its files take full effect
)

// Merge lays the project's layer over the user's and returns the whole, with
// defaults filled in and references checked. Where the project is not trusted,
// only what narrows is taken from it, and the rest is named in withheld. Each
// fault is one *Error in the joined error.
func Merge(user, project Layer, standing Standing) (cfg Config, withheld []string, err error) {
	top := project.root
	if standing == Untrusted && top != nil {
		own, ownErr := assemble(user.root, nil)
		if ownErr != nil {
			return Config{}, nil, ownErr
		}
		top, withheld = narrow(&own, top)
	}
	cfg, err = assemble(user.root, top)
	if err != nil {
		return Config{}, withheld, err
	}
	return cfg, withheld, nil
}

// assemble merges two trees, decodes the result over the defaults and checks it.
func assemble(user, project *node) (Config, error) {
	root := over(user, project)
	cfg := Default()
	var f faults
	if root != nil {
		decoder{faults: &f}.value(root, reflectOf(&cfg), "")
	}
	placeFiles(&cfg, root)
	cfg.DefaultAgent = defaultAgent(&cfg, user, project)
	complete(&cfg)
	checkRefs(&cfg, root, &f)
	if err := f.err(); err != nil {
		return Config{}, err
	}
	return cfg, nil
}

// defaultAgent is the agent that is named, else the only one of the user, else
// the only one of the project, else the built-in one. Several agents with none
// named are no reason to pick one that may cost money.
func defaultAgent(cfg *Config, layers ...*node) string {
	if cfg.DefaultAgent != "" {
		return cfg.DefaultAgent
	}
	for _, l := range layers {
		if agents := l.get("agents"); agents != nil && len(agents.keys) > 0 {
			if len(agents.keys) == 1 {
				return agents.keys[0].name
			}
			break
		}
	}
	return offlineName
}

// identity lists, for each map of entries, the members that say what an entry is.
// A layer that gives one of them replaces the entry, so that a key or a header of
// the layer below is not sent to another address.
func identity(section string) []string {
	switch section {
	case "providers":
		return []string{"kind", "base_url"}
	case "agents":
		return []string{"provider", "runner"}
	case "mcp_servers":
		return []string{"type", "command", "url"}
	}
	return nil
}

// over lays one tree over another. Either may be nil.
func over(low, high *node) *node {
	if low == nil || high == nil {
		if low == nil {
			return high
		}
		return low
	}
	out := newObject(low.at)
	out.keys = slices.Clone(low.keys)
	for _, k := range high.keys {
		val := k.val
		if below := low.get(k.name); below != nil {
			switch {
			case identity(k.name) != nil:
				val = entries(below, val, identity(k.name))
			case k.name == "permissions":
				val = permissions(below, val)
			default:
				val = deep(below, val)
			}
		}
		out.set(k.name, val)
	}
	return out
}

func entries(low, high *node, who []string) *node {
	out := newObject(low.at)
	out.keys = slices.Clone(low.keys)
	for _, k := range high.keys {
		val := k.val
		replaces := slices.ContainsFunc(who, func(member string) bool { return val.get(member) != nil })
		if below := low.get(k.name); below != nil && !replaces {
			val = deep(below, val)
		}
		out.set(k.name, val)
	}
	return out
}

// deep merges objects member by member. Anything else is replaced.
func deep(low, high *node) *node {
	if low.kind != kindObject || high.kind != kindObject {
		return high
	}
	out := newObject(low.at)
	out.keys = slices.Clone(low.keys)
	for _, k := range high.keys {
		val := k.val
		if below := low.get(k.name); below != nil {
			val = deep(below, val)
		}
		out.set(k.name, val)
	}
	return out
}

// permissions joins the rule lists, the lower layer's rules first.
func permissions(low, high *node) *node {
	out := deep(low, high)
	for _, name := range []string{"allow", "ask", "deny"} {
		a, b := low.get(name), high.get(name)
		if a == nil || b == nil {
			continue
		}
		both := &node{kind: kindArray, at: a.at, items: slices.Clone(a.items)}
		for _, rule := range b.items {
			if !slices.ContainsFunc(a.items, func(n *node) bool { return n.str() == rule.str() }) {
				both.items = append(both.items, rule)
			}
		}
		out.set(name, both)
	}
	return out
}
