package delivery_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
)

// only fails one handle.
func only(h content.Handle, m mishap) func(content.Handle) mishap {
	return func(got content.Handle) mishap {
		if got == h {
			return m
		}
		return works
	}
}

func TestFallbacks(t *testing.T) {
	small := limits(func(l *delivery.Limits) { l.MaxEdge = 100 })
	files := delivery.Facts{Files: true}
	looks := delivery.Facts{Files: true, Describer: true}
	tests := []struct {
		name    string
		block   content.Block
		profile func(*delivery.Profile)
		facts   delivery.Facts
		goes    mishap
		want    string
	}{
		{"cut works", picture(1), small, files, works, "image-1.png shrunk path_limit"},
		{"cut fails", picture(1), small, files, fails, "image-1.png placeholder prepare_failed"},
		{"cut is forgotten", picture(1), small, files, forgets, "image-1.png placeholder prepare_failed"},
		{"cut is too large", picture(1), small, files, tooLarge, "image-1.png placeholder prepare_failed"},
		{"cut is of another type", picture(1), small, files, wrongMIME, "image-1.png placeholder prepare_failed"},
		{"blob is damaged", picture(1), known, files, fails, "image-1.png placeholder prepare_failed"},
		{"text is missing", resource(1), known, files, forgets, "resource-1.txt placeholder missing"},
		{"text fails", resource(1), known, files, fails, "resource-1.txt placeholder prepare_failed"},
		{"document text is missing", document(1), blind, files, forgets, "document-1.pdf placeholder missing"},
		{"path works", picture(1), blind, files, works, "image-1.png path no_images"},
		{"path is missing", picture(1), blind, files, forgets, "image-1.png placeholder no_images"},
		{"path fails", picture(1), blind, files, fails, "image-1.png placeholder no_images"},
		{"description works", picture(1), blind, looks, works, "image-1.png described no_images"},
		{"description and path are missing", picture(1), blind, looks, forgets, "image-1.png placeholder no_images"},
		{"description fails", picture(1), blind, looks, fails, "image-1.png placeholder prepare_failed"},
		{"prose cannot fail", prose(1, "x"), blind, looks, fails, "text-1 inline fits"},
		{"a link cannot fail", link(), blind, looks, fails, "link-1 inline link"},
	}
	for _, tt := range tests {
		in := prompt(sees(tt.profile), tt.block)
		in.Facts = tt.facts
		plan := delivery.Decide(in)
		_, rs, l := delivery.Settle(plan, carryOut(plan, only(tt.block.BlockHandle(), tt.goes)))
		if got := fates(rs)[0]; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if e, ok := l.Lookup(rs[0].Handle); ok && e.Disposition != rs[0].Disposition {
			t.Errorf("%s: the ledger says %v", tt.name, e.Disposition)
		}
	}
}

// A description that fails, or that says nothing, falls to the staged file.
func TestDescriptionFallsToPath(t *testing.T) {
	in := prompt(sees(blind), picture(1))
	in.Facts = delivery.Facts{Files: true, Describer: true}
	plan := delivery.Decide(in)
	for _, text := range []string{"", " \n"} {
		r := carryOut(plan, nil)
		r.Descriptions["image-1.png"] = delivery.Description{Model: "eye", Text: text}
		_, rs, _ := delivery.Settle(plan, r)
		if got := fates(rs)[0]; got != "image-1.png path no_images" {
			t.Errorf("%q: %q", text, got)
		}
	}
	r := carryOut(plan, nil)
	r.Failed["image-1.png"] = delivery.Failed{Reason: delivery.ReasonFits} // no reason that can be told to a model
	_, rs, _ := delivery.Settle(plan, r)
	if got := fates(rs)[0]; got != "image-1.png path prepare_failed" {
		t.Errorf("got %q", got)
	}
}

