package project_test

import (
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestDenied has every kind of file that may hold rules lead to a file that must not
// be read: its text stays out, and a note names it.
func TestDenied(t *testing.T) {
	const secret = "KEY=hunter2"
	denied := func(abs string) bool {
		name := path.Base(filepath.ToSlash(abs))
		return name == ".env" || name == "GEMINI.md" || strings.HasSuffix(name, ".pem")
	}
	for name, tt := range map[string]struct {
		files map[string]string
		links map[string]string
		extra []string
		noted string
	}{
		"import":          {map[string]string{"AGENTS.md": "Mind @.env please.", ".env": secret}, nil, nil, ".env"},
		"import below":    {map[string]string{"CLAUDE.md": "@conf/.env", "conf/.env": secret}, nil, nil, "conf/.env"},
		"import of link":  {map[string]string{"AGENTS.md": "@notes.md", ".env": secret}, map[string]string{"notes.md": ".env"}, nil, "notes.md"},
		"behind a folder": {map[string]string{"AGENTS.md": "@d/.env", "conf/.env": secret}, map[string]string{"d": "conf"}, nil, "d/.env"},
		"rules are link":  {map[string]string{".env": secret}, map[string]string{"AGENTS.md": ".env"}, nil, "AGENTS.md"},
		"rules":           {map[string]string{"GEMINI.md": secret}, nil, nil, "GEMINI.md"},
		"extra":           {map[string]string{"a.pem": secret}, nil, []string{"a.pem"}, "a.pem"},
		"extra pattern":   {map[string]string{"k/a.pem": secret}, nil, []string{"k/*"}, "k/a.pem"},
		"extra link":      {map[string]string{"a.pem": secret}, map[string]string{"a.md": "a.pem"}, []string{"*.md"}, "a.md"},
		"rule folder":     {map[string]string{"a.pem": secret}, map[string]string{".cursor/rules/a.mdc": "../../a.pem"}, nil, ".cursor/rules/a.mdc"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.files(tt.files)
			for at, target := range tt.links {
				p.write(p.repo, path.Join(path.Dir(at), "keep"), "")
				if !p.link(target, at) {
					return
				}
			}
			o := p.at("")
			o.Extra = tt.extra
			before, _ := p.r.Instructions(o) // it is remembered, and denied all the same
			if !strings.Contains(before, secret) && name != "rule folder" {
				t.Fatalf("nothing leads to the file: %q", before)
			}
			o.Denied = denied
			text, notes := p.r.Instructions(o)
			if strings.Contains(text, secret) {
				t.Errorf("it is in the text:\n%s", text)
			}
			want := tt.noted + ": is denied by the permission rules and is left out"
			if got := said(notes); len(got) != 1 || got[0] != want {
				t.Errorf("notes %q, want %q", got, want)
			}
		})
	}
}

// TestDeniedBeside does so for rules below the working folder.
func TestDeniedBeside(t *testing.T) {
	p := newPlace(t)
	p.files(map[string]string{"a/AGENTS.md": "In a. @.env", "a/.env": "KEY=hunter2"})
	o := p.at("")
	o.Denied = func(abs string) bool { return filepath.Base(abs) == ".env" }
	rules, notes := p.r.Beside(o, filepath.Join(p.repo, "a", "x.go"))
	if len(rules) != 1 || strings.Contains(rules[0].Text, "hunter2") || len(notes) != 1 || notes[0].File != "a/.env" {
		t.Errorf("rules %+v, notes %v", rules, notes)
	}
}

// TestDeniedSkill does so for skills, which lie where the user's trust says.
func TestDeniedSkill(t *testing.T) {
	p := newPlace(t)
	p.write(p.own, "skills/x/SKILL.md", "hunter2")
	o := p.at("")
	o.Denied = func(abs string) bool { return filepath.Base(abs) == "SKILL.md" }
	if skills, notes := p.r.Skills(o); len(skills) != 0 || len(notes) != 1 {
		t.Errorf("skills %+v, notes %v", skills, notes)
	}
}
