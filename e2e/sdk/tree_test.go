package sdk_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"tote/e2e/sdk"
)

// vendor is a small SDK's type.
type vendor struct {
	Model    string  `json:"model"`
	Messages []entry `json:"messages"`
	Args     any     `json:"args,omitempty"`
}

type entry struct {
	Role string `json:"role"`
	Size int    `json:"size,omitempty"`
}

func respell(body []byte) ([]byte, error) {
	var v vendor
	if err := json.Unmarshal(body, &v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

const request = `{"model":"m","messages":[{"role":"user"},{"role":"tool","size":3}],"args":{"a":1}}`

// TestDiff has the harness find what it is there to find, each at its place.
func TestDiff(t *testing.T) {
	for name, c := range map[string]struct{ ours, theirs, want string }{
		"same":          {request, request, ""},
		"lost":          {`{"a":[{"b":1,"c":2}]}`, `{"a":[{"b":1}]}`, ".a[0].c: the SDK does not know it"},
		"lost null":     {`{"a":null}`, `{}`, ".a: the SDK does not know it"},
		"added":         {`{"a":{}}`, `{"a":{"b":0}}`, ".a.b: the SDK adds it"},
		"changed":       {`{"a":"x"}`, `{"a":"y"}`, ".a: x, the SDK has y"},
		"another type":  {`{"a":"1"}`, `{"a":1}`, ".a: 1, the SDK has 1"},
		"no object":     {`{"a":{"b":1}}`, `{"a":"b"}`, ".a: the SDK has string in place of an object"},
		"null for it":   {`{"a":{"b":1}}`, `{"a":null}`, ".a: the SDK has <nil> in place of an object"},
		"fewer":         {`{"a":[1,2]}`, `{"a":[1]}`, ".a: 2 elements, the SDK has [1]"},
		"another order": {`{"a":["x","y"]}`, `{"a":["y","x"]}`, ".a[0]: x, the SDK has y; .a[1]: y, the SDK has x"},
		"string of one": {`{"a":[1]}`, `{"a":1}`, ".a: 1 elements, the SDK has 1"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, d := range sdk.Diff(sdk.Tree(t, []byte(c.ours)), sdk.Tree(t, []byte(c.theirs))) {
				got = append(got, d.String())
			}
			if s := strings.Join(got, "; "); s != c.want {
				t.Errorf("found %q, want %q", s, c.want)
			}
		})
	}
}

// TestBlind has the harness say where it sees nothing.
func TestBlind(t *testing.T) {
	if got := sdk.Blind(t, []byte(request), respell); !slices.Equal(got, []string{".args"}) {
		t.Errorf("blind at %v", got)
	}
	if got := sdk.Blind(t, []byte(request), respell, ".args"); got != nil {
		t.Errorf("blind at %v", got)
	}
	strict := func(body []byte) ([]byte, error) {
		if strings.Contains(string(body), "tote_stranger") {
			return nil, errors.New("unknown member")
		}
		return body, nil
	}
	if got := sdk.Blind(t, []byte(request), strict); got != nil {
		t.Errorf("blind at %v where the SDK refuses", got)
	}
	keeps := func(body []byte) ([]byte, error) { return body, nil }
	if got := sdk.Blind(t, []byte(request), keeps); len(got) != 4 {
		t.Errorf("an SDK that keeps everything shows nothing, found %v", got)
	}
}

// quiet is a test that only counts its errors.
type quiet struct {
	testing.TB
	errors int
}

func (q *quiet) Helper()               {}
func (q *quiet) Error(...any)          { q.errors++ }
func (q *quiet) Errorf(string, ...any) { q.errors++ }
func (q *quiet) Fatal(args ...any)     { panic(args) }
func (q *quiet) Fatalf(string, ...any) { panic("fatal") }

// TestExpect has an exception cover its own difference alone, and no longer than
// there is one.
func TestExpect(t *testing.T) {
	found := []sdk.Difference{{At: ".a[0].text", How: "the SDK does not know it"}}
	for name, c := range map[string]struct {
		found []sdk.Difference
		right []sdk.Exception
		want  int
	}{
		"nothing":       {nil, nil, 0},
		"found":         {found, nil, 1},
		"covered":       {found, []sdk.Exception{{Place: ".a.text", How: "does not know"}}, 0},
		"other place":   {found, []sdk.Exception{{Place: ".b.text"}}, 2},
		"other manner":  {found, []sdk.Exception{{Place: ".text", How: "adds"}}, 2},
		"outlived":      {nil, []sdk.Exception{{Place: ".text"}}, 1},
		"one for more":  {append(found, sdk.Difference{At: ".a[1].text", How: "the SDK does not know it"}), []sdk.Exception{{Place: ".text"}}, 0},
		"one uncovered": {append(found, sdk.Difference{At: ".z", How: "x"}), []sdk.Exception{{Place: ".text"}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			q := &quiet{TB: t}
			sdk.Expect(q, c.found, c.right...)
			if q.errors != c.want {
				t.Errorf("%d errors, want %d", q.errors, c.want)
			}
		})
	}
}

func TestLean(t *testing.T) {
	got := sdk.JSON(t, sdk.Lean(sdk.Tree(t, []byte(`{"a":null,"b":"","c":[],"d":{"e":{}},"f":0,"g":[{"h":""},{"i":1}],"j":false,"k":true}`))))
	if want := `{"f":0,"g":[null,{"i":1}],"k":true}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFind(t *testing.T) {
	got := sdk.Find(sdk.Tree(t, []byte(`{"a":["x needle"],"b":{"needle":"y"},"c":"needle"}`)), "needle")
	if !slices.Equal(got, []string{".a[0]", ".c"}) {
		t.Errorf("found at %v", got)
	}
}
