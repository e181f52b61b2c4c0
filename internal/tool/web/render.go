package web

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

const (
	// maxLists, maxQuotes and maxCells bound what a page can nest or leave
	// empty; more is shown without its marks.
	maxLists, maxQuotes, maxCells = 16, 8, 50
	// maxLink is the longest address of a link that is shown, maxTitle the
	// longest title, in bytes.
	maxLink, maxTitle = 2000, 300
)

// render turns a page into text. It works through the tags one after the other
// and keeps no tree, so that neither depth nor size of a page costs more than
// its bytes. Tags that are missing or wrong make the text less neat, no more.
func render(page string, base *url.URL, f Format) string {
	r := renderer{base: base, format: f}
	z := html.NewTokenizer(strings.NewReader(page))
	for r.out.Len() < maxText {
		switch z.Next() {
		case html.ErrorToken: // the end; reading a string has no other error
			return r.finish()
		case html.TextToken:
			r.text(string(z.Text()))
		case html.StartTagToken:
			r.start(z)
		case html.SelfClosingTagToken:
			r.single(z)
		case html.EndTagToken:
			name, _ := z.TagName()
			r.end(string(name))
		case html.CommentToken, html.DoctypeToken:
		}
	}
	return r.finish() + "[cut: the page is too long]\n"
}

// list is a list that is open; n counts the items of a numbered one, which
// starts at 1, and is 0 in others.
type list struct{ n int }

type renderer struct {
	base   *url.URL
	based  bool // a base tag was seen
	format Format
	out    strings.Builder
	title  string
	// owed are line ends, blank a blank, and cells separators that the next
	// text needs before it.
	owed  int
	blank bool
	cells int
	// first stands at the start of the next line, such as "- " or "## ".
	first string
	// marks are opened with the next text: "[", "**", "`".
	marks string
	// href is where the open link leads, "" for none that is shown.
	href          string
	strong, quote int
	code, linked  bool
	inTitle       bool
	// row: a cell of the current row was seen.
	row    bool
	lists  []list
	deeper int // lists beyond maxLists
	// pre collects preformatted text while it is not nil.
	pre *strings.Builder
	// skip is the element whose content is left out, depth how many of its
	// name are open.
	skip  string
	depth int
}

// skipped elements have no text for a reader.
func isSkipped(name string) bool {
	switch name {
	case "script", "style", "template", "svg", "math", "iframe", "noembed", "noframes", "object", "canvas", "audio", "video":
		return true
	}
	return false
}

// lineEnds are how many line ends stand around an element: 2 leave a line
// blank. 0 is for elements within a line.
func lineEnds(name string) int {
	switch name {
	case "p", "section", "article", "main", "header", "footer", "nav", "aside", "blockquote", "pre", "table", "dl", "figure", "hr", "h1", "h2",
		"h3", "h4", "h5", "h6", "ul", "ol":
		return 2
	case "div", "li", "dt", "dd", "tr", "br", "form", "fieldset", "address", "figcaption", "caption", "option", "summary", "details", "body",
		"legend", "thead", "tbody", "tfoot", "title", "textarea":
		return 1
	}
	return 0
}

// single is a tag that closes itself, which only drawings know; elsewhere the
// slash means nothing.
func (r *renderer) single(z *html.Tokenizer) {
	tag, more := z.TagName()
	if name := string(tag); name != "svg" && name != "math" && (r.skip == "" || name != r.skip) {
		r.tag(z, name, more)
	}
}

func (r *renderer) start(z *html.Tokenizer) {
	tag, more := z.TagName()
	r.tag(z, string(tag), more)
}

func (r *renderer) tag(z *html.Tokenizer, name string, more bool) {
	if r.skip != "" {
		switch {
		case name == r.skip:
			r.depth++
			return
		case (r.skip == "svg" || r.skip == "math") && lineEnds(name) > 0 && name != "title":
			r.skip = "" // such a tag ends a drawing, as in browsers
		default:
			return
		}
	}
	if isSkipped(name) {
		r.skip, r.depth = name, 1
		return
	}
	attr := attributes(z, more)
	if r.pre != nil {
		if name == "br" {
			r.pre.WriteByte('\n')
		}
		return
	}
	r.brk(r.around(name))
	r.open(name, attr)
}

// attrs are the attributes that matter here.
type attrs struct{ href, src, alt string }

