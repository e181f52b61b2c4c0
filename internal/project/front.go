package project

import (
	"strings"
)

// maxFront is the longest head of a file that is read, in bytes.
const maxFront = 16 << 10

// head are the members of a file's head by name, in lower case.
type head map[string]string

// split takes the head of a Markdown file apart from its body. The head stands
// between two lines of three hyphens and holds lines such as "name: value"; of YAML
// it understands quotes, lists, and texts over several lines. A list is joined with
// ", ". A file without a head is all body, and so is one whose head has no end.
func split(text string) (h head, body string) {
	first, rest, ok := strings.Cut(text, "\n")
	if !ok || strings.TrimRight(first, " \t\r") != "---" {
		return head{}, text
	}
	var lines []string
	for left := rest; left != "" && len(rest)-len(left) <= maxFront; {
		line, after, _ := strings.Cut(left, "\n")
		left = after
		line = strings.TrimRight(line, " \t\r")
		if line == "---" || line == "..." {
			return members(lines), left
		}
		lines = append(lines, line)
	}
	return head{}, text
}

// members reads the lines of a head.
func members(lines []string) head {
	h := head{}
	for i := 0; i < len(lines); {
		name, value, ok := member(lines[i])
		i++
		if !ok {
			continue
		}
		first := i
		for i < len(lines) && continues(lines[i]) {
			i++
		}
		if _, twice := h[name]; !twice {
			h[name] = scalar(value, lines[first:i])
		}
	}
	return h
}

// member takes "name: value" apart.
func member(line string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(line, ":")
	if !ok || name == "" || strings.ContainsAny(name, " \t#-\"'") && !plainName(name) {
		return "", "", false
	}
	return strings.ToLower(name), strings.TrimSpace(value), true
}

// plainName reports a name of letters, digits, - and _.
func plainName(name string) bool {
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" && name[0] != '-'
}

// continues reports a line that belongs to the member before it.
func continues(line string) bool {
	return line == "" || line[0] == ' ' || line[0] == '\t' || line[0] == '-' && (len(line) == 1 || line[1] == ' ')
}

// scalar joins a value and the lines that belong to it.
func scalar(value string, more []string) string {
	block := value != "" && strings.Trim(value, "|>+-0123456789") == "" && (value[0] == '|' || value[0] == '>')
	switch {
	case block && value[0] == '|':
		return strings.TrimSpace(strings.Join(dedent(more), "\n"))
	case block:
		return words(more)
	case strings.HasPrefix(value, "[") && strings.HasSuffix(value, "]"):
		return items(strings.Split(value[1:len(value)-1], ","))
	case value == "" && len(more) > 0 && strings.HasPrefix(strings.TrimSpace(more[0]), "-"):
		var list []string
		for _, line := range more {
			if item, ok := strings.CutPrefix(strings.TrimSpace(line), "-"); ok {
				list = append(list, item)
			}
		}
		return items(list)
	}
	return unquote(strings.TrimSpace(value + " " + words(more)))
}

// dedent takes the indentation of the first line away from all.
func dedent(lines []string) []string {
	indent := ""
	for _, line := range lines {
		if trimmed := strings.TrimLeft(line, " \t"); trimmed != "" {
			indent = line[:len(line)-len(trimmed)]
			break
		}
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimPrefix(line, indent)
	}
	return out
}

func words(lines []string) string {
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}

func items(list []string) string {
	var out []string
	for _, item := range list {
		if item = unquote(strings.TrimSpace(item)); item != "" {
			out = append(out, item)
		}
	}
	return strings.Join(out, ", ")
}

// unquote takes a pair of quotes away.
func unquote(s string) string {
	if len(s) < 2 || s[0] != s[len(s)-1] {
		return s
	}
	switch s[0] {
	case '"':
		return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(s[1 : len(s)-1])
	case '\'':
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
	}
	return s
}
