package web

import (
	"context"
	_ "embed" // for the tool's description
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/tool"
)

//go:embed fetch.md
var fetchText string

// Options are what the tool needs from outside. The zero value is usable.
type Options struct {
	// Transport sends requests; nil is one of its own, with the proxy of the
	// environment.
	Transport http.RoundTripper
	// UserAgent names the program to servers, such as "tote/1.2"; "" is "tote".
	UserAgent string
}

// Fetch is the tool that fetches an address.
type Fetch struct{ o Options }

var _ tool.Tool = (*Fetch)(nil)

// NewFetch makes the tool.
func NewFetch(o Options) *Fetch {
	if o.Transport == nil {
		o.Transport = &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: maxHeader,
			// Each fetch is its own: nothing stays open between them.
			DisableKeepAlives: true,
		}
	}
	if o.UserAgent == "" {
		o.UserAgent = "tote"
	}
	return &Fetch{o: o}
}

// Format is how a page is shown.
type Format string

// The formats.
const (
	Markdown Format = "markdown"
	Text     Format = "text"
	Raw      Format = "raw"
)

type fetchArgs struct {
	URL    string `json:"url"`
	Format Format `json:"format"`
	Offset int    `json:"offset"`
}

// Spec implements tool.Tool.
func (*Fetch) Spec() tool.Spec {
	return tool.Spec{
		Name: "fetch", Description: strings.TrimSpace(fetchText), Parallel: true,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"url":{"type":"string","description":"An http or https address."},` +
			`"format":{"type":"string","enum":["markdown","text","raw"],"description":"How an HTML page is shown; markdown by default."},` +
			`"offset":{"type":"integer","minimum":0,"description":"First byte of the text, to read on."}` +
			`},"required":["url"],"additionalProperties":false}`),
	}
}

func readArgs(raw json.RawMessage) (fetchArgs, *url.URL, error) {
	var a fetchArgs
	if err := tool.Decode(raw, &a); err != nil {
		return a, nil, err
	}
	switch a.Format {
	case "":
		a.Format = Markdown
	case Markdown, Text, Raw:
	default:
		return a, nil, fmt.Errorf("fetch: format is %q, want markdown, text or raw", string(a.Format))
	}
	if a.Offset < 0 {
		return a, nil, errors.New("fetch: offset counts from 0")
	}
	u, err := address(a.URL)
	if err != nil {
		return a, nil, fmt.Errorf("fetch: %w", err)
	}
	return a, u, nil
}

// Request implements tool.Tool.
func (*Fetch) Request(raw json.RawMessage, _ tool.Env) (permission.Request, string, error) {
	_, u, err := readArgs(raw)
	if err != nil {
		return permission.Request{}, "", err
	}
	return permission.Request{Tool: "fetch", Action: permission.Fetch, Detail: u.String()}, "Fetch " + u.String(), nil
}

// Run implements tool.Tool.
func (f *Fetch) Run(ctx context.Context, raw json.RawMessage, _ tool.Env) (tool.Result, error) {
	a, u, err := readArgs(raw)
	if err != nil {
		return tool.Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return tool.Result{}, fmt.Errorf("fetch %s: %w", u.Host, err)
	}
	within, stop := context.WithTimeoutCause(ctx, maxTime, errTime)
	defer stop()
	sources, err := f.fetch(within, a, u)
	if err != nil {
		return tool.Result{}, fmt.Errorf("fetch %s: %w", u.Host, err)
	}
	return tool.Result{Sources: sources}, nil
}

func (f *Fetch) fetch(ctx context.Context, a fetchArgs, u *url.URL) ([]content.Source, error) {
	ans, err := get(ctx, f.o.Transport, f.o.UserAgent, u)
	if err != nil {
		return nil, err
	}
	defer ans.Body.Close()
	if packed := ans.Header.Get("Content-Encoding"); packed != "" && !strings.EqualFold(packed, "identity") {
		return nil, fmt.Errorf("the answer is packed as %q, which was not asked for", short(packed))
	}
	b, err := readBody(ctx, ans)
	if err != nil {
		return nil, err
	}
	if ans.StatusCode >= 300 || ans.StatusCode < 200 {
		return nil, refused(ans, b)
	}
	return b.sources(ans, a), nil
}

// refused is the error of an answer that is none, with the beginning of what
// the server says.
func refused(ans *answer, b body) error {
	status := strings.TrimSpace(fmt.Sprintf("%d %s", ans.StatusCode, http.StatusText(ans.StatusCode)))
	if b.kind != kindPage && b.kind != kindText {
		return fmt.Errorf("the server answered %s", status)
	}
	const some = 500
	said := strings.Join(strings.Fields(b.text(ans.url, Text)), " ")
	if said == "" {
		return fmt.Errorf("the server answered %s", status)
	}
	if len(said) > some {
		said = said[:runeStart(said, some)] + " [cut]"
	}
	return fmt.Errorf("the server answered %s: %s", status, said)
}
