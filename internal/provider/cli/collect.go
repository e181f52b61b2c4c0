package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// maxAnswer bounds the words of one answer, in bytes. No model writes that much.
const maxAnswer = 16 << 20

// collector turns what a program says into events.
type collector struct {
	emit func(provider.Event) bool
	// said: some text went out. gap: the next text begins another message.
	said, gap bool
	size      int
	// lines counts those that could be read.
	lines int
	// ended: the program has said its last word. finish is what that was where
	// it was good, failed where it was not.
	ended  bool
	finish *provider.Finish
	failed *failure
	// strays are the newest lines that are words and not events: what the
	// program says before it is up, such as that nobody is signed in.
	strays []string
	// last is the newest error that the program has not ended with.
	last string
	// folder is part of the path of every staged file, "" for none.
	folder string
	// noted are the remarks so far, each of which is made once.
	noted map[string]bool
}

// failure is how a program says that a turn failed.
type failure struct {
	status int
	words  string
	// kind and class stand over what the words say, zero for nothing.
	kind  delivery.FailureKind
	class delivery.Class
}

func (c *collector) send(e provider.Event) error {
	if !c.emit(e) {
		return errStopped
	}
	return nil
}

// text passes on a piece of the answer. Messages of one answer are parted by an
// empty line.
func (c *collector) text(s string) error {
	if s == "" {
		return nil
	}
	if c.size += len(s); c.size > maxAnswer {
		return provider.Unreadable("an answer without an end")
	}
	if c.said && c.gap {
		s = "\n\n" + s
	}
	c.said, c.gap = true, false
	return c.send(provider.TextDelta{Text: s})
}

func (c *collector) thought(s string) error {
	if s == "" {
		return nil
	}
	if c.size += len(s); c.size > maxAnswer {
		return provider.Unreadable("an answer without an end")
	}
	return c.send(provider.ThoughtDelta{Text: s})
}

// runs says that the program uses one of its own tools. What it is used on is
// shown short.
func (c *collector) runs(tool, on string) error {
	c.gap = true
	s := "[runs " + content.Clean(tool)
	if on = strings.Join(strings.Fields(on), " "); on != "" {
		s += ": " + content.Clean(on)
	}
	return c.thought(s + "]\n")
}

// remark tells the user something once.
func (c *collector) remark(text string, lost bool) {
	text = oneLine(text)
	if text == "" || c.noted[text] {
		return
	}
	if c.noted == nil {
		c.noted = map[string]bool{}
	}
	c.noted[text] = true
	c.emit(provider.Remark{Text: text, Lost: lost}) // the next event finds out that nobody listens
}

// retry says that the program tries again. Once it has answered, nothing is tried
// again from the start, and it is a remark.
func (c *collector) retry(attempt int, seconds float64, why string) error {
	c.last = why
	if c.said {
		c.remark(why, false)
		return nil
	}
	return c.send(provider.Retry{Attempt: attempt, Seconds: seconds, Why: oneLine(why)})
}

func (c *collector) done(f provider.Finish) { c.ended, c.finish = true, &f }

func (c *collector) fail(f failure) { c.ended, c.failed = true, &f }

// usage reports an account. Raw is a copy, since a line is not kept.
func (c *collector) usage(u content.Usage, raw []byte) error {
	if u == (content.Usage{}) {
		return nil
	}
	return c.send(provider.UsageReport{Usage: u, Raw: append([]byte(nil), raw...)})
}

// The most that is kept of words between events: lines, and bytes of each.
const (
	maxStrays = 3
	maxStray  = 4 << 10
)

// stray keeps a line that is no event. One that looks like a cut event may hold
// the conversation and is left out.
func (c *collector) stray(line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] == '{' {
		return
	}
	if len(c.strays) == maxStrays {
		c.strays = slices.Delete(c.strays, 0, 1)
	}
	c.strays = append(c.strays, strings.ToValidUTF8(string(line[:min(len(line), maxStray)]), "\uFFFD"))
}

// losses are words with which the programs say that they left a medium out: claude
// 2.1.332, codex 0.171.0 and gemini 0.61.0, taken from them (2026-11-30).
var losses = [...]string{
	"image left out", "images left out", "oldest were removed to fit", "could not read the local image", "image could not be processed",
	"image content omitted", "audio content omitted", "cannot display content of binary file",
}

// skips are words that a program says of any file. They tell of a loss where they
// name one of ours.
var skips = [...]string{"skipped", "ignored", "not found", "could not read", "too large"}

// note makes a remark of words that tell of a lost medium.
func (c *collector) note(words string) bool {
	if !lossy(words) && (c.folder == "" || !strings.Contains(words, c.folder) || !containsAny(words, skips[:])) {
		return false
	}
	c.remark(words, true)
	return true
}

func lossy(words string) bool { return containsAny(words, losses[:]) }

func containsAny(words string, some []string) bool {
	low := strings.ToLower(words)
	return slices.ContainsFunc(some, func(s string) bool { return strings.Contains(low, s) })
}

// maxLine is how much of a program's sentence is shown, in runes.
const maxLine = 300

// oneLine makes a program's words fit for people.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if rs := []rune(s); len(rs) > maxLine {
		s = string(rs[:maxLine-1]) + "…"
	}
	return strings.TrimSuffix(s, ".")
}

// object is a JSON object of which any member may be missing or of another kind
// than expected: programs change.
type object map[string]json.RawMessage

// parse reads an object; false for what is none.
func parse(raw []byte) (object, bool) {
	var o object
	if json.Unmarshal(raw, &o) != nil || o == nil {
		return nil, false
	}
	return o, true
}

func (o object) str(name string) string {
	var s string
	if json.Unmarshal(o[name], &s) != nil {
		return ""
	}
	return s
}

func (o object) yes(name string) bool {
	var b bool
	return json.Unmarshal(o[name], &b) == nil && b
}

func (o object) obj(name string) object {
	inner, _ := parse(o[name]) // an absent one has no members
	return inner
}

func (o object) list(name string) []object {
	var raw []json.RawMessage
	if json.Unmarshal(o[name], &raw) != nil {
		return nil
	}
	out := make([]object, 0, len(raw))
	for _, r := range raw {
		if inner, ok := parse(r); ok {
			out = append(out, inner)
		}
	}
	return out
}

func (o object) number(name string) (float64, bool) {
	var n *float64
	if json.Unmarshal(o[name], &n) != nil || n == nil {
		return 0, false
	}
	return *n, true
}

func (o object) count(name string) content.Count {
	n, ok := o.number(name)
	if !ok || n < 0 || n > 1e15 {
		return content.Count{}
	}
	return content.Reported(int64(n))
}

// first is the first member that is a string with something in it.
func (o object) first(names ...string) string {
	for _, n := range names {
		if s := o.str(n); s != "" {
			return s
		}
	}
	return ""
}
