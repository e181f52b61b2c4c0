package headless_test

import (
	"bytes"
	"strings"
	"testing"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/front/headless"
	"tote/internal/permission"
	"tote/internal/tool"
)

// TestRemedy names a mode where nobody could be asked, and only one that would have
// permitted the call.
func TestRemedy(t *testing.T) {
	t.Parallel()
	edit := permission.Request{Action: permission.Write, Path: "/p/a", Inside: true}
	for name, c := range map[string]struct {
		wants permission.Request
		ask   []permission.Rule
		want  string
	}{
		"an edit":     {edit, nil, "(--mode edits, --mode full, or a rule under permissions.allow, permits it)"},
		"outside":     {permission.Request{Action: permission.Write, Path: "/p/a"}, nil, "(--mode full, or a rule under permissions.allow, permits it)"},
		"a rule asks": {edit, []permission.Rule{{Tool: "danger"}}, ""},
	} {
		b := agenttest.New(t, agenttest.Options{
			Tools:  []tool.Tool{agenttest.Tool{Name: "danger", Wants: c.wants}},
			Policy: agent.Policy{Rules: permission.Rules{Ask: c.ask}},
			Script: replies(agenttest.Reply{agenttest.Call("c", "danger", "{}")}, agenttest.Reply{agenttest.Say("done")}),
		})
		var out, errs bytes.Buffer
		headless.Run(t.Context(), headless.Turn{Session: b.Session, Sources: b.Sources("go")}, headless.Streams{Out: &out, Err: &errs})
		got := errs.String()
		if !strings.Contains(got, "no terminal to ask at") || !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, "--mode") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
