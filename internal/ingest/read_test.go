package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"tote/internal/content"
	"tote/internal/ingest"
)

func model(p content.Payload) content.Source {
	return content.Source{Payload: p, Inlet: content.InletTool, Chooser: content.ChosenByModel}
}

// link makes a symbolic link, or skips where the system forbids them.
func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		if runtime.GOOS == "windows" {
			t.Skipf("symbolic links need a privilege on Windows: %v", err)
		}
		t.Fatal(err)
	}
}

// asker records what it was asked.
type asker struct {
	answer bool
	err    error
	asked  []string
}

func (a *asker) ask(_ context.Context, p string) (bool, error) {
	a.asked = append(a.asked, p)
	return a.answer, a.err
}

func TestB55WhoChoseThePath(t *testing.T) {
	base := realDir(t)
	project := filepath.Join(base, "project")
	write(t, project, "in.txt", []byte("inside"))
	write(t, project, "home/key.txt", []byte("forbidden inside"))
	out := write(t, base, "desk/out.txt", []byte("outside"))
	key := write(t, base, "tote/key.txt", []byte("forbidden"))
	link(t, filepath.Join(base, "desk"), filepath.Join(project, "way-out"))
	link(t, out, filepath.Join(project, "out-link.txt"))
	link(t, "in.txt", filepath.Join(project, "in-link.txt"))
	link(t, filepath.Join(project, "in.txt"), filepath.Join(project, "abs-link.txt"))
	link(t, filepath.Join(base, "tote"), filepath.Join(project, "to-tote"))
	link(t, filepath.Join(project, "loop"), filepath.Join(project, "loop"))

	in := ingest.New(newMemory(), ingest.Options{Home: base})
	scope := ingest.Scope{
		Cwd: project, Roots: []string{project},
		Forbidden: []string{filepath.Join(base, "tote"), filepath.Join(project, "home"), filepath.Join(base, "absent")},
	}
	ok, denied, gone := content.FaultNone, content.FaultDenied, content.FaultNotFound
	user, acpUser := content.Source{Inlet: content.InletDrop, Chooser: content.ChosenByUser}, content.Source{Inlet: content.InletACP, Chooser: content.ChosenByUser}
	tool, mcp := content.Source{Inlet: content.InletTool, Chooser: content.ChosenByModel}, content.Source{Inlet: content.InletMCP, Chooser: content.ChosenByTool}
	for _, c := range []struct {
		who      content.Source
		path     string
		no, yes  content.Fault // without permission, with it
		question string        // "" for none
	}{
		{user, out, ok, ok, ""},
		{user, key, ok, ok, ""},
		{user, "~/desk/out.txt", ok, ok, ""},
		{user, "absent", gone, gone, ""},
		{acpUser, "in.txt", ok, ok, ""},
		{acpUser, out, denied, ok, out},
		{acpUser, "way-out/out.txt", denied, ok, out},
		{acpUser, "../desk/out.txt", denied, ok, out},
		{acpUser, filepath.Join(base, "absent"), gone, gone, ""},
		{tool, "in.txt", ok, ok, ""},
		{tool, "in-link.txt", ok, ok, ""},
		{tool, "abs-link.txt", ok, ok, ""},
		{tool, "absent.txt", gone, gone, ""},
		{tool, "loop", content.FaultUnreadable, content.FaultUnreadable, ""},
		{tool, out, denied, ok, out},
		{tool, "../desk/out.txt", denied, ok, out},
		{tool, fileURI(out), denied, ok, out},
		{tool, "way-out/out.txt", denied, ok, out},
		{tool, "out-link.txt", denied, ok, out},
		{tool, filepath.Join(base, "absent"), denied, gone, filepath.Join(base, "absent")},
		{tool, "way-out/absent", denied, gone, filepath.Join(project, "way-out", "absent")},
		{tool, key, denied, denied, ""},
		{tool, "to-tote/key.txt", denied, denied, ""},
		{tool, "home/key.txt", denied, denied, ""},
		{mcp, "in.txt", ok, ok, ""},
		{mcp, out, denied, ok, out},
		{content.Source{Inlet: content.InletTool}, "in.txt", denied, denied, ""},
	} {
		name := c.who.Inlet.String() + " " + strings.TrimPrefix(c.path, base)
		source := c.who
		source.Payload = content.Path{Path: c.path}
		for _, answer := range []*asker{nil, {answer: false}, {answer: true}, {err: errors.New("gone")}} {
			sc, want := scope, c.no
			if answer != nil {
				sc.Ask = answer.ask
				if answer.answer {
					want = c.yes
				}
			}
			a := attachment(t, takeOne(t, in, source, sc))
			if a.Fault != want {
				t.Errorf("%s, %+v: %s (%s), want %s", name, answer, a.Fault, a.Detail, want)
			}
			if answer != nil && strings.Join(answer.asked, " ") != c.question {
				t.Errorf("%s: asked %q, want %q", name, answer.asked, c.question)
			}
			if a.Fault == ok && !filepath.IsAbs(a.Origin.Path) {
				t.Errorf("%s: origin %q", name, a.Origin.Path)
			}
		}
	}
}

