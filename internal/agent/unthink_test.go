package agent_test

import (
	"strings"
	"testing"

	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// A backend that does not take a model's thinking back costs one sending, once in
// a session: it is sent without from then on.
func TestThinkingThatIsNotTakenBack(t *testing.T) {
	refusal := provider.Rejection(400, []byte(`{"error":{"message":"The encrypted content could not be verified.","code":"invalid_encrypted_content"}}`))
	b := agenttest.New(t, agenttest.Options{Script: func(n int, r agenttest.Received) agenttest.Reply {
		if strings.Contains(r.Body, "reasoning ") {
			return agenttest.Reply{agenttest.Fail{Err: refusal}}
		}
		if n > 0 {
			return agenttest.Reply{agenttest.Say("ok")}
		}
		return agenttest.Reply{
			agenttest.Emit{Event: provider.Thought{Reasoning: content.Reasoning{Text: "hm", Signature: "sealed", Path: "test"}}},
			agenttest.Say("ok"),
		}
	}})
	picture := agenttest.PNG(20, 20, 1)
	b.Must(t.Context(), "look", picture)
	b.Front.Forget()
	b.Must(t.Context(), "and now?")
	if got := b.Front.Shown(); got != "ok" {
		t.Errorf("shown %q", got)
	}
	if n := len(b.Provider.Requests()); n != 3 {
		t.Errorf("%d requests, want one, a refused one and one without", n)
	}
	if !noticed(b.Front, "does not take back the model's earlier thinking") {
		t.Errorf("notices = %v", b.Front.Notices())
	}
	b.Must(t.Context(), "and then?")
	all := b.Provider.Requests()
	if len(all) != 4 || len(all[3].Media) != 1 {
		t.Errorf("%d requests in all, %d media in the last", len(all), len(all[3].Media))
	}
	if n := b.Disk.Learned(agenttest.Endpoint); n != 0 {
		t.Errorf("%d things were learned", n)
	}
}

// A profile that sends none back has nothing to leave out: the error is shown.
func TestThinkingThatWasNotSent(t *testing.T) {
	refusal := provider.Rejection(400, []byte(`{"error":{"message":"Thought signature is not valid."}}`))
	p := agenttest.Sees(agenttest.Endpoint)
	p.Placement = delivery.Placement{NoReasoning: true}
	b := agenttest.New(t, agenttest.Options{Profile: p, Script: func(int, agenttest.Received) agenttest.Reply {
		return agenttest.Reply{agenttest.Fail{Err: refusal}}
	}})
	if _, err := b.Prompt(t.Context(), "hello"); err == nil || len(b.Provider.Requests()) != 1 {
		t.Errorf("%v after %d requests", err, len(b.Provider.Requests()))
	}
}
