package conformance_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/profile"
	"tote/internal/provider"
	"tote/internal/provider/anthropic"
	"tote/internal/provider/bedrock"
	"tote/internal/provider/cli"
	"tote/internal/provider/cli/clitest"
	"tote/internal/provider/gemini"
	"tote/internal/provider/offline"
	"tote/internal/provider/ollama"
	"tote/internal/provider/openai"
	"tote/internal/provider/providertest"
)

// adapter is a row of the matrix: one path out.
type adapter struct {
	// path is its name in profiles, and the kind of a provider in a
	// configuration. folder is where its code lies below internal/provider.
	path, folder string
	// dial makes one that sends to a server at base, nil for a runner.
	dial func(base string) provider.Provider
	// end is how the address of a request for an answer ends.
	end string
	// reply answers with a few words, think with thinking, words and a call.
	reply providertest.Reply
	think thinking
	// sent reads a body as the server does, strictly.
	sent func(body []byte) (providertest.Sent, error)
	// payloads are the members of a body in which base64 stands.
	payloads []string
	// types are the server's own words for media types, where they differ.
	types map[string]string
	// apart are the places where text stands in one string and media behind
	// it, in order.
	apart apart
	// runner is the command-line agent, "" for none.
	runner string
	// own is the vendor's own server and a model there that sees pictures,
	// learned what its profile rests on beside the tables. native is one
	// whose tool results hold media, zero where there is none.
	own, native profile.Binding
	learned     []profile.Fact
}

// apart are places in which media do not stand between the texts.
type apart uint8

const (
	apartNowhere apart = iota
	apartInResults
	apartEverywhere
)

// thinking is an answer that begins with thinking, and what of it has to come
// back to the server.
type thinking struct {
	reply           providertest.Reply
	text, signature string
	// call is in the body when a call's signature came back, "" where calls
	// have none.
	call string
}

// adapters are the rows by path.
var adapters = rows()

func rows() map[string]adapter {
	out := map[string]adapter{}
	for _, a := range []adapter{
		chatRow(), responsesRow(), anthropicRow(), geminiRow(), ollamaRow(), converseRow(), offlineRow(),
		runnerRow(cli.Claude), runnerRow(cli.Codex), runnerRow(cli.Gemini), runnerRow(cli.Custom),
	} {
		out[a.path] = a
	}
	return out
}

// noAdapters are the folders below provider that spell nothing.
var noAdapters = map[string]string{
	"providertest": "it is the servers and stores that adapters are tested with",
}

// reached is how a server on loopback is reached.
func reached(base string) provider.Options { return provider.Options{BaseURL: base, MaxRetries: -1} }

const testModel = "test-model"

func chatRow() adapter {
	return adapter{
		path: openai.ChatPath, folder: "openai", end: "/chat/completions", dial: chatAt, sent: providertest.ReadChat,
		reply: providertest.Text("ok"), think: chatThinking(),
		payloads: []string{"messages.content.image_url.url", "messages.content.input_audio.data", "messages.content.file.file_data"},
		own:      profile.Binding{BaseURL: "https://openrouter.ai/api/v1", Model: "openai/gpt-5.4"},
		native:   profile.Binding{BaseURL: "https://api.mistral.ai/v1", Model: "mistral-medium-latest"},
	}
}

func chatAt(base string) provider.Provider {
	return openai.New(reached(base), openai.Config{Model: testModel})
}

func responsesRow() adapter {
	openAI := profile.Binding{BaseURL: "https://api.openai.com/v1", Model: "gpt-5.4"}
	return adapter{
		path: openai.ResponsesPath, folder: "openai", end: "/responses", sent: providertest.ReadResponses,
		dial: func(base string) provider.Provider {
			return openai.NewResponses(reached(base), openai.ResponsesConfig{Model: testModel, Detail: "high", ImageCompression: "disabled"})
		},
		reply: providertest.ResponsesText("ok"), think: responsesThinking(),
		payloads: []string{"input.content.image_url", "input.content.file_data", "input.output.image_url", "input.output.file_data"},
		own:      openAI, native: openAI,
	}
}

