package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/ingest"
	"tote/internal/permission"
)

// inlet is the inlet of the product over a store in memory.
type inlet struct {
	*ingest.Inlet
	store *agenttest.Store
}

func realInlet(s *agenttest.Store) agent.Inlet { return inlet{ingest.New(s, ingest.Options{}), s} }

func (i inlet) Ingest(c ctx, s content.Source, sc agent.Scope) ([]content.Block, []content.Envelope, error) {
	return i.Inlet.Ingest(c, s, ingest.Scope{Cwd: sc.Cwd, Roots: sc.Roots, Forbidden: sc.Forbidden, Ask: sc.Ask, Lookup: sc.Lookup})
}

func (inlet) Mentions(text string) []string                { return ingest.Mentions(text) }
func (inlet) Extension(b content.Block) string             { return ingest.Extension(b) }
func (i inlet) Restore(e content.Envelope) ([]byte, error) { return ingest.Restore(e, i.store) }

func TestMentions(t *testing.T) {
	tests := map[string]struct {
		text    string
		media   string
		notices []string
	}{
		"a picture":       {text: "what is in @cat.png?", media: "image-1.png"},
		"twice":           {text: "@cat.png and again @cat.png and @./cat.png", media: "image-1.png"},
		"two":             {text: "@cat.png @dog.png", media: "image-1.png image-2.png"},
		"a user":          {text: "ask @maria about it"},
		"a folder's name": {text: "see @src", notices: []string{"src is a folder or cannot be read: left as text"}},
		"no such file": {
			text: "see @gone.png and @no/where, @gone.png",
			notices: []string{
				"no file gone.png: left as text", "no file no/where: left as text",
			},
		},
		"a bare path": {text: "see cat.png and /tmp/a.png and https://example.invalid/x.png"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := agenttest.New(t, agenttest.Options{Inlet: realInlet})
			b.File("cat.png", agenttest.PNG(9, 9, 1))
			b.File("dog.png", agenttest.PNG(9, 9, 2))
			b.File("src/x.go", []byte("package x"))
			r := b.Must(t.Context(), tt.text)
			if r.Degraded {
				t.Error("degraded")
			}
			sent(t, b, tt.media)
			contains(t, b.Last().Body, fmt.Sprintf("text %q", tt.text))
			var titles []string
			for _, n := range b.Front.Notices() {
				titles = append(titles, n.Title)
			}
			if diff := cmp.Diff(tt.notices, titles); diff != "" {
				t.Errorf("notices (-want +got):\n%s", diff)
			}
			if got := b.Front.Lines()[0]; !strings.HasPrefix(got, "accepted") {
				t.Errorf("first event = %q", got)
			}
		})
	}
}

// The files follow the text that mentions them, and know how they came in.
func TestMentionsFollowTheirText(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Inlet: realInlet})
	path := b.File("cat.png", agenttest.PNG(9, 9, 1))
	b.Must(t.Context(), "one @cat.png", "two @cat.png", agenttest.PNG(9, 9, 2), "three")
	var got []string
	blocks := b.Session.Turns()[0].Messages[0].Blocks()
	for _, x := range blocks {
		got = append(got, string(x.BlockHandle()))
	}
	if diff := cmp.Diff([]string{"text-1", "image-1.png", "text-2", "image-2.png", "text-3"}, got); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	a, _ := content.AttachmentOf(blocks[1])
	want := content.Origin{Inlet: content.InletMention, Path: path, Chooser: content.ChosenByUser}
	if a.Origin != want {
		t.Errorf("origin = %+v", a.Origin)
	}
	stored := b.Disk.Turns(b.Session.ID())[0].Messages[0]
	if len(stored.Envelopes) != len(stored.Parts) {
		t.Errorf("%d envelopes for %d parts", len(stored.Envelopes), len(stored.Parts))
	}
}

