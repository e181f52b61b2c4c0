package profile_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/profile"
)

const snapshotFile = "catalogue.json.gz"

func TestLookupIsExact(t *testing.T) {
	const (
		anthropic = "https://api.anthropic.com"
		bedrock   = "https://bedrock-runtime.us-east-1.amazonaws.com"
		gateway   = "https://gateway.ai.cloudflare.com/v1/"
	)
	tests := []struct {
		name             string
		kind, url, model string
		want             bool
	}{
		{"as written", "anthropic", anthropic, "claude-opus-5", true},
		{"slash at the end", "anthropic", anthropic + "/", "claude-opus-5", true},
		{"host in capitals", "anthropic", "HTTPS://API.Anthropic.COM", "claude-opus-5", true},
		{"two slashes", "anthropic", anthropic + "//", "claude-opus-5", false},
		{"no TLS", "anthropic", "http://api.anthropic.com", "claude-opus-5", false},
		{"no scheme", "anthropic", "api.anthropic.com", "claude-opus-5", false},
		{"port", "anthropic", anthropic + ":443", "claude-opus-5", false},
		{"user", "anthropic", "https://a@api.anthropic.com", "claude-opus-5", false},
		{"query", "anthropic", anthropic + "?a=b", "claude-opus-5", false},
		{"own proxy", "anthropic", "https://proxy.example.com", "claude-opus-5", false},
		{"longer host", "anthropic", anthropic + ".example.com", "claude-opus-5", false},
		{"deeper path", "anthropic", anthropic + "/v1", "claude-opus-5", false},
		{"other kind", "openai-chat", anthropic, "claude-opus-5", false},
		{"no URL", "anthropic", "", "claude-opus-5", false},
		{"renamed", "anthropic", anthropic, "my-claude-opus-5", false},
		{"other case", "anthropic", anthropic, "Claude-Opus-5", false},
		{"suffix", "anthropic", anthropic, "claude-opus-5-latest", false},
		{"space", "anthropic", anthropic, "claude-opus-5 ", false},
		{"no model", "anthropic", anthropic, "", false},
		{"path keeps its case", "openai-responses", "https://api.openai.com/V1", "gpt-5", false},
		{"openai", "openai-responses", "https://api.openai.com/v1/", "gpt-5", true},
		{"mistral speaks chat under v1", "openai-chat", "https://api.mistral.ai/v1", "mistral-medium-latest", true},
		{"mistral without v1", "openai-chat", "https://api.mistral.ai", "mistral-medium-latest", false},
		{"a region", "bedrock-converse", bedrock, "amazon.nova-lite-v1:0", true},
		{"another region", "bedrock-converse", "https://bedrock-runtime.ap-southeast-2.amazonaws.com/", "amazon.nova-lite-v1:0", true},
		{"no region", "bedrock-converse", "https://bedrock-runtime..amazonaws.com", "amazon.nova-lite-v1:0", false},
		{"two labels for one", "bedrock-converse", "https://bedrock-runtime.a.b.amazonaws.com", "amazon.nova-lite-v1:0", false},
		{"host after the region", "bedrock-converse", "https://bedrock-runtime.us-east-1.amazonaws.com.example.com", "amazon.nova-lite-v1:0", false},
		{"path as region", "bedrock-converse", "https://bedrock-runtime.a/b.amazonaws.com", "amazon.nova-lite-v1:0", false},
		{"the pattern itself", "bedrock-converse", "https://bedrock-runtime.{region}.amazonaws.com", "amazon.nova-lite-v1:0", false},
		{"accounts", "anthropic", gateway + "0a1b/my_gate-way/anthropic", "claude-opus-5", true},
		{"an account short", "anthropic", gateway + "0a1b/anthropic", "claude-opus-5", false},
	}
	c := profile.Open()
	for _, tt := range tests {
		r, got := c.Lookup(tt.kind, tt.url, tt.model)
		if got != tt.want {
			t.Errorf("%s: Lookup(%q, %q, %q) found = %v, want %v", tt.name, tt.kind, tt.url, tt.model, got, tt.want)
		}
		if got && (r.Kind != tt.kind || r.Model != tt.model) {
			t.Errorf("%s: Lookup answered with %s %s", tt.name, r.Kind, r.Model)
		}
		if !got && r.Model != "" {
			t.Errorf("%s: not found, but the record is %+v", tt.name, r)
		}
	}
}

