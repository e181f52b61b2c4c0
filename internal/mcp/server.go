package mcp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"time"

	"tote/internal/content"
)

// Transport is how a server is reached.
type Transport string

// The transports. "" is stdio with a command and http with a url.
const (
	Stdio Transport = "stdio"
	HTTP  Transport = "http" // streamable HTTP
	SSE   Transport = "sse"  // HTTP with events, of 2024
)

// Server is one server as the user configured it. References to variables are
// expanded already.
type Server struct {
	Name string
	Type Transport
	// Command is the program of a stdio server, with its arguments.
	Command string
	Args    []string
	// Env are variables added for it.
	Env map[string]string
	// Cwd is the folder it runs in, "" for that of its scope.
	Cwd string
	// URL is where the other transports find it, Headers go with each request.
	URL      string
	Headers  map[string]string
	Disabled bool
	// CallTimeout and StartTimeout stand in the place of those of Options where
	// they are not 0. Who sets StartTimeout knows that the server is slow: the
	// first turn waits for it that long.
	CallTimeout, StartTimeout time.Duration
	// Allow are the tools that are offered, by name or a pattern of path.Match;
	// none is all. Deny are those that are not, also where Allow has them.
	Allow, Deny []string
}

// offers reports whether a tool of the server is to be offered.
func (s Server) offers(tool string) bool {
	in := func(list []string) bool {
		return slices.ContainsFunc(list, func(pattern string) bool {
			ok, err := path.Match(pattern, tool)
			return pattern == tool || err == nil && ok
		})
	}
	return (len(s.Allow) == 0 || in(s.Allow)) && !in(s.Deny)
}

// within are the options with the server's own times.
func (s Server) within(o *Options) *Options {
	own := *o
	own.CallTimeout, own.StartTimeout = cmp.Or(s.CallTimeout, o.CallTimeout), cmp.Or(s.StartTimeout, o.StartTimeout)
	return &own
}

// defaultTransport reaches HTTP servers. An answer may take long to begin, so its
// time is bounded by that of the call.
func defaultTransport() http.RoundTripper {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConns: 16, IdleConnTimeout: time.Minute,
		DialContext:         (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 15 * time.Second,
	}
}

// kind is the transport that is meant.
func (s Server) kind() Transport {
	switch {
	case s.Type != "":
		return s.Type
	case s.Command != "":
		return Stdio
	}
	return HTTP
}

// check reports what is missing.
func (s Server) check() error {
	switch s.kind() {
	case Stdio:
		if s.Command == "" {
			return fmt.Errorf("it has no command")
		}
	case HTTP, SSE:
		u, err := url.Parse(s.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("its url is no http or https address")
		}
	default:
		return fmt.Errorf("its type %q is none of stdio, http and sse", s.Type)
	}
	return nil
}

// Scope is a group of servers that live and end together: those of a workspace,
// or those that an editor gave with a session.
type Scope struct {
	// ID is the caller's, such as the folder or the session.
	ID string
	// Dir is where its stdio servers run, absolute.
	Dir     string
	Servers []Server
}

// Options are what a Manager needs. The zero value of a limit is its default.
type Options struct {
	// Version is this program's, for the servers.
	Version string
	// Environ is what stdio servers get beside their own variables, spelled as
	// os.Environ spells it. See Environment.
	Environ []string
	// Dial makes the requests of HTTP servers; nil is a transport with the proxy of the
	// environment.
	Dial http.RoundTripper
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	// StartTimeout bounds a start (30 s), TurnWait is how long the first turn waits
	// for servers that start and have no StartTimeout of their own (5 s).
	StartTimeout, TurnWait time.Duration
	// CallTimeout bounds a call that shows no progress (5 min), CallMax any
	// call (1 h).
	CallTimeout, CallMax time.Duration
	// Grace is how long a stdio server has to end by itself when its input is
	// closed, and again when it is asked to (2 s).
	Grace time.Duration
	// MaxMessage bounds a message of a server, in bytes (64 MiB).
	MaxMessage int
	// MaxRestarts is how often a server that failed is started again (5).
	MaxRestarts int

	// Roots are the folders of a scope that its servers are told of; nil tells
	// of none.
	Roots func(scope string) []string
	// Sample answers a server that asks for a completion, after asking the
	// user; nil offers none.
	Sample func(context.Context, SampleRequest) (SampleResult, error)
	// OpenURL shows an address to the user, in a browser where there is one.
	// It is needed by Login only.
	OpenURL func(string) error
	// Tokens keeps the tokens of servers that want a login; nil keeps none.
	Tokens Tokens
}

// withDefaults fills in what was left out.
func withDefaults(o Options) *Options {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&o.StartTimeout, 30*time.Second)
	set(&o.TurnWait, 5*time.Second)
	set(&o.CallTimeout, 5*time.Minute)
	set(&o.CallMax, time.Hour)
	set(&o.Grace, 2*time.Second)
	if o.MaxMessage == 0 {
		o.MaxMessage = 64 << 20
	}
	if o.MaxRestarts == 0 {
		o.MaxRestarts = 5
	}
	if o.Dial == nil {
		o.Dial = defaultTransport()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &o
}

// SampleRequest is what a server wants completed.
type SampleRequest struct {
	Scope, Server string
	System        string
	Messages      []SampleMessage
	// MaxTokens and Temperature are what the server wishes, 0 for no wish.
	MaxTokens   int64
	Temperature float64
	Stop        []string
	// Hints are names of models that the server would like, best first.
	Hints []string
}

// SampleMessage is one message of it.
type SampleMessage struct {
	Role    content.Role
	Sources []content.Source
}

// SampleResult is a completion.
type SampleResult struct {
	Text, Model string
	// StopReason is "endTurn", "stopSequence" or "maxTokens"; "" is endTurn.
	StopReason string
}

// State is how far a server is.
type State string

// The states of a server.
const (
	StateIdle     State = "idle" // not used yet
	StateStarting State = "starting"
	StateReady    State = "ready"
	StateFailed   State = "failed"
	StateLogin    State = "login" // it wants a login
	StateDisabled State = "disabled"
)

// Status is a server for people.
type Status struct {
	Scope, Name string
	State       State
	// Tools, Resources and Prompts count what it offers. Resources counts the
	// first page.
	Tools, Resources, Prompts int
	// Problem says what is wrong with it, "" for nothing.
	Problem string
	// PID is that of a stdio server which runs, else 0.
	PID int
	// Version is what the server calls itself, Protocol what is spoken.
	Version, Protocol string
	// Instructions are what the server says about its use, in bounds; a model may
	// be told them as the server's words.
	Instructions string
	// Noise counts lines that were no messages, Stray answers that nobody asked
	// for, Dropped notifications and requests that nobody needs.
	Noise, Stray, Dropped int
}

// Problem says why a server's tools are missing, or what happened to it. Text goes
// on after the server's name: "did not start: …".
type Problem struct {
	Scope, Server string
	State         State
	Text          string
	// Good: nothing is wrong, and it is told all the same.
	Good bool
}

func (p Problem) String() string { return "MCP server " + p.Server + " " + p.Text }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
