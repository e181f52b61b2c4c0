package conformance_test

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tote/internal/content"
	"tote/internal/delivery"
)

// checkWire holds what reached a server against the receipts.
func checkWire(t *testing.T, r request, w wire) {
	t.Helper()
	if n := r.ledger.LeftOut(); n > 0 && r.placing.route == delivery.RouteHistory {
		checkLeftOut(t, r, w, n)
		return
	}
	c := checker{t: t, request: r, wire: w, used: make([]bool, len(w.media))}
	at, lifted := 0, 0
	for _, b := range r.blocks {
		x := r.receipts[b.BlockHandle()]
		if x.Route != r.placing.route {
			t.Errorf("%s came by %v, its receipt says %v", b.BlockHandle(), r.placing.route, x.Route)
		}
		if x.Disposition.Degraded() && x.Reason.Model() == "" {
			t.Errorf("%s: %v for %v, which a model is not told", x.Handle, x.Disposition, x.Reason)
		}
		if text, ok := b.(content.Text); ok {
			at = c.prose(text, x, at)
			continue
		}
		place, label := c.find(b)
		if place < at {
			t.Errorf("%s stands before the block that comes before it", b.BlockHandle())
		}
		at = place
		if label.at > place { // it was taken out of a tool's result
			if label.at < lifted {
				t.Errorf("%s stands before the medium that comes before it", b.BlockHandle())
			}
			lifted = label.at
		}
		c.block(b, x, label)
	}
	for i, used := range c.used {
		if !used {
			t.Errorf("medium %d (%s, %d bytes) belongs to no receipt", i, w.media[i].mime, len(w.media[i].data))
		}
	}
	if r.placing.result && !slices.Equal(w.results, []string{"call-a", "call-b", "call-c"}) {
		t.Errorf("answered calls: %q", w.results)
	}
	checkSpeakers(t, r.profile.Placement, w)
}

// checkSpeakers: nobody but the model answers the user, and between results and
// the user stands the model where the path demands it.
func checkSpeakers(t *testing.T, p delivery.Placement, w wire) {
	t.Helper()
	for i := 1; i < len(w.speakers); i++ {
		last, now := w.speakers[i-1], w.speakers[i]
		if now == speakerUser && (last == speakerUser || p.Bridge && last == speakerTool) {
			t.Errorf("speakers are %q", w.speakers)
			return
		}
	}
}

// checkLeftOut: of a turn that is left out nothing is on the wire but the line
// that says so, and every block of it has a receipt of that.
func checkLeftOut(t *testing.T, r request, w wire, n int) {
	t.Helper()
	if !strings.Contains(w.flat, "["+strconv.Itoa(n)+" earlier messages of this conversation were left out") {
		t.Errorf("%d messages are left out and nothing says so: %q", n, w.flat)
	}
	if len(w.media) > 0 || len(w.results) > 0 {
		t.Errorf("of a turn that is left out came %d media and the results of %q", len(w.media), w.results)
	}
	for _, b := range r.blocks {
		x := r.receipts[b.BlockHandle()]
		if !x.Disposition.Degraded() || x.Reason.Model() == "" || x.Route != delivery.RouteHistory {
			t.Errorf("%s is left out, its receipt says %v, %v, %v", x.Handle, x.Route, x.Disposition, x.Reason)
		}
		if strings.Contains(w.flat, "["+string(x.Handle)) {
			t.Errorf("%s is left out and has a label", x.Handle)
		}
	}
}

type checker struct {
	t *testing.T
	request
	wire wire
	// used are the media that a receipt stands for.
	used []bool
}

// prose finds a text as it was written, behind what came before it.
func (c *checker) prose(b content.Text, x delivery.Receipt, at int) int {
	c.t.Helper()
	if x.Disposition != delivery.Inline {
		c.t.Errorf("%s: prose is %v", b.Handle, x.Disposition)
	}
	if strings.TrimSpace(b.Body) == "" {
		return at
	}
	i := strings.Index(c.wire.flat[at:], b.Body)
	if i < 0 || strings.Count(c.wire.flat, b.Body) != 1 {
		c.t.Errorf("%s is %d times on the wire, or before its place", b.Handle, strings.Count(c.wire.flat, b.Body))
		return at
	}
	return at + i
}

