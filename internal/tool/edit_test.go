package tool_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/tool"
)

func edits(path string, pairs ...string) map[string]any {
	var list []any
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, map[string]any{"old": pairs[i], "new": pairs[i+1]})
	}
	return map[string]any{"path": path, "edits": list}
}

// all makes the last edit of a call one of every occurrence.
func all(v map[string]any) map[string]any {
	list := v["edits"].([]any)
	list[len(list)-1].(map[string]any)["all"] = true
	return v
}

func TestEdit(t *testing.T) {
	tests := map[string]struct {
		text string
		v    map[string]any
		want string
	}{
		"one":                 {"one\ntwo\n", edits("f", "two", "2"), "one\n2\n"},
		"several lines":       {"a\nb\nc\nd\n", edits("f", "b\nc\n", "x\n"), "a\nx\nd\n"},
		"delete":              {"a\nb\nc\n", edits("f", "b\n", ""), "a\nc\n"},
		"in order":            {"a\n", edits("f", "a", "b", "b", "c"), "c\n"},
		"all":                 {"a b a b a\n", all(edits("f", "a", "aa")), "aa b aa b aa\n"},
		"dollar":              {"a\n", edits("f", "a", "$1 ${x} \\1"), "$1 ${x} \\1\n"},
		"end without newline": {"a\nb", edits("f", "b", "c\nd"), "a\nc\nd"},
		"CRLF":                {"a\r\nb\r\nc\r\n", edits("f", "a\nb\n", "x\ny\nz\n"), "x\r\ny\r\nz\r\nc\r\n"},
		"CRLF, one line":      {"a\r\nb\r\n", edits("f", "b", "x\ny"), "a\r\nx\r\ny\r\n"},
		"CRLF, new has both":  {"a\r\nb\r\n", edits("f", "b", "x\r\ny\nz"), "a\r\nx\r\ny\r\nz\r\n"},
		"CRLF to LF":          {"a\r\nb\r\n", all(edits("f", "\r\n", "\n")), "a\nb\n"},
		"LF to CRLF":          {"a\nb\n", all(edits("f", "\n", "\r\n")), "a\r\nb\r\n"},
		"mixed, LF place":     {"a\r\nb\r\nc\nd\n", edits("f", "c\nd", "x\ny"), "a\r\nb\r\nx\ny\n"},
		"mixed, CRLF place":   {"a\r\nb\r\nc\nd\n", edits("f", "a\nb", "x\ny"), "x\r\ny\r\nc\nd\n"},
		"mark":                {"\ufeffa\nb\n", edits("f", "a", "x"), "\ufeffx\nb\n"},
		"mark in old":         {"\ufeffa\nb\n", edits("f", "\ufeffa", "x"), "\ufeffx\nb\n"},
		"mark in both":        {"\ufeffa\nb\n", edits("f", "\ufeffa", "\ufeffx"), "\ufeffx\nb\n"},
		"mark and CRLF":       {"\ufeffa\r\nb\r\n", edits("f", "a\nb", "x\ny"), "\ufeffx\r\ny\r\n"},
		"empty file":          {"", edits("f", "", "x\n"), "x\n"},
		"Latin-1":             {"caf\xe9 one\n", edits("f", "one", "two"), "caf\xe9 two\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			env := desk(t, map[string]string{"f": tt.text})
			got, err := run(t, tool.Edit{}, env, tt.v)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, file(t, env, "f")); diff != "" {
				t.Errorf("file (-want +got):\n%s", diff)
			}
			if !strings.HasPrefix(got, "[edited f: ") {
				t.Errorf("result = %q", got)
			}
			// The model knows the file as it is now.
			if _, err := run(t, tool.Write{}, env, map[string]any{"path": "f", "content": "done"}); err != nil {
				t.Error(err)
			}
			clean(t, env)
		})
	}
}

