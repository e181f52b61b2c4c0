package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/cli"
	"tote/internal/provider/cli/clitest"
	"tote/internal/provider/providertest"
)

// full is a conversation with attachments in every place that there is.
func full(tb testing.TB, runner string, blobs *providertest.Blobs) delivery.Prompt {
	tb.Helper()
	pic := func(n int, mime, ext string) content.Block {
		b := blobs.Put(fmt.Appendf(nil, "\x89picture %d", n), mime)
		return providertest.Picture(content.Handle(fmt.Sprintf("image-%d%s", n, ext)), b, 4, 4)
	}
	sound := blobs.Put([]byte("RIFF\x00sound"), "audio/wav")
	pdf := blobs.Put([]byte("%PDF-1.4\x00"), "application/pdf")
	origin := content.Origin{Inlet: content.InletFlag, Chooser: content.ChosenByUser}
	return providertest.Settle(tb, profile(runner), blobs,
		providertest.User(content.Text{Handle: "text-1", Body: "/look at @main.go, mail a@b.c \\@x"}, pic(1, "image/png", ".png"),
			content.Text{Handle: "text-2", Body: "and [Image #1]"}, pic(2, "image/jpeg", ".jpg")),
		providertest.Say(content.Text{Body: "let me see"}, content.ToolCall{ID: "c1", Name: "view_image", Arguments: `{"path":"a.png"}`}),
		providertest.Results(content.ToolResult{CallID: "c1", Name: "view_image", Blocks: []content.Block{
			content.Text{Body: "here"}, pic(3, "image/webp", ".webp"),
		}}),
		providertest.Say(content.Text{Body: "a cat"}),
		providertest.User(pic(1, "image/png", ".png"),
			content.Audio{Attachment: content.Attachment{Handle: "audio-1.wav", Name: "a.wav", Declared: "audio/wav", Original: sound, Prepared: sound, Origin: origin}},
			content.Document{Attachment: content.Attachment{Handle: "document-1.pdf", Name: "d.pdf", Declared: "application/pdf", Original: pdf, Prepared: pdf, Origin: origin}, Pages: 1},
			content.Text{Handle: "text-3", Body: "/help"}),
	)
}

// Every medium arrives whole, in its message and in order.
func TestEverythingArrives(t *testing.T) {
	for _, runner := range runners {
		t.Run(runner, func(t *testing.T) {
			t.Parallel()
			var blobs providertest.Blobs
			r := newRig(t, runner, clitest.OK)
			prompt := full(t, runner, &blobs)
			h := r.ask(t, provider.Request{Prompt: prompt, Blobs: &blobs, System: "be kind to @all", Tools: []provider.ToolSpec{{Name: "x"}}, Seed: 4})
			if h.err != nil || h.text != "OK" || h.finish == nil || h.finish.Stop != content.StopEndTurn {
				t.Fatalf("heard %+v", h)
			}
			s := r.sent(t)
			if s.System != "be kind to @all" {
				t.Errorf("system %q", s.System)
			}
			var want, got []string
			for _, m := range prompt.Media() {
				rc, err := blobs.Open(m.Blob.Digest)
				if err != nil {
					t.Fatal(err)
				}
				data, err := io.ReadAll(rc)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, m.Kind.String()+" "+m.Blob.MIME+" "+string(data))
			}
			for _, p := range s.Media() {
				got = append(got, p.Kind.String()+" "+p.MIME+" "+string(p.Data))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			var roles []string
			var prose strings.Builder
			for _, m := range s.Messages {
				roles = append(roles, m.Role)
				for _, p := range m.Parts {
					prose.WriteString(p.Text + "\n")
				}
			}
			if diff := cmp.Diff([]string{"user", "assistant", "tools", "assistant", "user"}, roles); diff != "" {
				t.Error(diff)
			}
			for _, part := range []string{
				"/look at @main.go, mail a@b.c", "and [Image #1]", "let me see", "[call c1 of the tool view_image] {\"path\":\"a.png\"}",
				"[result of call c1 of the tool view_image]\nhere", "a cat", "/help", "image-3.webp",
			} {
				if !strings.Contains(prose.String(), part) {
					t.Errorf("no %q in\n%s", part, prose.String())
				}
			}
			for _, f := range r.calls()[0].Files {
				if filepath.Separator == '/' && (f.Mode != 0o600 || f.FolderMode != 0o700) {
					t.Errorf("%s has mode %o in a folder of mode %o", f.Path, f.Mode, f.FolderMode)
				}
				if strings.ContainsAny(filepath.Base(f.Path), " @") || len(filepath.Ext(f.Path)) < 4 {
					t.Errorf("the name %q", filepath.Base(f.Path))
				}
			}
		})
	}
}

