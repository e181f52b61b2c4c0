package provider_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"tote/internal/delivery"
	"tote/internal/provider"
)

// closedPort is an address of loopback that nothing answers at.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // nobody dials it before
	return l.Addr().String()
}

// answering is a proxy that answers everything with a status.
func answering(t *testing.T, status int) (host string, count *atomic.Int64) {
	t.Helper()
	count = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		count.Add(1)
		w.WriteHeader(status)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://"), count
}

// socks is a proxy of SOCKS that says each of its answers once.
func socks(t *testing.T, answers ...string) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // nothing is lost
	go func() {                         // ends when the listener is closed
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 512)
			for _, a := range answers {
				if _, err := c.Read(buf); err == nil {
					_, _ = io.WriteString(c, a) // a client that left sees nothing
				}
			}
			_ = c.Close() // nothing is lost
		}
	}()
	return l.Addr().String()
}

// failed asks once, or as often as the options say, and returns the error.
func failed(t *testing.T, o provider.Options) *provider.Error {
	t.Helper()
	if o.MaxRetries == 0 {
		o.MaxRetries = -1
	}
	o.Jitter = func() float64 { return 0 }
	_, err := collect(provider.NewClient(o).Stream(t.Context(), "x", literal("{}"), readNothing))
	var e *provider.Error
	if !errors.As(err, &e) {
		t.Fatalf("error = %v", err)
	}
	return e
}

// A proxy that is in the way is named, and its password is not.
func TestProxyIsToBlame(t *testing.T) {
	const target = "https://api.invalid:8443/v1"
	dead := closedPort(t)
	for name, tt := range map[string]struct {
		status int    // of a proxy that answers, 0 for the one at host
		host   string // HOST in the texts
		form   string // of the proxy's address
		base   string
		hint   string
		sent   int64
	}{
		"closed":          {0, dead, "http://u:sekret@HOST", target, "nothing answers at the proxy HOST of providers.acme.proxy; is it running?", 0},
		"closed, http":    {0, dead, "http://HOST", "http://api.invalid", "nothing answers at the proxy HOST of providers.acme.proxy; is it running?", 0},
		"closed, SOCKS":   {0, dead, "socks5://u:sekret@HOST", target, "nothing answers at the proxy HOST of providers.acme.proxy; is it running?", 0},
		"login":           {407, "", "http://HOST", target, `the proxy HOST of providers.acme.proxy asks for a user and password: name it as http://USER:PASSWORD@HOST:PORT, or set providers.acme.proxy to "$NAME", a variable that holds this`, 1},
		"login, http":     {407, "", "http://HOST", "http://api.invalid", `asks for a user and password: name it as http://USER:PASSWORD@HOST:PORT`, 1},
		"wrong login":     {407, "", "http://u:sekret@HOST", target, "the proxy HOST of providers.acme.proxy does not take the user and password in its address; check them", 1},
		"forbidden":       {403, "", "http://u:sekret@HOST", target, `the proxy HOST of providers.acme.proxy does not let requests through to api.invalid:8443; ask who runs it, or set providers.acme.proxy to "direct" to go without`, 1},
		"bad gateway":     {502, "", "http://u:sekret@HOST", target, "the proxy HOST of providers.acme.proxy does not get through to api.invalid:8443; check it and providers.acme.base_url", 2},
		"TLS, plain port": {200, "", "https://u:sekret@HOST", target, "the proxy HOST of providers.acme.proxy does not speak TLS; let its address begin with http://", 0},
		"SOCKS, target":   {0, socks(t, "\x05\x02", "\x01\x00", "\x05\x05\x00\x01\x00\x00\x00\x00\x00\x00"), "socks5://u:sekret@HOST", target, "the proxy HOST of providers.acme.proxy does not get through to api.invalid:8443; check it and providers.acme.base_url", 0},
		"SOCKS, login":    {0, socks(t, "\x05\x02", "\x01\x01"), "socks5://u:sekret@HOST", target, "the proxy HOST of providers.acme.proxy does not take the user and password in its address; check them", 0},
		"SOCKS, no login": {0, socks(t, "\x05\xff"), "socks5://HOST", target, "asks for a user and password", 0},
	} {
		count := new(atomic.Int64)
		host := tt.host
		if tt.status != 0 {
			host, count = answering(t, tt.status)
		}
		o := options(tt.base)
		o.Proxy = strings.ReplaceAll(tt.form, "HOST", host)
		if tt.status != 0 {
			o.MaxRetries = 1
		}
		e := failed(t, o)
		hint := strings.ReplaceAll(strings.ReplaceAll(tt.hint, "HOST", host), "@"+host+":PORT", "@HOST:PORT")
		if e.Failure.Kind != delivery.FailNetwork || e.Failure.Reached || !strings.Contains(e.Hint, hint) || !strings.Contains(e.Error(), "proxy") && !strings.Contains(e.Error(), "socks") {
			t.Errorf("%s: %v\n got %s\nwant %s", name, e, e.Hint, hint)
		}
		if strings.Contains(e.Error()+e.Hint, "sekret") || count.Load() != tt.sent {
			t.Errorf("%s: %v, %d requests", name, e, count.Load())
		}
	}
}

