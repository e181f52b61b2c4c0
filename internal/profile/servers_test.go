package profile_test

import (
	"testing"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/profile"
)

// Pictures are cut to the size at which the vendor looks at them, at addresses
// that are known. Elsewhere any model may bear any name.
func TestFits(t *testing.T) {
	type size struct{ w, h int }
	tests := []struct {
		kind, url, model string
		in, want         size
	}{
		{"anthropic", "https://api.anthropic.com", "claude-haiku-4-5", size{1920, 1080}, size{1456, 819}},
		{"anthropic", "https://api.anthropic.com", "claude-opus-4-6", size{1920, 1080}, size{1456, 819}},
		{"anthropic", "https://api.anthropic.com", "claude-opus-4-7", size{3840, 2160}, size{2576, 1449}},
		{"anthropic", "https://api.anthropic.com", "claude-sonnet-5-5", size{3840, 2160}, size{2576, 1449}},
		{"anthropic", "https://api.anthropic.com", "claude-fable-5", size{2000, 2000}, size{1932, 1932}},
		{"anthropic", "https://api.anthropic.com", "unheard-of", size{3840, 2160}, size{3840, 2160}},
		{"anthropic", "https://proxy.example.com", "claude-haiku-4-5", size{1920, 1080}, size{1920, 1080}},
		{"anthropic", "https://openrouter.ai/api", "anthropic/claude-haiku-4.5", size{1920, 1080}, size{1456, 819}},
		{"bedrock-converse", "https://bedrock-runtime.eu-west-1.amazonaws.com", "anthropic.claude-haiku-4-5-20251001-v1:0", size{1920, 1080}, size{1456, 819}},
		{"openai-chat", "https://openrouter.ai/api/v1", "anthropic/claude-haiku-4.5", size{1920, 1080}, size{1456, 819}},
		{"openai-responses", "https://api.openai.com/v1", "gpt-4o", size{2000, 1500}, size{1024, 768}},
		{"openai-responses", "https://api.openai.com/v1", "o3", size{2000, 1500}, size{1024, 768}},
		{"openai-chat", "https://api.openai.com/v1", "gpt-4.1", size{2000, 1500}, size{1024, 768}},
		{"openai-responses", "https://api.openai.com/v1", "gpt-5", size{2000, 1500}, size{1024, 768}},
		{"openai-responses", "https://api.openai.com/v1", "gpt-5-mini", size{2000, 2000}, size{1248, 1248}},
		{"openai-responses", "https://api.openai.com/v1", "gpt-5.2", size{2000, 2000}, size{1248, 1248}},
		{"openai-responses", "https://api.openai.com/v1", "o4-mini", size{1568, 882}, size{1568, 882}},
		{"openai-responses", "https://api.openai.com/v1", "gpt-5.4", size{2048, 1152}, size{2048, 1152}},
		{"openai-responses", "https://api.openai.com/v1", "gpt-5.4", size{2000, 2000}, size{1600, 1600}},
		{"openai-responses", "https://api.openai.com/v1", "gpt-5.5", size{4000, 3000}, size{3670, 2752}},
		{"openai-responses", "https://api.openai.com/v1", "gpt-5.6-sol", size{8000, 6000}, size{8000, 6000}},
		{"openai-chat", "http://127.0.0.1:8080/v1", "gpt-4o", size{2000, 1500}, size{2000, 1500}},
		{"gemini", "https://generativelanguage.googleapis.com/v1beta", "gemini-2.5-pro", size{4000, 3000}, size{4000, 3000}},
		{"offline", "", "gpt-4o", size{4000, 3000}, size{4000, 3000}},
	}
	for _, tt := range tests {
		p := profile.Build(profile.Binding{Kind: tt.kind, BaseURL: tt.url, Model: tt.model}, nil, now)
		var got size
		if got.w, got.h = p.ImageLimits.Fit.Size(tt.in.w, tt.in.h); got != tt.want {
			t.Errorf("%s %s %s: %v becomes %v, want %v", tt.kind, tt.url, tt.model, tt.in, got, tt.want)
		}
	}
}

