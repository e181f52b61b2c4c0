package permission_test

import (
	"slices"
	"strings"
	"testing"

	"tote/internal/permission"
)

// home is what is closed in these tests.
var closed = []string{"/home/u/.config/tote/keys.json", "/home/u/.local/share/tote"}

// TestLoose has words that may become what is denied: no rule and no mode lets them
// pass without a question.
func TestLoose(t *testing.T) {
	for name, c := range map[string]struct {
		deny, ask, allow string
		q                permission.Request
		want             permission.Verdict // in full mode
	}{
		"a glob of a key":             {q: withPaths(line("cat .e*"), "/p/.e*"), want: permission.Ask},
		"a question mark":             {q: withPaths(line("cat .en?"), "/p/.en?"), want: permission.Ask},
		"a class":                     {q: withPaths(line("cat .[e]nv"), "/p/.[e]nv"), want: permission.Ask},
		"a named class":               {q: withPaths(line("cat .[[:alpha:]]nv"), "/p/.[[:alpha:]]nv"), want: permission.Ask},
		"braces":                      {q: withPaths(opaque("cat .{e,x}nv"), "/p/.{e,x}nv"), want: permission.Ask},
		"braces of nothing":           {q: withPaths(line("gofmt -l {}"), "/p/{}"), want: permission.Allow},
		"a glob of a folder":          {q: withPaths(line("cat ~/.s*/config"), "/home/u/.s*/config"), want: permission.Ask},
		"a glob of all":               {q: withPaths(line("cat *"), "/p/*"), want: permission.Ask},
		"a harmless glob":             {q: withPaths(line("wc -l *.go"), "/p/*.go"), want: permission.Allow},
		"a glob in the folder":        {q: withPaths(line("cat /home/u/.ss?/id"), "/home/u/.ss?/id"), want: permission.Ask},
		"allowed all the same":        {allow: "bash", q: withPaths(line("cat .e*"), "/p/.e*"), want: permission.Ask},
		"allowed by a pattern":        {allow: "bash(cat *)", q: withPaths(line("cat .e*"), "/p/.e*"), want: permission.Ask},
		"opened":                      {allow: "read(.env.*)", q: withPaths(line("cat .env.*"), "/p/.env.*"), want: permission.Allow},
		"a piece of a folder":         {q: line("cat $HOME/.aws/$X"), want: permission.Ask},
		"a glob with an ending":       {q: withPaths(line("cat *.pem"), "/p/*.pe?"), want: permission.Ask},
		"a glob that ends a key":      {q: withPaths(line("cat *rsa"), "/p/*rsa"), want: permission.Ask},
		"folders":                     {q: withPaths(line("cat **/*.go"), "/p/**/*.go"), want: permission.Allow},
		"a rule of the user":          {deny: "read(private/**)", q: withPaths(line("cat pr*/x"), "/p/pr*/x"), want: permission.Ask},
		"a rule that is not met":      {deny: "read(private/**)", q: withPaths(line("cat src/*.go"), "/p/src/*.go"), want: permission.Allow},
		"a variable for a subcommand": {deny: "bash(git push *)", q: line("X=push", "git $X"), want: permission.Ask},
		"one in quotes":               {deny: "bash(git push *)", q: line(`git "$X" origin`), want: permission.Ask},
		"one that vanishes":           {deny: "bash(git push *)", q: line("git $X push"), want: permission.Ask},
		"a setting in front":          {deny: "bash(git push *)", q: line("A=$B /usr/bin/git $X"), want: permission.Ask},
		"one that is asked about":     {ask: "bash(git push *)", q: line("git $X"), want: permission.Ask},
		"another program":             {deny: "bash(git push *)", q: line("go test $X"), want: permission.Allow},
		"another subcommand":          {deny: "bash(git push *)", q: line("git diff $X"), want: permission.Allow},
		"no variable":                 {deny: "bash(git push *)", q: line("git 'a $X'"), want: permission.Allow},
		"a glob for a subcommand":     {deny: "bash(git push *)", q: line("git p*"), want: permission.Ask},
		"a key in a folder":           {q: line("cat $D/.env"), want: permission.Ask},
		"a key behind a home":         {q: line(`cat "$HOME"/.ssh/id_rsa`), want: permission.Ask},
		"a piece of a key":            {q: line("cat .e$X"), want: permission.Ask},
		"an ending of a key":          {q: line("cat ${f}.pem"), want: permission.Ask},
		"a variable alone":            {q: line("cat $f"), want: permission.Allow},
		"a file in a folder":          {q: line("cat $D/main.go"), want: permission.Allow},
		"a variable and a rule":       {deny: "read(private/**)", q: line("cat $f"), want: permission.Ask},
		"only its name":               {deny: "read(private/**)", q: line("echo $f"), want: permission.Allow},
		"a file that is made":         {deny: "edit(**)", q: line("touch n1"), want: permission.Ask},
		"a folder that is made":       {deny: "edit(docs/**)", q: line("mkdir docs"), want: permission.Ask},
		"a patch":                     {deny: "edit(docs/**)", q: line("patch -p1"), want: permission.Ask},
		"a file that is copied":       {deny: "edit(**/*.lock)", q: line("cp a go.lock"), want: permission.Ask},
		"a file of another kind":      {deny: "edit(**/*.lock)", q: line("touch a.txt"), want: permission.Allow},
		"a program that makes none":   {deny: "edit(**)", q: line("ls n1"), want: permission.Allow},
		"tote's keys":                 {allow: "*|read(keys.json)", q: withPaths(line("cat x"), "/home/u/.config/tote/keys.json"), want: permission.Deny},
		"tote's record":               {q: withPaths(line("sqlite3 x"), "/home/u/.local/share/tote/history.db-wal"), want: permission.Deny},
		"in a program":                {q: line("python3 -c 'open(\"/home/u/.config/tote/keys.json\")'"), want: permission.Deny},
		"a glob of tote's keys":       {q: withPaths(line("cat x"), "/home/u/.config/*/k*"), want: permission.Ask},
		"a variable to tote's keys":   {q: line("cat $X/tote/keys.json"), want: permission.Ask},
		"to a file tool":              {allow: "read", q: permission.Request{Tool: "read", Action: permission.Read, Path: "/home/u/.config/tote/keys.json"}, want: permission.Deny},
		"another beginning":           {q: line("python3 -c 'open(\"/home/u/.local/share/tote-x/a\")'"), want: permission.Allow},
		"beside it":                   {q: permission.Request{Tool: "read", Action: permission.Read, Path: "/home/u/.config/tote/config.json"}, want: permission.Allow},
	} {
		r := permission.Rules{Mode: permission.ModeFull, Deny: list(t, c.deny), Ask: list(t, c.ask), Allow: list(t, c.allow), Closed: closed}
		if got, why := r.Decide(c.q); got != c.want || why == "" {
			t.Errorf("%s: %v (%q), want %v", name, got, why, c.want)
		}
		if c.want == permission.Ask && c.ask == "" && !r.Unsure(c.q) {
			t.Errorf("%s: a command of the user could allow it", name)
		}
	}
}

