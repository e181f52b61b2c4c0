package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Bounds of what a server may ask for.
const (
	// maxAsked is how many requests of a server may be open at a time.
	maxAsked = 32
	// maxWords bounds what a progress notification may say, in bytes.
	maxWords = 1 << 10
)

const toolsChanged = "notifications/tools/list_changed"

// slot takes the result of one request as the server wrote it.
type slot struct{ raw []byte }

// slotKey is the key of a slot in the context of a request.
type slotKey struct{}

func withSlot(ctx context.Context, s *slot) context.Context {
	return context.WithValue(ctx, slotKey{}, s)
}

func slotOf(ctx context.Context) *slot {
	s, _ := ctx.Value(slotKey{}).(*slot)
	return s
}

// lifted stands in the place of a result that went into a slot. It is an empty
// result of each of the three kinds that carry content.
const lifted = `{"content":[],"contents":[],"messages":[]}`

// progress is what a server says about a call that runs.
type progress struct {
	Token    json.RawMessage `json:"progressToken"`
	Progress float64         `json:"progress"`
	Total    float64         `json:"total"`
	Message  string          `json:"message"`
}

// counts tells what a server did that nobody asked for.
type counts struct {
	noise, stray, dropped int
	// flood is the limit of a message, in bytes, where the server wrote so much more
	// without an end that it was stopped.
	flood int
}

// filter looks at the messages of one connection before the SDK does. It lifts
// results with content out, keeps notifications that nobody needs away from the
// SDK's queue (which has no bound), and drops what is no message or answers no
// request. All methods may be called from several goroutines.
type filter struct {
	// onProgress and onChange are called with what a server notifies of. They
	// must not block. fresh: the SDK is to be told too.
	onProgress func(progress)
	onChange   func(method string) (fresh bool)

	mu sync.Mutex
	// waiting holds the requests without an answer by the JSON of their ids.
	waiting map[string]*slot
	// asked are the server's requests that were not answered yet.
	asked  map[string]bool
	counts counts
}

func newFilter(onProgress func(progress), onChange func(string) bool) *filter {
	return &filter{onProgress: onProgress, onChange: onChange, waiting: map[string]*slot{}, asked: map[string]bool{}}
}

// message is the frame of a JSON-RPC message. Its parts alias the line.
type message struct {
	id, result, params []byte
	method             string
}

func parse(line []byte) (m message, ok bool) {
	ok = members(line, func(key string, v []byte) bool {
		switch key {
		case "id":
			m.id = v
		case "result":
			m.result = v
		case "params":
			m.params = v
		case "method":
			m.method, _ = text(v) // no text: no method, so no message
		}
		return true
	})
	if string(m.id) == "null" {
		m.id = nil
	}
	return m, ok && (m.method != "" || m.id != nil)
}

// sending notes a message that goes to the server.
func (f *filter) sending(ctx context.Context, line []byte) (id []byte) {
	m, ok := parse(line)
	if !ok || m.id == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.method == "" {
		delete(f.asked, string(m.id))
		return nil
	}
	f.waiting[string(m.id)] = slotOf(ctx)
	return m.id
}

// forget ends the waiting for a slot.
func (f *filter) forget(s *slot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.waiting, func(_ string, other *slot) bool { return other == s })
}

// in returns the messages that the SDK is to see of a line, which may be a batch.
func (f *filter) in(line []byte) [][]byte {
	i := space(line, 0)
	if i == len(line) {
		return nil
	}
	var out [][]byte
	add := func(b []byte) bool {
		if m := f.one(b); m != nil {
			out = append(out, m)
		}
		return true
	}
	switch {
	case line[i] != '[':
		add(line)
	case !elements(line, add):
		f.count(func(c *counts) { c.noise++ })
	}
	return out
}

func (f *filter) count(add func(*counts)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	add(&f.counts)
}

func (f *filter) seen() counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts
}

func (f *filter) one(line []byte) []byte {
	m, ok := parse(line)
	switch {
	case !ok:
		f.count(func(c *counts) { c.noise++ })
		return nil
	case m.method != "" && m.id == nil:
		return f.notified(line, m)
	case m.method != "":
		return f.request(line, m)
	}
	return f.answer(line, m)
}

func (f *filter) notified(line []byte, m message) []byte {
	switch m.method {
	case "notifications/cancelled":
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.params, &p) == nil && f.isAsked(string(p.RequestID)) {
			return line
		}
	case "notifications/progress":
		var p progress
		if json.Unmarshal(m.params, &p) == nil {
			p.Message = cut(p.Message, maxWords)
			f.onProgress(p)
		}
		return nil
	case toolsChanged, "notifications/prompts/list_changed", "notifications/resources/list_changed":
		if f.onChange(m.method) {
			return line // the SDK's caches want to know
		}
	}
	f.count(func(c *counts) { c.dropped++ })
	return nil
}

// isAsked reports whether a request of the server waits for our answer.
func (f *filter) isAsked(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[id]
}

func (f *filter) request(line []byte, m message) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.asked) >= maxAsked {
		f.counts.dropped++
		return nil
	}
	f.asked[string(m.id)] = true
	return line
}

func (f *filter) answer(line []byte, m message) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := string(m.id)
	s, ok := f.waiting[id]
	if !ok {
		f.counts.stray++
		return nil
	}
	delete(f.waiting, id)
	if s == nil || m.result == nil || needsInput(m.result) {
		return line
	}
	s.raw = m.result
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, lifted)
}

// needsInput tells a result that is none yet: the server wants to be answered
// first, which is the SDK's business.
func needsInput(result []byte) bool {
	found := false
	members(result, func(key string, _ []byte) bool {
		found = found || key == "inputRequests"
		return !found
	})
	return found
}

// codeOurs marks an error that we gave in the server's place.
const codeOurs = -32098

// tooLarge says of an answer that it is over the limit of a message, in bytes, and
// what to do.
func tooLarge(limit int) string {
	return "its answer is over " + size(int64(limit)) + ", which is the most that one message may have; ask it for less at a time"
}

// failed answers requests in the server's place: those that are named, or all
// that wait.
func (f *filter) failed(why string, ids ...string) [][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(ids) == 0 {
		ids = slices.Sorted(maps.Keys(f.waiting))
	}
	words, err := json.Marshal(why)
	if err != nil {
		return nil // a string can always be spelled
	}
	var out [][]byte
	for _, id := range ids {
		if _, ok := f.waiting[id]; !ok {
			continue
		}
		delete(f.waiting, id)
		out = append(out, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, codeOurs, words))
	}
	return out
}

// tooLong answers the request whose answer was skipped: the one whose id stands at
// an end of it, else all that wait.
func (f *filter) tooLong(long *longError) [][]byte {
	why := tooLarge(long.limit)
	if id := idAtStart(long.head); id != "" {
		return f.failed(why, id)
	}
	if id := idAtEnd(long.tail); id != "" {
		return f.failed(why, id)
	}
	return f.failed(why)
}
