package web_test

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tote/internal/tool/web"
)

func base(t testing.TB) *url.URL {
	t.Helper()
	u, err := url.Parse("https://example.com/docs/page.html?q=1")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestRender(t *testing.T) {
	tests := map[string]struct{ page, markdown, text string }{
		"words":      {"<p>One\n  two</p><p>Three&amp;four&nbsp;five", "One two\n\nThree&four five\n", "One two\n\nThree&four five\n"},
		"title":      {"<html><head><title> A \n title</title></head><body>x", "Title: A title\n\nx\n", "Title: A title\n\nx\n"},
		"scripts":    {"a<script>var x='<p>no</p>'</script><style>p{}</style><svg><text>no</text></svg><template>no</template>b", "ab\n", "ab\n"},
		"headings":   {"<h1>Top</h1>text<h3>Sub</h3><h2></h2>more", "# Top\n\ntext\n\n### Sub\n\nmore\n", "Top\n\ntext\n\nSub\n\nmore\n"},
		"links":      {`<a href="/a b?x=1#f">one</a> <a href="other.html">two</a> <a href="#here">three</a> <a href="javascript:x()">four</a> <a href="data:text/html,x">five</a>`, "[one](https://example.com/a%20b?x=1#f) [two](https://example.com/docs/other.html) three four five\n", "one two three four five\n"},
		"link marks": {`<a href="/x(1)"><div><b> bold </b></div><p>two</p></a>after<a href="/y"></a>`, "[**bold** two](https://example.com/x%281%29) after\n", "bold\n\ntwo\n\nafter\n"},
		"password":   {`<a href="https://me:secret@example.org/">x</a>`, "[x](https://example.org/)\n", "x\n"},
		"base":       {`<base href="https://other.example/dir/"><base href="https://third.example/"><a href="p">x</a>`, "[x](https://other.example/dir/p)\n", "x\n"},
		"pictures": {`<img src="/i.png" alt="An
 image"> <img src="data:image/png;base64,AAAA" alt="inline"> <img src="data:x">`, "![An image](https://example.com/i.png) inline\n", "An image inline\n"},
		"lists":       {"<ul><li>a<li>b<ol><li>x</li><li>y<p>z</p></li></ol></li><li>c</ul>d", "- a\n- b\n  1. x\n  2. y\n    z\n- c\n\nd\n", "- a\n- b\n  1. x\n  2. y\n    z\n- c\n\nd\n"},
		"tables":      {"<table><tr><th>A<th>B</tr><tr><td>1</td><td></td><td>3</td></tr></table>x", "A | B\n1 | | 3\n\nx\n", "A | B\n1 | | 3\n\nx\n"},
		"code":        {"<p>Use <code>a  b</code> now<pre><code>x := 1\n\ty()\n```\n</code></pre>end", "Use `a b` now\n\n````\nx := 1\n\ty()\n```\n````\n\nend\n", "Use a b now\n\nx := 1\n\ty()\n```\n\nend\n"},
		"quotes":      {"<blockquote><p>one</p><p>two</p></blockquote>three", "> one\n\n> two\n\nthree\n", "> one\n\n> two\n\nthree\n"},
		"breaks":      {"a<br>b<br><br>c<hr>d", "a\nb\nc\n\n---\n\nd\n", "a\nb\nc\n\n---\n\nd\n"},
		"definitions": {"<dl><dt>term</dt><dd>meaning</dd></dl>", "term\n  meaning\n", "term\n  meaning\n"},
		"open marks":  {"<b>a<code>b<a href=/x>c", "**a`b[c](https://example.com/x)`**\n", "abc\n"},
		"drawing":     {"<svg/>a<svg><g><p>b</p>", "a\n\nb\n", "a\n\nb\n"},
		"noscript":    {"<noscript>Please enable JavaScript</noscript>", "Please enable JavaScript\n", "Please enable JavaScript\n"},
		"wrong ends":  {"</b></ul></a></pre></table>x</blockquote></code>", "x\n", "x\n"},
		"nothing":     {"<!doctype html><html><!-- x --></html>", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.markdown, web.Render(tt.page, base(t), web.Markdown)); diff != "" {
				t.Errorf("markdown (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.text, web.Render(tt.page, base(t), web.Text)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

// Pages that are made to cost: the answer stays in proportion.
func TestRenderHostile(t *testing.T) {
	for name, page := range map[string]string{
		"deep":     strings.Repeat("<div>", 300_000) + "x",
		"lists":    strings.Repeat("<ul><li>", 200_000) + "x",
		"quotes":   strings.Repeat("<blockquote>", 100_000) + "x",
		"bold":     strings.Repeat("<b>", 300_000) + "x",
		"links":    "<base href=https://example.com/" + strings.Repeat("y", 1800) + "/>" + strings.Repeat("<a href=x>x</a>", 50_000),
		"cells":    strings.Repeat("<tr>"+strings.Repeat("<td>", 1000)+"x", 300),
		"brackets": strings.Repeat("<", 1_000_000),
		"title":    "<title>" + strings.Repeat("x", 2_000_000) + "</title>x",
		"pre":      "<pre>" + strings.Repeat("`", 2_000_000),
		"svg":      strings.Repeat("<svg>", 200_000),
	} {
		if testing.Short() {
			page = page[:len(page)/10]
		}
		if out := web.Render(page, base(t), web.Markdown); len(out) > 11<<20 {
			t.Errorf("%s: %d bytes became %d", name, len(page), len(out))
		}
	}
}

func FuzzRender(f *testing.F) {
	f.Add("<p>One <a href=/x>two</a><ul><li>a<ol><li>b</ol></ul><pre>x\n</pre><table><tr><td>1<td>2</table>", "markdown")
	f.Add("<svg><p><b></svg></b><title>x<code><blockquote>&lt;", "text")
	f.Add("<script>alert(1)</script><template><base href='http://[::1'><img src=data:x alt=y>", "markdown")
	f.Fuzz(func(t *testing.T, page, format string) {
		if !utf8.ValidString(page) {
			return
		}
		out := web.Render(page, base(t), web.Format(format))
		if !utf8.ValidString(out) {
			t.Errorf("%q became invalid UTF-8", page)
		}
		if strings.Contains(out, "](data:") || strings.Contains(out, "](javascript:") && !strings.Contains(page, "](javascript:") {
			t.Errorf("%q shows a link that leads nowhere: %q", page, out)
		}
		if out != web.Render(page, base(t), web.Format(format)) {
			t.Error("two runs differ")
		}
	})
}

func BenchmarkRender(b *testing.B) {
	page := strings.Repeat("<div class=x><p>Some <b>text</b> with <a href=/link>links</a> and more.</p><ul><li>one<li>two</ul></div>\n", 5000)
	b.ReportAllocs()
	b.SetBytes(int64(len(page)))
	u := base(b)
	for b.Loop() {
		web.Render(page, u, web.Markdown)
	}
}
