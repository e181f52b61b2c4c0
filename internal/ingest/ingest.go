package ingest

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"tote/internal/content"
)

// DefaultLimit is the size cap of one attachment in bytes.
const DefaultLimit = 32 << 20

// Blobs is where the bytes of attachments are kept.
type Blobs interface {
	// PutBytes stores data and returns its digest. Storing the same bytes
	// twice is no error.
	PutBytes(ctx context.Context, data []byte) (content.Digest, error)
	// Check fails when the bytes of d are not there or are damaged.
	Check(d content.Digest) error
	Reader
}

// Reader gives stored bytes back.
type Reader interface {
	// ReadAll returns the bytes of d, or an error when there are more than
	// limit of them.
	ReadAll(d content.Digest, limit int64) ([]byte, error)
}

// Options configures an Inlet. The zero value is usable.
type Options struct {
	// Limit is the size cap of one attachment in bytes, 0 for DefaultLimit.
	Limit int64
	// OS decides the grammar of paths; empty is the system this runs on.
	OS string
	// Home is the folder that "~" stands for; empty refuses "~".
	Home string
	// StripMetadata removes the metadata (places, cameras, comments) from
	// pictures that are handed on as they are. The original keeps it; pictures
	// that are encoded anew lose theirs in any case.
	StripMetadata bool
}

// Inlet turns sources into blocks.
type Inlet struct {
	blobs Blobs
	limit int64
	os    string
	home  string
	strip bool
	known known
}

// New makes an Inlet that stores into blobs.
func New(blobs Blobs, o Options) *Inlet {
	in := &Inlet{blobs: blobs, limit: o.Limit, os: o.OS, home: o.Home, strip: o.StripMetadata}
	if in.limit <= 0 {
		in.limit = DefaultLimit
	}
	if in.os == "" {
		in.os = runtime.GOOS
	}
	return in
}

// Scope is what one session permits.
type Scope struct {
	// Cwd is where relative paths start.
	Cwd string
	// Roots are the folders under which a model and its tools may read:
	// project, additional roots, session scratch.
	Roots []string
	// Forbidden are folders out of which a model and its tools may never
	// read, not even with permission.
	Forbidden []string
	// Ask asks the user whether the file at path, which lies outside the
	// roots, may be read. Nil means no.
	Ask func(ctx context.Context, path string) (bool, error)
	// Lookup finds a block of the session, for crops and comparisons.
	Lookup func(content.Handle) (content.Block, bool)
}

// claim is what is said about a source before its bytes are looked at.
type claim struct {
	att content.Attachment // Name, Origin and Declared only
	as  content.Kind
	uri string
}

func claimOf(s content.Source) claim {
	name := baseName(s.Name)
	if name == "" && s.URI != "" {
		name = uriName(s.URI)
	}
	return claim{
		att: content.Attachment{
			Name: name, Declared: s.Declared,
			Origin: content.Origin{Inlet: s.Inlet, Chooser: s.Chooser},
		},
		as: s.As, uri: s.URI,
	}
}

// taken is what became of a source: its blocks, and the payload that may be cut
// out of the client's JSON because it is stored.
type taken struct {
	blocks  []content.Block
	payload []byte
	digest  content.Digest
	// prefix is how many bytes of the JSON payload stand before what was
	// decoded ("data:image/png;base64,").
	prefix int
}

func one(b content.Block) taken { return taken{blocks: []content.Block{b}} }

// Ingest turns a source into blocks: one, or for a link to a readable file the
// link and then the file, or for a region or a comparison what is known about it
// as text and then the picture. Whatever is wrong with the source is a fault of its
// block. The envelopes run parallel to the blocks; those of derived blocks, and
// all where no client sent the source, are zero.
//
// The error is the context's own, or that of the store, and names the source.
func (in *Inlet) Ingest(ctx context.Context, s content.Source, sc Scope) ([]content.Block, []content.Envelope, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("take in %s: %w", sourceName(s), err)
	}
	t, err := in.take(ctx, s, sc)
	if err != nil {
		return nil, nil, fmt.Errorf("take in %s: %w", sourceName(s), err)
	}
	envs := make([]content.Envelope, len(t.blocks))
	envs[0], err = in.envelope(ctx, s, t)
	if err != nil {
		return nil, nil, fmt.Errorf("keep the client's block of %s: %w", sourceName(s), err)
	}
	return t.blocks, envs, nil
}

func (in *Inlet) take(ctx context.Context, s content.Source, sc Scope) (taken, error) {
	switch p := s.Payload.(type) {
	case content.Prose:
		return in.prose(ctx, s, p)
	case content.Bytes:
		return in.attach(ctx, p.Data, claimOf(s))
	case content.Base64:
		return in.base64(ctx, s, p.Data)
	case content.DataURI:
		return in.dataURI(ctx, s, p.URI)
	case content.Path:
		return in.path(ctx, s, p.Path, sc)
	case content.Link:
		return in.link(ctx, s, p, sc)
	case content.EmbeddedText:
		return in.embedded(ctx, s, p)
	case content.Given:
		return in.given(ctx, s, p)
	case content.Crop:
		return in.crop(ctx, s, p, sc)
	case content.Compare:
		return in.compare(ctx, s, p, sc)
	case content.Unknown:
		return in.opaque(ctx, s, p.Type, p.Raw)
	case content.Broken:
		return in.broken(ctx, s, p.Why)
	}
	return in.broken(ctx, s, "it has no payload")
}

// attach stores data and makes the block that its content calls for.
func (in *Inlet) attach(ctx context.Context, data []byte, cl claim) (taken, error) {
	switch size := int64(len(data)); {
	case size == 0:
		return one(faulty(cl, content.FaultEmpty, "")), nil
	case size > in.limit:
		return one(faulty(cl, content.FaultTooLarge, tooLarge(size, in.limit))), nil
	}
	original, err := in.put(ctx, data)
	if err != nil {
		return taken{}, err
	}
	b, err := in.block(ctx, data, original, cl)
	if err != nil {
		return taken{}, err
	}
	t := one(b)
	t.payload, t.digest = data, original.Digest
	return t, nil
}

// put stores data; its media type and measures are not known yet.
func (in *Inlet) put(ctx context.Context, data []byte) (content.Blob, error) {
	d, err := in.blobs.PutBytes(ctx, data)
	if err != nil {
		return content.Blob{}, fmt.Errorf("store %s: %w", byteSize(int64(len(data))), err)
	}
	return content.Blob{Digest: d, Size: int64(len(data))}, nil
}

// block looks at the content of data and makes a block of it.
func (in *Inlet) block(ctx context.Context, data []byte, original content.Blob, cl claim) (content.Block, error) {
	c := classify(data, cl)
	original.MIME = c.mime
	cl.att.Original = original
	switch c.kind {
	case content.KindImage:
		return in.picture(ctx, data, cl)
	case content.KindAudio:
		return in.sound(data, cl), nil
	case content.KindResourceText:
		return in.text(ctx, c, cl)
	case content.KindDocument, content.KindText, content.KindResourceLink, content.KindOpaque:
	}
	return in.document(ctx, data, cl)
}

// trouble is a fault on its way to the block that will carry it.
type trouble struct {
	fault  content.Fault
	detail string
}

func (t *trouble) Error() string { return t.fault.String() + ": " + t.detail }

func troublef(f content.Fault, format string, args ...any) *trouble {
	return &trouble{fault: f, detail: fmt.Sprintf(format, args...)}
}

// troubleOf tells faults from errors that end the ingest.
func troubleOf(err error) (*trouble, bool) { return errors.AsType[*trouble](err) }