func TestKnownModels(t *testing.T) {
	tests := []struct {
		kind, url, model string
		image            bool
		limits           profile.Limits
	}{
		{"anthropic", "https://api.anthropic.com", "claude-opus-5", true, profile.Limits{ImagesPerRequest: 600, RequestBytes: 32 << 20}},
		{"openai-responses", "https://api.openai.com/v1", "gpt-5", true, profile.Limits{ImagesPerRequest: 1500, RequestBytes: 512 << 20}},
		{"gemini", "https://generativelanguage.googleapis.com/v1beta", "gemini-2.5-pro", true, profile.Limits{ImagesPerRequest: 3600, RequestBytes: 20 << 20}},
		{"bedrock-converse", "https://bedrock-runtime.eu-west-1.amazonaws.com", "amazon.nova-lite-v1:0", true, profile.Limits{ImagesPerMessage: 20}},
		{"bedrock-converse", "https://bedrock-runtime.eu-west-1.amazonaws.com", "amazon.nova-micro-v1:0", false, profile.Limits{}},
		{"openai-chat", "https://api.deepseek.com", "deepseek-v4-pro", false, profile.Limits{}},
	}
	c := profile.Open()
	for _, tt := range tests {
		r, ok := c.Lookup(tt.kind, tt.url, tt.model)
		if !ok {
			t.Errorf("no record of %s at %s", tt.model, tt.url)
			continue
		}
		if r.Image != tt.image {
			t.Errorf("%s takes pictures = %v, want %v", tt.model, r.Image, tt.image)
		}
		got := profile.Limits{ImagesPerMessage: r.Limits.ImagesPerMessage, ImagesPerRequest: r.Limits.ImagesPerRequest, RequestBytes: r.Limits.RequestBytes}
		if got != tt.limits {
			t.Errorf("%s has the limits %+v, want %+v", tt.model, got, tt.limits)
		}
		if r.ContextWindow <= 0 || r.MaxOutput <= 0 || r.Name == "" || r.Provider == "" || r.BaseURL == "" {
			t.Errorf("%s lacks a fact: %+v", tt.model, r)
		}
	}
}

func TestModels(t *testing.T) {
	c := profile.Open()
	got := c.Models("anthropic", "https://API.anthropic.com/")
	if len(got) < 5 || !slices.IsSortedFunc(got, func(a, b profile.Record) int { return strings.Compare(a.Model, b.Model) }) {
		t.Errorf("Models(anthropic) has %d records, want several in order", len(got))
	}
	for _, r := range got {
		if r.Provider != "anthropic" {
			t.Errorf("Models(anthropic) holds %s of %s", r.Model, r.Provider)
		}
	}
	if got := c.Models("openai-chat", "http://localhost:8080/v1"); len(got) != 0 {
		t.Errorf("Models of a server of one's own = %d records, want none", len(got))
	}
	// Two plans of one host: what only the second offers must be found as well.
	shared := c.Models("openai-chat", "https://token-plan.maas.qwencloudapi.com/compatible-mode/v1")
	providers := map[string]bool{}
	for _, r := range shared {
		providers[r.Provider] = true
		if _, ok := c.Lookup(r.Kind, r.BaseURL, r.Model); !ok {
			t.Errorf("%s of %s is listed and not found", r.Model, r.Provider)
		}
	}
	if len(providers) != 2 {
		t.Errorf("a host shared by two plans lists the providers %v", providers)
	}
}

