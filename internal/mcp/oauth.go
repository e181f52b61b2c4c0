package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Tokens keeps what a login gave, by the name of the server. The bytes are
// secret. Load returns nil for a server without one.
type Tokens interface {
	Load(server string) ([]byte, error)
	Save(server string, token []byte) error
	Delete(server string) error
}

// Bounds of a login.
const (
	loginTime = 5 * time.Minute
	// authBytes bounds each answer of an authorisation server, in bytes.
	authBytes = 1 << 20
)

// record is what is kept of a login: all that a refresh needs.
type record struct {
	// URL is the server's. A token goes to no other, whatever its name.
	URL          string           `json:"url"`
	ClientID     string           `json:"client_id"`
	ClientSecret string           `json:"client_secret,omitempty"`
	TokenURL     string           `json:"token_url"`
	AuthStyle    oauth2.AuthStyle `json:"auth_style,omitempty"`
	Scopes       []string         `json:"scopes,omitempty"`
	Token        *oauth2.Token    `json:"token"`
}

func (r *record) config() *oauth2.Config {
	return &oauth2.Config{
		ClientID: r.ClientID, ClientSecret: r.ClientSecret, Scopes: r.Scopes,
		Endpoint: oauth2.Endpoint{TokenURL: r.TokenURL, AuthStyle: r.AuthStyle},
	}
}

// keeper gives the access token of one server and renews it.
type keeper struct {
	o      *Options
	server Server

	mu     sync.Mutex
	loaded bool
	rec    *record
}

// reload forgets what was read: a login in another process may have changed it.
func (k *keeper) reload() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.loaded, k.rec = false, nil
}

func (k *keeper) read() error {
	if k.loaded || k.o.Tokens == nil {
		return nil
	}
	b, err := k.o.Tokens.Load(k.server.Name)
	if err != nil {
		return fmt.Errorf("load the token: %w", err)
	}
	k.loaded, k.rec = true, nil
	var r record
	if len(b) > 0 && json.Unmarshal(b, &r) == nil && r.URL == k.server.URL && r.Token != nil {
		k.rec = &r
	}
	return nil
}

// access returns the token, "" for none.
func (k *keeper) access(ctx context.Context) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.read(); err != nil || k.rec == nil {
		return "", err
	}
	old := k.rec.Token
	if old.Valid() {
		return old.AccessToken, nil
	}
	k.loaded = false // another process may have renewed it
	if err := k.read(); err != nil || k.rec == nil {
		return "", err
	}
	if k.rec.Token.Valid() {
		return k.rec.Token.AccessToken, nil
	}
	fresh, err := k.rec.config().TokenSource(context.WithValue(ctx, oauth2.HTTPClient, k.o.authClient()), k.rec.Token).Token()
	if err != nil {
		// The answer may spell out what was sent, so it is not told.
		return "", errors.New("the login has run out and could not be renewed")
	}
	k.rec.Token = fresh
	return fresh.AccessToken, k.save(k.rec)
}

func (k *keeper) save(r *record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return errors.New("the token cannot be written as JSON")
	}
	if err := k.o.Tokens.Save(k.server.Name, b); err != nil {
		return fmt.Errorf("save the token: %w", err)
	}
	return nil
}

// authClient talks to authorisation servers in bounds.
func (o *Options) authClient() *http.Client {
	return &http.Client{Transport: bounded{o.Dial}, Timeout: time.Minute}
}

type bounded struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.base.RoundTrip(req)
	if err == nil {
		resp.Body = &closing{Reader: io.LimitReader(resp.Body, authBytes), body: resp.Body, done: func() {}}
	}
	return resp, err
}

// Login sends the user through the login of an HTTP server and keeps the token.
// The browser comes back to a port of this machine that is open as long as the
// login takes.
func (mgr *Manager) Login(ctx context.Context, s Server) error {
	o := mgr.o
	mask := newMasker(s)
	switch {
	case s.kind() == Stdio:
		return fmt.Errorf("log in to %s: it is no HTTP server", s.Name)
	case s.check() != nil:
		return fmt.Errorf("log in to %s: %w", s.Name, s.check())
	case o.Tokens == nil || o.OpenURL == nil:
		return fmt.Errorf("log in to %s: there is nothing to keep a token with", s.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, loginTime)
	defer cancel()
	back, err := newCallback(ctx)
	if err != nil {
		return fmt.Errorf("log in to %s: %w", s.Name, err)
	}
	defer back.close()
	rec := &record{URL: s.URL}
	h, err := auth.NewAuthorizationCodeHandler(o.loginConfig(s, back, rec))
	if err != nil {
		return fmt.Errorf("log in to %s: %w", s.Name, err)
	}
	req, resp, err := o.knock(ctx, s)
	if err != nil {
		return fmt.Errorf("log in to %s: %w", s.Name, err)
	}
	if resp.StatusCode != http.StatusUnauthorized {
		_ = resp.Body.Close() // nothing in it is of use
		return fmt.Errorf("log in to %s: it does not ask for a login; it answered %s", s.Name, resp.Status)
	}
	if err := h.Authorize(ctx, req, resp); err != nil {
		if _, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
			err = errors.New("the authorisation server gave no token")
		}
		return fmt.Errorf("log in to %s: %s", s.Name, mask.words(err.Error()))
	}
	if rec.Token == nil {
		return fmt.Errorf("log in to %s: the authorisation server gave no token", s.Name)
	}
	return (&keeper{o: o, server: s}).save(rec)
}

