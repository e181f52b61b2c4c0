package bedrock_test

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/bedrock"
	"tote/internal/provider/providertest"
)

// A credential_process gives keys; it reads nothing from standard input.
func TestProcess(t *testing.T) {
	want := providertest.SigV4{ID: "P", Secret: "s", Region: "us-east-1", Service: "bedrock"}
	rec := server(t, providertest.SignedBy(want, providertest.ConverseText("ok")))
	keys := file(t, `{"Version":1,"AccessKeyId":"P","SecretAccessKey":"s"}`)
	show := "cat"
	if runtime.GOOS == "windows" {
		show = "type"
	}
	c := model(options(rec.URL), bedrock.Config{
		Region: "us-east-1", Profile: "p", CredentialsFile: file(t, ""),
		ConfigFile: file(t, "[profile p]\ncredential_process = "+show+" "+keys+"\n"),
	})
	if h := listen(t.Context(), t, c, hello(t, c)); h.Err != nil {
		t.Fatal(h.Err)
	}
}

// portal is one of AWS SSO.
func portal(t *testing.T, status int, body string) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path != "/federation/credentials" || r.Header.Get("X-Amz-Sso_bearer_token") != "login-token" || r.URL.Query().Get("role_name") != "r" {
			t.Errorf("asked %s", r.URL)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // a client that left sees nothing
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

// loggedIn writes what "aws sso login" leaves in the home folder.
func loggedIn(t *testing.T, until time.Time) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	sum := sha1.Sum([]byte("s")) // the session of ssoProfile
	dir := filepath.Join(home, ".aws", "sso", "cache")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	token := fmt.Sprintf(`{"accessToken":"login-token","expiresAt":%q}`, until.UTC().Format(time.RFC3339))
	if err := os.WriteFile(filepath.Join(dir, hex.EncodeToString(sum[:])+".json"), []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
}

func ssoProfile(url string) string {
	return "[profile dev]\nsso_session = s\nsso_account_id = 1\nsso_role_name = r\nregion = eu-west-1\nservices = local\n" +
		"[sso-session s]\nsso_region = us-east-1\nsso_start_url = https://example.invalid/start\n[services local]\nsso =\n  endpoint_url = " + url + "\n"
}

func TestSSO(t *testing.T) {
	rec := server(t, providertest.SignedBy(key, providertest.ConverseText("ok")))
	later := time.Now().Add(time.Hour)
	url, times := portal(t, 200, fmt.Sprintf(`{"roleCredentials":{"accessKeyId":%q,"secretAccessKey":%q,"sessionToken":%q,"expiration":%d}}`, key.ID, key.Secret, key.Token, later.UnixMilli()))
	loggedIn(t, later)
	c := model(options(rec.URL), bedrock.Config{Profile: "dev", ConfigFile: file(t, ssoProfile(url)), CredentialsFile: file(t, "")})
	for range 3 {
		if h := listen(t.Context(), t, c, hello(t, c)); h.Err != nil {
			t.Fatal(h.Err)
		}
	}
	if times.Load() != 1 {
		t.Errorf("the portal was asked %d times", times.Load())
	}
}

// A login that has run out is told, and a new one is found without a restart.
func TestSSORunsOut(t *testing.T) {
	rec := server(t, providertest.SignedBy(key, providertest.ConverseText("ok")))
	url, _ := portal(t, 200, fmt.Sprintf(`{"roleCredentials":{"accessKeyId":%q,"secretAccessKey":%q,"sessionToken":%q,"expiration":%d}}`, key.ID, key.Secret, key.Token, time.Now().Add(time.Hour).UnixMilli()))
	loggedIn(t, time.Now().Add(-time.Hour))
	c := model(options(rec.URL), bedrock.Config{Profile: "dev", ConfigFile: file(t, ssoProfile(url)), CredentialsFile: file(t, "")})
	h := listen(t.Context(), t, c, hello(t, c))
	if h.Err == nil || h.Err.Failure.Kind != delivery.FailAuth || h.Err.Hint != "the AWS login has run out; run: aws sso login --profile dev" {
		t.Fatalf("%v (hint %q)", h.Err, h.Err.Hint)
	}
	loggedIn(t, time.Now().Add(time.Hour))
	if h := listen(t.Context(), t, c, hello(t, c)); h.Err != nil {
		t.Error(h.Err)
	}
}

func TestSSORefuses(t *testing.T) {
	url, _ := portal(t, 401, `{"__type":"UnauthorizedException","message":"Session token not found or invalid"}`)
	loggedIn(t, time.Now().Add(time.Hour))
	c := model(options("http://127.0.0.1:1"), bedrock.Config{Profile: "dev", ConfigFile: file(t, ssoProfile(url)), CredentialsFile: file(t, "")})
	h := listen(t.Context(), t, c, hello(t, c))
	if h.Err == nil || h.Err.Failure.Kind != delivery.FailAuth || !strings.Contains(h.Err.Hint, "aws sso login --profile dev") || strings.Contains(h.Err.Error(), "login-token") {
		t.Errorf("%v", h.Err)
	}
}

// The metadata service is asked where nothing else gives keys.
func TestMetadata(t *testing.T) {
	want := providertest.SigV4{ID: "ROLE", Secret: "s", Token: "t", Region: "us-east-1", Service: "bedrock"}
	rec := server(t, providertest.SignedBy(want, providertest.ConverseText("ok")))
	machine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/api/token"):
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
			_, _ = io.WriteString(w, "metadata-token") // a client that left sees nothing
		case strings.HasSuffix(r.URL.Path, "/security-credentials/"):
			_, _ = io.WriteString(w, "role")
		default:
			_, _ = fmt.Fprintf(w, `{"Code":"Success","AccessKeyId":"ROLE","SecretAccessKey":"s","Token":"t","Expiration":%q}`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		}
	}))
	t.Cleanup(machine.Close)
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", machine.URL)
	for _, disabled := range []string{"", "false"} {
		c := model(options(rec.URL), bedrock.Config{Region: "us-east-1", ConfigFile: file(t, ""), CredentialsFile: file(t, ""), Env: env("AWS_EC2_METADATA_DISABLED", disabled)})
		if h := listen(t.Context(), t, c, hello(t, c)); h.Err != nil {
			t.Errorf("%q: %v", disabled, h.Err)
		}
	}
}

