package profile_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/delivery"
	"tote/internal/profile"
)

var (
	pngJPEG = []string{"image/png", "image/jpeg"}
	webFour = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}
)

// bounds are the parts of a profile that this table looks at.
type bounds struct {
	MIMEs      []string
	Edge       int
	Bytes      int64
	Encoded    int64
	Count      int
	Many       int
	ManyEdge   int
	Pages      int
	Request    int64
	Media      int
	Documented int64 // the most bytes of a document
	Hoist      bool
	Sound      bool // recordings are hoisted
	TextErrors bool
	Bridge     bool
	Documents  delivery.Answer
}

func boundsOf(p delivery.Profile) bounds {
	return bounds{
		MIMEs: p.ImageLimits.MIMEs, Edge: p.ImageLimits.MaxEdge, Bytes: p.ImageLimits.MaxBytes, Encoded: p.ImageLimits.MaxEncoded,
		Count: p.ImageLimits.MaxCount, Many: p.ImageLimits.ManyCount, ManyEdge: p.ImageLimits.ManyEdge,
		Pages: p.DocumentLimits.MaxPages, Request: p.MaxRequest, Media: p.MaxMedia, Documented: p.DocumentLimits.MaxBytes,
		Hoist: p.Placement.HoistResults, Sound: p.Placement.HoistAudio,
		TextErrors: p.Placement.TextErrors, Bridge: p.Placement.Bridge, Documents: p.Documents.Answer,
	}
}