// TestUnresolved: a variable is matched by no rule that allows.
func TestUnresolved(t *testing.T) {
	r := permission.Rules{Allow: rules(t, "bash(git *)", "bash(ls *)")}
	for command, want := range map[string]permission.Verdict{
		"git diff": permission.Allow, "git $X": permission.Ask, `git "$X"`: permission.Ask, "git '$X'": permission.Allow,
		"git diff `x`": permission.Ask, "ls *.go": permission.Allow,
	} {
		if got, why := r.Decide(line(command)); got != want {
			t.Errorf("%s: %v (%s), want %v", command, got, why, want)
		}
	}
}

// TestNames asks a folder what a glob stands for.
func TestNames(t *testing.T) {
	r := permission.Rules{Mode: permission.ModeFull, Names: func(glob string) ([]string, bool) {
		switch glob {
		case "/p/*":
			return []string{"/p/a.go"}, true
		case "/q/*":
			return []string{"/q/a", "/q/server.key"}, true
		}
		return nil, false
	}}
	for _, c := range []struct {
		q    permission.Request
		want permission.Verdict
	}{
		{withPaths(line("cp * /x"), "/p/*", "/x"), permission.Allow},
		{withPaths(line("cat x", "cp * /x"), "/p/*", "/x"), permission.Allow},
		{withPaths(line("unzip a", "cat *"), "/p/*"), permission.Ask},
		{withPaths(line("unzip a", "cp * /x"), "/p/*", "/x"), permission.Ask}, // what is there may change
		{withPaths(line("cat *"), "/q/*"), permission.Deny},
		{withPaths(line("cat *"), "/unknown/*"), permission.Ask},
	} {
		if got, why := r.Decide(c.q); got != c.want {
			t.Errorf("%v %v: %v (%s), want %v", c.q.Commands, c.q.Paths, got, why, c.want)
		}
	}
}