// A file that the prompt attaches is not attached again for its mention.
func TestMentionOfAnAttachedFile(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Inlet: realInlet})
	path := b.File("cat.png", agenttest.PNG(9, 9, 1))
	b.Must(t.Context(), "see @cat.png", agenttest.Path(path))
	sent(t, b, "image-1.png")
}

// Over ACP a file outside the roots is asked for; in the terminal the user's
// word is enough.
func TestMentionOutsideTheProject(t *testing.T) {
	for name, tt := range map[string]struct {
		inlet  content.Inlet
		permit agent.Permit
		mode   permission.Mode
		asked  int
		media  []string
	}{
		"terminal":     {inlet: content.InletPrompt, media: []string{"image-1.png", "image-1.png image-2.png"}},
		"acp, no":      {inlet: content.InletACP, asked: 2, media: []string{"", ""}},
		"acp, once":    {inlet: content.InletACP, permit: agent.PermitOnce, asked: 2, media: []string{"image-1.png", "image-1.png image-2.png"}},
		"acp, full":    {inlet: content.InletACP, mode: permission.ModeFull, media: []string{"image-1.png", "image-1.png image-2.png"}},
		"acp, session": {inlet: content.InletACP, permit: agent.PermitSession, asked: 1, media: []string{"image-1.png", "image-1.png image-2.png"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := agenttest.New(t, agenttest.Options{Inlet: realInlet})
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "x.png")
			write(t, path, agenttest.PNG(9, 9, 1))
			b.Front.Answer = func(_ ctx, q agent.Question) (agent.Permit, error) {
				if q.Request.Path != path || q.Call.ID != "" || q.Title != "Attach "+path {
					t.Errorf("question = %+v", q)
				}
				return tt.permit, nil
			}
			b.Session.SetMode(tt.mode)
			src := agenttest.Text("see @" + path)
			src.Inlet = tt.inlet
			b.Must(t.Context(), src)
			b.Must(t.Context(), src)
			sent(t, b, tt.media...)
			if got := len(b.Front.Questions()); got != tt.asked {
				t.Errorf("asked %d times, want %d", got, tt.asked)
			}
			if tt.asked > 0 && tt.permit == agent.PermitDeny && !noticed(b.Front, "not permitted") {
				t.Errorf("notices = %v", b.Front.Notices())
			}
		})
	}
}

// Only what the user wrote is looked at.
func TestMentionsOfOthers(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(calls(agenttest.Say("@cat.png"), agenttest.Call("c1", "read", `{"path":"a.txt"}`)))})
	b.File("cat.png", agenttest.PNG(9, 9, 1))
	b.File("a.txt", []byte("see @cat.png"))
	paste := agenttest.Text("see @cat.png")
	paste.Inlet = content.InletPaste
	tool := agenttest.Text("see @cat.png")
	tool.Chooser = content.ChosenByTool
	b.Must(t.Context(), paste, tool, agenttest.Paste("a.txt", []byte("@cat.png")))
	sent(t, b, "", "")
}

// Text that is full of "@" costs a bounded number of look-ups.
func TestManyMentions(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Inlet: realInlet})
	b.File("cat.png", agenttest.PNG(9, 9, 1))
	var sb strings.Builder
	for i := range 500 {
		fmt.Fprintf(&sb, "@user%d ", i)
	}
	b.Must(t.Context(), sb.String()+"@cat.png", sb.String())
	sent(t, b, "")
	if n := b.Front.Notices(); len(n) != 1 || !strings.Contains(n[0].Title, "only the first 100 mentions") {
		t.Errorf("notices = %v", n)
	}
}

// The file is captured when it is mentioned; what becomes of it later does not
// matter.
func TestMentionIsCaptured(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Inlet: realInlet})
	png := agenttest.PNG(9, 9, 1)
	path := b.File("cat.png", png)
	b.Must(t.Context(), "@cat.png")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	b.Restart()
	b.Must(t.Context(), "hi")
	if string(b.Last().Media[0].Data) != string(png) {
		t.Error("other bytes")
	}
}