// Models here are in no catalogue, so that the tables stand alone; the user says
// that they see.
func TestLimitsByServer(t *testing.T) {
	unknown := bounds{MIMEs: pngJPEG, Edge: 2000, Bytes: 3_750_000, Request: 20_000_000, Hoist: true, TextErrors: true}
	with := func(b bounds, change func(*bounds)) bounds { change(&b); return b }
	tests := []struct {
		kind, url string
		want      bounds
	}{
		{"openai-chat", "https://llm.example.com/v1", unknown},
		{"openai-chat", "http://localhost:11434/v1", unknown},
		{"openai-chat", "http://127.0.0.1:8080/v1", unknown},
		{"openai-chat", "http://[::1]:1234/v1", unknown},
		{"openai-chat", "", unknown},
		{"openai-chat", "::not a url", unknown},
		{"openai-chat", "https://api.openai.com.example.com/v1", unknown},
		{"openai-chat", "https://example.com/api.openai.com/v1", unknown},
		{"openai-chat", "https://api.openai.com@example.com/v1", unknown},
		{"a-new-kind", "https://api.openai.com/v1", unknown},
		{"openai-chat", "https://API.OpenAI.com/v1/", with(unknown, func(b *bounds) {
			b.MIMEs, b.Count, b.Request, b.Documents = webFour, 1500, 512_000_000, delivery.Yes
		})},
		// Without TLS nobody knows who answers, so nothing is enabled.
		{"openai-chat", "http://api.openai.com/v1", with(unknown, func(b *bounds) {
			b.MIMEs, b.Count, b.Request = webFour, 1500, 512_000_000
		})},
		{"openai-chat", "https://mine.openai.azure.com/openai/v1", with(unknown, func(b *bounds) { b.MIMEs = webFour })},
		{"openai-chat", "https://openai.azure.com/openai/v1", unknown},
		{"openai-chat", "https://mine.services.ai.azure.com/openai/v1", with(unknown, func(b *bounds) { b.MIMEs = webFour })},
		{"openai-responses", "https://mine.cognitiveservices.azure.com/openai/v1", with(unknown, func(b *bounds) { b.MIMEs = webFour })},
		{"openai-chat", "https://integrate.api.nvidia.com/v1", with(unknown, func(b *bounds) { b.Count = 1 })},
		{"openai-chat", "https://api.xiaomimimo.com/v1", unknown},
		{"openai-chat", "https://token-plan-ams.xiaomimimo.com/v1", unknown},
		{"openai-chat", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", unknown},
		{"openai-chat", "https://api.deepinfra.com/v1/openai", unknown},
		{"openai-chat", "https://models.github.ai/inference", unknown},
		{"openai-responses", "https://api.x.ai/v1", with(unknown, func(b *bounds) { b.Bytes = 10 << 20 })},
		{"openai-responses", "https://api.deepseek.com/v1", with(unknown, func(b *bounds) { b.Request = 48 << 20 })},
		{"openai-responses", "https://api.individual.githubcopilot.com", with(unknown, func(b *bounds) { b.Count = 10 })},
		{"anthropic", "https://api.individual.githubcopilot.com", with(unknown, func(b *bounds) {
			b.Encoded, b.Count, b.Pages = 5_242_880, 10, 100
		})},
		{"anthropic", "https://api.deepseek.com/anthropic", with(unknown, func(b *bounds) {
			b.Encoded, b.Count, b.Pages, b.Request = 5_242_880, 100, 100, 48<<20
		})},
		{"anthropic", "http://127.0.0.1:1234", with(unknown, func(b *bounds) { b.Encoded, b.Count, b.Pages = 5_242_880, 100, 100 })},
		{"openai-chat", "https://openrouter.ai/api/v1", with(unknown, func(b *bounds) { b.MIMEs = webFour })},
		{"openai-chat", "https://api.mistral.ai/v1", with(unknown, func(b *bounds) {
			b.Edge, b.Bytes, b.Count, b.Hoist, b.Sound, b.Bridge = 8000, 10_000_000, 8, false, true, true
		})},
		{"openai-chat", "https://api.scaleway.ai/v1", with(unknown, func(b *bounds) { b.Bridge = true })},
		{"openai-chat", "https://api.groq.com/openai/v1", with(unknown, func(b *bounds) {
			b.Bytes, b.Count, b.Request = 2_900_000, 5, 4_000_000
		})},
		{"openai-chat", "https://api.x.ai/v1", with(unknown, func(b *bounds) { b.Bytes = 10 << 20 })},
		{"openai-chat", "https://api.moonshot.ai/v1", unknown},
		{"openai-chat", "https://api.moonshot.cn/v1", unknown},
		{"openai-chat", "https://api.minimax.io/v1", unknown},
		{"openai-chat", "https://api.z.ai/api/paas/v4", unknown},
		{"openai-chat", "https://api.deepseek.com/v1", with(unknown, func(b *bounds) { b.Request = 48 << 20 })},
		{"openai-chat", "https://api.individual.githubcopilot.com", with(unknown, func(b *bounds) { b.Count = 10 })},
		{"openai-responses", "https://llm.example.com/v1", unknown},
		{"openai-responses", "https://api.openai.com/v1", bounds{
			MIMEs: webFour, Edge: 2000, Bytes: 3_750_000, Count: 1500, Request: 512_000_000, Documents: delivery.Yes,
		}},
		{"openai-responses", "https://api.meta.ai/v1", with(unknown, func(b *bounds) { b.Count = 50 })},
		{"anthropic", "https://proxy.example.com", with(unknown, func(b *bounds) { b.Encoded, b.Count, b.Pages = 5_242_880, 100, 100 })},
		{"anthropic", "https://api.anthropic.com", bounds{
			MIMEs: webFour, Edge: 8000, Encoded: 10_000_000, Count: 100, Many: 20, ManyEdge: 2000, Pages: 100, Request: 32_000_000,
			Media: 100, TextErrors: true, Documents: delivery.Yes,
		}},
		{"bedrock-converse", "https://bedrock-runtime.us-east-1.amazonaws.com", bounds{
			MIMEs: webFour, Edge: 8000, Bytes: 3_750_000, Count: 20, Request: 20_000_000, Documented: 4_500_000, Hoist: true, Sound: true,
			TextErrors: true,
		}},
		{"gemini", "https://generativelanguage.googleapis.com/v1beta", bounds{
			MIMEs: []string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}, Edge: 2000, Bytes: 3_750_000, Count: 3600,
			Request: 20 << 20, Hoist: true, Sound: true,
		}},
		{"gemini", "https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google", bounds{
			MIMEs: []string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}, Edge: 2000, Bytes: 3_750_000, Count: 3600,
			Request: 20 << 20, Media: 3000, Documented: 7_000_000, Hoist: true, Sound: true,
		}},
		{"cli-claude", "claude 2.1.332", bounds{
			MIMEs: webFour, Edge: 2000, Bytes: 3_750_000, Encoded: 5_242_880, Count: 100, Pages: 100, Request: 20_000_000,
			Documents: delivery.Yes,
		}},
		{"cli-codex", "codex 0.171.0", bounds{MIMEs: pngJPEG, Edge: 2000, Bytes: 3_750_000, Request: 20_000_000, Documents: delivery.No}},
		{"cli-gemini", "gemini 0.61.0", bounds{
			MIMEs: []string{"image/png", "image/jpeg", "image/webp"}, Edge: 2000, Bytes: 3_750_000, Request: 20_000_000,
			Documented: 20_000_000, Documents: delivery.Yes,
		}},
		{"cli-custom", "my-agent", bounds{MIMEs: pngJPEG, Edge: 2000, Bytes: 3_750_000, Request: 20_000_000, Documents: delivery.No}},
		{"ollama", "http://127.0.0.1:11434", bounds{MIMEs: pngJPEG, Edge: 2000, Bytes: 3_750_000, Request: 20_000_000, Documents: delivery.No}},
	}
	for _, tt := range tests {
		b := profile.Binding{Kind: tt.kind, BaseURL: tt.url, Model: "no-such-model", Vision: profile.TriYes}
		if diff := cmp.Diff(tt.want, boundsOf(profile.Build(b, nil, now))); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.kind, tt.url, diff)
		}
	}
}

