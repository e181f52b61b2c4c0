package conformance_test

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider/providertest"
)

// marathon is a server that a long session is held with. It keeps the newest
// request only, counts for itself, and refuses what is over its window.
type marathon struct {
	tongue
	t *testing.T

	mu sync.Mutex
	// script are the answers of the running turn, in order.
	script []func(u providertest.Usage) providertest.Reply
	// prompt has to be in every request of the turn, and so do the pictures in
	// current.
	prompt  string
	current map[content.Handle]bool
	// handles are the pictures so far by what their base64 hashes to; names is
	// the other way round, by their digests.
	handles map[uint64]content.Digest
	// receipts are the newest ones of pictures, by handle; digests are what the
	// handles stand for.
	receipts map[content.Handle]delivery.Receipt
	digests  map[content.Handle]content.Digest
	// evicted: something gave way since the last request.
	evicted bool

	last  []byte
	tally tally
}

// tally is what a marathon saw.
type tally struct {
	requests, summaries, evictions, refused, stubs, most, media int
	// kept and whole are how much of the earlier request each request began
	// with, between evictions and in all.
	kept, whole, pairs, all float64
	least                   float64
}

// marathonWindow is the window of the server, in tokens.
const marathonWindow = 128_000

var seedOfHashes = maphash.MakeSeed()

// pictures are the payloads of a body, by their hashes, and their length as base64.
func (m *marathon) pictures(body []byte) (found map[content.Digest]bool, encoded int) {
	before := []byte(`"data:image/png;base64,`)
	if m.kind == "anthropic" {
		before = []byte(`"data":"`)
	}
	found = map[content.Digest]bool{}
	for {
		i := bytes.Index(body, before)
		if i < 0 {
			return found, encoded
		}
		body = body[i+len(before):]
		n := bytes.IndexByte(body, '"')
		d, ok := m.handles[maphash.Bytes(seedOfHashes, body[:n])]
		if !ok {
			m.t.Errorf("a picture of %d characters that nobody gave", n)
		}
		found[d] = true
		encoded += n
		body = body[n:]
	}
}

// gate answers every request.
func (m *marathon) gate(w http.ResponseWriter, req *http.Request) bool {
	body := make([]byte, req.ContentLength)
	if _, err := io.ReadFull(req.Body, body); err != nil {
		return true // the client went away
	}
	m.mu.Lock()
	reply := m.answer(body)
	m.mu.Unlock()
	reply(w, req, body)
	return true
}

func (m *marathon) answer(body []byte) providertest.Reply {
	if bytes.Contains(body, []byte("Below is the older part of a conversation")) {
		return m.summarise(body)
	}
	n := m.tally.requests
	m.tally.requests++
	if n%100 == 0 {
		if _, err := m.read(body); err != nil {
			m.t.Errorf("request %d: %v", n, err)
		}
	}
	found, encoded := m.pictures(body)
	tokens := (len(body)-encoded)*10/tenthsOfBytes + eachPicture*len(found)
	m.tally.most = max(m.tally.most, tokens)
	m.tally.media = max(m.tally.media, len(found))
	if tokens > marathonWindow {
		m.tally.refused++
		m.t.Logf("request %d is refused: %d tokens, %d pictures, evicted %v, %d summaries, earlier %d", n, tokens, len(found), m.evicted, m.tally.summaries, len(m.last)*10/tenthsOfBytes)
		full, _ := overflow(&m.tongue)
		return full
	}
	m.check(n, body, found)
	m.compare(n, body)
	if len(m.script) == 0 {
		m.t.Errorf("request %d is one too many", n)
		return m.said(counted(tokens), "So much for that.")
	}
	next := m.script[0]
	m.script = m.script[1:]
	return next(counted(tokens))
}

