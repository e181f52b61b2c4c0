package rpc_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/front/acp/rpc"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name, in string
		want     rpc.Message
	}{
		{
			"request", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}`,
			rpc.Message{ID: []byte("1"), Method: "m", Params: []byte(`{"a":1}`)},
		},
		{"string id", `{"jsonrpc":"2.0","id":"x\u0041","method":"m"}`, rpc.Message{ID: []byte(`"x\u0041"`), Method: "m"}},
		{"float id", `{"jsonrpc":"2.0","id":1.50,"method":"m"}`, rpc.Message{ID: []byte("1.50"), Method: "m"}},
		{"huge integer id", `{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"m"}`, rpc.Message{ID: []byte("123456789012345678901234567890"), Method: "m"}},
		{"null id is a request", `{"jsonrpc":"2.0","id":null,"method":"m"}`, rpc.Message{ID: []byte("null"), Method: "m"}},
		{"lone surrogate id", `{"jsonrpc":"2.0","id":"\ud800","method":"m"}`, rpc.Message{ID: []byte(`"\ud800"`), Method: "m"}},
		{"notification", `{"jsonrpc":"2.0","method":"m","params":[1]}`, rpc.Message{Method: "m", Params: []byte("[1]")}},
		{"null params", `{"jsonrpc":"2.0","method":"m","params":null}`, rpc.Message{Method: "m"}},
		{"any order, unknown members", ` {"params":{},"x":[{}],"method":"m","id":2,"jsonrpc":"2.0"} `, rpc.Message{ID: []byte("2"), Method: "m", Params: []byte("{}")}},
		{"last one counts", `{"jsonrpc":"2.0","id":1,"method":"a","method":"b","id":2}`, rpc.Message{ID: []byte("2"), Method: "b"}},
		{
			"lone surrogate is kept raw", `{"jsonrpc":"2.0","method":"m","params":{"t":"\ud800"}}`,
			rpc.Message{Method: "m", Params: []byte(`{"t":"\ud800"}`)},
		},
		{"result", `{"jsonrpc":"2.0","id":3,"result":{"ok":true}}`, rpc.Message{ID: []byte("3"), Result: []byte(`{"ok":true}`)}},
		{"null result", `{"jsonrpc":"2.0","id":3,"result":null}`, rpc.Message{ID: []byte("3"), Result: []byte(`null`)}},
		{"method null in a result", `{"jsonrpc":"2.0","id":3,"method":null,"params":null,"result":{}}`, rpc.Message{ID: []byte("3"), Result: []byte(`{}`)}},
		{"error null alone", `{"jsonrpc":"2.0","id":3,"error":null}`, rpc.Message{ID: []byte("3")}},
		{"result without a version", `{"id":3,"result":1,"error":null}`, rpc.Message{ID: []byte("3"), Result: []byte(`1`)}},
		{
			"error", `{"jsonrpc":"2.0","id":3,"error":{"code":-5,"message":"no","data":{"x":1}}}`,
			rpc.Message{ID: []byte("3"), Err: &rpc.Error{Code: -5, Message: "no", Data: []byte(`{"x":1}`)}},
		},
		{
			"error of the wrong shape", `{"jsonrpc":"2.0","id":3,"error":"no"}`,
			rpc.Message{ID: []byte("3"), Err: &rpc.Error{Code: rpc.CodeInternal, Message: "the client answered with an error that cannot be read"}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, fault := rpc.Parse([]byte(tt.in))
			if fault != nil {
				t.Fatalf("Parse: fault %+v", fault)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseFaults(t *testing.T) {
	const parse, invalid = rpc.CodeParse, rpc.CodeInvalidRequest
	tests := []struct {
		name, in, id string
		code         int
	}{
		{"not JSON", `hello`, "null", parse},
		{"cut off", `{"jsonrpc":"2.0","id":5,"method":"m","params":{`, "5", parse},
		{"trailing data", `{"jsonrpc":"2.0","id":5,"method":"m"} x`, "5", parse},
		{"two values", `{"jsonrpc":"2.0","id":5,"method":"m"}{}`, "5", parse},
		{"bad escape", `{"jsonrpc":"2.0","method":"m","params":"\q","id":5}`, "5", parse},
		{"control character", "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":5,\"p\":\"\x01\"}", "5", parse},
		{"missing comma", `{"jsonrpc":"2.0" "id":5,"method":"m"}`, "null", parse},
		{"malformed without a method", `{"jsonrpc":"2.0","id":5,`, "null", parse},
		{"invalid UTF-8", `{"jsonrpc":"2.0","params":{"t":"` + "\xff\xfe" + `"},"id":"q","method":"m"}`, `"q"`, parse},
		{"invalid UTF-8 surrogate", `{"jsonrpc":"2.0","id":1,"method":"m","p":"` + "\xed\xa0\x80" + `"}`, `1`, parse},
		{"invalid UTF-8 id", `{"jsonrpc":"2.0","id":"` + "\xff" + `","method":"m"}`, `null`, parse},
		{"too deep", `{"jsonrpc":"2.0","id":1,"method":"m","p":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, "1", parse},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"m"}]`, "null", invalid},
		{"empty batch", ` [] `, "null", invalid},
		{"malformed batch", `[{"jsonrpc"]`, "null", parse},
		{"a number", `5`, "null", invalid},
		{"a string", `"x"`, "null", invalid},
		{"null", `null`, "null", invalid},
		{"empty object", `{}`, "null", invalid},
		{"no version", `{"id":1,"method":"m"}`, "1", invalid},
		{"wrong version", `{"jsonrpc":"1.0","id":1,"method":"m"}`, "1", invalid},
		{"version is a number", `{"jsonrpc":2.0,"id":1,"method":"m"}`, "1", invalid},
		{"no id and no method", `{"jsonrpc":"2.0","x":1}`, "null", invalid},
		{"method is a number", `{"jsonrpc":"2.0","id":1,"method":1}`, "1", invalid},
		{"method is empty", `{"jsonrpc":"2.0","id":1,"method":""}`, "1", invalid},
		{"params is a string", `{"jsonrpc":"2.0","id":1,"method":"m","params":"x"}`, "1", invalid},
		{"id is an object", `{"jsonrpc":"2.0","id":{},"method":"m"}`, "null", invalid},
		{"id is a bool", `{"jsonrpc":"2.0","id":true,"method":"m"}`, "null", invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, fault := rpc.Parse([]byte(tt.in))
			if fault == nil {
				t.Fatalf("Parse = %+v, want a fault", m)
			}
			if fault.Err.Code != tt.code || string(fault.ID) != tt.id || fault.Call != nil {
				t.Errorf("fault = %s %v, call %s; want id %s, code %d", fault.ID, fault.Err, fault.Call, tt.id, tt.code)
			}
		})
	}
}

// TestParseEither reads what may be a request without a method and a reply without
// a result.
func TestParseEither(t *testing.T) {
	for in, id := range map[string]string{
		`{"jsonrpc":"2.0","id":1}`:               "1",
		`{"id":1,"method":null}`:                 "1",
		`{"jsonrpc":"2.0","id":"a","params":{}}`: `"a"`,
	} {
		m, fault := rpc.Parse([]byte(in))
		if fault == nil || !fault.Either || string(fault.ID) != id || string(fault.Call) != id || fault.Err.Code != rpc.CodeInvalidRequest {
			t.Errorf("Parse(%s) = %+v, %+v, want a fault that may be a reply to %s", in, m, fault, id)
		}
	}
}

func TestParseBrokenReplies(t *testing.T) {
	for in, want := range map[string]string{
		`{"jsonrpc":"2.0","id":4,"result":{`:                    "4",
		`{"jsonrpc":"2.0","id":4,"result":"` + "\xff" + `"}`:    "4",
		`{"jsonrpc":"2.0","result":1}`:                          "null",
		`{"jsonrpc":"2.0","id":[],"error":{"code":1}}`:          "null",
		`{"jsonrpc":"2.0","result":1,"error":{"code":1},"x":0}`: "null",
	} {
		_, fault := rpc.Parse([]byte(in))
		if fault == nil || string(fault.Call) != want {
			t.Errorf("Parse(%q): fault %+v, want one for call %s", in, fault, want)
		}
	}
}
