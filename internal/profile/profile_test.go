package profile_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/profile"
)

var now = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

const day = 24 * time.Hour

const (
	madeURL = "https://models.example.com/v1"
	seeing  = "seeing"
	blind   = "blind"
	other   = "other"
)

// madeCatalogue holds a model that sees, one that does not, and quirks.
func madeCatalogue(t *testing.T) []byte {
	t.Helper()
	rec := func(model string, image bool, flags ...string) profile.Record {
		r := profile.Record{
			Provider: "example", Kind: "openai-chat", BaseURL: madeURL, Model: model, Image: image,
			ContextWindow: 100_000, MaxOutput: 5000,
		}
		for _, f := range flags {
			if r.Quirks.Flags == nil {
				r.Quirks.Flags = map[string]bool{}
			}
			r.Quirks.Flags[f] = true
		}
		return r
	}
	narrow := rec("narrow", true)
	narrow.Limits = profile.Limits{
		ImageWidth: 1500, ImageHeight: 1000, ImageBytes: 400_000, ImagesPerMessage: 7, ImagesPerRequest: 9, RequestBytes: 1_000_000,
	}
	wide := rec("wide", true)
	wide.Limits = profile.Limits{ImageWidth: 9000, ImageHeight: 9000, ImageBytes: 90_000_000, RequestBytes: 900_000_000}
	file, err := profile.WriteCatalogue(
		profile.Meta{Source: "@example/models", Version: "1.2.3", Date: "2026-11-20"},
		[]profile.Record{
			rec(seeing, true), rec(blind, false), narrow, wide,
			rec("bridged", true, "requiresAssistantAfterToolResult"),
			rec("thinking", true, "requiresReasoningContentOnAssistantMessages"),
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// source is one thing that may say yes or no about pictures, strongest first.
type source struct {
	evidence delivery.Evidence
	// say adds what it says to the inputs.
	say func(b *profile.Binding, facts *[]profile.Fact, yes bool)
}

func fact(e delivery.Evidence, a delivery.Answer, at time.Time) profile.Fact {
	return profile.Fact{Kind: content.KindImage, Answer: a, Evidence: e, At: at}
}

func answer(yes bool) delivery.Answer {
	if yes {
		return delivery.Yes
	}
	return delivery.No
}

func learn(e delivery.Evidence, at time.Time) source {
	return source{e, func(_ *profile.Binding, facts *[]profile.Fact, yes bool) {
		*facts = append(*facts, fact(e, answer(yes), at))
	}}
}

func sources() []source {
	return []source{
		{delivery.EvidenceBinding, func(b *profile.Binding, _ *[]profile.Fact, yes bool) {
			b.Vision = profile.TriNo
			if yes {
				b.Vision = profile.TriYes
			}
		}},
		// The weaker a source, the newer: strength counts before time.
		learn(delivery.EvidenceAnswered, ago(9*time.Hour)),
		learn(delivery.EvidenceProbe, ago(8*time.Hour)),
		{delivery.EvidenceCatalogue, func(b *profile.Binding, _ *[]profile.Fact, yes bool) {
			b.Model = blind
			if yes {
				b.Model = seeing
			}
		}},
		learn(delivery.EvidenceServer, ago(time.Hour)),
	}
}

// Of any two sources that speak, the stronger decides, whatever each says and in
// whatever order they are stored.
func TestStrongerEvidenceDecides(t *testing.T) {
	file := madeCatalogue(t)
	all := sources()
	for i, strong := range all {
		for j := i; j < len(all); j++ {
			for bits := range 4 {
				b := profile.Binding{Kind: "openai-chat", BaseURL: madeURL, Model: other}
				var facts []profile.Fact
				yes := bits&1 == 1
				all[j].say(&b, &facts, bits&2 == 2)
				strong.say(&b, &facts, yes)
				want := answer(yes)
				by := strong.evidence
				switch weak := all[j].evidence; {
				case by == delivery.EvidenceServer && yes:
					want = delivery.Unknown
				case by == delivery.EvidenceCatalogue && weak == delivery.EvidenceServer && yes && bits&2 == 0:
					// A snapshot knows less of the server than the server.
					want, by = delivery.No, weak
				}
				got := profile.BuildFrom(file, b, facts, now).Images
				if got.Answer != want || got.Evidence != by || got.Detail == "" {
					t.Errorf("%v says %v over %v saying %v: %+v, want %v", strong.evidence, yes, all[j].evidence, bits&2 == 2, got, want)
				}
			}
		}
	}
}

func TestNothingKnownIsUnknown(t *testing.T) {
	for _, kind := range profile.Kinds() {
		if kind == "offline" {
			continue
		}
		p := profile.Build(profile.Binding{Kind: kind, BaseURL: "https://llm.example.com", Model: "gpt-5-vision-preview"}, nil, now)
		if p.Images.Answer != delivery.Unknown || p.Images.Evidence != delivery.EvidenceNone || p.Images.Detail == "" {
			t.Errorf("%s: images %+v, want unknown", kind, p.Images)
		}
		if p.Audio.Answer == delivery.Yes || p.Documents.Answer == delivery.Yes {
			t.Errorf("%s: audio %+v, documents %+v", kind, p.Audio, p.Documents)
		}
		window := 0
		if kind == "ollama" { // it has to be told one
			window = 8192
		}
		if p.Context != window || p.Output != 0 {
			t.Errorf("%s: window %d, answer %d of an unknown model", kind, p.Context, p.Output)
		}
	}
}

// A record counts for its own kind, address and model, and for nothing like it.
func TestRecordsAreExact(t *testing.T) {
	tests := []struct {
		kind, url, model string
		want             delivery.Answer
	}{
		{"anthropic", "https://api.anthropic.com", "claude-opus-5", delivery.Yes},
		{"anthropic", "https://API.anthropic.com/", "claude-opus-5", delivery.Yes},
		{"anthropic", "https://proxy.example.com", "claude-opus-5", delivery.Unknown},
		{"anthropic", "https://api.anthropic.com.example.com", "claude-opus-5", delivery.Unknown},
		{"anthropic", "https://api.anthropic.com", "claude-opus-5-mine", delivery.Unknown},
		{"openai-chat", "https://api.anthropic.com", "claude-opus-5", delivery.Unknown},
		{"openai-responses", "https://api.openai.com/v1", "gpt-5", delivery.Yes},
		{"openai-responses", "https://api.openai.com/v1", "o3-mini", delivery.No},
		{"openai-chat", "https://api.openai.com/v1", "gpt-5", delivery.Unknown},
		{"openai-chat", "https://api.deepseek.com", "deepseek-flash", delivery.Yes},
		{"openai-chat", "https://api.deepseek.com", "deepseek-v4-pro", delivery.No},
		{"openai-chat", "http://localhost:8080/v1", "deepseek-flash", delivery.Unknown},
		{"bedrock-converse", "https://bedrock-runtime.eu-west-1.amazonaws.com", "amazon.nova-lite-v1:0", delivery.Yes},
		{"bedrock-converse", "", "amazon.nova-lite-v1:0", delivery.Yes},
		{"bedrock-converse", "http://localhost:4566", "amazon.nova-lite-v1:0", delivery.Unknown},
		{"anthropic", "", "claude-opus-5", delivery.Unknown},
	}
	for _, tt := range tests {
		got := profile.Build(profile.Binding{Kind: tt.kind, BaseURL: tt.url, Model: tt.model}, nil, now).Images
		if got.Answer != tt.want {
			t.Errorf("%s %s %s: %+v, want %v", tt.kind, tt.url, tt.model, got, tt.want)
		}
	}
}

// What a server says of itself never makes a yes, for any kind, alone or in any
// company that does not itself say yes.
func TestServerNeverEnables(t *testing.T) {
	for _, kind := range profile.Kinds() {
		if kind == "offline" {
			continue
		}
		for _, k := range []content.Kind{content.KindImage, content.KindAudio, content.KindDocument} {
			facts := []profile.Fact{
				{Kind: k, Answer: delivery.Yes, Evidence: delivery.EvidenceServer, At: now},
				{Kind: k, Answer: delivery.Unknown, Evidence: delivery.EvidenceProbe, At: now},
				{Kind: k, Answer: delivery.Unknown, Evidence: delivery.EvidenceAnswered, At: now},
				// Not learned, so it must not be believed:
				{Kind: k, Answer: delivery.Yes, Evidence: delivery.EvidenceBinding, At: now},
				{Kind: k, Answer: delivery.Yes, Evidence: delivery.EvidenceCatalogue, At: now},
				{Kind: k, Answer: delivery.Yes, Evidence: delivery.EvidenceNone, At: now},
			}
			p := profile.Build(profile.Binding{Kind: kind, BaseURL: madeURL, Model: other}, facts, now)
			for _, c := range []delivery.Capability{p.Images, p.Audio, p.Documents} {
				if c.Answer == delivery.Yes {
					t.Errorf("%s %v: %+v", kind, k, c)
				}
			}
		}
	}
}

func TestEvidenceExpires(t *testing.T) {
	yes, no, unknown := delivery.Yes, delivery.No, delivery.Unknown
	tests := []struct {
		name string
		fact profile.Fact
		want delivery.Answer
	}{
		{"fresh probe yes", fact(delivery.EvidenceProbe, yes, ago(0)), yes},
		{"old probe yes", fact(delivery.EvidenceProbe, yes, ago(90*day-1)), yes},
		{"too old probe yes", fact(delivery.EvidenceProbe, yes, ago(90*day)), unknown},
		{"old probe no", fact(delivery.EvidenceProbe, no, ago(90*day-1)), no},
		{"too old probe no", fact(delivery.EvidenceProbe, no, ago(90*day)), unknown},
		{"answered long ago", fact(delivery.EvidenceAnswered, yes, ago(2000*day)), yes},
		{"refused", fact(delivery.EvidenceAnswered, no, ago(30*day-1)), no},
		{"refused long ago", fact(delivery.EvidenceAnswered, no, ago(30*day)), unknown},
		{"server no", fact(delivery.EvidenceServer, no, ago(day-1)), no},
		{"server no, old", fact(delivery.EvidenceServer, no, ago(day)), unknown},
		{"from the future", fact(delivery.EvidenceProbe, no, now.Add(day)), no},
	}
	for _, tt := range tests {
		b := profile.Binding{Kind: "openai-chat", BaseURL: madeURL, Model: other}
		if got := profile.Build(b, []profile.Fact{tt.fact}, now).Images; got.Answer != tt.want {
			t.Errorf("%s: %+v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestNewestOfOneKindDecides(t *testing.T) {
	facts := []profile.Fact{
		fact(delivery.EvidenceAnswered, delivery.No, ago(2*time.Hour)),
		fact(delivery.EvidenceAnswered, delivery.Yes, ago(time.Hour)),
		fact(delivery.EvidenceAnswered, delivery.No, ago(3*time.Hour)),
		{Kind: content.KindAudio, Answer: delivery.No, Evidence: delivery.EvidenceAnswered, At: now},
	}
	p := profile.Build(profile.Binding{Kind: "openai-chat", BaseURL: madeURL, Model: other}, facts, now)
	if p.Images.Answer != delivery.Yes || p.Audio.Answer != delivery.No {
		t.Errorf("images %+v, audio %+v", p.Images, p.Audio)
	}
}

func TestProbedRecently(t *testing.T) {
	tests := []struct {
		name  string
		facts []profile.Fact
		want  bool
	}{
		{"never", nil, false},
		{"just now", []profile.Fact{fact(delivery.EvidenceProbe, delivery.Unknown, now)}, true},
		{"within the day", []profile.Fact{fact(delivery.EvidenceProbe, delivery.Unknown, ago(day-1))}, true},
		{"a day ago", []profile.Fact{fact(delivery.EvidenceProbe, delivery.Unknown, ago(day))}, false},
		{"the clock was wrong", []profile.Fact{fact(delivery.EvidenceProbe, delivery.Unknown, now.Add(2*day))}, false},
		{"not a probe", []profile.Fact{fact(delivery.EvidenceServer, delivery.Yes, now)}, false},
		{"of sound", []profile.Fact{{Kind: content.KindAudio, Evidence: delivery.EvidenceProbe, At: now}}, false},
		{"one of many", []profile.Fact{
			fact(delivery.EvidenceServer, delivery.Yes, now), fact(delivery.EvidenceProbe, delivery.Yes, ago(time.Hour)),
		}, true},
	}
	for _, tt := range tests {
		if got := profile.ProbedRecently(tt.facts, now); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestDetailsAreSentences(t *testing.T) {
	at := time.Date(2026, 11, 30, 23, 0, 0, 0, time.FixedZone("", -7200)) // 2026-12-01 in UTC
	b := profile.Binding{Kind: "anthropic", BaseURL: "https://api.anthropic.com", Model: "claude-opus-5"}
	custom := b
	custom.Model = "mine"
	own := fact(delivery.EvidenceProbe, delivery.Yes, ago(0))
	own.Detail = "read the code K7M4"
	bound := b
	bound.Vision = profile.TriNo
	tests := []struct {
		b     profile.Binding
		facts []profile.Fact
		want  string
	}{
		{b, nil, "catalogue pi-ai 1.6.0 of 2026-11-20"},
		{bound, nil, "you said so in the configuration"},
		{b, []profile.Fact{fact(delivery.EvidenceAnswered, delivery.Yes, at)}, "answered a request with a picture on 2026-12-01"},
		{b, []profile.Fact{fact(delivery.EvidenceAnswered, delivery.No, at)}, "refused a request with a picture on 2026-12-01"},
		{b, []profile.Fact{fact(delivery.EvidenceProbe, delivery.Yes, at)}, "a probe on 2026-12-01 showed that it takes pictures"},
		{b, []profile.Fact{fact(delivery.EvidenceProbe, delivery.No, at)}, "a probe on 2026-12-01 showed that it takes no pictures"},
		{b, []profile.Fact{own}, "read the code K7M4"},
		{custom, []profile.Fact{fact(delivery.EvidenceProbe, delivery.Unknown, at)}, "a test picture on 2026-12-01 was answered without being read"},
		{custom, []profile.Fact{fact(delivery.EvidenceServer, delivery.No, at)}, "the server said on 2026-12-01 that it takes no pictures"},
		{custom, []profile.Fact{fact(delivery.EvidenceServer, delivery.Yes, at)}, "the server said on 2026-12-01 that it takes pictures, which is not taken for proof; tote probe measures it"},
		{b, []profile.Fact{fact(delivery.EvidenceServer, delivery.No, at)}, "the server said on 2026-12-01 that it takes no pictures; against it stands catalogue pi-ai 1.6.0 of 2026-11-20"},
		{custom, nil, "nothing is known yet of this model at this address"},
		{profile.Binding{Kind: "cli-claude", BaseURL: "claude 2.1.332"}, nil, "nothing is known yet of this model by this program"},
		{profile.Binding{Kind: "offline"}, nil, "built in"},
	}
	for _, tt := range tests {
		if got := profile.Build(tt.b, tt.facts, now).Images.Detail; got != tt.want {
			t.Errorf("detail %q, want %q", got, tt.want)
		}
	}
}

// The stand-in takes everything by construction, and the user and what it showed
// still win over that.
func TestOffline(t *testing.T) {
	for _, b := range []profile.Binding{{Kind: "offline", Model: "m"}, {Kind: "openai-chat", Offline: true, Model: "m"}} {
		p := profile.Build(b, nil, now)
		want := delivery.Capability{Answer: delivery.Yes, Evidence: delivery.EvidenceCatalogue, Detail: "built in"}
		for _, c := range []delivery.Capability{p.Images, p.Audio, p.Documents} {
			if c != want {
				t.Errorf("%+v: %+v, want %+v", b, c, want)
			}
		}
		if p.Path != "offline" || len(p.ImageLimits.MIMEs) == 0 || len(p.AudioLimits.MIMEs) == 0 || len(p.DocumentLimits.MIMEs) == 0 {
			t.Errorf("%+v: %+v", b, p)
		}
		b.Vision = profile.TriNo
		if got := profile.Build(b, nil, now).Images; got.Answer != delivery.No || got.Evidence != delivery.EvidenceBinding {
			t.Errorf("turned off: %+v", got)
		}
		b.Vision = profile.TriAuto
		refused := []profile.Fact{fact(delivery.EvidenceAnswered, delivery.No, now)}
		if got := profile.Build(b, refused, now).Images; got.Answer != delivery.No {
			t.Errorf("after a scripted refusal: %+v", got)
		}
	}
}

func TestEndpoint(t *testing.T) {
	const kind, url, model = "openai-chat", "https://api.example.com/v1", "m"
	want := profile.Endpoint(kind, url, model)
	// What is stored is found again by this value: it must not change.
	if frozen := "7cae7735f5890bf408035801ea941f674a15832f4945413ec5c9c2249ab7ceaa"; want != frozen {
		t.Errorf("endpoint %q, want %q", want, frozen)
	}
	for _, same := range []string{
		url + "/", url + "//", "HTTPS://API.EXAMPLE.COM/v1", "https://api.example.com:443/v1", " " + url + "\n",
		"https://user:sk-secret@api.example.com/v1", url + "?key=sk-secret", url + "#sk-secret",
	} {
		if got := profile.Endpoint(kind, same, model); got != want {
			t.Errorf("%q is another endpoint than %q", same, url)
		}
	}
	for _, tt := range [][3]string{
		{"openai-responses", url, model},
		{kind, "http://api.example.com/v1", model},
		{kind, "https://api.example.com:8443/v1", model},
		{kind, "https://api.example.com/V1", model},
		{kind, "https://api.example.com", model},
		{kind, url, "M"},
		{kind, url, "m "},
		{kind + url, "", model},
		{"", kind + url, model},
	} {
		if profile.Endpoint(tt[0], tt[1], tt[2]) == want {
			t.Errorf("%q is the same endpoint as %q", tt, url)
		}
	}
	// What is not a URL loses what may be a key, too.
	if a, b := profile.Endpoint(kind, "http://k:s%zz@h/v1?key=1", model), profile.Endpoint(kind, "http://k:t%zz@h/v1?key=2", model); a != b {
		t.Error("a key in a malformed URL changes the endpoint")
	}
}

func TestBuildIsPure(t *testing.T) {
	b := profile.Binding{Kind: "anthropic", BaseURL: "https://api.anthropic.com", Model: "claude-opus-5", Provider: "work"}
	first := profile.Build(b, nil, now)
	// The caller may do with its profile what it likes.
	first.ImageLimits.MIMEs[0] = "changed"
	second := profile.Build(b, nil, now)
	if second.ImageLimits.MIMEs[0] == "changed" {
		t.Error("a profile shares its lists with the tables")
	}
	if diff := cmp.Diff(second, profile.Build(b, nil, now)); diff != "" {
		t.Errorf("not the same twice (-first +second):\n%s", diff)
	}
	if second.Provider != "work" || second.Model != "claude-opus-5" || second.Path != "anthropic" ||
		second.Endpoint != profile.Endpoint(b.Kind, b.BaseURL, b.Model) {
		t.Errorf("%+v", second)
	}
}

func BenchmarkBuild(b *testing.B) {
	learned := []profile.Fact{
		fact(delivery.EvidenceServer, delivery.Yes, now), fact(delivery.EvidenceProbe, delivery.Yes, ago(time.Hour)),
	}
	for _, bb := range []struct {
		name string
		b    profile.Binding
	}{
		{"known", profile.Binding{Kind: "anthropic", BaseURL: "https://api.anthropic.com", Model: "claude-opus-5"}},
		{"local", profile.Binding{Kind: "openai-chat", BaseURL: "http://127.0.0.1:8080/v1", Model: "some.gguf"}},
		{"offline", profile.Binding{Kind: "offline"}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			profile.Build(bb.b, learned, now) // unpacks the catalogue
			b.ReportAllocs()
			for b.Loop() {
				profile.Build(bb.b, learned, now)
			}
		})
	}
}
