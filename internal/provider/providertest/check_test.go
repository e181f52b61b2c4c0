package providertest_test

import (
	"strings"
	"testing"

	"tote/internal/provider/providertest"
)

func TestCheckChat(t *testing.T) {
	const (
		user  = `{"role":"user","content":[{"type":"text","text":"x"}]}`
		calls = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"x"}},{"id":"b","function":{"name":"x"}}]}`
		a, b  = `{"role":"tool","tool_call_id":"a","content":"x"}`, `{"role":"tool","tool_call_id":"b","content":""}`
	)
	image := func(url string) string {
		return `{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + url + `"}}]}`
	}
	for name, tc := range map[string]struct {
		messages []string
		want     string
	}{
		"sound":             {[]string{user, calls, b, a, user}, ""},
		"picture":           {[]string{image("data:image/png;base64,AAAA")}, ""},
		"unanswered":        {[]string{user, calls, a, user}, "1 tool calls before it have no answer"},
		"unanswered at end": {[]string{user, calls, a}, "1 tool calls at the end"},
		"answered twice":    {[]string{user, calls, a, a}, "answers no open call"},
		"id of an earlier":  {[]string{user, calls, a, b, user, calls, a, b}, `the identifier of another: "a"`},
		"id too long":       {[]string{user, strings.Replace(calls, `"id":"a"`, `"id":"`+strings.Repeat("a", 41)+`"`, 1)}, "41 bytes, which is too long"},
		"no id":             {[]string{user, strings.Replace(calls, `"id":"a"`, `"id":""`, 1)}, "without an identifier"},
		"nothing":           {nil, "no messages"},
		"empty part":        {[]string{`{"role":"user","content":[{"type":"text","text":""}]}`}, "part 0: it is empty"},
		"string for a user": {[]string{`{"role":"user","content":"x"}`}, "no content parts"},
		"empty assistant":   {[]string{`{"role":"assistant","content":null}`}, "it is empty"},
		"two prefixes":      {[]string{image("data:image/png;base64,data:image/png;base64,AAAA")}, "inside a data URI"},
		"no prefix":         {[]string{image("AAAA")}, "not a data URI"},
		"bad base64":        {[]string{image("data:image/png;base64,AAA")}, "illegal base64"},
		"empty picture":     {[]string{image("data:image/png;base64,")}, "an empty picture"},
		"picture in a tool": {[]string{user, calls, `{"role":"tool","tool_call_id":"a","content":[{"type":"image_url"}]}`}, "outside a user message"},
		"role":              {[]string{`{"role":"alien","content":"x"}`}, "unknown role"},
		"type":              {[]string{`{"role":"user","content":[{"type":"video"}]}`}, `type "video"`},
	} {
		err := providertest.CheckChat([]byte(`{"messages":[` + strings.Join(tc.messages, ",") + `]}`))
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
