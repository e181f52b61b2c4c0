package mcp

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/tool"
)

//go:embed resources.md
var resourcesText string

//go:embed readresource.md
var readResourceText string

// Bounds of the list of resources.
const (
	pageLines    = 100
	maxResources = 2000 // of one server
)

// resourceList is the tool mcp_resources over the servers that have any.
type resourceList struct{ members []*member }

// Spec implements tool.Tool.
func (resourceList) Spec() tool.Spec {
	return tool.Spec{
		Name: "mcp_resources", Description: strings.TrimSpace(resourcesText), Parallel: true,
		Schema: json.RawMessage(`{"type":"object","properties":{"server":{"type":"string","description":"List this server only."},"offset":{"type":"integer","minimum":0,"description":"Leave out so many lines."}},"additionalProperties":false}`),
	}
}

type resourceArgs struct {
	Server string `json:"server"`
	Offset int    `json:"offset"`
}

func (l resourceList) args(raw json.RawMessage) (a resourceArgs, of []*member, err error) {
	if err := tool.Decode(raw, &a); err != nil {
		return a, nil, err
	}
	if a.Offset < 0 {
		return a, nil, errors.New("mcp_resources: offset counts from 0")
	}
	if a.Server == "" {
		return a, l.members, nil
	}
	m, err := pick(l.members, a.Server)
	return a, []*member{m}, err
}

// pick finds a server by its name; "" is the only one.
func pick(ms []*member, name string) (*member, error) {
	var names []string
	for _, m := range ms {
		if m.server.Name == name || name == "" && len(ms) == 1 {
			return m, nil
		}
		names = append(names, m.server.Name)
	}
	if name == "" {
		return nil, fmt.Errorf("say which server; those with resources are: %s", strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("no MCP server %q has resources; those that have are: %s", name, strings.Join(names, ", "))
}

// Request implements tool.Tool.
func (l resourceList) Request(raw json.RawMessage, _ tool.Env) (permission.Request, string, error) {
	a, _, err := l.args(raw)
	if err != nil {
		return permission.Request{}, "", err
	}
	return request("mcp_resources", a.Server, true), "List MCP resources", nil
}

// Run implements tool.Tool.
func (l resourceList) Run(ctx context.Context, raw json.RawMessage, _ tool.Env) (tool.Result, error) {
	a, of, err := l.args(raw)
	if err != nil {
		return tool.Result{}, err
	}
	var all []string
	for _, m := range of {
		got, err := m.resources(ctx)
		if ctx.Err() != nil {
			return tool.Result{}, ctx.Err()
		}
		if err != nil {
			got = []string{"[" + m.server.Name + ": " + err.Error() + "]"}
		}
		all = append(all, got...)
	}
	if a.Offset >= len(all) {
		return tool.Result{Sources: []content.Source{tool.Prose(fmt.Sprintf("[no more: there are %d lines]", len(all)))}}, nil
	}
	page := all[a.Offset:]
	if len(page) > pageLines {
		page = append(page[:pageLines:pageLines], fmt.Sprintf("[%d more; go on with offset %d]", len(page)-pageLines, a.Offset+pageLines))
	}
	return tool.Result{Sources: []content.Source{tool.Prose(strings.Join(page, "\n"))}}, nil
}

// resources lists what the server has, a line for each.
func (m *member) resources(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, m.o.CallTimeout)
	defer cancel()
	l, err := m.ready(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for r, err := range l.session.Resources(ctx, nil) {
		if err != nil {
			return nil, m.callError(l, err)
		}
		if r == nil || len(out) >= maxResources {
			break
		}
		line := m.server.Name + ": " + oneWord(r.URI) + " — " + oneLine(r.Name)
		if r.MIMEType != "" {
			line += " (" + oneLine(r.MIMEType) + ")"
		}
		if r.Size > 0 {
			line += ", " + size(r.Size)
		}
		out = append(out, withWords(line, r.Description))
	}
	for t, err := range l.session.ResourceTemplates(ctx, nil) {
		if err != nil || t == nil || len(out) >= 2*maxResources {
			break // not all servers that have resources know templates
		}
		out = append(out, withWords(m.server.Name+": template "+oneWord(t.URITemplate)+" — "+oneLine(t.Name), t.Description))
	}
	return out, nil
}

func withWords(line, words string) string {
	if words != "" {
		line += ": " + oneLine(words)
	}
	return line
}

// oneWord keeps an address on its line, whole where it is not absurdly long.
func oneWord(uri string) string {
	return cut(strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(uri, "\ufffd")), wordsBytes)
}

// resourceRead is the tool mcp_read.
type resourceRead struct{ members []*member }

// Spec implements tool.Tool.
func (resourceRead) Spec() tool.Spec {
	return tool.Spec{
		Name: "mcp_read", Description: strings.TrimSpace(readResourceText), Parallel: true,
		Schema: json.RawMessage(`{"type":"object","properties":{"server":{"type":"string","description":"The server that has it."},"uri":{"type":"string","description":"Its address."}},"required":["uri"],"additionalProperties":false}`),
	}
}

type readArgs struct {
	Server string `json:"server"`
	URI    string `json:"uri"`
}

func (r resourceRead) args(raw json.RawMessage) (a readArgs, m *member, err error) {
	if err := tool.Decode(raw, &a); err != nil {
		return a, nil, err
	}
	if a.URI == "" {
		return a, nil, errors.New("mcp_read: the argument \"uri\" is missing")
	}
	m, err = pick(r.members, a.Server)
	return a, m, err
}

// Request implements tool.Tool.
func (r resourceRead) Request(raw json.RawMessage, _ tool.Env) (permission.Request, string, error) {
	a, m, err := r.args(raw)
	if err != nil {
		return permission.Request{}, "", err
	}
	return request("mcp_read", m.server.Name+" "+a.URI, true), "Read " + oneLine(a.URI) + " of " + oneLine(m.server.Name), nil
}

// Run implements tool.Tool.
func (r resourceRead) Run(ctx context.Context, raw json.RawMessage, env tool.Env) (tool.Result, error) {
	a, m, err := r.args(raw)
	if err != nil {
		return tool.Result{}, err
	}
	sources, err := m.read(ctx, a.URI, env.Live)
	return tool.Result{Sources: sources}, err
}

// read reads one resource of the server.
func (m *member) read(ctx context.Context, uri string, live func(string)) ([]content.Source, error) {
	raw, err := m.ask(ctx, live, func(ctx context.Context, s *mcp.ClientSession, token string) error {
		_, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri, Meta: mcp.Meta{"progressToken": token}})
		return err
	})
	if err != nil {
		return nil, err
	}
	out := newReader(oneLine(m.server.Name))
	if err := out.resource(raw); err != nil {
		return nil, fmt.Errorf("the MCP server %s gave a resource that cannot be read: %w", m.server.Name, err)
	}
	return out.sources, nil
}
