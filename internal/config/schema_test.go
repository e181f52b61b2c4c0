package config_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"

	"tote/internal/config"
)

var update = flag.Bool("update", false, "write docs/config.schema.json")

const schemaFile = "../../docs/config.schema.json"

// TestSchemaIsFresh generates the schema from the structs and their comments.
// Run go test with -update after a change.
func TestSchemaIsFresh(t *testing.T) {
	g := generator{t: t, comments: fieldComments(t), defs: map[string]any{}}
	root := g.object(reflect.TypeFor[config.Config](), reflect.ValueOf(config.Default()))
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "tote configuration"
	root["description"] = "The user's config.json and a project's .tote/config.json. Comments and trailing commas are allowed in both."
	root["$defs"] = g.defs
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(root); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaFile, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), want.Bytes()) {
		t.Errorf("%s is stale: run go test ./internal/config -run Schema -update", schemaFile)
	}
}

// generator writes one definition for each struct type.
type generator struct {
	t        *testing.T
	comments map[string]string // "Type.Field" to comment
	defs     map[string]any
}

// bounds are what the checks demand beyond the types.
var bounds = map[string]map[string]any{
	"Limits.MaxSends":           {"maximum": 6},
	"Limits.SummaryAt":          {"minimum": 10, "maximum": 100},
	"Agent.Purpose":             {"minLength": 1, "maxLength": 200},
	"BashTool.Shell":            {"minLength": 1},
	"Tools.Disabled":            {"items": map[string]any{"type": "string", "enum": config.ToolNames()}},
	"Hook.Command":              {"minItems": 1},
	"FaultStatus.Code":          {"minimum": 400, "maximum": 599},
	"Refusal.Status":            {"minimum": 400, "maximum": 599},
	"Provider.BaseURL":          {"pattern": "^https?://"},
	"Provider.APIKey":           {"minLength": 1},
	"Provider.Region":           {"pattern": "^[a-z]{2,8}(-[a-z]+)+-[0-9]{1,2}$"},
	"Provider.AWSProfile":       {"minLength": 1},
	"Provider.CAFile":           {"minLength": 1},
	"Provider.Proxy":            {"pattern": `^(direct|\$.+|(https?|socks5h?)://.+)$`},
	"Agent.Command":             {"minItems": 1},
	"Provider.Headers":          {"propertyNames": map[string]any{"pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"}},
	"Config.Providers":          {"propertyNames": map[string]any{"pattern": namePattern}},
	"Config.Agents":             {"propertyNames": map[string]any{"pattern": namePattern}},
	"ProviderLimits.MediaTypes": {"items": map[string]any{"type": "string", "pattern": `^[a-z0-9.+-]+/([a-z0-9.+-]+|\*)$`}},
}

const namePattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"

func (g generator) object(t reflect.Type, defaults reflect.Value) map[string]any {
	members := map[string]any{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		m := g.value(f.Type, defaults.FieldByIndex(f.Index))
		comment := g.comments[t.Name()+"."+f.Name]
		if comment == "" {
			g.t.Errorf("%s.%s has no comment to describe it", t.Name(), f.Name)
		}
		rest, ok := strings.CutPrefix(comment, f.Name+" ")
		if !ok {
			g.t.Errorf("the comment of %s.%s does not begin with its name", t.Name(), f.Name)
		}
		m["description"] = name + " " + rest
		maps.Copy(m, bounds[t.Name()+"."+f.Name])
		if d := defaults.FieldByIndex(f.Index); f.Type.Kind() != reflect.Struct && !d.IsZero() {
			m["default"] = d.Interface()
		}
		members[name] = m
	}
	out := map[string]any{"type": "object", "additionalProperties": false, "properties": members}
	if t == reflect.TypeFor[config.FaultStatus]() {
		out["required"] = []string{"code"}
	}
	if t == reflect.TypeFor[config.Hook]() {
		out["required"] = []string{"command"}
	}
	if t == reflect.TypeFor[config.FaultCall]() {
		out["required"] = []string{"name"}
	}
	return out
}

func (g generator) value(t reflect.Type, defaults reflect.Value) map[string]any {
	switch t {
	case reflect.TypeFor[config.Bytes]():
		return map[string]any{"oneOf": []any{
			map[string]any{"type": "integer", "minimum": 1},
			map[string]any{"type": "string", "pattern": `^\s*[0-9]+\s*(([kKmMgG][iI]?)?[bB])?\s*$`},
		}}
	case reflect.TypeFor[config.Duration]():
		return map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}
	case reflect.TypeFor[config.Retries]():
		return map[string]any{"type": "integer", "minimum": 0, "maximum": 10}
	case reflect.TypeFor[config.Vision]():
		return map[string]any{"enum": []any{"auto", true, false}, "default": "auto"}
	case reflect.TypeFor[config.Refusal]():
		return map[string]any{"oneOf": []any{map[string]any{"type": "boolean"}, map[string]any{"type": "string"}, g.ref(t, defaults)}}
	case reflect.TypeFor[json.RawMessage]():
		return map[string]any{"type": "object"}
	}
	if c, ok := reflect.TypeAssert[interface{ Values() []string }](reflect.Zero(t)); ok {
		return map[string]any{"type": "string", "enum": c.Values()}
	}
	switch t.Kind() { //nolint:exhaustive // the other kinds fail the test
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int:
		return map[string]any{"type": "integer", "minimum": 1}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": g.value(t.Elem(), reflect.Zero(t.Elem()))}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": g.value(t.Elem(), reflect.Zero(t.Elem()))}
	case reflect.Struct:
		return g.ref(t, defaults)
	default:
		g.t.Fatalf("no schema for %v", t)
		return nil
	}
}

func (g generator) ref(t reflect.Type, defaults reflect.Value) map[string]any {
	if g.defs[t.Name()] == nil {
		g.defs[t.Name()] = g.object(t, defaults)
	}
	return map[string]any{"$ref": "#/$defs/" + t.Name()}
}

// fieldComments reads the comments of all struct fields in config.go and powers.go.
func fieldComments(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{"config.go", "powers.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		addComments(file, out)
	}
	return out
}

func addComments(file *ast.File, out map[string]string) {
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		s, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		for _, f := range s.Fields.List {
			for _, name := range f.Names {
				out[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(f.Doc.Text()), " ")
			}
		}
		return true
	})
}
