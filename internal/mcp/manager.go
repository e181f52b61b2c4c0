package mcp

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tote/internal/content"
	"tote/internal/tool"
)

// Manager holds the servers of all scopes. All methods may be called from several
// goroutines.
type Manager struct {
	o *Options

	mu     sync.Mutex
	scopes map[string]map[string]*member
	ending sync.WaitGroup // members that are being closed
	closed bool
}

// New makes a manager. It starts nothing. The caller calls Close.
func New(o Options) *Manager {
	return &Manager{o: withDefaults(o), scopes: map[string]map[string]*member{}}
}

// members brings the scopes up to date and returns their servers, sorted by name.
// A server that is configured differently than before, or not any more, is closed.
// Of two servers of one name that of the later scope is taken.
func (mgr *Manager) members(scopes []Scope) []*member {
	mgr.mu.Lock()
	defer mgr.mu.Unlock()
	if mgr.closed {
		return nil
	}
	byName := map[string]*member{}
	for _, sc := range scopes {
		have := mgr.scopes[sc.ID]
		want := map[string]*member{}
		for _, s := range sc.Servers {
			m := have[s.Name]
			if m == nil || m.dir != sc.Dir || !reflect.DeepEqual(m.server, s) {
				m = newMember(mgr.o, sc, s)
			}
			want[s.Name], byName[s.Name] = m, m
		}
		mgr.scopes[sc.ID] = want
		for name, m := range have {
			if want[name] != m {
				// Ends when the server is gone, which takes a few seconds at most.
				mgr.ending.Go(m.close)
			}
		}
	}
	out := make([]*member, 0, len(byName))
	for _, name := range sortedKeys(byName) {
		out = append(out, byName[name])
	}
	return out
}

// turn makes the servers of the scopes ready, side by side, and returns what each
// offers. wait is how long a server that starts is waited for.
func (mgr *Manager) turn(ctx context.Context, scopes []Scope, wait func(*member) time.Duration) ([]*member, []offers, []Problem) {
	ms := mgr.members(scopes)
	got, problems := make([]offers, len(ms)), make([]*Problem, len(ms))
	var wg sync.WaitGroup
	for i, m := range ms {
		// Ends with ctx, or when it has waited long enough.
		wg.Go(func() { got[i], problems[i] = m.turn(ctx, wait(m)) })
	}
	wg.Wait()
	var out []Problem
	for _, p := range problems {
		if p != nil {
			out = append(out, *p)
		}
	}
	return ms, got, out
}

// Tools starts the servers of the scopes where they do not run, and returns what
// they offer, sorted by name. A server that is slow, failed or wants a login is a
// problem; its tools come with a later turn. The list is to be kept for a turn:
// what servers change meanwhile comes with the next one.
//
// It waits for servers that start for Options.TurnWait, all of them together, and
// longer only for those with a StartTimeout of their own.
func (mgr *Manager) Tools(ctx context.Context, scopes ...Scope) ([]tool.Tool, []Problem) {
	return mgr.tools(ctx, scopes, (*member).patience)
}

// Await is Tools for who wants to know how the servers are: it waits until all have
// started or failed.
func (mgr *Manager) Await(ctx context.Context, scopes ...Scope) ([]tool.Tool, []Problem) {
	return mgr.tools(ctx, scopes, (*member).longest)
}

func (mgr *Manager) tools(ctx context.Context, scopes []Scope, wait func(*member) time.Duration) ([]tool.Tool, []Problem) {
	ms, got, problems := mgr.turn(ctx, scopes, wait)
	var refs []ref
	var all []*remote
	var readers []*member
	left := room{maxAllTools, maxAllBytes}
	for i, m := range ms {
		list, crowd := m.bounded(got[i], &left)
		if crowd != nil {
			problems = append(problems, *crowd)
		}
		for _, t := range list {
			refs = append(refs, ref{m.server.Name, t.name})
			all = append(all, &remote{m: m, it: t})
		}
		if got[i].reads {
			readers = append(readers, m)
		}
	}
	out := make([]tool.Tool, 0, len(all)+2)
	for i, name := range toolNames(refs) {
		all[i].name = name
		out = append(out, all[i])
	}
	if len(readers) > 0 {
		out = append(out, resourceList{readers}, resourceRead{readers})
	}
	slices.SortFunc(out, func(a, b tool.Tool) int { return strings.Compare(a.Spec().Name, b.Spec().Name) })
	return out, problems
}