func TestEditSaysWhatItDid(t *testing.T) {
	env := desk(t, map[string]string{"f": "one\ntwo\nthree\n"})
	got, err := run(t, tool.Edit{}, env, edits("f", "two", "2", "three", "3"))
	want := "[edited f: 2 changes]\n--- f\n+++ f\n@@ -1,3 +1,3 @@\n one\n-two\n-three\n+2\n+3\n"
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	if got, err := run(t, tool.Edit{}, env, edits("n/new.txt", "", "a\nb\n")); err != nil || got != "[created n/new.txt: 2 lines, 4 bytes]\n" || file(t, env, "n/new.txt") != "a\nb\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// What does not fit changes nothing, and the error says why.
func TestEditErrors(t *testing.T) {
	const text = "package a\n\nfunc one() {\n\tif x {\n\t\treturn\n\t}\n}\n\nfunc two() {\n\tif x {\n\t\treturn\n\t}\n}\n\nconst Name = \"caf\u00e9 bar\"\n"
	tests := map[string]struct {
		text string
		v    map[string]any
		want string
	}{
		"several":             {text, edits("f", "if x {", "if y {"), "old stands in the file 2 times (lines 4, 10); give more of the text around the place you mean, or set all"},
		"overlapping":         {"aaa\n", edits("f", "aa", "b"), "old stands in the file 2 times (lines 1, 1)"},
		"many":                {strings.Repeat("x\n", 20), edits("f", "x", "y"), "20 times (lines 1, 2, 3, 4, 5, 6, 7, 8, …)"},
		"indentation":         {text, edits("f", "func one() {\n    if x {", "y"), `old is not in the file exactly: line 4 differs in indentation; the file has "\tif x {", old has "    if x {"`},
		"blanks at the end":   {"a  \nb\n", edits("f", "a\nb", "y"), `line 1 differs in blanks at its end; the file has "a  ", old has "a"`},
		"blanks inside":       {"x = 1\n", edits("f", "x  = 1", "y"), `line 1 differs in blanks; the file has "x = 1", old has "x  = 1"`},
		"letter case":         {text, edits("f", "const name =", "y"), `line 15 differs in blanks; the file has "const Name = \"café bar\"", old has "const name ="`},
		"letter case of all":  {"Name\n", edits("f", "name", "y"), `line 1 differs in upper and lower case`},
		"a narrow blank":      {"10\u202fPM sharp\n", edits("f", "10 PM sharp", "y"), `line 1 differs in the kind of blank or the spelling of letters in Unicode; the file has "10\u202fPM sharp", old has "10 PM sharp"`},
		"line numbers":        {text, edits("f", "3\tfunc one() {\n4\t\tif x {", "y"), "it begins with the line numbers of the read tool"},
		"missing end":         {"a b\nend", edits("f", "end\n", "y"), "old is not in the file exactly: the file ends with line 2"},
		"goes on differently": {"one\ntwo\n", edits("f", "one\n\ntwo", "y"), "old is not in the file"},
		"nearest":             {text, edits("f", "func three() {", "y"), "old is not in the file; most like it is line 3: \"func one() {\""},
		"nothing like it":     {text, edits("f", "completely different words", "y"), "old is not in the file, and nothing like it is"},
		"second fails":        {"a\nb\n", edits("f", "a", "x", "q", "y"), "edit 2 of 2: old is not in the file"},
		"undone":              {"a\n", edits("f", "a", "b", "b", "a"), "the edits undo each other"},
		"empty old":           {"a\n", edits("f", "", "b"), "old is empty, but the file is not"},
		"only a mark":         {"\ufeffa\n", all(edits("f", "\ufeff", "b")), "old is empty"},
		"no text":             {"a\x00b", edits("f", "a", "b"), "it is no UTF-8 text"},
		"other letters":       {"caf\xe9\n", edits("f", "caf", "é"), "only ASCII can be put into it"},
		"same":                {"a\n", edits("f", "a", "a"), "old and new are the same"},
		"empty among several": {"a\n", edits("f", "a", "b", "", "c"), "edit 2 of 2: old is empty"},
		"none":                {"a\n", map[string]any{"path": "f", "edits": []any{}}, "there are no edits"},
		"no path":             {"a\n", edits("", "a", "b"), "\"path\" is missing"},
		"no file":             {"a\n", edits("gone", "a", "b"), "edit gone: there is no such file"},
		"too many":            {"a\n", edits("f", strings.Split(strings.TrimSuffix(strings.Repeat("a,b,", 101), ","), ",")...), "the limit is 100"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			env := desk(t, map[string]string{"f": tt.text})
			_, err := run(t, tool.Edit{}, env, tt.v)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v", err)
			}
			if file(t, env, "f") != tt.text {
				t.Errorf("the file holds %q", file(t, env, "f"))
			}
			clean(t, env)
		})
	}
}