func TestB55Links(t *testing.T) {
	base := realDir(t)
	project := filepath.Join(base, "project")
	write(t, project, "a.png", picture())
	write(t, project, "C#/a b.txt", []byte("text"))
	out := write(t, base, "out.txt", []byte("outside"))
	in := ingest.New(newMemory(), ingest.Options{})
	sc := ingest.Scope{Cwd: project, Roots: []string{project}}
	for _, c := range []struct {
		uri    string
		source content.Source
		fault  content.Fault
		kind   content.Kind // of the second block, 0 for none
	}{
		{fileURI(filepath.Join(project, "a.png")), acp(nil, 0, ""), 0, content.KindImage},
		{filepath.Join(project, "a.png"), acp(nil, 0, ""), 0, content.KindImage},
		{fileURI(filepath.Join(project, "a.png")) + "#L1", acp(nil, 0, ""), 0, content.KindImage},
		{fileURI(project) + "/C#/a b.txt", acp(nil, 0, ""), 0, content.KindResourceText},
		{fileURI(project), acp(nil, 0, ""), content.FaultUnreadable, 0},
		{fileURI(filepath.Join(project, "absent")), acp(nil, 0, ""), content.FaultNotFound, 0},
		{fileURI(out), acp(nil, 0, ""), content.FaultDenied, 0},
		{fileURI(out), model(nil), content.FaultDenied, 0},
		{fileURI(filepath.Join(project, "a.png")), content.Source{Inlet: content.InletMCP, Chooser: content.ChosenByTool}, 0, content.KindImage},
		{"https://example.invalid/a.png", acp(nil, 0, ""), 0, 0},
		{"zed:///thread/1", acp(nil, 0, ""), 0, 0},
		{"a.png", acp(nil, 0, ""), 0, 0},
		{"", acp(nil, 0, ""), 0, 0},
		{"file://other-computer/x", acp(nil, 0, ""), content.FaultBadPayload, 0},
	} {
		s := c.source
		s.Payload = content.Link{URI: c.uri, Name: "n", Title: "t", Description: "d", MIME: "image/png", Size: 7}
		s.As = content.KindResourceLink
		blocks, _ := take(t, in, s, sc)
		got, ok := blocks[0].(content.ResourceLink)
		want := content.ResourceLink{
			Origin: content.Origin{Inlet: s.Inlet, Chooser: s.Chooser}, URI: c.uri, Name: "n", Title: "t", Description: "d",
			MIME: "image/png", Size: 7, Fault: c.fault, Detail: got.Detail,
		}
		if !ok || !cmp.Equal(got, want) || (c.fault != 0) != (got.Detail != "") {
			t.Errorf("%s: %s", c.uri, cmp.Diff(want, got))
		}
		switch {
		case c.kind == 0 && len(blocks) != 1:
			t.Errorf("%s: %d blocks", c.uri, len(blocks))
		case c.kind != 0 && (len(blocks) != 2 || blocks[1].Kind() != c.kind):
			t.Errorf("%s: %d blocks", c.uri, len(blocks))
		case c.kind != 0:
			if a := attachment(t, blocks[1]); a.Origin.Path == "" || a.Name != filepath.Base(a.Origin.Path) || a.Declared != "image/png" {
				t.Errorf("%s: %+v", c.uri, a)
			}
		}
	}
}

