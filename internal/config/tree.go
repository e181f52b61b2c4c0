package config

import (
	"bytes"
	"encoding/json"
	"slices"
	"sort"

	"github.com/tailscale/hujson"
)

// pos is a place in a file. Line and column count from 1, the column in bytes.
type pos struct {
	file      string
	line, col int
}

type nodeKind byte

const (
	kindNull   nodeKind = 'n'
	kindBool   nodeKind = 'b'
	kindNumber nodeKind = '0'
	kindString nodeKind = '"'
	kindObject nodeKind = '{'
	kindArray  nodeKind = '['
)

// node is a JSON value with the place it was read from. Nodes are shared between
// layers and never changed once built.
type node struct {
	kind  nodeKind
	at    pos
	raw   []byte // of a scalar, as spelled
	keys  []key  // of an object, in order
	items []*node
}

// key is one member of an object.
type key struct {
	name string
	at   pos
	val  *node
}

func newObject(at pos) *node { return &node{kind: kindObject, at: at} }

// get returns the member's value, or nil. It may be called on nil.
func (n *node) get(path ...string) *node {
	for _, name := range path {
		if n == nil || n.kind != kindObject {
			return nil
		}
		i := slices.IndexFunc(n.keys, func(k key) bool { return k.name == name })
		if i < 0 {
			return nil
		}
		n = n.keys[i].val
	}
	return n
}

// set adds or replaces a member. Only a node under construction is set.
func (n *node) set(name string, val *node) {
	if i := slices.IndexFunc(n.keys, func(k key) bool { return k.name == name }); i >= 0 {
		n.keys[i].val, n.keys[i].at = val, val.at
		return
	}
	n.keys = append(n.keys, key{name: name, at: val.at, val: val})
}

// find returns the place of a member, or of the innermost part of the path that
// is written down.
func (n *node) find(path ...string) pos {
	if n == nil {
		return pos{}
	}
	at := n.at
	for i := range path {
		m := n.get(path[:i+1]...)
		if m == nil {
			break
		}
		at = m.at
	}
	return at
}

// str returns the value of a string. The parser has validated it.
func (n *node) str() string {
	var s string
	if json.Unmarshal(n.raw, &s) != nil {
		return ""
	}
	return s
}

func (n *node) isTrue() bool { return n != nil && n.kind == kindBool && string(n.raw) == "true" }

// kindName names the kind of the value for an error.
func (n *node) kindName() string {
	switch n.kind {
	case kindNull:
		return "null"
	case kindBool:
		return "true or false"
	case kindNumber:
		return "a number"
	case kindString:
		return "a string"
	case kindObject:
		return "an object"
	case kindArray:
		return "an array"
	}
	return "unknown"
}

// standard writes the value as compact standard JSON.
func (n *node) standard() []byte {
	var b bytes.Buffer
	n.write(&b)
	return b.Bytes()
}

func (n *node) write(b *bytes.Buffer) {
	switch n.kind {
	case kindObject:
		b.WriteByte('{')
		for i, k := range n.keys {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(hujson.String(k.name))
			b.WriteByte(':')
			k.val.write(b)
		}
		b.WriteByte('}')
	case kindArray:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.write(b)
		}
		b.WriteByte(']')
	case kindNull, kindBool, kindNumber, kindString:
		b.Write(n.raw)
	}
}

// builder turns a parsed file into nodes and reports duplicate members.
type builder struct {
	file   string
	lines  lines
	faults faults
}

func (b *builder) at(offset int) pos {
	line, col := b.lines.of(offset)
	return pos{file: b.file, line: line, col: col}
}

func (b *builder) node(v hujson.Value, path string) *node {
	n := &node{at: b.at(v.StartOffset)}
	switch t := v.Value.(type) {
	case *hujson.Object:
		n.kind = kindObject
		seen := make(map[string]bool, len(t.Members))
		for _, m := range t.Members {
			name := m.Name.Value.(hujson.Literal).String()
			at := b.at(m.Name.StartOffset)
			if seen[name] {
				b.faults.add(at, join(path, name), "is given twice")
				continue
			}
			seen[name] = true
			n.keys = append(n.keys, key{name: name, at: at, val: b.node(m.Value, join(path, name))})
		}
	case *hujson.Array:
		n.kind = kindArray
		for _, e := range t.Elements {
			n.items = append(n.items, b.node(e, path))
		}
	case hujson.Literal:
		n.raw = t
		switch t.Kind() {
		case 'n':
			n.kind = kindNull
		case 't', 'f':
			n.kind = kindBool
		case '"':
			n.kind = kindString
		default:
			n.kind = kindNumber
		}
	}
	return n
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// lines holds the offset of each line's first byte.
type lines []int

func newLines(src []byte) lines {
	l := lines{0}
	for i, c := range src {
		if c == '\n' {
			l = append(l, i+1)
		}
	}
	return l
}

func (l lines) of(offset int) (line, col int) {
	line = sort.SearchInts(l, offset+1)
	return line, offset - l[line-1] + 1
}

func lineCol(src []byte, offset int) (line, col int) { return newLines(src).of(offset) }
