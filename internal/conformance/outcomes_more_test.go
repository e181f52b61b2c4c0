package conformance_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tote/internal/content"
	"tote/internal/content/contenttest"
	"tote/internal/delivery"
	acpwire "tote/internal/front/acp/wire"
	"tote/internal/front/headless"
	"tote/internal/history"
	"tote/internal/ingest"
	"tote/internal/profile"
)

// takes tells what a path takes, as data from the profile.
func (p *page) takes() {
	p.sb.WriteString("## What a path takes\n\nThe media types and limits, on the vendor's own server with the model named, and on a server of which nothing is ")
	p.sb.WriteString("known but what the user says. A larger picture is made smaller; a recording or document that is too large is not sent. ")
	p.sb.WriteString("Bytes are counted before base64 unless it says otherwise. The configuration can change the limits.\n\n")
	p.table("path", "model", "pictures", "sound", "documents", "whole request", "media in tool results")
	for _, path := range p.paths {
		a := adapters[path]
		own, other := a.profileOf(a.own), boundTo(profile.TriYes, "image/*", "audio/*", "application/*")(a)
		name := a.own.Model
		switch {
		case a.own.Offline:
			p.limits(path, "built in", own)
			continue
		case a.runner != "":
			name = "one of which the user says that it sees pictures"
		case a.own.BaseURL != "":
			name += " at " + a.own.BaseURL
		}
		p.limits(path, name, own)
		p.limits(path, "one of which the user says that it takes everything", other)
	}
	p.sb.WriteString("\n")
}

func (p *page) limits(path, model string, x delivery.Profile) {
	request := []string{}
	if x.MaxRequest > 0 {
		request = append(request, headless.Size(x.MaxRequest))
	}
	if x.MaxMedia > 0 {
		request = append(request, strconv.Itoa(x.MaxMedia)+" media")
	}
	if len(request) == 0 {
		request = append(request, "no limit known")
	}
	p.row(path, model, taken(x.Images, x.ImageLimits), taken(x.Audio, x.AudioLimits), taken(x.Documents, x.DocumentLimits),
		strings.Join(request, ", "), resultWords(x))
}

func taken(c delivery.Capability, l delivery.Limits) string {
	if c.Answer != delivery.Yes {
		return c.Answer.String() + ": " + c.Detail
	}
	var out []string
	types := make([]string, 0, len(l.MIMEs))
	for _, m := range l.MIMEs {
		_, sub, _ := strings.Cut(m, "/")
		types = append(types, strings.Replace(sub, "mpeg", "mp3", 1))
	}
	out = append(out, strings.Join(types, ", "))
	for _, x := range []struct {
		n     int64
		words string
	}{
		{int64(l.MaxEdge), "up to %d px"}, {l.MaxPixels / 1_000_000, "%d megapixels"}, {int64(l.MaxCount), "%d in a request"}, {int64(l.MaxPages), "%d pages"},
	} {
		if x.n > 0 {
			out = append(out, fmt.Sprintf(x.words, x.n))
		}
	}
	if l.MaxBytes > 0 {
		out = append(out, headless.Size(l.MaxBytes))
	}
	if l.MaxEncoded > 0 {
		out = append(out, headless.Size(l.MaxEncoded)+" as base64")
	}
	if l.ManyCount > 0 {
		out = append(out, fmt.Sprintf("with more than %d up to %d px", l.ManyCount, l.ManyEdge))
	}
	if !l.Fit.IsZero() {
		out = append(out, "what the server would shrink is made smaller")
	}
	return strings.Join(out, "; ")
}

func resultWords(x delivery.Profile) string {
	pl := x.Placement
	if pl.HoistResults {
		return "none; they stand behind the results"
	}
	has := []string{"pictures"}
	if types := x.ImageLimits.ResultMIMEs; len(types) > 0 {
		has[0] += " (" + strings.ReplaceAll(strings.Join(types, ", "), "image/", "") + ")"
	}
	if x.Audio.Answer == delivery.Yes && !pl.HoistAudio {
		has = append(has, "sound")
	}
	if x.Documents.Answer == delivery.Yes && !pl.HoistDocuments {
		has = append(has, "documents")
	}
	out := strings.Join(has, ", ")
	if pl.TextErrors {
		out += "; none where the tool failed"
	}
	return out
}

