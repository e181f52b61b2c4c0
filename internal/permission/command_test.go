package permission_test

import (
	"strings"
	"testing"

	"tote/internal/permission"
)

// line is a request to run commands.
func line(commands ...string) permission.Request {
	return permission.Request{Tool: "bash", Action: permission.Execute, Detail: strings.Join(commands, "; "), Commands: commands}
}

func opaque(commands ...string) permission.Request {
	q := line(commands...)
	q.Opaque = true
	return q
}

func TestCommands(t *testing.T) {
	unparsed := permission.Request{Tool: "bash", Action: permission.Execute, Detail: "git diff | $(x"}
	for name, c := range map[string]struct {
		deny, ask, allow string
		q                permission.Request
		want             permission.Verdict
	}{
		"with arguments":           {allow: "bash(git diff *)", q: line("git diff -s"), want: permission.Allow},
		"without arguments":        {allow: "bash(git diff *)", q: line("git diff"), want: permission.Allow},
		"another word":             {allow: "bash(git diff *)", q: line("git difftool"), want: permission.Ask},
		"no boundary":              {allow: "bash(git*)", q: line("github x"), want: permission.Allow},
		"exact":                    {allow: "bash(go test ./...)", q: line("go test ./..."), want: permission.Allow},
		"exact and more":           {allow: "bash(go test ./...)", q: line("go test ./... -exec x"), want: permission.Ask},
		"every command":            {allow: "bash(git *)|bash(go test *)", q: line("git diff", "go test ./..."), want: permission.Allow},
		"one is not":               {allow: "bash(git *)", q: line("git diff", "rm -rf ."), want: permission.Ask},
		"a filter":                 {allow: "bash(go test *)", q: line("go test ./...", "grep -v 'no test'", "tail -n 20", "wc -l"), want: permission.Allow},
		"filters alone":            {allow: "bash(go test *)", q: line("head -5", "wc"), want: permission.Ask},
		"a filter of files":        {allow: "bash(go test *)", q: line("go test", "grep -r x"), want: permission.Ask},
		"a filter of a glob":       {allow: "bash(go test *)", q: line("go test", "grep *"), want: permission.Ask},
		"a filter of a variable":   {allow: "bash(go test *)", q: line("go test", "grep $X"), want: permission.Ask},
		"a file":                   {allow: "bash(echo *)", q: line("echo x", "> /etc/passwd"), want: permission.Ask},
		"a file that is allowed":   {allow: "bash(echo *)|bash(> *)", q: line("echo x", "> out.txt"), want: permission.Allow},
		"settings":                 {allow: "bash(git diff *)", q: line("GIT_EXTERNAL_DIFF=x git diff"), want: permission.Ask},
		"settings are no cover":    {deny: "bash(rm *)", q: line("A='x y' B=2 /bin/rm -rf x"), want: permission.Deny},
		"a folder is no cover":     {deny: "bash(rm *)", q: line("ls", "/bin/rm -rf x"), want: permission.Deny},
		"asked behind":             {ask: "bash(git push *)", allow: "bash", q: line("ls", "git push"), want: permission.Ask},
		"the whole line":           {deny: "bash(*; rm *)", q: line("ls", "rm x"), want: permission.Deny},
		"opaque":                   {allow: "bash(git *)", q: opaque("git diff"), want: permission.Ask},
		"opaque, all":              {allow: "bash", q: opaque("git diff"), want: permission.Allow},
		"opaque, star":             {allow: "bash(*)", q: opaque("git diff"), want: permission.Ask},
		"opaque, denied":           {deny: "bash(rm *)", q: opaque("ls", "rm x"), want: permission.Deny},
		"unparsed":                 {allow: "bash(git *)|bash(*)", q: unparsed, want: permission.Ask},
		"unparsed, all":            {allow: "bash", q: unparsed, want: permission.Allow},
		"unparsed, denied":         {deny: "bash(git *)", q: unparsed, want: permission.Deny},
		"nothing":                  {allow: "bash(*)", q: permission.Request{Tool: "bash", Action: permission.Execute, Commands: []string{}}, want: permission.Ask},
		"a star":                   {allow: `bash(ls \*.go)`, q: line("ls *.go"), want: permission.Allow},
		"a star is no any":         {allow: `bash(ls \*.go)`, q: line("ls x.go"), want: permission.Ask},
		"many lines":               {allow: "bash(git commit *)", q: line("git commit -m 'a\n\nb'"), want: permission.Allow},
		"a folder with a star":     {allow: "bash(./bin/* *)", q: line("./bin/lint x"), want: permission.Allow},
		"a rule for every tool":    {allow: "*(ls *)", q: line("ls x"), want: permission.Allow},
		"read is denied there":     {deny: "read(/p/private/**)", q: withPaths(line("cat x"), "/p/private/x"), want: permission.Deny},
		"denied for every tool":    {deny: "*(private/**)", q: withPaths(line("cat x"), "/p/private/x"), want: permission.Deny},
		"a key":                    {allow: "bash|read", q: withPaths(line("cat .env"), "/p/.env"), want: permission.Deny},
		"a key that read may have": {allow: "bash|read(.env)", q: withPaths(line("cat .env"), "/p/.env"), want: permission.Allow},
		"a key that cat may have":  {allow: "bash(cat .env)", q: withPaths(line("cat .env"), "/p/.env"), want: permission.Allow},
		"a key in another command": {allow: "bash(cat .env)", q: withPaths(line("cat .env", "curl x"), "/p/.env"), want: permission.Deny},
	} {
		r := permission.Rules{Deny: list(t, c.deny), Ask: list(t, c.ask), Allow: list(t, c.allow)}
		if got, why := r.Decide(c.q); got != c.want || why == "" {
			t.Errorf("%s: %v (%q), want %v", name, got, why, c.want)
		}
	}
}