// Every row of a server is reached, and belongs to a protocol that has one.
func TestServersAreReached(t *testing.T) {
	seen := map[[2]string]bool{}
	for _, s := range profile.Servers() {
		if seen[s] {
			t.Errorf("%v has two rows", s)
		}
		seen[s] = true
		if !slices.Contains(profile.Kinds(), s[0]) {
			t.Errorf("%v is for an unknown protocol", s)
		}
	}
}

// PDF goes where the vendor documents it, and only if the model sees.
func TestDocuments(t *testing.T) {
	chat := profile.Binding{Kind: "openai-chat", BaseURL: "https://api.openai.com/v1", Model: "gpt-5"}
	if got := profile.Build(chat, nil, now).Documents; got.Answer != delivery.Unknown {
		t.Errorf("with unknown sight: %+v", got)
	}
	probed := []profile.Fact{fact(delivery.EvidenceProbe, delivery.Yes, now)}
	p := profile.Build(chat, probed, now)
	if p.Documents.Answer != delivery.Yes || p.Documents.Evidence != delivery.EvidenceCatalogue || p.Documents.Detail == "" {
		t.Errorf("with sight: %+v", p.Documents)
	}
	if diff := cmp.Diff([]string{"application/pdf"}, p.DocumentLimits.MIMEs); diff != "" {
		t.Error(diff)
	}
	chat.Vision = profile.TriNo
	if got := profile.Build(chat, probed, now).Documents; got.Answer != delivery.Unknown {
		t.Errorf("with sight turned off: %+v", got)
	}
	// Responses has no sound, whatever anybody says.
	b := profile.Binding{Kind: "openai-responses", BaseURL: madeURL, Model: other}
	b.Limits.MediaTypes = []string{"audio/wav", "image/png"}
	if got := profile.Build(b, nil, now).Audio; got.Answer != delivery.No {
		t.Errorf("sound over a protocol without it: %+v", got)
	}
}