func attributes(z *html.Tokenizer, more bool) attrs {
	var a attrs
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch {
		case bytes.Equal(key, []byte("href")) && a.href == "":
			a.href = string(value)
		case bytes.Equal(key, []byte("src")) && a.src == "":
			a.src = string(value)
		case bytes.Equal(key, []byte("alt")) && a.alt == "":
			a.alt = string(value)
		}
	}
	return a
}

// around is lineEnds where it is known how deep lists are.
func (r *renderer) around(name string) int {
	if len(r.lists) > 0 && (name == "ul" || name == "ol" || name == "p") {
		return 1
	}
	return lineEnds(name)
}

func (r *renderer) open(name string, a attrs) {
	switch name {
	case "title":
		r.inTitle = true
	case "base":
		r.setBase(a.href)
	case "a":
		r.closeLink()
		r.openLink(a.href)
	case "img":
		r.image(a)
	case "b", "strong":
		if r.strong++; r.strong == 1 {
			r.mark("**")
		}
	case "code", "kbd", "samp":
		if !r.code {
			r.code = true
			r.mark("`")
		}
	case "h1", "h2", "h3", "h4", "h5", "h6":
		if r.format == Markdown {
			r.first = strings.Repeat("#", int(name[1]-'0')) + " "
		}
	case "ul", "ol":
		r.openList(name)
	case "li":
		r.first = r.bullet()
	case "dd":
		r.first = "  "
	case "blockquote":
		r.quote = min(r.quote+1, maxQuotes)
	case "tr":
		r.row, r.cells = false, 0
	case "td", "th":
		if r.row {
			r.cells = min(r.cells+1, maxCells)
		}
		r.row = true
	case "hr":
		r.word("---")
		r.brk(2)
	case "pre":
		r.pre = &strings.Builder{}
	}
}

func (r *renderer) end(name string) {
	if r.skip != "" {
		if name == r.skip {
			if r.depth--; r.depth == 0 {
				r.skip = ""
			}
		}
		return
	}
	if r.pre != nil {
		if name == "pre" {
			r.closePre()
		}
		return
	}
	switch name {
	case "title":
		r.inTitle = false
	case "a":
		r.closeLink()
	case "b", "strong":
		if r.strong > 0 {
			if r.strong--; r.strong == 0 {
				r.unmark("**", "**")
			}
		}
	case "code", "kbd", "samp":
		if r.code {
			r.code = false
			r.unmark("`", "`")
		}
	case "h1", "h2", "h3", "h4", "h5", "h6":
		r.first = ""
	case "ul", "ol":
		r.closeList()
	case "li", "dd":
		r.first = ""
	case "blockquote":
		r.quote = max(r.quote-1, 0)
	case "tr", "table":
		r.row, r.cells = false, 0
	}
	r.brk(r.around(name))
}

func (r *renderer) setBase(href string) {
	if u, err := r.base.Parse(strings.TrimSpace(href)); err == nil && !r.based && href != "" && (u.Scheme == "http" || u.Scheme == "https") {
		r.base, r.based = u, true
	}
}

// absolute is where a link leads, "" for what is not worth showing: places on
// the same page, scripts, and addresses that hold their content themselves.
func (r *renderer) absolute(href string) string {
	href = strings.TrimSpace(href)
	if r.format != Markdown || href == "" || href[0] == '#' || len(href) > maxLink {
		return ""
	}
	u, err := r.base.Parse(href)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		return ""
	}
	u.User = nil
	s := u.String()
	if strings.ContainsAny(s, "() ") {
		s = strings.NewReplacer("(", "%28", ")", "%29", " ", "%20").Replace(s)
	}
	if len(s) > maxLink {
		return ""
	}
	return s
}

func (r *renderer) openLink(href string) {
	if r.href = r.absolute(href); r.href != "" {
		r.linked = true
		r.mark("[")
	}
}

func (r *renderer) closeLink() {
	if r.linked {
		r.linked = false
		r.unmark("[", "]("+r.href+")")
	}
}

func (r *renderer) image(a attrs) {
	alt := strings.Join(strings.Fields(a.alt), " ")
	src := r.absolute(a.src)
	switch {
	case src != "":
		r.word("![" + alt + "](" + src + ")")
	case alt != "":
		r.word(alt)
	}
}

