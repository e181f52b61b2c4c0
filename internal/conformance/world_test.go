package conformance_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/app"
	"tote/internal/config"
	"tote/internal/content"
	"tote/internal/front/acp"
	"tote/internal/front/acp/rpc"
	acpwire "tote/internal/front/acp/wire"
	"tote/internal/history"
)

// world is a home and a working folder on the disk.
type world struct {
	t         *testing.T
	home, cwd string
}

// newWorld makes a world with a user's configuration, "" for none.
func newWorld(t *testing.T, configuration string) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, home: filepath.Join(dir, "home"), cwd: filepath.Join(dir, "work")}
	for _, d := range []string{filepath.Join(w.home, "config"), w.cwd} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if configuration != "" {
		if err := os.WriteFile(filepath.Join(w.home, "config", "config.json"), []byte(configuration), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// file writes a file into the working folder and returns its name there.
func (w *world) file(name string, data []byte) string {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.cwd, name), data, 0o600); err != nil {
		w.t.Fatal(err)
	}
	return name
}

// process is the program from its start to its end.
type process struct {
	*world
	app       *app.App
	workspace *app.Workspace
}

func (w *world) start() *process {
	w.t.Helper()
	a, err := app.Open(app.Options{
		Config: config.Options{Home: w.home, Env: awsEnv}, Version: "test", Now: time.Now,
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

func (p *process) stop() {
	p.t.Helper()
	if err := p.app.Close(); err != nil {
		p.t.Error(err)
	}
}

func (p *process) create() *agent.Session {
	p.t.Helper()
	name, err := p.workspace.DefaultAgent()
	if err != nil {
		p.t.Fatal(err)
	}
	s, err := p.workspace.Agent().Create(p.t.Context(), name, p.cwd, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

func (p *process) open(id string) *agent.Session {
	p.t.Helper()
	s, err := p.workspace.Agent().Open(p.t.Context(), id, "", "", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// prompt runs a turn, which has to be answered.
func (p *process) prompt(s *agent.Session, sources ...content.Source) *agenttest.Front {
	p.t.Helper()
	f := &agenttest.Front{Answer: func(context.Context, agent.Question) (agent.Permit, error) { return agent.PermitOnce, nil }}
	res, err := s.Prompt(p.t.Context(), agent.Prompt{Sources: sources, Front: f})
	if err != nil {
		p.t.Fatalf("prompt: %v", err)
	}
	if res.Stop != content.StopEndTurn || f.Shown() == "" {
		p.t.Fatalf("the turn ended with %v and %q", res.Stop, f.Shown())
	}
	return f
}

// database is the path of the record of sessions.
func (w *world) database() string { return filepath.Join(w.home, "data", "history.db") }

// prose is what a user writes.
func prose(text string) content.Source {
	return content.Source{Payload: content.Prose{Text: text}, Inlet: content.InletPrompt, Chooser: content.ChosenByUser, As: content.KindText}
}

// flagged is a file that a user names.
func flagged(name string) content.Source {
	return content.Source{Payload: content.Path{Path: name}, Inlet: content.InletFlag, Chooser: content.ChosenByUser}
}

// host serves editors from a process.
type host struct{ p *process }

var _ acp.Host = host{}

func (h host) Workspace(ctx context.Context, cwd string) (acp.Workspace, error) {
	w, err := h.p.app.Workspace(ctx, cwd)
	if err != nil {
		return acp.Workspace{}, err
	}
	name, err := w.DefaultAgent()
	if err != nil {
		return acp.Workspace{}, err
	}
	return acp.Workspace{
		Agent: w.Agent(), Default: name, Settings: acp.Settings{Echo: acp.EchoOn},
		Choices: func(context.Context) ([]acp.Choice, error) { return []acp.Choice{{Name: name}}, nil },
	}, nil
}

func (h host) List(context.Context, string, string) ([]agent.Stored, string, error) {
	return nil, "", nil
}

func (h host) Delete(ctx context.Context, id string) error { return h.p.app.DeleteSession(ctx, id) }

func (h host) Stored(ctx context.Context, id string) (agent.Stored, error) {
	db, err := h.p.app.History(ctx)
	if err != nil {
		return agent.Stored{}, err
	}
	s, err := db.Session(ctx, id)
	if errors.Is(err, history.ErrNotFound) {
		return agent.Stored{}, fmt.Errorf("%w: %w", acp.ErrNoSession, err)
	}
	return app.ToStored(s), err
}

// editor is a client of the protocol, connected to a process.
type editor struct {
	t    *testing.T
	to   *io.PipeWriter
	from *bufio.Reader
	done chan error
	next int
}

// edit connects an editor to a process. It leaves with the test at the latest.
func (p *process) edit() *editor {
	p.t.Helper()
	in, to := io.Pipe()
	from, out := io.Pipe()
	e := &editor{t: p.t, to: to, from: bufio.NewReader(from), done: make(chan error, 1)}
	// Ends when the editor leaves, which closes the input.
	go func() {
		err := acp.Serve(p.t.Context(), in, out, acp.Options{Host: host{p}, Now: time.Now})
		_ = out.CloseWithError(io.EOF) // never fails
		e.done <- err
	}()
	e.call("initialize", `{"protocolVersion":1,"clientCapabilities":{}}`)
	return e
}

// call sends a request and returns what came before its answer, and its result.
// Questions are not answered here, so they count as denied.
func (e *editor) call(method, params string) (updates [][]byte, result []byte) {
	e.t.Helper()
	e.next++
	id := strconv.Itoa(e.next)
	if _, err := io.WriteString(e.to, `{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`","params":`+params+"}\n"); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
	for {
		line, err := e.from.ReadBytes('\n')
		if err != nil {
			e.t.Fatalf("%s: %v", method, err)
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		switch from := rpc.Member(line, "id"); {
		case len(from) == 0:
			updates = append(updates, rpc.Member(rpc.Member(line, "params"), "update"))
		case len(rpc.Member(line, "method")) > 0:
			if _, err := io.WriteString(e.to, `{"jsonrpc":"2.0","id":`+string(from)+`,"error":{"code":-32601,"message":"no"}}`+"\n"); err != nil {
				e.t.Fatalf("%s: %v", method, err)
			}
		case string(from) == id:
			if fault := rpc.Member(line, "error"); len(fault) > 0 {
				e.t.Fatalf("%s: %s", method, fault)
			}
			return updates, rpc.Member(line, "result")
		}
	}
}

// leave ends the connection.
func (e *editor) leave() {
	e.t.Helper()
	_ = e.to.Close()                   // a pipe never fails to close
	_, _ = io.Copy(io.Discard, e.from) // what is said to one who left
	if err := <-e.done; err != nil {
		e.t.Errorf("serve: %v", err)
	}
}

// userBlocks are the blocks that updates show as the user's own, byte for byte.
func userBlocks(updates [][]byte) [][]byte {
	var out [][]byte
	for _, u := range updates {
		if rpc.Unquote(rpc.Member(u, "sessionUpdate")) == acpwire.UpdateUserMessage {
			out = append(out, rpc.Member(u, "content"))
		}
	}
	return out
}
