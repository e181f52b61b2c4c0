package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/tool"
)

// shown is a session with pictures and other things.
func shown(t testing.TB) tool.Env {
	t.Helper()
	env := project(t, map[string]string{"a.png": png, "a.txt": "text\n"})
	img := func(w, h int) content.Image {
		return content.Image{Attachment: content.Attachment{Original: content.Blob{Digest: content.Digest{1}, Width: w, Height: h}}}
	}
	held := map[content.Handle]content.Block{
		"image-1.png": img(3840, 2400), "image-2.png": img(3840, 2400), "image-3.jpg": img(100, 50), "audio-1.wav": content.Audio{},
		"image-4.png": content.Image{Attachment: content.Attachment{Fault: content.FaultNotFound, Detail: "no file x.png"}},
	}
	env.Lookup = func(h content.Handle) (content.Block, bool) { b, ok := held[h]; return b, ok }
	env.Pictures = func() []content.Handle { return []content.Handle{"image-1.png", "image-2.png", "image-3.jpg"} }
	return env
}

func TestViewImage(t *testing.T) {
	env := shown(t)
	reg := func(x, y, w, h int) map[string]any { return map[string]any{"x": x, "y": y, "w": w, "h": h} }
	for name, tt := range map[string]struct {
		v    map[string]any
		want content.Payload
	}{
		"again":      {map[string]any{"handle": "image-1.png"}, content.Crop{Handle: "image-1.png"}},
		"region":     {map[string]any{"handle": "image-1.png", "region": reg(100, 200, 300, 150), "zoom": 2}, content.Crop{Handle: "image-1.png", X: 100, Y: 200, W: 300, H: 150, Zoom: 2}},
		"all of it":  {map[string]any{"handle": "image-3.jpg", "region": reg(0, 0, 100, 50), "rotate": 90}, content.Crop{Handle: "image-3.jpg", W: 100, H: 50, Rotate: 90}},
		"turned":     {map[string]any{"handle": " image-1.png ", "rotate": 180}, content.Crop{Handle: "image-1.png", Rotate: 180}},
		"side":       {map[string]any{"handle": "image-1.png", "compare_with": "image-3.jpg"}, content.Compare{A: "image-1.png", B: "image-3.jpg", How: content.CompareSide}},
		"diff":       {map[string]any{"handle": "image-1.png", "compare_with": "image-2.png", "how": "diff"}, content.Compare{A: "image-1.png", B: "image-2.png", How: content.CompareDiff}},
		"file":       {map[string]any{"path": "@a.png"}, content.Path{Path: filepath.Join(env.Cwd, "a.png")}},
		"zoom of 1":  {map[string]any{"handle": "image-1.png", "zoom": 1}, content.Crop{Handle: "image-1.png", Zoom: 1}},
		"zoom of 0":  {map[string]any{"handle": "image-1.png", "zoom": 0, "rotate": 0}, content.Crop{Handle: "image-1.png"}},
		"named side": {map[string]any{"handle": "image-1.png", "compare_with": "image-2.png", "how": "side"}, content.Compare{A: "image-1.png", B: "image-2.png", How: content.CompareSide}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := (tool.ViewImage{}).Run(t.Context(), args(t, tt.v), env)
			if err != nil || len(r.Sources) != 1 || r.IsError {
				t.Fatalf("%+v, %v", r, err)
			}
			s := r.Sources[0]
			if diff := cmp.Diff(tt.want, s.Payload); diff != "" || s.Chooser != content.ChosenByModel || s.Inlet != content.InletTool {
				t.Errorf("%+v (-want +got):\n%s", s, diff)
			}
			q, title, err := (tool.ViewImage{}).Request(args(t, tt.v), env)
			if v, _ := (permission.Rules{}).Decide(q); err != nil || title == "" || v != permission.Allow {
				t.Errorf("request %+v, %q, %v, %v", q, title, v, err)
			}
		})
	}
}

func TestViewImageErrors(t *testing.T) {
	env := shown(t)
	for raw, want := range map[string]string{
		`{}`:                                  "give a handle or a path",
		`{"handle":"image-1.png","path":"a"}`: "not both",
		`{"handle":"image-9.png"}`:            "no picture is called image-9.png; the pictures are image-1.png, image-2.png, image-3.jpg",
		`{"handle":"audio-1.wav"}`:            "audio-1.wav is no picture but sound; the pictures are",
		`{"handle":"image-4.png"}`:            "there is nothing to see of image-4.png: no file x.png",
		`{"handle":"image-3.jpg","region":{"x":90,"y":0,"w":11,"h":1}}`:                                   "region 90,0 11x1 does not lie inside image-3.jpg, which is 100x50 pixels",
		`{"handle":"image-3.jpg","region":{"x":0,"y":0,"w":0,"h":0}}`:                                     "image-3.jpg is 100x50 pixels",
		`{"handle":"image-3.jpg","region":{"x":9223372036854775807,"y":0,"w":9223372036854775807,"h":1}}`: "does not lie inside",
		`{"handle":"image-3.jpg","rotate":45}`:                                                            "rotate is 45",
		`{"handle":"image-3.jpg","zoom":9}`:                                                               "zoom is 9",
		`{"handle":"image-3.jpg","how":"diff"}`:                                                           "\"compare_with\" is missing",
		`{"handle":"image-3.jpg","compare_with":"image-1.png","how":"blend"}`:                             "want side or diff",
		`{"handle":"image-3.jpg","compare_with":"image-1.png","how":"diff"}`:                              "image-3.jpg is 100x50 pixels and image-1.png is 3840x2400",
		`{"handle":"image-3.jpg","compare_with":"image-1.png","zoom":2}`:                                  "compare whole pictures",
		`{"handle":"image-3.jpg","compare_with":"image-7.png"}`:                                           "no picture is called image-7.png",
		`{"path":"a.png","zoom":2}`:                                                                       "a file has no handle yet",
		`{"path":"a.txt"}`:                                                                                "it is text; use the read tool",
		`{"path":"gone.png"}`:                                                                             "there is no such file",
		`{"path":"."}`:                                                                                    "it is a folder",
		`{"path":"../x.png"}`:                                                                             "outside the folders",
		`{"handle":"image-1.png","region":[1,2,3,4]}`:                                                     "read the arguments",
	} {
		if _, err := (tool.ViewImage{}).Run(t.Context(), json.RawMessage(raw), env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", raw, err)
		}
	}
	none := project(t, nil)
	if _, err := run(t, tool.ViewImage{}, none, map[string]any{"handle": "image-1.png"}); err == nil || !strings.Contains(err.Error(), "the conversation holds no picture") {
		t.Errorf("err = %v", err)
	}
	many := env
	many.Pictures = func() []content.Handle {
		var out []content.Handle
		for i := range 50 {
			out = append(out, content.NewHandle(content.KindImage, i+1, ".png"))
		}
		return out
	}
	if _, err := run(t, tool.ViewImage{}, many, map[string]any{"handle": "x"}); err == nil || !strings.Contains(err.Error(), "the newest of 50 pictures are image-31.png") {
		t.Errorf("err = %v", err)
	}
	c, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (tool.ViewImage{}).Run(c, json.RawMessage(`{"handle":"image-1.png"}`), env); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
