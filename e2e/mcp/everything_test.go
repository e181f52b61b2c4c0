package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tote/internal/content"
	"tote/internal/mcp"
	"tote/internal/tool"
)

// script is the path of an installed server. One that is missing is a failure.
func script(t *testing.T, parts ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(parts...))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("%v: run e2e/mcp/run.sh", err)
	}
	return path
}

func everything(t *testing.T) string {
	t.Helper()
	return script(t, "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
}

type harness struct {
	m     *mcp.Manager
	scope mcp.Scope
	tools map[string]tool.Tool

	mu      sync.Mutex
	sampled mcp.SampleRequest
}

func connect(t *testing.T, s mcp.Server) *harness {
	t.Helper()
	h := &harness{tools: map[string]tool.Tool{}, scope: mcp.Scope{ID: "e2e", Dir: t.TempDir(), Servers: []mcp.Server{s}}}
	h.m = mcp.New(mcp.Options{
		Version: "0", Environ: mcp.Environment(os.Environ()), TurnWait: 30 * time.Second,
		Roots: func(string) []string { return []string{h.scope.Dir} },
		Sample: func(_ context.Context, r mcp.SampleRequest) (mcp.SampleResult, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.sampled = r
			return mcp.SampleResult{Text: "a sampled answer", Model: "test"}, nil
		},
	})
	t.Cleanup(h.m.Close)
	tools, problems := h.m.Tools(t.Context(), h.scope)
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	for _, tl := range tools {
		h.tools[tl.Spec().Name] = tl
	}
	return h
}

func (h *harness) call(t *testing.T, name, args string, live func(string)) tool.Result {
	t.Helper()
	tl, ok := h.tools[name]
	if !ok {
		t.Fatalf("there is no tool %s", name)
	}
	if _, _, err := tl.Request(json.RawMessage(args), tool.Env{}); err != nil {
		t.Fatal(err)
	}
	got, err := tl.Run(t.Context(), json.RawMessage(args), tool.Env{Live: live})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return got
}

// shape tells the payloads of sources by their types.
func shape(sources []content.Source) string {
	var out []string
	for _, s := range sources {
		out = append(out, strings.TrimPrefix(fmt.Sprintf("%T", s.Payload), "content."))
	}
	return strings.Join(out, " ")
}

func texts(sources []content.Source) string {
	var out []string
	for _, s := range sources {
		if p, ok := s.Payload.(content.Prose); ok {
			out = append(out, p.Text)
		}
	}
	return strings.Join(out, "\n")
}

// isPicture checks that a source is a PNG picture to its end. It is not decoded:
// the reference server's own has a wrong checksum in a chunk of no weight, which
// most readers pass over.
func isPicture(t *testing.T, s content.Source) (w, h int) {
	t.Helper()
	b, ok := s.Payload.(content.Bytes)
	if !ok || s.As != content.KindImage || s.Declared != "image/png" || s.Inlet != content.InletMCP || s.Chooser != content.ChosenByTool {
		t.Fatalf("no picture: %T %v %q", s.Payload, s.As, s.Declared)
	}
	c, err := png.DecodeConfig(bytes.NewReader(b.Data))
	if err != nil || !bytes.HasSuffix(b.Data, []byte("\x00\x00\x00\x00IEND\xaeB\x60\x82")) {
		t.Fatalf("%s: %v", s.Name, err)
	}
	return c.Width, c.Height
}

// port finds one that is free.
func port(t *testing.T) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, p, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return p
}

