package headless

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"tote/internal/content"
	"tote/internal/tool"
)

// This file says what a call really does. Its title is words of the model or of the
// tool, and may leave out what matters.

const (
	// maxDoes and maxDoesLines are how much is shown of what a call does, in runes
	// and in lines of a command.
	maxDoes, maxDoesLines = 500, 12
	// maxArgument is how much is shown of one argument, in runes.
	maxArgument = 100
)

// does is what a call does, in lines without control characters: the command that
// runs, or the arguments that the title does not say. "" where the title says it all.
func does(c content.ToolCall, title string) string {
	if c.Name == "todo" { // the plan is shown when it is noted
		return ""
	}
	list, err := arguments([]byte(c.Arguments))
	if err != nil {
		if strings.TrimSpace(c.Arguments) == "" {
			return ""
		}
		return fmt.Sprintf("arguments that are no JSON object: %s", clip(visible(c.Arguments), maxArgument))
	}
	command := ""
	var rest []string
	for _, a := range list {
		switch s, isText := a.text(); {
		case c.Name == "bash" && a.name == "command" && isText:
			command = asCommand(s, title)
		case c.Name == "bash" && a.name == "description":
			// It is the title.
		case isText && said(title, s):
		default:
			rest = append(rest, visible(a.name)+": "+a.shown())
		}
	}
	args := clip(strings.Join(rest, ", "), maxDoes)
	switch {
	case command == "":
		return args
	case args == "":
		return command
	}
	return command + "\n(" + args + ")"
}

// said reports whether a title has the value of an argument in it, as words of its own.
func said(title, value string) bool {
	return value == "" || visible(value) == value && strings.Contains(" "+title+" ", " "+value+" ")
}

// asCommand spells a command for people, bounded; "" where it is the title already.
func asCommand(s, title string) string {
	s = strings.TrimRight(s, "\r\n")
	if s == title && visible(s) == s {
		return ""
	}
	var out []string
	left := maxDoes
	for l := range strings.Lines(s) {
		if len(out) == maxDoesLines || left <= 0 {
			out = append(out, fmt.Sprintf("[the beginning of %s]", count(int64(len(s)), "byte")))
			break
		}
		mark := "$ "
		if len(out) > 0 {
			mark = "> "
		}
		l = visible(strings.TrimRight(l, "\r\n"))
		n := utf8.RuneCountInString(l)
		if n > left {
			l = string([]rune(l)[:left]) + "…"
		}
		left -= n
		out = append(out, mark+l)
	}
	if left < 0 && !strings.HasPrefix(out[len(out)-1], "[") {
		out = append(out, fmt.Sprintf("[the beginning of %s]", count(int64(len(s)), "byte")))
	}
	return strings.Join(out, "\n")
}

// argument is one member of a call's arguments.
type argument struct {
	name  string
	value json.RawMessage
}

// arguments are the members in their order.
func arguments(doc []byte) ([]argument, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	if t != json.Delim('{') {
		return nil, fmt.Errorf("read the arguments: they begin with %v", t)
	}
	var out []argument
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		a := argument{}
		a.name, _ = t.(string)
		if err := d.Decode(&a.value); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	_, err = d.Token()
	return out, err
}

// text is a value that is one word or text, as it would stand in a title.
func (a argument) text() (string, bool) {
	var s string
	if json.Unmarshal(a.value, &s) == nil {
		return s, true
	}
	return "", false
}

// shown is a value, short. Of a long text the beginning is shown, and how long it is.
func (a argument) shown() string {
	if s, ok := a.text(); ok {
		short := strings.TrimSpace(visible(s))
		if utf8.RuneCountInString(short) > maxArgument {
			return clip(short, maxArgument) + fmt.Sprintf(" [%s in all]", count(int64(len(s)), "byte"))
		}
		return short
	}
	readable := tool.Readable(a.value)
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(readable)) == nil {
		readable = compact.String()
	} else {
		readable = strings.Join(strings.Fields(readable), " ")
	}
	return clip(visible(readable), 2*maxArgument)
}

// visible makes one line of a text in which nothing is hidden: a control character
// is shown as its picture (U+2400 and on), another that shows nothing or reorders
// what is around it as its number.
func visible(s string) string {
	var sb strings.Builder
	for _, r := range s {
		switch {
		case r == '\t':
			sb.WriteByte(' ')
		case r == '\n':
			sb.WriteRune('⏎')
		case r < ' ':
			sb.WriteRune('\u2400' + r)
		case r == 0x7f:
			sb.WriteRune('\u2421')
		case r > 0x7f && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)):
			fmt.Fprintf(&sb, "<%U>", r)
		default:
			sb.WriteRune(r)
		}
	}
	return sb.String()
}

// count spells a number of things: "1 turn", "2 turns".
func count(n int64, what string) string { return Count(n, what, what+"s") }

// Count spells a number of things.
func Count(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
