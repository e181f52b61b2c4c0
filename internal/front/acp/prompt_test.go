package acp_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/front/acp"
	"tote/internal/front/acp/rpc"
	"tote/internal/front/acp/wire"
	"tote/internal/provider"
)

func b64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// everyKind is one block of each kind and of each way to be wrong, in spellings
// that no encoder of ours would choose.
func everyKind(w *world) []string {
	png := agenttest.PNG(20, 10, 1)
	file := filepath.Join(w.dir, "notes.txt")
	if err := os.WriteFile(file, []byte("from the file"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return []string{
		`{ "type" : "text", "text":"look \u0061t\/this" }`,
		`{"data":"` + b64(png) + `","mimeType":"image/png","type":"image","uri":"zed:///agent/pasted-image","_meta":{"x":1.50}}`,
		`{"type":"text","text":""}`,
		`{"type":"image","mimeType":"image/jpeg","data":"` + b64(png[:len(png)/2]) + `"}`,
		`{"type":"image","mimeType":"image/png","data":"*no base64*"}`,
		`{"type":"audio","mimeType":"audio/wav","data":"` + b64(agenttest.WAV(100)) + `","annotations":{"audience":["user"]}}`,
		`{"type":"resource_link","uri":` + quote("file://"+filepath.ToSlash(file)) + `,"name":"notes.txt","icons":[]}`,
		`{"type":"resource_link","uri":"https://example.org/a","name":"page"}`,
		`{"type":"resource","resource":{"uri":"file:///x.go","text":"package x\n","mimeType":"text/x-go"}}`,
		`{"type":"resource","resource":{"uri":"file:///x.pdf","blob":"` + b64([]byte("%PDF-1.4\n%%EOF\n")) + `","mimeType":"application/pdf"}}`,
		`{"type":"video","data":"AAAA","mimeType":"video/mp4","weird":[{"a":null}]}`,
		`{"type":"_vendor","\u0078":1}`,
		`{"type":"image"}`,
	}
}

// sentBlocks is what an echo or a replay gives back: the block itself, or the one
// that rides along with a stand-in.
func sentBlocks(t *testing.T, chunks []string) []string {
	t.Helper()
	var out []string
	for _, c := range chunks {
		raw := rpc.Member([]byte(c), "content")
		if kept := rpc.Member(rpc.Member(raw, "_meta"), "tote/block"); kept != nil {
			raw = kept
		}
		out = append(out, string(raw))
	}
	return out
}

// TestEveryKind holds the promise about prompts: what came in goes back byte for
// byte, live and in the replay of another process, and nothing is lost silently.
func TestEveryKind(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		blocks := everyKind(w)
		p := w.boot(plain)
		id := p.open(w)
		got := p.send(prompt(1, id, blocks...))
		want(t, "stop", stop(t, got, 1), "end_turn")
		echo := updates(t, got, "user_message_chunk")
		want(t, "echo", sentBlocks(t, echo), blocks)
		for i, c := range echo {
			var u struct {
				Content struct{ Type, Text string }
			}
			if json.Unmarshal([]byte(c), &u) != nil || strings.HasPrefix(u.Content.Type, "_") || u.Content.Type == "video" {
				t.Errorf("block %d goes back as %q, which clients drop", i, u.Content.Type)
			}
		}
		checkReceipts(t, got, len(blocks))
		if n := len(updates(t, got, "agent_message_chunk")); n < 5 { // the answer, and a line for each that was not delivered whole
			t.Errorf("%d lines of the agent", n)
		}

		p.close()
		p = w.boot(plain)
		open := `{"sessionId":` + quote(id) + `,"cwd":` + quote(w.dir) + `,"mcpServers":[]}`
		got = p.send(request(2, "session/load", open))
		want(t, "replay", updates(t, got, "user_message_chunk"), echo)
		want(t, "answer", updates(t, got, "agent_message_chunk"), []string{`{"sessionUpdate":"agent_message_chunk","messageId":"` + turnOf(echo[0]) + `-m1","content":{"type":"text","text":"ok"}}`})
		if !strings.Contains(got[len(got)-1], `"id":2,"result":{"configOptions"`) {
			t.Errorf("the reply does not come last: %.200s", got[len(got)-1])
		}
		want(t, "again", len(updates(t, p.send(request(3, "session/load", open)), "user_message_chunk")), len(blocks))
		want(t, "resume", updates(t, p.send(request(4, "session/resume", open)), "user_message_chunk"), []string(nil))
		want(t, "next prompt", stop(t, p.send(prompt(5, id, text("and now?"))), 5), "end_turn")
		p.close()
	})
}

