package project_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tote/internal/project"
)

func TestSkills(t *testing.T) {
	p := newPlace(t)
	p.files(map[string]string{
		".tote/skills/pdf/SKILL.md":    "---\nname: pdf\ndescription: >\n  Work with\n  PDF files.\n---\n\nDo it so.\n",
		".claude/skills/pdf/SKILL.md":  "---\nname: pdf\ndescription: another\n---\n",
		".agents/skills/zip/SKILL.md":  "# Zip things\n\nHow to zip.",
		".claude/skills/deep/SKILL.md": "---\nname: deep\ndescription: d\ndisable-model-invocation: true\n---\nx",
		".claude/skills/odd/SKILL.md":  "---\nname: a b\n---\n",
		".claude/skills/bin/SKILL.md":  "\x00",
		".claude/skills/pdf/ref.md":    "reference",
	})
	p.write(p.own, "skills/mine/SKILL.md", "---\ndescription: \"My own: work\"\n---\nBody")
	p.write(p.own, "skills/pdf/SKILL.md", "---\nname: pdf\n---\nmine")
	p.write(p.own, "skills/group/inner/SKILL.md", "inner")
	o := p.at(".")
	o.Files = []string{
		".agents/skills/zip/SKILL.md", ".claude/skills/bin/SKILL.md", ".claude/skills/deep/SKILL.md", ".claude/skills/odd/SKILL.md",
		".claude/skills/pdf/SKILL.md", ".claude/skills/pdf/ref.md", ".tote/config.json", ".tote/skills/pdf/SKILL.md", "../x/.tote/skills/SKILL.md",
	}
	names := func(o project.Options) (out []string) {
		skills, _ := p.r.Skills(o)
		for _, s := range skills {
			out = append(out, s.Name)
		}
		return out
	}
	if got := names(o); !cmp.Equal(got, []string{"inner", "mine", "pdf"}) {
		t.Errorf("untrusted: %q", got)
	}
	if text, _, err := p.r.Skill(o, "pdf"); err != nil || text != "mine" {
		t.Errorf("untrusted: Skill = %q, %v", text, err)
	}
	o.Trusted = true
	skills, notes := p.r.Skills(o)
	want := []project.Skill{
		{Name: "deep", Description: "d", Path: filepath.Join(p.repo, ".claude/skills/deep/SKILL.md"), Dir: filepath.Join(p.repo, ".claude/skills/deep"), Manual: true, Project: true},
		{Name: "inner", Description: "inner", Path: filepath.Join(p.own, "skills/group/inner/SKILL.md"), Dir: filepath.Join(p.own, "skills/group/inner")},
		{Name: "mine", Description: "My own: work", Path: filepath.Join(p.own, "skills/mine/SKILL.md"), Dir: filepath.Join(p.own, "skills/mine")},
		{Name: "pdf", Description: "Work with PDF files.", Path: filepath.Join(p.repo, ".tote/skills/pdf/SKILL.md"), Dir: filepath.Join(p.repo, ".tote/skills/pdf"), Project: true},
		{Name: "zip", Description: "Zip things", Path: filepath.Join(p.repo, ".agents/skills/zip/SKILL.md"), Dir: filepath.Join(p.repo, ".agents/skills/zip"), Project: true},
	}
	if diff := cmp.Diff(want, skills, cmpopts.IgnoreUnexported(project.Skill{})); diff != "" {
		t.Errorf("Skills (-want +got):\n%s", diff)
	}
	wantNotes := []string{
		".claude/skills/bin/SKILL.md: is not text in UTF-8",
		".claude/skills/odd/SKILL.md: has a name that is none: want letters, digits, '.', '_' and '-'",
	}
	if diff := cmp.Diff(wantNotes, said(notes)); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	text, dir, err := p.r.Skill(o, "pdf")
	if err != nil || text != "\nDo it so.\n" || dir != want[3].Dir {
		t.Errorf("Skill = %q, %q, %v", text, dir, err)
	}
	if _, _, err := p.r.Skill(o, "gone"); !errors.Is(err, project.ErrUnknown) || !strings.Contains(err.Error(), "known: deep, inner, mine, pdf, zip") {
		t.Errorf("Skill(gone): %v", err)
	}
	all, _ := p.r.Instructions(o)
	if !strings.HasPrefix(all, "Skills are") || !strings.Contains(all, "- pdf: Work with PDF files. ("+want[3].Path+")\n") || strings.Contains(all, "deep") {
		t.Errorf("Instructions:\n%s", all)
	}
}

