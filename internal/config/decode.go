package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"tote/internal/spell"
)

// decoder fills a Config from nodes. It knows the types that occur in Config and
// panics on others, which a test of the whole Config would show.
type decoder struct{ faults *faults }

func reflectOf[T any](p *T) reflect.Value { return reflect.ValueOf(p).Elem() }

func (d decoder) value(n *node, v reflect.Value, path string) {
	if done, err := spelled(n, v.Addr().Interface()); done {
		if err != nil {
			d.faults.wrap(n.at, path, err)
		}
		return
	}
	switch v.Kind() { //nolint:exhaustive // the other kinds do not occur in Config, and panic
	case reflect.Struct:
		if d.want(n, kindObject, "an object", path) {
			d.members(n, v, path)
		}
	case reflect.Map:
		if d.want(n, kindObject, "an object", path) {
			d.entries(n, v, path)
		}
	case reflect.Slice:
		if d.want(n, kindArray, "an array", path) {
			d.items(n, v, path)
		}
	case reflect.String:
		d.text(n, v, path)
	case reflect.Bool:
		if d.want(n, kindBool, "true or false", path) {
			v.SetBool(n.isTrue())
		}
	case reflect.Int:
		d.number(n, v, path)
	default:
		panic("config: no decoder for " + v.Type().String())
	}
}

// spelled reads the types that have a spelling of their own.
func spelled(n *node, to any) (done bool, err error) {
	switch p := to.(type) {
	case *Vision:
		*p, err = decodeVision(n)
	case *Bytes:
		*p, err = decodeBytes(n)
	case *Duration:
		*p, err = decodeDuration(n)
	case *Retries:
		*p, err = decodeRetries(n)
	case *Refusal:
		if n.kind == kindObject {
			return false, nil
		}
		*p, err = decodeRefusal(n)
	case *json.RawMessage:
		if n.kind != kindObject {
			return true, fmt.Errorf("is %s; want an object", n.kindName())
		}
		*p = n.standard()
	default:
		return false, nil
	}
	return true, err
}

func (d decoder) want(n *node, kind nodeKind, name, path string) bool {
	if n.kind != kind {
		d.faults.add(n.at, path, "is %s; want %s", n.kindName(), name)
		return false
	}
	return true
}

func (d decoder) members(n *node, v reflect.Value, path string) {
	for _, k := range n.keys {
		i, ok := fieldNamed(v.Type(), k.name)
		if !ok {
			known := memberNames(v.Type())
			if near := spell.Nearest(clean(k.name), known); near != "" {
				d.faults.add(k.at, join(path, k.name), "is not a known member; did you mean %s?", near)
			} else {
				d.faults.add(k.at, join(path, k.name), "is not a known member; known here: %s", strings.Join(known, ", "))
			}
			continue
		}
		d.value(k.val, v.Field(i), join(path, k.name))
	}
}

func (d decoder) entries(n *node, v reflect.Value, path string) {
	m := reflect.MakeMapWithSize(v.Type(), len(n.keys))
	for _, k := range n.keys {
		e := reflect.New(v.Type().Elem()).Elem()
		d.value(k.val, e, join(path, k.name))
		if f := e; f.Kind() == reflect.Struct && f.FieldByName("Name").IsValid() {
			f.FieldByName("Name").SetString(k.name)
		}
		m.SetMapIndex(reflect.ValueOf(k.name), e)
	}
	v.Set(m)
}

func (d decoder) items(n *node, v reflect.Value, path string) {
	s := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		d.value(item, s.Index(i), path+"["+strconv.Itoa(i)+"]")
	}
	v.Set(s)
}

func (d decoder) text(n *node, v reflect.Value, path string) {
	if !d.want(n, kindString, "a string", path) {
		return
	}
	s := n.str()
	if c, ok := reflect.TypeAssert[choice](v); ok && !slices.Contains(c.Values(), s) {
		d.faults.add(n.at, path, "%q is not one of %s%s", clean(s), strings.Join(c.Values(), ", "), meant(s, c.Values()))
		return
	}
	v.SetString(s)
}

// meant is the end of an error that proposes the nearest name.
func meant(got string, known []string) string {
	if near := spell.Nearest(clean(got), known); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

func (d decoder) number(n *node, v reflect.Value, path string) {
	if !d.want(n, kindNumber, "a whole number", path) {
		return
	}
	i, err := strconv.ParseInt(string(n.raw), 10, 32)
	if err != nil {
		d.faults.add(n.at, path, "%s is not a whole number below 2^31", clean(string(n.raw)))
		return
	}
	v.SetInt(i)
}

// memberName returns the name of a field in the files, or "".
func memberName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" {
		return ""
	}
	return name
}

func memberNames(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		if name := memberName(f); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func fieldNamed(t reflect.Type, name string) (int, bool) {
	for i := range t.NumField() {
		if m := memberName(t.Field(i)); m != "" && m == name {
			return i, true
		}
	}
	return 0, false
}
