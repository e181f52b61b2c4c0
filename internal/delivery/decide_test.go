package delivery_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/content/contenttest"
	"tote/internal/delivery"
)

// The capabilities that a table runs under.
var (
	known   = capable(delivery.Yes, delivery.EvidenceCatalogue)
	blind   = capable(delivery.No, delivery.EvidenceCatalogue)
	unknown = capable(delivery.Unknown, delivery.EvidenceNone)
	off     = capable(delivery.No, delivery.EvidenceBinding)
)

func TestOrderByCapability(t *testing.T) {
	files := delivery.Facts{Files: true}
	describer := delivery.Facts{Files: true, Describer: true}
	tests := []struct {
		name    string
		block   content.Block
		profile func(*delivery.Profile)
		facts   delivery.Facts
		want    string
	}{
		{"picture/yes", picture(1), known, files, "image-1.png inline fits"},
		{"picture/no", picture(1), blind, files, "image-1.png path no_images"},
		{"picture/no, no files", picture(1), blind, delivery.Facts{}, "image-1.png placeholder no_images"},
		{"picture/no, described", picture(1), blind, describer, "image-1.png described no_images"},
		{"picture/unknown", picture(1), unknown, files, "image-1.png path unknown_model"},
		{"picture/unknown, no files", picture(1), unknown, delivery.Facts{}, "image-1.png placeholder unknown_model"},
		{"picture/unknown is not described", picture(1), unknown, describer, "image-1.png path unknown_model"},
		{"picture/off", picture(1), off, files, "image-1.png path user_off"},
		{"picture/off, described", picture(1), off, describer, "image-1.png described user_off"},
		{"prepared picture/yes", picture(1, shrunk), known, files, "image-1.png shrunk prepared"},
		{"format/yes", picture(1, inWebP), known, files, "image-1.png converted format"},
		{"audio/yes", recording(1), known, files, "audio-1.wav inline fits"},
		{"audio/no", recording(1), blind, files, "audio-1.wav path no_audio"},
		{"audio/unknown", recording(1), unknown, files, "audio-1.wav path no_audio"},
		{"audio/no files", recording(1), blind, delivery.Facts{}, "audio-1.wav placeholder no_audio"},
		{"document/yes", document(1), known, files, "document-1.pdf inline fits"},
		{"document/no", document(1), blind, files, "document-1.pdf converted text_form"},
		{"document/unknown", document(1), unknown, delivery.Facts{}, "document-1.pdf converted text_form"},
		{"document without text/no", untexted(document(1)), blind, files, "document-1.pdf path no_documents"},
		{"document without text/no files", untexted(document(1)), blind, delivery.Facts{}, "document-1.pdf placeholder no_documents"},
		{"archive", archive(), known, files, "document-9.zip path binary"},
		{"archive/no files", archive(), known, delivery.Facts{}, "document-9.zip placeholder binary"},
		{"resource", resource(1), blind, files, "resource-1.txt inline text_form"},
		{"link", link(), blind, files, "link-1 inline link"},
		{"text", prose(1, "hello"), blind, files, "text-1 inline fits"},
		{"blank text", prose(1, " \n\u00a0"), blind, files, "text-1 inline blank"},
		{"opaque", content.Opaque{Handle: "opaque-1", Type: "video", Raw: blob(9, "application/json", 9, 0, 0)}, known, files, "opaque-1 placeholder unknown_kind"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := prompt(sees(tt.profile), tt.block)
			in.Facts = tt.facts
			if got := ordered(delivery.Decide(in))[0]; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func untexted(d content.Document) content.Document {
	d.Text = content.Blob{}
	return d
}

func archive() content.Document {
	b := blob(77, "application/zip", 1_000, 0, 0)
	return content.Document{Attachment: content.Attachment{Handle: "document-9.zip", Name: "a.zip", Origin: origin(), Original: b, Prepared: b}}
}

func TestWants(t *testing.T) {
	tests := []struct {
		name    string
		profile func(*delivery.Profile)
		block   content.Block
		want    delivery.Wants
	}{
		{"unknown and a picture", unknown, picture(1), delivery.WantsVision},
		{"unknown and a damaged picture", unknown, picture(1, faulty(content.FaultDamaged)), delivery.WantsNothing},
		{"unknown and sound", unknown, recording(1), delivery.WantsNothing},
		{"yes", known, picture(1), delivery.WantsNothing},
		{"no", blind, picture(1), delivery.WantsNothing},
	}
	for _, tt := range tests {
		if got := delivery.Decide(prompt(sees(tt.profile), tt.block)).Wants(); got != tt.want {
			t.Errorf("%s: wants %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		fault     content.Fault
		withFiles string
		without   string
	}{
		{content.FaultEmpty, "refused empty", "refused empty"},
		{content.FaultBadPayload, "refused bad_payload", "refused bad_payload"},
		{content.FaultDamaged, "path damaged", "placeholder damaged"},
		{content.FaultTooManyPixels, "path too_many_pixels", "placeholder too_many_pixels"},
		{content.FaultTooLarge, "refused too_large", "refused too_large"},
		{content.FaultUnreadable, "refused unreadable", "refused unreadable"},
		{content.FaultNotFound, "refused not_found", "refused not_found"},
		{content.FaultDenied, "refused denied", "refused denied"},
		{content.FaultUnsupported, "path unsupported", "placeholder unsupported"},
		{content.FaultEncrypted, "path encrypted", "placeholder encrypted"},
		{content.FaultMissing, "placeholder missing", "placeholder missing"},
		{content.Fault(200), "refused bad_payload", "refused bad_payload"},
	}
	if len(tests) != int(content.FaultMissing)+1 {
		t.Errorf("%d faults in the table, %d declared", len(tests)-1, content.FaultMissing)
	}
	for _, tt := range tests {
		pic := picture(1, faulty(tt.fault))
		pic.Original.Width, pic.Original.Height, pic.Original.MIME = 9000, 9000, "image/bmp"
		sound, doc, text := recording(1), document(1), resource(1)
		sound.Fault, doc.Fault, text.Fault = tt.fault, tt.fault, tt.fault
		in := prompt(sees(), pic, sound, doc, text)
		for _, files := range []bool{true, false} {
			in.Facts.Files = files
			want := tt.without
			if files {
				want = tt.withFiles
			}
			for i, o := range delivery.Decide(in).Orders() {
				if got := o.Disposition.String() + " " + o.Reason.String(); got != want {
					t.Errorf("%v, files %v, block %d: %q, want %q", tt.fault, files, i, got, want)
				}
			}
		}
	}
	for f := content.FaultNone; f <= content.FaultMissing; f++ {
		if r := delivery.FaultReason(f); f != content.FaultNone && r.String() != f.String() {
			t.Errorf("fault %v has reason %v", f, r)
		}
	}
}

func TestFaultyLinkKeepsItsPlace(t *testing.T) {
	l := link()
	l.Fault = content.FaultDenied
	if got := ordered(delivery.Decide(prompt(sees(), l)))[0]; got != "link-1 placeholder denied" {
		t.Errorf("got %q", got)
	}
}

// A picture of too many pixels is never decoded here; a path that takes it as it
// is gets it as it is.
func TestTooManyPixels(t *testing.T) {
	big := picture(1, faulty(content.FaultTooManyPixels))
	big.Original = blob(1, jpeg, 9_000_000, 9000, 9000)
	tests := []struct {
		name    string
		profile func(*delivery.Profile)
		facts   delivery.Facts
		want    string
	}{
		{"no limit", known, delivery.Facts{}, "image-1.png inline fits"},
		{"edge limit", limits(func(l *delivery.Limits) { l.MaxEdge = 8000 }), delivery.Facts{}, "image-1.png placeholder too_many_pixels"},
		{"pixel limit, files", limits(func(l *delivery.Limits) { l.MaxPixels = 50_000_000 }), delivery.Facts{Files: true}, "image-1.png path too_many_pixels"},
		{"format", limits(func(l *delivery.Limits) { l.MIMEs = []string{png} }), delivery.Facts{}, "image-1.png placeholder too_many_pixels"},
		{"failed before", known, delivery.Facts{Failed: map[content.Handle]delivery.Failed{"image-1.png": {Reason: delivery.ReasonMissing}}}, "image-1.png placeholder missing"},
		{"blind", blind, delivery.Facts{Files: true, Describer: true}, "image-1.png path no_images"},
		{"gone", known, delivery.Facts{Missing: map[content.Digest]bool{digest(1): true}}, "image-1.png placeholder missing"},
	}
	for _, tt := range tests {
		in := prompt(sees(tt.profile), big)
		in.Facts = tt.facts
		if got := ordered(delivery.Decide(in))[0]; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	in := prompt(sees(limits(func(l *delivery.Limits) { l.ManyCount, l.ManyEdge = 1, 2000 })), big, picture(2))
	if diff := cmp.Diff([]string{"image-1.png placeholder too_many_pixels", "image-2.png inline fits"}, ordered(delivery.Decide(in))); diff != "" {
		t.Errorf("many rule:\n%s", diff)
	}
}

func TestCutBounds(t *testing.T) {
	all := []string{png, jpeg}
	tests := []struct {
		name  string
		block content.Image
		in    func(*delivery.Input)
		want  string
		cut   *delivery.Bounds
	}{
		{
			"fits", picture(1), func(*delivery.Input) {}, "inline fits", nil,
		},
		{
			"edge", picture(1), func(in *delivery.Input) { in.Profile.ImageLimits.MaxEdge = 500 },
			"shrunk path_limit", &delivery.Bounds{MaxEdge: 500, MaxBytes: 400_000, MIMEs: all},
		},
		{
			"pixels", picture(1), func(in *delivery.Input) { in.Profile.ImageLimits.MaxPixels = 1000 },
			"shrunk path_limit", &delivery.Bounds{MaxEdge: 800, MaxPixels: 1000, MaxBytes: 400_000, MIMEs: all},
		},
		{
			"bytes", picture(1), func(in *delivery.Input) { in.Profile.ImageLimits.MaxBytes = 99_999 },
			"shrunk path_limit", &delivery.Bounds{MaxEdge: 800, MaxBytes: 99_999, MIMEs: all},
		},
		{
			"base64 length", picture(1), func(in *delivery.Input) { in.Profile.ImageLimits.MaxEncoded = 4003 },
			"shrunk path_limit", &delivery.Bounds{MaxEdge: 800, MaxBytes: 3000, MIMEs: all},
		},
		{
			"base64 length takes nothing", picture(1), func(in *delivery.Input) { in.Profile.ImageLimits.MaxEncoded = 3 },
			"shrunk path_limit", &delivery.Bounds{MaxEdge: 800, MaxBytes: 1, MIMEs: all},
		},
		{
			"base64 length is just enough", picture(1), func(in *delivery.Input) {
				in.Profile.ImageLimits.MaxEncoded = delivery.EncodedLen(100_000)
			}, "inline fits", nil,
		},
		{
			"budget of one picture", picture(1), func(in *delivery.Input) { in.Budgets.Picture = 50_000 },
			"shrunk path_limit", &delivery.Bounds{MaxEdge: 800, MaxBytes: 50_000, MIMEs: all},
		},
		{
			"default budget of one picture", picture(1, sized(delivery.DefaultPicture+1)), func(*delivery.Input) {},
			"shrunk path_limit", &delivery.Bounds{MaxEdge: 800, MaxBytes: delivery.DefaultPicture, MIMEs: all},
		},
		{
			"learned bytes and edge", picture(1), func(in *delivery.Input) { in.Facts.MaxBytes, in.Facts.MaxEdge = 70_000, 300 },
			"shrunk path_limit", &delivery.Bounds{MaxEdge: 300, MaxBytes: 70_000, MIMEs: all},
		},
		{
			"format of a small picture", picture(1, inWebP, sized(10_000)), func(*delivery.Input) {},
			"converted format", &delivery.Bounds{MaxEdge: 800, MaxBytes: 64_000, MIMEs: all},
		},
		{
			"format refused here", picture(1), func(in *delivery.Input) { in.Facts.RefusedMIMEs = map[string]bool{png: true} },
			"converted format", &delivery.Bounds{MaxEdge: 800, MaxBytes: 400_000, MIMEs: []string{jpeg}},
		},
		{
			"prepared form is gone", picture(1, shrunk), func(in *delivery.Input) {
				in.Facts.Missing = map[content.Digest]bool{digest(1001): true}
			}, "shrunk prepared", &delivery.Bounds{MaxEdge: 800, MaxBytes: 400_000, MIMEs: all},
		},
		{
			"nothing was prepared", picture(1, func(p *content.Image) { p.Prepared = content.Blob{} }), func(*delivery.Input) {},
			"shrunk prepared", &delivery.Bounds{MaxEdge: 2000, MaxBytes: 500_000, MIMEs: all},
		},
		{
			"many", picture(1), func(in *delivery.Input) {
				in.Profile.ImageLimits.ManyCount, in.Profile.ImageLimits.ManyEdge = 1, 700
				in.Messages[0].Parts = append(in.Messages[0].Parts, picture(2, edge(700, 10)))
			}, "shrunk path_limit", &delivery.Bounds{MaxEdge: 700, MaxBytes: 400_000, MIMEs: all},
		},
		{
			"many, and to be cut anyway", picture(1), func(in *delivery.Input) {
				in.Profile.ImageLimits.ManyCount, in.Profile.ImageLimits.ManyEdge, in.Profile.ImageLimits.MaxEdge = 1, 600, 790
				in.Messages[0].Parts = append(in.Messages[0].Parts, picture(2))
			}, "shrunk path_limit", &delivery.Bounds{MaxEdge: 600, MaxBytes: 400_000, MIMEs: all},
		},
		{
			"not many", picture(1), func(in *delivery.Input) {
				in.Profile.ImageLimits.ManyCount, in.Profile.ImageLimits.ManyEdge = 2, 700
				in.Messages[0].Parts = append(in.Messages[0].Parts, picture(2))
			}, "inline fits", nil,
		},
		{
			"many without an edge", picture(1), func(in *delivery.Input) {
				in.Profile.ImageLimits.ManyCount = 1
				in.Messages[0].Parts = append(in.Messages[0].Parts, picture(2))
			}, "inline fits", nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := prompt(sees(), tt.block)
			tt.in(&in)
			o := delivery.Decide(in).Orders()[0]
			if got := o.Disposition.String() + " " + o.Reason.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if diff := cmp.Diff(tt.cut, o.Cut); diff != "" {
				t.Errorf("bounds (-want +got):\n%s", diff)
			}
			if (o.Cut == nil) == o.Send.IsZero() {
				t.Errorf("exactly one of Send and Cut must be set, got %v and %v", o.Send, o.Cut)
			}
		})
	}
}

// Media types of tool results may differ; hoisted results are the user's.
func TestResultFormats(t *testing.T) {
	narrow := limits(func(l *delivery.Limits) { l.MIMEs, l.ResultMIMEs = []string{png, webp}, []string{png} })
	in := delivery.Input{Profile: sees(narrow), Messages: []content.Message{
		user(picture(1, inWebP)), assistant(call("a")), results(result("a", picture(2, inWebP))),
	}}
	for _, current := range []int{0, 3} { // in this turn, and in an earlier one
		in.Current = current
		if diff := cmp.Diff([]string{"image-1.png inline fits", "image-2.png converted format"}, ordered(delivery.Decide(in))); diff != "" {
			t.Errorf("current %d:\n%s", current, diff)
		}
	}
	in.Profile.Placement.HoistResults = true
	if got := ordered(delivery.Decide(in))[1]; got != "image-2.png inline fits" {
		t.Errorf("hoisted: %q", got)
	}
}

func TestNativeLimits(t *testing.T) {
	tests := []struct {
		name  string
		block content.Block
		in    func(*delivery.Input)
		want  string
	}{
		{"audio type", recording(1), func(in *delivery.Input) { in.Profile.AudioLimits.MIMEs = []string{"audio/mpeg"} }, "audio-1.wav path no_audio"},
		{"audio bytes", recording(1), func(in *delivery.Input) { in.Profile.AudioLimits.MaxBytes = 199_999 }, "audio-1.wav path path_size"},
		{"audio base64", recording(1), func(in *delivery.Input) { in.Profile.AudioLimits.MaxEncoded = 266_667 }, "audio-1.wav path path_size"},
		{"audio fits", recording(1), func(in *delivery.Input) { in.Profile.AudioLimits.MaxEncoded = 266_668 }, "audio-1.wav inline fits"},
		{"pages", document(1), func(in *delivery.Input) { in.Profile.DocumentLimits.MaxPages = 2 }, "document-1.pdf converted text_form"},
		{"pages, no text", untexted(document(1)), func(in *delivery.Input) { in.Profile.DocumentLimits.MaxPages = 2 }, "document-1.pdf path path_size"},
		{"document bytes", untexted(document(1)), func(in *delivery.Input) { in.Profile.DocumentLimits.MaxBytes = 1 }, "document-1.pdf path path_size"},
		{"text too long", document(1), func(in *delivery.Input) {
			in.Profile.Documents.Answer, in.Budgets.Text = delivery.No, 8_999
		}, "document-1.pdf path text_too_long"},
		{"text is gone", document(1), func(in *delivery.Input) {
			in.Profile.Documents.Answer, in.Facts.Missing = delivery.No, map[content.Digest]bool{digest(3501): true}
		}, "document-1.pdf path no_documents"},
		{"resource too long", resource(1), func(in *delivery.Input) { in.Budgets.Text = 4_999 }, "resource-1.txt path text_too_long"},
		{"resource is gone", resource(1), func(in *delivery.Input) { in.Facts.Missing = map[content.Digest]bool{digest(4001): true} }, "resource-1.txt placeholder missing"},
		{"picture is gone", picture(1), func(in *delivery.Input) { in.Facts.Missing = map[content.Digest]bool{digest(1001): true} }, "image-1.png placeholder missing"},
		{"original is gone, and a variant is needed", picture(1, shrunk, inWebP), func(in *delivery.Input) {
			in.Facts.Missing = map[content.Digest]bool{digest(5000 + 1001&0xff): true}
		}, "image-1.png placeholder missing"},
		{"original is gone, and the prepared form fits", picture(1, shrunk), func(in *delivery.Input) {
			in.Facts.Missing = map[content.Digest]bool{digest(5000 + 1001&0xff): true}
		}, "image-1.png shrunk prepared"},
		{"original is gone, and many need a variant", picture(1, shrunk), func(in *delivery.Input) {
			in.Facts.Missing = map[content.Digest]bool{digest(5000 + 1001&0xff): true}
			in.Profile.ImageLimits.ManyCount, in.Profile.ImageLimits.ManyEdge = 1, 700
			in.Messages[0].Parts = append(in.Messages[0].Parts, picture(2))
		}, "image-1.png placeholder missing"},
		{"audio is gone", recording(1), func(in *delivery.Input) { in.Facts.Missing = map[content.Digest]bool{digest(2001): true} }, "audio-1.wav placeholder missing"},
		{"no formats at all", picture(1), func(in *delivery.Input) { in.Profile.ImageLimits.MIMEs = nil }, "image-1.png path no_images"},
		{"failed before", recording(1), func(in *delivery.Input) {
			in.Facts.Failed = map[content.Handle]delivery.Failed{"audio-1.wav": {}}
		}, "audio-1.wav path prepare_failed"},
		{"never the path of a file just read", readByTool(picture(1)), func(in *delivery.Input) { in.Profile.Images.Answer = delivery.No }, "image-1.png placeholder no_images"},
	}
	for _, tt := range tests {
		in := prompt(sees(), tt.block)
		in.Facts.Files = true
		tt.in(&in)
		if got := ordered(delivery.Decide(in))[0]; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func readByTool(p content.Image) content.Image {
	p.Origin = content.Origin{Inlet: content.InletTool, Path: "/project/shot.png", Chooser: content.ChosenByModel}
	return p
}

func TestVerdicts(t *testing.T) {
	d := func(ns ...int) map[content.Digest]bool {
		m := map[content.Digest]bool{}
		for _, n := range ns {
			m[digest(n)] = true
		}
		return m
	}
	m := func(ss ...string) map[string]bool {
		out := map[string]bool{}
		for _, s := range ss {
			out[s] = true
		}
		return out
	}
	tests := []struct {
		name  string
		block content.Block
		facts delivery.Facts
		want  string
	}{
		{"another digest", picture(1), delivery.Facts{Refused: d(5)}, "image-1.png inline fits"},
		{"digest", picture(1), delivery.Facts{Refused: d(1001)}, "image-1.png refused endpoint_refused"},
		{"digest, with files", picture(1), delivery.Facts{Refused: d(1001), Files: true}, "image-1.png path endpoint_refused"},
		{"digest, with a describer", picture(1), delivery.Facts{Refused: d(1001), Describer: true}, "image-1.png described endpoint_refused"},
		{"original of a prepared picture", picture(1, shrunk), delivery.Facts{Refused: d(5000 + 1001&0xff)}, "image-1.png refused endpoint_refused"},
		{"type", picture(1), delivery.Facts{RefusedMIMEs: m(png)}, "image-1.png converted format"},
		{"every type", picture(1), delivery.Facts{RefusedMIMEs: m(png, jpeg)}, "image-1.png refused endpoint_refused"},
		{"family", picture(1), delivery.Facts{RefusedMIMEs: m("image/*")}, "image-1.png refused endpoint_refused"},
		{"another family", picture(1), delivery.Facts{RefusedMIMEs: m("audio/*")}, "image-1.png inline fits"},
		{"sound", recording(1), delivery.Facts{RefusedMIMEs: m("audio/wav")}, "audio-1.wav refused endpoint_refused"},
		{"sound, with files", recording(1), delivery.Facts{RefusedMIMEs: m("audio/*"), Files: true}, "audio-1.wav path endpoint_refused"},
		{"document has its text", document(1), delivery.Facts{RefusedMIMEs: m(pdf)}, "document-1.pdf converted text_form"},
		{"document without", untexted(document(1)), delivery.Facts{Refused: d(3001)}, "document-1.pdf refused endpoint_refused"},
		{"text is not media", resource(1), delivery.Facts{RefusedMIMEs: m("text/*"), Refused: d(4001)}, "resource-1.txt inline text_form"},
	}
	for _, tt := range tests {
		in := prompt(sees(), tt.block)
		in.Facts = tt.facts
		if got := ordered(delivery.Decide(in))[0]; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A variant may be refused that nobody could know before it was cut.
func TestVerdictOnVariant(t *testing.T) {
	in := prompt(sees(limits(func(l *delivery.Limits) { l.MaxEdge = 100 })), picture(1))
	plan := delivery.Decide(in)
	r := carryOut(plan, nil)
	in.Facts.Refused = map[content.Digest]bool{r.Variants["image-1.png"].Digest: true}
	_, receipts, _ := delivery.Settle(delivery.Decide(in), r)
	if got := fates(receipts)[0]; got != "image-1.png refused endpoint_refused" {
		t.Errorf("got %q", got)
	}
}

func TestOrdersAreTheBlocks(t *testing.T) {
	var parts []content.Part
	for _, b := range contenttest.Blocks() {
		parts = append(parts, b)
	}
	in := delivery.Input{Profile: sees(), Messages: []content.Message{
		user(parts...),
		assistant(content.Text{Handle: "text-8", Body: "the model's own words are no block"}, call("a")),
		results(result("a", contenttest.Sound()...)),
	}}
	plan := delivery.Decide(in)
	want := append(contenttest.Blocks(), contenttest.Sound()...)
	if len(plan.Orders()) != len(want) {
		t.Fatalf("%d orders, want %d", len(plan.Orders()), len(want))
	}
	for i, o := range plan.Orders() {
		if diff := cmp.Diff(want[i], o.Block()); diff != "" {
			t.Errorf("order %d:\n%s", i, diff)
		}
		route := delivery.RoutePrompt
		if i >= len(want)/2 {
			route = delivery.RouteResult
		}
		if o.Route() != route {
			t.Errorf("order %d: route %v, want %v", i, o.Route(), route)
		}
	}
}
