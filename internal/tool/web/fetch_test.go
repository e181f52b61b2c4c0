package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/tool"
	"tote/internal/tool/web"
)

func args(t testing.TB, v map[string]any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func picture(t testing.TB) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := png.Encode(&buf, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// packed is n bytes of text, as gzip.
func packed(t testing.TB, n int) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	chunk := bytes.Repeat([]byte("a text that is packed well \n"), 1024)
	for n > 0 {
		k, err := z.Write(chunk[:min(n, len(chunk))])
		if err != nil {
			t.Fatal(err)
		}
		n -= k
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// site answers each path with a body and headers.
type site map[string]struct {
	status  int
	headers map[string]string
	body    []byte
}

func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a, ok := s[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "") // none unless stated
	w.Header()["Content-Type"] = nil
	for k, v := range a.headers {
		w.Header().Set(k, strings.ReplaceAll(v, "HOST", r.Host))
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	_, _ = w.Write(a.body) // a client that went away is part of the tests
}

func typed(mime string) map[string]string { return map[string]string{"Content-Type": mime} }

func fetch(t testing.TB, f tool.Tool, v map[string]any) (text string, media content.Source, err error) {
	t.Helper()
	r, err := f.Run(t.Context(), args(t, v), tool.Env{})
	if err != nil {
		return "", media, err
	}
	if r.IsError || len(r.Sources) == 0 || len(r.Sources) > 2 {
		t.Fatalf("result = %+v", r)
	}
	p, ok := r.Sources[0].Payload.(content.Prose)
	if !ok {
		t.Fatalf("payload = %T", r.Sources[0].Payload)
	}
	if len(r.Sources) == 2 {
		media = r.Sources[1]
	}
	return p.Text, media, nil
}

func TestFetchContent(t *testing.T) {
	pdf := []byte("%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n")
	wav := append([]byte("RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00"), 0, 0)
	page := []byte("<!doctype html><title>T</title><h1>Head</h1><p>A <a href='/x'>link</a>.<script>no()</script>")
	pages := site{
		"/page":        {body: page, headers: typed("text/html; charset=utf-8")},
		"/lies.txt":    {body: page, headers: typed("image/png")},
		"/json":        {body: []byte(`{"a": [1, 2]}`), headers: typed("text/html")},
		"/plain":       {body: []byte("just <b>text</b> here\n"), headers: typed("text/plain")},
		"/fragment":    {body: []byte("words before <b>bold</b>"), headers: typed("text/html")},
		"/latin":       {body: []byte("caf\xe9"), headers: typed("text/plain; charset=iso-8859-1")},
		"/meta":        {body: []byte("<html><meta charset=windows-1251><p>\xcf\xf0\xe8"), headers: typed("text/html")},
		"/utf16":       {body: []byte("\xff\xfeh\x00i\x00"), headers: typed("text/plain")},
		"/late":        {body: []byte(strings.Repeat("a", 2000) + "é"), headers: typed("text/plain")},
		"/bom":         {body: []byte("\xef\xbb\xbfhi"), headers: nil},
		"/pic.png":     {body: picture(t), headers: typed("text/html")},
		"/doc":         {body: pdf, headers: typed("application/octet-stream")},
		"/say.wav":     {body: wav, headers: typed("audio/wav")},
		"/app.bin":     {body: []byte("\x7fELF\x02\x01\x01\x00\x00\x00"), headers: typed("text/plain")},
		"/empty":       {body: nil, headers: nil},
		"/here":        {status: 302, headers: map[string]string{"Location": "page"}},
		"/brotli":      {body: []byte("x"), headers: map[string]string{"Content-Encoding": "br"}},
		"/svg":         {body: []byte(`<svg xmlns="http://www.w3.org/2000/svg"><text>hi</text></svg>`), headers: typed("image/svg+xml")},
		"/esc%0aape":   {body: []byte("x"), headers: nil},
		"/we\nird.png": {body: picture(t), headers: nil},
	}
	srv := httptest.NewServer(pages)
	defer srv.Close()
	f := web.NewFetch(web.Options{Transport: srv.Client().Transport})
	tests := map[string]struct {
		path, format, want string
		media, declared    string
	}{
		"page":               {path: "/page", want: "URL: text/html, 92 bytes\n\nTitle: T\n\n# Head\n\nA [link](HOST/x).\n"},
		"page as text":       {path: "/page", format: "text", want: "URL: text/html, 92 bytes\n\nTitle: T\n\nHead\n\nA link.\n"},
		"page as it is":      {path: "/page", format: "raw", want: "URL: text/html, 92 bytes\n\n" + string(page) + "\n"},
		"a page that lies":   {path: "/lies.txt", format: "text", want: "URL: text/html (the server says image/png), 92 bytes\n\nTitle: T\n\nHead\n\nA link.\n"},
		"JSON, not HTML":     {path: "/json", want: "URL: application/json, 13 bytes\n\n{\"a\": [1, 2]}\n"},
		"plain":              {path: "/plain", want: "URL: text/plain, 22 bytes\n\njust <b>text</b> here\n"},
		"fragment":           {path: "/fragment", want: "URL: text/html, 24 bytes\n\nwords before **bold**\n"},
		"latin-1":            {path: "/latin", want: "URL: text/plain, 4 bytes\n\ncafé\n"},
		"charset in meta":    {path: "/meta", want: "URL: text/html, 39 bytes\n\nПри\n"},
		"UTF-16":             {path: "/utf16", want: "URL: text/plain, 6 bytes\n\nhi\n"},
		"late UTF-8":         {path: "/late", want: "URL: text/plain, 2002 bytes\n\n" + strings.Repeat("a", 2000) + "é\n"},
		"byte order mark":    {path: "/bom", want: "URL: text/plain, 5 bytes\n\nhi\n"},
		"picture":            {path: "/pic.png", want: "URL: image/png (the server says text/html), 75 bytes\n[attached]\n", media: "pic.png", declared: "text/html"},
		"PDF":                {path: "/doc", want: "URL: application/pdf (the server says application/octet-stream), 48 bytes\n[attached]\n", media: "doc", declared: "application/octet-stream"},
		"sound":              {path: "/say.wav", want: "URL: audio/wav, 46 bytes\n[attached]\n", media: "say.wav", declared: "audio/wav"},
		"binary":             {path: "/app.bin", want: "URL: application/x-elf (the server says text/plain), 10 bytes\n[it is neither text nor a picture, PDF file or sound, so its content is not shown]\n"},
		"nothing":            {path: "/empty", want: "URL: text/plain, 0 bytes\n\n[there is no text]\n"},
		"redirect":           {path: "/here", format: "text", want: "HOST/page: text/html, 92 bytes\n\nTitle: T\n\nHead\n\nA link.\n"},
		"SVG is text":        {path: "/svg", want: "URL: image/svg+xml, 61 bytes\n\n<svg xmlns=\"http://www.w3.org/2000/svg\"><text>hi</text></svg>\n"},
		"fragment of a page": {path: "/plain#part", want: "HOST/plain: text/plain, 22 bytes\n\njust <b>text</b> here\n"},
		"name with a line":   {path: "/we%0Aird.png", want: "URL: image/png, 75 bytes\n[attached]\n", media: "we_ird.png", declared: "image/png"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := map[string]any{"url": srv.URL + tt.path}
			if tt.format != "" {
				v["format"] = tt.format
			}
			text, media, err := fetch(t, f, v)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.NewReplacer("URL", srv.URL+tt.path, "HOST", srv.URL).Replace(tt.want)
			if diff := cmp.Diff(want, text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if media.Name != tt.media || media.Declared != tt.declared {
				t.Errorf("media = %q declared %q, want %q, %q", media.Name, media.Declared, tt.media, tt.declared)
			}
			if tt.media != "" && (media.Inlet != content.InletTool || media.Chooser != content.ChosenByTool) {
				t.Errorf("media = %v %v", media.Inlet, media.Chooser)
			}
		})
	}
	if _, _, err := fetch(t, f, map[string]any{"url": srv.URL + "/brotli"}); err == nil || !strings.Contains(err.Error(), `"br"`) {
		t.Errorf("an unknown packing: %v", err)
	}
}

func TestFetchParts(t *testing.T) {
	var long strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&long, "line %d é\n", i)
	}
	srv := httptest.NewServer(site{"/long": {body: []byte(long.String())}, "/bomb": {body: packed(t, 12<<20), headers: map[string]string{"Content-Encoding": "gzip"}}})
	defer srv.Close()
	f := web.NewFetch(web.Options{Transport: srv.Client().Transport})
	var all strings.Builder
	offset, parts := 0, 0
	for {
		text, _, err := fetch(t, f, map[string]any{"url": srv.URL + "/long", "offset": offset})
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ = strings.Cut(text, "\n\n")
		parts++
		part, note, more := strings.Cut(text, "[more follows: ")
		all.WriteString(part)
		if !more {
			break
		}
		if len(part) > web.PerPage {
			t.Fatalf("a part has %d bytes", len(part))
		}
		if _, err := fmt.Sscanf(note[strings.Index(note, "offset"):], "offset %d]", &offset); err != nil {
			t.Fatal(err)
		}
	}
	if all.String() != long.String() || parts < 5 {
		t.Errorf("%d parts of %d bytes do not make the %d of the page", parts, all.Len(), long.Len())
	}
	text, _, err := fetch(t, f, map[string]any{"url": srv.URL + "/long", "offset": 1 << 30})
	if err != nil || !strings.Contains(text, "[the text has ") {
		t.Errorf("behind the end: %q, %v", text, err)
	}
	text, _, err = fetch(t, f, map[string]any{"url": srv.URL + "/bomb", "offset": web.MaxText - 100})
	if err != nil || !strings.Contains(text, "more than 10485760 bytes") || !strings.HasSuffix(text, "[only the first 10 MiB were read]\n") {
		t.Errorf("a bomb: %q, %v", text, err)
	}
}

func TestFetchRefuses(t *testing.T) {
	f := web.NewFetch(web.Options{Transport: failing{errors.New("nothing may be sent")}})
	for raw, want := range map[string]string{
		``: "missing", `example.com`: "no scheme", `//example.com`: "no scheme", `file:///etc/passwd`: "read tool", `ftp://example.com/x`: "not ftp", `data:text/plain,x`: "data address",
		`http://me:secret@example.com/`: "user name or password", `https://token@example.com/`: "user name", `http:///path`: "names no host", `http:opaque`: "names no host", "http://exa mple.com/": "cannot be read",
		"http://example.com/\x00": "cannot be read", `http://` + strings.Repeat("a", 9000): "the most are", `javascript:alert(1)`: "not javascript", `http://:80/`: "names no host", "http://ex\u2028ample.com": "no valid name",
	} {
		_, _, err := f.Request(args(t, map[string]any{"url": raw}), tool.Env{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", raw, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the password is repeated: %v", raw, err)
		}
		if _, err := f.Run(t.Context(), args(t, map[string]any{"url": raw}), tool.Env{}); err == nil {
			t.Errorf("%q was fetched", raw)
		}
	}
	for _, raw := range []string{`{`, `{"url":1}`, `{"url":"http://a/","x":1}`, `{"url":"http://a/","format":"pdf"}`, `{"url":"http://a/","offset":-1}`} {
		if _, _, err := f.Request(json.RawMessage(raw), tool.Env{}); err == nil {
			t.Errorf("%s is accepted", raw)
		}
	}
}

// What the user is asked about is what is sent.
func TestFetchAsksForWhatItSends(t *testing.T) {
	for in, want := range map[string]string{
		" HTTPS://Example.COM/a b?q=ü#frag ": "https://example.com/a%20b?q=ü", "http://bücher.example": "http://xn--bcher-kva.example", "http://127.0.0.1:8080/x": "http://127.0.0.1:8080/x",
		"http://[::1]:1/": "http://[::1]:1/", "http://my_host/": "http://my_host/", "https://аpple.com/": "https://xn--pple-43d.com/",
	} {
		rt := &recording{}
		f := web.NewFetch(web.Options{Transport: rt, UserAgent: "tote/9"})
		req, _, err := f.Request(args(t, map[string]any{"url": in}), tool.Env{})
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if diff := cmp.Diff(permission.Request{Tool: "fetch", Action: permission.Fetch, Detail: want}, req); diff != "" {
			t.Errorf("%q (-want +got):\n%s", in, diff)
		}
		if v, _ := (permission.Rules{}).Decide(req); v != permission.Ask {
			t.Errorf("%q is not asked for: %v", in, v)
		}
		if _, _, err := fetch(t, f, map[string]any{"url": in}); err != nil {
			t.Errorf("%q: %v", in, err)
		}
		if len(rt.sent) != 1 || rt.sent[0].URL.String() != req.Detail {
			t.Errorf("%q: sent %v", in, rt.sent)
			continue
		}
		h := rt.sent[0].Header
		if h.Get("User-Agent") != "tote/9" || h.Get("Cookie")+h.Get("Authorization")+h.Get("Referer") != "" {
			t.Errorf("headers = %v", h)
		}
	}
}

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// recording answers every request with the next of its answers.
type recording struct {
	sent    []*http.Request
	answers []answer
}

// answer is a status with a Location, over a connection to an address.
type answer struct {
	status   int
	location string
	addr     string
}

type pipe struct {
	net.Conn
	addr net.Addr
}

func (p pipe) RemoteAddr() net.Addr { return p.addr }

func (r *recording) RoundTrip(req *http.Request) (*http.Response, error) {
	n := len(r.sent)
	r.sent = append(r.sent, req)
	a := answer{status: 200}
	if n < len(r.answers) {
		a = r.answers[n]
	}
	if a.addr != "" {
		addr, err := net.ResolveTCPAddr("tcp", a.addr)
		if err != nil {
			return nil, err
		}
		httptrace.ContextClientTrace(req.Context()).GotConn(httptrace.GotConnInfo{Conn: pipe{addr: addr}})
		if err := req.Context().Err(); err != nil {
			return nil, err
		}
	}
	h := http.Header{}
	if a.location != "" {
		h.Set("Location", a.location)
	}
	return &http.Response{StatusCode: a.status, Header: h, Body: io.NopCloser(strings.NewReader("text")), Request: req}, nil
}

func TestFetchRedirects(t *testing.T) {
	const from = "https://example.com/a"
	tests := map[string]struct {
		answers []answer
		sent    int
		want    string // in the error, "" for none
	}{
		"same host":            {[]answer{{302, "/b", ""}, {307, "https://EXAMPLE.com:443/c", ""}}, 3, ""},
		"another host":         {[]answer{{301, "https://other.example/b?x=1", ""}}, 1, "https://other.example/b?x=1, which was not followed"},
		"another host, secret": {[]answer{{301, "https://me:secret@other.example/b", ""}}, 1, "to https://other.example/b,"},
		"a subdomain":          {[]answer{{301, "https://www.example.com/a", ""}}, 1, "https://www.example.com/a"},
		"another scheme":       {[]answer{{301, "http://example.com/a", ""}}, 1, "http://example.com/a"},
		"another port":         {[]answer{{301, "https://example.com:8443/a", ""}}, 1, "https://example.com:8443/a"},
		"loopback":             {[]answer{{301, "https://127.0.0.1/", ""}}, 1, "https://127.0.0.1/"},
		"a file":               {[]answer{{301, "file:///etc/passwd", ""}}, 1, `of the kind "file"`},
		"a script":             {[]answer{{301, "javascript:x", ""}}, 1, `of the kind "javascript"`},
		"round and round":      {[]answer{{302, "/a", ""}, {302, "/a", ""}, {302, "/a", ""}, {302, "/a", ""}, {302, "/a", ""}, {302, "/a", ""}, {302, "/a", ""}}, 6, "more than 5 times"},
		"no place":             {[]answer{{302, "", ""}}, 1, "302 Found"},
		"a broken place":       {[]answer{{302, "http://[", ""}}, 1, "cannot be read"},
		"public stays public":  {[]answer{{302, "/b", "93.184.215.14:443"}, {200, "", "93.184.215.15:443"}}, 2, ""},
		"public to private":    {[]answer{{302, "/b", "93.184.215.14:443"}, {200, "", "192.168.1.1:443"}}, 2, "private network"},
		"public to loopback":   {[]answer{{302, "/b", "[2606:2800::1]:443"}, {200, "", "[::1]:443"}}, 2, "private network"},
		"public to shared":     {[]answer{{302, "/b", "93.184.215.14:443"}, {200, "", "100.64.1.1:443"}}, 2, "private network"},
		"public to metadata":   {[]answer{{302, "/b", "93.184.215.14:443"}, {200, "", "169.254.169.254:443"}}, 2, "private network"},
		"private all along":    {[]answer{{302, "/b", "10.0.0.1:443"}, {200, "", "10.0.0.1:443"}}, 2, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rt := &recording{answers: tt.answers}
			_, _, err := fetch(t, web.NewFetch(web.Options{Transport: rt}), map[string]any{"url": from})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
			if err != nil && (!strings.Contains(err.Error(), "example.com") || strings.Contains(err.Error(), "secret")) {
				t.Errorf("error = %v", err)
			}
			if len(rt.sent) != tt.sent {
				t.Errorf("%d requests were sent, want %d", len(rt.sent), tt.sent)
			}
		})
	}
}

