package conformance_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/app"
	"tote/internal/config"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/history"
)

// bind is an agent of a rig's, whose name is that of its model.
type bind struct {
	model string
	// vision is JSON, "" for "auto".
	vision string
	// more is further members of the agent, after a comma.
	more string
}

// settings spells a configuration whose agents are all at the rig. limits are
// members of the provider's limits, more is members of the whole.
func (r *rig) settings(limits, more string, agents ...bind) string {
	list := make([]string, 0, len(agents))
	for _, a := range agents {
		if a.vision == "" {
			a.vision = `"auto"`
		}
		list = append(list, fmt.Sprintf(`%s:{"provider":"p","model":%s,"vision":%s%s}`, spell(a.model), spell(a.model), a.vision, a.more))
	}
	return fmt.Sprintf(`{"providers":{"p":{"kind":%q,"base_url":%q,"max_retries":0,"limits":{%s}}},"agents":{%s},"default_agent":%s%s}`,
		r.kind, r.url+r.base, limits, strings.Join(list, ","), spell(agents[0].model), more)
}

// launch starts the program with what AWS's library wants to know.
func (w *world) launch() *process {
	w.t.Helper()
	env := map[string]string{
		"AWS_ACCESS_KEY_ID": key.ID, "AWS_SECRET_ACCESS_KEY": key.Secret, "AWS_REGION": key.Region, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": filepath.Join(w.home, "none"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(w.home, "none"),
	}
	a, err := app.Open(app.Options{
		Config: config.Options{Home: w.home, Env: func(k string) string { return env[k] }}, Version: "test", Now: time.Now,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	p := &process{world: w, app: a}
	if p.workspace, err = a.Workspace(w.t.Context(), w.cwd); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// in is the process for a part of the test.
func (p *process) in(t *testing.T) *process {
	w := *p.world
	w.t = t
	return &process{world: &w, app: p.app, workspace: p.workspace}
}

// with begins a session on an agent.
func (p *process) with(name string) *agent.Session {
	p.t.Helper()
	s, err := p.workspace.Agent().Create(p.t.Context(), name, p.cwd, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// ask runs a turn that may fail.
func (p *process) ask(s *agent.Session, sources ...content.Source) (*agenttest.Front, agent.Result, error) {
	p.t.Helper()
	f := &agenttest.Front{}
	res, err := s.Prompt(p.t.Context(), agent.Prompt{Sources: sources, Front: f})
	return f, res, err
}

// snap writes a picture with its own bytes, small enough to pass as it is, and
// gives it back as a user names it.
func (w *world) snap(name string, width, height int, seed uint64) (content.Source, []byte) {
	w.t.Helper()
	data := agenttest.PNG(width, height, seed)
	return flagged(w.file(name, data)), data
}

// memory is what is kept of an endpoint.
type memory struct {
	Verdicts []history.Verdict
	Evidence []history.Evidence
	Limits   map[string]int64
}

// learned reads what is kept of an agent's endpoint.
func (p *process) learned(name string) memory {
	p.t.Helper()
	m, err := p.workspace.Model(p.t.Context(), name)
	if err != nil {
		p.t.Fatal(err)
	}
	db, err := p.app.History(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	var out memory
	if out.Verdicts, err = db.Verdicts(p.t.Context(), m.Profile.Endpoint, time.Now()); err != nil {
		p.t.Fatal(err)
	}
	if out.Evidence, err = db.Evidence(p.t.Context(), m.Profile.Endpoint); err != nil {
		p.t.Fatal(err)
	}
	if out.Limits, err = db.Limits(p.t.Context(), m.Profile.Endpoint); err != nil {
		p.t.Fatal(err)
	}
	return out
}

// against counts the verdicts against something.
func (m memory) against() int {
	n := 0
	for _, v := range m.Verdicts {
		if !v.Accepted {
			n++
		}
	}
	return n
}

// told are the notices that hold words.
func told(f *agenttest.Front, words string) []delivery.Notice {
	return slices.DeleteFunc(f.Notices(), func(n delivery.Notice) bool { return !strings.Contains(n.Title+": "+n.Detail, words) })
}

// voided counts the attempts of a turn that were withdrawn.
func voided(f *agenttest.Front) int {
	n := 0
	for _, e := range f.Events() {
		if _, ok := e.(agent.Voided); ok {
			n++
		}
	}
	return n
}
