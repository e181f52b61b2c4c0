package ingest

import (
	"context"
	"path/filepath"

	"tote/internal/content"
)

// link keeps a link at its place and, where it names a file that its chooser may
// read, takes that file as a second block. Other links are never fetched.
func (in *Inlet) link(ctx context.Context, s content.Source, p content.Link, sc Scope) (taken, error) {
	b := content.ResourceLink{
		Origin: content.Origin{Inlet: s.Inlet, Chooser: s.Chooser},
		URI:    p.URI, Name: p.Name, Title: p.Title, Description: p.Description, MIME: p.MIME, Size: p.Size,
	}
	if !isFileURI(p.URI) && !in.absoluteName(p.URI) {
		return one(b), nil
	}
	f, err := in.capture(ctx, p.URI, s, sc)
	if err != nil {
		bad, ok := troubleOf(err)
		if !ok {
			return taken{}, err
		}
		b.Fault, b.Detail = bad.fault, bad.detail
		return one(b), nil
	}
	cl := claimOf(s)
	cl.as, cl.uri = 0, p.URI
	cl.att.Name, cl.att.Origin.Path = filepath.Base(f.path), f.path
	if cl.att.Declared == "" {
		cl.att.Declared = p.MIME
	}
	t, err := in.attach(ctx, f.data, cl)
	if err != nil {
		return taken{}, err
	}
	// The client sent the link, so no payload of its block is in the store.
	return taken{blocks: append([]content.Block{b}, t.blocks...)}, nil
}

// absoluteName reports whether a link is a bare absolute path.
func (in *Inlet) absoluteName(uri string) bool {
	if in.os == windows {
		return hasDrive(uri) || len(uri) > 2 && uri[:2] == `\\`
	}
	return len(uri) > 1 && uri[0] == '/'
}
