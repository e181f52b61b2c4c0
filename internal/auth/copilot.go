package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// CopilotClientID is the public OAuth client of GitHub's own editor plugins, which
// other agents log in with too (seen in their sources, read 2026-11-30). GitHub has
// no way to register another one for Copilot; a company may have its own.
const CopilotClientID = "Iv1.b507a08c87ecfe98"

// Where GitHub answers. The device flow is documented at
// https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps#device-flow
// (read 2026-11-30); the exchange of tokens is not documented.
const (
	gitHub    = "https://github.com"
	gitHubAPI = "https://api.github.com"
)

const (
	// requestTimeout bounds one question to GitHub.
	requestTimeout = 30 * time.Second
	// maxAnswer bounds what is read of an answer, in bytes.
	maxAnswer = 64 << 10
	// shortestPoll is how often GitHub lets a login be asked about, unless it
	// says otherwise.
	shortestPoll = 5 * time.Second
	// tokenSpare is how long before its end a token is renewed.
	tokenSpare = 5 * time.Minute
)

// Copilot logs in to GitHub Copilot. The zero value is ready.
type Copilot struct {
	// Client makes the requests, nil for a plain one with a limit of time.
	Client *http.Client
	// ClientID is the OAuth client, "" for CopilotClientID.
	ClientID string
	// GitHub and API are other addresses than those of github.com, such as a
	// company's.
	GitHub, API string
	// UserAgent names the program.
	UserAgent string
	Now       func() time.Time

	mu    sync.Mutex
	short map[string]shortToken
}

// shortToken is what a login was exchanged for.
type shortToken struct {
	token string
	until time.Time
}

// Code is what the user types in a browser.
type Code struct {
	User, URL string
	Expires   time.Duration
}

// deviceAnswer is what GitHub says about a login.
type deviceAnswer struct {
	DeviceCode      string `json:"device_code"`
	UserCode        string `json:"user_code"`
	VerificationURI string `json:"verification_uri"`
	ExpiresIn       int    `json:"expires_in"`
	Interval        int    `json:"interval"`
	AccessToken     string `json:"access_token"`
	Error           string `json:"error"`
	Description     string `json:"error_description"`
}

// Login has the user log in in a browser and returns the token to keep. show is
// called once with what the user types. It returns when ctx ends.
func (c *Copilot) Login(ctx context.Context, show func(Code)) (string, error) {
	id := c.ClientID
	if id == "" {
		id = CopilotClientID
	}
	d, err := c.ask(ctx, "/login/device/code", url.Values{"client_id": {id}, "scope": {"read:user"}})
	if err != nil {
		return "", fmt.Errorf("begin the login at GitHub: %w", err)
	}
	if d.DeviceCode == "" || d.UserCode == "" || !strings.HasPrefix(d.VerificationURI, "http") {
		return "", errors.New("begin the login at GitHub: its answer holds no code")
	}
	life := time.Duration(d.ExpiresIn) * time.Second
	if life <= 0 {
		life = 15 * time.Minute
	}
	show(Code{User: d.UserCode, URL: d.VerificationURI, Expires: life})
	ctx, cancel := context.WithTimeoutCause(ctx, life, errors.New("the code has expired: begin again"))
	defer cancel()
	wait := max(shortestPoll, time.Duration(d.Interval)*time.Second)
	for {
		if err := pause(ctx, wait); err != nil {
			return "", fmt.Errorf("wait for the login at GitHub: %w", context.Cause(ctx))
		}
		a, err := c.ask(ctx, "/login/oauth/access_token", url.Values{
			"client_id": {id}, "device_code": {d.DeviceCode}, "grant_type": {"urn:ietf:params:oauth:grant-type:device_code"},
		})
		switch {
		case ctx.Err() != nil:
			return "", fmt.Errorf("wait for the login at GitHub: %w", context.Cause(ctx))
		case err != nil:
			return "", fmt.Errorf("wait for the login at GitHub: %w", err)
		case a.AccessToken != "":
			return a.AccessToken, nil
		case a.Error == "authorization_pending":
		case a.Error == "slow_down":
			wait = max(wait+shortestPoll, time.Duration(a.Interval)*time.Second)
		default:
			return "", fmt.Errorf("log in at GitHub: it said %q", strings.TrimSpace(a.Error+" "+a.Description))
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Copilot) ask(ctx context.Context, path string, form url.Values) (deviceAnswer, error) {
	base := c.GitHub
	if base == "" {
		base = gitHub
	}
	var out deviceAnswer
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(base, "/")+path, strings.NewReader(form.Encode()))
	if err != nil {
		return out, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return out, c.do(req, &out)
}

// statusError is an answer that is none.
type statusError struct{ code int }

func (e statusError) Error() string {
	return fmt.Sprintf("it answered %d %s", e.code, http.StatusText(e.code))
}

func (c *Copilot) do(req *http.Request, into any) error {
	client := c.Client
	if client == nil {
		client = &http.Client{Timeout: requestTimeout}
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.UserAgent)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	if resp.StatusCode != http.StatusOK {
		return statusError{resp.StatusCode}
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(into); err != nil {
		return errors.New("its answer cannot be read") // the error might quote a token
	}
	return nil
}

// Token is what requests carry. A login of GitHub's plugins has to be exchanged for
// a token of short life; where GitHub does not exchange one, because it is of
// another client, it is used as it is.
func (c *Copilot) Token(ctx context.Context, login string) (string, error) {
	now := c.Now()
	c.mu.Lock()
	have, ok := c.short[login]
	c.mu.Unlock()
	if ok && now.Add(tokenSpare).Before(have.until) {
		return have.token, nil
	}
	base := c.API
	if base == "" {
		base = gitHubAPI
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+"/copilot_internal/v2/token", nil)
	if err != nil {
		return "", fmt.Errorf("get a token for Copilot: %w", err)
	}
	req.Header.Set("Authorization", "token "+login)
	var a struct {
		Token     string `json:"token"`
		ExpiresAt int64  `json:"expires_at"`
	}
	err = c.do(req, &a)
	var status statusError
	switch {
	case errors.As(err, &status) && status.code >= 400 && status.code < 500 && status.code != http.StatusTooManyRequests:
		a.Token, a.ExpiresAt = login, now.Add(time.Hour).Unix()
	case err != nil:
		return "", fmt.Errorf("get a token for Copilot: %w", err)
	case a.Token == "":
		return "", errors.New("get a token for Copilot: GitHub's answer holds none")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.short == nil {
		c.short = map[string]shortToken{}
	}
	c.short[login] = shortToken{a.Token, time.Unix(a.ExpiresAt, 0)}
	return a.Token, nil
}