func (r *renderer) openList(name string) {
	if len(r.lists) >= maxLists {
		r.deeper++
		return
	}
	l := list{}
	if name == "ol" {
		l.n = 1
	}
	r.lists = append(r.lists, l)
}

func (r *renderer) closeList() {
	switch {
	case r.deeper > 0:
		r.deeper--
	case len(r.lists) > 0:
		r.lists = r.lists[:len(r.lists)-1]
	}
}

// bullet is what stands before the next item of the innermost list.
func (r *renderer) bullet() string {
	if len(r.lists) == 0 {
		return "- "
	}
	l := &r.lists[len(r.lists)-1]
	if l.n == 0 {
		return "- "
	}
	l.n++
	return strconv.Itoa(l.n-1) + ". "
}

// brk asks for line ends before the next text. Inside a link there are none.
func (r *renderer) brk(n int) {
	if n > 0 && r.linked && !strings.HasSuffix(r.marks, "[") {
		r.blank = true
		return
	}
	r.owed = max(r.owed, n)
}

// mark opens a mark with the next text; unmark closes it, or forgets it where no
// text came.
func (r *renderer) mark(s string) {
	if r.format == Markdown {
		r.marks += s
	}
}

func (r *renderer) unmark(open, closing string) {
	if r.format != Markdown {
		return
	}
	if i := strings.LastIndex(r.marks, open); i >= 0 {
		r.marks = r.marks[:i] + r.marks[i+len(open):]
		return
	}
	r.out.WriteString(closing)
}

func (r *renderer) text(s string) {
	switch {
	case r.skip != "":
		return
	case r.inTitle:
		if len(r.title) < maxTitle {
			r.title += s[:runeStart(s, 4*maxTitle)]
		}
		return
	case r.pre != nil:
		r.pre.WriteString(s)
		return
	}
	for s != "" {
		i := strings.IndexFunc(s, unicode.IsSpace)
		if i < 0 {
			r.word(s)
			return
		}
		if i > 0 {
			r.word(s[:i])
		}
		r.blank = true
		s = strings.TrimLeftFunc(s[i:], unicode.IsSpace)
	}
}

// word writes text with all that is owed before it.
func (r *renderer) word(s string) {
	switch {
	case r.out.Len() == 0:
		r.indent()
	case r.owed > 0:
		r.out.WriteString("\n\n"[:min(r.owed, 2)])
		r.indent()
	case r.cells > 0:
		r.out.WriteString(strings.Repeat(" |", r.cells) + " ")
	case r.blank:
		r.out.WriteByte(' ')
	}
	r.owed, r.blank, r.cells = 0, false, 0
	r.out.WriteString(r.marks)
	r.marks = ""
	r.out.WriteString(s)
}

// indent begins a line.
func (r *renderer) indent() {
	r.out.WriteString(strings.Repeat("> ", r.quote))
	depth := len(r.lists)
	if r.first != "" && depth > 0 {
		depth--
	}
	r.out.WriteString(strings.Repeat("  ", depth))
	r.out.WriteString(r.first)
	r.first = ""
	if r.cells > 0 {
		r.out.WriteString(strings.Repeat("| ", r.cells))
	}
}

// closePre writes preformatted text between fences that do not occur in it.
func (r *renderer) closePre() {
	s := strings.Trim(strings.ReplaceAll(r.pre.String(), "\r\n", "\n"), "\n")
	r.pre = nil
	if strings.TrimSpace(s) == "" {
		return
	}
	r.closeLink()
	if r.format == Markdown {
		fence := "```"
		for strings.Contains(s, fence) && len(fence) < 20 {
			fence += "`"
		}
		s = fence + "\n" + s + "\n" + fence
	}
	r.owed = 2
	r.word(s)
	r.owed = 2
}

// finish closes what is open.
func (r *renderer) finish() string {
	if r.pre != nil {
		r.closePre()
	}
	r.closeLink()
	if r.code {
		r.unmark("`", "`")
	}
	if r.strong > 0 {
		r.unmark("**", "**")
	}
	out := r.out.String()
	if title := strings.Join(strings.Fields(r.title), " "); title != "" {
		title = title[:runeStart(title, maxTitle)]
		out = "Title: " + title + "\n\n" + out
	}
	if out = strings.TrimSpace(out); out != "" {
		out += "\n"
	}
	return out
}
