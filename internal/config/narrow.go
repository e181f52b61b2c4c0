package config

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// narrower sorts the members of an untrusted project file into those that only
// narrow what the user's own configuration allows, and the rest. A member that is
// not named here is withheld, which a test checks for every member of Config.
type narrower struct {
	user, project *Config
	kept          *node
	withheld      []string
}

// narrow returns the part of the tree that may take effect, and in words what may not.
func narrow(user *Config, root *node) (*node, []string) {
	var project Config
	var f faults
	decoder{faults: &f}.value(root, reflectOf(&project), "") // Parse has accepted the tree
	n := narrower{user: user, project: &project, kept: newObject(root.at)}
	for _, k := range root.keys {
		switch k.name {
		case "$schema":
		case "providers":
			for _, name := range slices.Sorted(maps.Keys(project.Providers)) {
				n.hold(sayProvider(project.Providers[name]))
			}
		case "agents":
			n.agents(k.val)
		case "mcp_servers":
			n.servers(k.val)
		case "probe":
			n.probe(k.val)
		case "limits":
			n.limits(k.val)
		case "permissions":
			n.permissions(k.val)
		case "privacy":
			n.privacy(k.val)
		case "tools":
			n.tools(k.val)
		case "hooks":
			n.hooks()
		case "instructions":
			for _, path := range project.Instructions {
				n.hold("instructions from " + clean(path))
			}
		case "additional_directories":
			for _, path := range project.AdditionalDirectories {
				n.hold("additional directory " + clean(path))
			}
		case "default_agent":
			if project.DefaultAgent != user.DefaultAgent {
				n.hold("default agent " + clean(project.DefaultAgent))
			}
		default:
			n.others(k)
		}
	}
	return n.kept, n.withheld
}

func (n *narrower) hold(words string) {
	n.withheld = append(n.withheld, printable(words, maxLine))
}

// others withholds a section of which nothing narrows.
func (n *narrower) others(section key) {
	if section.val.kind != kindObject {
		n.hold(section.name)
	}
	for _, m := range section.val.keys {
		n.hold(section.name + "." + m.name + " " + clean(string(m.val.standard())))
	}
}

// keep adds one member of a section to what takes effect.
func (n *narrower) keep(val *node, path ...string) {
	at := n.kept
	for _, name := range path[:len(path)-1] {
		next := at.get(name)
		if next == nil {
			next = newObject(val.at)
			at.set(name, next)
		}
		at = next
	}
	at.set(path[len(path)-1], val)
}

// agents keeps vision: false of an agent that the user has.
func (n *narrower) agents(section *node) {
	for _, k := range section.keys {
		a := n.project.Agents[k.name]
		others := slices.DeleteFunc(slices.Clone(k.val.keys), func(m key) bool { return m.name == "vision" })
		_, own := n.user.Agents[k.name]
		if v := k.val.get("vision"); own && v != nil && a.Vision == VisionNo {
			n.keep(v, "agents", k.name, "vision")
			if len(others) == 0 {
				continue
			}
		}
		n.hold(sayAgent(a))
	}
}

// servers keeps disabled: true of a server that the user has.
func (n *narrower) servers(section *node) {
	for _, k := range section.keys {
		s := n.project.MCPServers[k.name]
		_, own := n.user.MCPServers[k.name]
		if own && s.Disabled && len(k.val.keys) == 1 {
			n.keep(k.val.get("disabled"), "mcp_servers", k.name, "disabled")
			continue
		}
		n.hold(sayServer(s))
	}
}

func (n *narrower) probe(val *node) {
	order := Probe("").Values()
	was, now := slices.Index(order, string(n.user.Probe)), slices.Index(order, string(n.project.Probe))
	switch {
	case now > was:
		n.keep(val, "probe")
	case now < was:
		n.hold("probe " + string(n.project.Probe))
	}
}

// limits keeps what is lower. Zero in the user's configuration is no bound.
func (n *narrower) limits(section *node) {
	was, now := sizes(n.user.Limits), sizes(n.project.Limits)
	for _, m := range section.keys {
		old, value := was[m.name], now[m.name]
		switch {
		case m.name == "summary_at" && value != old: // each summary is paid for
			n.hold("limits.summary_at " + string(m.val.standard()))
		case value > 0 && (old == 0 || value < old) && tooLow(m.val, value, "limits."+m.name) != "":
			n.hold(tooLow(m.val, value, "limits."+m.name))
		case value > 0 && (old == 0 || value < old):
			n.keep(m.val, "limits", m.name)
		case value != old:
			n.hold("limits." + m.name + " " + string(m.val.standard()))
		}
	}
}

// sizes lists the limits by member name. A test compares it with the struct.
func sizes(l Limits) map[string]int64 {
	return map[string]int64{
		"max_sends":         int64(l.MaxSends),
		"max_steps":         int64(l.MaxSteps),
		"attachment_bytes":  int64(l.AttachmentBytes),
		"inline_text_bytes": int64(l.InlineTextBytes),
		"history_bytes":     int64(l.HistoryBytes),
		"picture_bytes":     int64(l.PictureBytes),
		"request_bytes":     int64(l.RequestBytes),
		"turn_timeout":      int64(l.TurnTimeout),
		"tool_output_bytes": int64(l.ToolOutputBytes),
		"task_depth":        int64(l.TaskDepth),
		"jobs":              int64(l.Jobs),
		"summary_at":        int64(l.SummaryAt),
	}
}

