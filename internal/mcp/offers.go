package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of what a server offers.
const (
	maxOffered     = 1000
	maxTaken       = 8 << 20  // of all tools, in bytes
	maxPages       = 100
	maxDescription = 4 << 10   // of one tool, in bytes
	maxSchema      = 128 << 10 // of one tool, in bytes
)

// offers is what a server offers, as of one moment.
type offers struct {
	tools     []offered
	prompts   []Prompt
	resources int
	// reads: the server has resources.
	reads bool
}

// offered is one tool of a server.
type offered struct {
	name, title, description string
	schema                   json.RawMessage
	readOnly                 bool
}

// Prompt is a prompt that a server offers to the user.
type Prompt struct {
	Server, Name, Title, Description string
	Args                             []PromptArg
}

// PromptArg is an argument of a prompt.
type PromptArg struct {
	Name, Description string
	Required          bool
}

// fetch asks for everything that the server offers.
func (l *link) fetch(ctx context.Context) (offers, error) {
	var o offers
	init := l.session.InitializeResult()
	if init == nil || init.Capabilities == nil {
		return o, nil
	}
	if init.Capabilities.Tools != nil {
		if err := l.fetchTools(ctx, &o); err != nil {
			return o, fmt.Errorf("list its tools: %w", err)
		}
	}
	if init.Capabilities.Prompts != nil {
		if err := l.fetchPrompts(ctx, &o); err != nil {
			return o, fmt.Errorf("list its prompts: %w", err)
		}
	}
	if init.Capabilities.Resources != nil {
		o.reads = true
		page, err := l.session.ListResources(ctx, &mcp.ListResourcesParams{})
		if err != nil {
			return o, fmt.Errorf("list its resources: %w", err)
		}
		o.resources = len(page.Resources)
	}
	return o, nil
}

func (l *link) fetchTools(ctx context.Context, o *offers) error {
	params, seen, taken := &mcp.ListToolsParams{}, map[string]bool{}, 0
	for range maxPages {
		page, err := l.session.ListTools(ctx, params)
		if err != nil {
			return err
		}
		for _, t := range page.Tools {
			if t == nil || t.Name == "" || seen[t.Name] || len(o.tools) == maxOffered || taken > maxTaken {
				continue
			}
			seen[t.Name] = true
			kept := l.offered(t)
			taken += len(kept.description) + len(kept.schema)
			o.tools = append(o.tools, kept)
		}
		if page.NextCursor == "" || page.NextCursor == params.Cursor {
			break
		}
		params = &mcp.ListToolsParams{Cursor: page.NextCursor}
	}
	slices.SortFunc(o.tools, func(a, b offered) int { return strings.Compare(a.name, b.name) })
	return nil
}

func (l *link) offered(t *mcp.Tool) offered {
	out := offered{name: t.Name, title: t.Title}
	if a := t.Annotations; a != nil {
		out.title, out.readOnly = cmp.Or(out.title, a.Title), a.ReadOnlyHint
	}
	out.title = oneLine(cmp.Or(out.title, t.Name))
	words := strings.TrimSpace(strings.ToValidUTF8(t.Description, "\ufffd"))
	schema, note := fixSchema(t.InputSchema)
	if note != "" {
		words = strings.TrimSpace(cut(words, maxDescription-len(note)-8) + "\n" + note)
	}
	out.description, out.schema = cut(words, maxDescription), schema
	return out
}

// fixSchema makes of a schema what every model takes: an object that has
// properties, without alternatives at its top. note tells the model what was left
// out.
func fixSchema(in any) (schema json.RawMessage, note string) {
	m, ok := in.(map[string]any)
	if !ok {
		return json.RawMessage(`{"properties":{},"type":"object"}`), ""
	}
	out := maps.Clone(m)
	props, ok := out["properties"].(map[string]any)
	if !ok {
		props = map[string]any{}
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf"} {
		branches, ok := out[k].([]any)
		if !ok {
			continue
		}
		delete(out, k)
		note = "The arguments have alternatives that are not all shown: the server checks them."
		props = merged(props, branches)
	}
	out["type"], out["properties"] = "object", props
	b, err := json.Marshal(out)
	if err != nil || len(b) > maxSchema {
		return json.RawMessage(`{"additionalProperties":true,"properties":{},"type":"object"}`),
			"The schema of the arguments is too large to be shown; the server checks them."
	}
	return b, note
}

// merged adds the properties of alternatives. One that is there already stays.
func merged(props map[string]any, branches []any) map[string]any {
	out := maps.Clone(props)
	for _, b := range branches {
		branch, _ := b.(map[string]any)
		more, _ := branch["properties"].(map[string]any)
		for k, v := range more {
			if _, ok := out[k]; !ok {
				out[k] = v
			}
		}
	}
	return out
}

func (l *link) fetchPrompts(ctx context.Context, o *offers) error {
	params := &mcp.ListPromptsParams{}
	for range maxPages {
		page, err := l.session.ListPrompts(ctx, params)
		if err != nil {
			return err
		}
		for _, p := range page.Prompts {
			if p == nil || p.Name == "" || len(o.prompts) == maxOffered {
				continue
			}
			out := Prompt{Name: p.Name, Title: oneLine(p.Title), Description: cut(p.Description, maxDescription)}
			for _, a := range p.Arguments {
				if a != nil {
					out.Args = append(out.Args, PromptArg{Name: a.Name, Description: oneLine(a.Description), Required: a.Required})
				}
			}
			o.prompts = append(o.prompts, out)
		}
		if page.NextCursor == "" || page.NextCursor == params.Cursor {
			break
		}
		params = &mcp.ListPromptsParams{Cursor: page.NextCursor}
	}
	slices.SortFunc(o.prompts, func(a, b Prompt) int { return strings.Compare(a.Name, b.Name) })
	return nil
}
