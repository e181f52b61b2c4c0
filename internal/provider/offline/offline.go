package offline

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"tote/internal/provider"
	"tote/internal/provider/openai"
)

// Model is the only model's name.
const Model = "offline"

// BaseURL stands for the backend in profiles and verdicts. It is never dialed.
const BaseURL = "http://offline.invalid/v1"

// Options is how the backend behaves. The zero value is one without faults.
type Options struct {
	// Name is the provider's name in the configuration, for hints.
	Name string
	// Model is the model's name, "" for Model.
	Model  string
	Faults Faults
	// MaxRetries is passed to the transport: 0 for its default, negative
	// for none.
	MaxRetries int
}

// Faults make the backend misbehave in a chosen way. The zero value is a
// backend without faults.
type Faults struct {
	// RefuseImages answers every request that holds a picture with an error.
	RefuseImages Refusal
	// ImageTokens says how image tokens are reported.
	ImageTokens ImageTokens
	// CutAfter breaks the connection after so many bytes of the answer's
	// body, 0 for never.
	CutAfter int64
	// TooLargeOver answers a request body of more bytes with status 413, 0
	// for never.
	TooLargeOver int64
	// Slow is the pause before each piece of the answer.
	Slow time.Duration
	// ToolCalls are asked for in order, one a request, in each turn; then
	// the turn is answered.
	ToolCalls []ToolCall
	// Parallel asks for all of ToolCalls in the turn's first request.
	Parallel bool
	// Status answers with an HTTP error.
	Status Status
}

// Refusal is how pictures are refused. A zero Status means that they are not.
type Refusal struct {
	Status int
	// Message is the wording, "" for OpenAI's.
	Message string
}

// ToolCall is one call that the backend asks for.
type ToolCall struct{ Name, Arguments string }

// Status is an error answer. A zero Code means none.
type Status struct {
	Code int
	// Body is sent as it stands, "" for a JSON error.
	Body string
	// Times is how many requests are answered so, 0 for all.
	Times int
}

// ImageTokens says how image tokens are reported.
type ImageTokens uint8

// The ways to report image tokens.
const (
	TokensTrue   ImageTokens = iota // as they were priced
	TokensZero                      // as if no picture had been seen
	TokensAbsent                    // not at all
)

// New makes a provider that is answered by a handler of its own.
func New(o Options) provider.Provider {
	if o.Model == "" {
		o.Model = Model
	}
	t := &http.Transport{
		DialContext:           dialer{handler: NewHandler(o)}.dial,
		DisableKeepAlives:     true,
		DisableCompression:    true,
		ExpectContinueTimeout: 100 * time.Millisecond,
	}
	return openai.New(
		provider.Options{Name: o.Name, BaseURL: BaseURL, Transport: t, MaxRetries: o.MaxRetries},
		openai.Config{Model: o.Model},
	)
}

// dialer makes connections to a handler in this process.
type dialer struct{ handler http.Handler }

func (d dialer) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	s := &http.Server{
		Handler: d.handler, ReadHeaderTimeout: time.Minute,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // it would go to the terminal
	}
	// Serve returns at the second Accept; the connection it started ends
	// when the client closes its side, which it does after one request.
	go s.Serve(&single{conn: server}) //nolint:errcheck // it always returns errServed
	return client, nil
}

// single is a listener that has one connection to give.
type single struct {
	mu   sync.Mutex
	conn net.Conn
}

var errServed = errors.New("the one connection is served")

func (s *single) Accept() (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.conn
	if c == nil {
		return nil, errServed
	}
	s.conn = nil
	return c, nil
}

func (s *single) Close() error { return nil }

func (s *single) Addr() net.Addr { return address{} }

type address struct{}

func (address) Network() string { return "memory" }
func (address) String() string  { return "offline" }
