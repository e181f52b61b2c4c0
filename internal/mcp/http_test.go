package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tote/internal/content"
	"tote/internal/mcp"
	"tote/internal/tool"
)

// served makes an HTTP server that is closed after the manager.
func served(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

func TestHTTPTransports(t *testing.T) {
	get := func(*http.Request) *sdk.Server { return good() }
	for name, c := range map[string]struct {
		kind mcp.Transport
		h    http.Handler
	}{
		"streams": {mcp.HTTP, sdk.NewStreamableHTTPHandler(get, nil)},
		"json":    {mcp.HTTP, sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{JSONResponse: true})},
		"sse":     {mcp.SSE, sdk.NewSSEHandler(get, nil)},
	} {
		t.Run(name, func(t *testing.T) {
			var bare atomic.Int32
			address := served(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if req.Header.Get("X-Key") != "sesame-open" {
					bare.Add(1)
				}
				c.h.ServeHTTP(w, req)
			}))
			m := manager(t, mcp.Options{Sample: func(context.Context, mcp.SampleRequest) (mcp.SampleResult, error) {
				return mcp.SampleResult{Text: "red", Model: "m"}, nil
			}})
			s := mcp.Server{Name: "g", Type: c.kind, URL: address, Headers: map[string]string{"X-Key": "sesame-open"}}
			tools := start(t, m, s)
			got, err := call(t, tools, "mcp__g__shot", `{}`, tool.Env{})
			if err != nil || says(got.Sources) != "before|content.Bytes|after" {
				t.Errorf("shot: %q, %v", says(got.Sources), err)
			}
			got, err = call(t, tools, "mcp__g__big", `{"n":6000000}`, tool.Env{})
			if err != nil {
				t.Fatal(err)
			}
			if b, ok := got.Sources[0].Payload.(content.Bytes); !ok || len(b.Data) != 6000000 {
				t.Errorf("the picture came as %T", got.Sources[0].Payload)
			}
			if got, err := call(t, tools, "mcp_read", `{"uri":"x://logo.png"}`, tool.Env{}); err != nil || says(got.Sources) != "content.Bytes|words" {
				t.Errorf("read: %q, %v", says(got.Sources), err)
			}
			if name != "json" {
				if got, err := call(t, tools, "mcp__g__sample", ``, tool.Env{}); err != nil || says(got.Sources) != "red" {
					t.Errorf("sample: %q, %v", says(got.Sources), err)
				}
			}
			if bare.Load() > 0 {
				t.Errorf("%d requests came without the header", bare.Load())
			}
		})
	}
}

// script answers the requests of a client by their method.
func script(t *testing.T, answer func(w http.ResponseWriter, id json.RawMessage, name string)) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		b, err := io.ReadAll(req.Body)
		if req.Method != http.MethodPost || err != nil || json.Unmarshal(b, &m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		switch {
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case m.Method == "initialize":
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}}`, m.ID)
		case m.Method == "tools/list":
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"big","inputSchema":{}},{"name":"bigsse","inputSchema":{}},{"name":"html","inputSchema":{}},{"name":"split","inputSchema":{}},{"name":"gone","inputSchema":{}},{"name":"busy","inputSchema":{}},{"name":"ok","inputSchema":{}}]}}`, m.ID)
		default:
			answer(w, m.ID, m.Params.Name)
		}
	})
}

func TestHTTPBadBehaviour(t *testing.T) {
	address := served(t, script(t, func(w http.ResponseWriter, id json.RawMessage, name string) {
		big := strings.Repeat("A", 3<<20)
		switch name {
		case "big":
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`, id, big)
		case "bigsse":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}}\n\n", id, big)
		case "split": // the data of one event on several lines, noise between
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, ": hello\nnonsense\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":%s,\"result\":\ndata:{\"content\":[{\"type\":\"text\",\"text\":\"joined\"}]}}\n\n", id)
		case "html":
			_, _ = io.WriteString(w, `<html>no</html>`)
		case "gone":
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, strings.Repeat("sesame-open", 100000))
		case "busy":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"ok"}]}}`, id)
		}
	}))
	m := manager(t, mcp.Options{MaxMessage: 1 << 20})
	tools := start(t, m, mcp.Server{Name: "r", URL: address, Headers: map[string]string{"K": "sesame-open"}})
	for _, c := range []struct{ tool, want, fails string }{
		{"big", "", "its answer is over 1 MiB"},
		{"bigsse", "", "its answer is over 1 MiB"},
		{"split", "joined", ""},
		{"html", "", "it answered with something else"},
		{"busy", "", "Service Unavailable"},
		{"ok", "ok", ""},
		{"gone", "", "Internal Server Error"},
		{"ok", "ok", ""},
	} {
		got, err := call(t, tools, "mcp__r__"+c.tool, `{}`, tool.Env{})
		switch {
		case c.fails == "" && (err != nil || says(got.Sources) != c.want):
			t.Errorf("%s: %q, %v", c.tool, says(got.Sources), err)
		case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails) || strings.Contains(err.Error(), "sesame")):
			t.Errorf("%s: %q, %v", c.tool, says(got.Sources), err)
		}
	}
}

