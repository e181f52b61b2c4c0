package conformance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/provider/providertest"
)

// hookArg makes the test binary a command of the user's that allows everything.
const hookArg = "conformance-hook"

// playHook answers an event.
func playHook() { fmt.Println(`{"decision":"allow","reason":"the hook says so"}`) }

// TestPlanMode: in plan mode nothing is changed, run or called, whatever a hook or a
// rule says. What only looks still works.
func TestPlanMode(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"configured", "set in the session"} {
		for _, g := range tongues() {
			if !tried(g.kind) {
				continue
			}
			t.Run(how+"/"+g.kind, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, g)
				member, folder := mcpConfig(t)
				mode := "plan"
				if how != "configured" {
					mode = "full"
				}
				member += fmt.Sprintf(`,"permissions":{"mode":%q,"allow":["write","edit","bash","mcp__shop__mixed","task","job"]},"hooks":{"pre_tool":[{"command":[%s,%q]}]}`, mode, spell(exe), hookArg)
				w := newWorld(t, cast(member, r.plays("main", "true", "")))
				old := w.file("old.txt", []byte("as it was\n"))
				planned(r)
				p := w.start()
				defer p.stop()
				s := p.with("main")
				if how != "configured" {
					s.SetMode(permission.ModePlan)
				}
				f := p.prompt(s, prose("do it all"))
				ended := map[string]bool{}
				for _, e := range f.Events() {
					if end, ok := e.(agent.ToolFinished); ok {
						ended[end.Call.ID] = true
						if reads := end.Call.Name == "read"; end.IsError == reads {
							t.Errorf("%s: error %v: %s", end.Call.Name, end.IsError, content.Compact(end.Blocks))
						}
					}
				}
				if len(ended) != 5 || len(f.Questions()) != 0 {
					t.Errorf("%d calls ended, %d questions were asked", len(ended), len(f.Questions()))
				}
				unchanged(t, w, folder, old)
			})
		}
	}
}

// planned has the model try everything.
func planned(r *rig) {
	r.on("main", func(n int, _ letter) providertest.Reply {
		calls := []content.ToolCall{
			{ID: "call-1", Name: "write", Arguments: `{"path":"new.txt","content":"x"}`},
			{ID: "call-2", Name: "bash", Arguments: `{"command":"echo x > ran.txt"}`},
			{ID: "call-3", Name: mcpMixed, Arguments: `{}`},
			{ID: "call-4", Name: "edit", Arguments: `{"path":"old.txt","old_string":"as","new_string":"not as"}`},
			{ID: "call-5", Name: "read", Arguments: `{"path":"old.txt"}`},
		}
		if n < len(calls) {
			return r.calls(calls[n])
		}
		return nil
	})
}

// unchanged checks that nothing was done.
func unchanged(t *testing.T, w *world, folder, old string) {
	t.Helper()
	for _, name := range []string{"new.txt", "ran.txt"} {
		if _, err := os.Stat(filepath.Join(w.cwd, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	data, err := os.ReadFile(filepath.Join(w.cwd, old))
	if err != nil || !strings.HasPrefix(string(data), "as it was") {
		t.Errorf("%s is %q, %v", old, data, err)
	}
	if called, err := os.ReadDir(folder); err != nil || len(called) > 0 {
		t.Errorf("the MCP server was called: %v, %v", called, err)
	}
}
