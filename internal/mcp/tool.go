package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tote/internal/permission"
	"tote/internal/tool"
)

// remote is a tool of a server.
type remote struct {
	m    *member
	name string // as models know it
	it   offered
}

// Spec implements tool.Tool. Calls run one after the other: servers keep state,
// such as the page of a browser.
func (r *remote) Spec() tool.Spec {
	d := r.it.description
	if d == "" {
		d = "The tool " + r.it.name + " of the MCP server " + r.m.server.Name + "."
	}
	return tool.Spec{Name: r.name, Description: d, Schema: r.it.schema}
}

// Request implements tool.Tool. It is the same for all arguments, so that a user
// can permit a tool for a session.
func (r *remote) Request(args json.RawMessage, _ tool.Env) (permission.Request, string, error) {
	if _, err := object(args); err != nil {
		return permission.Request{}, "", fmt.Errorf("%s: %w", r.name, err)
	}
	title := oneLine(r.m.server.Name) + ": " + r.it.title
	return request(r.name, r.m.server.Name+" "+r.it.name, r.it.readOnly), title, nil
}

// request is what a call of a server needs permission for.
func request(name, detail string, readOnly bool) permission.Request {
	return permission.Request{Tool: name, Action: permission.Call, Detail: detail, ReadOnly: readOnly}
}

// object checks that arguments are a JSON object; none are an empty one.
func object(args json.RawMessage) (json.RawMessage, error) {
	b := bytes.TrimSpace(args)
	switch {
	case len(b) == 0 || string(b) == "null":
		return json.RawMessage("{}"), nil
	case b[0] != '{' || !json.Valid(b):
		return nil, errors.New("the arguments are no JSON object")
	}
	return b, nil
}

// Run implements tool.Tool.
func (r *remote) Run(ctx context.Context, args json.RawMessage, env tool.Env) (tool.Result, error) {
	in, err := object(args)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s: %w", r.name, err)
	}
	raw, err := r.m.ask(ctx, env.Live, func(ctx context.Context, s *mcp.ClientSession, token string) error {
		p := &mcp.CallToolParams{Name: r.it.name, Arguments: in, Meta: mcp.Meta{"progressToken": token}}
		_, err := s.CallTool(ctx, p)
		return err
	})
	if err != nil {
		return tool.Result{}, err
	}
	out := newReader(oneLine(r.m.server.Name) + " " + oneLine(r.it.name))
	isError, err := out.call(raw)
	if err != nil {
		return tool.Result{}, fmt.Errorf("the MCP server %s gave a result that cannot be read: %w", r.m.server.Name, err)
	}
	return tool.Result{Sources: out.sources, IsError: isError}, nil
}