// Every line is decoded here, so that none can panic later; every record is
// checked for what Lookup and the user of a record rely on.
func TestEmbeddedRecordsAreSound(t *testing.T) {
	file, err := os.ReadFile(snapshotFile)
	if err != nil {
		t.Fatal(err)
	}
	records, _, err := profile.ReadCatalogue(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(records) < 1500 {
		t.Errorf("%d records, want the whole catalogue", len(records))
	}
	kinds := []string{"openai-chat", "openai-responses", "anthropic", "bedrock-converse", "gemini"}
	var yes int
	for _, r := range records {
		if !slices.Contains(kinds, r.Kind) || !strings.HasPrefix(r.BaseURL, "https://") || strings.HasSuffix(r.BaseURL, "/") {
			t.Errorf("record of an unknown kind or URL: %s %s %s", r.Kind, r.BaseURL, r.Model)
		}
		if r.ContextWindow <= 0 || r.Cost.Input < 0 || r.Limits.RequestBytes < 0 {
			t.Errorf("record with an impossible number: %+v", r)
		}
		if r.Image {
			yes++
		}
	}
	if yes == 0 || yes == len(records) {
		t.Errorf("%d of %d records take pictures, want some and not all", yes, len(records))
	}
}

// A file edited by hand, or written by another version of the generator than
// its header says, is not fresh.
func TestSnapshotIsFresh(t *testing.T) {
	file, err := os.ReadFile(snapshotFile)
	if err != nil {
		t.Fatal(err)
	}
	zr, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if !zr.ModTime.IsZero() || zr.Name != "" {
		t.Error("the snapshot carries a time or a name, so two runs would differ")
	}
	text, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := bytes.Cut(text, []byte("\n"))
	sum := sha256.Sum256(body)
	meta := profile.Open().Meta()
	if got := hex.EncodeToString(sum[:]); got != meta.Body {
		t.Errorf("the body has the hash %s, the header says %s: run make catalogue", got, meta.Body)
	}
	gen, err := os.ReadFile("gen/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"sourcePackage": meta.Source, "sourceVersion": meta.Version, "sourceSHA256": meta.SHA256, "sourceLicence": meta.Licence} {
		pinned := regexp.MustCompile(name + ` += "(.*)"`).FindSubmatch(gen)
		if pinned == nil || string(pinned[1]) != value {
			t.Errorf("the snapshot says %s = %q, the generator says %q: run make catalogue", name, value, pinned)
		}
	}
	if !regexp.MustCompile(`^20\d\d-\d\d-\d\d$`).MatchString(meta.Date) {
		t.Errorf("the snapshot's date is %q", meta.Date)
	}
	notice, err := os.ReadFile("NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{meta.Source, meta.Licence + " License", "Permission is hereby granted"} {
		if !bytes.Contains(notice, []byte(want)) {
			t.Errorf("NOTICE does not hold %q", want)
		}
	}
}

func TestWriteAndReadAgain(t *testing.T) {
	want := []profile.Record{
		{
			Provider: "a", Kind: "gemini", BaseURL: "https://a.example/{X}/v1", Model: "m/1:<&>", Name: "M", Image: true, Reasoning: true,
			ContextWindow: 1, MaxOutput: 2,
			Cost:   profile.Cost{Rates: profile.Rates{Input: 0.1, Output: 2, CacheRead: 3, CacheWrite: 4}, Tiers: []profile.Tier{{Rates: profile.Rates{Input: 1, Output: 2, CacheRead: 5, CacheWrite: 6}, Above: 7}}},
			Limits: profile.Limits{ImageWidth: 1, ImageHeight: 2, ImageBytes: 3, ImagesPerMessage: 4, ImagesPerRequest: 5, RequestBytes: 6},
			Quirks: profile.Quirks{Flags: map[string]bool{"f": false, "g": true}, Words: map[string]string{"w": "x"}},
		},
		{Provider: "b", Kind: "gemini", BaseURL: "https://b.example", Model: "m", Name: "m"},
	}
	meta := profile.Meta{Source: "s", Version: "1", SHA256: "00", Date: "2026-11-20", Licence: "MIT"}
	file, err := profile.WriteCatalogue(meta, []profile.Record{want[1], want[0]})
	if err != nil {
		t.Fatal(err)
	}
	again, err := profile.WriteCatalogue(meta, want)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file, again) {
		t.Error("the order of records changes the file")
	}
	got, gotMeta, err := profile.ReadCatalogue(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a record changed on the way (-want +got):\n%s", diff)
	}
	meta.Body = gotMeta.Body
	if gotMeta != meta || meta.Body == "" {
		t.Errorf("meta = %+v, want %+v", gotMeta, meta)
	}
}

