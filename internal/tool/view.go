package tool

import (
	"bufio"
	"context"
	_ "embed" // for the tool's description
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"tote/internal/content"
	"tote/internal/permission"
)

//go:embed view_image.md
var viewText string

// ViewImage is the tool with which a model looks at a picture closely, again, or
// beside another one.
type ViewImage struct{}

var _ Tool = ViewImage{}

type region struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

type viewArgs struct {
	Handle  string  `json:"handle"`
	Path    string  `json:"path"`
	Region  *region `json:"region"`
	Rotate  int     `json:"rotate"`
	Zoom    int     `json:"zoom"`
	Compare string  `json:"compare_with"`
	How     string  `json:"how"`
}

// Spec implements Tool.
func (ViewImage) Spec() Spec {
	return Spec{
		Name: "view_image", Description: strings.TrimSpace(viewText), Parallel: true,
		Schema: json.RawMessage(`{"type":"object","properties":{"handle":{"type":"string","description":"A picture of the conversation, such as image-1.png."},"path":{"type":"string","description":"A picture file, in the place of a handle."},"region":{"type":"object","properties":{"x":{"type":"integer","minimum":0},"y":{"type":"integer","minimum":0},"w":{"type":"integer","minimum":1},"h":{"type":"integer","minimum":1}},"required":["x","y","w","h"],"additionalProperties":false,"description":"The part to see, in pixels of the original picture."},"rotate":{"type":"integer","enum":[0,90,180,270],"description":"Degrees clockwise."},"zoom":{"type":"integer","minimum":1,"maximum":8,"description":"How many times larger."},"compare_with":{"type":"string","description":"The handle of another picture."},"how":{"type":"string","enum":["side","diff"],"description":"How to compare: side by side (the default), or with the differing pixels marked."}},"additionalProperties":false}`),
	}
}

func (ViewImage) args(raw json.RawMessage) (viewArgs, error) {
	var a viewArgs
	if err := Decode(raw, &a); err != nil {
		return a, err
	}
	a.Path = strings.TrimPrefix(a.Path, "@")
	views := a.Region != nil || a.Rotate != 0 || a.Zoom > 1
	switch {
	case a.Handle == "" && a.Path == "":
		return a, errors.New("view_image: give a handle or a path")
	case a.Handle != "" && a.Path != "":
		return a, errors.New("view_image: give a handle or a path, not both")
	case a.Path != "" && (views || a.Compare != "" || a.How != ""):
		return a, errors.New("view_image: a file has no handle yet; view it by its path alone, and then use the handle that it gets")
	case a.Compare != "" && views:
		return a, errors.New("view_image: compare whole pictures: leave out region, rotate and zoom, or view the regions and compare their handles")
	case a.Compare == "" && a.How != "":
		return a, errors.New("view_image: the argument \"compare_with\" is missing")
	case a.How != "" && a.How != content.CompareSide.String() && a.How != content.CompareDiff.String():
		return a, fmt.Errorf("view_image: how is %q, want side or diff", a.How)
	case a.Rotate != 0 && a.Rotate != 90 && a.Rotate != 180 && a.Rotate != 270:
		return a, fmt.Errorf("view_image: rotate is %d, want 0, 90, 180 or 270", a.Rotate)
	case a.Zoom < 0 || a.Zoom > content.MaxZoom:
		return a, fmt.Errorf("view_image: zoom is %d, want 1 to %d", a.Zoom, content.MaxZoom)
	}
	return a, nil
}

// Request implements Tool.
func (v ViewImage) Request(raw json.RawMessage, env Env) (permission.Request, string, error) {
	a, err := v.args(raw)
	switch {
	case err != nil:
		return permission.Request{}, "", err
	case a.Path != "":
		p, err := Find(a.Path, env)
		if err != nil {
			return permission.Request{}, "", fmt.Errorf("view_image %s: %w", a.Path, err)
		}
		return p.Request("view_image", permission.Read), "View " + a.Path, nil
	}
	title := "View " + a.Handle
	if a.Compare != "" {
		title = "Compare " + a.Handle + " with " + a.Compare
	}
	// The picture is in the conversation already.
	return permission.Request{Tool: "view_image", Action: permission.Read}, title, nil
}