// A Retry tells of the proxy as well.
func TestRetryNamesTheProxy(t *testing.T) {
	bad, _ := answering(t, 502)
	for host, want := range map[string]string{bad: "the proxy answers 502 (bad gateway)", closedPort(t): "no way through the proxy"} {
		o := options("https://api.invalid")
		o.Proxy, o.MaxRetries = "http://"+host, 1
		o.Jitter = func() float64 { return 0 }
		events, _ := collect(provider.NewClient(o).Stream(t.Context(), "x", literal("{}"), readNothing)) // the error is that of others
		if len(events) != 1 || events[0].(provider.Retry).Why != want {
			t.Errorf("events %+v, want %s", events, want)
		}
	}
}

// What a server is asked about itself goes the same way.
func TestFetchNamesTheProxy(t *testing.T) {
	host, _ := answering(t, 407)
	for _, base := range []string{"http://api.invalid", "https://api.invalid"} {
		o := options(base)
		o.Proxy = "http://" + host
		_, err := provider.NewClient(o).Fetch(t.Context(), http.MethodGet, "models", nil)
		var e *provider.Error
		if !errors.As(err, &e) || e.Failure.Kind != delivery.FailNetwork || !strings.Contains(e.Hint, "the proxy "+host+" of providers.acme.proxy asks") {
			t.Errorf("%s: %v", base, err)
		}
	}
}

// Before plain http, a proxy and the server cannot be told apart.
func TestProxyMayBeToBlame(t *testing.T) {
	host, _ := answering(t, 502)
	o := options("http://api.invalid")
	o.Proxy = "http://" + host
	if e := failed(t, o); e.Failure.Kind != delivery.FailServer || !strings.Contains(e.Hint, "the backend, or the proxy "+host+" of providers.acme.proxy, has a problem") {
		t.Errorf("%v: %s", e, e.Hint)
	}
}

// proxyMark has this test binary ask through the proxy of its environment, which
// net/http reads once in a process.
const proxyMark = "PROVIDER_TEST_PROXY_FOR"

func TestProxyOfTheEnvironment(t *testing.T) {
	if base := os.Getenv(proxyMark); base != "" {
		e := failed(t, options(base))
		t.Logf("said: %v; %s", e, e.Hint)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dead := closedPort(t)
	for _, tt := range []struct{ base, proxy, want string }{
		{"https://api.invalid", "http://u:sekret@" + dead, "nothing answers at the proxy " + dead + " that the environment names (HTTPS_PROXY); is it running?"},
		{"http://api.invalid", "http://u:sekret@" + dead, "nothing answers at the proxy " + dead + " that the environment names (HTTP_PROXY); is it running?"},
	} {
		cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestProxyOfTheEnvironment$", "-test.v")
		cmd.Env = append(os.Environ(), proxyMark+"="+tt.base, "HTTPS_PROXY="+tt.proxy, "HTTP_PROXY="+tt.proxy, "https_proxy=", "http_proxy=", "NO_PROXY=", "no_proxy=")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), tt.want) || strings.Contains(string(out), "sekret") {
			t.Errorf("%v: %s\nwant %s", err, out, tt.want)
		}
	}
}

// authority makes the certificate of another authority.
func authority(t *testing.T) []byte {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "another"}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, &c, &c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// A certificate that is not trusted is answered by ca_file, the proxy's too.
func TestCertificates(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that do not trust it
	s.StartTLS()
	t.Cleanup(s.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		base, proxy string
		ca          []byte
		want        string
	}{
		"unknown": {s.URL, "", nil, "the server's certificate is not trusted: set providers.acme.ca_file to your authority's certificates"},
		"another": {s.URL, "", authority(t), "the server's certificate is not trusted: its authority is not among those of providers.acme.ca_file, nor of this system"},
		"name":    {"https://localhost:" + u.Port(), "", ca, "the server's certificate is not for localhost; check providers.acme.base_url"},
		"proxy":   {"https://api.invalid", s.URL, nil, "the certificate of the proxy " + u.Host + " of providers.acme.proxy is not trusted: set providers.acme.ca_file to your authority's certificates"},
	} {
		o := options(tt.base)
		o.CA, o.Proxy = tt.ca, tt.proxy
		if e := failed(t, o); e.Failure.Kind != delivery.FailNetwork || e.Hint != tt.want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, e, e.Hint, tt.want)
		}
	}
}
