package profile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/profile"
)

func TestQueries(t *testing.T) {
	own := []string{"GET models", "GET /props", "GET /api/v1/models", "GET /api/v0/models", `POST /api/show {"model":"a/b \"c\""}`}
	const model = `a/b "c"`
	tests := []struct {
		kind, url string
		want      []string
	}{
		{"ollama", "http://127.0.0.1:11434", []string{`POST api/show {"model":"a/b \"c\""}`}},
		{"ollama", "https://ollama.com", []string{`POST api/show {"model":"a/b \"c\""}`}},
		{"openai-chat", "http://127.0.0.1:8080/v1", own},
		{"openai-responses", "http://127.0.0.1:8080/v1", own},
		{"openai-chat", "https://llm.example.com/v1", own},
		{"openai-chat", "https://openrouter.ai/api/v1", []string{"GET models"}},
		{"openai-chat", "https://api.mistral.ai/v1", []string{"GET models"}},
		{"openai-chat", "https://api.githubcopilot.com", []string{"GET models"}},
		{"anthropic", "https://api.individual.githubcopilot.com", []string{"GET models"}},
		{"openai-chat", "https://api.openai.com/v1", nil},
		{"openai-chat", "https://mine.openai.azure.com/openai/v1", nil},
		{"openai-chat", "https://api.deepseek.com", nil},
		{"openai-chat", "https://router.huggingface.co/v1", nil},
		{"anthropic", "https://api.anthropic.com", []string{"GET v1/models/a%2Fb%20%22c%22"}},
		{"anthropic", "http://127.0.0.1:1234", append([]string{"GET v1/models/a%2Fb%20%22c%22"}, own[1:]...)},
		{"gemini", "https://generativelanguage.googleapis.com/v1beta", []string{"GET models/a%2Fb%20%22c%22"}},
		{"gemini", "https://us-central1-aiplatform.googleapis.com/v1", nil},
		{"bedrock-converse", "https://bedrock-runtime.us-east-1.amazonaws.com", nil},
		{"cli-claude", "claude 2.1", nil},
		{"offline", "", nil},
		{"openai-chat", "", nil},
	}
	for _, tt := range tests {
		var got []string
		for _, q := range profile.Queries(tt.kind, tt.url, model) {
			s := q.Method + " "
			if q.Root {
				s += "/"
			}
			s += q.Path
			if q.Body != nil {
				s += " " + string(q.Body)
			}
			if q.Model != model || q.Name == "" {
				t.Errorf("%+v", q)
			}
			got = append(got, s)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.kind, tt.url, diff)
		}
	}
	if got := profile.Queries("ollama", "http://127.0.0.1:11434", ""); got != nil {
		t.Errorf("no model: %v", got)
	}
}

