package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command.
type word struct {
	// text is how rules see it: quoted where it would not be one word
	// otherwise, as it stands in the line where it is not fixed.
	text string
	// value is what the program gets. It is the text where it is not fixed.
	value string
	// fixed: nothing in it depends on anything else.
	fixed bool
	// glob: it holds signs that the shell may replace by names of files.
	glob bool
	// home is what follows $HOME where the word begins with it and is fixed
	// otherwise.
	home string
}

// harmless are the signs of a word that is written without quotes.
const harmless = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:=@%+,-^"

// readWord reads a word of the line src.
func readWord(w *syntax.Word, src string) word {
	source := src[w.Pos().Offset():w.End().Offset()]
	var value strings.Builder
	out := word{fixed: true}
	parts, inHome := w.Parts, false
	if p, ok := homeOf(w.Parts); ok {
		parts, inHome = p, true
	}
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			value.WriteString(unescape(p.Value))
			out.glob = out.glob || strings.ContainsAny(p.Value, "*?[{") || strings.HasPrefix(p.Value, "~")
		case *syntax.SglQuoted:
			out.fixed = out.fixed && !p.Dollar
			value.WriteString(p.Value)
		case *syntax.DblQuoted:
			out.fixed = quoted(p, &value) && out.fixed
		default:
			out.fixed = false
		}
	}
	switch {
	case !out.fixed:
		out.text, out.value = source, source
	case inHome:
		out.fixed, out.home, out.text, out.value = false, value.String(), source, source
		if out.home == "" {
			out.home = "/"
		}
	default:
		out.value = value.String()
		out.text = out.value
		allowed := harmless
		if out.glob && source == out.value {
			allowed += "*?[]{}~!"
		}
		switch {
		case out.glob && source != out.value:
			out.text = source
		case out.value == "" || strings.Trim(out.value, allowed) != "":
			out.text = quote(out.value)
		}
		if out.glob && strings.HasPrefix(out.value, "~") && !strings.ContainsAny(out.value, "*?[{") {
			out.glob = false
		}
	}
	return out
}

// asWord is text as one word for rules.
func asWord(s string) string {
	if s == "" || strings.Trim(s, harmless) != "" {
		return quote(s)
	}
	return s
}

// homeOf takes a leading $HOME off a word, quoted or not.
func homeOf(parts []syntax.WordPart) (rest []syntax.WordPart, ok bool) {
	if len(parts) == 0 {
		return nil, false
	}
	if d, quoted := parts[0].(*syntax.DblQuoted); quoted && len(d.Parts) > 0 && isHome(d.Parts[0]) {
		return append([]syntax.WordPart{&syntax.DblQuoted{Parts: d.Parts[1:]}}, parts[1:]...), true
	}
	return parts[1:], isHome(parts[0])
}

func isHome(p syntax.WordPart) bool {
	e, ok := p.(*syntax.ParamExp)
	return ok && e.Param != nil && e.Param.Value == "HOME" && e.Exp == nil && e.Repl == nil && e.Index == nil && e.Slice == nil &&
		!e.Excl && !e.Length && !e.Width
}

// quoted reads what stands in double quotes; it returns false where that is not
// fixed.
func quoted(d *syntax.DblQuoted, out *strings.Builder) bool {
	if d.Dollar {
		return false
	}
	for _, p := range d.Parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			return false
		}
		s := l.Value
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
				i++
				if s[i] == '\n' {
					continue
				}
			}
			out.WriteByte(s[i])
		}
	}
	return true
}

// unescape takes the backslashes out of unquoted text.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var sb strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		sb.WriteByte(s[i])
	}
	return sb.String()
}

func join(w []word) string {
	var sb strings.Builder
	for i, a := range w {
		if i > 0 {
			sb.WriteByte(' ')
		}
		sb.WriteString(a.text)
	}
	return sb.String()
}