func anthropicRow() adapter {
	vendor := profile.Binding{BaseURL: "https://api.anthropic.com", Model: "claude-sonnet-5-5"}
	return adapter{
		path: anthropic.Path, folder: "anthropic", end: "/v1/messages", sent: providertest.ReadAnthropic,
		dial: func(base string) provider.Provider {
			return anthropic.New(reached(base), anthropic.Config{Model: testModel, Thinking: anthropic.ThinkingAdaptive})
		},
		reply: providertest.AnthropicText("ok"), think: anthropicThinking(),
		payloads: []string{"messages.content.source.data", "messages.content.content.source.data"},
		own:      vendor, native: vendor,
	}
}

func geminiRow() adapter {
	vendor := profile.Binding{BaseURL: "https://generativelanguage.googleapis.com/v1beta", Model: "gemini-3.5-flash"}
	return adapter{
		path: gemini.Path, folder: "gemini", end: ":streamGenerateContent", sent: providertest.ReadGemini,
		dial: func(base string) provider.Provider {
			return gemini.New(reached(base), gemini.Config{Model: testModel, Thinking: gemini.ThinkingLevel, CallSignatures: true})
		},
		reply: providertest.GeminiText("ok"), think: geminiThinking(), apart: apartInResults,
		payloads: []string{"contents.parts.inlineData.data", "contents.parts.functionResponse.parts.inlineData.data"},
		types:    map[string]string{"audio/mp3": "audio/mpeg"},
		own:      vendor, native: vendor,
	}
}

func ollamaRow() adapter {
	local := profile.Binding{BaseURL: "http://127.0.0.1:11434", Model: "qwen3-vl"}
	return adapter{
		path: ollama.Path, folder: "ollama", end: "/api/chat", sent: providertest.ReadOllama,
		dial: func(base string) provider.Provider {
			return ollama.New(reached(base), ollama.Config{Model: testModel, Context: 8192})
		},
		reply: providertest.OllamaText("ok"), think: ollamaThinking(), apart: apartEverywhere,
		payloads: []string{"messages.images"},
		own:      local, native: local,
		learned: []profile.Fact{{Kind: content.KindImage, Answer: delivery.Yes, Evidence: delivery.EvidenceProbe}},
	}
}

// awsKey signs the requests of these tests.
var awsKey = providertest.SigV4{ID: "AKIDEXAMPLE", Secret: "not a secret", Region: "us-east-1", Service: "bedrock"}

// awsEnv is all that AWS's library may read: the files of the machine are not.
func awsEnv(name string) string {
	return map[string]string{
		"AWS_ACCESS_KEY_ID": awsKey.ID, "AWS_SECRET_ACCESS_KEY": awsKey.Secret, "AWS_REGION": awsKey.Region,
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	}[name]
}

func converseRow() adapter {
	claude := profile.Binding{Model: "anthropic.claude-sonnet-5-5"}
	return adapter{
		path: bedrock.Path, folder: "bedrock", end: "/converse-stream", sent: providertest.ReadConverse,
		dial: func(base string) provider.Provider {
			return bedrock.New(reached(base), bedrock.Config{
				Model: testModel, Env: awsEnv, CachePoints: bedrock.CacheAll, ResultStatus: true, Thinking: bedrock.ThinkingAdaptive,
			})
		},
		reply: providertest.SignedBy(awsKey, providertest.ConverseText("ok")), think: converseThinking(),
		payloads: []string{
			"messages.content.image.source.bytes", "messages.content.audio.source.bytes", "messages.content.document.source.bytes",
			"messages.content.toolResult.content.image.source.bytes", "messages.content.toolResult.content.document.source.bytes",
		},
		types: map[string]string{"document/pdf": "application/pdf", "audio/mp3": "audio/mpeg"},
		own:   claude, native: claude,
	}
}

// posted spells with one provider what another one sends.
type posted struct {
	provider.Provider
	spell provider.Provider
}

func (p posted) Encode(r provider.Request) (provider.Body, error) { return p.spell.Encode(r) }

// The offline backend answers in the program itself; here its own server does,
// over loopback.
func offlineRow() adapter {
	spell := offline.New(offline.Options{})
	a := chatRow()
	a.path, a.folder, a.think = "offline", "offline", thinking{}
	a.dial = func(base string) provider.Provider { return posted{chatAt(base), spell} }
	a.reply = func(w http.ResponseWriter, r *http.Request, body []byte) {
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
		offline.NewHandler(offline.Options{}).ServeHTTP(w, r)
	}
	a.own, a.native = profile.Binding{BaseURL: offline.BaseURL, Model: offline.Model, Offline: true}, profile.Binding{}
	return a
}