// The answers, as servers give them, cut down to what is read.
const (
	ollamaSees = `{"capabilities":["completion","vision","tools"],"model_info":{"general.architecture":"gemma3","gemma3.context_length":131072},
		"parameters":"stop \"<end>\"\nnum_ctx                        16384\ntop_k 64"}`
	ollamaBlind = `{"capabilities":["completion"],"model_info":{"general.architecture":"llama","llama.context_length":8192}}`
	studioList  = `{"models":[
		{"type":"llm","key":"other","capabilities":{"vision":true},"max_context_length":4096},
		{"type":"llm","key":"gemma","capabilities":{"vision":true,"trained_for_tool_use":false},"max_context_length":131072,
		 "loaded_instances":[{"id":"gemma","config":{"context_length":8192}},{"id":"gemma:2","config":{"context_length":4096}}]},
		{"type":"llm","key":"phi","capabilities":{"vision":false},"max_context_length":131072,"loaded_instances":[]}]}`
	oldStudioList = `{"data":[{"id":"gemma","type":"vlm","max_context_length":131072,"loaded_context_length":8192},{"id":"phi","type":"llm"},{"id":"nomic","type":"embeddings"}]}`
	openRouter    = `{"data":[{"id":"a/sees","name":"a/blind","context_length":200000,"architecture":{"input_modalities":["text","image","file"]},
		"top_provider":{"context_length":128000,"max_completion_tokens":8000}},
		{"id":"a/blind","context_length":32000,"architecture":{"input_modalities":["text"]},"top_provider":{"max_completion_tokens":null}},
		{"id":"a/odd","architecture":{"input_modalities":"image"}}]}`
	copilot = `{"data":[{"id":"gpt-5","capabilities":{"family":"gpt-5","limits":{"max_context_window_tokens":400000,"max_prompt_tokens":128000,
		"max_output_tokens":64000,"vision":{"max_prompt_images":1,"max_prompt_image_size":3145728,"supported_media_types":["image/jpeg","image/png","application/x"]}},
		"supports":{"vision":true,"tool_calls":true}}},{"id":"gpt-3.5","capabilities":{"supports":{"vision":false},"limits":{"max_prompt_tokens":12288}}}]}`
	mistral = `{"data":[{"id":"mistral-small","capabilities":{"completion_chat":true,"vision":true},"max_context_length":131072},
		{"id":"codestral","capabilities":{"completion_chat":true,"vision":false},"max_context_length":256000}]}`
	anthropicModel = `{"type":"model","id":"claude-opus-5","max_input_tokens":1000000,"max_tokens":128000,
		"capabilities":{"image_input":{"supported":true},"pdf_input":{"supported":false}}}`
	llamaList = `{"models":[{"name":"m.gguf","model":"m.gguf","capabilities":["completion","multimodal"]}],
		"data":[{"id":"m.gguf","meta":{"n_ctx_train":131072}}]}`
	llamaProps = `{"default_generation_settings":{"n_ctx":8192},"modalities":{"vision":false,"audio":true},"model_alias":"x"}`
	vllmList   = `{"data":[{"id":"served","max_model_len":32768}]}`
	geminiOne  = `{"name":"models/gemini-3.5-flash","inputTokenLimit":1048576,"outputTokenLimit":65536}`
)

