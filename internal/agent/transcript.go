package agent

import (
	"strings"
	"unicode/utf8"

	"tote/internal/content"
)

// The lengths in bytes at which a transcript cuts what tools were given and said.
const (
	transcriptArguments = 300
	transcriptResult    = 1500
)

// transcript is a conversation as compact text for another model. It never holds
// a payload, a model's thinking or the whole output of a tool.
func transcript(ms []content.Message) string {
	var sb strings.Builder
	for _, m := range ms {
		entries(&sb, m)
	}
	return sb.String()
}

func entries(sb *strings.Builder, m content.Message) {
	switch m.Role {
	case content.RoleUser:
		entry(sb, "User", content.Compact(m.Blocks()))
	case content.RoleAssistant:
		for _, p := range m.Parts {
			switch p := p.(type) {
			case content.Text:
				entry(sb, "Assistant", p.Body)
			case content.ToolCall:
				entry(sb, "Call of "+content.Clean(p.Name), clipped(p.Arguments, transcriptArguments))
			case content.Reasoning, content.ToolResult:
			case content.Image, content.Audio, content.Document, content.ResourceText, content.ResourceLink, content.Opaque:
				if b, ok := p.(content.Block); ok {
					entry(sb, "Assistant", content.Compact([]content.Block{b}))
				}
			}
		}
	case content.RoleTool:
		for _, p := range m.Parts {
			if r, ok := p.(content.ToolResult); ok {
				head := "Result of "
				if r.IsError {
					head = "Error of "
				}
				entry(sb, head+content.Clean(r.Name), clipped(content.Compact(r.Blocks), transcriptResult))
			}
		}
	}
}

func entry(sb *strings.Builder, who, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if sb.Len() > 0 {
		sb.WriteString("\n\n")
	}
	sb.WriteString(who)
	sb.WriteString(": ")
	sb.WriteString(text)
}

// clipped is the beginning of s, at most n bytes of it, marked where it was cut.
func clipped(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:before(s, n)] + "…"
}

// newest is the end of s, at most n bytes of it, marked where it was cut.
func newest(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return "[what was said before is left out]\n" + s[after(s, len(s)-n):]
}

// before is the last rune boundary of s at or before i.
func before(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// after is the first rune boundary of s at or after i.
func after(s string, i int) int {
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return i
}
