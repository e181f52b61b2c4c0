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
	maxOffered     = 2000     // of tools, and of prompts
	maxTaken       = 8 << 20  // of all tools, in bytes
	maxPages       = 100      // of one list
	maxDescription = 4 << 10  // of one tool, in bytes
	maxSchema      = 64 << 10 // of one tool, in bytes
	maxOfferedName = 256      // of one tool or prompt, in bytes; the protocol has 128 characters
	maxPromptArgs  = 50
)

// offers is what a server offers, as of one moment.
type offers struct {
	tools []offered
	// more says why the list of tools is not whole, "" for one that is.
	more      string
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
	pages := map[string]bool{}
	for {
		page, err := l.session.ListTools(ctx, params)
		if err != nil {
			return err
		}
		for _, t := range page.Tools {
			switch {
			case t == nil || t.Name == "" || seen[t.Name]:
				continue
			case len(t.Name) > maxOfferedName:
				o.more = fmt.Sprintf("a name is longer than %d bytes", maxOfferedName)
				continue
			case len(o.tools) == maxOffered || taken > maxTaken:
				o.more = fmt.Sprintf("the first %d were read", len(o.tools))
				continue
			}
			seen[t.Name] = true
			kept := l.offered(t)
			taken += kept.cost()
			o.tools = append(o.tools, kept)
		}
		pages[params.Cursor] = true
		switch {
		case page.NextCursor == "":
		case pages[page.NextCursor]:
			o.more = "its list goes in circles"
		case len(pages) == maxPages:
			o.more = fmt.Sprintf("its list has more than %d pages", maxPages)
		case len(o.tools) == maxOffered || taken > maxTaken:
			o.more = fmt.Sprintf("the first %d were read", len(o.tools))
		default:
			params = &mcp.ListToolsParams{Cursor: page.NextCursor}
			continue
		}
		break
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

func promptOf(p *mcp.Prompt) Prompt {
	out := Prompt{Name: p.Name, Title: oneLine(p.Title), Description: cut(p.Description, maxDescription)}
	for _, a := range p.Arguments {
		if a != nil && len(a.Name) <= maxOfferedName && len(out.Args) < maxPromptArgs {
			out.Args = append(out.Args, PromptArg{Name: a.Name, Description: oneLine(a.Description), Required: a.Required})
		}
	}
	return out
}

func (l *link) fetchPrompts(ctx context.Context, o *offers) error {
	params, pages := &mcp.ListPromptsParams{}, map[string]bool{}
	for len(pages) < maxPages && len(o.prompts) < maxOffered {
		page, err := l.session.ListPrompts(ctx, params)
		if err != nil {
			return err
		}
		for _, p := range page.Prompts {
			if p == nil || p.Name == "" || len(p.Name) > maxOfferedName || len(o.prompts) == maxOffered {
				continue
			}
			o.prompts = append(o.prompts, promptOf(p))
		}
		if pages[params.Cursor] = true; page.NextCursor == "" || pages[page.NextCursor] {
			break
		}
		params = &mcp.ListPromptsParams{Cursor: page.NextCursor}
	}
	slices.SortFunc(o.prompts, func(a, b Prompt) int { return strings.Compare(a.Name, b.Name) })
	return nil
}
