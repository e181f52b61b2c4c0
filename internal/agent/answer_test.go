package agent_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

func thought(text, signature string) agenttest.Act {
	return agenttest.Emit{Event: provider.Thought{Reasoning: content.Reasoning{Text: text, Signature: signature, Path: "test"}}}
}

func signedCall(id, name, signature string) agenttest.Act {
	return agenttest.Emit{Event: provider.Call{Call: content.ToolCall{ID: id, Name: name, Arguments: "{}", Signature: signature, Path: "test"}}}
}

// answered is the message that was recorded as the answer of the first turn.
func answered(b *agenttest.Bench) []content.Part {
	return b.Disk.Turns(b.Session.ID())[0].Messages[1].Parts
}

// The parts of an answer are kept and sent back in the order in which they came.
func TestAnswerKeepsItsOrder(t *testing.T) {
	reasoning := func(text, signature string) content.Part {
		return content.Reasoning{Text: text, Signature: signature, Path: "test"}
	}
	call := content.ToolCall{ID: "c1", Name: "list", Arguments: "{}", Signature: "s1", Path: "test"}
	tests := map[string]struct {
		reply agenttest.Reply
		want  []content.Part
	}{
		"interleaved": {
			agenttest.Reply{
				agenttest.Think("a"), agenttest.Think("b"), thought("ab", "1"), agenttest.Say("x"), agenttest.Say("y"),
				signedCall("c1", "list", "s1"), agenttest.Think("c"), thought("c", "2"), agenttest.Say("z"),
			},
			[]content.Part{reasoning("ab", "1"), content.Text{Body: "xy"}, call, reasoning("c", "2"), content.Text{Body: "z"}},
		},
		"thinking that is closed at the end": {
			agenttest.Reply{
				agenttest.Think("a"), agenttest.Say("x"), agenttest.Think("b"), agenttest.Say("y"), thought("ab", "f"), signedCall("c1", "list", "s1"),
			},
			[]content.Part{reasoning("ab", "f"), content.Text{Body: "xy"}, call},
		},
		"a thought that nobody saw coming": {
			agenttest.Reply{agenttest.Say("x"), thought("a", "1"), agenttest.Say("y")},
			[]content.Part{content.Text{Body: "x"}, reasoning("a", "1"), content.Text{Body: "y"}},
		},
		"signatures alone": {
			agenttest.Reply{thought("", "1"), agenttest.Think("a"), thought("a", "2"), thought("", "3"), agenttest.Say("x")},
			[]content.Part{reasoning("", "1"), reasoning("a", "2"), reasoning("", "3"), content.Text{Body: "x"}},
		},
		"thinking that is never closed": {
			agenttest.Reply{agenttest.Think("a"), agenttest.Say("x")},
			[]content.Part{content.Reasoning{Text: "a"}, content.Text{Body: "x"}},
		},
		"nothing that is empty": {
			agenttest.Reply{agenttest.Say(""), agenttest.Think(""), agenttest.Say("x"), agenttest.Say("")},
			[]content.Part{content.Text{Body: "x"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(tt.reply)})
			b.Must(t.Context(), "go")
			if diff := cmp.Diff(tt.want, answered(b)); diff != "" {
				t.Errorf("recorded (-want +got):\n%s", diff)
			}
			b.Must(t.Context(), "next")
			b.Restart()
			b.Must(t.Context(), "after a restart")
			if breaks := prefixes(b.Provider.Requests()); breaks != nil {
				t.Errorf("the prefix changed at requests %v", breaks)
			}
			consistent(t, b.Disk.Turns(b.Session.ID()))
		})
	}
}

// What is signed goes back with its signature, at its place, also when older
// turns have been left out.
func TestSignaturesGoBack(t *testing.T) {
	p := agenttest.Sees(agenttest.Endpoint)
	p.Context = 8_000
	n := 0
	b := agenttest.New(t, agenttest.Options{Profile: p, Script: func(i int, _ agenttest.Received) agenttest.Reply {
		if n++; n%2 == 1 {
			return agenttest.Reply{thought("t", "sig-t"), signedCall("c", "list", "sig-c"), agenttest.Say("x")}
		}
		return agenttest.Reply{agenttest.Say(strings.Repeat("well ", 100))}
	}})
	for i := 0; leftOutNotices(b.Front) == 0; i++ {
		b.Must(t.Context(), strings.Repeat("word ", 200))
	}
	body := b.Last().Body
	contains(t, body, leftOutText, `reasoning "t" signed sig-t`+"\n"+`call c list "{}" signed sig-c`+"\n"+`text "x"`)
}

// An answer that breaks off keeps its text as one, and none of its calls.
func TestBrokenAnswerKeepsNoCalls(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(agenttest.Reply{
		agenttest.Say("one "), agenttest.Call("c1", "list", "{}"), agenttest.Say("two"), agenttest.Cut{},
	})})
	if _, err := b.Prompt(t.Context(), "go"); err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff([]content.Part{content.Text{Body: "one two"}}, answered(b)); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	b.Must(t.Context(), "again")
}

// Only calls arrived, then the line broke: there is nothing to record.
func TestBrokenCallsLeaveNothing(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(agenttest.Reply{agenttest.Call("c1", "list", "{}"), agenttest.Cut{}})})
	if _, err := b.Prompt(t.Context(), "go"); err == nil {
		t.Fatal("no error")
	}
	if n := len(b.Disk.Turns(b.Session.ID())[0].Messages); n != 1 {
		t.Errorf("%d messages", n)
	}
	b.Must(t.Context(), "again")
}

// The draft holds all text so far, whatever stands between.
func TestDraftJoinsText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(agenttest.Reply{
			agenttest.Say("one "), agenttest.Think("hm"), thought("hm", "s"), agenttest.Say("two"), agenttest.Wait(3 * time.Second),
		})})
		r := b.Must(t.Context(), "go")
		if diff := cmp.Diff([]string{"one two"}, b.Disk.Drafts(b.Session.ID(), r.Turn)); diff != "" {
			t.Errorf("drafts (-want +got):\n%s", diff)
		}
	})
}

// An answer that was withdrawn and is taken after all is shown again in its order.
func TestTakenAnswerIsShownInItsOrder(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{Script: agenttest.Replies(
		agenttest.Reply{agenttest.Think("a"), thought("a", "1"), agenttest.Say("x"), agenttest.Think("b"), thought("b", "2"), agenttest.Say("y"), agenttest.Seen(0)},
		agenttest.Reply{agenttest.Failing(delivery.FailServer, 500, "gone")},
	)})
	b.Must(t.Context(), agenttest.PNG(9, 9, 1))
	lines := strings.Join(b.Front.Lines(), "|")
	_, after, _ := strings.Cut(lines, "taking the earlier answer")
	contains(t, after, "thought a|text x|thought b|text y")
	if got := len(answered(b)); got != 4 {
		t.Errorf("%d parts are recorded", got)
	}
}
