package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"tote/internal/tool/web"
)

// Permission is for a name; where it leads is judged once it has been looked up.
func TestFetchJudgesWhereNamesLead(t *testing.T) {
	for _, tt := range []struct {
		url, addr string
		ok        bool
	}{
		{"http://docs.example.com/", "93.184.215.14:80", true},
		{"http://docs.example.com/", "127.0.0.1:80", false},
		{"https://docs.example.com/", "127.0.0.1:443", false},
		{"http://docs.example.com/", "[::1]:80", false},
		{"http://docs.example.com/", "[::ffff:127.0.0.1]:80", false},
		{"http://docs.example.com/", "0.0.0.0:80", false},
		{"http://docs.example.com/", "0.1.2.3:80", false},
		{"http://docs.example.com/", "169.254.169.254:80", false},
		{"https://docs.example.com/", "[fe80::1]:443", false},
		{"http://docs.example.com/", "168.63.129.16:80", false},
		{"http://docs.example.com/", "[fd00:ec2::254]:80", false},
		{"http://docs.example.com/", "[64:ff9b::7f00:1]:80", false},
		{"http://docs.example.com/", "[64:ff9b::5db8:d70e]:80", true},
		{"http://docs.example.com/", "[2002:7f00:1::]:80", false},
		{"http://docs.example.com/", "192.168.1.1:80", false},
		{"http://docs.example.com/", "100.100.100.200:80", false},
		{"https://wiki.example.com/", "10.1.2.3:443", true}, // its certificate says who it is
		{"http://127.1/", "127.0.0.1:80", false},            // some resolvers take it for an address
		{"http://2130706433/", "127.0.0.1:80", false},
		{"http://0x7f000001/", "127.0.0.1:80", false},
		{"http://127.0.0.1:8080/", "127.0.0.1:8080", true},
		{"http://[::1]/", "[::1]:80", true},
		{"http://169.254.169.254/", "169.254.169.254:80", true}, // the user saw it
		{"http://localhost:3000/", "127.0.0.1:3000", true},
		{"http://app.localhost/", "127.0.0.1:80", true},
		{"http://shop.test/", "127.0.0.1:80", true},
		{"http://nas/", "192.168.1.2:80", true},
	} {
		rt := &recording{answers: []answer{{200, "", tt.addr}}}
		_, _, err := fetch(t, web.NewFetch(web.Options{Transport: rt}), map[string]any{"url": tt.url})
		if (err == nil) != tt.ok || err != nil && !strings.Contains(err.Error(), "nothing was sent") {
			t.Errorf("%s at %s: %v", tt.url, tt.addr, err)
		}
	}
}

// Where a proxy looks names up, it may lie anywhere.
func TestFetchThroughProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "asked for "+r.URL.String())
	}))
	defer proxy.Close()
	by, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	f := web.NewFetch(web.Options{Transport: &http.Transport{Proxy: http.ProxyURL(by), DisableKeepAlives: true}})
	text, _, err := fetch(t, f, map[string]any{"url": "http://docs.example.com/x"})
	if err != nil || !strings.Contains(text, "asked for http://docs.example.com/x") {
		t.Errorf("%q, %v", text, err)
	}
}