func TestB62UnicodeNames(t *testing.T) {
	dir := realDir(t)
	in := ingest.New(newMemory(), ingest.Options{})
	narrow := write(t, dir, "Shot 9.41.00\u202fPM.png", picture())
	czech := write(t, dir, "Snímek\u00a0obrazovky.png", picture())
	decomposed := write(t, dir, norm.NFD.String("größe/über mich.png"), picture())
	write(t, dir, "two\u00a0x.png", picture())
	write(t, dir, "two\u202fx.png", picture())
	exact := write(t, dir, "plain x.png", picture())
	write(t, dir, "plain\u00a0x.png", picture())
	for asked, want := range map[string]string{
		"Shot 9.41.00 PM.png":                      narrow,
		"Shot 9.41.00\u202fPM.png":                 narrow,
		"Shot\u00a09.41.00 PM.png":                 narrow,
		norm.NFD.String("Snímek obrazovky.png"):    czech,
		"größe/über mich.png":                      decomposed,
		"größe/über\u00a0mich.png":                 decomposed,
		"plain x.png":                              exact,
		"two x.png":                                "",
		"three x.png":                              "",
		`Shot\ 9.41.00\ PM.png`:                    narrow,
		fileURI(filepath.Join(dir, "plain x.png")): exact,
	} {
		for _, s := range []content.Source{flag(content.Path{Path: asked}), model(content.Path{Path: asked})} {
			a := attachment(t, takeOne(t, in, s, ingest.Scope{Cwd: dir, Roots: []string{dir}}))
			switch {
			case want == "" && a.Fault != content.FaultNotFound:
				t.Errorf("%q: %s", asked, a.Fault)
			case want != "" && a.Origin.Path != want:
				t.Errorf("%q: found %q (%s), want %q", asked, a.Origin.Path, a.Detail, want)
			}
			if asked == "two x.png" && (!strings.Contains(a.Detail, `two\u00a0x.png`) || !strings.Contains(a.Detail, `two\u202fx.png`)) {
				t.Errorf("both names should be told: %s", a.Detail)
			}
		}
	}
}

func TestB63DroppedPaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("spells the paths as Unix terminals do; TestParsePath covers the Windows grammar")
	}
	dir := realDir(t)
	in := ingest.New(newMemory(), ingest.Options{Home: dir})
	sc := ingest.Scope{Cwd: dir}
	a, b := write(t, dir, "my shot.png", picture()), write(t, dir, "it's (2).png", picture())
	escape := strings.NewReplacer(" ", `\ `, "'", `\'`, "(", `\(`, ")", `\)`)
	spell := map[string]func(string) string{
		"raw":       func(p string) string { return p },
		"backslash": escape.Replace,
		"single":    func(p string) string { return "'" + strings.ReplaceAll(p, "'", `'\''`) + "'" },
		"double":    func(p string) string { return `"` + p + `"` },
		"uri":       fileURI,
	}
	for one, f := range spell {
		for two, g := range spell {
			for _, between := range []string{" ", "\n", "  "} {
				text := f(a) + between + g(b)
				for _, end := range []string{"", " ", "\n"} {
					if got := in.Dropped(text+end, sc); !slices.Equal(got, []string{a, b}) {
						t.Errorf("%s then %s: %q gave %q", one, two, text+end, got)
					}
				}
				if got := in.Dropped(text+" what is this?", sc); got != nil {
					t.Errorf("%s then %s with words: %q", one, two, got)
				}
			}
		}
		if got := in.Dropped(f(b), sc); !slices.Equal(got, []string{b}) {
			t.Errorf("%s alone: %q", one, got)
		}
		if got := attachment(t, takeOne(t, in, flag(content.Path{Path: f(b)}), sc)); got.Origin.Path != b || got.Name != "it's (2).png" {
			t.Errorf("%s as a path: %q %q", one, got.Origin.Path, got.Detail)
		}
	}
	if got := in.Dropped("~/my shot.png", sc); !slices.Equal(got, []string{a}) {
		t.Errorf("home: %q", got)
	}
	for _, prose := range []string{"", " \n", "my shot.png", "look at " + a, "/", dir, "/absent.png", "a / b", strings.Repeat("/ ", 1000)} {
		if got := in.Dropped(prose, sc); got != nil {
			t.Errorf("%q gave %q", prose, got)
		}
	}
	if _, ok := in.Find("user", sc); ok {
		t.Error("a mention of nobody's file was found")
	}
	if got, ok := in.Find("my shot.png", sc); !ok || got != a {
		t.Errorf("found %q", got)
	}
}