// What a vendor documents of its models counts at its own server, over TLS, for
// names that stand there.
func TestDocumented(t *testing.T) {
	yes, no, unknown := delivery.Yes, delivery.No, delivery.Unknown
	tests := []struct {
		kind, url, model         string
		images, audio, documents delivery.Answer
	}{
		{"anthropic", "https://api.deepseek.com/anthropic", "deepseek-flash", yes, no, unknown},
		{"anthropic", "http://api.deepseek.com/anthropic", "deepseek-flash", unknown, no, unknown},
		{"anthropic", "https://api.deepseek.com/anthropic", "deepseek-flash-2", unknown, no, unknown},
		{"anthropic", "https://api.deepseek.com/anthropic", "deepseek-v4-pro", no, no, unknown},
		{"openai-responses", "https://api.deepseek.com", "deepseek-flash", yes, no, unknown},
		{"openai-responses", "https://api.deepseek.com", "deepseek-v4-pro", no, no, unknown},
		{"anthropic", "https://api.minimax.io/anthropic", "MiniMax-M2.7", no, no, no},
		{"anthropic", "https://api.minimax.io/anthropic", "MiniMax-M2.1-lightning", no, no, no},
		{"anthropic", "https://api.minimaxi.com/anthropic", "MiniMax-M2", no, no, no},
		{"anthropic", "https://api.minimax.io/anthropic", "MiniMax-M3", yes, no, unknown},
		{"gemini", "https://generativelanguage.googleapis.com/v1beta", "gemini-3.5-flash", yes, yes, yes},
		{"gemini", "https://generativelanguage.googleapis.com/v1beta", "gemini-2.5-flash", yes, yes, unknown},
		{"gemini", "https://generativelanguage.googleapis.com/v1beta", "gemma-4-31b-it", yes, unknown, unknown},
		{"gemini", "https://us-central1-aiplatform.googleapis.com/v1", "gemini-3.5-flash", unknown, unknown, unknown},
	}
	for _, tt := range tests {
		b := profile.Binding{Kind: tt.kind, BaseURL: tt.url, Model: tt.model}
		p := profile.Build(b, nil, now)
		if p.Images.Answer != tt.images || p.Audio.Answer != tt.audio || p.Documents.Answer != tt.documents {
			t.Errorf("%s %s %s: %v, %v, %v", tt.kind, tt.url, tt.model, p.Images, p.Audio, p.Documents)
		}
		// What was measured here is stronger.
		for _, a := range []delivery.Answer{yes, no} {
			if got := profile.Build(b, []profile.Fact{fact(delivery.EvidenceProbe, a, now)}, now).Images.Answer; got != a {
				t.Errorf("%s %s %s: a probe says %v, the profile %v", tt.kind, tt.url, tt.model, a, got)
			}
		}
	}
}

// A runner has no catalogue: it is asked, or the user says it. A version that is
// too old is told as what the program says of itself.
func TestRunners(t *testing.T) {
	for _, kind := range []string{"cli-claude", "cli-codex", "cli-gemini", "cli-custom"} {
		b := profile.Binding{Kind: kind, BaseURL: "/usr/bin/agent 1.2.3", Model: "claude-opus-5"}
		p := profile.Build(b, nil, now)
		if p.Images.Answer != delivery.Unknown || p.Path != kind {
			t.Errorf("%s: %+v", kind, p.Images)
		}
		if want := (delivery.Placement{NoReasoning: true}); p.Placement != want {
			t.Errorf("%s: %+v", kind, p.Placement)
		}
		if !p.ImageLimits.Fit.IsZero() || p.Context != 0 {
			t.Errorf("%s: %+v", kind, p)
		}
		for _, tt := range []struct {
			facts []profile.Fact
			want  delivery.Answer
		}{
			{[]profile.Fact{{Kind: content.KindImage, Answer: delivery.No, Evidence: delivery.EvidenceServer, Detail: "version 1.2.3 loses pictures", At: now}}, delivery.No},
			{[]profile.Fact{fact(delivery.EvidenceServer, delivery.No, now), fact(delivery.EvidenceAnswered, delivery.Yes, now)}, delivery.Yes},
			{[]profile.Fact{fact(delivery.EvidenceProbe, delivery.Yes, now)}, delivery.Yes},
			{[]profile.Fact{fact(delivery.EvidenceServer, delivery.Yes, now)}, delivery.Unknown},
		} {
			if got := profile.Build(b, tt.facts, now).Images; got.Answer != tt.want || got.Detail == "" {
				t.Errorf("%s with %+v: %+v", kind, tt.facts, got)
			}
		}
		b.Limits.MediaTypes = []string{"image/*", "application/pdf", "audio/*"}
		p = profile.Build(b, nil, now)
		documents, audio := kind == "cli-claude" || kind == "cli-gemini", kind == "cli-gemini"
		if (p.Documents.Answer == delivery.Yes) != documents || (p.Audio.Answer == delivery.Yes) != audio {
			t.Errorf("%s: documents %+v, audio %+v", kind, p.Documents, p.Audio)
		}
	}
	const program = `C:\bin\claude.exe --to http://h/?a=1#b (2.1.240)`
	one := profile.Endpoint("cli-claude", program, "opus")
	for _, other := range []string{
		profile.Endpoint("cli-claude", `C:\bin\claude.exe --to http://h/?a=1#b (2.1.241)`, "opus"),
		profile.Endpoint("cli-claude", `C:\other\claude.exe --to http://h/?a=1#b (2.1.240)`, "opus"),
		profile.Endpoint("cli-claude", program, "haiku"),
		profile.Endpoint("cli-custom", program, "opus"),
	} {
		if one == other {
			t.Error("two runners are one endpoint")
		}
	}
	if one != profile.Endpoint("cli-claude", program, "opus") {
		t.Error("one runner is two endpoints")
	}
}

// The user's own number of pictures stands over what bounds all media.
func TestOverrideOfMedia(t *testing.T) {
	b := profile.Binding{Kind: "anthropic", BaseURL: "https://api.anthropic.com", Model: "claude-haiku-4-5"}
	b.Limits.Images = 250
	if p := profile.Build(b, nil, now); p.MaxMedia != 250 || p.ImageLimits.MaxCount != 250 {
		t.Errorf("%d media, %d pictures", p.MaxMedia, p.ImageLimits.MaxCount)
	}
}
