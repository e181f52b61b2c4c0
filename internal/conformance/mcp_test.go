package conformance_test

import (
	"bytes"
	"image"
	"strings"
	"testing"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider/providertest"
)

// calling has a model call a tool of the server once, and returns the request with
// its result.
func calling(t *testing.T, g tongue, tool string) (wire, *agenttest.Front) {
	t.Helper()
	r := newRig(t, g)
	r.on("main", func(n int, _ letter) providertest.Reply {
		if n == 0 {
			return g.calls(content.ToolCall{ID: "call-1", Name: tool, Arguments: "{}"})
		}
		return nil
	})
	member, _ := mcpConfig(t)
	limits := `"media_types":["image/*","audio/*","application/pdf"]`
	if g.roomy() != "" {
		limits += "," + g.roomy()
	}
	w := newWorld(t, cast(member, r.within("main", "true", limits, "")))
	p := w.start()
	defer p.stop()
	f := p.prompt(p.with("main"), prose("have a look"))
	all := r.wires(t, "main")
	if len(all) != 2 {
		t.Fatalf("%d requests", len(all))
	}
	noRuns(t, w, shop().png, shop().jpg)
	return all[1], f
}

// TestMCPPictures has a server of MCP give everything in one result, on every path.
// It arrives as what it is, in order, also where pictures have to stand behind the
// result.
func TestMCPPictures(t *testing.T) {
	t.Parallel()
	for _, g := range tongues() {
		if !tried(g.kind) {
			continue
		}
		t.Run(g.kind, func(t *testing.T) {
			t.Parallel()
			w, f := calling(t, g, mcpMixed)
			got := newestReceipts(f)
			handles := resultHandles(t, f)
			inOrder(t, w, handles)
			p := shop()
			for i, want := range [][]byte{p.png, p.jpg} {
				if x := got[handles[[]int{1, 3}[i]]]; x.Disposition != delivery.Inline || !holdsMedium(w, want) {
					t.Errorf("%+v, or its bytes are not on the wire", x)
				}
			}
			for i, h := range []content.Handle{handles[8], handles[10]} {
				x := got[h]
				if want := []delivery.Disposition{delivery.Converted, delivery.Shrunk}[i]; x.Disposition != want || x.Blob.MIME != "image/png" && x.Blob.MIME != "image/jpeg" {
					t.Errorf("%s is %v as %s, want %v", h, x.Disposition, x.Blob.MIME, want)
				}
			}
			for i, m := range w.media {
				if m.kind != content.KindImage {
					continue
				}
				c, format, err := image.DecodeConfig(bytes.NewReader(m.data))
				if err != nil || c.Width > 8000 || "image/"+format != m.mime {
					t.Errorf("medium %d is %dx%d, %s, said to be %s: %v", i, c.Width, c.Height, format, m.mime, err)
				}
			}
			for _, h := range handles {
				if x := got[h]; x.Degraded() != (x.Kind == content.KindAudio && x.Disposition.Degraded() || x.Kind == content.KindDocument && x.Disposition.Degraded()) {
					t.Errorf("%s (%v) is %v: %v", h, x.Kind, x.Disposition, x.Reason)
				}
			}
		})
	}
}

// resultHandles are the labels of the blocks of the only result, in order.
func resultHandles(t *testing.T, f *agenttest.Front) []content.Handle {
	t.Helper()
	var out []content.Handle
	for _, e := range f.Events() {
		end, ok := e.(agent.ToolFinished)
		if !ok {
			continue
		}
		if end.IsError {
			t.Fatalf("%s failed: %s", end.Call.Name, content.Compact(end.Blocks))
		}
		for _, b := range end.Blocks {
			out = append(out, b.BlockHandle())
		}
	}
	return out
}

// inOrder finds the texts and the labels of the mixed result in the order in which
// the server gave them. What was lifted out of the result is in order too.
func inOrder(t *testing.T, w wire, handles []content.Handle) {
	t.Helper()
	kinds := []string{"mark-a", "", "mark-b", "", "", "# mark-c", "", "", "", "mark-e", "", "mark-f"}
	if len(handles) != len(kinds) {
		t.Fatalf("the result has %d blocks, want %d: %v", len(handles), len(kinds), handles)
	}
	at, lifted := -1, -1
	for i, h := range handles {
		place := strings.Index(w.flat, kinds[i])
		if kinds[i] == "" || i == 5 {
			var l label
			if place, l, _ = locate(w.flat, h); l.at > place {
				if l.at < lifted {
					t.Errorf("%s stands before what came before it, behind the results", h)
				}
				lifted = l.at
			}
		}
		if place <= at {
			t.Errorf("block %d (%s) stands at %d, the one before it at %d: %.1500q", i, h, place, at, w.flat)
		}
		at = place
	}
	if !strings.Contains(w.flat, "# mark-c") || !strings.Contains(w.flat, "https://example.invalid/mark-d") {
		t.Error("the text of the resource, or the address of the link, is missing")
	}
}

func holdsMedium(w wire, data []byte) bool {
	for _, m := range w.media {
		if bytes.Equal(m.data, data) {
			return true
		}
	}
	return false
}

// TestMCPBrokenBlock: what cannot be decoded costs that block only.
func TestMCPBrokenBlock(t *testing.T) {
	t.Parallel()
	for _, g := range tongues() {
		if !tried(g.kind) {
			continue
		}
		t.Run(g.kind, func(t *testing.T) {
			t.Parallel()
			w, f := calling(t, g, mcpBroken)
			handles := resultHandles(t, f)
			if len(handles) != 4 || len(w.media) != 1 || !bytes.Equal(w.media[0].data, shop().png) {
				t.Fatalf("%d blocks, %d media", len(handles), len(w.media))
			}
			if x := newestReceipts(f)[handles[1]]; x.Disposition != delivery.Refused || x.Reason != delivery.ReasonBadPayload || len(told(f, string(handles[1]))) == 0 {
				t.Errorf("%+v, %q", x, f.Notices())
			}
			if !strings.Contains(w.flat, "mark-a") || !strings.Contains(w.flat, "mark-b") || w.stub(handles[1]) == "" {
				t.Errorf("the rest of the result is not whole: %.900q", w.flat)
			}
		})
	}
}

// TestMCPScreenshot is the result of a browser's server: a text and a picture.
func TestMCPScreenshot(t *testing.T) {
	t.Parallel()
	for _, g := range tongues() {
		if !tried(g.kind) {
			continue
		}
		t.Run(g.kind, func(t *testing.T) {
			t.Parallel()
			w, f := calling(t, g, mcpShot)
			if len(w.media) != 1 || !bytes.Equal(w.media[0].data, shop().jpg) || w.media[0].mime != "image/jpeg" {
				t.Errorf("%d media", len(w.media))
			}
			text := strings.Index(w.flat, "Took the viewport screenshot")
			if _, l, _ := locate(w.flat, "image-1.jpg"); text < 0 || l.at < text || newestReceipts(f)["image-1.jpg"].Disposition != delivery.Inline {
				t.Errorf("the text at %d, the picture at %d, %+v", text, l.at, newestReceipts(f))
			}
		})
	}
}