// TestGroups has "edit" and "read" stand for what a user means by them.
func TestGroups(t *testing.T) {
	file := func(tool string, a permission.Action, p string) permission.Request {
		return permission.Request{Tool: tool, Action: a, Path: p, Inside: true}
	}
	for name, c := range map[string]struct {
		deny, allow string
		q           permission.Request
		want        permission.Verdict
	}{
		"edit denies write":         {deny: "edit(src/**)", q: file("write", permission.Write, "/p/src/a"), want: permission.Deny},
		"edit denies another tool":  {deny: "edit", q: file("patch", permission.Write, "/p/a"), want: permission.Deny},
		"write denies edit":         {deny: "write(src/**)", q: file("edit", permission.Write, "/p/src/a"), want: permission.Deny},
		"write denies all edits":    {deny: "write", q: file("edit", permission.Write, "/p/src/a"), want: permission.Deny},
		"edit allows write":         {allow: "edit(src/**)", q: file("write", permission.Write, "/p/src/a"), want: permission.Allow},
		"write allows itself only":  {allow: "write(src/**)", q: file("edit", permission.Write, "/p/src/a"), want: permission.Ask},
		"edit allows no reading":    {allow: "edit", q: permission.Request{Tool: "read", Action: permission.Read, Path: "/x"}, want: permission.Ask},
		"read denies grep":          {deny: "read(private/**)", q: file("grep", permission.Read, "/p/private"), want: permission.Deny},
		"read denies pictures":      {deny: "read(private/**)", q: file("view_image", permission.Read, "/p/private/a.png"), want: permission.Deny},
		"read allows list":          {allow: "read(/srv/**)", q: permission.Request{Tool: "list", Action: permission.Read, Path: "/srv/a"}, want: permission.Allow},
		"read of names, not deeper": {allow: "read(/srv/*)", q: permission.Request{Tool: "grep", Action: permission.Read, Path: "/srv/a"}, want: permission.Ask},
		"a folder is all in it":     {deny: "edit(src)", q: file("edit", permission.Write, "/p/src/a/b"), want: permission.Deny},
		"a written name":            {deny: "edit(link)", q: permission.Request{Tool: "write", Action: permission.Write, Path: "/p/x", Paths: []string{"/p/link"}, Inside: true}, want: permission.Deny},
		"a redirection":             {deny: "edit(src/**)", allow: "bash", q: withPaths(line("echo x", "> src/a"), "/p/src/a"), want: permission.Deny},
		"a hidden redirection":      {deny: "edit(.secret)", allow: "bash", q: withPaths(line("echo x", "> ./.secret"), "/p/.secret"), want: permission.Deny},
		"all redirections":          {deny: "edit", allow: "bash", q: withPaths(line("echo x", "> a"), "/p/a"), want: permission.Deny},
		"another redirection":       {deny: "edit(src/**)", allow: "bash", q: withPaths(line("echo x", "> b"), "/p/b"), want: permission.Allow},
		"a command that may write":  {deny: "edit(src/**)", allow: "bash", q: withPaths(line("sed -i x src/a"), "/p/src/a"), want: permission.Ask},
		"a command that reads":      {deny: "edit(src/**)", allow: "bash", q: withPaths(line("cat src/a"), "/p/src/a"), want: permission.Allow},
		"no file":                   {deny: "read", q: permission.Request{Tool: "todo", Action: permission.Read}, want: permission.Allow},
	} {
		r := permission.Rules{Deny: list(t, c.deny), Allow: list(t, c.allow)}
		if got, why := r.Decide(c.q); got != c.want {
			t.Errorf("%s: %v (%s), want %v", name, got, why, c.want)
		}
	}
}

