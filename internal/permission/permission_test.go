package permission_test

import (
	"testing"

	"tote/internal/permission"
)

func rules(t *testing.T, list ...string) []permission.Rule {
	t.Helper()
	var out []permission.Rule
	for _, s := range list {
		r, err := permission.ParseRule(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func TestDecide(t *testing.T) {
	in := func(tool string, a permission.Action, path string) permission.Request {
		return permission.Request{Tool: tool, Action: a, Path: path, Inside: true}
	}
	out := permission.Request{Tool: "read", Action: permission.Read, Path: "/etc/hosts"}
	for name, c := range map[string]struct {
		r    permission.Rules
		q    permission.Request
		want permission.Verdict
	}{
		"read inside":            {permission.Rules{}, in("read", permission.Read, "/p/a.go"), permission.Allow},
		"read outside":           {permission.Rules{}, out, permission.Ask},
		"read outside full":      {permission.Rules{Mode: permission.ModeFull}, out, permission.Allow},
		"read outside allowed":   {permission.Rules{Allow: rules(t, "read(/etc/*)")}, out, permission.Allow},
		"deny beats allow":       {permission.Rules{Allow: rules(t, "read"), Deny: rules(t, "*(/etc/**)")}, out, permission.Deny},
		"ask beats allow":        {permission.Rules{Allow: rules(t, "read"), Ask: rules(t, "read")}, out, permission.Ask},
		"dotenv":                 {permission.Rules{Mode: permission.ModeFull}, in("read", permission.Read, "/p/x/.env"), permission.Deny},
		"dotenv.local":           {permission.Rules{}, in("read", permission.Read, "/p/.env.local"), permission.Deny},
		"ssh folder":             {permission.Rules{}, in("read", permission.Read, "/home/u/.ssh/config"), permission.Deny},
		"dotenv allowed by rule": {permission.Rules{Allow: rules(t, "read(.env)")}, in("read", permission.Read, "/p/.env"), permission.Allow},
		"write asks":             {permission.Rules{}, in("write", permission.Write, "/p/a"), permission.Ask},
		"write in edits":         {permission.Rules{Mode: permission.ModeEdits}, in("write", permission.Write, "/p/a"), permission.Allow},
		"write in plan":          {permission.Rules{Mode: permission.ModePlan}, in("write", permission.Write, "/p/a"), permission.Deny},
		"plan beats allow":       {permission.Rules{Mode: permission.ModePlan, Allow: rules(t, "write")}, in("write", permission.Write, "/p/a"), permission.Deny},
		"run asks":               {permission.Rules{Mode: permission.ModeEdits}, permission.Request{Tool: "bash", Action: permission.Execute, Detail: "rm -rf /"}, permission.Ask},
		"run allowed by prefix":  {permission.Rules{Allow: rules(t, "bash(git status*)")}, permission.Request{Tool: "bash", Action: permission.Execute, Detail: "git status -s", Commands: []string{"git status -s"}}, permission.Allow},
		"zero action":            {permission.Rules{}, permission.Request{Tool: "x"}, permission.Deny},
	} {
		if got, why := c.r.Decide(c.q); got != c.want || why == "" {
			t.Errorf("%s: Decide(%+v) = %v (%q), want %v", name, c.q, got, why, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, bad := range []string{"", "(x)", "read(a", "read([)"} {
		if r, err := permission.ParseRule(bad); err == nil {
			t.Errorf("ParseRule(%q) = %+v, want an error", bad, r)
		}
	}
	for _, m := range permission.Modes() {
		if got, err := permission.ParseMode(m.String()); err != nil || got != m {
			t.Errorf("ParseMode(%q) = %v, %v", m, got, err)
		}
	}
	if _, err := permission.ParseMode("yolo"); err == nil {
		t.Error(`ParseMode("yolo") was accepted`)
	}
}

func FuzzRule(f *testing.F) {
	f.Add("read(/a/**/b*)", "/a/x/y/bc")
	f.Fuzz(func(t *testing.T, rule, path string) {
		r, err := permission.ParseRule(rule)
		if err != nil {
			return
		}
		if back, err := permission.ParseRule(r.String()); err != nil || back != r {
			t.Errorf("ParseRule(%q) spells back as %+v, %v", rule, back, err)
		}
		v, why := permission.Rules{Deny: []permission.Rule{r}}.Decide(permission.Request{Tool: r.Tool, Action: permission.Read, Path: path, Inside: true})
		if why == "" {
			t.Errorf("verdict %v without a reason", v)
		}
	})
}