func TestSkillList(t *testing.T) {
	var many []project.Skill
	for i := range 200 {
		many = append(many, project.Skill{Name: fmt.Sprint("s", i), Description: strings.Repeat("d", 300)})
	}
	if text := project.List(many); len(text) > 25_000 || !strings.Contains(text, "more skills are not listed") {
		t.Errorf("%d bytes", len(text))
	}
	if project.List(nil) != "" {
		t.Error("no skills have a list")
	}
}

func TestCommands(t *testing.T) {
	p := newPlace(t)
	p.files(map[string]string{
		".tote/commands/fix.md":           "---\ndescription: Fix an issue\nargument-hint: \"[number]\"\nagent: deep\n---\nFix issue $1.\n!git status\nSee @docs/a.md\n",
		".claude/commands/fix.md":         "other",
		".claude/commands/team/review.md": "# Review\n\nReview $ARGUMENTS now.",
		".claude/commands/notes.txt":      "no command",
		".claude/commands/big.md":         strings.Repeat("x", project.MaxFile+1),
	})
	p.write(p.own, "commands/mine.md", "Mine")
	o := p.at(".")
	o.Files = []string{
		".claude/commands/big.md", ".claude/commands/fix.md", ".claude/commands/notes.txt", ".claude/commands/team/review.md", ".tote/commands/fix.md",
	}
	if got, _ := p.r.Commands(o); len(got) != 1 || got[0].Name != "mine" {
		t.Errorf("untrusted: %+v", got)
	}
	if _, err := p.r.Expand(o, "fix", ""); !errors.Is(err, project.ErrUnknown) {
		t.Errorf("untrusted: %v", err)
	}
	o.Trusted = true
	got, notes := p.r.Commands(o)
	fix := project.Command{
		Name: "fix", Description: "Fix an issue", Hint: "[number]", Agent: "deep", Path: filepath.Join(p.repo, ".tote/commands/fix.md"), Project: true,
	}
	want := []project.Command{
		fix,
		{Name: "mine", Description: "Mine", Path: filepath.Join(p.own, "commands/mine.md")},
		{Name: "team:review", Description: "Review", Path: filepath.Join(p.repo, ".claude/commands/team/review.md"), Project: true},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(project.Command{})); diff != "" {
		t.Errorf("Commands (-want +got):\n%s", diff)
	}
	if len(notes) != 1 || notes[0].File != ".claude/commands/big.md" {
		t.Errorf("notes %q", notes)
	}
	e, err := p.r.Expand(o, "fix", `12 "and more"`)
	if err != nil {
		t.Fatal(err)
	}
	wantPieces := []project.Piece{
		{Text: "Fix issue "}, {Text: "12", ByUser: true}, {Text: ".\n!git status\nSee @docs/a.md"}, {Text: "\n\n"}, {Text: "and more", ByUser: true},
	}
	if diff := cmp.Diff(project.Expanded{Command: fix, Prompt: "Fix issue 12.\n!git status\nSee @docs/a.md\n\nand more", Pieces: wantPieces}, e, cmpopts.IgnoreUnexported(project.Command{})); diff != "" {
		t.Errorf("Expand (-want +got):\n%s", diff)
	}
	e, err = p.r.Expand(o, "team:review", " $1 @x.png ")
	if err != nil || e.Prompt != "# Review\n\nReview $1 @x.png now." {
		t.Errorf("Expand = %q, %v", e.Prompt, err)
	}
	p.write(p.repo, ".tote/commands/fix.md", strings.Repeat("$ARGUMENTS ", 100))
	if _, err := p.r.Expand(o, "fix", strings.Repeat("x", project.MaxPrompt/50)); err == nil || !strings.Contains(err.Error(), "the most is 262144") {
		t.Errorf("a prompt that is too long: %v", err)
	}
}

func TestFill(t *testing.T) {
	for _, tt := range []struct{ body, args, want string }{
		{"do it", "", "do it"},
		{"do it", "a  b", "do it\n\na  b"},
		{"do $1 and $2", "a", "do a and "},
		{"do $2", `a b c`, "do b\n\na c"},
		{"do $1", `"a b" 'c'`, "do a b\n\nc"},
		{"do $1", `it's`, "do it's"},
		{"$ARGUMENTS_X $10 $0 $ $$1", "a", "$ARGUMENTS_X $10 $0 $ $a"},
		{"<$ARGUMENTS>", "$ARGUMENTS $1", "<$ARGUMENTS $1>"},
		{"", "a", "\n\na"},
	} {
		pieces, _ := project.Fill(tt.body, tt.args)
		got := ""
		for _, p := range pieces {
			got += p.Text
		}
		if got != tt.want {
			t.Errorf("Fill(%q, %q) = %q, want %q", tt.body, tt.args, got, tt.want)
		}
	}
}