// TestDead refuses patterns that match nothing.
func TestDead(t *testing.T) {
	for _, bad := range []string{
		"read(./src/**)", "read(~/x)", "edit(src/)", "edit(a//b)", "read(../x)", "read(src/**.go)", "bash( git push)", "bash(git  push)", "bash(git push )",
	} {
		if r, err := permission.ParseRule(bad); err == nil || len(err.Error()) < 40 {
			t.Errorf("ParseRule(%q) = %+v, %v", bad, r, err)
		}
	}
	for s, ok := range map[string]bool{
		"bash(git push *)": true, "bash(cd x && make)": false, "bash(a | b)": false, "bash(a; b)": false, "bash(echo $X)": false, "bash(echo '$X; y')": true,
		`bash(echo "$X")`: false, "bash(> *)": true, "read(a&b)": true, "bash(git commit -m 'a  b')": true,
	} {
		r, err := permission.ParseRule(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.CheckAllow(); (err == nil) != ok {
			t.Errorf("CheckAllow of %s: %v", s, err)
		}
	}
}

func TestLooser(t *testing.T) {
	edit := permission.Request{Tool: "edit", Action: permission.Write, Path: "/p/a", Inside: true}
	outside := edit
	outside.Inside = false
	for name, c := range map[string]struct {
		r    permission.Rules
		q    permission.Request
		want []permission.Mode
	}{
		"an edit":             {permission.Rules{}, edit, []permission.Mode{permission.ModeEdits, permission.ModeFull}},
		"outside":             {permission.Rules{}, outside, []permission.Mode{permission.ModeFull}},
		"a command":           {permission.Rules{}, line("make"), []permission.Mode{permission.ModeFull}},
		"a rule asks":         {permission.Rules{Ask: rules(t, "edit")}, edit, nil},
		"in edits, a command": {permission.Rules{Mode: permission.ModeEdits}, line("make"), []permission.Mode{permission.ModeFull}},
		"in full":             {permission.Rules{Mode: permission.ModeFull, Ask: rules(t, "edit")}, edit, nil},
		"a steering file":     {permission.Rules{}, permission.Request{Tool: "edit", Action: permission.Write, Path: "/p/.git/x", Inside: true}, []permission.Mode{permission.ModeFull}},
	} {
		if got := c.r.Looser(c.q); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func FuzzLoose(f *testing.F) {
	f.Add("git $X", "/p/.e*", "bash(git push *)")
	f.Add("cat ${a:-${b}}/x`y", "/p/[[:x:]]/{a,b/c}", "read(a/**/b[c]*)")
	f.Fuzz(func(t *testing.T, command, name, rule string) {
		r, err := permission.ParseRule(rule)
		if err != nil {
			return
		}
		q := withPaths(line(command), name)
		rules := permission.Rules{Mode: permission.ModeFull, Deny: []permission.Rule{r}, Closed: closed}
		v, why := rules.Decide(q)
		if why == "" {
			t.Error("no reason")
		}
		// What a rule denies by the letter is denied.
		if r.Matches(q) && v != permission.Deny {
			t.Errorf("%q %q %q: %v", command, name, rule, v)
		}
		if strings.ContainsAny(command, "$`'\"\\*?[") || strings.ContainsAny(name, "*?[{") || name == "" {
			return
		}
		// What is written out is judged by what is written.
		if v == permission.Ask && r.Tool != "edit" && r.Tool != "write" {
			t.Errorf("%q %q %q: %v %s", command, name, rule, v, why)
		}
	})
}

func BenchmarkLoose(b *testing.B) {
	b.ReportAllocs()
	r := permission.Rules{Mode: permission.ModeFull, Deny: []permission.Rule{{Tool: "bash", Pattern: "git push *"}, {Tool: "read", Pattern: "private/**"}}}
	q := withPaths(line("git diff $X", "grep -n foo src/*.go"), "/p/src/*.go")
	for b.Loop() {
		r.Decide(q)
	}
}