// Logout forgets the token of a server.
func (mgr *Manager) Logout(server string) error {
	if mgr.o.Tokens == nil {
		return nil
	}
	if err := mgr.o.Tokens.Delete(server); err != nil {
		return fmt.Errorf("log out of %s: %w", server, err)
	}
	return nil
}

func (o *Options) loginConfig(s Server, back *callback, rec *record) *auth.AuthorizationCodeHandlerConfig {
	return &auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "tote", RedirectURIs: []string{back.url()}, TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}},
		RedirectURL: back.url(), RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: o.authClient(),
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return back.fetch(ctx, args.URL, o.OpenURL)
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			*rec = record{
				URL: s.URL, ClientID: c.ClientID, ClientSecret: c.ClientSecret, TokenURL: c.Endpoint.TokenURL,
				AuthStyle: c.Endpoint.AuthStyle, Scopes: c.Scopes, Token: t,
			}
			return oauth2.StaticTokenSource(t), nil
		},
	}
}

// knock asks the server without a token, to hear where its login is.
func (o *Options) knock(ctx context.Context, s Server) (*http.Request, *http.Response, error) {
	method, body := http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+settled+`","capabilities":{},"clientInfo":{"name":"tote","version":"0"}}}`
	if s.kind() == SSE {
		method, body = http.MethodGet, ""
	}
	req, err := http.NewRequestWithContext(ctx, method, s.URL, strings.NewReader(body))
	if err != nil {
		return nil, nil, errors.New("its url is no address")
	}
	for name, v := range s.Headers {
		req.Header.Set(name, v)
	}
	req.Header.Del("Authorization") // one that is refused, or nobody would log in
	req.Header.Set("Accept", "application/json, text/event-stream")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := bounded{o.Dial}.RoundTrip(req)
	if err != nil {
		return nil, nil, errors.New(newMasker(s).words(err.Error()))
	}
	return req, resp, nil
}

// callback is where the browser comes back to.
type callback struct {
	l      net.Listener
	server *http.Server
	state  chan string // what the answer must carry
	got    chan url.Values
}

func newCallback(ctx context.Context) (*callback, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a port for the browser to come back to: %w", err)
	}
	c := &callback{l: l, state: make(chan string, 1), got: make(chan url.Values, 1)}
	c.server = &http.Server{Handler: c, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	// Ends with close.
	go func() { _ = c.server.Serve(l) }() // that it was closed is no news
	return c, nil
}

func (c *callback) url() string { return "http://" + c.l.Addr().String() + "/callback" }

func (c *callback) close() { _ = c.server.Close() } // the login is over

// ServeHTTP takes the one answer that carries the state of this login.
func (c *callback) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	var want string
	select {
	case want = <-c.state:
	default:
	}
	q := req.URL.Query()
	if req.URL.Path != "/callback" || want == "" || q.Get("state") != want {
		if want != "" {
			c.state <- want
		}
		http.Error(w, "This is not the answer that was waited for.", http.StatusBadRequest)
		return
	}
	c.got <- q
	_, _ = io.WriteString(w, "You can close this window and go back to tote.\n") // the user sees it or not
}

// fetch shows the address to the user and waits for the browser.
func (c *callback) fetch(ctx context.Context, address string, show func(string) error) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("the login is at no http or https address")
	}
	c.state <- u.Query().Get("state")
	if err := show(address); err != nil {
		return nil, fmt.Errorf("show the address of the login: %w", err)
	}
	select {
	case q := <-c.got:
		if code := q.Get("code"); code != "" {
			return &auth.AuthorizationResult{Code: code, State: q.Get("state"), Iss: q.Get("iss")}, nil
		}
		return nil, fmt.Errorf("the login was refused: %s", oneLine(q.Get("error")+" "+q.Get("error_description")))
	case <-ctx.Done():
		return nil, errors.New("nobody logged in within " + loginTime.String())
	}
}