// exits tells what becomes of each kind where it leaves in another way.
func (p *page) exits() {
	p.sb.WriteString("## The other ways out, and in\n\nThe estimate is in tokens, for a picture of 30 by 20 pixels, without a formula of the backend and with one ")
	p.sb.WriteString("that counts patches of 28 pixels. The record is what another process reads of it. From an editor a kind comes as the blocks of the Agent ")
	p.sb.WriteString("Client Protocol that are named; to an editor goes what was given elsewhere, and an editor's own blocks go back to it byte for byte.\n\n")
	p.table("kind", "estimate", "compact text", "record", "from an editor", "to an editor", "in a terminal, where it is not shown whole")
	from, to, kept := fromEditors(p.t), toEditors(p.t), records(p.t)
	for _, b := range contenttest.Sound() {
		k := b.Kind()
		estimate := fmt.Sprintf("%d, %d", delivery.Estimate(b, delivery.TokenModel{}),
			delivery.Estimate(b, delivery.TokenModel{Rule: delivery.TokensPatch, Size: 28, Percent: 100}))
		p.row(k.String(), estimate, "`"+content.Compact([]content.Block{b})+"`", kept[k], from[k], to[k], terminal(b))
	}
}

// terminal is the line that a user reads of a block that is not sent.
func terminal(b content.Block) string {
	if b.Kind() == content.KindText {
		return "nothing: prose is always sent"
	}
	r := delivery.Receipt{
		Handle: b.BlockHandle(), Name: string(b.BlockHandle()), Kind: b.Kind(), Disposition: delivery.Placeholder, Reason: delivery.ReasonRequestSize,
	}
	if a, ok := content.AttachmentOf(b); ok {
		r.Name = a.Name
	}
	return "`" + headless.ReceiptLine(r) + "`"
}

// fromEditors lists the types of blocks that become each kind.
func fromEditors(t *testing.T) map[content.Kind]string {
	t.Helper()
	in, _ := newInlet(t)
	dir := t.TempDir()
	w := &world{t: t, cwd: dir}
	w.file("notes.txt", []byte("mark-notes"))
	parsed, fault := acpwire.ParsePrompt([]byte(promptOf("s", clientBlocks(fileURI(filepath.Join(dir, "notes.txt"))))))
	if fault != nil {
		t.Fatal(fault)
	}
	types := make(map[content.Kind][]string)
	for _, b := range parsed {
		blocks, _, err := in.Ingest(t.Context(), b.Source(), ingest.Scope{Cwd: dir, Roots: []string{dir}})
		if err != nil {
			t.Fatal(err)
		}
		k, name := blocks[0].Kind(), "`"+b.Type+"`"
		if k == content.KindOpaque {
			name = "any other"
		}
		if !slices.Contains(types[k], name) {
			types[k] = append(types[k], name)
		}
	}
	out := make(map[content.Kind]string)
	for k, list := range types {
		out[k] = strings.Join(list, ", ")
	}
	return out
}

// toEditors is the type of block as which each kind is shown.
func toEditors(t *testing.T) map[content.Kind]string {
	t.Helper()
	out := make(map[content.Kind]string)
	blocks, checks := elsewhere(t)
	for k, check := range checks {
		for _, b := range blocks {
			if !check(b) {
				continue
			}
			out[k] = "`" + b.Type + "`"
			switch {
			case len(b.Meta) > 0:
				out[k] += ", the whole block in its `_meta`"
			case b.Resource.Blob != "":
				out[k] += " with a blob"
			case b.Resource.Text != "":
				out[k] += " with text"
			}
		}
	}
	return out
}

// records tells what the record of a session gives back of each kind.
func records(t *testing.T) map[content.Kind]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "history.db")
	user := content.Message{Role: content.RoleUser}
	for _, b := range contenttest.Blocks() {
		user.Parts = append(user.Parts, b)
	}
	for range 2 { // written, then read by another process
		db, err := history.Open(t.Context(), path, history.Options{Now: func() time.Time { return time.Unix(1, 0) }})
		if err != nil {
			t.Fatal(err)
		}
		turns, err := db.Load(t.Context(), "s")
		if err != nil || len(turns) == 0 {
			err = cmp.Or(db.CreateSession(t.Context(), history.Session{ID: "s", Cwd: "/", Agent: "a", Generation: 1}),
				db.BeginTurn(t.Context(), "s", content.Turn{ID: "t", Messages: []content.Message{user}}), db.Close())
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		out := make(map[content.Kind]string)
		for i, b := range contenttest.Blocks() {
			switch got := turns[0].Messages[0].Parts[i]; {
			case reflect.DeepEqual(got, b):
				out[b.Kind()] = "all of it"
				if len(content.Blobs(b)) > 0 {
					out[b.Kind()] = "all fields; the bytes are in the store"
				}
			case reflect.DeepEqual(got, recorded(b)):
				out[b.Kind()] = "all fields; the text is in the store"
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		return out
	}
	return nil
}