// label is the line that stands before a block or for it.
type label struct {
	at   int
	text string
	// rest is what follows it.
	rest string
}

// find returns where a block stands, and its one label.
func (c *checker) find(b content.Block) (place int, l label) {
	c.t.Helper()
	place, l, twice := locate(c.wire.flat, b.BlockHandle())
	if twice {
		c.t.Errorf("%s has two labels", b.BlockHandle())
	}
	if l.at < 0 {
		c.t.Errorf("%s has no label", b.BlockHandle())
	}
	return max(place, 0), l
}

// locate finds the label of a block, whose at is -1 where there is none. A block
// in a tool's result may have been lifted into a message of the user; then a
// pointer stands in its place.
func locate(flat string, handle content.Handle) (place int, l label, twice bool) {
	h := "[" + string(handle)
	pointer := h + ": shown in the next user message]"
	place, l.at = -1, -1
	for i := 0; ; i++ {
		n := strings.Index(flat[i:], h)
		if n < 0 {
			break
		}
		i += n
		next := flat[i+len(h):]
		switch {
		case strings.HasPrefix(flat[i:], pointer):
			place = i
		case !strings.HasPrefix(next, ": ") && !strings.HasPrefix(next, ", ") && !strings.HasPrefix(next, " <"):
		case l.at >= 0:
			twice = true
		default:
			l.at = i
		}
	}
	if l.at < 0 {
		return place, l, twice
	}
	if place < 0 {
		place = l.at
	}
	l.text, l.rest, _ = strings.Cut(flat[l.at:], "]")
	return place, l, twice
}

// block checks one block that is no prose.
func (c *checker) block(b content.Block, x delivery.Receipt, l label) {
	c.t.Helper()
	if strings.ContainsAny(l.text, "\u202e\x1b") || x.Disposition != delivery.Described && strings.ContainsRune(l.text, '\n') {
		c.t.Errorf("%s: its label holds what a name must not bring in: %q", x.Handle, l.text)
	}
	media, text := c.expected(b, x)
	c.medium(b, x, l, media)
	c.text(b, x, l, text)
	if link, ok := b.(content.ResourceLink); ok && !strings.Contains(l.text, "<"+link.URI+">") {
		c.t.Errorf("%s: its label lacks the address: %q", x.Handle, l.text)
	}
	if !x.Disposition.Degraded() {
		return
	}
	if !strings.Contains(l.text, x.Reason.Model()) {
		c.t.Errorf("%s is %v (%v), its label does not say so: %q", x.Handle, x.Disposition, x.Reason, l.text)
	}
	if got, want := strings.Contains(l.text, "@"+staged(x.Handle)), x.Disposition == delivery.Path; got != want {
		c.t.Errorf("%s is %v, its label has the path: %v", x.Handle, x.Disposition, got)
	}
	if got, want := strings.Contains(l.text, description(x.Handle)), x.Disposition == delivery.Described; got != want {
		c.t.Errorf("%s is %v, its label has the description: %v", x.Handle, x.Disposition, got)
	}
}

// expected says in which form a receipt promises the block itself.
func (c *checker) expected(b content.Block, x delivery.Receipt) (media, text bool) {
	if x.Disposition.Degraded() {
		return false, false
	}
	switch b.Kind() {
	case content.KindImage, content.KindAudio:
		return true, false
	case content.KindDocument:
		return x.Reason != delivery.ReasonTextForm, x.Reason == delivery.ReasonTextForm
	case content.KindResourceText:
		return false, true
	case content.KindResourceLink: // its label is all of it
	case content.KindOpaque:
		c.t.Errorf("%s: a block that nobody knows is %v", x.Handle, x.Disposition)
	case content.KindText:
	}
	return false, false
}