func runnerRow(runner string) adapter {
	a := adapter{path: cli.Path(runner), folder: "cli", runner: runner, own: profile.Binding{Model: "model", Vision: profile.TriYes}}
	if runner == cli.Claude {
		a.payloads = []string{"message.content.source.data"}
	}
	a.native = a.own
	return a
}

// bind completes a binding of a row.
func (a adapter) bind(b profile.Binding) profile.Binding {
	b.Provider, b.Kind = "test", a.path
	return b
}

// profileOf is what the program makes of a binding of a row.
func (a adapter) profileOf(b profile.Binding) delivery.Profile {
	return profile.Build(a.bind(b), a.learned, time.Time{})
}

// station is the far end of a path: a server on loopback, or a program in the
// place of a command-line agent. It keeps what reaches it.
type station struct {
	adapter
	p provider.Provider
	// taken reads the newest request.
	taken func(t *testing.T) (wire, error)
	// known is what was taken of each body, nil for a server. To start a program
	// is dear: the same body is not given to one twice. A body holds the names
	// of its files, and those the digests of their bytes.
	known map[string]wire
}

// stand starts the far end of a path. It ends with the test.
func stand(t *testing.T, a adapter, replies ...providertest.Reply) *station {
	t.Helper()
	if a.runner != "" {
		return standIn(t, a)
	}
	rec := providertest.NewRecorder(t, append(replies, a.reply)...)
	rec.Check(a.end, func(body []byte) error {
		_, err := a.sent(body)
		return err
	})
	return &station{adapter: a, p: a.dial(rec.URL), taken: func(t *testing.T) (wire, error) {
		t.Helper()
		last := rec.Last()
		if !bytes.HasSuffix([]byte(last.Path), []byte(a.end)) {
			t.Errorf("a request went to %s, where nothing checks it", last.Path)
		}
		return a.read(last.Body)
	}}
}

// standIn starts nothing yet: each request starts the program.
func standIn(t *testing.T, a adapter) *station {
	t.Helper()
	command, calls := clitest.Fake(t, a.runner, clitest.OK)
	if a.runner == cli.Custom {
		command = append(command, "--files={images}")
	}
	scratch := t.TempDir()
	p, err := cli.New(cli.Options{
		Runner: a.runner, Command: command, Dir: scratch, Scratch: scratch, NewID: func() string { return "conformance" },
	})
	if err != nil {
		t.Fatal(err)
	}
	return &station{adapter: a, p: p, known: make(map[string]wire), taken: func(t *testing.T) (wire, error) {
		t.Helper()
		all := calls()
		if len(all) == 0 {
			t.Fatal("the program was not started")
		}
		return a.readCall(all[len(all)-1])
	}}
}

func TestEveryAdapterIsInTheMatrix(t *testing.T) {
	present := slices.DeleteFunc(dirs(t, "../provider"), func(name string) bool { return name == "testdata" }) // no package
	rows := map[string]int{}
	for path, a := range adapters {
		rows[a.folder]++
		if !slices.Contains(present, a.folder) {
			t.Errorf("%s: provider/%s is gone", path, a.folder)
		}
		if p := a.profileOf(a.own); p.Path != path || p.Images.Answer != delivery.Yes {
			t.Errorf("%s: the profile of its own model is for %s, and takes pictures: %v (%s)", path, p.Path, p.Images.Answer, p.Images.Detail)
		}
		if p := a.profileOf(a.native); a.native.Model != "" && p.Placement.HoistResults {
			t.Errorf("%s: its native profile hoists pictures", path)
		}
	}
	for _, name := range present {
		_, excused := noAdapters[name]
		if (rows[name] > 0) == excused {
			t.Errorf("provider/%s: %d rows in the matrix, excused %v; it has to be one of them", name, rows[name], excused)
		}
	}
	for name := range noAdapters {
		if !slices.Contains(present, name) {
			t.Errorf("provider/%s is excused and gone", name)
		}
	}
}