func withPaths(q permission.Request, paths ...string) permission.Request {
	q.Paths = paths
	return q
}

// list reads rules that bars separate.
func list(t *testing.T, s string) []permission.Rule {
	t.Helper()
	if s == "" {
		return nil
	}
	return rules(t, strings.Split(s, "|")...)
}

func TestSuggest(t *testing.T) {
	read := func(p string) permission.Request {
		return permission.Request{Tool: "read", Action: permission.Read, Path: p}
	}
	fetch := func(u string) permission.Request {
		return permission.Request{Tool: "fetch", Action: permission.Fetch, Detail: u}
	}
	for want, q := range map[string]permission.Request{
		"read(/srv/data/x/a.txt)":        read("/srv/data/x/a.txt"),
		"read(/srv/data/x/y/**)":         read("/srv/data/x/y/a.txt"),
		`read(/srv/a\[1\*]/b/c/**)`:      read("/srv/a[1*]/b/c/d"),
		`read(/srv/a\[1\*]/b)`:           read("/srv/a[1*]/b"),
		"read(/etc/hosts)":               read("/etc/hosts"),
		"read(/etc/a/b/c/d)":             read("/etc/a/b/c/d"),
		"read(/home/u/notes)":            read("/home/u/notes"),
		"read(/home/u/p/notes)":          read("/home/u/p/notes"),
		"read(/home/u/.config/x/y/z)":    read("/home/u/.config/x/y/z"),
		"read(/usr/lib/go/src/fmt/a.go)": read("/usr/lib/go/src/fmt/a.go"),
		"read(C:/Users/u/p/a)":           read("C:/Users/u/p/a"),
		"read(C:/Users/u/p/q/**)":        read("C:/Users/u/p/q/a"),
		"read(C:/Windows/a/b/c/d)":       read("C:/Windows/a/b/c/d"),
		"list(/srv/data/x)":              {Tool: "list", Action: permission.Read, Path: "/srv/data/x"},
		"list(/srv/data/x/y/**)":         {Tool: "list", Action: permission.Read, Path: "/srv/data/x/y"},
		"bash(git status *)":             line("git status -s"),
		"bash(git rev-parse *)":          line("git rev-parse HEAD"),
		"bash(git diff --stat)":          line("git diff --stat"),
		"bash(git grep x)":               line("git grep x"),
		"bash(git fetch)":                line("git fetch"),
		"bash(git log -5)":               line("git log -5", "head -3"),
		"bash(git branch)":               line("git branch"),
		"bash(git worktree list)":        line("git worktree list"),
		"bash(go test ./...)":            line("go test ./...", "tail -5"),
		"bash(go vet ./...)":             line("go vet ./..."),
		"bash(go build ./...)":           line("go build ./..."),
		"bash(npm run build)":            line("npm run build"),
		"bash(npm create x)":             line("npm create x"),
		"bash(npx x)":                    line("npx x"),
		"bash(pip install x)":            line("pip install x"),
		"bash(gh pr list)":               line("gh pr list"),
		"bash(cargo run)":                line("cargo run"),
		"bash(dotnet run)":               line("dotnet run"),
		"bash(bun test)":                 line("bun test"),
		"bash(docker compose up)":        line("docker compose up"),
		"bash(kubectl exec p ls)":        line("kubectl exec p ls"),
		"bash(make test)":                line("make test"),
		"bash(make)":                     line("make"),
		"bash(make A=1)":                 line("make A=1"),
		"bash(git push origin main)":     line("git push origin main"),
		"bash(git -C x diff)":            line("git -C x diff"),
		`bash(ls \*.go)`:                 line("ls *.go"),
		"bash(python3 x.py)":             line("python3 x.py"),
		"fetch(domain:docs.rs)":          fetch("https://Docs.rs/std/"),
		"fetch(domain:localhost:81)":     fetch("http://localhost:81/x"),
		"fetch(domain:[::1]:81)":         fetch("http://[::1]:81/x"),
		"mcp__git__log":                  {Tool: "mcp__git__log", Action: permission.Call},
		"write(/home/u/p/q/**)":          {Tool: "write", Action: permission.Write, Path: "/home/u/p/q/x.go", Inside: true},
		"write(/home/u/p/x.go)":          {Tool: "write", Action: permission.Write, Path: "/home/u/p/x.go", Inside: true},
		"bash(/opt/tool/bin/lint -q)":    line("/opt/tool/bin/lint -q"),
	} {
		got := permission.Suggest(q)
		if got.String() != want {
			t.Errorf("Suggest(%+v) = %s, want %s", q, got, want)
		}
		if back, err := permission.ParseRule(got.String()); err != nil || back != got {
			t.Errorf("ParseRule(%q) = %+v, %v", got, back, err)
		}
		if v, why := (permission.Rules{Allow: []permission.Rule{got}}).Decide(q); v != permission.Allow {
			t.Errorf("%s does not allow what it was suggested for: %v, %s", got, v, why)
		}
	}
	for _, q := range []permission.Request{
		read("/p/.env"), line("rm x"), line("/bin/rm x"), line("sudo ls"), line("sh -c ls"), line("bash"), line("eval ls"), line("python3 -c 'x'"),
		line("node -e x"), line("perl -ne x"), line("awk '{system(1)}'"), line("ls", "> /etc/x"), line("git diff", "go test"), opaque("git diff"), line(),
		line("A=1 make"), line("A=1"), line("make $X"), line("npm run build", "npm run test"), line("head -5"), line("xargs ls"), withPaths(line("cat .env"), "/p/.env"), fetch("https://u@docs.rs/"),
		fetch("file:///etc/passwd"), fetch("gpt-x"),
		{Tool: "task", Action: permission.Delegate},
		{Tool: "bash", Action: permission.Execute, Detail: "x $(y"},
	} {
		if got := permission.Suggest(q); got != (permission.Rule{}) {
			t.Errorf("Suggest(%+v) = %s, want nothing", q, got)
		}
	}
}

func FuzzSuggest(f *testing.F) {
	for _, s := range []string{"git diff", "ls *.go", "A='x y' make", `echo \*`, "grep 'a\x00b'", "make :*"} {
		f.Add(s, "")
		f.Add(s, "tail -5")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		q := line(a, b)
		got := permission.Suggest(q)
		if got == (permission.Rule{}) {
			return
		}
		if back, err := permission.ParseRule(got.String()); err != nil || back != got {
			t.Errorf("ParseRule(%q) = %+v, %v", got, back, err)
		}
		if v, _ := (permission.Rules{Allow: []permission.Rule{got}}).Decide(q); v != permission.Allow {
			t.Errorf("%s does not allow %q", got, q.Commands)
		}
	})
}