// behind returns the medium that stands behind a label, -1 for none. Where media
// stand apart from the text it is the next one there, if there is to be one.
func (c *checker) behind(l label, want bool) int {
	for i := range c.wire.media {
		if strings.HasPrefix(l.rest, "\n"+mark(i)) {
			return i
		}
	}
	if b := c.wire.boxAt(l.at); b != nil && want {
		for _, i := range b.media {
			if !c.used[i] {
				return i
			}
		}
	}
	return -1
}

// place checks who brings a medium: the user, or the result that it came in
// where the path takes it there.
func (c *checker) place(x delivery.Receipt, m medium) {
	c.t.Helper()
	p := c.profile.Placement
	hoisted := p.HoistResults || p.HoistAudio && x.Kind == content.KindAudio || p.HoistDocuments && x.Kind == content.KindDocument ||
		p.TextErrors && c.placing.failed
	who, calls := speakerUser, []string{""}
	if c.placing.result && !hoisted {
		who, calls = speakerTool, []string{"call-b", ""} // a transcript has no calls
	}
	if m.speaker != who || !slices.Contains(calls, m.call) {
		c.t.Errorf("%s is brought by the %s, in the result of %q; want the %s", x.Handle, m.speaker, m.call, who)
	}
}

// medium checks that a payload stands behind its label exactly when want.
func (c *checker) medium(b content.Block, x delivery.Receipt, l label, want bool) {
	c.t.Helper()
	n := c.behind(l, want)
	switch {
	case want && n < 0:
		c.t.Errorf("%s is %v, and no payload follows its label", x.Handle, x.Disposition)
		return
	case !want && n >= 0:
		c.t.Errorf("%s is %v (%v), and a payload follows its label", x.Handle, x.Disposition, x.Reason)
		return
	case want:
		c.used[n] = true
		m := c.wire.media[n]
		if !bytes.Equal(m.data, c.shelf.read(c.t, x.Blob.Digest)) || int64(len(m.data)) != x.Blob.Size {
			c.t.Errorf("%s: the payload on the wire is not that of its receipt", x.Handle)
		}
		if m.kind != b.Kind() || m.mime != x.Blob.MIME {
			c.t.Errorf("%s (%v, %s) is on the wire as %v, %s", x.Handle, b.Kind(), x.Blob.MIME, m.kind, m.mime)
		}
		c.place(x, m)
		return
	}
	// It may not be anywhere else either.
	for _, data := range c.shelf.payloads(c.t, b) {
		for i, m := range c.wire.media {
			if bytes.Equal(m.data, data) {
				c.t.Errorf("%s is %v, and medium %d is its payload", x.Handle, x.Disposition, i)
			}
		}
		if s := spelt(data); s != "" && !bytes.HasPrefix(data, []byte("%PDF")) && bytes.Contains(c.wire.body, []byte(s)) {
			c.t.Errorf("%s is %v, and its base64 is in the body", x.Handle, x.Disposition)
		}
	}
}

// text checks that a stored text stands between its label and the mark of its
// end exactly when want.
func (c *checker) text(b content.Block, x delivery.Receipt, l label, want bool) {
	c.t.Helper()
	end := "\n[end of " + string(x.Handle) + "]"
	if !want {
		if strings.Contains(c.wire.flat, end) {
			c.t.Errorf("%s is %v, and the end of its text is marked", x.Handle, x.Disposition)
		}
		for _, data := range c.shelf.payloads(c.t, b) {
			if len(data) < 100_000 && bytes.HasPrefix(data, []byte("mark-blob")) && strings.Contains(c.wire.flat, string(data)) {
				c.t.Errorf("%s is %v, and its text is on the wire", x.Handle, x.Disposition)
			}
		}
		return
	}
	if body := string(c.shelf.read(c.t, x.Blob.Digest)); !strings.HasPrefix(l.rest, "\n"+body+end) {
		c.t.Errorf("%s is %v as text, and not between its label and its end: %.80q", x.Handle, x.Disposition, l.rest)
	}
}