// Prompts lists the prompts that the servers of the scopes offer.
func (mgr *Manager) Prompts(ctx context.Context, scopes ...Scope) ([]Prompt, []Problem) {
	ms, got, problems := mgr.turn(ctx, scopes, (*member).patience)
	var out []Prompt
	for i, m := range ms {
		for _, p := range got[i].prompts {
			p.Server = m.server.Name
			out = append(out, p)
		}
	}
	return out, problems
}

// Prompt gets a prompt of a server. Pictures and resources in it stay what they
// are.
func (mgr *Manager) Prompt(ctx context.Context, server, name string, args map[string]string, scopes ...Scope) ([]content.Source, error) {
	m, err := mgr.find(server, scopes)
	if err != nil {
		return nil, err
	}
	raw, err := m.ask(ctx, nil, func(ctx context.Context, s *mcp.ClientSession, token string) error {
		_, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args, Meta: mcp.Meta{"progressToken": token}})
		return err
	})
	if err != nil {
		return nil, err
	}
	out := newReader(oneLine(server) + " " + oneLine(name))
	if err := out.prompt(raw); err != nil {
		return nil, fmt.Errorf("the MCP server %s gave a prompt that cannot be read: %w", server, err)
	}
	return out.sources, nil
}

// Mention reads a resource that the user named, as in "@server:uri".
func (mgr *Manager) Mention(ctx context.Context, server, uri string, scopes ...Scope) ([]content.Source, error) {
	m, err := mgr.find(server, scopes)
	if err != nil {
		return nil, err
	}
	return m.read(ctx, uri, nil)
}

func (mgr *Manager) find(server string, scopes []Scope) (*member, error) {
	for _, m := range mgr.members(scopes) {
		if m.server.Name == server {
			return m, nil
		}
	}
	return nil, fmt.Errorf("there is no MCP server %q", server)
}

// Servers says how the servers of all scopes are, sorted by scope and name. It
// starts none.
func (mgr *Manager) Servers() []Status {
	mgr.mu.Lock()
	var ms []*member
	for _, sc := range mgr.scopes {
		for _, m := range sc {
			ms = append(ms, m)
		}
	}
	mgr.mu.Unlock()
	out := make([]Status, 0, len(ms))
	for _, m := range ms {
		out = append(out, m.status())
	}
	slices.SortFunc(out, func(a, b Status) int {
		return cmp.Or(strings.Compare(a.Scope, b.Scope), strings.Compare(a.Name, b.Name))
	})
	return out
}

// CloseScope ends the servers of a scope and waits for their end.
func (mgr *Manager) CloseScope(id string) {
	mgr.mu.Lock()
	ms := mgr.scopes[id]
	delete(mgr.scopes, id)
	mgr.mu.Unlock()
	var wg sync.WaitGroup
	for _, m := range ms {
		// Ends when the server is gone, which takes a few seconds at most.
		wg.Go(m.close)
	}
	wg.Wait()
}

// Close ends all servers and waits for their end. Nothing is started afterwards.
func (mgr *Manager) Close() {
	mgr.mu.Lock()
	mgr.closed = true
	ids := sortedKeys(mgr.scopes)
	mgr.mu.Unlock()
	var wg sync.WaitGroup
	for _, id := range ids {
		// Ends with the servers of the scope.
		wg.Go(func() { mgr.CloseScope(id) })
	}
	wg.Wait()
	mgr.ending.Wait()
}
