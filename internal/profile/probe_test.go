package profile_test

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/profile"
)

func TestCode(t *testing.T) {
	form := regexp.MustCompile(`^[CDFHJKMNPRTVWXY][34679][CDFHJKMNPRTVWXY][34679]$`)
	seen := map[string]bool{}
	for i := range uint64(20_000) {
		c := profile.Code(i)
		if !form.MatchString(c) {
			t.Fatalf("Code(%d) = %q", i, c)
		}
		if strings.Contains(strings.ToUpper(profile.Question), c) {
			t.Fatalf("the question holds %q", c)
		}
		seen[c] = true
	}
	if len(seen) != 5625 {
		t.Errorf("%d codes, want 5625", len(seen))
	}
	if c := profile.Code(math.MaxUint64); !form.MatchString(c) {
		t.Errorf("Code(MaxUint64) = %q", c)
	}
}

func images(n int64) content.Usage { return content.Usage{Image: content.Reported(n)} }

func TestJudge(t *testing.T) {
	const code = "K7M4"
	refused := func(status int, c delivery.Class) delivery.Failure {
		return delivery.Failure{Kind: delivery.FailRefused, Status: status, Class: c}
	}
	tests := []struct {
		answer  string
		usage   content.Usage
		failure delivery.Failure
		want    delivery.Answer
	}{
		{"K7M4", content.Usage{}, delivery.Failure{}, delivery.Yes},
		{"k7m4.", content.Usage{}, delivery.Failure{}, delivery.Yes},
		{"The code is **K7M4**!", content.Usage{}, delivery.Failure{}, delivery.Yes},
		{"K 7 M 4", content.Usage{}, delivery.Failure{}, delivery.Yes},
		{"It reads k7-M4, I think", content.Usage{}, delivery.Failure{}, delivery.Yes},
		{"图片中的代码是K7M4。", content.Usage{}, delivery.Failure{}, delivery.Yes},
		{"K7 K7M4", content.Usage{}, delivery.Failure{}, delivery.Yes},
		{"K7M4", images(0), delivery.Failure{}, delivery.Yes}, // it read it; the account is wrong
		{"I cannot see pictures", images(85), delivery.Failure{}, delivery.Yes},
		{"X9Y3", images(1), delivery.Failure{}, delivery.Yes},
		{"", images(1), delivery.Failure{}, delivery.Yes},

		{"I cannot see pictures", images(0), delivery.Failure{}, delivery.No},
		{"", images(0), delivery.Failure{}, delivery.No},
		{"", content.Usage{}, refused(400, delivery.ClassUnknown), delivery.No},
		{"", content.Usage{}, refused(415, delivery.ClassUnknown), delivery.No},
		{"", content.Usage{}, refused(422, delivery.ClassUnknown), delivery.No},
		{"", content.Usage{}, refused(404, delivery.ClassBlind), delivery.No},
		{"", content.Usage{}, refused(500, delivery.ClassBlind), delivery.No},
		{"", content.Usage{}, refused(200, delivery.ClassBlind), delivery.No},
		{"", content.Usage{}, delivery.Failure{Kind: delivery.FailDropped}, delivery.No},
		{"K7M4", images(0), delivery.Failure{Kind: delivery.FailDropped}, delivery.Yes},

		{"", content.Usage{}, delivery.Failure{}, delivery.Unknown},
		{"I cannot see pictures", content.Usage{}, delivery.Failure{}, delivery.Unknown},
		{"X9Y3", content.Usage{}, delivery.Failure{}, delivery.Unknown},
		{"K7M", content.Usage{}, delivery.Failure{}, delivery.Unknown},
		{"AK7M4", content.Usage{}, delivery.Failure{}, delivery.Unknown},
		{"K7M44", content.Usage{}, delivery.Failure{}, delivery.Unknown},
		{"aGVsbG8K7M4gd29ybGQ", content.Usage{}, delivery.Failure{}, delivery.Unknown}, // base64 as text
		{"K7 is not M; 4", content.Usage{}, delivery.Failure{}, delivery.Unknown},
		{"", images(-1), delivery.Failure{}, delivery.Unknown},
		{"", content.Usage{Input: content.Reported(900)}, delivery.Failure{}, delivery.Unknown},
		{"", content.Usage{}, refused(404, delivery.ClassUnknown), delivery.Unknown},
		{"", content.Usage{}, refused(413, delivery.ClassUnknown), delivery.Unknown},
		{"", content.Usage{}, refused(500, delivery.ClassUnknown), delivery.Unknown},
		{"", content.Usage{}, refused(400, delivery.ClassMIME), delivery.Unknown},
		{"", content.Usage{}, refused(400, delivery.ClassDecode), delivery.Unknown},
		{"", content.Usage{}, refused(400, delivery.ClassBytes), delivery.Unknown},
	}
	for _, tt := range tests {
		if got := profile.Judge(code, tt.answer, tt.usage, tt.failure); got != tt.want {
			t.Errorf("%q, image tokens %+v, %+v: %v, want %v", tt.answer, tt.usage.Image, tt.failure, got, tt.want)
		}
	}
}

