package permission_test

import (
	"testing"

	"tote/internal/permission"
)

// Files that say what is run later are asked about where edits are accepted.
func TestSteeringFiles(t *testing.T) {
	for p, want := range map[string]permission.Verdict{
		"/p/.git":                      permission.Ask,
		"/p/.git/hooks/pre-commit":     permission.Ask,
		"/p/.git/config":               permission.Ask,
		"/p/sub/deep/.git/config":      permission.Ask,
		"/p/.GIT/config":               permission.Ask,
		"/p/.git./config":              permission.Ask,
		"/p/.git::$INDEX_ALLOCATION/x": permission.Ask,
		"C:/p/GIT~1/config":            permission.Ask,
		"/p/.gitmodules":               permission.Ask,
		"/p/.githooks/pre-push":        permission.Ask,
		"/p/.husky/pre-commit":         permission.Ask,
		"/p/.tote/config.toml":         permission.Ask,
		"/p/a/.mcp.json":               permission.Ask,
		"/p/.claude/settings.json":     permission.Ask,
		"/p/.agents/skills/x/SKILL.md": permission.Ask,
		"/p/a/.vscode/tasks.json":      permission.Ask,
		"/p/.idea/workspace.xml":       permission.Ask,
		"/p/.gitignore":                permission.Allow,
		"/p/.github/workflows/ci.yml":  permission.Allow,
		"/p/git/hooks/x":               permission.Allow,
		"/p/mcp.json":                  permission.Allow,
		"/p/a.go":                      permission.Allow,
	} {
		q := permission.Request{Tool: "write", Action: permission.Write, Path: p, Inside: true}
		edits := permission.Rules{Mode: permission.ModeEdits}
		if got, why := edits.Decide(q); got != want {
			t.Errorf("%s: %v (%s), want %v", p, got, why, want)
		}
		edits.Allow = rules(t, "write")
		if got, why := edits.Decide(q); got != permission.Allow {
			t.Errorf("%s with a rule: %v (%s)", p, got, why)
		}
		several := permission.Request{Tool: "patch", Action: permission.Write, Path: "/p/a.go", Paths: []string{"/p/b.go", p}, Inside: true}
		if got, why := (permission.Rules{Mode: permission.ModeEdits}).Decide(several); got != want {
			t.Errorf("%s among others: %v (%s), want %v", p, got, why, want)
		}
	}
}

// Rules against commands are not evaded by a line that cannot be taken apart.
func TestUnsure(t *testing.T) {
	unparsed := permission.Request{Tool: "bash", Action: permission.Execute, Detail: "x $(y"}
	for name, c := range map[string]struct {
		deny, ask, allow string
		mode             permission.Mode
		q                permission.Request
		want             permission.Verdict
		unsure           bool
	}{
		"full":                {deny: "bash(touch *)", mode: permission.ModeFull, q: opaque("sh"), want: permission.Ask, unsure: true},
		"full, unparsed":      {deny: "bash(touch *)", mode: permission.ModeFull, q: unparsed, want: permission.Ask, unsure: true},
		"full, asks":          {ask: "bash(git push *)", mode: permission.ModeFull, q: opaque("sh"), want: permission.Ask, unsure: true},
		"full, every tool":    {deny: "*(touch *)", mode: permission.ModeFull, q: opaque("sh"), want: permission.Ask, unsure: true},
		"full, clear":         {deny: "bash(touch *)", mode: permission.ModeFull, q: line("ls"), want: permission.Allow},
		"full, no such rule":  {deny: "fetch(domain:x.org)|read(/x/**)", mode: permission.ModeFull, q: opaque("sh"), want: permission.Allow},
		"full, seen":          {deny: "bash(touch *)", mode: permission.ModeFull, q: opaque("touch x"), want: permission.Deny, unsure: true},
		"a rule for the tool": {deny: "bash(touch *)", allow: "bash", q: opaque("sh"), want: permission.Ask, unsure: true},
		"plan":                {deny: "bash(touch *)", mode: permission.ModePlan, q: opaque("sh"), want: permission.Deny, unsure: true},
		"no rules":            {mode: permission.ModeFull, q: opaque("sh"), want: permission.Allow},
	} {
		r := permission.Rules{Mode: c.mode, Deny: list(t, c.deny), Ask: list(t, c.ask), Allow: list(t, c.allow)}
		if got, why := r.Decide(c.q); got != c.want {
			t.Errorf("%s: %v (%s), want %v", name, got, why, c.want)
		}
		if got := r.Unsure(c.q); got != c.unsure {
			t.Errorf("%s: Unsure = %v", name, got)
		}
	}
}