func TestRead(t *testing.T) {
	yes, no := delivery.Yes, delivery.No
	const answer = "its answer to "
	tests := []struct {
		name, query, model, answer string
		root                       bool
		want                       profile.Said
	}{
		{"ollama sees", "api/show", "m", ollamaSees, false, profile.Said{Images: yes, Audio: no, Context: 131_072, Window: 16_384, Detail: answer + "api/show"}},
		{"ollama beside its protocol", "api/show", "m", ollamaSees, true, profile.Said{Images: yes, Audio: no, Window: 16_384, Detail: answer + "api/show"}},
		{"ollama is blind", "api/show", "m", ollamaBlind, false, profile.Said{Images: no, Audio: no, Context: 8192, Detail: answer + "api/show"}},
		{"ollama, old", "api/show", "m", `{"model_info":{}}`, false, profile.Said{}},
		{"ollama, capabilities of another kind", "api/show", "m", `{"capabilities":["embedding"]}`, false, profile.Said{}},
		{"lm studio sees", "api/v1/models", "gemma", studioList, true, profile.Said{Images: yes, Window: 4096, Detail: answer + "api/v1/models"}},
		{"lm studio, an instance", "api/v1/models", "gemma:2", studioList, true, profile.Said{Images: yes, Window: 4096, Detail: answer + "api/v1/models"}},
		{"lm studio is blind", "api/v1/models", "phi", studioList, true, profile.Said{Images: no, Detail: answer + "api/v1/models"}},
		{"lm studio, old", "api/v0/models", "gemma", oldStudioList, true, profile.Said{Images: yes, Window: 8192, Detail: answer + "api/v0/models"}},
		{"lm studio, old, blind", "api/v0/models", "phi", oldStudioList, true, profile.Said{Images: no, Detail: answer + "api/v0/models"}},
		{"lm studio, old, neither", "api/v0/models", "nomic", oldStudioList, true, profile.Said{}},
		{"a type says nothing elsewhere", "models", "phi", `{"data":[{"id":"phi","type":"llm"}]}`, false, profile.Said{}},
		{"openrouter sees", "models", "a/sees", openRouter, false, profile.Said{
			Images: yes, Audio: no, Documents: yes, Context: 128_000, Output: 8000, Detail: answer + "models",
		}},
		{"openrouter is blind", "models", "a/blind", openRouter, false, profile.Said{Images: no, Audio: no, Documents: no, Context: 32_000, Detail: answer + "models"}},
		{"openrouter, no list", "models", "a/odd", openRouter, false, profile.Said{}},
		{"openrouter, part of a name", "models", "a/see", openRouter, false, profile.Said{}},
		{"copilot", "models", "gpt-5", copilot, false, profile.Said{
			Images: yes, Context: 128_000, Output: 64_000, MaxImages: 1, ImageBytes: 3_145_728, MIMEs: []string{"image/jpeg", "image/png"}, Detail: answer + "models",
		}},
		{"copilot is blind", "models", "gpt-3.5", copilot, false, profile.Said{Images: no, Context: 12_288, Detail: answer + "models"}},
		{"mistral", "models", "mistral-small", mistral, false, profile.Said{Images: yes, Context: 131_072, Detail: answer + "models"}},
		{"mistral is blind", "models", "codestral", mistral, false, profile.Said{Images: no, Context: 256_000, Detail: answer + "models"}},
		{"anthropic", "models/MODEL", "claude-opus-5", anthropicModel, false, profile.Said{
			Images: yes, Documents: no, Context: 1_000_000, Output: 128_000, Detail: answer + "models/MODEL",
		}},
		{"anthropic, a dated model", "models/MODEL", "claude-opus", anthropicModel, false, profile.Said{
			Images: yes, Documents: no, Context: 1_000_000, Output: 128_000, Detail: answer + "models/MODEL",
		}},
		{"anthropic, another model", "models/MODEL", "claude-opu", anthropicModel, false, profile.Said{}},
		{"llama.cpp, list", "models", "m.gguf", llamaList, false, profile.Said{Images: yes, Detail: answer + "models"}},
		{"llama.cpp, props", "props", "any name", llamaProps, true, profile.Said{Images: no, Audio: yes, Window: 8192, Detail: answer + "props"}},
		{"vllm", "models", "served", vllmList, false, profile.Said{Window: 32_768}},
		{"gemini", "models/MODEL", "gemini-3.5-flash", geminiOne, false, profile.Said{Context: 1_048_576, Output: 65_536}},
		{"a list at the top", "models", "x", `[{"id":"x","context_length":5}]`, false, profile.Said{Context: 5}},
		{"wrong types", "models", "x", `{"data":[{"id":"x","context_length":"many","max_model_len":1.5,"max_completion_tokens":-4,
			"capabilities":{"vision":"yes"},"architecture":[1]}]}`, false, profile.Said{}},
		{"too large a number", "models", "x", `{"data":[{"id":"x","context_length":1e300,"max_model_len":99999999999}]}`, false, profile.Said{}},
		{"no entry is an object", "models", "x", `{"data":["x",null,[],3]}`, false, profile.Said{}},
		{"no JSON", "models", "x", `<html>`, false, profile.Said{}},
		{"nothing", "models", "x", ``, false, profile.Said{}},
		{"a number", "props", "x", `3`, true, profile.Said{}},
		{"an unknown question", "what", "m", ollamaSees, false, profile.Said{}},
	}
	for _, tt := range tests {
		got, ok := profile.Read(profile.Query{Name: tt.query, Model: tt.model, Root: tt.root}, []byte(tt.answer))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if ok == tt.want.IsZero() {
			t.Errorf("%s: said something: %v", tt.name, ok)
		}
	}
	long := `{"data":[{"id":"x","context_length":5}],"pad":"` + strings.Repeat("x", 8<<20) + `"}`
	if _, ok := profile.Read(profile.Query{Name: "models", Model: "x"}, []byte(long)); ok {
		t.Error("an answer of any length is read")
	}
}