func TestFetchErrors(t *testing.T) {
	srv := httptest.NewServer(site{
		"/gone": {status: 410, body: []byte("<html><p>It  is\n gone.<script>x</script>"), headers: typed("text/html")},
		"/long": {status: 500, body: bytes.Repeat([]byte("é "), 2000)}, "/pic": {status: 404, body: picture(t)}, "/short": {headers: map[string]string{"Content-Length": "1000"}, body: []byte("text")},
	})
	defer srv.Close()
	secure := httptest.NewTLSServer(site{})
	defer secure.Close()
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // the refused handshake is the test
	host := strings.TrimPrefix(srv.URL, "http://")
	f := web.NewFetch(web.Options{})
	for in, want := range map[string]string{
		srv.URL + "/gone":       "fetch " + host + ": the server answered 410 Gone: It is gone.",
		srv.URL + "/pic":        "fetch " + host + ": the server answered 404 Not Found",
		srv.URL + "/other?k=1":  "fetch " + host + ": the server answered 404 Not Found: 404 page not found",
		srv.URL + "/short":      "fetch " + host + ": the server broke the answer off",
		"https://" + host + "/": "fetch " + host + ": it does not speak TLS there; try http://",
		secure.URL + "/":        "fetch " + strings.TrimPrefix(secure.URL, "https://") + ": its certificate is signed by nobody whom this machine trusts",
	} {
		if _, _, err := fetch(t, f, map[string]any{"url": in}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
	if _, _, err := fetch(t, f, map[string]any{"url": srv.URL + "/long"}); err == nil || !strings.HasSuffix(err.Error(), " [cut]") || len(err.Error()) > 700 {
		t.Errorf("a long page: %v", err)
	}
	for cause, want := range map[error]string{
		&net.DNSError{Err: "no such host", Name: "h", IsNotFound: true}: "there is no such host", &net.DNSError{Err: "x", Name: "h"}: "could not be looked up",
		&url.Error{Op: "Get", URL: "https://h/?key=secret", Err: errors.New("odd")}: "fetch h: odd", &net.OpError{Op: "dial", Err: errors.New("connection refused")}: "no connection: connection refused",
	} {
		_, _, err := fetch(t, web.NewFetch(web.Options{Transport: failing{cause}}), map[string]any{"url": "https://h/?key=secret"})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v became %v", cause, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := web.NewFetch(web.Options{Transport: failing{errors.New("sent")}}).Run(ctx, args(t, map[string]any{"url": srv.URL}), tool.Env{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// dripping never ends: it gives a byte each second until the request ends.
type dripping struct{ ctx context.Context } //nolint:containedctx // a body lives as long as its request

func (d dripping) Read(p []byte) (int, error) {
	select {
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	case <-time.After(time.Second):
		p[0] = 'x'
		return 1, nil
	}
}

func (dripping) Close() error { return nil }

type bodies func(*http.Request) io.ReadCloser

func (b bodies) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: b(req), Request: req, ContentLength: -1}, nil
}

func TestFetchSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		f := web.NewFetch(web.Options{Transport: bodies(func(r *http.Request) io.ReadCloser { return dripping{r.Context()} })})
		_, _, err := fetch(t, f, map[string]any{"url": "https://example.com/"})
		if err == nil || err.Error() != "fetch example.com: no whole answer within 30s" {
			t.Errorf("error = %v", err)
		}
		if took := time.Since(start); took != 30*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// endless repeats its bytes behind a head.
type endless struct{ head, again []byte }

func (e *endless) Read(p []byte) (int, error) {
	if len(e.head) == 0 {
		e.head = e.again
	}
	n := copy(p, e.head)
	e.head = e.head[n:]
	return n, nil
}

func (*endless) Close() error { return nil }

func TestFetchEndless(t *testing.T) {
	for name, tt := range map[string]struct{ head, again, want string }{
		"text":    {"", "text and more text\n", "text/plain, more than 10485760 bytes"},
		"picture": {string(picture(t)), "\x00", "[it is larger than 32 MiB, so it is not attached]"},
		"program": {"\x7fELF\x02\x01\x01\x00", "\x00", "more than 8192 bytes"},
	} {
		f := web.NewFetch(web.Options{Transport: bodies(func(*http.Request) io.ReadCloser { return &endless{[]byte(tt.head), []byte(tt.again)} })})
		text, media, err := fetch(t, f, map[string]any{"url": "https://example.com/x"})
		if err != nil || !strings.Contains(text, tt.want) || media.Payload != nil {
			t.Errorf("%s: %.300q, %v, %v", name, text, media.Name, err)
		}
	}
}

func FuzzAddress(f *testing.F) {
	for _, s := range []string{"https://example.com/a?b#c", "http://[::1]:80/", "http://a:b@c/", "http://bücher.example/%zz", "http://x/%0a"} {
		f.Add(s)
	}
	tl := web.NewFetch(web.Options{Transport: failing{errors.New("nothing may be sent")}})
	f.Fuzz(func(t *testing.T, s string) {
		req, _, err := tl.Request(args(t, map[string]any{"url": s}), tool.Env{})
		if err != nil {
			return
		}
		u, err := url.Parse(req.Detail)
		if err != nil || u.User != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			t.Fatalf("%q is asked for as %q: %v", s, req.Detail, err)
		}
		// Asking again for what was asked for changes nothing.
		again, _, err := tl.Request(args(t, map[string]any{"url": req.Detail}), tool.Env{})
		if err != nil || again.Detail != req.Detail {
			t.Fatalf("%q is asked for as %q, and that as %q: %v", s, req.Detail, again.Detail, err)
		}
	})
}
