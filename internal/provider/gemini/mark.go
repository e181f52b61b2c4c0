package gemini

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"tote/internal/content"
)

// A mark is a signed piece of text or thinking and where in an answer it stood.
// It is what this path keeps in the Signature of a [content.Reasoning].
type mark struct {
	// thought: it is thinking, whose text is words. Else it is size bytes of
	// the answer's text, which may be none.
	thought bool
	words   string
	// calls counts the calls before it; start is where in the answer's text
	// it stood, in bytes.
	calls, start, size int
	signature          string
}

// The kinds of marks as they are written.
const (
	markText    = "text"
	markThought = "thought"
)

// reasoning writes a mark.
func (m mark) reasoning() content.Reasoning {
	kind := markText
	if m.thought {
		kind = markThought
	}
	return content.Reasoning{
		Text: m.words, Path: Path,
		Signature: kind + " " + strconv.Itoa(m.calls) + " " + strconv.Itoa(m.start) + " " + strconv.Itoa(m.size) + " " + m.signature,
	}
}

// parseMark reads what reasoning writes. Thinking without a signature gives ok
// false.
func parseMark(r content.Reasoning) (m mark, ok bool) {
	f := strings.SplitN(r.Signature, " ", 5)
	if len(f) != 5 || f[0] != markText && f[0] != markThought || f[4] == "" {
		return mark{}, false
	}
	m = mark{thought: f[0] == markThought, words: r.Text, signature: f[4]}
	for i, n := range []*int{&m.calls, &m.start, &m.size} {
		v, err := strconv.ParseUint(f[i+1], 10, 31)
		if err != nil {
			return mark{}, false
		}
		*n = int(v)
	}
	return m, true
}

// speech is one answer of a model, taken apart.
type speech struct {
	marks []mark
	// texts: marks count in the first; others stand behind it.
	texts []string
	calls []content.ToolCall
}

// spell puts signed pieces back where they stood. A text that is no longer the
// one that was signed is kept whole all the same.
func (sp *speech) spell(l *list, call func(content.ToolCall)) {
	text := ""
	if len(sp.texts) > 0 {
		text = sp.texts[0]
	}
	marks, at := sp.marks, 0
	// until adds unsigned text up to an offset.
	until := func(n int) {
		n = boundary(text, at, n)
		l.text(text[at:n], "")
		at = n
	}
	for i := 0; ; i++ {
		last := i == len(sp.calls)
		for len(marks) > 0 && (marks[0].calls <= i || last) {
			m := marks[0]
			marks = marks[1:]
			until(m.start)
			if m.thought {
				l.thought(m.words, m.signature)
				continue
			}
			end := boundary(text, at, m.start+m.size)
			l.text(text[at:end], m.signature)
			at = end
		}
		if len(marks) > 0 {
			until(marks[0].start)
		} else {
			until(len(text))
		}
		if i == 0 && len(sp.texts) > 1 {
			for _, t := range sp.texts[1:] {
				l.text(t, "")
			}
		}
		if last {
			return
		}
		call(sp.calls[i])
	}
}

// boundary moves n into text[at:] and back to the start of a character.
func boundary(text string, at, n int) int {
	n = min(max(n, at), len(text))
	for n > at && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}