func turnOf(chunk string) string {
	var u struct{ MessageID string }
	_ = json.Unmarshal([]byte(chunk), &u) // "" does not compare equal
	return u.MessageID
}

// checkReceipts holds that every block has a receipt, before the first token and
// in the reply, and that every block that is not whole has a line in words.
func checkReceipts(t *testing.T, lines []string, blocks int) {
	t.Helper()
	type meta struct {
		Receipts []struct{ Label, Kind, Disposition, Reason, Route string } `json:"tote/receipts"`
	}
	var result struct {
		Meta meta `json:"_meta"`
	}
	if err := json.Unmarshal([]byte(reply(t, lines, 1)), &result); err != nil {
		t.Fatal(err)
	}
	labels := map[string]bool{}
	for _, r := range result.Meta.Receipts {
		labels[r.Label] = true
		if r.Kind == "" || r.Disposition == "" || r.Reason == "" || r.Route != "prompt" {
			t.Errorf("receipt %+v", r)
		}
	}
	if len(labels) < blocks {
		t.Errorf("%d blocks have %d receipts", blocks, len(labels))
	}
	all := strings.Join(lines, "\n")
	if first := updates(t, lines, "session_info_update"); len(first) == 0 || strings.Index(all, first[0]) > strings.Index(all, `"text":"ok"`) {
		t.Error("the receipts do not come before the first token")
	}
	for _, r := range result.Meta.Receipts {
		switch r.Disposition {
		case "inline", "shrunk", "converted":
			continue
		}
		if !strings.Contains(strings.Join(updates(t, lines, "agent_message_chunk"), ""), r.Label) {
			t.Errorf("nothing is said of %s, which was not delivered whole", r.Label)
		}
	}
}