// check holds a request against the receipts: what has one of being sent is in it,
// and nothing else is. What the user has just written is whole.
func (m *marathon) check(n int, body []byte, found map[content.Digest]bool) {
	if !bytes.Contains(body, []byte(m.prompt)) {
		m.t.Errorf("request %d is without its prompt %q", n, m.prompt)
	}
	for h, x := range m.receipts {
		in := found[m.digests[h]]
		switch sent := !x.Disposition.Degraded(); {
		case sent && !in:
			m.t.Errorf("request %d: %s is not in it, and its receipt says %v", n, h, x.Disposition)
		case !sent && in:
			m.t.Errorf("request %d: %s is in it, and its receipt says %v (%v)", n, h, x.Disposition, x.Reason)
		}
	}
	for h := range m.current {
		if !found[m.digests[h]] {
			m.t.Errorf("request %d is without %s, which the user has just given", n, h)
		}
	}
}

// compare measures how much of the earlier request this one begins with.
func (m *marathon) compare(n int, body []byte) {
	for _, mark := range spelledMarks {
		if bytes.Contains(body, mark) {
			body = bytes.ReplaceAll(body, mark, nil)
		}
	}
	if m.last != nil {
		end := conversationEnd(m.last)
		share := float64(min(agree(m.last, body), end)) / float64(end)
		m.tally.all += share
		m.tally.whole++
		if m.evicted {
			m.tally.evictions++
			m.stubsIn(n, body)
		} else {
			m.tally.kept += share
			m.tally.pairs++
			m.tally.least = min(m.tally.least, share)
			if share < 0.95 {
				m.t.Errorf("request %d begins with %.3f of the one before, and nothing gave way", n, share)
			}
		}
	}
	m.evicted, m.last = false, body
}

// conversationEnd is where the messages of a body end: before the member behind
// them, else before the two brackets at its end.
func conversationEnd(body []byte) int {
	begin := bytes.Index(body, []byte(`"messages":[`))
	for _, after := range []string{`],"tools":`, `],"stream":`, `],"stream_options":`, `],"max_tokens":`, `],"max_completion_tokens":`, `],"seed":`} {
		if i := bytes.LastIndex(body, []byte(after)); i > begin {
			return i
		}
	}
	return len(body) - 2
}

// stubsIn looks for the labels of the newest pictures that a summary stands for.
func (m *marathon) stubsIn(n int, body []byte) {
	if !bytes.Contains(body, []byte("[summary of the ")) {
		return
	}
	listed := bytes.Count(body, []byte(", no longer in view"))
	m.tally.stubs = max(m.tally.stubs, listed)
	newest := 0
	for h, x := range m.receipts {
		if x.Reason == delivery.ReasonSummarised {
			newest = max(newest, numberOf(h))
		}
	}
	if newest > 0 && !bytes.Contains(body, fmt.Appendf(nil, "[image-%d.png", newest)) {
		m.t.Errorf("request %d: the summary does not list image-%d.png", n, newest)
	}
}

func numberOf(h content.Handle) int {
	var n int
	_, _ = fmt.Sscanf(string(h), "image-%d.png", &n) // 0 for another kind
	return n
}

func (m *marathon) summarise(body []byte) providertest.Reply {
	m.tally.summaries++
	m.evicted = true
	if found, _ := m.pictures(body); len(found) > 0 {
		m.t.Errorf("a request for a summary holds %d pictures", len(found))
	}
	return m.said(counted(len(body)*10/tenthsOfBytes), "The user wants it done. "+strings.Repeat("It went on as it had begun, with files and pictures. ", 40))
}

// watch takes note of what the front is told.
func (m *marathon) watch(e agent.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list, _ := e.(agent.Receipts) // anything else has none
	for _, x := range list.List {
		m.evicted = m.evicted || x.Degraded() || x.Reason == delivery.ReasonTrimmed
		if x.Kind == content.KindImage {
			m.receipts[x.Handle] = x
		}
	}
	if prompt, ok := e.(agent.Accepted); ok {
		m.current = map[content.Handle]bool{}
		for _, b := range prompt.Blocks {
			m.label(b)
			if b.Kind() == content.KindImage {
				m.current[b.BlockHandle()] = true
			}
		}
	}
	if end, ok := e.(agent.ToolFinished); ok {
		for _, b := range end.Blocks {
			m.label(b)
		}
	}
}

// label notes what a label stands for.
func (m *marathon) label(b content.Block) {
	if p, ok := b.(content.Image); ok {
		m.digests[p.Handle] = p.Original.Digest
	}
}
