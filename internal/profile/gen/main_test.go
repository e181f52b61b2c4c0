package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/profile"
)

// dataFiles makes the data files of a package with one provider file.
func dataFiles(t *testing.T, data string) map[string][]byte {
	t.Helper()
	sum := sha256.Sum256([]byte(data))
	manifest, err := json.Marshal(map[string]any{
		"generatedAt": "2026-11-20T10:48:49.496Z",
		"files":       map[string]string{"p.json": hex.EncodeToString(sum[:])},
	})
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{manifestName: manifest, "p.json": []byte(data)}
}

func model(api, fields string) string {
	return `{"` + api + `":{"chat:m":{"id":"m","type":"chat","api":"` + api + `","provider":"p","baseUrl":"https://p.example","input":["text"]` + fields + `}}}`
}

func TestConvert(t *testing.T) {
	base := profile.Record{Provider: "p", Kind: "openai-chat", BaseURL: "https://p.example", Model: "m"}
	with := func(change func(*profile.Record)) []profile.Record {
		r := base
		change(&r)
		return []profile.Record{r}
	}
	tests := map[string]struct {
		data string
		want []profile.Record
	}{
		"text only": {model("openai-completions", ""), with(func(*profile.Record) {})},
		"everything": {
			model("anthropic-messages", `,"name":"M","reasoning":true,"input":["text","image"],"contextWindow":9,"maxTokens":8,
				"cost":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"tiers":[{"inputTokensAbove":6,"input":5},{"inputTokensAbove":5,"input":4}]},
				"inputLimits":{"maxRequestBytes":1,"images":{"maxPerMessage":2,"maxPerRequest":3,"resize":{"maxWidth":4,"maxHeight":5,"maxBytes":6,"jpegQuality":7}}},
				"compat":{"supportsStore":false,"maxTokensField":"max_tokens","chatTemplateArgs":{"a":1}}`),
			with(func(r *profile.Record) {
				r.Kind, r.Name, r.Reasoning, r.Image, r.ContextWindow, r.MaxOutput = "anthropic", "M", true, true, 9, 8
				r.Cost = profile.Cost{
					Rates: profile.Rates{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4},
					Tiers: []profile.Tier{{Rates: profile.Rates{Input: 4}, Above: 5}, {Rates: profile.Rates{Input: 5}, Above: 6}},
				}
				r.Limits = profile.Limits{RequestBytes: 1, ImagesPerMessage: 2, ImagesPerRequest: 3, ImageWidth: 4, ImageHeight: 5, ImageBytes: 6}
				r.Quirks = profile.Quirks{Flags: map[string]bool{"supportsStore": false}, Words: map[string]string{"maxTokensField": "max_tokens"}}
			}),
		},
		"path of the client": {model("mistral-conversations", ""), with(func(r *profile.Record) { r.BaseURL += "/v1" })},
		"region": {model("bedrock-converse-stream", `,"baseUrl":"https://bedrock-runtime.us-east-1.amazonaws.com"`), with(func(r *profile.Record) {
			r.Kind, r.BaseURL = "bedrock-converse", "https://bedrock-runtime.{region}.amazonaws.com"
		})},
		"no chat model":       {model("openai-decisions", `,"type":"classifier"`), nil},
		"wire we do not know": {model("google-vertex", ""), nil},
		"no URL":              {model("openai-completions", `,"baseUrl":""`), nil},
	}
	for name, tt := range tests {
		got, err := convert(dataFiles(t, tt.data))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got.records); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got.date != "2026-11-20" || len(got.records) == 0 && len(got.skipped) == 0 {
			t.Errorf("%s: date %q, skipped %v", name, got.date, got.skipped)
		}
	}
}

// What the converter does not understand must stop it: a guess would end up as
// a fact about what a model can see.
func TestConvertRefuses(t *testing.T) {
	twice := `{"openai-completions":{
		"chat:a":{"id":"m","type":"chat","api":"openai-completions","provider":"a","baseUrl":"https://p.example","input":["text"]},
		"chat:b":{"id":"m","type":"chat","api":"openai-completions","provider":"b","baseUrl":"https://p.example","input":["text","image"]}}}`
	tests := map[string]map[string][]byte{
		"unknown api":      dataFiles(t, model("telepathy", "")),
		"unknown input":    dataFiles(t, model("openai-completions", `,"input":["text","smell"]`)),
		"no text":          dataFiles(t, model("openai-completions", `,"input":["image"]`)),
		"no id":            dataFiles(t, model("openai-completions", `,"id":""`)),
		"structured quirk": dataFiles(t, model("openai-completions", `,"compat":{"novel":{}}`)),
		"two answers":      dataFiles(t, twice),
		"no manifest":      {"p.json": []byte("{}")},
		"no JSON":          dataFiles(t, "{"),
	}
	changed := dataFiles(t, model("openai-completions", ""))
	changed["p.json"] = append(changed["p.json"], ' ')
	tests["changed file"] = changed
	extra := dataFiles(t, model("openai-completions", ""))
	extra["q.json"] = []byte("{}")
	tests["file without a hash"] = extra
	for name, files := range tests {
		if c, err := convert(files); err == nil {
			t.Errorf("%s: convert gave %d records", name, len(c.records))
		}
	}
}

func TestUnpack(t *testing.T) {
	var archive bytes.Buffer
	zw := gzip.NewWriter(&archive)
	tw := tar.NewWriter(zw)
	for name, text := range map[string]string{
		dataDir + "p.json":       "p",
		dataDir + manifestName:   "m",
		dataDir + "p.js":         "code",
		"package/package.json":   "other",
		dataDir + "../x/../y.js": "climbs",
	} {
		if err := tw.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := unpack(archive.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]byte{"p.json": []byte("p"), manifestName: []byte("m")}, got); diff != "" {
		t.Errorf("unpack (-want +got):\n%s", diff)
	}
	if _, err := unpack(archive.Bytes()[:archive.Len()/2]); err == nil {
		t.Error("unpack took half an archive")
	}
}

func TestRunRefusesAnotherArchive(t *testing.T) {
	dir := t.TempDir()
	archive, out := filepath.Join(dir, "a.tgz"), filepath.Join(dir, "out")
	if err := os.WriteFile(archive, []byte("not the package"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := run(t.Context(), out, archive)
	if err == nil || !strings.Contains(err.Error(), sourceSHA256) {
		t.Errorf("run = %v, want an error that names the wanted hash", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("run wrote a snapshot from an archive it refused")
	}
}

func TestReportChanges(t *testing.T) {
	at := func(model string, image bool) profile.Record {
		return profile.Record{Kind: "gemini", BaseURL: "https://p.example", Model: model, Image: image}
	}
	var w strings.Builder
	reportChanges(&w,
		[]profile.Record{at("same", true), at("sees now", false), at("blind now", true), at("gone", true)},
		[]profile.Record{at("same", true), at("sees now", true), at("blind now", false), at("new", true)})
	want := `flipped: gemini https://p.example sees now pictures no -> yes
flipped: gemini https://p.example blind now pictures yes -> no
1 added, 1 gone, 2 flipped
`
	if diff := cmp.Diff(want, w.String()); diff != "" {
		t.Errorf("reportChanges (-want +got):\n%s", diff)
	}
}