func TestLongDescriptionIsCut(t *testing.T) {
	in := prompt(sees(blind), picture(1))
	in.Facts.Describer = true
	plan := delivery.Decide(in)
	r := carryOut(plan, nil)
	r.Descriptions["image-1.png"] = delivery.Description{Model: "eye", Text: strings.Repeat("é", delivery.MaxDescription)}
	p, _, l := delivery.Settle(plan, r)
	e, _ := l.Lookup("image-1.png")
	if n := len(e.Note); n > delivery.MaxDescription+100 || !strings.HasSuffix(e.Note, "é…") {
		t.Errorf("%d bytes, ends in %q", n, e.Note[n-9:])
	}
	in.Ledger = l
	again, rs, _ := settle(in)
	if diff := cmp.Diff(wire(t, p), wire(t, again)); diff != "" {
		t.Error(diff)
	}
	if rs[0].Tokens < delivery.MaxDescription/4 {
		t.Errorf("the words cost %d tokens", rs[0].Tokens)
	}
}

func TestPlacement(t *testing.T) {
	batch := []content.Message{
		user(prose(1, "look")), assistant(call("a"), call("b")),
		results(result("a", prose(2, "ok"), picture(1)), func() content.ToolResult {
			r := result("b", prose(3, "bad"), picture(2))
			r.IsError = true
			return r
		}()),
	}
	const shot1, shot2 = "[image-1.png: shot.png, image/png, 800x600, from tool call a]", "[image-2.png: shot.png, image/png, 800x600, from tool call b]"
	tests := []struct {
		name  string
		place delivery.Placement
		want  []string
	}{
		{"native", delivery.Placement{}, []string{
			"user: look", "assistant: call a", "assistant: call b",
			"tool: result a", "tool: ok", "tool: " + shot1, "tool: <image-1.png>",
			"tool: result b", "tool: bad", "tool: " + shot2, "tool: <image-2.png>",
		}},
		{"hoisted after the whole batch", delivery.Placement{HoistResults: true}, []string{
			"user: look", "assistant: call a", "assistant: call b",
			"tool: result a", "tool: ok", "tool: [image-1.png: shown in the next user message]",
			"tool: result b", "tool: bad", "tool: [image-2.png: shown in the next user message]",
			"user: " + shot1, "user: <image-1.png>", "user: " + shot2, "user: <image-2.png>",
		}},
		{"errors hold text only", delivery.Placement{TextErrors: true}, []string{
			"user: look", "assistant: call a", "assistant: call b",
			"tool: result a", "tool: ok", "tool: " + shot1, "tool: <image-1.png>",
			"tool: result b", "tool: bad", "tool: [image-2.png: shown in the next user message]",
			"user: " + shot2, "user: <image-2.png>",
		}},
		{"bridge", delivery.Placement{HoistResults: true, Bridge: true}, []string{
			"user: look", "assistant: call a", "assistant: call b",
			"tool: result a", "tool: ok", "tool: [image-1.png: shown in the next user message]",
			"tool: result b", "tool: bad", "tool: [image-2.png: shown in the next user message]",
			"assistant: [tool results received]",
			"user: " + shot1, "user: <image-1.png>", "user: " + shot2, "user: <image-2.png>",
		}},
	}
	for _, tt := range tests {
		in := delivery.Input{Profile: sees(places(tt.place)), Messages: batch}
		p, rs, _ := settle(in)
		if diff := cmp.Diff(tt.want, texts(p)); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
		if len(rs) != 5 || rs[2].Handle != "image-1.png" {
			t.Errorf("%s: receipts are not the blocks in order: %v", tt.name, fates(rs))
		}
	}
}