// SSO is reached the way the endpoint is: through its proxy, and with its
// certificates.
func TestSSOTakesTheSameWay(t *testing.T) {
	until := time.Now().Add(time.Hour)
	grant := fmt.Sprintf(`{"roleCredentials":{"accessKeyId":%q,"secretAccessKey":%q,"sessionToken":%q,"expiration":%d}}`, key.ID, key.Secret, key.Token, until.UnixMilli())
	loggedIn(t, until)
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/federation/credentials" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, grant) // a client that left sees nothing
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		providertest.SignedBy(key, providertest.ConverseText("ok"))(w, r, body)
	})
	proxy, secure := httptest.NewServer(answer), httptest.NewTLSServer(answer)
	t.Cleanup(proxy.Close)
	t.Cleanup(secure.Close)
	for name, tt := range map[string]struct {
		base   string
		change func(*provider.Options)
	}{
		"proxy": {"http://portal.invalid", func(o *provider.Options) { o.Proxy = proxy.URL }},
		"certificates": {secure.URL, func(o *provider.Options) {
			o.Proxy, o.CA = "direct", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
		}},
		"transport": {secure.URL, func(o *provider.Options) { o.Transport = secure.Client().Transport }},
	} {
		o := options(tt.base)
		tt.change(&o)
		c := model(o, bedrock.Config{Profile: "dev", ConfigFile: file(t, ssoProfile(tt.base)), CredentialsFile: file(t, "")})
		if h := listen(t.Context(), t, c, hello(t, c)); h.Err != nil || h.Text != "ok" {
			t.Errorf("%s: %v", name, h.Err)
		}
	}
}

// A portal that is not reached says nothing about the login.
func TestSSOIsDown(t *testing.T) {
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	loggedIn(t, time.Now().Add(time.Hour))
	c := model(options("http://127.0.0.1:1"), bedrock.Config{Profile: "dev", ConfigFile: file(t, ssoProfile("http://127.0.0.1:1")), CredentialsFile: file(t, "")})
	if h := listen(t.Context(), t, c, hello(t, c)); h.Err == nil || h.Err.Failure.Kind != delivery.FailNetwork {
		t.Errorf("%v", h.Err)
	}
}

// What keeps from SSO is told from what keeps from Bedrock, down to the proxy and
// the certificate.
func TestSSOIsOutOfReach(t *testing.T) {
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	loggedIn(t, time.Now().Add(time.Hour))
	var asked atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that do not trust it
	secure.StartTLS()
	t.Cleanup(proxy.Close)
	t.Cleanup(secure.Close)
	host := strings.TrimPrefix(proxy.URL, "http://")
	for name, tt := range map[string]struct{ portal, proxy, hint string }{
		"login of the proxy": {"https://portal.invalid", "http://u:sekret@" + host, "the proxy " + host + " of providers.aws.proxy does not take the user and password"},
		"certificate":        {secure.URL, "direct", "set providers.aws.ca_file to your authority's certificates"},
		"nothing there":      {"http://127.0.0.1:1", "direct", "nothing answers at 127.0.0.1:1;"},
	} {
		o := options("http://127.0.0.1:2")
		o.Proxy, o.MaxRetries = tt.proxy, 0
		o.Jitter = func() float64 { return 0 }
		if name == "nothing there" {
			o.MaxRetries = -1
		}
		c := model(o, bedrock.Config{Profile: "dev", ConfigFile: file(t, ssoProfile(tt.portal)), CredentialsFile: file(t, "")})
		h := listen(t.Context(), t, c, hello(t, c))
		if h.Err == nil || h.Err.Failure.Kind != delivery.FailNetwork || !strings.Contains(h.Err.Hint, tt.hint) || strings.Contains(h.Err.Error()+h.Err.Hint, "sekret") {
			t.Errorf("%s: %v (hint %q)", name, h.Err, h.Err.Hint)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("the proxy was asked %d times", asked.Load())
	}
}

// A host that was made of the region is told with it: there is no base_url.
func TestNoSuchRegion(t *testing.T) {
	for base, want := range map[string]string{
		"":                     "the host h is not known; check the region (providers.aws.region or AWS_REGION) and the network",
		"https://mine.invalid": "the host h is not known; check providers.aws.base_url and the network",
	} {
		o := options(base)
		o.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
			return nil, &net.DNSError{Err: "no such host", Name: "h", IsNotFound: true}
		})
		c := model(o, bedrock.Config{Region: "xx-east-1", Env: keys()})
		if h := listen(t.Context(), t, c, hello(t, c)); h.Err == nil || h.Err.Hint != want {
			t.Errorf("%q: %v", base, h.Err)
		}
	}
}