// The first bytes of a body are those of the one before, and the same prompt
// gives the same body.
func TestBodies(t *testing.T) {
	for _, runner := range runners {
		r := newRig(t, runner, clitest.OK)
		var blobs providertest.Blobs
		b := blobs.Put([]byte("\x89PNG picture"), "image/png")
		first := []content.Message{providertest.User(content.Text{Handle: "text-1", Body: "one"}, providertest.Picture("image-1.png", b, 1, 1))}
		second := append(first[:1:1], providertest.Say(content.Text{Body: "two"}), providertest.User(content.Text{Handle: "text-2", Body: "three"}))
		read := func(ms []content.Message) []byte {
			body, err := r.Encode(provider.Request{Prompt: providertest.Settle(t, profile(runner), &blobs, ms...), Blobs: &blobs, System: "s"})
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(body.Open())
			if err != nil || int64(len(data)) != body.Len() {
				t.Fatalf("%d bytes of %d: %v", len(data), body.Len(), err)
			}
			return data
		}
		one, two := read(first), read(second)
		if !bytes.Equal(one, read(first)) {
			t.Errorf("%s: the same prompt gives another body", runner)
		}
		end := bytes.LastIndex(one, []byte("=== end of"))
		if runner == cli.Claude {
			end = bytes.LastIndex(one, []byte(`{"type":"text","text":"=== end of`))
		}
		if !bytes.HasPrefix(two, one[:end]) {
			t.Errorf("%s: the earlier part has changed\n%s\n%s", runner, one, two)
		}
		golden(t, runner+".body", two)
	}
}

// golden compares with a file under testdata. UPDATE=1 writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