func TestWriteRefuses(t *testing.T) {
	a := profile.Record{Provider: "a", Kind: "gemini", BaseURL: "https://a.example", Model: "m"}
	b := a
	b.Provider, b.BaseURL = "b", "https://A.example/"
	tests := map[string][]profile.Record{
		"two answers to one question": {a, b},
		"placeholder without end":     {{Kind: "gemini", BaseURL: "https://{a.example", Model: "m"}},
		"placeholder before a label":  {{Kind: "gemini", BaseURL: "https://{a}b.example", Model: "m"}},
		"two placeholders in a row":   {{Kind: "gemini", BaseURL: "https://{a}{b}.example", Model: "m"}},
	}
	for name, records := range tests {
		if _, err := profile.WriteCatalogue(profile.Meta{}, records); err == nil {
			t.Errorf("%s: WriteCatalogue accepted it", name)
		}
	}
}

func FuzzReadCatalogue(f *testing.F) {
	pack := func(text string) []byte {
		var b bytes.Buffer
		zw := gzip.NewWriter(&b)
		if _, err := io.WriteString(zw, text); err != nil {
			f.Fatal(err)
		}
		if err := zw.Close(); err != nil {
			f.Fatal(err)
		}
		return b.Bytes()
	}
	for _, text := range []string{
		"", "{}", "{}\n", "{}\n[]\n",
		`{"endpoints":[{"provider":"a","kind":"gemini","url":"https://a.example"}],"limits":[{"w":1}]}` + "\n" + `[{"id":"m","lim":1}]` + "\n",
		`{"endpoints":[{"provider":"a"}]}` + "\n" + `[{"id":"m","q":1}]` + "\n",
		`{"endpoints":[{"provider":"a"}]}` + "\n" + `[{"id":"m","lim":-1}]` + "\n",
	} {
		f.Add(pack(text))
	}
	f.Add([]byte("no gzip"))
	f.Fuzz(func(t *testing.T, file []byte) {
		records, meta, err := profile.ReadCatalogue(file)
		if err != nil {
			if !errors.Is(err, profile.ErrSnapshot) {
				t.Errorf("ReadCatalogue: %v does not wrap ErrSnapshot", err)
			}
			return
		}
		again, err := profile.WriteCatalogue(meta, records)
		if err != nil {
			return // what was read may hold what the writer refuses
		}
		back, _, err := profile.ReadCatalogue(again)
		if err != nil {
			t.Fatal(err)
		}
		if len(back) != len(records) {
			t.Errorf("%d records became %d", len(records), len(back))
		}
	})
}

func FuzzLookup(f *testing.F) {
	f.Add("anthropic", "https://api.anthropic.com/", "claude-opus-5")
	f.Add("bedrock-converse", "https://bedrock-runtime.x.amazonaws.com", "m")
	f.Add("bedrock-converse", "https://bedrock-runtime.", "m")
	f.Add("anthropic", "://", "")
	c := profile.Open()
	f.Fuzz(func(t *testing.T, kind, url, model string) {
		r, ok := c.Lookup(kind, url, model)
		if ok && (r.Kind != kind || r.Model != model) {
			t.Errorf("Lookup(%q, %q, %q) answered with %s %s", kind, url, model, r.Kind, r.Model)
		}
	})
}

// The first question of a process: unpack, index, decode one endpoint.
func BenchmarkFirstLookup(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		c := profile.OpenFresh()
		if _, ok := c.Lookup("anthropic", "https://api.anthropic.com", "claude-opus-5"); !ok {
			b.Fatal("not found")
		}
	}
}

// The worst first question: the endpoint with the most models.
func BenchmarkFirstLookupLargest(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if len(profile.OpenFresh().Models("openai-chat", "https://openrouter.ai/api/v1")) == 0 {
			b.Fatal("not found")
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	c := profile.Open()
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := c.Lookup("anthropic", "https://api.anthropic.com/", "claude-opus-5"); !ok {
			b.Fatal("not found")
		}
	}
}

func BenchmarkLookupMiss(b *testing.B) {
	c := profile.Open()
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := c.Lookup("openai-chat", "http://localhost:11434/v1", "llava"); ok {
			b.Fatal("found")
		}
	}
}