// Run implements Tool.
func (v ViewImage) Run(ctx context.Context, raw json.RawMessage, env Env) (Result, error) {
	a, err := v.args(raw)
	if err != nil {
		return Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("view_image: %w", err)
	}
	if a.Path != "" {
		r, err := Await(ctx, func() (Result, error) { return viewFile(a.Path, env) }, nil)
		if err != nil {
			return Result{}, fmt.Errorf("view_image %s: %w", a.Path, err)
		}
		return r, nil
	}
	img, err := picture(a.Handle, env)
	if err != nil {
		return Result{}, err
	}
	if a.Compare != "" {
		return a.compare(img, env)
	}
	crop := content.Crop{Handle: img.Handle, Rotate: a.Rotate, Zoom: a.Zoom}
	if r := a.Region; r != nil {
		w, h := img.Original.Width, img.Original.Height
		switch {
		case r.X < 0 || r.Y < 0 || r.W < 1 || r.H < 1:
			return Result{}, fmt.Errorf("view_image: a region needs x and y from 0, w and h from 1; %s is %dx%d pixels", img.Handle, w, h)
		case w > 0 && (r.W > w-r.X || r.H > h-r.Y):
			return Result{}, fmt.Errorf("view_image: region %d,%d %dx%d does not lie inside %s, which is %dx%d pixels", r.X, r.Y, r.W, r.H, img.Handle, w, h)
		}
		crop.X, crop.Y, crop.W, crop.H = r.X, r.Y, r.W, r.H
	}
	return look(crop), nil
}

// look makes the source of a picture of the conversation. What is known about it
// is said where it is made: the inlet.
func look(p content.Payload) Result {
	return Result{Sources: []content.Source{{Payload: p, Inlet: content.InletTool, Chooser: content.ChosenByModel, As: content.KindImage}}}
}

func (a viewArgs) compare(img content.Image, env Env) (Result, error) {
	other, err := picture(a.Compare, env)
	if err != nil {
		return Result{}, err
	}
	how := content.CompareSide
	if a.How == content.CompareDiff.String() {
		how = content.CompareDiff
	}
	x, y := img.Original, other.Original
	if how == content.CompareDiff && (x.Width != y.Width || x.Height != y.Height) {
		return Result{}, fmt.Errorf("view_image: %s is %dx%d pixels and %s is %dx%d; only pictures of one size can be compared pixel by pixel. Compare them side by side",
			img.Handle, x.Width, x.Height, other.Handle, y.Width, y.Height)
	}
	return look(content.Compare{A: img.Handle, B: other.Handle, How: how}), nil
}

// picture finds a picture of the conversation.
func picture(handle string, env Env) (content.Image, error) {
	h := content.Handle(strings.TrimSpace(handle))
	var b content.Block
	ok := false
	if env.Lookup != nil {
		b, ok = env.Lookup(h)
	}
	if !ok {
		return content.Image{}, fmt.Errorf("view_image: no picture is called %s; %s", content.Clean(handle), gallery(env))
	}
	img, ok := b.(content.Image)
	switch {
	case !ok:
		return content.Image{}, fmt.Errorf("view_image: %s is no picture but %s; %s", h, kindName(b.Kind()), gallery(env))
	case img.Original.IsZero():
		return content.Image{}, fmt.Errorf("view_image: there is nothing to see of %s: %s", h, content.Clean(orFault(img)))
	}
	img.Handle = h
	return img, nil
}

func orFault(img content.Image) string {
	if img.Detail != "" {
		return img.Detail
	}
	return img.Fault.String()
}

func kindName(k content.Kind) string {
	switch k {
	case content.KindText, content.KindResourceText:
		return "text"
	case content.KindImage:
		return "a picture"
	case content.KindAudio:
		return "sound"
	case content.KindDocument:
		return "a document"
	case content.KindResourceLink:
		return "a link"
	case content.KindOpaque:
		return "something unknown"
	}
	return "something else"
}

// maxGallery bounds how many pictures are named; the newest are.
const maxGallery = 20

func gallery(env Env) string {
	var all []content.Handle
	if env.Pictures != nil {
		all = env.Pictures()
	}
	if len(all) == 0 {
		return "the conversation holds no picture of that name"
	}
	newest := all[max(0, len(all)-maxGallery):]
	names := make([]string, len(newest))
	for i, h := range newest {
		names[i] = string(h)
	}
	text := "the pictures are " + strings.Join(names, ", ")
	if len(newest) < len(all) {
		text = fmt.Sprintf("the newest of %d pictures are %s", len(all), strings.Join(names, ", "))
	}
	return text
}

// viewFile hands over a picture file; what it is, its bytes tell the inlet.
func viewFile(path string, env Env) (Result, error) {
	p, err := Find(path, env)
	if err != nil {
		return Result{}, err
	}
	spot, err := p.Settle(env)
	if err != nil {
		return Result{}, err
	}
	if err := spot.Refused(env); err != nil {
		return Result{}, err
	}
	if spot.Pseudo() {
		return Result{}, errPseudo
	}
	f, err := spot.open()
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = f.Close() }() // opened for reading: nothing to lose
	info, err := regular(f)
	if err != nil {
		return Result{}, err
	}
	head, err := bufio.NewReaderSize(f, sniffBytes).Peek(sniffBytes)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return Result{}, plain(err)
	case isText(head):
		return Result{}, errors.New("it is text; use the read tool")
	}
	note(spot, info, nil, env)
	return attach(p, spot, env), nil
}