// remote starts the reference server over HTTP and waits until it listens.
func remote(t *testing.T, mode, path string) string {
	t.Helper()
	p := port(t)
	cmd := exec.Command("node", everything(t), mode)
	cmd.Env = append(mcp.Environment(os.Environ()), "PORT="+p)
	var words bytes.Buffer
	cmd.Stderr, cmd.Stdout = &words, &words
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // it was killed
	})
	var d net.Dialer
	deadline := time.Now().Add(30 * time.Second)
	for {
		c, err := d.DialContext(t.Context(), "tcp", "127.0.0.1:"+p)
		if err == nil {
			_ = c.Close() // it listens
			return "http://127.0.0.1:" + p + path
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not listen: %v", mode, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func TestEverything(t *testing.T) {
	for _, c := range []struct {
		name   string
		server func(*testing.T) mcp.Server
	}{
		{"stdio", func(t *testing.T) mcp.Server {
			return mcp.Server{Name: "all", Command: "node", Args: []string{everything(t), "stdio"}, Env: map[string]string{"SECRET_OF_OURS": "sesame-open"}}
		}},
		{"http", func(t *testing.T) mcp.Server {
			return mcp.Server{Name: "all", URL: remote(t, "streamableHttp", "/mcp")}
		}},
		{"sse", func(t *testing.T) mcp.Server {
			return mcp.Server{Name: "all", Type: mcp.SSE, URL: remote(t, "sse", "/sse")}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := connect(t, c.server(t))
			h.checkTools(t)
			h.checkCalls(t)
			h.checkResources(t)
			h.checkPrompts(t)
			st := h.m.Servers()[0]
			if st.State != mcp.StateReady || st.Tools < 10 || st.Resources == 0 || st.Prompts < 3 || st.Noise > 0 || st.Stray > 0 {
				t.Errorf("status: %+v", st)
			}
		})
	}
}

func (h *harness) checkTools(t *testing.T) {
	t.Helper()
	for _, name := range []string{"echo", "get-tiny-image", "get-annotated-message", "trigger-long-running-operation", "trigger-sampling-request", "get-roots-list"} {
		tl, ok := h.tools["mcp__all__"+name]
		if !ok {
			t.Fatalf("there is no tool %s", name)
		}
		var schema struct{ Type string }
		if err := json.Unmarshal(tl.Spec().Schema, &schema); err != nil || schema.Type != "object" || tl.Spec().Description == "" {
			t.Errorf("%s: %+v, %v", name, tl.Spec(), err)
		}
	}
	// What we do not offer is not used.
	for name := range h.tools {
		if strings.Contains(name, "elicitation") {
			t.Errorf("%s needs elicitation, which is not offered", name)
		}
	}
}

func (h *harness) checkCalls(t *testing.T) {
	t.Helper()
	got := h.call(t, "mcp__all__get-tiny-image", `{}`, nil).Sources
	if shape(got) != "Prose Bytes Prose" {
		t.Fatalf("tiny image: %s", shape(got))
	}
	isPicture(t, got[1])
	got = h.call(t, "mcp__all__get-annotated-message", `{"messageType":"success","includeImage":true}`, nil).Sources
	if shape(got) != "Prose Bytes" {
		t.Fatalf("annotated: %s", shape(got))
	}
	isPicture(t, got[1])
	got = h.call(t, "mcp__all__get-resource-reference", `{"resourceType":"Blob","resourceId":2}`, nil).Sources
	if shape(got) != "Prose Bytes Prose" || got[1].URI == "" {
		t.Errorf("blob: %s, %q", shape(got), got[1].URI)
	}
	got = h.call(t, "mcp__all__get-resource-reference", `{"resourceType":"Text","resourceId":1}`, nil).Sources
	if shape(got) != "Prose EmbeddedText Prose" {
		t.Errorf("text: %s", shape(got))
	}
	got = h.call(t, "mcp__all__get-resource-links", `{"count":3}`, nil).Sources
	if shape(got) != "Prose Link Link Link" {
		t.Errorf("links: %s", shape(got))
	}
	got = h.call(t, "mcp__all__get-structured-content", `{"location":"New York"}`, nil).Sources
	if shape(got) != "Prose" {
		t.Errorf("structured content that the text says already came twice: %s", texts(got))
	}
	var live strings.Builder
	got = h.call(t, "mcp__all__trigger-long-running-operation", `{"duration":1,"steps":3}`, func(s string) { live.WriteString(s) }).Sources
	if !strings.Contains(texts(got), "completed") || !strings.Contains(live.String(), "1/3\n") {
		t.Errorf("long: %q, %q", texts(got), live.String())
	}
	got = h.call(t, "mcp__all__trigger-sampling-request", `{"prompt":"say something","maxTokens":17}`, nil).Sources
	h.mu.Lock()
	if !strings.Contains(texts(got), "a sampled answer") || h.sampled.MaxTokens != 17 || !strings.Contains(texts(h.sampled.Messages[0].Sources), "say something") {
		t.Errorf("sampling: %q, %+v", texts(got), h.sampled)
	}
	h.mu.Unlock()
	got = h.call(t, "mcp__all__get-roots-list", `{}`, nil).Sources
	if !strings.Contains(texts(got), filepath.ToSlash(h.scope.Dir)) {
		t.Errorf("roots: %q", texts(got))
	}
	if r := h.call(t, "mcp__all__get-sum", `{"a":"x"}`, nil); !r.IsError {
		t.Errorf("wrong arguments are no error: %q", texts(r.Sources))
	}
}

func (h *harness) checkResources(t *testing.T) {
	t.Helper()
	list := texts(h.call(t, "mcp_resources", `{}`, nil).Sources)
	if !strings.Contains(list, "all: template demo://resource/dynamic/blob/{") {
		t.Errorf("resources: %s", list)
	}
	got := h.call(t, "mcp_read", `{"uri":"demo://resource/dynamic/text/7"}`, nil).Sources
	if shape(got) != "EmbeddedText" {
		t.Errorf("a text: %s", shape(got))
	}
	got, err := h.m.Mention(t.Context(), "all", "demo://resource/dynamic/blob/8", h.scope)
	if err != nil || shape(got) != "Bytes" {
		t.Errorf("a blob: %s, %v", shape(got), err)
	}
}

func (h *harness) checkPrompts(t *testing.T) {
	t.Helper()
	prompts, problems := h.m.Prompts(t.Context(), h.scope)
	var names []string
	for _, p := range prompts {
		names = append(names, p.Name)
	}
	if len(problems) > 0 || !slices.Contains(names, "args-prompt") || !slices.Contains(names, "resource-prompt") {
		t.Fatalf("prompts: %v, %v", names, problems)
	}
	got, err := h.m.Prompt(t.Context(), "all", "resource-prompt", map[string]string{"resourceType": "Text", "resourceId": "1"}, h.scope)
	if err != nil || shape(got) != "Prose EmbeddedText" {
		t.Errorf("a prompt with a resource: %s, %v", shape(got), err)
	}
	got, err = h.m.Prompt(t.Context(), "all", "args-prompt", map[string]string{"city": "Oslo"}, h.scope)
	if err != nil || !strings.Contains(texts(got), "Oslo") {
		t.Errorf("a prompt with arguments: %q, %v", texts(got), err)
	}
}

func TestEnvironmentHoldsNoKeys(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sesame-open")
	h := connect(t, mcp.Server{Name: "all", Command: "node", Args: []string{everything(t), "stdio"}})
	if got := texts(h.call(t, "mcp__all__get-env", `{}`, nil).Sources); strings.Contains(got, "sesame") || !strings.Contains(got, "PATH") {
		t.Errorf("the environment: %s", got)
	}
}

func TestScreenshots(t *testing.T) {
	h := connect(t, mcp.Server{Name: "shot", Command: "node", Args: []string{script(t, "screenshot.mjs")}})
	got := h.call(t, "mcp__shot__pair", `{}`, nil).Sources
	if shape(got) != "Prose Bytes Prose Bytes" {
		t.Fatalf("pair: %s", shape(got))
	}
	for i, want := range map[int][2]int{1: {40, 20}, 3: {20, 40}} {
		if w, h := isPicture(t, got[i]); w != want[0] || h != want[1] {
			t.Errorf("picture %d is %d x %d", i, w, h)
		}
	}
	got = h.call(t, "mcp__shot__large", `{}`, nil).Sources
	if w, h := isPicture(t, got[1]); w != 1700 || h != 1500 {
		t.Errorf("the large picture is %d x %d", w, h)
	}
	if got = h.call(t, "mcp__shot__files", `{}`, nil).Sources; shape(got) != "Bytes Bytes Link" || got[0].Declared != "application/pdf" || got[1].As != content.KindAudio {
		t.Errorf("files: %s", shape(got))
	}
	if got = h.call(t, "mcp__shot__empty", `{}`, nil).Sources; texts(got) != "[shot empty gave no content]" {
		t.Errorf("empty: %q", texts(got))
	}
}

// TestBrowser lists the tools of a browser's server. Where TOTE_E2E_CHROMIUM names a
// browser it takes a screenshot; without one the server says so, and only that call
// fails.
func TestBrowser(t *testing.T) {
	args := []string{script(t, "node_modules", "@playwright", "mcp", "cli.js"), "--headless", "--isolated", "--no-sandbox"}
	browser := os.Getenv("TOTE_E2E_CHROMIUM")
	if browser == "" {
		args = append(args, "--executable-path", filepath.Join(t.TempDir(), "no-browser"))
	} else {
		args = append(args, "--executable-path", browser)
	}
	h := connect(t, mcp.Server{Name: "browser", Command: "node", Args: args})
	if _, ok := h.tools["mcp__browser__browser_take_screenshot"]; !ok {
		t.Fatal("there is no tool for screenshots")
	}
	got := h.call(t, "mcp__browser__browser_navigate", `{"url":"data:text/html,<h1>tote</h1>"}`, nil)
	if browser == "" {
		if !got.IsError || texts(got.Sources) == "" {
			t.Errorf("without a browser: %q", texts(got.Sources))
		}
		return
	}
	shot := h.call(t, "mcp__browser__browser_take_screenshot", `{"type":"png"}`, nil)
	pictures := 0
	for _, s := range shot.Sources {
		if s.As == content.KindImage {
			pictures++
			isPicture(t, s)
		}
	}
	if shot.IsError || pictures != 1 {
		t.Errorf("a screenshot: %s, %q", shape(shot.Sources), texts(shot.Sources))
	}
}
