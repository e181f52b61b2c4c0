package bedrock_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/bedrock"
	"tote/internal/provider/providertest"
)

var key = providertest.SigV4{ID: "AKIDTEST", Secret: "top-secret", Token: "session/token==", Region: "eu-west-1", Service: "bedrock"}

// env makes an environment of pairs.
func env(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

func keys(more ...string) func(string) string {
	return env(append([]string{"AWS_ACCESS_KEY_ID", key.ID, "AWS_SECRET_ACCESS_KEY", key.Secret, "AWS_SESSION_TOKEN", key.Token, "AWS_REGION", key.Region}, more...)...)
}

func file(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func server(t *testing.T, reply ...providertest.Reply) *providertest.Recorder {
	t.Helper()
	return providertest.NewRecorder(t, reply...).Check("/converse-stream", providertest.CheckConverse)
}

func options(url string) provider.Options {
	return provider.Options{Name: "aws", BaseURL: url, MaxRetries: -1, UserAgent: "tote/test"}
}

// The signature is right over what the server got, for every form of a model's
// id, with headers of the user's own and through a path of the base URL.
func TestSigned(t *testing.T) {
	for _, id := range []string{
		"amazon.nova-lite-v1:0", "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-x:0", "a b%2F~_+é",
	} {
		for _, base := range []string{"", "/gateway%3A/v1/"} {
			rec := server(t, providertest.SignedBy(key, providertest.ConverseText("ok")))
			o := options(rec.URL + base)
			o.Headers = map[string]string{"X-Team": "  a   b "}
			c := model(o, bedrock.Config{Model: id, Env: keys()})
			body := hello(t, c)
			body.Expect = true
			if h := listen(t.Context(), t, c, body); h.Err != nil || h.Text != "ok" {
				t.Errorf("%s: %v", id, h.Err)
			}
			if got := rec.Last().Path; !strings.HasSuffix(got, "/model/"+id+"/converse-stream") {
				t.Errorf("path %q", got)
			}
		}
	}
}

// The path is escaped as the AWS SDKs escape it.
func TestEscapedPath(t *testing.T) {
	var got string
	rec := server(t, func(w http.ResponseWriter, r *http.Request, body []byte) {
		got = r.RequestURI
		providertest.ConverseText("ok")(w, r, body)
	})
	c := model(options(rec.URL), bedrock.Config{Model: "arn:aws:bedrock:us-east-1:1:inference-profile/us.a-v1:0", Env: keys()})
	if h := listen(t.Context(), t, c, hello(t, c)); h.Err != nil {
		t.Fatal(h.Err)
	}
	if want := "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.a-v1%3A0/converse-stream"; got != want {
		t.Errorf("%s", got)
	}
}

// Each sending is signed anew, with the same hash: the pictures are read once
// for all hashes, and once for each sending.
func TestRetryIsSigned(t *testing.T) {
	rec := server(t,
		providertest.SignedBy(key, providertest.Status(503, `{"message":"busy"}`, "Retry-After-Ms", "1")),
		providertest.SignedBy(key, providertest.Status(429, `{"message":"busy"}`, "Retry-After-Ms", "1")),
		providertest.SignedBy(key, providertest.ConverseText("ok")))
	var blobs counting
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	o := options(rec.URL)
	o.MaxRetries = 2
	o.Now = func() time.Time { now = now.Add(time.Second); return now }
	c := model(o, bedrock.Config{Env: keys()})
	body, err := c.Encode(provider.Request{
		Prompt: providertest.Settle(t, profile(native), &blobs.Blobs, providertest.User(picture(&blobs.Blobs, "image-1.png", "PNG one"))), Blobs: &blobs,
	})
	if err != nil {
		t.Fatal(err)
	}
	h := listen(t.Context(), t, c, body)
	if h.Err != nil || h.Retries != 2 || blobs.opened.Load() != 4 {
		t.Fatalf("%v after %d retries, %d reads", h.Err, h.Retries, blobs.opened.Load())
	}
	dates := map[string]bool{}
	for _, r := range rec.Requests() {
		dates[r.Header.Get("X-Amz-Date")] = true
		if !bytes.Equal(r.Body, rec.Last().Body) {
			t.Error("another body")
		}
	}
	if len(dates) != 3 {
		t.Errorf("dates %v", dates)
	}
}

// counting is a store that counts how often something is read.
type counting struct {
	providertest.Blobs
	opened atomic.Int64
}

// Open implements [provider.Blobs].
func (c *counting) Open(d content.Digest) (io.ReadCloser, error) {
	c.opened.Add(1)
	return c.Blobs.Open(d)
}

// A key of Bedrock's own takes the place of signing, and so does an
// authorization of the user's.
func TestNotSigned(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*provider.Options)
		env    func(string) string
		header string
		want   string
	}{
		"environment": {func(*provider.Options) {}, keys("AWS_BEARER_TOKEN_BEDROCK", "abc"), "Authorization", "Bearer abc"},
		"key":         {func(o *provider.Options) { o.Key = func() (string, error) { return "own", nil } }, keys("AWS_BEARER_TOKEN_BEDROCK", "abc"), "Authorization", "Bearer own"},
		"empty key":   {func(o *provider.Options) { o.Key = func() (string, error) { return " ", nil } }, keys("AWS_BEARER_TOKEN_BEDROCK", "abc"), "Authorization", "Bearer abc"},
		"header":      {func(o *provider.Options) { o.Headers = map[string]string{"authorization": "Basic x"} }, keys(), "Authorization", "Basic x"},
		"gateway": {func(o *provider.Options) {
			o.KeyHeader, o.Key = "x-api-key", func() (string, error) { return "own", nil }
		}, keys(), "X-Api-Key", "own"},
	} {
		rec := server(t, providertest.ConverseText("ok"))
		o := options(rec.URL)
		tt.change(&o)
		c := model(o, bedrock.Config{Env: tt.env})
		if h := listen(t.Context(), t, c, hello(t, c)); h.Err != nil {
			t.Errorf("%s: %v", name, h.Err)
			continue
		}
		if got := rec.Last().Header; got.Get(tt.header) != tt.want || got.Get("X-Amz-Date") != "" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Where the keys and the region come from.
func TestSources(t *testing.T) {
	const profiles = "[default]\nregion = us-west-2\naws_access_key_id = DEFAULT\naws_secret_access_key = d\n" +
		"[profile work]\nregion = eu-central-1\naws_access_key_id = WORK\naws_secret_access_key = w\n"
	work := providertest.SigV4{ID: "WORK", Secret: "w", Region: "eu-central-1", Service: "bedrock"}
	inWest := func(k providertest.SigV4, region string) providertest.SigV4 { k.Region = region; return k }
	for name, tt := range map[string]struct {
		config bedrock.Config
		want   providertest.SigV4
	}{
		"default profile":       {bedrock.Config{}, providertest.SigV4{ID: "DEFAULT", Secret: "d", Region: "us-west-2", Service: "bedrock"}},
		"profile":               {bedrock.Config{Profile: "work"}, work},
		"AWS_PROFILE":           {bedrock.Config{Env: env("AWS_PROFILE", "work")}, work},
		"AWS_DEFAULT_PROFILE":   {bedrock.Config{Env: env("AWS_DEFAULT_PROFILE", "work")}, work},
		"profile over keys":     {bedrock.Config{Profile: "work", Env: keys("AWS_REGION", "")}, work},
		"keys over AWS_PROFILE": {bedrock.Config{Env: keys("AWS_PROFILE", "work")}, key},
		"region of a profile beside keys": {
			bedrock.Config{Env: keys("AWS_REGION", "", "AWS_PROFILE", "work")}, inWest(key, "eu-central-1"),
		},
		"region":            {bedrock.Config{Region: "ap-south-1", Env: keys()}, inWest(key, "ap-south-1")},
		"AWS_REGION":        {bedrock.Config{Profile: "work", Env: env("AWS_REGION", "us-east-2")}, inWest(work, "us-east-2")},
		"region of an ARN":  {bedrock.Config{Model: "arn:aws:bedrock:us-east-1:1:x/y", Env: keys()}, inWest(key, "us-east-1")},
		"region over ARN's": {bedrock.Config{Region: "ap-south-1", Model: "arn:aws:bedrock:us-east-1:1:x/y", Env: keys()}, inWest(key, "ap-south-1")},
	} {
		rec := server(t, providertest.SignedBy(tt.want, providertest.ConverseText("ok")))
		tt.config.ConfigFile, tt.config.CredentialsFile = file(t, profiles), file(t, "")
		c := model(options(rec.URL), tt.config)
		if h := listen(t.Context(), t, c, hello(t, c)); h.Err != nil {
			t.Errorf("%s: %v", name, h.Err)
		}
	}
}

// Files that the environment names are read, and the credentials' file as well.
func TestFilesOfTheEnvironment(t *testing.T) {
	want := providertest.SigV4{ID: "C", Secret: "s", Region: "eu-north-1", Service: "bedrock"}
	rec := server(t, providertest.SignedBy(want, providertest.ConverseText("ok")))
	c := model(options(rec.URL), bedrock.Config{Env: env(
		"AWS_CONFIG_FILE", file(t, "[profile p]\nregion = eu-north-1\n"), "AWS_PROFILE", "p",
		"AWS_SHARED_CREDENTIALS_FILE", file(t, "[p]\naws_access_key_id = C\naws_secret_access_key = s\n"))})
	if h := listen(t.Context(), t, c, hello(t, c)); h.Err != nil {
		t.Fatal(h.Err)
	}
}

// asked records where a request would have gone.
type asked struct{ hosts []string }

// RoundTrip implements [http.RoundTripper].
func (a *asked) RoundTrip(r *http.Request) (*http.Response, error) {
	a.hosts = append(a.hosts, r.URL.Scheme+"://"+r.URL.Host)
	return canned(providertest.ConverseFault("throttlingException", `{}`)).RoundTrip(r)
}

// Without a base URL the region's own is used; with one, its region is signed for.
func TestHosts(t *testing.T) {
	for _, tt := range []struct{ base, region, host, signed string }{
		{"", "us-east-1", "https://bedrock-runtime.us-east-1.amazonaws.com", "us-east-1"},
		{"", "cn-north-1", "https://bedrock-runtime.cn-north-1.amazonaws.com.cn", "cn-north-1"},
		{"", "us-gov-west-1", "https://bedrock-runtime.us-gov-west-1.amazonaws.com", "us-gov-west-1"},
		{"", "eusc-de-east-1", "https://bedrock-runtime.eusc-de-east-1.amazonaws.eu", "eusc-de-east-1"},
		{"", "us-isob-east-1", "https://bedrock-runtime.us-isob-east-1.sc2s.sgov.gov", "us-isob-east-1"},
		{"https://bedrock-runtime.eu-west-3.amazonaws.com", "us-east-1", "https://bedrock-runtime.eu-west-3.amazonaws.com", "eu-west-3"},
		{"https://vpce-1.bedrock-runtime.eu-west-3.vpce.amazonaws.com/", "us-east-1", "https://vpce-1.bedrock-runtime.eu-west-3.vpce.amazonaws.com", "eu-west-3"},
		{"https://bedrock-runtime-fips.us-east-2.amazonaws.com", "us-east-1", "https://bedrock-runtime-fips.us-east-2.amazonaws.com", "us-east-2"},
		{"https://gateway.example.com", "us-east-1", "https://gateway.example.com", "us-east-1"},
	} {
		var a asked
		var signed string
		o := options(tt.base)
		o.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			signed = r.Header.Get("Authorization")
			return a.RoundTrip(r)
		})
		c := model(o, bedrock.Config{Env: keys("AWS_REGION", tt.region)})
		listen(t.Context(), t, c, hello(t, c))
		listen(t.Context(), t, c, hello(t, c))
		if len(a.hosts) != 2 || a.hosts[1] != tt.host || !strings.Contains(signed, "/"+tt.signed+"/bedrock/aws4_request") {
			t.Errorf("%q: %v, %s", tt.base, a.hosts, signed)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A configuration that cannot be used is an error that says what to do, and
// nothing of it is sent anywhere.
func TestNoCredentials(t *testing.T) {
	for name, tt := range map[string]struct {
		file        string
		config      bedrock.Config
		words, hint string
	}{
		"nothing":         {"", bedrock.Config{Region: "us-east-1"}, "none in the default profile", "aws sso login"},
		"no region":       {"", bedrock.Config{}, "no AWS region", "providers.aws.region"},
		"bad region":      {"", bedrock.Config{Region: "evil.com/x"}, "region", "us-east-1"},
		"bad region, too": {"", bedrock.Config{Region: "us-east-1.evil.com"}, "region", "us-east-1"},
		"short region":    {"", bedrock.Config{Region: "east-1"}, "region", "us-east-1"},
		"no such profile": {"", bedrock.Config{Region: "us-east-1", Profile: "gone"}, `no profile "gone"`, "list-profiles"},
		"no such AWS_PROFILE": {
			"", bedrock.Config{Region: "us-east-1", Env: env("AWS_PROFILE", "gone", "AWS_EC2_METADATA_DISABLED", "true")}, `no profile "gone"`, "list-profiles",
		},
		"profile without keys": {"[profile p]\nregion = us-east-1\n", bedrock.Config{Profile: "p"}, `none in profile "p"`, "aws sso login"},
		"no login": {
			"[profile p]\nsso_session = s\nsso_account_id = 1\nsso_role_name = r\n[sso-session s]\nsso_region = us-east-1\nsso_start_url = https://x\n",
			bedrock.Config{Region: "us-east-1", Profile: "p"},
			"SSO token", "aws sso login --profile p",
		},
		"odd name": {
			"[profile a&b]\nsso_session = s\nsso_account_id = 1\nsso_role_name = r\n[sso-session s]\nsso_region = us-east-1\nsso_start_url = https://x\n",
			bedrock.Config{Region: "us-east-1", Profile: "a&b"},
			"SSO token", `aws sso login --profile "a&b"`,
		},
		"code": {
			"[profile p]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = q\nmfa_serial = m\n[profile q]\naws_access_key_id = a\naws_secret_access_key = b\n",
			bedrock.Config{Region: "us-east-1", Profile: "p"},
			"wants a code", "credential_process",
		},
		"process": {
			"[profile p]\ncredential_process = echo secret-of-process\n", bedrock.Config{Region: "us-east-1", Profile: "p"}, "credential_process", "by hand",
		},
		"broken file": {"[profile p\n", bedrock.Config{Region: "us-east-1", Profile: "p"}, "AWS configuration", "aws configure list"},
	} {
		if tt.config.Env == nil {
			tt.config.Env = env("AWS_EC2_METADATA_DISABLED", "true")
		}
		tt.config.ConfigFile, tt.config.CredentialsFile = file(t, tt.file), file(t, "")
		c := model(provider.Options{Name: "aws", MaxRetries: -1}, tt.config)
		h := listen(t.Context(), t, c, hello(t, c))
		if h.Err == nil || h.Err.Failure.Kind != delivery.FailAuth || !strings.Contains(h.Err.Error(), tt.words) || !strings.Contains(h.Err.Hint, tt.hint) ||
			strings.Contains(h.Err.Error(), "secret-of-process") {
			t.Errorf("%s: %v (hint %q)", name, h.Err, h.Err.Hint)
		}
	}
}

// A refusal of old keys is about the login, not about a permission.
func TestRefusedKeys(t *testing.T) {
	for words, want := range map[string]struct {
		kind delivery.FailureKind
		hint string
	}{
		"The security token included in the request is expired": {delivery.FailAuth, "--profile p"},
		"The security token included in the request is invalid": {delivery.FailAuth, "--profile p"},
		"Signature expired: 20261130T120000Z is now earlier":    {delivery.FailAuth, "clock"},
		"The request signature we calculated does not match":    {delivery.FailAuth, "secret access key"},
		"User: arn is not authorized to perform: bedrock:X":     {delivery.FailPermission, "InvokeModelWithResponseStream"},
		"no": {delivery.FailPermission, "get-caller-identity --profile p"},
	} {
		rec := server(t, providertest.Status(403, `{"message":"`+words+`"}`))
		c := model(options(rec.URL), bedrock.Config{
			Profile: "p", Region: "us-east-1", CredentialsFile: file(t, ""),
			ConfigFile: file(t, "[profile p]\naws_access_key_id = C\naws_secret_access_key = s\n"),
		})
		h := listen(t.Context(), t, c, hello(t, c))
		if h.Err == nil || h.Err.Failure.Kind != want.kind || !strings.Contains(h.Err.Hint, want.hint) {
			t.Errorf("%s: %v (hint %q)", words, h.Err, h.Err.Hint)
		}
	}
}

// Nothing is read or dialled before the first request.
func TestLazy(t *testing.T) {
	c := model(provider.Options{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		t.Errorf("asked %s", r.URL)
		return nil, io.ErrUnexpectedEOF
	})}, bedrock.Config{ConfigFile: filepath.Join(t.TempDir(), "missing"), Profile: "missing"})
	hello(t, c)
}