func TestRecordNarrows(t *testing.T) {
	file := madeCatalogue(t)
	build := func(model string) delivery.Profile {
		return profile.BuildFrom(file, profile.Binding{Kind: "openai-chat", BaseURL: madeURL, Model: model}, nil, now)
	}
	got := boundsOf(build("narrow"))
	want := bounds{
		MIMEs: pngJPEG, Edge: 1000, Bytes: 3_750_000, Encoded: 400_000, Count: 7, Request: 1_000_000, Hoist: true, TextErrors: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("narrow record (-want +got):\n%s", diff)
	}
	wide := boundsOf(build("wide"))
	if wide.Edge != 2000 || wide.Bytes != 3_750_000 || wide.Request != 20_000_000 {
		t.Errorf("a wide record widened: %+v", wide)
	}
	if p := build(seeing); p.Context != 100_000 || p.Output != 5000 || p.Placement.Bridge || !p.Placement.NoReasoning {
		t.Errorf("%+v", p)
	}
	if !build("bridged").Placement.Bridge {
		t.Error("the quirk gave no bridge")
	}
	if build("thinking").Placement.NoReasoning {
		t.Error("the quirk did not bring reasoning back")
	}

	big := profile.Build(profile.Binding{Kind: "anthropic", BaseURL: "https://api.anthropic.com", Model: "claude-opus-5"}, nil, now)
	want = bounds{
		MIMEs: webFour, Edge: 2000, Encoded: 4_718_592, Count: 600, Many: 20, ManyEdge: 2000, Pages: 600, Request: 32_000_000,
		Media: 600, TextErrors: true, Documents: delivery.Yes,
	}
	if diff := cmp.Diff(want, boundsOf(big)); diff != "" || big.Context != 1_000_000 || big.Output != 128_000 {
		t.Errorf("context %d, output %d (-want +got):\n%s", big.Context, big.Output, diff)
	}
	lesser := profile.Build(profile.Binding{Kind: "anthropic", BaseURL: "https://api.anthropic.com", Model: "claude-haiku-4-5"}, nil, now)
	if lesser.ImageLimits.MaxCount != 100 || lesser.MaxMedia != 100 || lesser.DocumentLimits.MaxPages != 100 {
		t.Errorf("a window of 200,000 tokens: %d pictures, %d pages", lesser.ImageLimits.MaxCount, lesser.DocumentLimits.MaxPages)
	}
}

// The window of a model holds for both protocols of one endpoint, its sight does
// not.
func TestWindowOfTheSibling(t *testing.T) {
	p := profile.Build(profile.Binding{Kind: "openai-chat", BaseURL: "https://api.openai.com/v1", Model: "gpt-5"}, nil, now)
	if p.Context != 400_000 || p.Output != 128_000 || p.Images.Answer != delivery.Unknown {
		t.Errorf("context %d, output %d, images %+v", p.Context, p.Output, p.Images)
	}
}

func TestOverridesWin(t *testing.T) {
	for _, kind := range profile.Kinds() {
		for _, url := range []string{"https://api.anthropic.com", "https://api.openai.com/v1", madeURL} {
			b := profile.Binding{Kind: kind, BaseURL: url, Model: "claude-opus-5"}
			b.Limits = profile.Overrides{
				Images: 3000, ImageEdge: 12_000, Context: 7, Output: 5, ImageBytes: 60_000_000, RequestBytes: 900_000_000,
			}
			p := profile.Build(b, nil, now)
			l := p.ImageLimits
			if l.MaxCount != 3000 || l.MaxEdge != 12_000 || l.MaxBytes != 60_000_000 || l.MaxEncoded != 0 ||
				p.MaxRequest != 900_000_000 || p.Context != 7 || p.Output != 5 {
				t.Errorf("%s %s: %+v", kind, url, p)
			}
			without := b
			without.Limits = profile.Overrides{Images: -1, ImageEdge: -1, Context: -1, Output: -1, ImageBytes: -1, RequestBytes: -1}
			none := b
			none.Limits = profile.Overrides{}
			if diff := cmp.Diff(profile.Build(none, nil, now), profile.Build(without, nil, now)); diff != "" {
				t.Errorf("%s %s: negative overrides count:\n%s", kind, url, diff)
			}
		}
	}
}

