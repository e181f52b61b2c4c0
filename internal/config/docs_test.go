package config_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tote/internal/config"
)

const providersPage = "../../docs/providers.md"

func readPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(providersPage)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(page), "\r\n", "\n")
}

// TestProvidersPage loads every example of the page, and holds that the examples
// show every kind, every runner and how a backend is reached.
func TestProvidersPage(t *testing.T) {
	page := readPage(t)
	blocks := regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$").FindAllStringSubmatch(page, -1)
	if n := strings.Count(page, "```"); len(blocks) == 0 || n != 2*len(blocks) {
		t.Fatalf("%d fenced blocks from %d fences", len(blocks), n)
	}
	seen := map[string]bool{}
	for _, b := range blocks {
		if b[1] != "jsonc" && b[1] != "json" {
			t.Errorf("a block of the language %q is not checked:\n%s", b[1], b[2])
			continue
		}
		p := newPlace(t)
		p.user(b[2])
		l, err := config.Load(p.options())
		if err != nil {
			t.Errorf("example:\n%s\n%v", b[2], err)
			continue
		}
		for _, provider := range l.Config.Providers {
			seen[string(provider.Kind)] = true
			seen["ca_file"] = seen["ca_file"] || provider.CAFile != ""
			seen["proxy"] = seen["proxy"] || provider.Proxy != ""
			seen["timeouts"] = seen["timeouts"] || provider.Timeouts != (config.Timeouts{})
			seen["max_retries"] = seen["max_retries"] || provider.MaxRetries != 0
			seen["region"] = seen["region"] || provider.Region != ""
			seen["aws_profile"] = seen["aws_profile"] || provider.AWSProfile != ""
			seen["api_version"] = seen["api_version"] || provider.APIVersion != ""
		}
		for name, a := range l.Config.Agents {
			seen["runner "+string(a.Runner)] = true
			seen["effort"] = seen["effort"] || a.Effort != ""
			if _, err := l.Config.Agent(name); err != nil {
				t.Errorf("example:\n%s\n%v", b[2], err)
			}
		}
	}
	want := slices.Concat(config.Kind("").Values(), []string{
		"ca_file", "proxy", "timeouts", "max_retries", "region", "aws_profile", "api_version", "effort",
	})
	for _, r := range config.Runner("").Values() {
		want = append(want, "runner "+r)
	}
	for _, w := range want {
		if !seen[w] {
			t.Errorf("no example shows %s", w)
		}
	}
}

// TestProvidersTable holds that the page lists the backends that are known by name
// as they are.
func TestProvidersTable(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| `([a-z-]+)` \\| (.*) \\| (.*) \\|$").FindAllStringSubmatch(readPage(t), -1)
	got := map[string][]string{}
	for _, r := range rows {
		got[r[1]] = []string{r[2], strings.Trim(r[3], "`"), strings.Trim(r[4], "`")}
	}
	all := slices.Concat(config.Offers(func(name string) string { return name }), config.Locals())
	for _, o := range append(all, config.Offer{Name: "offline", Kind: config.KindOffline, BaseURL: "none"}) {
		want := []string{string(o.Kind), o.Env, o.BaseURL}
		switch o.Name {
		case "azure":
			want[1], want[2] = "give `api_key", "give `base_url"
		case "bedrock":
			want[1], want[2] = "the AWS rules", "the region's"
		}
		if want[1] == "" {
			want[1] = "none"
		}
		if !slices.Equal(got[o.Name], want) {
			t.Errorf("the page says of %s: %q, want %q", o.Name, got[o.Name], want)
		}
		delete(got, o.Name)
	}
	if len(got) != 0 {
		t.Errorf("the page lists what is not known: %v", got)
	}
}

// TestHooksPage loads the example of the page, and holds that it names every member.
func TestHooksPage(t *testing.T) {
	data, err := os.ReadFile("../../docs/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(data), "\r\n", "\n")
	example := regexp.MustCompile("(?s)```jsonc\n(.*?)```").FindStringSubmatch(page)
	if example == nil {
		t.Fatal("the page has no example")
	}
	p := newPlace(t)
	p.user(example[1])
	o := p.options()
	o.UserHome = p.home
	l, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	h := l.Config.Hooks
	if len(h.Prompt) == 0 || len(h.PreTool) == 0 || len(h.PostTool) == 0 || len(h.Stop) == 0 {
		t.Errorf("an event is missing from the example: %+v", h)
	}
	for f := range reflect.TypeFor[config.Hook]().Fields() {
		if name := f.Tag.Get("json"); !strings.Contains(page, "| `"+strings.TrimSuffix(name, ",omitempty")+"` |") {
			t.Errorf("the page does not explain %s", name)
		}
	}
}
