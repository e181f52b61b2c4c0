package sdk_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
)

// tree reads JSON for comparison.
func tree(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v in %.300s", err, data)
	}
	return v
}

// compare reports every place at which what an SDK makes of a request differs from
// the request. A member that the SDK's types lack is lost on the way, and so found.
func compare(t *testing.T, ours, theirs any) {
	t.Helper()
	for _, d := range diff("", ours, theirs) {
		t.Error(d)
	}
}

func diff(at string, ours, theirs any) []string {
	switch a := ours.(type) {
	case map[string]any:
		b, ok := theirs.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: the SDK has %T in place of an object", at, theirs)}
		}
		var out []string
		for _, k := range slices.Sorted(maps.Keys(a)) {
			if _, ok := b[k]; !ok {
				out = append(out, fmt.Sprintf("%s.%s: the SDK does not know it", at, k))
				continue
			}
			out = append(out, diff(at+"."+k, a[k], b[k])...)
		}
		for _, k := range slices.Sorted(maps.Keys(b)) {
			if _, ok := a[k]; !ok {
				out = append(out, fmt.Sprintf("%s.%s: the SDK adds it", at, k))
			}
		}
		return out
	case []any:
		b, ok := theirs.([]any)
		if !ok || len(a) != len(b) {
			return []string{fmt.Sprintf("%s: %d elements, the SDK has %.80v", at, len(a), theirs)}
		}
		var out []string
		for i := range a {
			out = append(out, diff(fmt.Sprintf("%s[%d]", at, i), a[i], b[i])...)
		}
		return out
	}
	if !reflect.DeepEqual(ours, theirs) {
		return []string{fmt.Sprintf("%s: %.80v, the SDK has %.80v", at, ours, theirs)}
	}
	return nil
}
