package config

import (
	"errors"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxPurpose is the greatest length of what an agent is for, in runes.
const maxPurpose = 200

// form compiles a pattern at its first use: most starts of the program need none.
func form(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

var (
	nameForm   = form(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	envForm    = form(`^\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})$`)
	headerForm = form("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$") // RFC 9110 §5.6.2, token
	regionForm = form(`^[a-z]{2,8}(-[a-z]+)+-[0-9]{1,2}$`)
	mediaForm  = form(`^[a-z0-9.+-]+/([a-z0-9.+-]+|\*)$`)
)

// checker checks decoded values and finds the place of each in the tree.
type checker struct {
	root   *node
	faults *faults
}

func (c checker) fail(what string, path ...string) {
	c.faults.wrap(c.root.find(path...), strings.Join(path, "."), errors.New(what))
}

func (c checker) given(path ...string) bool { return c.root.get(path...) != nil }

// positive wants a number above zero, where one is given.
func (c checker) positive(v int64, path ...string) {
	if v <= 0 && c.given(path...) {
		c.fail("is "+c.spelled(path...)+"; must be greater than zero", path...)
	}
}

// spelled is a value as the file has it. It is for values that are no secrets.
func (c checker) spelled(path ...string) string { return clean(string(c.root.get(path...).raw)) }

func (c checker) filled(v string, path ...string) {
	if v == "" && c.given(path...) {
		c.fail("is empty", path...)
	}
}

// checkValues checks what can be said of one file alone.
func checkValues(cfg *Config, root *node, f *faults) {
	c := checker{root: root, faults: f}
	for _, name := range slices.Sorted(maps.Keys(cfg.Providers)) {
		c.name(name, "providers", name)
		c.provider(cfg.Providers[name])
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		c.name(name, "agents", name)
		c.agent(cfg.Agents[name])
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.MCPServers)) {
		if name == "" || clean(name) != name {
			c.fail("is not a name: want 1 to 80 printable characters", "mcp_servers", name)
		}
		c.server(cfg.MCPServers[name])
	}
	c.filled(cfg.DefaultAgent, "default_agent")
	c.positive(int64(cfg.ACP.MaxLine), "acp", "max_line")
	c.limits(cfg.Limits)
	c.rules(cfg.Permissions.Allow, "permissions", "allow")
	c.rules(cfg.Permissions.Ask, "permissions", "ask")
	c.rules(cfg.Permissions.Deny, "permissions", "deny")
	c.tools(cfg.Tools)
	c.hooks(cfg.Hooks)
	c.paths(cfg.Instructions, "instructions")
	c.paths(cfg.AdditionalDirectories, "additional_directories")
}

func (c checker) name(name string, path ...string) {
	if !nameForm().MatchString(name) {
		c.fail("is not a name: want 1 to 64 letters, digits, '.', '_' or '-', a letter or digit first", path...)
	}
}

func (c checker) provider(p Provider) {
	at := func(more ...string) []string { return append([]string{"providers", p.Name}, more...) }
	if c.given(at("base_url")...) {
		c.address(p.BaseURL, at("base_url")...)
	}
	c.filled(p.APIKey, at("api_key")...)
	c.secret(p.APIKey, at("api_key")...)
	if strings.HasPrefix(p.APIKey, keyringWord+":") && keyringName(p) == "" {
		c.fail("starts with keyring: but is not keyring:NAME, with a name of 1 to 128 letters, digits and the characters . _ @ / -", at("api_key")...)
	}
	c.headers(p.Headers, at("headers")...)
	for _, h := range slices.Sorted(maps.Keys(p.Headers)) {
		c.secret(p.Headers[h], at("headers", h)...)
	}
	c.reach(p, at)
	l := p.Limits
	c.positive(int64(l.Images), at("limits", "images")...)
	c.positive(int64(l.ImageBytes), at("limits", "image_bytes")...)
	c.positive(int64(l.ImageEdge), at("limits", "image_edge")...)
	c.positive(int64(l.RequestBytes), at("limits", "request_bytes")...)
	c.positive(int64(l.ContextTokens), at("limits", "context_tokens")...)
	c.positive(int64(l.OutputTokens), at("limits", "output_tokens")...)
	for _, m := range l.MediaTypes {
		if !mediaForm().MatchString(m) {
			c.fail("holds "+quoted(m)+", which is not a media type in lower case, such as image/png", at("limits", "media_types")...)
		}
	}
	c.script(p.Faults, at)
}

// reach checks how a backend is reached.
func (c checker) reach(p Provider, at func(...string) []string) {
	if c.given(at("region")...) && !regionForm().MatchString(p.Region) {
		c.fail("is "+quoted(p.Region)+"; want the name of an AWS region, such as us-east-1", at("region")...)
	}
	c.filled(p.AWSProfile, at("aws_profile")...)
	if what := badProxy(p.Proxy); what != "" && c.given(at("proxy")...) {
		c.fail(what, at("proxy")...)
	}
	if what := badFile(p.CAFile); what != "" && c.given(at("ca_file")...) {
		c.fail(what, at("ca_file")...)
	}
	c.positive(int64(p.Timeouts.Connect), at("timeouts", "connect")...)
	c.positive(int64(p.Timeouts.FirstByte), at("timeouts", "first_byte")...)
	c.positive(int64(p.Timeouts.Idle), at("timeouts", "idle")...)
}

func (c checker) script(s Faults, at func(...string) []string) {
	c.positive(int64(s.CutStreamAfter), at("faults", "cut_stream_after")...)
	c.positive(int64(s.TooLargeOver), at("faults", "too_large_over")...)
	c.positive(int64(s.Slow), at("faults", "slow")...)
	c.positive(int64(s.Status.Times), at("faults", "status", "times")...)
	c.status(s.Status.Code, at("faults", "status", "code")...)
	if c.given(at("faults", "status")...) && !c.given(at("faults", "status", "code")...) {
		c.fail("lacks code", at("faults", "status")...)
	}
	c.status(s.RefuseImages.Status, at("faults", "refuse_images", "status")...)
	for i, call := range s.ToolCalls {
		if call.Name == "" {
			c.fail("call "+strconv.Itoa(i+1)+" lacks name", at("faults", "tool_calls")...)
		}
	}
}

func (c checker) status(code int, path ...string) {
	if c.given(path...) && (code < 400 || code > 599) {
		c.fail("is "+strconv.Itoa(code)+"; must be from 400 to 599", path...)
	}
}

func (c checker) agent(a Agent) {
	at := func(more ...string) []string { return append([]string{"agents", a.Name}, more...) }
	c.filled(a.Provider, at("provider")...)
	c.filled(a.Model, at("model")...)
	c.filled(a.Describer, at("describer")...)
	c.filled(a.EscalateTo, at("escalate_to")...)
	if slices.Contains(a.Fallbacks, "") {
		c.fail("holds an empty name", at("fallbacks")...)
	}
	c.filled(a.Purpose, at("purpose")...)
	if n := utf8.RuneCountInString(a.Purpose); n > maxPurpose {
		c.fail("is "+strconv.Itoa(n)+" characters long; the most is "+strconv.Itoa(maxPurpose), at("purpose")...)
	}
	if printable(a.Purpose, maxPurpose) != a.Purpose && utf8.RuneCountInString(a.Purpose) <= maxPurpose {
		c.fail("holds a line end or a character that cannot be shown; want one line of text", at("purpose")...)
	}
	if c.given(at("command")...) && (len(a.Command) == 0 || a.Command[0] == "") {
		c.fail(`names no program; want the program and its arguments, such as ["claude"]`, at("command")...)
	}
	if slices.ContainsFunc(a.Command, func(s string) bool { return strings.Contains(s, "\x00") }) {
		c.fail("holds a NUL, which no argument of a program can", at("command")...)
	}
}

func (c checker) server(s MCPServer) {
	at := func(more ...string) []string { return append([]string{"mcp_servers", s.Name}, more...) }
	c.filled(s.Command, at("command")...)
	// An address may hold ${NAME}, so it is checked again when it is used.
	if c.given(at("url")...) && !strings.Contains(s.URL, "${") {
		c.address(s.URL, at("url")...)
	}
	c.headers(s.Headers, at("headers")...)
	c.positive(int64(s.Timeout), at("timeout")...)
	c.positive(int64(s.StartTimeout), at("start_timeout")...)
	c.patterns(s.Allow, at("allow")...)
	c.patterns(s.Deny, at("deny")...)
	for name := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(s.Env[name], "\x00") {
			c.fail("holds a name or value that no environment variable can have", at("env")...)
		}
	}
}

// address wants an absolute URL that holds no secret in plain sight. The error
// does not repeat it.
func (c checker) address(s string, path ...string) {
	if what := badAddress(s); what != "" {
		c.fail(what, path...)
	}
}

func badAddress(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "is not a URL"
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return "is not an absolute http or https address"
	case u.User != nil:
		return "must not hold a user name or password; use api_key or headers"
	case u.Fragment != "":
		return "must not hold a fragment"
	}
	return ""
}