// Media lists what is sent in the order of the prompt.
func TestMediaInOrder(t *testing.T) {
	bad := result("a", picture(1))
	bad.IsError = true
	in := delivery.Input{Profile: sees(places(delivery.Placement{TextErrors: true})), Messages: []content.Message{
		user(document(1), recording(1)), assistant(call("a"), call("b")), results(bad, result("b", picture(2))),
	}}
	in.Facts.Proven = map[content.Digest]bool{digest(1002): true}
	p, _, _ := settle(in)
	var got []string
	for _, m := range p.Media() {
		got = append(got, string(m.Handle)+" "+m.Name+" "+m.Kind.String())
		if m.Proven != (m.Handle == "image-2.png") {
			t.Errorf("%s: proven %v", m.Handle, m.Proven)
		}
	}
	want := []string{"document-1.pdf paper.pdf document", "audio-1.wav memo.wav audio", "image-2.png shot.png image", "image-1.png shot.png image"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if p.Fresh() != 3 || p.Len() != 4 {
		t.Errorf("Fresh = %d, Len = %d", p.Fresh(), p.Len())
	}
}

// A cancelled turn may end with tool results; the next prompt follows them.
func TestBridgeBeforeTheNextPrompt(t *testing.T) {
	in := delivery.Input{Profile: sees(places(delivery.Placement{Bridge: true})), Messages: []content.Message{
		user(prose(1, "a")), assistant(call("x")), results(result("x", prose(2, "done"))), user(prose(3, "b")),
	}}
	p, _, _ := settle(in)
	want := []string{"user: a", "assistant: call x", "tool: result x", "tool: done", "assistant: [tool results received]", "user: b"}
	if diff := cmp.Diff(want, texts(p)); diff != "" {
		t.Error(diff)
	}
}

func TestMergeRoles(t *testing.T) {
	ms := []content.Message{
		user(prose(1, "a")), user(prose(2, "b")), assistant(content.Text{Body: "c"}), assistant(call("x")),
		results(result("x", picture(1))), user(prose(3, "d")),
	}
	p, _, _ := settle(delivery.Input{Profile: sees(places(delivery.Placement{MergeRoles: true, HoistResults: true})), Messages: ms})
	var roles []string
	for _, m := range p.Messages() {
		roles = append(roles, m.Role.String())
	}
	if diff := cmp.Diff([]string{"user", "assistant", "tool", "user"}, roles); diff != "" {
		t.Error(diff)
	}
	want := []string{
		"user: a", "user: b", "assistant: c", "assistant: call x", "tool: result x", "tool: [image-1.png: shown in the next user message]",
		"user: [image-1.png: shot.png, image/png, 800x600, from tool call x]", "user: <image-1.png>", "user: d",
	}
	if diff := cmp.Diff(want, texts(p)); diff != "" {
		t.Error(diff)
	}
}

func TestOddConversations(t *testing.T) {
	const gone = "tool: [interrupted: there is no result]"
	tests := []struct {
		name string
		ms   []content.Message
		want []string
	}{
		{"empty message", []content.Message{user()}, []string{"user: [empty message]"}},
		{"blank texts", []content.Message{user(prose(1, " "), prose(2, "\n\t"))}, []string{"user: [empty message]"}},
		{"blank beside text", []content.Message{user(prose(1, " "), prose(2, " x "))}, []string{"user:  x "}},
		{"empty answer", []content.Message{user(prose(1, "a")), assistant()}, []string{"user: a", "assistant: [no answer]"}},
		{"blank answer", []content.Message{assistant(content.Text{Body: " "})}, []string{"assistant: [no answer]"}},
		{"thoughts alone", []content.Message{assistant(content.Reasoning{Text: "hm", Path: "openai-chat"})}, []string{"assistant: thinks hm", "assistant: [no answer]"}},
		{"thoughts of another path", []content.Message{assistant(content.Reasoning{Text: "hm", Path: "x"}, content.Text{Body: "a"})}, []string{"assistant: a"}},
		{"a model's picture", []content.Message{assistant(picture(1))}, []string{"assistant: [attached image: image-1.png (image/png)]"}},
		{"interrupted at the end", []content.Message{assistant(call("a"))}, []string{"assistant: call a", "tool: result a", gone}},
		{
			"interrupted before a prompt",
			[]content.Message{assistant(call("a")), user(prose(1, "x"))},
			[]string{"assistant: call a", "tool: result a", gone, "user: x"},
		},
		{
			"interrupted before an answer",
			[]content.Message{assistant(call("a")), assistant(content.Text{Body: "x"})},
			[]string{"assistant: call a", "tool: result a", gone, "assistant: x"},
		},
		{
			"half a batch",
			[]content.Message{assistant(call("a"), call("b")), results(result("b", prose(1, "x"))), user(prose(2, "y"))},
			[]string{"assistant: call a", "assistant: call b", "tool: result b", "tool: x", "tool: result a", gone, "user: y"},
		},
		{
			"no output",
			[]content.Message{assistant(call("a"), call("b")), results(result("a"), result("b", prose(1, "")))},
			[]string{"assistant: call a", "assistant: call b", "tool: result a", "tool: [no output]", "tool: result b", "tool: [no output]"},
		},
		{
			"a result without its call",
			[]content.Message{results(result("a", prose(1, "x"), picture(1)))},
			[]string{"user: [result of read, tool call a, which is not in view]", "user: x", "user: [image-1.png: shot.png, image/png, 800x600, from tool call a]", "user: <image-1.png>"},
		},
		{
			"a call answered twice",
			[]content.Message{assistant(call("a")), results(result("a", prose(1, "x")), result("a", prose(2, "y")))},
			[]string{"assistant: call a", "tool: result a", "tool: x", "user: [result of read, tool call a, which is not in view]", "user: y"},
		},
		{
			"blocks and results in strange places",
			[]content.Message{user(result("a", prose(1, "x"))), assistant(content.Text{Body: "y"}, result("b", prose(2, "z"))), results(prose(3, "w"), content.Reasoning{Text: "q"})},
			[]string{
				"user: [result of read, tool call a, which is not in view]", "user: x", "assistant: y",
				"user: [result of read, tool call b, which is not in view]", "user: z", "user: w",
			},
		},
		{"no role", []content.Message{{Parts: []content.Part{prose(1, "x"), call("a")}}}, []string{"user: x"}},
	}
	for _, tt := range tests {
		p, _, _ := settle(delivery.Input{Profile: sees(), Messages: tt.ms})
		if diff := cmp.Diff(tt.want, texts(p)); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
}

func TestNoReasoning(t *testing.T) {
	p, _, _ := settle(delivery.Input{Profile: sees(places(delivery.Placement{NoReasoning: true})), Messages: []content.Message{
		assistant(content.Reasoning{Text: "hm", Path: "openai-chat"}, content.Text{Body: "a"}),
	}})
	if diff := cmp.Diff([]string{"assistant: a"}, texts(p)); diff != "" {
		t.Error(diff)
	}
}

func TestReceipts(t *testing.T) {
	in := delivery.Input{Profile: sees(blind), Current: 1, Messages: []content.Message{
		user(picture(1)), user(prose(1, "12345678"), document(1), link(), content.Opaque{Handle: "opaque-1", Type: "video", Raw: blob(9, "application/json", 9, 0, 0)}),
		assistant(call("a")), results(result("a", picture(2))),
	}}
	_, rs, l := settle(in)
	text := document(1).Text
	want := []delivery.Receipt{
		{Handle: "image-1.png", Name: "shot.png", Kind: content.KindImage, Disposition: delivery.Placeholder, Reason: delivery.ReasonNoImages, Route: delivery.RouteHistory, Blob: picture(1).Original, Tokens: 40},
		{Handle: "text-1", Kind: content.KindText, Disposition: delivery.Inline, Reason: delivery.ReasonFits, Route: delivery.RoutePrompt, Tokens: 2},
		{Handle: "document-1.pdf", Name: "paper.pdf", Kind: content.KindDocument, Disposition: delivery.Converted, Reason: delivery.ReasonTextForm, Route: delivery.RoutePrompt, Blob: text, Tokens: 2290},
		{Handle: "link-1", Name: "page", Kind: content.KindResourceLink, Disposition: delivery.Inline, Reason: delivery.ReasonLink, Route: delivery.RoutePrompt, Tokens: 49},
		{Handle: "opaque-1", Name: "video", Kind: content.KindOpaque, Disposition: delivery.Placeholder, Reason: delivery.ReasonUnknownKind, Detail: "kind video", Route: delivery.RoutePrompt, Blob: blob(9, "application/json", 9, 0, 0), Tokens: 40},
		{Handle: "image-2.png", Name: "shot.png", Kind: content.KindImage, Disposition: delivery.Placeholder, Reason: delivery.ReasonNoImages, Route: delivery.RouteResult, Blob: picture(2).Original, Tokens: 40},
	}
	for i := range want {
		want[i].Path, want[i].Model = "openai-chat", "m"
		if k := want[i].Kind; k != content.KindText && k != content.KindOpaque {
			want[i].Origin = origin()
		}
	}
	if diff := cmp.Diff(want, rs); diff != "" {
		t.Error(diff)
	}
	if _, ok := l.Lookup("text-1"); ok {
		t.Error("prose is in the ledger")
	}
}