// Whatever else fails says nothing about sight, even beside a right answer.
func TestJudgeOtherFailures(t *testing.T) {
	for _, k := range delivery.Failures() {
		if k == delivery.FailRefused || k == delivery.FailDropped {
			continue
		}
		if got := profile.Judge("K7M4", "K7M4", images(9), delivery.Failure{Kind: k, Status: 400}); got != delivery.Unknown {
			t.Errorf("%v: %v", k, got)
		}
	}
}

func FuzzJudge(f *testing.F) {
	for _, s := range []string{"", "K7M4", "k 7-m*4", "K7M", "no", "K7K7K4", "K7M4K7M4", "\x00K7M4\xff", strings.Repeat("K ", 50)} {
		f.Add(uint64(7), s, int64(0), false)
		f.Add(uint64(2600), s, int64(85), true)
	}
	f.Fuzz(func(t *testing.T, rand uint64, text string, tokens int64, known bool) {
		code := profile.Code(rand)
		usage := content.Usage{Image: content.Count{N: tokens, Known: known}}
		got := profile.Judge(code, text, usage, delivery.Failure{})
		// The code on a line of its own is read in whatever stands around it.
		for _, with := range []string{text + "\n\n: " + code, code + " : " + text, text + " (" + strings.ToLower(code) + ") " + text} {
			if profile.Judge(code, with, usage, delivery.Failure{}) != delivery.Yes {
				t.Errorf("the code %s is not found in %q", code, with)
			}
		}
		// Without its letters and digits there is no code.
		bare := strings.Map(func(r rune) rune {
			if strings.ContainsRune(strings.ToLower(code), r) || strings.ContainsRune(code, r) {
				return -1
			}
			return r
		}, text)
		if profile.Judge(code, bare, content.Usage{}, delivery.Failure{}) != delivery.Unknown {
			t.Errorf("the code %s is found in %q", code, bare)
		}
		if got == delivery.No && (!known || tokens != 0) {
			t.Errorf("no, with image tokens %d, known %v", tokens, known)
		}
		if profile.Judge(code, text, usage, delivery.Failure{Kind: delivery.FailNetwork}) != delivery.Unknown {
			t.Error("a lost connection settled something")
		}
	})
}

func FuzzEndpoint(f *testing.F) {
	for _, s := range []string{"", "https://api.example.com/v1/", "http://u:p@h:80/?key=k#f", "::", "//", "http://[::1]:1234", "HTTP://%zz"} {
		f.Add("openai-chat", s, "m")
	}
	f.Fuzz(func(t *testing.T, kind, url, model string) {
		got := profile.Endpoint(kind, url, model)
		slash := strings.TrimSpace(url) + "/"
		if len(got) != 64 || got != profile.Endpoint(kind, slash, model) && !strings.ContainsAny(url, "?#") {
			t.Errorf("%q: %s", url, got)
		}
		p := profile.Build(profile.Binding{Kind: kind, BaseURL: url, Model: model}, nil, now)
		if p.Endpoint != got || p.Images.Detail == "" || p.MaxRequest <= 0 {
			t.Errorf("%q %q %q: %+v", kind, url, model, p)
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	text := strings.Repeat("I cannot see K 7 pictures. ", 150)
	b.ReportAllocs()
	for b.Loop() {
		profile.Judge("K7M4", text, content.Usage{}, delivery.Failure{})
	}
}

func ExampleJudge() {
	code := profile.Code(4)
	fmt.Println(profile.Judge(code, "I read: "+code, content.Usage{}, delivery.Failure{}))
	fmt.Println(profile.Judge(code, "I cannot see it", content.Usage{Image: content.Reported(0)}, delivery.Failure{}))
	fmt.Println(profile.Judge(code, "A cat?", content.Usage{}, delivery.Failure{}))
	// Output:
	// yes
	// no
	// unknown
}