// secret wants a value that starts with $ to name an environment variable.
func (c checker) secret(s string, path ...string) {
	if strings.HasPrefix(s, "$") && envName(s) == "" {
		c.fail("starts with $ but is not $NAME or ${NAME}", path...)
	}
}

// envName returns the variable that a value refers to, or "" for a literal.
func envName(s string) string {
	m := envForm().FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}

func (c checker) headers(h map[string]string, path ...string) {
	for name, value := range h {
		if !headerForm().MatchString(name) {
			c.fail("holds a name that no HTTP header can have", path...)
		}
		if strings.ContainsAny(value, "\r\n\x00") {
			c.fail("holds a value with a line end", path...)
		}
	}
}

func (c checker) limits(l Limits) {
	if (l.MaxSends < 1 || l.MaxSends > maxSends) && c.given("limits", "max_sends") {
		c.fail("is "+strconv.Itoa(l.MaxSends)+"; must be from 1 to "+strconv.Itoa(maxSends), "limits", "max_sends")
	}
	c.positive(int64(l.MaxSteps), "limits", "max_steps")
	c.positive(int64(l.AttachmentBytes), "limits", "attachment_bytes")
	c.positive(int64(l.InlineTextBytes), "limits", "inline_text_bytes")
	c.positive(int64(l.HistoryBytes), "limits", "history_bytes")
	c.positive(int64(l.PictureBytes), "limits", "picture_bytes")
	c.positive(int64(l.RequestBytes), "limits", "request_bytes")
	c.positive(int64(l.TurnTimeout), "limits", "turn_timeout")
	c.positive(int64(l.ToolOutputBytes), "limits", "tool_output_bytes")
	c.positive(int64(l.TaskDepth), "limits", "task_depth")
	c.positive(int64(l.Jobs), "limits", "jobs")
	if (l.SummaryAt < 10 || l.SummaryAt > 100) && c.given("limits", "summary_at") {
		c.fail("is "+strconv.Itoa(l.SummaryAt)+"; want a percentage from 10 to 100", "limits", "summary_at")
	}
}

func (c checker) rules(rules []string, path ...string) {
	for i, r := range rules {
		if strings.TrimSpace(r) == "" || strings.ContainsAny(r, "\n\r\x00") {
			c.fail("rule "+strconv.Itoa(i+1)+" is empty or holds a line end", path...)
			continue
		}
		if what := badRuleName(r); what != "" {
			at := c.root.get(path...).items[i].at
			c.faults.wrap(at, strings.Join(path, ".")+"["+strconv.Itoa(i)+"]", errors.New(what))
		}
	}
}
