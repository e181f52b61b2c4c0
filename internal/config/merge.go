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
	placePowers(&cfg, root)
	settleBash(&cfg.Tools.Bash, root)
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
			case k.name == "additional_directories":
				val = &node{kind: kindArray, at: below.at, items: slices.Concat(below.items, val.items)}
			case k.name == "instructions":
				val = concat(below, val)
			default:
				val = withJoined(below, val, joined(k.name))
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

// joined lists, for each section, the lists that are joined and not replaced, so
// that a project cannot drop what the user laid down.
func joined(section string) []string {
	switch section {
	case "permissions":
		return []string{"allow", "ask", "deny"}
	case "tools":
		return []string{"disabled"}
	case "hooks":
		return []string{"prompt", "pre_tool", "post_tool", "stop"}
	}
	return nil
}

// withJoined is deep with lists that are joined.
func withJoined(low, high *node, lists []string) *node {
	out := deep(low, high)
	for _, name := range lists {
		if a, b := low.get(name), high.get(name); a != nil && b != nil {
			out.set(name, concat(a, b))
		}
	}
	return out
}

// concat joins two lists, the lower layer's items first. A text that both hold
// stays once.
func concat(low, high *node) *node {
	both := &node{kind: kindArray, at: low.at, items: slices.Clone(low.items)}
	for _, item := range high.items {
		known := func(n *node) bool {
			return n.kind == kindString && item.kind == kindString && n.str() == item.str()
		}
		if !slices.ContainsFunc(low.items, known) {
			both.items = append(both.items, item)
		}
	}
	return both
}
