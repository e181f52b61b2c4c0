package rpc_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"tote/internal/front/acp/rpc"
)

var seeds = []string{
	``, "\n", `{}`, `[]`, `[{}]`, `null`, `"x"`, `{"id":1`, "{\"id\":\"\xff\"}",
	`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n",
	`{"jsonrpc":"2.0","params":{"prompt":[{"type":"image","data":"QUJD"}],"sessionId":"s"},"method":"session/prompt","id":"a"}` + "\r\n",
	`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"\u0073"}}` + "\n\n" + `{"jsonrpc":"2.0","id":null,"result":{}}`,
	`{ "i\u0064" : 1.5 , "method" : "m\\\"" , "method":"n", "jsonrpc":"2.0", "params" : [ "\ud800" , {"sessionId":"no"} ] }`,
	`{"id":-1e5,"error":{"code":1,"message":"\\"},"jsonrpc":"2.0"}`,
}

// FuzzReader compares the lines, and what is skimmed of those over the limit, with
// a plain split of the input.
func FuzzReader(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), uint16(20), uint8(7))
		f.Add([]byte(strings.Repeat(s, 3)), uint16(10000), uint8(200))
	}
	f.Fuzz(func(t *testing.T, data []byte, limit uint16, n uint8) {
		in := rpc.NewReader(&pieces{string(data), int(n) + 1}, int64(limit)+1)
		rest := data
		for len(rest) > 0 {
			want, after, found := bytes.Cut(rest, []byte("\n"))
			rest = after
			if found {
				want = bytes.TrimSuffix(want, []byte("\r"))
			}
			over := len(want) > int(limit)+1
			if !over && len(bytes.Trim(want, " \t\r")) == 0 {
				continue
			}
			line, err := in.Next()
			switch {
			case err != nil:
				t.Fatalf("Next: %v, want %q", err, want)
			case over != (line.Over != nil):
				t.Fatalf("over = %v for %d bytes, limit %d", !over, len(want), int(limit)+1)
			case !over && !bytes.Equal(line.Bytes, want):
				t.Fatalf("line = %q, want %q", line.Bytes, want)
			case over && line.Over.Received != int64(len(want)):
				t.Fatalf("received = %d, want %d", line.Over.Received, len(want))
			}
		}
		if line, err := in.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("Next = %v, %v; want the end", line, err)
		}
	})
}

// FuzzMessage compares Parse with encoding/json, and the skim with Parse.
func FuzzMessage(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, fault := rpc.Parse(line)
		valid := json.Valid(line) && utf8.Valid(line)
		switch {
		case fault != nil && (fault.Err.Code == rpc.CodeParse) == valid && fault.Call == nil:
			t.Fatalf("fault %v for a line whose validity is %v", fault.Err, valid)
		case fault != nil:
			if !json.Valid(fault.ID) && fault.Call == nil {
				t.Fatalf("fault answers to id %q", fault.ID)
			}
			return
		case !valid:
			t.Fatalf("Parse accepts %q", line)
		}
		var top map[string]json.RawMessage
		if err := json.Unmarshal(line, &top); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(m.ID, top["id"]) {
			t.Errorf("id = %q, want %q", m.ID, top["id"])
		}
		if m.Params != nil && !bytes.Equal(m.Params, top["params"]) {
			t.Errorf("params = %q, want %q", m.Params, top["params"])
		}
		compareSkim(t, line, m)
	})
}

func compareSkim(t *testing.T, line []byte, m rpc.Message) {
	t.Helper()
	if len(line) < 2 || len(line) > 900 || bytes.IndexByte(line, '\n') >= 0 {
		return
	}
	got, err := rpc.NewReader(bytes.NewReader(line), 1).Next()
	if err != nil || got.Over == nil {
		t.Fatalf("Next = %v, %v", got, err)
	}
	if string(got.Over.ID) != string(m.ID) || got.Over.Method != m.Method {
		t.Errorf("skim = %+v, want id %s, method %q", got.Over.Skim, m.ID, m.Method)
	}
}
