package permission_test

import (
	"strings"
	"testing"

	"tote/internal/permission"
)

func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		rule, address string
		allow, deny   bool
	}{
		{"https://docs.rs/*", "https://docs.rs/std", true, true},
		{"https://docs.rs/*", "https://DOCS.rs.:443/", true, true},
		{"https://docs.rs/*", "https://docs.rs", true, true},
		{"https://docs.rs/*", "https://docs.rs/std?a=b", true, true},
		{"https://docs.rs/*", "http://docs.rs/std", false, false},
		{"https://docs.rs/*", "https://docs.rs:8443/std", false, false},
		{"https://docs.rs/*", "https://docs.rs.evil.com/std", false, false},
		{"https://docs.rs/*", "https://evil.com/https://docs.rs/x", false, false},
		{"https://docs.rs/*", "https://docs.rs@evil.com/std", false, false},
		{"https://docs.rs/*", "https://docs.rs:x@evil.com/", false, false},
		{"https://docs.rs/*", "https://me:pw@docs.rs/std", false, true},
		{"https://docs.rs/*", `https://docs.rs\@evil.com/`, false, false},
		{"https://docs.rs/*", "https://evil.com#https://docs.rs/", false, false},
		{"https://docs.rs/a/*", "https://docs.rs/a/../b", false, false},
		{"https://docs.rs/a/*", "https://docs.rs/a/%2e%2E/b", false, false},
		{"https://docs.rs/b", "https://docs.rs/a/%2e%2E/b", true, true},
		{"https://docs.rs", "https://docs.rs/a", false, false},
		{"docs.rs/a*", "https://docs.rs/ab", true, true},
		{"docs.rs/a*", "http://docs.rs/ab", false, false},
		{"http://localhost:*/x", "http://localhost:3000/x", true, true},
		{"https://*.rs/*", "https://docs.rs/", true, true},
		{"https://*.rs/*", "https://rs/", false, false},
		{"https://*/*", "https://any/x", true, true},
		{"domain:docs.rs", "http://docs.rs/x", true, true},
		{"domain:docs.rs", "https://docs.rs:9000/x", false, false},
		{"domain:docs.rs:9000", "https://docs.rs:9000/x", true, true},
		{"domain:docs.rs", "https://x.docs.rs/x", false, false},
		{"domain:docs.rs", "https://docs.rs@evil.com/", false, false},
		{"domain:*.rs", "https://a.docs.rs/", true, true},
		{"domain:*.docs.rs", "https://evildocs.rs/", false, false},
		{"domain:docs.rs", "ftp://docs.rs/", false, false},
		{"domain:docs.rs", "https://docs.rs/\x00", false, false},
	} {
		rule := rules(t, "fetch("+c.rule+")")
		q := permission.Request{Tool: "fetch", Action: permission.Fetch, Detail: c.address}
		if v, _ := (permission.Rules{Allow: rule}).Decide(q); (v == permission.Allow) != c.allow {
			t.Errorf("allow %s: %s is %v", rule[0], c.address, v)
		}
		if v, _ := (permission.Rules{Deny: rule}).Decide(q); (v == permission.Deny) != c.deny {
			t.Errorf("deny %s: %s is %v", rule[0], c.address, v)
		}
	}
	probe := permission.Request{Tool: "probe", Action: permission.Fetch, Detail: "local/gemma"}
	if v, _ := (permission.Rules{Allow: rules(t, "probe(local/*)")}).Decide(probe); v != permission.Allow {
		t.Errorf("a probe: %v", v)
	}
}