func TestOnlyRegularFiles(t *testing.T) {
	dir := realDir(t)
	in := ingest.New(newMemory(), ingest.Options{})
	sc := ingest.Scope{Cwd: dir, Roots: []string{dir}}
	for name, words := range special(t, dir) {
		for _, s := range []content.Source{flag(content.Path{Path: name}), model(content.Path{Path: name})} {
			a := attachment(t, takeOne(t, in, s, sc))
			if a.Fault != content.FaultUnreadable && a.Fault != content.FaultDenied || a.Fault == content.FaultUnreadable && !strings.Contains(a.Detail, words) {
				t.Errorf("%s: %s, %q", name, a.Fault, a.Detail)
			}
		}
	}
}

// A file whose size is not told, or grows, is read up to the limit.
func TestSizeIsNotTrusted(t *testing.T) {
	const p = "/proc/self/status"
	if _, err := os.Stat(p); err != nil {
		t.Skip("needs /proc, whose files tell no size")
	}
	in := ingest.New(newMemory(), ingest.Options{})
	if a := attachment(t, takeOne(t, in, flag(content.Path{Path: p}), ingest.Scope{})); a.Fault != 0 || a.Original.Size == 0 {
		t.Errorf("%+v", a)
	}
	in = ingest.New(newMemory(), ingest.Options{Limit: 10})
	if a := attachment(t, takeOne(t, in, flag(content.Path{Path: p}), ingest.Scope{})); a.Fault != content.FaultTooLarge {
		t.Errorf("%+v", a)
	}
}

// Bytes are captured at once: what happens to the file later does not matter.
func TestCapturedAtOnce(t *testing.T) {
	dir, store := realDir(t), newMemory()
	in := ingest.New(store, ingest.Options{})
	p := write(t, dir, "a.txt", []byte("before"))
	a := attachment(t, takeOne(t, in, flag(content.Path{Path: p}), ingest.Scope{}))
	if err := os.Remove(p); err != nil {
		t.Fatal(err)
	}
	if got := string(store.get(t, a.Prepared)); got != "before" {
		t.Errorf("got %q", got)
	}
}

func TestNames(t *testing.T) {
	in := ingest.New(newMemory(), ingest.Options{})
	for _, c := range []struct{ name, uri, want string }{
		{"a.png", "", "a.png"},
		{"/x/y/a.png", "", "a.png"},
		{`C:\x\a.png`, "", "a.png"},
		{`a\b.png`, "", `a\b.png`},
		{"we\nird].png", "", "we\nird].png"},
		{"", "file:///x/my%20a.png", "my a.png"},
		{"", "file:///C:/x/a.rs#L3", "a.rs"},
		{"", "https://example.invalid/x/a.png?size=1", "a.png"},
		{"", "https://example.invalid", ""},
		{"", "data:image/png;base64,AAAA/BBBB", ""},
	} {
		s := acp(b64(picture()), content.KindDocument, "")
		s.Name, s.URI = c.name, c.uri
		if a := attachment(t, takeOne(t, in, s, ingest.Scope{})); a.Name != c.want {
			t.Errorf("%q %q: %q, want %q", c.name, c.uri, a.Name, c.want)
		}
	}
	e := takeOne(t, in, acp(content.EmbeddedText{URI: "file:///x/main.go", Text: "package x"}, content.KindResourceText, "text/x-go"), ingest.Scope{}).(content.ResourceText)
	if e.Name != "main.go" || e.URI != "file:///x/main.go" || e.Original.MIME != "text/x-go" || e.Body != "" {
		t.Errorf("%+v", e)
	}
}

// Text that no JSON string can hold is told by its bytes.
func TestEmbeddedBytes(t *testing.T) {
	in := ingest.New(newMemory(), ingest.Options{})
	for text, want := range map[string]content.Kind{"caf\xe9 au lait": content.KindResourceText, "\xff\xd8\x00\x01": content.KindDocument} {
		if b := takeOne(t, in, acp(content.EmbeddedText{Text: text}, content.KindResourceText, ""), ingest.Scope{}); b.Kind() != want {
			t.Errorf("%q: %s", text, b.Kind())
		}
	}
}

func ExampleMentions() {
	fmt.Println(ingest.Mentions(`compare @a.png with @"b 2.png", please @somebody`))
	// Output: [a.png b 2.png somebody]
}
