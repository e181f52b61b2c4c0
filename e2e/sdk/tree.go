package sdk

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Tree reads JSON for comparison.
func Tree(tb testing.TB, data []byte) any {
	tb.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		tb.Fatalf("%v in %.300s", err, data)
	}
	return v
}

// JSON spells v.
func JSON(tb testing.TB, v any) []byte {
	tb.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// A Difference is one place at which two trees differ.
type Difference struct {
	// At is the place, like ".messages[2].content".
	At string
	// How says what is there and what is not.
	How string
}

func (d Difference) String() string { return d.At + ": " + d.How }

// Diff lists every place at which what an SDK makes of a request differs from
// the request.
func Diff(ours, theirs any) []Difference { return diff("", ours, theirs) }

func diff(at string, ours, theirs any) []Difference {
	switch a := ours.(type) {
	case map[string]any:
		b, ok := theirs.(map[string]any)
		if !ok {
			return []Difference{{at, fmt.Sprintf("the SDK has %T in place of an object", theirs)}}
		}
		var out []Difference
		for _, k := range slices.Sorted(maps.Keys(a)) {
			if _, ok := b[k]; !ok {
				out = append(out, Difference{at + "." + k, "the SDK does not know it"})
				continue
			}
			out = append(out, diff(at+"."+k, a[k], b[k])...)
		}
		for _, k := range slices.Sorted(maps.Keys(b)) {
			if _, ok := a[k]; !ok {
				out = append(out, Difference{at + "." + k, "the SDK adds it"})
			}
		}
		return out
	case []any:
		b, ok := theirs.([]any)
		if !ok || len(a) != len(b) {
			return []Difference{{at, fmt.Sprintf("%d elements, the SDK has %.80v", len(a), theirs)}}
		}
		var out []Difference
		for i := range a {
			out = append(out, diff(fmt.Sprintf("%s[%d]", at, i), a[i], b[i])...)
		}
		return out
	}
	if !reflect.DeepEqual(ours, theirs) {
		return []Difference{{at, fmt.Sprintf("%.80v, the SDK has %.80v", ours, theirs)}}
	}
	return nil
}

// An Exception is a difference that is right, with the reason. Place is the end
// of the difference's, without the numbers of list elements: ".text" is that of
// any part.
type Exception struct{ Place, How, Reason string }

// plain leaves the numbers of list elements out of a place.
func plain(at string) string {
	var b strings.Builder
	inside := false
	for _, r := range at {
		switch {
		case r == '[':
			inside = true
		case r == ']':
			inside = false
		case !inside:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (e *Exception) covers(d Difference) bool {
	return strings.HasSuffix(plain(d.At), e.Place) && strings.Contains(d.How, e.How)
}

// Expect reports every difference that no exception covers, and every exception
// that covers none: it has outlived its reason.
func Expect(tb testing.TB, found []Difference, right ...Exception) {
	tb.Helper()
	used := make([]bool, len(right))
	for _, d := range found {
		i := slices.IndexFunc(right, func(e Exception) bool { return e.covers(d) })
		if i < 0 {
			tb.Error(d)
			continue
		}
		used[i] = true
	}
	for i, e := range right {
		if !used[i] {
			tb.Errorf("nothing differs at %q any more (%s)", e.Place, e.Reason)
		}
	}
}

// stranger is a member that no SDK knows.
const stranger = "tote_stranger"

// Blind lists the objects of a request in which a member that no SDK knows would
// not be found: it puts one into each of them in turn and looks for it. So it tells
// whether a comparison without differences means anything. An SDK keeps what it does
// not know where it has no type for the object around it, which is a difference of
// its own: that object is in no form of the vendor's.
//
// Respell is how the SDK spells what it read; an error means that it refused. Free
// are the places, without the numbers of list elements, below which a vendor takes
// whatever there is: arguments, schemas.
func Blind(tb testing.TB, body []byte, respell func([]byte) ([]byte, error), free ...string) []string {
	tb.Helper()
	base := len(Diff(Tree(tb, body), respelled(tb, body, respell)))
	var out []string
	places(Tree(tb, body), "", func(at string, _ map[string]any) {
		if slices.ContainsFunc(free, func(f string) bool { return strings.HasPrefix(plain(at)+".", f+".") }) {
			return
		}
		ours := Tree(tb, body)
		places(ours, "", func(here string, o map[string]any) {
			if here == at {
				o[stranger] = "x"
			}
		})
		theirs, err := respell(JSON(tb, ours))
		if err == nil && len(Diff(ours, Tree(tb, theirs))) <= base {
			out = append(out, at)
		}
	})
	return out
}

func respelled(tb testing.TB, body []byte, respell func([]byte) ([]byte, error)) any {
	tb.Helper()
	data, err := respell(body)
	if err != nil {
		tb.Fatal(err)
	}
	return Tree(tb, data)
}

// places visits every object of a tree.
func places(v any, at string, visit func(at string, o map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			places(v[k], at+"."+k, visit)
		}
		visit(at, v)
	case []any:
		for i := range v {
			places(v[i], fmt.Sprintf("%s[%d]", at, i), visit)
		}
	}
}

// Find lists the places of the strings that hold a text.
func Find(v any, text string) []string {
	var out []string
	var walk func(v any, at string)
	walk = func(v any, at string) {
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(v[k], at+"."+k)
			}
		case []any:
			for i := range v {
				walk(v[i], fmt.Sprintf("%s[%d]", at, i))
			}
		case string:
			if strings.Contains(v, text) {
				out = append(out, at)
			}
		}
	}
	walk(v, "")
	return out
}

// Lean drops what is null, empty or false, and lists and objects of nothing else,
// which an SDK's answer types spell although a server does not send them. Numbers
// stay.
func Lean(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if e = Lean(e); e == nil {
				delete(v, k)
			} else {
				v[k] = e
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = Lean(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	case string:
		if v == "" {
			return nil
		}
	case bool:
		if !v {
			return nil
		}
	}
	return v
}