func TestOutsideTools(t *testing.T) {
	for rule, want := range map[string]string{
		"mcp__git":         "mcp__git__log mcp__git__a__b",
		"mcp__git__*":      "mcp__git__log mcp__git__a__b",
		"mcp__git__log":    "mcp__git__log",
		"mcp__git__a":      "",
		"mcp__git__a__*":   "mcp__git__a__b",
		"mcp__gi":          "",
		"mcp__git__log(x)": "mcp__git__log",
		"mcp__git(y*)":     "",
		"*":                "mcp__git__log mcp__git__a__b",
	} {
		var got []string
		for _, name := range []string{"mcp__git__log", "mcp__git__a__b"} {
			q := permission.Request{Tool: name, Action: permission.Call, Detail: strings.TrimPrefix(name, "mcp__git__a__")}
			if name == "mcp__git__log" {
				q.Detail = "x"
			}
			if v, _ := (permission.Rules{Allow: rules(t, rule)}).Decide(q); v == permission.Allow {
				got = append(got, name)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s allows %q, want %q", rule, s, want)
		}
	}
}

// TestByMode is what every mode makes of a request that no rule is about.
func TestByMode(t *testing.T) {
	for name, c := range map[string]struct {
		q permission.Request
		// want is for ask, edits, plan and full.
		want [4]permission.Verdict
	}{
		"call":      {permission.Request{Tool: "m", Action: permission.Call}, [4]permission.Verdict{permission.Ask, permission.Ask, permission.Deny, permission.Allow}},
		"look":      {permission.Request{Tool: "m", Action: permission.Call, ReadOnly: true}, [4]permission.Verdict{permission.Ask, permission.Ask, permission.Ask, permission.Allow}},
		"delegate":  {permission.Request{Tool: "task", Action: permission.Delegate}, [4]permission.Verdict{permission.Allow, permission.Allow, permission.Allow, permission.Allow}},
		"run":       {line("ls"), [4]permission.Verdict{permission.Ask, permission.Ask, permission.Deny, permission.Allow}},
		"read-only": {permission.Request{Tool: "w", Action: permission.Write, ReadOnly: true}, [4]permission.Verdict{permission.Ask, permission.Allow, permission.Deny, permission.Allow}},
		"fetch":     {permission.Request{Tool: "fetch", Action: permission.Fetch, Detail: "https://x/"}, [4]permission.Verdict{permission.Ask, permission.Ask, permission.Deny, permission.Allow}},
		"unknown":   {permission.Request{Tool: "x", Action: 77}, [4]permission.Verdict{}},
		"none":      {permission.Request{Tool: "x"}, [4]permission.Verdict{}},
		"a key":     {withPaths(line("cat .env"), "/p/.env"), [4]permission.Verdict{}},
	} {
		for i, m := range permission.Modes() {
			if got, why := (permission.Rules{Mode: m}).Decide(c.q); got != c.want[i] {
				t.Errorf("%s in mode %v: %v (%s), want %v", name, m, got, why, c.want[i])
			}
		}
	}
	q := permission.Request{Tool: "task", Action: permission.Delegate}
	if v, _ := (permission.Rules{Mode: permission.ModeFull, Ask: rules(t, "task")}).Decide(q); v != permission.Ask {
		t.Errorf("a rule that asks about a task: %v", v)
	}
}

func TestKeys(t *testing.T) {
	for p, secret := range map[string]bool{
		"/p/.env": true, "/p/.ENV": true, "/p/.env.local": true, "/p/.env.example": false, "/p/.env.sample": false, "/p/.env.template": false,
		"/p/a.p12": true, "/p/a.PFX": true, "/p/x.keystore": true, "/h/.git-credentials": true, "/h/.docker/config.json": true, "/p/config.json": false,
		"/h/.kube/config": true, "/p/id_ed25519": true, "/p/id_ed25519.pub": false, "/h/.ssh/id_rsa.pub": false, "/h/.ssh": true, "/p/id_map.go": false,
		"/proc/1/environ": true, "C:/Users/u/.ssh/id_rsa": true, "/p/.env/bin/x": false, "": false, "/": false,
	} {
		q := permission.Request{Tool: "read", Action: permission.Read, Path: p, Inside: true}
		if v, _ := (permission.Rules{Mode: permission.ModeFull}).Decide(q); (v == permission.Deny) != secret {
			t.Errorf("%s: %v", p, v)
		}
	}
	q := permission.Request{Tool: "read", Action: permission.Read, Path: "/p/.env.local", Inside: true}
	for rule, opens := range map[string]bool{
		"read": false, "*": false, "read(/p/**)": false, "read(*)": false, "read(.env.*)": true, "read(/p/.env.local)": true, "*(.env.local)": true, "write(.env.*)": false,
	} {
		if v, _ := (permission.Rules{Allow: rules(t, rule)}).Decide(q); (v == permission.Allow) != opens {
			t.Errorf("%s: %v", rule, v)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for s, want := range map[string]string{
		"":                           "no tool name",
		"(x)":                        "no tool name",
		"read(a":                     "no closing parenthesis",
		"read([)":                    "bracket",
		"read( )":                    "pattern is empty",
		"re ad(x)":                   `no ' '`,
		"mcp__*":                     "",
		"r*":                         "a star stands alone",
		"bash(git diff:*)":           `"git diff *"`,
		"fetch(https://docs.rs*)":    "first labels",
		"fetch(https:///x)":          "no host",
		"fetch(https://u@docs.rs/)":  "no host has",
		"fetch(ftp://docs.rs/)":      "https://",
		"fetch(domain:docs.rs:x)":    "port",
		"bash(test [ -f x ])":        "",
		"bash(echo (a))":             "",
		strings.Repeat("x", 5000):    "longer than",
		"read(a)b":                   "closing parenthesis at the end",
		"attach(domain:docs.rs/std)": "no host has",
	} {
		_, err := permission.ParseRule(s)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("ParseRule(%.40q): %v, want %q", s, err, want)
		}
	}
}

// Patterns take no time beyond the product of the lengths.
func TestPatternsEnd(t *testing.T) {
	deep := "/" + strings.Repeat("a/", 400) + "b"
	q := permission.Request{Tool: "read", Action: permission.Read, Path: deep, Inside: true}
	if rules(t, "read("+strings.Repeat("**/a/", 300)+"c)")[0].Matches(q) {
		t.Error("it matched")
	}
	if rules(t, "bash("+strings.Repeat("*a", 300)+"c)")[0].Matches(line(strings.Repeat("a", 3000))) {
		t.Error("it matched")
	}
}

func FuzzMatches(f *testing.F) {
	for _, c := range [][2]string{
		{"bash(git *)", "git diff"},
		{"fetch(https://docs.rs/*)", "https://docs.rs/x"},
		{"fetch(domain:*.rs)", "https://u:p@[::1]:80/../x"},
		{"*(**/x)", "/a/x"},
		{"mcp__a__*", "x"},
		{`bash(\*\)`, `*\`},
	} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, rule, what string) {
		r, err := permission.ParseRule(rule)
		if err != nil {
			return
		}
		for _, q := range []permission.Request{
			line(what, what),
			{Tool: "fetch", Action: permission.Fetch, Detail: what},
			{Tool: "read", Action: permission.Read, Path: what, Inside: true},
			{Tool: "mcp__a__b", Action: permission.Call, Detail: what},
		} {
			allow, _ := permission.Rules{Allow: []permission.Rule{r}}.Decide(q)
			deny, _ := permission.Rules{Deny: []permission.Rule{r}}.Decide(q)
			if allow == permission.Allow && q.Action != permission.Read && deny != permission.Deny {
				t.Errorf("%s allows %+v, and does not deny it", r, q)
			}
		}
	})
}
