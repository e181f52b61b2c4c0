package main

import (
	"strings"
	"testing"

	p "tote/internal/provider/providertest"
)

func TestProbeCommand(t *testing.T) {
	rec := p.NewRecorder(t, p.Status(401, `{"error":{"message":"who are you"}}`),
		p.TextUsage(p.Usage{Prompt: 900, Completion: 3, Image: 600, Cached: -1}, "a code"))
	r := newRig(t)
	r.backend(rec.URL, `"auto"`)
	out := r.tote("probe", "--json").want(1)
	if l := out.lines("probe"); len(l) != 1 || l[0].str("images") != "unknown" || !strings.Contains(l[0].str("problem"), "401") {
		t.Errorf("a backend that wants a key: %s", out.stdout)
	}
	if out := r.tote("probe").want(0); !strings.Contains(out.stdout, "sees pictures") {
		t.Errorf("a backend that sees: %s", out.stdout)
	}
	if out := r.tote("models").want(0); !strings.Contains(out.stdout, "pictures   yes (a probe") {
		t.Errorf("what was found is not listed: %s", out.stdout)
	}
	r.tote("probe", "--forget").want(0)
	if out := r.tote("models").want(0); !strings.Contains(out.stdout, "pictures   unknown") {
		t.Errorf("what was forgotten is listed: %s", out.stdout)
	}
	if out := r.tote("probe", "nobody").want(2); !strings.Contains(out.stderr, "nobody") {
		t.Errorf("an unknown agent: %s", out.stderr)
	}
}

func TestPromptThatIsNoText(t *testing.T) {
	r := newRig(t)
	r.stdin = []byte("\x89PNG\r\n\x1a\n\x00")
	if out := r.tote("run", "-").want(2); !strings.Contains(out.stderr, "-a -") {
		t.Errorf("stderr: %s", out.stderr)
	}
}

func TestAttachTellsOfEveryFile(t *testing.T) {
	r := newRig(t)
	r.write("a.txt", []byte("hello\n"))
	out := r.tote("attach", "nope.png", "a.txt", "neither.png").want(2)
	for _, want := range []string{"nope.png: there is no such file", "neither.png: there is no such file"} {
		if !strings.Contains(out.stderr, want) {
			t.Errorf("stderr lacks %q: %s", want, out.stderr)
		}
	}
	if !strings.Contains(out.stdout, "a.txt") {
		t.Errorf("stdout: %s", out.stdout)
	}
}