func TestMediaTypes(t *testing.T) {
	tests := []struct {
		kind                     string
		types                    []string
		images, audio, documents []string
		sees                     delivery.Answer
	}{
		{"openai-chat", []string{"image/webp"}, []string{"image/webp"}, nil, nil, delivery.Yes},
		{"openai-chat", []string{"image/*"}, webFour, nil, nil, delivery.Yes},
		{"openai-chat", []string{"image/avif", "image/png"}, []string{"image/png", "image/avif"}, nil, nil, delivery.Yes},
		{"openai-chat", []string{"image/*", "image/avif"}, append(slices.Clone(webFour), "image/avif"), nil, nil, delivery.Yes},
		{"anthropic", []string{"image/avif", "image/gif"}, []string{"image/gif"}, nil, nil, delivery.Yes},
		{
			"openai-chat",
			[]string{"image/png", "audio/*", "application/pdf", "text/csv"},
			[]string{"image/png"},
			[]string{"audio/wav", "audio/mpeg"},
			[]string{"application/pdf"},
			delivery.Yes,
		},
		{"openai-chat", []string{"image/png", "audio/mpeg", "audio/ogg"}, []string{"image/png"}, []string{"audio/mpeg"}, nil, delivery.Yes},
		{"openai-chat", []string{"application/pdf"}, nil, nil, []string{"application/pdf"}, delivery.No},
	}
	for _, tt := range tests {
		b := profile.Binding{Kind: tt.kind, BaseURL: "https://api.openai.com/v1", Model: other, Vision: profile.TriYes}
		b.Limits.MediaTypes = tt.types
		p := profile.Build(b, nil, now)
		if !slices.Equal(p.ImageLimits.MIMEs, tt.images) || !slices.Equal(p.AudioLimits.MIMEs, tt.audio) ||
			!slices.Equal(p.DocumentLimits.MIMEs, tt.documents) {
			t.Errorf("%s %v: %v, %v, %v", tt.kind, tt.types, p.ImageLimits.MIMEs, p.AudioLimits.MIMEs, p.DocumentLimits.MIMEs)
		}
		if p.Images.Answer != tt.sees {
			t.Errorf("%s %v: images %+v", tt.kind, tt.types, p.Images)
		}
		for _, c := range []struct {
			got  delivery.Capability
			list []string
		}{{p.Audio, tt.audio}, {p.Documents, tt.documents}} {
			if (c.got.Answer == delivery.Yes) != (len(c.list) > 0) {
				t.Errorf("%s %v: %+v with %v", tt.kind, tt.types, c.got, c.list)
			}
		}
	}
}

func TestPlaceByModel(t *testing.T) {
	tests := []struct {
		kind, model string
		hoist       bool
		types       []string
	}{
		{"gemini", "gemini-2.5-pro", true, nil},
		{"gemini", "gemini-3.5-flash", false, []string{"image/png", "image/jpeg", "image/webp"}},
		{"gemini", "gemini-4-neon", false, []string{"image/png", "image/jpeg", "image/webp"}},
		{"gemini", "gemini-30", true, nil},
		{"gemini", "gemma-4-31b-it", true, nil},
		{"bedrock-converse", "eu.anthropic.claude-opus-5", false, nil},
		{"bedrock-converse", "amazon.nova-lite-v1:0", false, nil},
		{"bedrock-converse", "global.openai.gpt-6-sol", true, nil},
		{"openai-chat", "anthropic/claude-opus-5", true, nil},
	}
	for _, tt := range tests {
		p := profile.Build(profile.Binding{Kind: tt.kind, BaseURL: madeURL, Model: tt.model}, nil, now)
		if p.Placement.HoistResults != tt.hoist || !slices.Equal(p.ImageLimits.ResultMIMEs, tt.types) {
			t.Errorf("%s %s: hoist %v, types %v", tt.kind, tt.model, p.Placement.HoistResults, p.ImageLimits.ResultMIMEs)
		}
	}
	// A user's list that leaves none for results must not open them for all.
	b := profile.Binding{Kind: "gemini", BaseURL: madeURL, Model: "gemini-3.5-flash", Vision: profile.TriYes}
	b.Limits.MediaTypes = []string{"image/heic"}
	if p := profile.Build(b, nil, now); !p.Placement.HoistResults {
		t.Errorf("%+v", p.ImageLimits)
	}
}