func TestArguments(t *testing.T) {
	template := []string{"--model={model}", "--in={cwd}", "[-i {image}]", "--all={images}", "x{image}", "--prompt-file={prompt_file}", "[plain]"}
	for _, tt := range []struct {
		name, runner string
		files        bool
		change       func(*cli.Options)
		effort       provider.Effort
		want         string
	}{
		{"claude", cli.Claude, true, nil, 0, "-p --input-format stream-json --output-format stream-json --verbose --include-partial-messages --no-session-persistence"},
		{"claude with all", cli.Claude, true, model, provider.EffortHigh, "-p --input-format stream-json --output-format stream-json --verbose --include-partial-messages --no-session-persistence --model m 1 --effort high"},
		{"codex", cli.Codex, true, nil, 0, "exec --json --ephemeral --skip-git-repo-check -C DIR - -i FILES/1"},
		{"codex with all", cli.Codex, true, model, provider.EffortNone, `exec --json --ephemeral --skip-git-repo-check -C DIR -m m 1 -c model_reasoning_effort="none" - -i FILES/1`},
		{"codex without pictures", cli.Codex, false, nil, 0, "exec --json --ephemeral --skip-git-repo-check -C DIR -"},
		{"gemini", cli.Gemini, true, nil, 0, "-o stream-json --include-directories FILES"},
		{"gemini without pictures", cli.Gemini, false, model, provider.EffortLow, "-o stream-json -m m 1"},
		{"claude may edit", cli.Claude, false, mode(cli.ModeEdits), 0, "-p --input-format stream-json --output-format stream-json --verbose --include-partial-messages --no-session-persistence --permission-mode acceptEdits"},
		{"codex may edit", cli.Codex, true, mode(cli.ModeEdits), 0, "exec --json --ephemeral --skip-git-repo-check -C DIR --sandbox workspace-write - -i FILES/1"},
		{"gemini may do anything", cli.Gemini, true, mode(cli.ModeFull), 0, "-o stream-json --include-directories FILES --approval-mode yolo"},
		{"custom", cli.Custom, true, nil, 0, ""},
		{"custom mode", cli.Custom, false, func(o *cli.Options) { o.Mode, o.Command = cli.ModePlan, append(o.Command, "--may={mode}") }, 0, "--may=plan"},
		{
			"custom template", cli.Custom, true, func(o *cli.Options) { model(o); o.Command = append(o.Command, template...) }, 0,
			"--model=m 1 --in=DIR -i FILES/1 --all=FILES/1 xFILES/1 --prompt-file=STAGE/prompt.txt [plain]",
		},
		{
			"custom template without pictures", cli.Custom, false, func(o *cli.Options) { o.Command = append(o.Command, template...) }, 0,
			"--model= --in=DIR --prompt-file=STAGE/prompt.txt [plain]",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			change := func(o *cli.Options) {
				o.NewID = func() string { return "folder-0001" }
				if tt.change != nil {
					tt.change(o)
				}
			}
			r := newRig(t, tt.runner, clitest.OK, change)
			req := request(t, tt.runner)
			if !tt.files {
				req.Prompt = providertest.Settle(t, profile(tt.runner), nil, providertest.User(content.Text{Handle: "text-1", Body: "hi"}))
			}
			req.Effort = tt.effort
			if h := r.ask(t, req); h.err != nil {
				t.Fatal(h.err, h.err.Hint)
			}
			c := r.calls()[0]
			stage := filepath.Join(r.scratch, "runners", "folder-0001")
			got := strings.Join(c.Argv, " ")
			for _, f := range c.Files {
				got = strings.ReplaceAll(got, f.Path, "FILES/1")
			}
			got = strings.NewReplacer(filepath.Join(stage, "files"), "FILES", stage, "STAGE", r.dir, "DIR").Replace(got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if _, err := c.Sent(); err != nil {
				t.Error(err)
			}
			if strings.Contains(got, "prompt.txt") && len(c.Stdin) > 0 {
				t.Error("the prompt went twice")
			}
		})
	}
}

func model(o *cli.Options) { o.Model = "m 1" }

func mode(m cli.Mode) func(*cli.Options) { return func(o *cli.Options) { o.Mode = m } }

// A prompt that goes as an argument is given once, and keeps what looks like a
// placeholder in it.
func TestPromptAsArgument(t *testing.T) {
	r := newRig(t, cli.Custom, clitest.OK, func(o *cli.Options) { o.Command = append(o.Command, "--prompt={prompt}") })
	req := request(t, cli.Custom)
	req.System = "keep {cwd} and {image}"
	if h := r.ask(t, req); h.err != nil {
		t.Fatal(h.err)
	}
	if s := r.sent(t); s.System != req.System || len(s.Media()) != 1 || len(r.calls()[0].Stdin) > 0 {
		t.Errorf("sent %+v", s)
	}
}

// A path with spaces and signs is read to its end, and its file stands where it
// should.
func TestOddFolders(t *testing.T) {
	for _, runner := range []string{cli.Codex, cli.Gemini, cli.Custom} {
		odd := filepath.Join(t.TempDir(), "a b(c)@d, e'f&")
		r := newRig(t, runner, clitest.OK, func(o *cli.Options) { o.Scratch = odd })
		r.scratch = odd
		if runner == cli.Gemini { // it takes a list parted by commas there
			odd = strings.ReplaceAll(odd, ",", "")
			r = newRig(t, runner, clitest.OK, func(o *cli.Options) { o.Scratch = odd })
			r.scratch = odd
		}
		if h := r.ask(t, request(t, runner)); h.err != nil {
			t.Fatal(h.err)
		}
		if m := r.sent(t).Media(); len(m) != 1 || string(m[0].Data) != "\x89PNG picture one" {
			t.Errorf("%s: sent %+v", runner, m)
		}
	}
}

