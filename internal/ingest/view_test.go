package ingest_test

import (
	"encoding/base64"
	"image/color"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/imaging/imagingtest"
	"tote/internal/ingest"
)

// gallery is a session with pictures under image-1.png, image-2.png and so on.
func gallery(t *testing.T, in *ingest.Inlet, pictures ...[]byte) ingest.Scope {
	t.Helper()
	held := map[content.Handle]content.Block{"text-1": content.Text{Body: "x"}}
	for i, data := range pictures {
		h := content.NewHandle(content.KindImage, i+1, ".png")
		held[h] = content.WithHandle(takeOne(t, in, flag(content.Bytes{Data: data}), ingest.Scope{}), h)
	}
	return ingest.Scope{Lookup: func(h content.Handle) (content.Block, bool) { b, ok := held[h]; return b, ok }}
}

func TestCropSaysWhatItShows(t *testing.T) {
	in := ingest.New(newMemory(), ingest.Options{})
	sc := gallery(t, in, imagingtest.PNG(imagingtest.Corners(3000, 2000)), imagingtest.JPEG(imagingtest.Photo(60, 40), 6))
	tests := map[string]struct {
		crop content.Crop
		want string
		w, h int
	}{
		"region":         {content.Crop{Handle: "image-1.png", X: 100, Y: 200, W: 300, H: 150}, "region 100,200 300x150 of image-1.png (3000x2000), shown at 1x", 300, 150},
		"enlarged":       {content.Crop{Handle: "image-1.png", X: 100, Y: 200, W: 300, H: 150, Zoom: 4}, "region 100,200 300x150 of image-1.png (3000x2000), shown at 4x", 1200, 600},
		"enlarged less":  {content.Crop{Handle: "image-1.png", W: 600, H: 300, Zoom: 8}, "region 0,0 600x300 of image-1.png (3000x2000), shown at 3x", 1800, 900},
		"shrunk":         {content.Crop{Handle: "image-1.png", W: 2500, H: 100}, "region 0,0 2500x100 of image-1.png (3000x2000), shown at 0.8x", 2000, 80},
		"turned":         {content.Crop{Handle: "image-1.png", W: 30, H: 20, Rotate: 90, Zoom: 2}, "region 0,0 30x20 of image-1.png (3000x2000), turned 90 degrees clockwise, shown at 2x", 40, 60},
		"all":            {content.Crop{Handle: "image-1.png"}, "all of image-1.png (3000x2000), shown at 0.67x", 2000, 1333},
		"all, turned":    {content.Crop{Handle: "image-1.png", Rotate: 270}, "all of image-1.png (3000x2000), turned 270 degrees clockwise, shown at 0.67x", 1333, 2000},
		"on its side":    {content.Crop{Handle: "image-2.png", X: 10, Y: 30, W: 30, H: 30}, "region 10,30 30x30 of image-2.png (40x60), shown at 1x", 30, 30},
		"all by numbers": {content.Crop{Handle: "image-2.png", W: 40, H: 60}, "region 0,0 40x60 of image-2.png (40x60), shown at 1x", 40, 60},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := content.Source{Payload: tt.crop, Inlet: content.InletTool, Chooser: content.ChosenByModel}
			blocks, _ := take(t, in, s, sc)
			img := shown(t, in, s, sc)
			if text := blocks[0].(content.Text).Body; text != tt.want {
				t.Errorf("text = %q", text)
			}
			if img.Prepared.Width != tt.w || img.Prepared.Height != tt.h {
				t.Errorf("%dx%d", img.Prepared.Width, img.Prepared.Height)
			}
		})
	}
	again := shown(t, in, content.Source{Payload: content.Crop{Handle: "image-1.png"}, Inlet: content.InletTool, Chooser: content.ChosenByModel}, sc)
	was, _ := sc.Lookup("image-1.png")
	if old := was.(content.Image); again.Original != old.Original || again.Prepared != old.Prepared || again.Detail != old.Detail || again.Handle != "" {
		t.Errorf("the whole picture again: %+v", again)
	}
	for _, bad := range []content.Crop{{Handle: "image-1.png", Rotate: 45}, {Handle: "image-1.png", Zoom: 9}, {Handle: "image-1.png", W: 1}} {
		if got := shown(t, in, content.Source{Payload: bad, Inlet: content.InletTool, Chooser: content.ChosenByModel}, sc); got.Fault != content.FaultBadPayload || got.Detail == "" {
			t.Errorf("%+v: %s %q", bad, got.Fault, got.Detail)
		}
	}
}

