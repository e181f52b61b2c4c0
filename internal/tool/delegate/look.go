package delegate

import (
	"context"
	_ "embed" // for the tool's description
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/tool"
)

//go:embed look.md
var lookText string

// Look is the tool that has a picture looked at.
type Look struct{}

var _ tool.Tool = Look{}

type lookArgs struct {
	Handle   string `json:"handle"`
	Question string `json:"question"`
	Agent    string `json:"agent"`
}

// Spec implements tool.Tool.
func (Look) Spec() tool.Spec {
	return tool.Spec{
		Name: "look", Description: strings.TrimSpace(lookText), Parallel: true,
		Schema: schema(`{"type":"object","properties":{"handle":{"type":"string","description":"The picture's label, such as \"image-1.png\"."},"question":{"type":"string","description":"What you want to know about it."},"agent":{"type":"string","description":"The agent that looks; leave out for any that sees."}},"required":["handle","question"],"additionalProperties":false}`),
	}
}

func (Look) args(raw json.RawMessage, env tool.Env) (lookArgs, content.Handle, error) {
	var a lookArgs
	if err := tool.Decode(raw, &a); err != nil {
		return a, "", err
	}
	switch {
	case strings.TrimSpace(a.Question) == "":
		return a, "", errors.New("look: the argument \"question\" is empty")
	case len(a.Question) > maxPrompt:
		return a, "", fmt.Errorf("look: the question has %d bytes, the limit is %d", len(a.Question), maxPrompt)
	}
	h, err := find(a.Handle, env)
	if err != nil {
		return a, "", fmt.Errorf("look: %w", err)
	}
	if b, _ := env.Lookup(h); b.Kind() != content.KindImage {
		return a, "", fmt.Errorf("look: %s is no picture but a %s", h, b.Kind())
	}
	return a, h, nil
}

// Request implements tool.Tool.
func (l Look) Request(raw json.RawMessage, env tool.Env) (permission.Request, string, error) {
	a, h, err := l.args(raw, env)
	if err != nil {
		return permission.Request{}, "", err
	}
	return request("look", a.Agent, string(h)), "Have " + string(h) + " looked at", nil
}

// Run implements tool.Tool.
func (l Look) Run(ctx context.Context, raw json.RawMessage, env tool.Env) (tool.Result, error) {
	a, h, err := l.args(raw, env)
	if err != nil {
		return tool.Result{}, err
	}
	host, err := hostOf(env)
	if err != nil {
		return tool.Result{}, err
	}
	return host.Look(ctx, h, a.Question, a.Agent)
}
