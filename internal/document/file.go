package document

import (
	"bytes"
	"context"
)

// Limits of one file.
const (
	maxObjects  = 8_388_607 // the highest number a reader must support (ISO 32000-1, annex C)
	maxUnpacked = 64 << 20  // bytes of streams unpacked and interpreted in one call
	maxParsed   = 256 << 20 // bytes of objects read in one call, however often the same ones
	maxNodes    = 200_000   // of the page tree
	maxDicts    = 4096      // resource dictionaries kept
	fontCost    = 8 << 10   // what loading a font counts, in bytes read
)

// place is where an object is defined.
type place struct {
	data []byte // the file, or an unpacked object stream
	at   int    // of the object itself, after "N G obj"
	from int    // of the stream's bytes, 0 when it has none
	to   int
	age  int // where in the file it, or the object stream around it, lies: later is newer
}

// file is one PDF while it is read.
type file struct {
	cancelled func() error // the Err of the context of the one call that reads the file
	data      []byte
	places    map[ref]place
	streams   []ref // object streams, in file order
	root      any
	catalog   ref // the last object that calls itself a catalog, for want of a root
	encrypted bool
	unpacked  int
	parsed    int
	fonts     map[ref]*font
	dicts     map[ref]dict // resource dictionaries, which content looks at again and again
}

func newFile(ctx context.Context, data []byte) *file {
	return &file{cancelled: ctx.Err, data: data, places: map[ref]place{}, fonts: map[ref]*font{}, dicts: map[ref]dict{}}
}

// exhausted says that a limit or the context ended the reading early.
func (f *file) exhausted() bool {
	return f.unpacked >= maxUnpacked || f.parsed >= maxParsed || f.cancelled() != nil
}

// scan finds every object and trailer outside streams.
func (f *file) scan() {
	trailer := f.find("trailer", 0)
	for pos := 0; pos < len(f.data); {
		if f.cancelled() != nil {
			return
		}
		next := f.find("obj", pos)
		for trailer < next {
			l := &lexer{b: f.data, pos: trailer + len("trailer")}
			if d, ok := l.object(0).(dict); ok {
				f.readTrailer(d)
			}
			trailer = f.find("trailer", max(l.pos, trailer+1))
		}
		if next >= len(f.data) {
			return
		}
		pos = next + len("obj")
		if number, ok := f.objectNumber(next); ok {
			pos = f.define(number, pos)
		}
		if trailer < pos {
			trailer = f.find("trailer", pos)
		}
	}
}

// find returns where a word comes next, the length of the file when it does not.
func (f *file) find(word string, from int) int {
	if from >= len(f.data) {
		return len(f.data)
	}
	if i := bytes.Index(f.data[from:], []byte(word)); i >= 0 {
		return from + i
	}
	return len(f.data)
}

// objectNumber reads "N G " backwards from the word obj.
func (f *file) objectNumber(at int) (ref, bool) {
	i := at - 1
	number := func() (v int, ok bool) {
		for i >= 0 && isSpace(f.data[i]) {
			i--
		}
		factor := 1
		for i >= 0 && f.data[i] >= '0' && f.data[i] <= '9' && factor <= maxObjects*10 {
			v += int(f.data[i]-'0') * factor
			factor *= 10
			i--
			ok = true
		}
		return v, ok
	}
	if _, ok := number(); !ok || i < 0 || !isSpace(f.data[i]) {
		return 0, false
	}
	n, ok := number()
	return ref(n), ok && n <= maxObjects
}

// define records an object and returns where the scan goes on.
func (f *file) define(number ref, at int) int {
	l := &lexer{b: f.data, pos: at}
	object := l.object(0)
	p := place{data: f.data, at: at, age: at}
	d, isDict := object.(dict)
	if !isDict {
		f.places[number] = p
		return max(at, min(l.pos, len(f.data)))
	}
	after := l.pos
	if body, ok := streamStart(f.data, l); ok {
		p.from, p.to = body, f.streamEnd(d, body)
		after = p.to
	}
	f.places[number] = p
	switch d["Type"] {
	case name("XRef"):
		f.readTrailer(d)
	case name("ObjStm"):
		f.streams = append(f.streams, number)
	case name("Catalog"):
		f.catalog = number
	}
	return after
}

// streamStart returns where the bytes of a stream begin, when one follows.
func streamStart(data []byte, l *lexer) (int, bool) {
	l.skipSpace()
	if !bytes.HasPrefix(data[l.pos:], []byte("stream")) {
		return 0, false
	}
	i := l.pos + len("stream")
	if i < len(data) && data[i] == '\r' {
		i++
	}
	if i < len(data) && data[i] == '\n' {
		i++
	}
	return i, true
}

