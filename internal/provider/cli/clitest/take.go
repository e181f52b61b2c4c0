package clitest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// take reads the prompt as the program does. Words are a refusal.
func take(c *Call, b Behaviour) (words string, err error) {
	switch c.Runner {
	case "claude":
		return takeClaude(c, b), nil
	case "codex":
		return takeCodex(c)
	case "gemini":
		return takeGemini(c)
	}
	return takeCustom(c)
}

func takeClaude(c *Call, b Behaviour) string {
	for _, want := range [][]string{
		{"-p"}, {"--verbose"}, {"--input-format", "stream-json"}, {"--output-format", "stream-json"}, {"--no-session-persistence"},
	} {
		if i := slices.Index(c.Argv, want[0]); i < 0 || len(want) > 1 && (i+1 == len(c.Argv) || c.Argv[i+1] != want[1]) {
			return "Error: " + strings.Join(want, " ") + " is missing"
		}
	}
	if b == Old { // it takes the blocks for none
		c.Stdin = regexp.MustCompile(`\{"type":"image","source":\{[^}]*\}\},?`).ReplaceAll(c.Stdin, nil)
		c.Stdin = bytes.ReplaceAll(c.Stdin, []byte(`,]`), []byte(`]`))
	}
	return ""
}

// takeCodex reads arguments as codex does: "-i" takes everything up to the next
// flag, "-" included.
func takeCodex(c *Call) (string, error) {
	args := c.Argv
	if len(args) == 0 || args[0] != "exec" {
		return "error: not started for exec", nil
	}
	prompt := false
	for i := 1; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-i":
			for i+1 < len(args) && (args[i+1] == "-" || !strings.HasPrefix(args[i+1], "-")) {
				i++
				c.Files = append(c.Files, open(args[i]))
			}
		case slices.Contains([]string{"-C", "-m", "-c", "--sandbox"}, a):
			i++
		case a == "-":
			prompt = true
		case !strings.HasPrefix(a, "-"):
			return "error: unexpected argument '" + a + "' found", nil
		}
	}
	if !prompt {
		return "error: no prompt", nil
	}
	if len(bytes.TrimSpace(c.Stdin)) == 0 {
		return "No prompt provided via stdin.", nil
	}
	if n := len([]rune(string(c.Stdin))); n > 1<<20 {
		return fmt.Sprintf("Error: turn/start: turn/start failed: Input exceeds the maximum length of 1048576 characters, got %d", n), nil
	}
	c.Prompt = string(c.Stdin)
	return "", nil
}

// atPath is what gemini takes for the path of a file.
var atPath = regexp.MustCompile(`@((?:(?:"[^"]*")|(?:\\.|[^ \t\n\r,;!?()\[\]{}.]|\.[^ \t\n\r]))+)`)

// takeGemini finds files as gemini does: it hands them on sorted by path, and
// says nothing of those that it does not find or may not read.
func takeGemini(c *Call) (string, error) {
	in := c.Stdin[:min(len(c.Stdin), 8<<20)]
	c.Prompt = string(in)
	if strings.HasPrefix(strings.TrimSpace(c.Prompt), "/") {
		return "a slash command", nil
	}
	folders := []string{c.Dir}
	if i := slices.Index(c.Argv, "--include-directories"); i >= 0 && i+1 < len(c.Argv) {
		folders = append(folders, strings.Split(c.Argv[i+1], ",")...)
	}
	for _, m := range atPath.FindAllStringSubmatchIndex(c.Prompt, -1) {
		if m[0] > 0 && c.Prompt[m[0]-1] == '\\' {
			continue
		}
		path := unescape(c.Prompt[m[2]:m[3]])
		inside := slices.ContainsFunc(folders, func(f string) bool {
			rel, err := filepath.Rel(f, path)
			return err == nil && filepath.IsLocal(rel)
		})
		f := open(path)
		f.Lost = f.Lost || !inside
		c.Files = append(c.Files, f)
	}
	slices.SortStableFunc(c.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return "", nil
}

func unescape(p string) string {
	if filepath.Separator == '\\' {
		return strings.Trim(p, `"`)
	}
	return regexp.MustCompile(`\\(.)`).ReplaceAllString(p, "$1")
}

// attached is where a custom program finds the path of a file.
var attached = regexp.MustCompile(`\[attached file \d+: ([^\]\n]+)\]`)

func takeCustom(c *Call) (string, error) {
	c.Prompt = string(c.Stdin)
	for _, a := range c.Argv {
		if name, ok := strings.CutPrefix(a, "--prompt-file="); ok {
			data, err := os.ReadFile(name)
			if err != nil {
				return "", err
			}
			c.Prompt = string(data)
		}
		if text, ok := strings.CutPrefix(a, "--prompt="); ok {
			c.Prompt = text
		}
	}
	for _, m := range attached.FindAllStringSubmatch(c.Prompt, -1) {
		c.Files = append(c.Files, open(m[1]))
	}
	return "", nil
}

func open(path string) File {
	f := File{Path: path}
	data, err := os.ReadFile(path)
	if err != nil {
		f.Lost = true
		return f
	}
	f.Data = data
	if st, err := os.Stat(path); err == nil {
		f.Mode = st.Mode().Perm()
	}
	if st, err := os.Stat(filepath.Dir(path)); err == nil {
		f.FolderMode = st.Mode().Perm()
	}
	return f
}