// Whatever a server answers, nothing breaks, and nothing is enabled.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		ollamaSees, ollamaBlind, studioList, oldStudioList, openRouter, copilot, mistral, anthropicModel, llamaList, llamaProps, vllmList, geminiOne,
		`[]`, `{"data":{}}`, `{"capabilities":["completion",1]}`, `{"model_info":{"general.architecture":"a.b"}}`,
	} {
		for i := range 6 {
			f.Add(byte(i), "gemma", []byte(s))
			f.Add(byte(i), "m", []byte(s))
		}
	}
	names := []string{"api/show", "models", "models/MODEL", "props", "api/v1/models", "api/v0/models"}
	f.Fuzz(func(t *testing.T, which byte, model string, answer []byte) {
		q := profile.Query{Name: names[int(which)%len(names)], Model: model, Root: which >= 128}
		s, ok := profile.Read(q, answer)
		if ok == s.IsZero() {
			t.Errorf("%+v: %v", s, ok)
		}
		if min(s.Context, s.Window, s.Output, s.MaxImages, s.ImageBytes) < 0 {
			t.Errorf("a negative number: %+v", s)
		}
		for _, kind := range []string{"openai-chat", "ollama", "anthropic"} {
			b := profile.Binding{Kind: kind, BaseURL: madeURL, Model: other, Said: s}
			p := profile.Build(b, nil, now)
			if p.Images.Answer == delivery.Yes || p.Audio.Answer == delivery.Yes || p.Documents.Answer == delivery.Yes {
				t.Errorf("%+v enables: %+v", s, p)
			}
			if len(p.ImageLimits.MIMEs) == 0 {
				t.Errorf("%+v leaves no format", s)
			}
		}
	})
}

func TestSaidWith(t *testing.T) {
	a := profile.Said{Window: 8192, Detail: ""}
	b := profile.Said{Images: delivery.Yes, Context: 100, Detail: "its answer to props"}
	c := profile.Said{Images: delivery.No, Audio: delivery.No, Window: 4, Output: 7, MaxImages: 2, ImageBytes: 9, MIMEs: []string{"image/png"}, Detail: "other", At: now}
	want := profile.Said{
		Images: delivery.Yes, Audio: delivery.No, Context: 100, Window: 8192, Output: 7, MaxImages: 2, ImageBytes: 9, MIMEs: []string{"image/png"},
		Detail: "its answer to props", At: now,
	}
	got := a.With(b).With(c)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if a.Settled() || !b.Settled() || (profile.Said{Images: delivery.No}).Settled() {
		t.Error("what settles the matter is whether it sees, and how much it holds")
	}
}

func TestSaidFacts(t *testing.T) {
	s := profile.Said{Images: delivery.No, Documents: delivery.Yes, Detail: "its answer to props"}
	want := []profile.Fact{
		{
			Kind: content.KindImage, Answer: delivery.No, Evidence: delivery.EvidenceServer,
			Detail: "the server said on 2026-12-01 that it takes no pictures (its answer to props)", At: now,
		},
		{
			Kind: content.KindDocument, Answer: delivery.Yes, Evidence: delivery.EvidenceServer,
			Detail: "the server said on 2026-12-01 that it takes documents (its answer to props)", At: now,
		},
	}
	if diff := cmp.Diff(want, s.Facts(now)); diff != "" {
		t.Error(diff)
	}
	whole := s
	whole.Sentence = "claude 2.1.0 is older than 2.1.240"
	for _, f := range whole.Facts(now) {
		if f.Detail != whole.Sentence {
			t.Errorf("a sentence that is whole became %q", f.Detail)
		}
	}
	if got := (profile.Said{Window: 5}).With(whole); got.Sentence != whole.Sentence {
		t.Errorf("put together: %+v", got)
	}
	if got := (profile.Said{Images: delivery.Yes}).With(whole); got.Sentence != "" {
		t.Errorf("another answer's sentence: %+v", got)
	}
	s.At = ago(time.Hour)
	if got := s.Facts(now)[0].At; !got.Equal(s.At) {
		t.Errorf("said at %v", got)
	}
	if got := (profile.Said{Window: 5}).Facts(now); got != nil {
		t.Errorf("numbers are no answers: %v", got)
	}
}