func TestCompare(t *testing.T) {
	in := ingest.New(newMemory(), ingest.Options{})
	changed := imagingtest.Corners(40, 30)
	changed.SetNRGBA(4, 5, color.NRGBA{R: 255, G: 9, A: 255})
	changed.SetNRGBA(6, 7, color.NRGBA{R: 255, G: 9, A: 255})
	whole := imagingtest.PNG(imagingtest.Corners(40, 30))
	sc := gallery(t, in, whole, imagingtest.PNG(changed), imagingtest.PNG(imagingtest.Corners(20, 30)), whole)
	const differ = "image-1.png (40x30) and image-2.png (40x30) differ in 2 of 1200 pixels (0.17 %), all of them in the region 4,5 3x3. " +
		"One channel differs by at most 9 of 255."
	tests := map[string]struct {
		cmp  content.Compare
		want string
		w    int
	}{
		"side": {
			content.Compare{A: "image-1.png", B: "image-2.png", How: content.CompareSide},
			differ + " image-1.png is on the left, image-2.png on the right, at the same height.", 92,
		},
		"diff": {
			content.Compare{A: "image-1.png", B: "image-2.png", How: content.CompareDiff},
			differ + " They are red on a dimmed copy of image-1.png, inside a blue frame.", 40,
		},
		"other size": {
			content.Compare{A: "image-1.png", B: "image-3.png", How: content.CompareSide},
			"image-1.png (40x30) and image-3.png (20x30) differ in size; their pixels were not compared. image-1.png is on the left, image-3.png on the right, at the same height.", 72,
		},
		"identical": {
			content.Compare{A: "image-1.png", B: "image-4.png", How: content.CompareDiff},
			"image-1.png (40x30) and image-4.png (40x30) are identical: every pixel is the same.", 0,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := content.Source{Payload: tt.cmp, Inlet: content.InletTool, Chooser: content.ChosenByModel}
			blocks, _ := take(t, in, s, sc)
			if diff := cmp.Diff(tt.want, blocks[0].(content.Text).Body); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if tt.w == 0 {
				if len(blocks) != 1 {
					t.Errorf("%d blocks", len(blocks))
				}
				return
			}
			if img := shown(t, in, s, sc); img.Prepared.Width != tt.w || img.Original != img.Prepared {
				t.Errorf("picture: %+v", img)
			}
		})
	}
	for c, want := range map[content.Compare]content.Fault{
		{A: "image-1.png", B: "image-3.png", How: content.CompareDiff}: content.FaultBadPayload,
		{A: "image-1.png", B: "image-2.png"}:                           content.FaultBadPayload,
		{A: "text-1", B: "image-1.png", How: content.CompareSide}:      content.FaultBadPayload,
		{A: "image-1.png", B: "image-9.png", How: content.CompareDiff}: content.FaultNotFound,
		{How: content.CompareSide}:                                     content.FaultNotFound,
	} {
		got := shown(t, in, content.Source{Payload: c, Inlet: content.InletTool, Chooser: content.ChosenByModel}, sc)
		if got.Fault != want || got.Detail == "" {
			t.Errorf("%+v: %s %q", c, got.Fault, got.Detail)
		}
	}
}

// What another session holds is handed on as it is, if its bytes are there.
func TestGiven(t *testing.T) {
	blobs := newMemory()
	in := ingest.New(blobs, ingest.Options{})
	given := func(b content.Block) content.Source {
		return content.Source{Payload: content.Given{Block: b}, Inlet: content.InletTool, Chooser: content.ChosenByModel}
	}
	gone := content.Blob{Digest: content.Digest{7}, Size: 3}
	for i, data := range [][]byte{imagingtest.PNG(imagingtest.Corners(3000, 2000)), []byte("text"), []byte("%PDF-1.7\n"), []byte("RIFF\x24\x00\x00\x00WAVEfmt ")} {
		b := content.WithHandle(takeOne(t, in, flag(content.Bytes{Data: data}), ingest.Scope{}), "thing-1.x")
		if diff := cmp.Diff(b, takeOne(t, in, given(b), ingest.Scope{})); diff != "" {
			t.Errorf("%d (-given +got):\n%s", i, diff)
		}
	}
	att := content.Attachment{Handle: "thing-2", Original: gone}
	for _, b := range []content.Block{
		content.Image{Attachment: att}, content.Audio{Attachment: att}, content.Document{Attachment: att}, content.ResourceText{Attachment: att},
	} {
		got := attachment(t, takeOne(t, in, given(b), ingest.Scope{}))
		if got.Fault != content.FaultMissing || got.Detail == "" || got.Handle != "thing-2" || got.Original != gone {
			t.Errorf("%s: %+v", b.Kind(), got)
		}
	}
	for _, b := range []content.Block{content.Text{Handle: "text-1", Body: "words"}, content.ResourceLink{URI: "https://example.invalid"}, content.Opaque{Type: "x", Raw: gone}} {
		if diff := cmp.Diff(b, takeOne(t, in, given(b), ingest.Scope{})); diff != "" {
			t.Errorf("%s (-given +got):\n%s", b.Kind(), diff)
		}
	}
	if got := attachment(t, takeOne(t, in, given(nil), ingest.Scope{})); got.Fault != content.FaultBadPayload {
		t.Errorf("nothing: %+v", got)
	}
}

// Text of a tool stays text, whatever it looks like.
func TestToolTextIsNeverMedia(t *testing.T) {
	std := base64.StdEncoding.EncodeToString(imagingtest.PNG(imagingtest.Corners(4, 4)))
	for _, text := range []string{
		"data:image/png;base64," + std, std, "![x](data:image/png;base64," + std + ")", `{"type":"image","data":"` + std + `"}`,
		"@/etc/passwd", "file:///etc/passwd", "\x89PNG\r\n\x1a\n", " \n\ttrailing blanks \r\n", strings.Repeat(std+"\n", 3),
	} {
		for _, s := range []content.Inlet{content.InletTool, content.InletMCP} {
			got := takeOne(t, ingest.New(newMemory(), ingest.Options{}), content.Source{
				Payload: content.Prose{Text: text}, Inlet: s, Chooser: content.ChosenByTool, As: content.KindText,
			}, ingest.Scope{})
			if diff := cmp.Diff(content.Block(content.Text{Body: text}), got); diff != "" {
				t.Errorf("%.20q (-want +got):\n%s", text, diff)
			}
		}
	}
}