func TestHTTPServerThatHangs(t *testing.T) {
	release := make(chan struct{})
	address := served(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		select {
		case <-release:
		case <-req.Context().Done():
		}
	}))
	t.Cleanup(func() { close(release) })
	m := manager(t, mcp.Options{StartTimeout: 200 * time.Millisecond})
	_, problems := m.Tools(t.Context(), mcp.Scope{ID: "w", Servers: []mcp.Server{{Name: "h", URL: address}, {Name: "s", Type: mcp.SSE, URL: address}}})
	if len(problems) != 2 || !strings.Contains(problems[0].Text, "within 200ms") || !strings.Contains(problems[1].Text, "within 200ms") {
		t.Errorf("problems: %v", problems)
	}
}

func TestHeadersStayWithTheirServer(t *testing.T) {
	var leaked atomic.Bool
	other := served(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("X-Key") != "" || req.Header.Get("Authorization") != "" {
			leaked.Store(true)
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	address := served(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, other, http.StatusTemporaryRedirect)
	}))
	m := manager(t, mcp.Options{})
	_, problems := m.Tools(t.Context(), mcp.Scope{ID: "w", Servers: []mcp.Server{
		{Name: "h", URL: address, Headers: map[string]string{"X-Key": "sesame", "Authorization": "Bearer sesame-open"}},
	}})
	if len(problems) != 1 || leaked.Load() {
		t.Errorf("problems %v, leaked %v", problems, leaked.Load())
	}
}

// vault keeps tokens in memory.
type vault struct {
	mu sync.Mutex
	m  map[string][]byte
}

func (v *vault) Load(s string) ([]byte, error) { v.mu.Lock(); defer v.mu.Unlock(); return v.m[s], nil }

func (v *vault) Save(s string, b []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.m == nil {
		v.m = map[string][]byte{}
	}
	v.m[s] = b
	return nil
}

func (v *vault) Delete(s string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.m, s)
	return nil
}

// guarded is a server of the SDK behind a login, and the server that gives it.
type guarded struct {
	url       string
	good      http.Handler
	refreshes atomic.Int32
	life      int // of a token, in seconds
	broken    atomic.Bool
	verified  atomic.Bool
}

func (g *guarded) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	reply := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v) // the client sees what is missing
	}
	switch req.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		reply(map[string]any{"resource": g.url + "/mcp", "authorization_servers": []string{g.url}, "scopes_supported": []string{"read"}})
	case "/.well-known/oauth-authorization-server":
		reply(map[string]any{
			"issuer": g.url, "authorization_endpoint": g.url + "/authorize", "token_endpoint": g.url + "/token", "registration_endpoint": g.url + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "grant_types_supported": []string{"authorization_code", "refresh_token"},
			"token_endpoint_auth_methods_supported": []string{"none"},
		})
	case "/register":
		var in map[string]any
		if json.NewDecoder(req.Body).Decode(&in) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		in["client_id"] = "c-1"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(in) // as above
	case "/token":
		g.token(w, req, reply)
	case "/mcp":
		if req.Header.Get("Authorization") != fmt.Sprintf("Bearer access-%d", g.refreshes.Load()) {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+g.url+`/.well-known/oauth-protected-resource/mcp"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		g.good.ServeHTTP(w, req)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (g *guarded) token(w http.ResponseWriter, req *http.Request, reply func(any)) {
	bad := g.broken.Load()
	switch req.FormValue("grant_type") {
	case "authorization_code":
		bad = bad || req.FormValue("code") != "code-1" || req.FormValue("code_verifier") == "" || req.FormValue("client_id") != "c-1" || req.FormValue("resource") != g.url+"/mcp"
		g.verified.Store(!bad)
	case "refresh_token":
		bad = bad || req.FormValue("refresh_token") != "refresh-1"
		if !bad {
			g.refreshes.Add(1)
		}
	default:
		bad = true
	}
	if bad {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"invalid_grant","error_description":"refresh-1 is used up"}`)
		return
	}
	reply(map[string]any{"access_token": fmt.Sprintf("access-%d", g.refreshes.Load()), "token_type": "Bearer", "refresh_token": "refresh-1", "expires_in": g.life})
}

// browser is a user who logs in at once, after somebody else has tried the port.
func (g *guarded) browser(t *testing.T, deny bool) func(string) error {
	t.Helper()
	return func(address string) error {
		u, err := url.Parse(address)
		if err != nil {
			return err
		}
		q := u.Query()
		if q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("state") == "" || u.Path != "/authorize" {
			return errors.New("the address lacks something")
		}
		back := q.Get("redirect_uri")
		visit := func(v url.Values) error {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, back+"?"+v.Encode(), nil)
			if err != nil {
				return err
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			return resp.Body.Close()
		}
		if err := visit(url.Values{"code": {"stolen"}, "state": {"guess"}}); err != nil {
			return err
		}
		if deny {
			return visit(url.Values{"error": {"access_denied"}, "state": {q.Get("state")}})
		}
		return visit(url.Values{"code": {"code-1"}, "state": {q.Get("state")}})
	}
}