// What a server says may withhold, narrow and fill in, and no more.
func TestSaidInAProfile(t *testing.T) {
	build := func(kind, url, model string, s profile.Said, change ...func(*profile.Binding)) delivery.Profile {
		b := profile.Binding{Kind: kind, BaseURL: url, Model: model, Said: s}
		for _, c := range change {
			c(&b)
		}
		return profile.Build(b, nil, now)
	}
	sees := profile.Said{Images: delivery.Yes, Context: 90_000, Output: 4000, MaxImages: 3, MIMEs: []string{"image/jpeg", "image/x"}, Detail: "its answer to models"}
	p := build("openai-chat", madeURL, other, sees)
	if p.Images.Answer != delivery.Unknown || p.Images.Evidence != delivery.EvidenceServer {
		t.Errorf("%+v", p.Images)
	}
	if want := "the server said on 2026-12-01 that it takes pictures (its answer to models), which is not taken for proof; tote probe measures it"; p.Images.Detail != want {
		t.Errorf("%q", p.Images.Detail)
	}
	if p.Context != 90_000 || p.Output != 4000 || p.ImageLimits.MaxCount != 3 || !cmp.Equal(p.ImageLimits.MIMEs, []string{"image/jpeg"}) {
		t.Errorf("%+v", p)
	}
	p = build("openai-chat", "https://api.groq.com/openai/v1", other, profile.Said{MaxImages: 50, ImageBytes: 50_000_000})
	if p.ImageLimits.MaxCount != 5 || p.ImageLimits.MaxBytes != 2_900_000 {
		t.Errorf("widened: %+v", p.ImageLimits)
	}
	p = build("anthropic", "https://api.anthropic.com", "claude-opus-5", profile.Said{Context: 7, Window: 6, Output: 5})
	if p.Context != 1_000_000 || p.Output != 128_000 {
		t.Errorf("over what is exact: %d, %d", p.Context, p.Output)
	}
	p = build("openai-chat", madeURL, other, sees, func(b *profile.Binding) {
		b.Limits = profile.Overrides{Images: 9, Context: 10, Output: 11}
		b.Vision = profile.TriYes
	})
	if p.ImageLimits.MaxCount != 9 || p.Context != 10 || p.Output != 11 || p.Images.Answer != delivery.Yes {
		t.Errorf("over the user: %+v", p)
	}
	old := sees
	old.Images, old.At = delivery.No, ago(25*time.Hour)
	if p := build("openai-chat", madeURL, other, old); p.Images.Answer != delivery.Unknown || p.Context != 0 {
		t.Errorf("said yesterday: %+v", p)
	}
	p = build("gemini", madeURL, "gemini-3-x", profile.Said{MIMEs: []string{"image/jpeg"}})
	if !cmp.Equal(p.ImageLimits.MIMEs, []string{"image/jpeg"}) || !cmp.Equal(p.ImageLimits.ResultMIMEs, []string{"image/jpeg"}) {
		t.Errorf("%+v", p.ImageLimits)
	}
	if p := build("offline", "", "m", profile.Said{Images: delivery.No, Context: 5}); p.Images.Answer != delivery.Yes || p.Context != 0 {
		t.Errorf("the stand-in: %+v", p)
	}
}

// A window at Ollama is memory: the user's, else what the model is set to, else as
// much of what it can as is reasonable, else little.
func TestOllamaWindow(t *testing.T) {
	tests := []struct {
		url  string
		user int
		said profile.Said
		want int
	}{
		{"http://127.0.0.1:11434", 0, profile.Said{}, 8192},
		{"http://127.0.0.1:11434", 0, profile.Said{Context: 4096}, 4096},
		{"http://127.0.0.1:11434", 0, profile.Said{Context: 131_072}, 32_768},
		{"http://127.0.0.1:11434", 0, profile.Said{Context: 131_072, Window: 65_536}, 65_536},
		{"http://127.0.0.1:11434", 100_000, profile.Said{Context: 131_072, Window: 65_536}, 100_000},
		{"http://gpu.local:11434", 0, profile.Said{}, 8192},
		{"https://ollama.com", 0, profile.Said{}, 0},
		{"https://ollama.com", 0, profile.Said{Context: 131_072}, 131_072},
	}
	for _, tt := range tests {
		b := profile.Binding{Kind: "ollama", BaseURL: tt.url, Model: "llava", Said: tt.said}
		b.Limits.Context = tt.user
		if got := profile.Build(b, nil, now).Context; got != tt.want {
			t.Errorf("%s, user %d, said %+v: %d, want %d", tt.url, tt.user, tt.said, got, tt.want)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	q := profile.Query{Name: "models", Model: "a/blind"}
	b.ReportAllocs()
	for b.Loop() {
		profile.Read(q, []byte(openRouter))
	}
}