// What a program cannot take is an error of encoding, and never a loss.
func TestRefusesToEncode(t *testing.T) {
	var blobs providertest.Blobs
	sound := blobs.Put([]byte("RIFF"), "audio/wav")
	tiff := blobs.Put([]byte("II"), "image/tiff")
	audio := content.Audio{Attachment: content.Attachment{Handle: "audio-1.wav", Original: sound, Prepared: sound}}
	for _, tt := range []struct {
		runner string
		block  content.Block
		ok     bool
	}{
		{cli.Claude, audio, false},
		{cli.Codex, audio, false},
		{cli.Gemini, audio, true},
		{cli.Custom, audio, true},
		{cli.Claude, providertest.Picture("image-1.tiff", tiff, 1, 1), false},
		{cli.Codex, providertest.Picture("image-1.tiff", tiff, 1, 1), false},
		{cli.Gemini, providertest.Picture("image-1.tiff", tiff, 1, 1), false},
		{cli.Custom, providertest.Picture("image-1.tiff", tiff, 1, 1), true},
	} {
		p := providertest.Profile(cli.Path(tt.runner))
		p.ImageLimits.MIMEs = append(p.ImageLimits.MIMEs, "image/tiff")
		r := newRig(t, tt.runner, clitest.OK)
		_, err := r.Encode(provider.Request{Prompt: providertest.Settle(t, p, &blobs, providertest.User(tt.block)), Blobs: &blobs})
		if (err == nil) != tt.ok {
			t.Errorf("%s, %T: %v", tt.runner, tt.block, err)
		}
	}
}

// Pictures pass through, and are never whole in memory.
func TestMemoryDoesNotGrowWithPictures(t *testing.T) {
	const pictures, each, most = 10, 3 << 20, 20 << 20
	for _, runner := range []string{cli.Claude, cli.Codex} {
		var blobs providertest.Blobs
		var blocks []content.Block
		for i := range pictures {
			blocks = append(blocks, providertest.Picture(content.Handle(fmt.Sprintf("image-%d.png", i+1)), blobs.Put(bytes.Repeat([]byte{byte(i)}, each), "image/png"), 1, 1))
		}
		r := newRig(t, runner, clitest.OK)
		prompt := providertest.Settle(t, profile(runner), &blobs, providertest.User(blocks...))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		body, err := r.Encode(provider.Request{Prompt: prompt, Blobs: &blobs})
		if err != nil {
			t.Fatal(err)
		}
		finished := false
		for ev, err := range r.Stream(t.Context(), body) {
			if err != nil {
				t.Fatal(err)
			}
			_, finished = ev.(provider.Finish)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; !finished || got > most {
			t.Errorf("%s: %d bytes allocated for %d of pictures, finished %v", runner, got, pictures*each, finished)
		}
		s := r.sent(t)
		if len(s.Media()) != pictures {
			t.Errorf("%s: %d pictures", runner, len(s.Media()))
		}
	}
}

// A prompt that the program would cut is refused before anything starts.
func TestTooLongForTheProgram(t *testing.T) {
	for runner, size := range map[string]int{cli.Codex: 1 << 20, cli.Gemini: 8 << 20} {
		r := newRig(t, runner, clitest.OK)
		prompt := providertest.Settle(t, profile(runner), nil, providertest.User(content.Text{Handle: "text-1", Body: strings.Repeat("ab ", size/3+1)}))
		h := r.ask(t, provider.Request{Prompt: prompt})
		if h.err == nil || h.err.Failure.Kind != delivery.FailTooLarge || h.err.Failure.Learned.MaxRequest != int64(size) || len(r.calls()) != 0 {
			t.Errorf("%s: heard %v, %d calls", runner, h.err, len(r.calls()))
		}
	}
}

func BenchmarkStream(b *testing.B) {
	r := newRig(b, cli.Claude, clitest.OK)
	req := request(b, cli.Claude)
	b.ReportAllocs()
	for b.Loop() {
		body, err := r.Encode(req)
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range r.Stream(b.Context(), body) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