func newGuarded(t *testing.T, life int) *guarded {
	t.Helper()
	g := &guarded{life: life}
	server := good()
	g.good = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	g.url = served(t, g)
	return g
}

func TestLogin(t *testing.T) {
	g := newGuarded(t, 3600)
	v := &vault{}
	m := manager(t, mcp.Options{Tokens: v, OpenURL: g.browser(t, false)})
	s := mcp.Server{Name: "g", URL: g.url + "/mcp"}
	sc := mcp.Scope{ID: "w", Servers: []mcp.Server{s}}
	_, problems := m.Tools(t.Context(), sc)
	if len(problems) != 1 || problems[0].State != mcp.StateLogin || !strings.Contains(problems[0].Text, "run: tote mcp login g") {
		t.Fatalf("problems: %v", problems)
	}
	if err := m.Login(t.Context(), s); err != nil || !g.verified.Load() {
		t.Fatalf("login: %v", err)
	}
	tools, problems := m.Tools(t.Context(), sc)
	if len(problems) > 0 {
		t.Fatalf("problems after the login: %v", problems)
	}
	if got, err := call(t, tools, "mcp__g__shot", `{}`, tool.Env{}); err != nil || says(got.Sources) != "before|content.Bytes|after" {
		t.Errorf("shot: %v", err)
	}
	// Another server of that name does not get the token.
	thief := served(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != "" {
			t.Errorf("the token went to another server")
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	m.Tools(t.Context(), mcp.Scope{ID: "x", Servers: []mcp.Server{{Name: "g", URL: thief}}})
	if err := m.Login(t.Context(), mcp.Server{Name: "t", URL: thief}); err == nil || !strings.Contains(err.Error(), "does not ask for a login") {
		t.Errorf("login at a server without: %v", err)
	}
	if err := m.Logout("g"); err != nil || len(v.m) != 0 {
		t.Errorf("logout: %v", err)
	}
}

func TestLoginRefused(t *testing.T) {
	g := newGuarded(t, 3600)
	m := manager(t, mcp.Options{Tokens: &vault{}, OpenURL: g.browser(t, true)})
	if err := m.Login(t.Context(), mcp.Server{Name: "g", URL: g.url + "/mcp"}); err == nil || !strings.Contains(err.Error(), "access_denied") {
		t.Errorf("login: %v", err)
	}
	if err := m.Login(t.Context(), mcp.Server{Name: "g", Command: "x"}); err == nil {
		t.Error("a stdio server has no login")
	}
}

func TestRefresh(t *testing.T) {
	g := newGuarded(t, 1) // run out at once: ten seconds are kept back
	v := &vault{}
	m := manager(t, mcp.Options{Tokens: v, OpenURL: g.browser(t, false)})
	s := mcp.Server{Name: "g", URL: g.url + "/mcp"}
	if err := m.Login(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	g.life = 3600
	tools := start(t, m, s)
	if got, err := call(t, tools, "mcp__g__shot", `{}`, tool.Env{}); err != nil || says(got.Sources) != "before|content.Bytes|after" || g.refreshes.Load() != 1 {
		t.Errorf("shot: %v after %d refreshes", err, g.refreshes.Load())
	}
	if b, err := v.Load("g"); err != nil || !strings.Contains(string(b), "access-1") {
		t.Errorf("the fresh token was not kept: %v", err)
	}
}

func TestRefreshThatFails(t *testing.T) {
	g := newGuarded(t, 1)
	m := manager(t, mcp.Options{Tokens: &vault{}, OpenURL: g.browser(t, false)})
	s := mcp.Server{Name: "g", URL: g.url + "/mcp"}
	if err := m.Login(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	g.broken.Store(true)
	_, problems := m.Tools(t.Context(), mcp.Scope{ID: "w", Servers: []mcp.Server{s}})
	if len(problems) != 1 || problems[0].State != mcp.StateLogin || strings.Contains(problems[0].Text, "refresh-1") {
		t.Errorf("problems: %v", problems)
	}
}

func TestEnvironment(t *testing.T) {
	got := mcp.Environment([]string{"PATH=/bin", "ANTHROPIC_API_KEY=x", "lc_all=C", "HOME=/h", "npm_config_registry=r", "npm_config__authToken=s", "BAD", "TERM=() { :; }"})
	if want := "PATH=/bin lc_all=C HOME=/h npm_config_registry=r"; strings.Join(got, " ") != want {
		t.Errorf("environment: %q, want %q", got, want)
	}
	if len(mcp.Environment(os.Environ())) == 0 {
		t.Error("nothing is left of the environment")
	}
}