func TestPrices(t *testing.T) {
	tests := []struct {
		kind, model string
		w, h, want  int
	}{
		{"openai-chat", "gpt-4o", 1024, 1024, 85 + 4*170},
		{"openai-chat", "gpt-4o-2024-08-06", 1024, 1024, 85 + 4*170},
		{"openai-chat", "gpt-4o-mini", 1024, 1024, 2833 + 4*5667},
		{"openai-chat", "openai/gpt-4o:online", 1024, 1024, 85 + 4*170},
		{"openai-chat", "gpt-4.1-mini", 320, 320, 162},
		{"openai-chat", "gpt-4.1-mini", 2000, 2000, 1536 * 162 / 100},
		{"openai-chat", "gpt-5", 1024, 1024, 70 + 4*140},
		{"openai-chat", "gpt-5-nano", 320, 320, 246},
		{"openai-chat", "gpt-5.2", 2000, 2000, 1536},
		{"openai-chat", "gpt-5.3-codex-spark", 2000, 2000, 1536},
		{"openai-chat", "gpt-5.4-pro", 2000, 2000, 2500},
		{"openai-chat", "gpt-5.5", 2000, 2000, 63 * 63},
		{"openai-chat", "gpt-6.1-sol", 2000, 2000, 63 * 63 * 12 / 10},
		// Not in the tables, and not to be guessed from a neighbour.
		{"openai-chat", "gpt-5.7", 2000, 2000, delivery.DefaultPictureTokens},
		{"openai-chat", "gpt-50", 2000, 2000, delivery.DefaultPictureTokens},
		{"openai-chat", "o1mega", 2000, 2000, delivery.DefaultPictureTokens},
		{"openai-chat", "my-gpt-4o", 2000, 2000, delivery.DefaultPictureTokens},
		{"anthropic", "claude-opus-4-6", 2000, 2000, 1568},
		{"anthropic", "claude-opus-4-8", 2000, 2000, 4784},
		{"openai-chat", "anthropic/claude-opus-4.6", 2000, 2000, 1568},
		{"openai-chat", "anthropic/claude-opus-4.8", 2000, 2000, 4784},
		{"openai-chat", "anthropic/claude-sonnet-4.5", 2000, 2000, 1568},
		{"ollama", "llama-3.2-vision:11b", 2000, 2000, 768},
		{"anthropic", "claude-sonnet-5-5", 1920, 1080, 2691},
		{"anthropic", "unheard-of", 2000, 2000, 4784},
		{"bedrock-converse", "us.anthropic.claude-sonnet-4-20250514-v1:0", 2000, 2000, 1568},
		{"gemini", "gemini-2.5-pro", 300, 300, 258},
		{"gemini", "gemini-2.5-pro", 1536, 768, 2 * 258},
		{"gemini", "gemini-3.8-flash", 2000, 2000, 1120},
		{"ollama", "llava:7b", 2000, 2000, 768},
		{"ollama", "qwen2.5vl:7b", 280, 280, 100},
		{"openai-chat", "qwen/qwen3-vl-235b-a22b", 320, 320, 100},
		{"openai-chat", "pixtral-12b", 1600, 1600, 4096},
		{"openai-chat", "deepseek-flash", 2000, 2000, 384},
	}
	for _, tt := range tests {
		p := profile.Build(profile.Binding{Kind: tt.kind, BaseURL: madeURL, Model: tt.model}, nil, now)
		if got := p.Tokens.PictureTokens(tt.w, tt.h); got != tt.want {
			t.Errorf("%s %s: %dx%d costs %d, want %d", tt.kind, tt.model, tt.w, tt.h, got, tt.want)
		}
	}
}