// permissions keeps a stricter mode and what asks or denies more.
func (n *narrower) permissions(section *node) {
	order := Mode("").Values()
	for _, m := range section.keys {
		switch m.name {
		case "ask", "deny":
			n.keep(m.val, "permissions", m.name)
		case "mode":
			was, now := slices.Index(order, string(n.user.Permissions.Mode)), slices.Index(order, string(n.project.Permissions.Mode))
			if now < was {
				n.keep(m.val, "permissions", "mode")
			} else if now > was {
				n.hold("permission mode " + string(n.project.Permissions.Mode))
			}
		case "allow":
			for _, rule := range n.project.Permissions.Allow {
				if !slices.Contains(n.user.Permissions.Allow, rule) {
					n.hold("permission for " + clean(rule))
				}
			}
		default:
			n.hold("permissions." + m.name)
		}
	}
}

func (n *narrower) privacy(section *node) {
	for _, m := range section.keys {
		switch {
		case m.name == "strip_metadata" && n.project.Privacy.StripMetadata:
			n.keep(m.val, "privacy", "strip_metadata")
		case m.name == "strip_metadata" && !n.user.Privacy.StripMetadata:
		default:
			n.hold("privacy." + m.name + " " + string(m.val.standard()))
		}
	}
}

// sayProvider tells where requests would go and which key would go with them. A
// literal key is not shown.
func sayProvider(p Provider) string {
	var facts []string
	if p.BaseURL != "" {
		facts = append(facts, "base_url "+clean(safeURL(p.BaseURL)))
	}
	if p.APIKey != "" {
		facts = append(facts, "api_key "+shownKey(p))
	}
	for _, h := range slices.Sorted(maps.Keys(p.Headers)) {
		facts = append(facts, "header "+clean(h)+" "+shown(p.Headers[h]))
	}
	say := func(what, value string) {
		if value != "" {
			facts = append(facts, what+" "+clean(value))
		}
	}
	say("kind", string(p.Kind))
	say("region", p.Region)
	say("aws_profile", p.AWSProfile)
	say("api_version", string(p.APIVersion))
	say("ca_file", p.CAFile)
	say("proxy", shownProxy(p.Proxy))
	if p.Timeouts != (Timeouts{}) {
		facts = append(facts, "timeouts")
	}
	if p.MaxRetries != 0 {
		facts = append(facts, "max_retries "+strconv.Itoa(max(int(p.MaxRetries), 0)))
	}
	return fmt.Sprintf("provider %s (%s)", clean(p.Name), strings.Join(facts, ", "))
}

func sayAgent(a Agent) string {
	var facts []string
	say := func(what, value string) {
		if value != "" {
			facts = append(facts, what+" "+clean(value))
		}
	}
	say("runner", string(a.Runner))
	say("command", strings.Join(hideArgs(a.Command), " "))
	say("provider", a.Provider)
	say("model", a.Model)
	say("effort", string(a.Effort))
	say("describer", a.Describer)
	say("escalate_to", a.EscalateTo)
	say("fallbacks", strings.Join(a.Fallbacks, ", "))
	if a.Callable != nil {
		facts = append(facts, "callable "+clean("["+strings.Join(a.Callable, ", ")+"]"))
	}
	say("purpose", a.Purpose)
	if a.Vision == VisionYes {
		say("vision", a.Vision.String())
	}
	return fmt.Sprintf("agent %s (%s)", clean(a.Name), strings.Join(facts, ", "))
}

// sayServer tells what would be started or called, and which variables it would read.
func sayServer(s MCPServer) string {
	facts := []string{"changed"}
	switch {
	case s.Command != "":
		facts[0] = "command " + clean(strings.Join(append([]string{s.Command}, hideArgs(s.Args)...), " "))
	case s.URL != "":
		facts[0] = "url " + clean(safeURL(s.URL))
	}
	for _, h := range slices.Sorted(maps.Keys(s.Headers)) {
		facts = append(facts, "header "+clean(h))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		facts = append(facts, "sets "+clean(name))
	}
	for _, name := range s.references() {
		facts = append(facts, "reads $"+clean(name))
	}
	return "mcp server " + clean(s.Name) + ": " + strings.Join(facts, ", ")
}

// references lists the variables that Expand would read.
func (s MCPServer) references() []string {
	seen := map[string]bool{}
	e := expander{env: func(name string) string {
		seen[name] = true
		return name
	}}
	for _, text := range append([]string{s.Command, s.URL, s.CWD}, s.Args...) {
		e.text(text)
	}
	e.values(s.Env)
	e.values(s.Headers)
	return slices.Sorted(maps.Keys(seen))
}

// safeURL shows an address without what may be secret in it.
func safeURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "(an address with references)"
	}
	if u.User == nil && u.RawQuery == "" {
		return s
	}
	u.User = nil
	q := u.Query()
	for name := range q {
		q[name] = []string{setWord}
	}
	u.RawQuery = q.Encode()
	return u.String()
}
