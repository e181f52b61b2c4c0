package wire_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
)

// FuzzBlocks holds that a prompt comes apart into exactly its elements and that
// each makes a source that keeps it.
func FuzzBlocks(f *testing.F) {
	for _, s := range []string{
		`{"type":"text","text":"a\n\/\ud800"}`, `{"type":"image","data":"QUI=","mimeType":"image/png"},{"type":"_x","a":[{}]}`,
		`{"type":"resource","resource":{"uri":"u","blob":"-_8"}} , {"type":"resource","resource":{"text":"\u0001"}}`,
		`{"type":"resource_link","uri":"file:///a","name":"n","size":5}`, `5`, `{"type":"image","data":"data:x;base64,QUJD"}`,
		`{"type":"text","text":""}`, `{"\u0074ype":"audio","data":"QU\nJD"}`, `"a"`, `{"type":5}`, `{"type":"text","type":"_y"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, elements []byte) {
		params := []byte(`{"sessionId":"s","prompt":[` + string(elements) + `]}`)
		line := []byte(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":` + string(params) + `}`)
		m, fault := rpc.Parse(line)
		blocks, bad := wire.ParsePrompt(params) // must not panic on invalid JSON
		if fault != nil || m.Method != "session/prompt" {
			return
		}
		var want struct{ Prompt json.RawMessage }
		if err := json.Unmarshal(m.Params, &want); err != nil {
			return
		}
		var each []json.RawMessage
		if json.Unmarshal(want.Prompt, &each) != nil || bad != nil {
			return
		}
		if !bytes.Equal(m.Params, params) || hasOther(params) {
			return // the input closed the prompt and went on
		}
		if len(blocks) != len(each) {
			t.Fatalf("%d blocks, want %d", len(blocks), len(each))
		}
		for i, b := range blocks {
			if diff := cmp.Diff(string(each[i]), string(b.Raw)); diff != "" {
				t.Errorf("block %d (-want +got):\n%s", i, diff)
			}
			if b.Source().Payload == nil {
				t.Errorf("block %d of type %q has no payload", i, b.Type)
			}
		}
	})
}

// hasOther reports whether params have a member whose name encoding/json takes for
// "prompt", which it matches without regard to case.
func hasOther(params []byte) bool {
	return bytes.Count(bytes.ToLower(params), []byte("prompt")) > 1 || bytes.Contains(params, []byte(`\u`)) && bytes.Contains(params, []byte(`],`))
}
