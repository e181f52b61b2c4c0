package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/config"
)

// TestUnknownTools has every place that names a tool refuse a name that is none, and
// propose the nearest.
func TestUnknownTools(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"{\"permissions\": {\"deny\": [\"read\",\n\"bahs(rm *)\"]}}", `c.json:2:1: permissions.deny[1]: no tool is called "bahs"; did you mean bash?`},
		{`{"permissions": {"allow": ["Edit(src/**)"]}}`, `c.json:1:28: permissions.allow[0]: no tool is called "Edit"; did you mean edit?`},
		{`{"permissions": {"ask": ["mcp_git"]}}`, `c.json:1:26: permissions.ask[0]: no tool is called "mcp_git"; known: ` + strings.Join(config.RuleNames(), ", ") + ", mcp__SERVER__TOOL"},
		{`{"permissions": {"ask": ["todo(x)"]}}`, `c.json:1:26: permissions.ask[0]: the rule "todo(x)" never matches: todo is allowed or denied as a whole, so write it without a pattern`},
		{`{"hooks": {"pre_tool": [{"match": "wirte|edit", "command": ["a"]}]}}`, `c.json:1:35: hooks.pre_tool[0].match: no tool is called "wirte"; did you mean write?`},
		{`{"tools": {"disabled": ["todo", "fecth"]}}`, `c.json:1:33: tools.disabled[1]: holds "fecth", which is not the name of a built-in tool; did you mean fetch?`},
		{`{"tools": {"disabled": ["mcp__a__b"]}}`, `c.json:1:25: tools.disabled[0]: holds "mcp__a__b", which is a tool of an MCP server: name it in mcp_servers.SERVER.deny, or disable the server`},
		{`{"tools": {"disabled": ["sampling"]}}`, `c.json:1:25: tools.disabled[0]: holds "sampling", which is not the name of a built-in tool; known: ` + strings.Join(config.ToolNames(), ", ")},
	} {
		if _, err := config.Parse("c.json", []byte(tt.src)); err == nil || err.Error() != tt.want {
			t.Errorf("Parse(%s):\n got %v\nwant %s", tt.src, err, tt.want)
		}
	}
	for _, name := range config.RuleNames() {
		if _, err := config.Parse("c.json", fmt.Appendf(nil, `{"permissions": {"deny": [%q, "*", "*(x)", "mcp__a__b", "mcp__a", "mcp__a__*"]}}`, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestRulePlaces has the reader of rules refuse some, which is told with their place.
// In a project that is not trusted that stops nothing.
func TestRulePlaces(t *testing.T) {
	p := newPlace(t)
	o := p.options()
	o.Rule = func(where, rule string) error {
		if strings.Contains(rule, "bad") {
			return errors.New(where + " is bad")
		}
		return nil
	}
	p.user("{\"permissions\": {\"allow\": [\"bash(ls)\"],\n\"deny\": [\"read(bad)\"]},\n\"hooks\": {\"post_tool\": [{\"match\": \"edit|write(bad)\", \"command\": [\"a\"]}]}}")
	file := filepath.Join(p.home, "config", "config.json")
	want := file + ":2:10: permissions.deny[0]: deny is bad\n" + file + ":3:35: hooks.post_tool[0].match: match is bad"
	if _, err := config.Load(o); err == nil || err.Error() != want {
		t.Errorf("Load: %v\nwant %s", err, want)
	}
	p.user(`{}`)
	p.project(".tote/config.json", `{"permissions": {"deny": ["read(bad)"]}}`)
	l, err := config.Load(o)
	if err != nil || len(l.Withheld) != 1 || !strings.Contains(l.Withheld[0], "permissions.deny[0]: deny is bad") {
		t.Errorf("untrusted: %q, %v", l.Withheld, err)
	}
	p.trust(l)
	if _, err := config.Load(o); err == nil || !strings.Contains(err.Error(), "config.json:1:27: permissions.deny[0]: deny is bad") {
		t.Errorf("trusted: %v", err)
	}
}

// TestServerNotes tells of rules about servers that are not there.
func TestServerNotes(t *testing.T) {
	p := newPlace(t)
	p.user(`{"mcp_servers": {"my git": {"command": "x"}}, "permissions": {"deny": ["mcp__my_git__push", "mcp__my_git", "mcp__web__*", "mcp__plawright__click"]}}`)
	p.project(".mcp.json", `{"mcpServers": {"playwright": {"command": "y"}, "web": {"command": "z"}}}`)
	l := p.load()
	want := []string{filepath.Join(p.home, "config", "config.json") + `:1:123: permissions.deny[3]: no MCP server is called "plawright" here, so the rule is about nothing; did you mean playwright?`}
	if diff := cmp.Diff(want, l.Notes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFloors has a project that is not trusted set everything that it may lower so low
// that nobody could work.
func TestFloors(t *testing.T) {
	var members []string
	for f := range reflect.TypeFor[config.Limits]().Fields() {
		name := strings.TrimSuffix(f.Tag.Get("json"), ",omitempty")
		least := `1`
		if f.Type == reflect.TypeFor[config.Duration]() {
			least = `"1ns"`
		}
		if name == "task_depth" || name == "jobs" || name == "summary_at" {
			continue // 1 is usable; what a summary takes is never a project's to say
		}
		members = append(members, fmt.Sprintf(`{"limits": {%q: %s}}`, name, least))
	}
	members = append(members, `{"tools": {"bash": {"timeout": "1ns"}}}`, `{"tools": {"bash": {"max_timeout": "1ns"}}}`)
	for _, src := range members {
		layer, err := config.Parse("c.json", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		got, withheld, err := config.Merge(config.Layer{}, layer, config.Untrusted)
		if err != nil || len(withheld) != 1 || !strings.Contains(withheld[0], "(c.json:1:") || !strings.Contains(withheld[0], "less than ") {
			t.Errorf("%s: %q, %v", src, withheld, err)
		}
		if diff := cmp.Diff(merged(t, `{}`), got); diff != "" {
			t.Errorf("%s took effect:\n%s", src, diff)
		}
	}
	_, withheld, _ := config.Merge(config.Layer{}, parse(t, `{"limits": {"turn_timeout": "1ns"}}`), config.TrustedProject)
	if withheld != nil {
		t.Errorf("a trusted project was held back: %q", withheld)
	}
}

// TestFloorsPage holds that the page for users names each floor.
func TestFloorsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/project.md")
	if err != nil {
		t.Fatal(err)
	}
	for member, least := range config.Floors() {
		if !regexp.MustCompile("(?m)^\\| .*`" + regexp.QuoteMeta(member) + "`.* \\| " + least + " \\|").Match(page) {
			t.Errorf("docs/project.md does not say that %s is at least %s", member, least)
		}
	}
}
