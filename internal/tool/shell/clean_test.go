package shell_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tote/internal/tool/shell"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ntext":                      "plain\ntext",
		"a\r\nb\r\n":                       "a\nb\n",
		"10%\r50%\r100%\ndone":             "100%\ndone",
		"10%\r":                            "10%",
		"\x1b[1;31mred\x1b[0m \x1b[K!":     "red !",
		"\x1b]0;title\x07a\x1b]8;;\x1b\\b": "ab",
		"\x1b(Ba\x1b=b":                    "ab",
		"ab\bc":                            "ac",
		"ä\bc":                             "c",
		"\b\bx":                            "x",
		"a\tb\x07\x0bc\x7f":                "a\tbc",
		"a\x00b":                           "a\u2400b",
		"a\xff\xfeb":                       "a\uFFFDb",
		"a\u009bb":                         "ab",
		"\x1b]never ends\nnext":            "\nnext",
		"\x1b[":                            "",
		"\x1b]" + strings.Repeat("x", 2000) + "y": strings.Repeat("x", 976) + "y",
		"": "",
	} {
		if got := shell.Clean(in); got != want {
			t.Errorf("Clean(%.40q) = %.80q, want %.80q", in, got, want)
		}
	}
}

func TestIsBinary(t *testing.T) {
	for in, want := range map[string]bool{
		"":                               false,
		"text":                           false,
		"\x1b[1mtext\r\n":                false,
		"a\x00b\x00":                     false,
		"\x7fELF\x02\x01\x01\x00\x00":    true,
		"\x00\x00\x00\x00":               true,
		"caf\xe9 au lait, s'il te plait": false,
		"\x89PNG\r\n\x1a\n\x00\x00":      true,
		strings.Repeat("\xff\xd8", 30):   true,
	} {
		if got := shell.IsBinary(in); got != want {
			t.Errorf("IsBinary(%q) = %v", in, got)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"a\rb\n", "\x1b[31mx", "\x1b]0;t\x07", "ä\xc3", "a\x00\b\b", strings.Repeat("ü", 40_000)} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, cut int) {
		whole := shell.Clean(s)
		if !utf8.ValidString(whole) {
			t.Errorf("Clean(%q) is no UTF-8", s)
		}
		if i := strings.IndexFunc(whole, func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 }); i >= 0 {
			t.Errorf("Clean(%q) = %q holds a control character", s, whole)
		}
		if cut > 0 && cut < len(s) {
			if diff := cmp.Diff(whole, shell.Clean(s[:cut], s[cut:])); diff != "" {
				t.Errorf("in two pieces: %s", diff)
			}
		}
	})
}

// An output of any length is shown in bounded size and is whole in its file.
func TestOutput(t *testing.T) {
	for name, tt := range map[string]struct {
		lines int
		file  bool
	}{"short": {10, false}, "fits": {2000, false}, "long": {50_000, true}} {
		dir := t.TempDir()
		r := shell.NewRecorder(dir, time.Now, nil)
		var all strings.Builder
		for i := range tt.lines {
			all.WriteString("\x1b[1mline\x1b[0m\n")
			if i == tt.lines/2 {
				all.WriteString("middle\n")
			}
		}
		if _, err := r.Write([]byte(all.String())); err != nil {
			t.Fatal(err)
		}
		got := r.Whole()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || (len(files) == 1) != tt.file || len(got) > 32<<10 || strings.Contains(got, "left out") != tt.file {
			t.Fatalf("%s: %d bytes, files %v, %v", name, len(got), files, err)
		}
		want := strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(all.String())
		if tt.file {
			data, err := os.ReadFile(files[0])
			if err != nil || string(data) != want || !strings.Contains(got, files[0]) {
				t.Errorf("%s: the file holds %d bytes, want %d; %v", name, len(data), len(want), err)
			}
			continue
		}
		if got != want {
			t.Errorf("%s: %d bytes, want %d", name, len(got), len(want))
		}
	}
}

func TestOutputNews(t *testing.T) {
	r := shell.NewRecorder(t.TempDir(), time.Now, nil)
	say := func(s string) {
		if _, err := r.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	for i, step := range []struct{ say, want string }{
		{"", ""}, {"one\ntw", "one\ntw\n"}, {"o\n", "o\n"}, {"", ""}, {strings.Repeat("x\n", 9000), strings.Repeat("x\n", 9000)},
	} {
		say(step.say)
		if got := r.News(); got != step.want {
			t.Errorf("step %d: %.40q (%d), want %.40q", i, got, len(got), step.want)
		}
	}
	say(strings.Repeat("y\n", 50_000))
	if got := r.News(); len(got) > 32<<10 || !strings.Contains(got, "bytes left out; read /") || strings.Contains(got, "x") && !strings.Contains(got, ".txt") {
		t.Errorf("%d bytes: %.100q", len(got), got)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if got := r.News(); got != "" {
		t.Errorf("after the end: %q", got)
	}
}

// Where no file can be made the model is told so.
func TestOutputWithoutFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{strings.Repeat("text\n", 20_000), strings.Repeat("\x00\x01\x02", 20_000)} {
		r := shell.NewRecorder(file, time.Now, nil)
		if _, err := r.Write([]byte(data)); err != nil {
			t.Fatal(err)
		}
		if got := r.Whole(); !strings.Contains(got, "could not be kept") {
			t.Errorf("%.200q", got)
		}
	}
}

// What is shown live is paced, bounded, complete at its end, and over with it.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var all []string
		r := shell.NewRecorder(t.TempDir(), time.Now, func(s string) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, s)
		})
		take := func() []string {
			mu.Lock()
			defer mu.Unlock()
			got := all
			all = nil
			return got
		}
		say := func(s string) {
			if _, err := r.Write([]byte(s)); err != nil {
				t.Fatal(err)
			}
		}
		say("one\n")
		say("two\n")
		say("three\n")
		if diff := cmp.Diff([]string{"one\n"}, take()); diff != "" {
			t.Errorf("at once: %s", diff)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if diff := cmp.Diff([]string{"two\nthree\n"}, take()); diff != "" {
			t.Errorf("after a second: %s", diff)
		}
		say("\x1b[1m" + strings.Repeat("x\n", 10_000))
		shown := take()
		if len(shown) != 1 || len(shown[0]) > 5000 || !strings.HasPrefix(shown[0], "[...]\n") {
			t.Errorf("much at once: %d pieces", len(shown))
		}
		say("half")
		r.Finish()
		r.Finish()
		say("late\n")
		time.Sleep(time.Second)
		if diff := cmp.Diff([]string{"half"}, take()); diff != "" {
			t.Errorf("at the end: %s", diff)
		}
		if err := errors.Join(r.Close(), r.Close()); err != nil {
			t.Error(err)
		}
	})
}