// TestTurnLines holds the whole output of a turn with tools, byte for byte.
func TestTurnLines(t *testing.T) {
	unixOnly(t)
	in(t, func(w *world) {
		t := w.t
		if err := os.WriteFile(filepath.Join(w.dir, "a.txt"), []byte("alpha\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		profile := agenttest.Sees("e1")
		profile.Context = 1000
		w.setProfile(profile)
		w.model.say = events(
			[]provider.Event{
				provider.ThoughtDelta{Text: "hm"},
				provider.TextDelta{Text: "Let me <see>"},
				provider.TextDelta{Text: "."},
				provider.Call{Call: content.ToolCall{ID: "call_0", Name: "read", Arguments: `{"path":"a.txt"}`}},
				provider.UsageReport{Usage: content.Usage{Input: content.Reported(10), Output: content.Reported(5)}},
				provider.Finish{Stop: content.StopEndTurn},
			},
			[]provider.Event{
				provider.Call{Call: content.ToolCall{ID: "call_0", Name: "read", Arguments: `{"path":"b.txt"}`}},
				provider.Finish{Stop: content.StopEndTurn},
			},
			[]provider.Event{provider.TextDelta{Text: "alpha"}, provider.Finish{Stop: content.StopMaxTokens}},
		)
		p := w.boot(noticed)
		id := p.open(w)
		got := p.send(prompt(1, id, text("read a.txt")))
		want(t, "stop", stop(t, got, 1), "max_tokens")
		live := turnLines(t, w, got)
		wantLive := strings.Split(strings.TrimSpace(`
user_message_chunk T {"type":"text","text":"read a.txt"}
session_info_update
agent_thought_chunk T-t1 {"type":"text","text":"hm"}
agent_message_chunk T-m1 {"type":"text","text":"Let me <see>"}
agent_message_chunk T-m1 {"type":"text","text":"."}
usage_update 15/1000
notice
tool_call T-c1-call_0 pending read DIR/a.txt
tool_call_update T-c1-call_0 in_progress
tool_call_update T-c1-call_0 completed content:1
session_info_update
usage_update 0/1000
tool_call T-c2-call_0 pending read DIR/b.txt
tool_call_update T-c2-call_0 in_progress
tool_call_update T-c2-call_0 failed content:1
session_info_update
agent_message_chunk T-m3 {"type":"text","text":"alpha"}
usage_update 0/1000
notice`), "\n")
		want(t, "live", live, wantLive)

		got = p.send(request(2, "session/load", `{"sessionId":`+quote(id)+`,"cwd":`+quote(w.dir)+`,"mcpServers":[]}`))
		lines := turnLines(t, w, got)
		if n := len(lines) - 1; n < 0 || !strings.HasPrefix(lines[n], "usage_update ") {
			t.Fatalf("the context is not told after a load: %q", lines)
		}
		want(t, "replay", lines[:len(lines)-1], strings.Split(strings.TrimSpace(`
user_message_chunk T {"type":"text","text":"read a.txt"}
agent_thought_chunk T-t1 {"type":"text","text":"hm"}
agent_message_chunk T-m1 {"type":"text","text":"Let me <see>."}
tool_call T-c1-call_0 completed read DIR/a.txt content:1
tool_call T-c2-call_0 failed read DIR/b.txt content:1
agent_message_chunk T-m3 {"type":"text","text":"alpha"}`), "\n"))
		p.close()
	})
}

func (w *world) setProfile(p delivery.Profile) {
	m, err := w.models.Model(w.t.Context(), "main")
	if err != nil {
		w.t.Fatal(err)
	}
	m.Profile = p
	w.models.Set("main", m)
}

// turnLines writes updates shortly, with T for the turn and DIR for the folder.
func turnLines(t *testing.T, w *world, lines []string) []string {
	t.Helper()
	var out []string
	turn := ""
	for _, line := range lines {
		var m struct {
			Params struct {
				Update struct {
					SessionUpdate, MessageID, ToolCallID, Status, Name string
					Content                                            json.RawMessage
					Locations                                          []struct{ Path string }
					Used, Size                                         int
				}
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		u := m.Params.Update
		if u.SessionUpdate == "" || u.SessionUpdate == "config_option_update" {
			continue
		}
		if u.SessionUpdate == "user_message_chunk" {
			turn = u.MessageID
		}
		s := u.SessionUpdate
		for _, part := range []string{u.MessageID, u.ToolCallID, u.Status, u.Name} {
			if part != "" {
				s += " " + strings.ReplaceAll(part, turn, "T")
			}
		}
		for _, l := range u.Locations {
			s += " " + strings.ReplaceAll(l.Path, w.dir, "DIR")
		}
		switch {
		case u.SessionUpdate == "usage_update":
			s += fmt.Sprintf(" %d/%d", u.Used, u.Size)
		case len(u.Content) > 0 && u.Content[0] == '[':
			var list []json.RawMessage
			if json.Unmarshal(u.Content, &list) == nil {
				s += fmt.Sprintf(" content:%d", len(list))
			}
		case len(u.Content) > 0:
			s += " " + string(u.Content)
		}
		out = append(out, s)
	}
	return out
}

// TestToolPicture holds that a picture that a tool returns is shown.
func TestToolPicture(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		png := agenttest.PNG(20, 10, 1)
		if err := os.WriteFile(filepath.Join(w.dir, "a.png"), png, 0o600); err != nil {
			t.Fatal(err)
		}
		w.model.say = events(
			[]provider.Event{provider.Call{Call: content.ToolCall{ID: "1", Name: "read", Arguments: `{"path":"a.png"}`}}, provider.Finish{Stop: content.StopEndTurn}},
			[]provider.Event{provider.TextDelta{Text: "grey"}, provider.Finish{Stop: content.StopEndTurn}},
		)
		p := w.boot(plain)
		id := p.open(w)
		got := p.send(prompt(1, id, text("look")))
		picture := `{"type":"content","content":{"type":"image","mimeType":"image/png","data":"` + b64(png) + `"`
		if !strings.Contains(strings.Join(updates(t, got, "tool_call_update"), "\n"), picture) {
			t.Errorf("no picture in %q", updates(t, got, "tool_call_update"))
		}
		got = p.send(request(2, "session/load", `{"sessionId":`+quote(id)+`,"cwd":`+quote(w.dir)+`,"mcpServers":[]}`))
		if !strings.Contains(strings.Join(updates(t, got, "tool_call"), "\n"), picture) {
			t.Errorf("no picture in the replay: %q", updates(t, got, "tool_call"))
		}
		p.close()
	})
}

// TestOtherInlets replays a session that no client of the protocol has begun.
func TestOtherInlets(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		png, wav := agenttest.PNG(20, 10, 1), agenttest.WAV(10)
		a := w.agent()
		ses, err := a.Create(t.Context(), "main", w.dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		source := func(p content.Payload, as content.Kind, name string) content.Source {
			return content.Source{Payload: p, Inlet: content.InletFlag, Chooser: content.ChosenByUser, As: as, Name: name}
		}
		_, err = ses.Prompt(t.Context(), prompted(
			source(content.Prose{Text: "hello"}, content.KindText, ""), source(content.Bytes{Data: png}, 0, "a.png"),
			source(content.Bytes{Data: wav}, 0, "a.wav"), source(content.Bytes{Data: []byte("text\n")}, 0, "a.txt"),
			source(content.Bytes{Data: []byte("%PDF-1.4\n%%EOF\n")}, 0, "a.pdf"), source(content.Link{URI: "https://example.org", Name: "l"}, content.KindResourceLink, ""),
			source(content.Bytes{Data: png[:60]}, content.KindImage, "broken.png"), source(content.Unknown{Type: "_w", Raw: []byte(`{"type":"_w"}`)}, content.KindOpaque, ""),
			source(content.Bytes{}, 0, "empty.png"),
		))
		if err != nil {
			t.Fatal(err)
		}
		p := w.boot(plain)
		got := p.send(request(1, "session/load", `{"sessionId":`+quote(ses.ID())+`,"cwd":`+quote(w.dir)+`,"mcpServers":[]}`))
		var types []string
		for _, c := range updates(t, got, "user_message_chunk") {
			b := wire.ParseBlock(rpc.Member([]byte(c), "content"))
			if b.Bad != nil {
				t.Errorf("%s: %v", c, b.Bad)
			}
			types = append(types, b.Type)
		}
		want(t, "blocks", strings.Join(types, " "), "text image audio resource resource resource_link image text text")
		if all := strings.Join(got, ""); !strings.Contains(all, `"data":"`+b64(png)+`"`) || !strings.Contains(all, `"data":"`+b64(wav)+`"`) || !strings.Contains(all, `"text":"text\n"`) {
			t.Errorf("bytes are missing in %.2000s", all)
		}
		p.close()
	})
}

func TestEchoSetting(t *testing.T) {
	client := func(name string) string {
		return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"` + name + `","version":"1"}}}`
	}
	for _, tt := range []struct {
		client, setting string
		want            bool
	}{
		{"other", "", true}, {"other", "auto", true}, {"Zed", "auto", false}, {"paseo", "", false}, {"zed", acp.EchoOn, true}, {"other", acp.EchoOff, false},
	} {
		in(t, func(w *world) {
			t := w.t
			w.work.Settings.Echo = tt.setting
			p := w.boot(client(tt.client))
			got := p.send(prompt(1, p.open(w), text("a")))
			if (len(updates(t, got, "user_message_chunk")) == 1) != tt.want {
				t.Errorf("%s with %q: %q", tt.client, tt.setting, got)
			}
			p.close()
		})
	}
}

func TestUnknownBlocksRejected(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		w.work.Settings.UnknownBlocks = acp.UnknownReject
		p := w.boot(plain)
		id := p.open(w)
		want(t, "reply", reply(t, p.send(prompt(1, id, text("a"), `{"type":"video"}`)), 1),
			`error {"code":-32602,"message":"prompt[1] is a block of the unknown kind \"video\"","data":{"index":1,"supported":["text","image","audio","resource","resource_link"]}}`)
		want(t, "no type", reply(t, p.send(prompt(2, id, `{"text":"a"}`)), 2),
			`error {"code":-32602,"message":"prompt[0] is not a content block: it has no type","data":{"index":0}}`)
		p.close()
	})
}

// TestHugeEcho sends a block that is too long to be sent back.
func TestHugeEcho(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		w.maxLine = 64 << 20
		p := w.boot(plain)
		id := p.open(w)
		got := p.send(prompt(1, id, text("a"), `{"type":"image","mimeType":"image/png","data":"`+strings.Repeat("A", 31<<20)+`"}`))
		echo := updates(t, got, "user_message_chunk")
		if len(echo) != 2 || !strings.Contains(echo[1], `bytes: too long to be sent back, the limit is 31457280]`) {
			t.Errorf("echo: %.500q", echo)
		}
		want(t, "stop", stop(t, got, 1), "end_turn")
		p.close()
	})
}

func TestOverLimitLine(t *testing.T) {
	in(t, func(w *world) {
		t := w.t
		w.maxLine = 5000
		p := w.boot(noticed)
		id := p.open(w)
		got := p.send(prompt(1, id, text(strings.Repeat("x", 6000))))
		if r := reply(t, got, 1); !strings.Contains(r, `"code":-32600`) || !strings.Contains(r, `"limitBytes":5000`) {
			t.Errorf("reply: %s", r)
		}
		if n := updates(t, got, "notice"); len(n) != 1 || !strings.Contains(n[0], "session/prompt had 6") || !strings.Contains(n[0], "the limit is 5000") {
			t.Errorf("notices: %q", n)
		}
		want(t, "next", stop(t, p.send(prompt(2, id, text("b"))), 2), "end_turn")
		p.close()
	})
}
