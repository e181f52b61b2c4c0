package conformance_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"tote/internal/content"
)

// role is an agent of a configuration with several backends: its name, and what
// the configuration says of its provider, "" for a program's, and of itself.
type role struct{ name, provider, agent string }

// plays makes an agent of the model called name at a rig. more is further members
// of the agent, after a comma.
func (r *rig) plays(name, vision, more string) role {
	return r.within(name, vision, "", more)
}

// within is plays with limits of the provider.
func (r *rig) within(name, vision, limits, more string) role {
	return role{
		name: name, provider: fmt.Sprintf(`"at-%s":{"kind":%q,"base_url":%q,"max_retries":0,"limits":{%s}}`, name, r.kind, r.url+r.base, limits),
		agent: fmt.Sprintf(`"provider":"at-%s","model":%q,"vision":%s%s`, name, name, vision, more),
	}
}

// plays makes an agent of the far end of a path. There is one of them in a
// configuration.
func (f far) plays(name, vision, more string) role {
	return role{name: name, provider: f.provider, agent: f.agent + `,"vision":` + vision + more}
}

// cast spells a configuration whose first agent is the default. more is members of
// the whole, after a comma.
func cast(more string, list ...role) string {
	var providers, agents []string
	for _, r := range list {
		if r.provider != "" {
			providers = append(providers, r.provider)
		}
		agents = append(agents, fmt.Sprintf("%q:{%s}", r.name, r.agent))
	}
	return fmt.Sprintf(`{"probe":"never","providers":{%s},"agents":{%s},"default_agent":%q%s}`,
		strings.Join(providers, ","), strings.Join(agents, ","), list[0].name, more)
}

// wires are the requests for a model as its server reads them. Base64 in text
// fails.
func (r *rig) wires(t *testing.T, model string) []wire {
	t.Helper()
	var out []wire
	for i, l := range r.got(model) {
		w, err := adapters[r.kind].read(l.body)
		if err != nil {
			t.Fatalf("%s, request %d: %v", model, i, err)
		}
		out = append(out, w)
	}
	return out
}

// given is a picture as it was handed over, with the label that it has to have.
type given struct {
	handle content.Handle
	data   []byte
}

// holdsExactly checks that a request holds these pictures and no others, in order,
// each under its label.
func holdsExactly(t *testing.T, who string, w wire, want ...given) {
	t.Helper()
	if len(w.media) != len(want) {
		t.Errorf("%s: %d media, want %d: %.600q", who, len(w.media), len(want), w.flat)
		return
	}
	at := -1
	for i, g := range want {
		_, l, _ := locate(w.flat, g.handle)
		if l.at <= at {
			t.Errorf("%s: the label of %s is at %d, that before it at %d: %.600q", who, g.handle, l.at, at, w.flat)
		}
		at = l.at
		if !bytes.Equal(w.media[i].data, g.data) {
			t.Errorf("%s: medium %d is not the picture of %s", who, i, g.handle)
		}
		if rest := strings.TrimPrefix(l.rest, "\n"); w.boxAt(l.at) == nil && !strings.HasPrefix(rest, mark(i)) {
			t.Errorf("%s: behind the label of %s stands %.80q", who, g.handle, rest)
		}
	}
}

// stub is the line that stands for a block, without its brackets.
func (w *wire) stub(h content.Handle) string {
	_, l, _ := locate(w.flat, h)
	if l.at < 0 {
		return ""
	}
	line, _, _ := strings.Cut(w.flat[l.at:], "\n")
	return line
}
