package auth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zalando/go-keyring"

	"tote/internal/auth"
)

// ring is a keyring in memory; broken is one that is not there.
type ring struct {
	keys   map[string]string
	broken error
}

func (r *ring) Get(_, name string) (string, error) {
	if r.broken != nil {
		return "", r.broken
	}
	key, ok := r.keys[name]
	if !ok {
		return "", keyring.ErrNotFound
	}
	return key, nil
}

func (r *ring) Set(_, name, key string) error {
	if r.broken == nil {
		r.keys[name] = key
	}
	return r.broken
}

func (r *ring) Delete(_, name string) error {
	if r.broken != nil {
		return r.broken
	}
	if _, ok := r.keys[name]; !ok {
		return keyring.ErrNotFound
	}
	delete(r.keys, name)
	return nil
}

func TestKeys(t *testing.T) {
	for name, r := range map[string]*ring{"keyring": {keys: map[string]string{}}, "file": {broken: errors.New("no bus")}} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config", "keys.json")
			k := auth.Open(file, r)
			if _, err := k.Get("openai"); !errors.Is(err, auth.ErrNoKey) {
				t.Errorf("nothing kept: %v", err)
			}
			place, err := k.Set("openai", " sk-secret \n"[:11])
			if err != nil || place != auth.Place(name) {
				t.Fatalf("%v, %v", place, err)
			}
			again := auth.Open(file, r)
			if key, err := again.Get("openai"); err != nil || key != "sk-secret" {
				t.Errorf("%q, %v", key, err)
			}
			list, err := again.List()
			if diff := cmp.Diff([]auth.Entry{{Name: "openai", Place: auth.Place(name)}}, list); diff != "" || err != nil {
				t.Errorf("%v, %s", err, diff)
			}
			data, err := os.ReadFile(file)
			if err != nil || strings.Contains(string(data), "secret") != (name == "file") {
				t.Errorf("%s, %v", data, err)
			}
			if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			if err := again.Delete("openai"); err != nil {
				t.Error(err)
			}
			if err := again.Delete("openai"); !errors.Is(err, auth.ErrNoKey) {
				t.Errorf("twice: %v", err)
			}
		})
	}
}

// What goes wrong is said once: the caller has named the key.
func TestKeyErrorsAreShort(t *testing.T) {
	r := &ring{keys: map[string]string{}}
	k := auth.Open(filepath.Join(t.TempDir(), "keys.json"), r)
	_, err := k.Get("openai")
	if want := "no key is kept under that name (tote auth set openai keeps one)"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := k.Set("openai", "sk-x"); err != nil {
		t.Fatal(err)
	}
	r.broken = errors.New("no bus")
	_, err = k.Get("openai")
	if want := "the system's keyring, which has it, does not answer: no bus"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestKeysRefuse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.json")
	k := auth.Open(file, &ring{keys: map[string]string{}})
	for _, name := range []string{"", "a b", "../x\x00", strings.Repeat("x", 129), "-x"} {
		if _, err := k.Set(name, "k"); !errors.Is(err, auth.ErrName) {
			t.Errorf("name %q: %v", name, err)
		}
	}
	for _, key := range []string{"", "  ", "a\nb", strings.Repeat("k", 20_000)} {
		if _, err := k.Set("x", key); err == nil || len(key) > 3 && strings.Contains(err.Error(), key) {
			t.Errorf("key of %d bytes: %v", len(key), err)
		}
	}
	if err := os.WriteFile(file, []byte(`{"keys":{"a":"sk-secret"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Get("a"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a damaged file: %v", err)
	}
}

// gitHub is a loopback GitHub whose login takes a few questions.
func gitHub(t *testing.T, answers ...string) *auth.Copilot {
	t.Helper()
	asked := 0
	mux := http.NewServeMux()
	mux.HandleFunc("POST /login/device/code", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("client_id") == "" {
			http.Error(w, "no", http.StatusBadRequest)
		}
		_, _ = fmt.Fprint(w, `{"device_code":"dev","user_code":"ABCD-1234","verification_uri":"https://github.com/login/device","expires_in":60,"interval":5}`)
	})
	mux.HandleFunc("POST /login/oauth/access_token", func(w http.ResponseWriter, _ *http.Request) {
		a := answers[min(asked, len(answers)-1)]
		asked++
		_, _ = fmt.Fprint(w, a)
	})
	h := roundTripper(func(r *http.Request) (*http.Response, error) {
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return w.Result(), nil
	})
	return &auth.Copilot{Client: &http.Client{Transport: h}, Now: time.Now}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestCopilotLogin(t *testing.T) {
	const pending = `{"error":"authorization_pending"}`
	tests := map[string]struct {
		answers []string
		want    string
		after   time.Duration
		fails   string
	}{
		"at once":      {[]string{`{"access_token":"gho_x"}`}, "gho_x", 5 * time.Second, ""},
		"after a time": {[]string{pending, pending, `{"access_token":"gho_x"}`}, "gho_x", 15 * time.Second, ""},
		"slower":       {[]string{`{"error":"slow_down"}`, `{"access_token":"gho_x"}`}, "gho_x", 15 * time.Second, ""},
		"refused":      {[]string{`{"error":"access_denied"}`}, "", 5 * time.Second, "access_denied"},
		"never":        {[]string{pending}, "", 60 * time.Second, "expired"},
		"garbage":      {[]string{`<html>`}, "", 5 * time.Second, "cannot be read"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := gitHub(t, tt.answers...)
				began := time.Now()
				var shown auth.Code
				token, err := c.Login(t.Context(), func(code auth.Code) { shown = code })
				if token != tt.want || (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
					t.Errorf("%q, %v", token, err)
				}
				if shown.User != "ABCD-1234" || time.Since(began) != tt.after {
					t.Errorf("shown %+v, took %v", shown, time.Since(began))
				}
			})
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := gitHub(t, pending)
			ctx, cancel := context.WithCancel(t.Context())
			if _, err := c.Login(ctx, func(auth.Code) { cancel() }); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	})
}

func TestCopilotToken(t *testing.T) {
	now, calls := time.Unix(1000, 0), 0
	answer := func() (int, string) { return 200, `{"token":"short","expires_at":4600}` }
	c := &auth.Copilot{Now: func() time.Time { return now }, Client: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		calls++
		w := httptest.NewRecorder()
		if r.Header.Get("Authorization") != "token gho_x" {
			t.Errorf("%v", r.Header)
		}
		code, body := answer()
		w.WriteHeader(code)
		_, _ = fmt.Fprint(w, body)
		return w.Result(), nil
	})}}
	for range 3 {
		if got, err := c.Token(t.Context(), "gho_x"); err != nil || got != "short" {
			t.Errorf("%q, %v", got, err)
		}
	}
	if calls != 1 {
		t.Errorf("exchanged %d times", calls)
	}
	now = time.Unix(4400, 0) // it is about to end
	answer = func() (int, string) { return 404, "{}" }
	if got, err := c.Token(t.Context(), "gho_x"); err != nil || got != "gho_x" || calls != 2 {
		t.Errorf("a login of another client: %q, %v", got, err)
	}
	now = time.Unix(9000, 0)
	answer = func() (int, string) { return 503, "" }
	if _, err := c.Token(t.Context(), "gho_x"); err == nil || strings.Contains(err.Error(), "gho_") {
		t.Errorf("GitHub is down: %v", err)
	}
}