// Random edits do what strings.Replace does, and a file with the other line ends
// comes out as its twin.
func FuzzEdit(f *testing.F) {
	f.Add("a\nb\nc\n", "b", "x\ny", false, "c", "")
	f.Add("aaa", "aa", "b", true, "", "")
	f.Add("\ufeffa\r\nb", "a\nb", "c", false, "c", "d\n")
	f.Add("\r\r\n\n\r", "\n", "x", true, "\r", "y")
	dir := project(f, nil).Cwd
	n := 0
	f.Fuzz(func(t *testing.T, text, old, now string, every bool, old2, now2 string) {
		n++
		name := fmt.Sprintf("f%d", n%8)
		try := func(text string) (string, error) {
			env := tool.Env{Cwd: dir, Roots: []string{dir}, Files: &tool.FileLog{}}
			put(t, filepath.Join(dir, name), text)
			seen(t, env, name)
			v := edits(name, old, now)
			if every {
				v = all(v)
			}
			if old2 != now2 && old2 != "" {
				v["edits"] = append(v["edits"].([]any), edits(name, old2, now2)["edits"].([]any)...)
			}
			_, err := run(t, tool.Edit{}, env, v)
			got := file(t, env, name)
			if err != nil && got != text {
				t.Fatalf("it failed and the file changed: %v", err)
			}
			return got, err
		}
		plain := !strings.ContainsAny(text+old+now+old2+now2, "\r\ufeff\x00\ufffd")
		got, err := try(text)
		if err != nil || !plain || old == "" {
			return
		}
		want, count := text, 1
		if every {
			count = -1
		}
		want = strings.Replace(want, old, now, count)
		if old2 != now2 && old2 != "" {
			want = strings.Replace(want, old2, now2, 1)
		}
		if got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		twin, err := try(strings.ReplaceAll(text, "\n", "\r\n"))
		if err != nil {
			t.Fatalf("the twin: %v", err)
		}
		if strings.ReplaceAll(twin, "\r\n", "\n") != want {
			t.Errorf("the twin became %q, want the text %q", twin, want)
		}
		if strings.Contains(text, "\n") && strings.ReplaceAll(want, "\n", "\r\n") != twin {
			t.Errorf("the twin became %q, want the line ends kept", twin)
		}
	})
}

// BenchmarkEdit changes one line in the middle of a file of 1 MB.
func BenchmarkEdit(b *testing.B) {
	for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n"} {
		b.Run(name, func(b *testing.B) {
			line := strings.Repeat("a line of a usual length", 2) + end
			half := strings.Repeat(line, (1<<19)/len(line))
			env := desk(b, map[string]string{"f": half + "one" + end + half})
			calls := [2][]byte{args(b, edits("f", "one\n", "two\n")), args(b, edits("f", "two\n", "one\n"))}
			b.SetBytes(int64(2 * len(half)))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, err := (tool.Edit{}).Run(b.Context(), calls[i%2], env); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}
