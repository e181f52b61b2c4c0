package agent_test

import (
	"strings"
	"testing"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/delivery"
	"tote/internal/tool"
)

// In a small window the tools that a model needs least are left out, which is told;
// in a large one, or one that is not known, none are.
func TestToolsFitTheWindow(t *testing.T) {
	tools := []tool.Tool{tool.Read{}, tool.List{}, tool.Edit{}, tool.Write{}, tool.Todo{}, tool.ViewImage{}}
	for window, want := range map[int]struct {
		has, lacks string
		told       bool
	}{
		0:         {"todo", "", false},
		200_000:   {"todo", "", false},
		1_000:     {"read", "todo", true},
		1_000_000: {"view_image", "", false},
	} {
		p := agenttest.Sees(agenttest.Endpoint)
		p.Context = window
		b := agenttest.New(t, agenttest.Options{Profile: p, Tools: tools})
		b.Must(t.Context(), "hi")
		body := b.Last().Body
		if !strings.Contains(body, want.has) || want.lacks != "" && strings.Contains(body, want.lacks) {
			t.Errorf("window %d: tools of\n%s", window, body)
		}
		if told := strings.Contains(b.Front.Shown()+notices(b), "are left out"); told != want.told {
			t.Errorf("window %d: told = %v", window, told)
		}
	}
}

func notices(b *agenttest.Bench) string {
	var sb strings.Builder
	for _, n := range b.Front.Notices() {
		sb.WriteString(n.Title + "\n")
	}
	return sb.String()
}

// A program has tools of its own: it is told of none of ours.
func TestRunnerIsToldOfNoTools(t *testing.T) {
	p := agenttest.Blind(agenttest.Endpoint)
	b := agenttest.New(t, agenttest.Options{
		Profile: p, Tools: []tool.Tool{tool.Read{}, tool.ViewImage{}, agenttest.Tool{Name: "look"}},
		With: func(o *agent.Options) {
			o.Directory = agenttest.Directory{{Name: "eyes", Sees: delivery.Yes}}
		},
	})
	b.Models.Set("main", agent.Model{Provider: b.Provider, Profile: p, Runner: true})
	b.Must(t.Context(), "look", agenttest.PNG(9, 9, 1))
	lacks(t, b.Last().Text, "call look", "eyes")
}