// streamEnd trusts a length that is followed by endstream, else searches.
func (f *file) streamEnd(d dict, from int) int {
	length, ok := d["Length"].(float64)
	if r, isRef := d["Length"].(ref); isRef {
		length, ok = f.resolve(r).(float64)
	}
	if ok && length >= 0 && length <= float64(len(f.data)-from) {
		to := from + int(length)
		l := &lexer{b: f.data, pos: to}
		l.skipSpace()
		if bytes.HasPrefix(f.data[l.pos:], []byte("endstream")) {
			return to
		}
	}
	return f.find("endstream", from)
}

func (f *file) readTrailer(d dict) {
	if root, ok := d["Root"]; ok {
		f.root = root
	}
	if e, ok := d["Encrypt"]; ok && e != nil {
		f.encrypted = true
	}
}

// openObjectStreams defines the objects that lie in object streams, unless a
// newer definition is known.
func (f *file) openObjectStreams() {
	for _, number := range f.streams {
		if f.exhausted() {
			return
		}
		d, _ := f.resolve(number).(dict)
		body := f.stream(number)
		count, first := f.number(d["N"]), f.number(d["First"])
		if body == nil || first < 0 || first > float64(len(body)) {
			continue
		}
		l := &lexer{b: body[:int(first)]}
		for range int(min(max(count, 0), maxElements)) {
			n, ok1 := l.object(0).(float64)
			offset, ok2 := l.object(0).(float64)
			if !ok1 || !ok2 {
				break
			}
			at := first + offset
			if n >= 0 && n <= maxObjects && at >= 0 && at < float64(len(body)) {
				f.defineInside(ref(n), place{data: body, at: int(at), age: f.places[number].age})
			}
		}
	}
}

// defineInside records an object of an object stream.
func (f *file) defineInside(n ref, p place) {
	if known, ok := f.places[n]; ok && known.age > p.age {
		return
	}
	f.places[n] = p
	if d, ok := f.resolve(n).(dict); ok && d["Type"] == name("Catalog") {
		f.catalog = n
	}
}

// resolve follows references to an object, nil when there is none.
func (f *file) resolve(v any) any {
	for range 16 {
		r, ok := v.(ref)
		if !ok {
			return v
		}
		p, ok := f.places[r]
		if !ok || f.parsed >= maxParsed {
			return nil
		}
		l := &lexer{b: p.data, pos: p.at}
		v = l.object(0)
		f.parsed += l.pos - p.at
	}
	return nil
}

// resource resolves a dictionary and keeps it.
func (f *file) resource(v any) dict {
	r, ok := v.(ref)
	if !ok {
		return f.dict(v)
	}
	if d, ok := f.dicts[r]; ok {
		return d
	}
	d := f.dict(r)
	if len(f.dicts) < maxDicts {
		f.dicts[r] = d
	}
	return d
}

func (f *file) dict(v any) dict {
	d, _ := f.resolve(v).(dict)
	return d
}

func (f *file) array(v any) array {
	a, _ := f.resolve(v).(array)
	return a
}

func (f *file) number(v any) float64 {
	n, _ := f.resolve(v).(float64)
	return n
}

// pages walks the page tree. missing says in words what could not be found.
func (f *file) pages() (pages []dict, missing string) {
	root := f.dict(f.root)
	if root == nil {
		root = f.dict(f.catalog)
	}
	if root == nil {
		return nil, "no catalog"
	}
	top := f.dict(root["Pages"])
	if top == nil {
		return nil, "no page tree"
	}
	w := treeWalk{f: f, seen: map[ref]bool{}}
	w.visit(top, nil, 0)
	return w.pages, w.missing
}

type treeWalk struct {
	f       *file
	seen    map[ref]bool
	nodes   int
	pages   []dict
	missing string
}

// visit adds the pages below a node; inherited are the resources from above.
func (w *treeWalk) visit(node dict, inherited any, depth int) {
	if w.nodes++; w.nodes > maxNodes || depth > maxDepth || w.f.cancelled() != nil {
		w.missing = "page tree too large"
		return
	}
	if r, ok := node["Resources"]; ok {
		inherited = r
	}
	kids, isNode := w.f.resolve(node["Kids"]).(array)
	if !isNode || node["Type"] == name("Page") {
		page := dict{"Contents": node["Contents"], "Resources": inherited}
		w.pages = append(w.pages, page)
		return
	}
	for _, kid := range kids {
		if r, ok := kid.(ref); ok {
			if w.seen[r] {
				continue
			}
			w.seen[r] = true
		}
		child := w.f.dict(kid)
		if child == nil {
			w.missing = "a page is missing"
			continue
		}
		w.visit(child, inherited, depth+1)
	}
}
