package agent_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/tool"
)

// told are checkpoints that are told what will be written.
type told struct {
	*agenttest.Checkpoints
	said []string
}

func (c *told) Expect(_ context.Context, _, _, path string, after content.Digest) error {
	c.said = append(c.said, filepath.Base(path)+" "+after.String())
	return nil
}

// A write that tote is killed in is known as its own, since it was told before.
func TestWriteIsExpected(t *testing.T) {
	points := &told{Checkpoints: &agenttest.Checkpoints{}}
	args := `{"path":"a.txt","content":"new\n"}`
	b := agenttest.New(t, agenttest.Options{
		Tools: []tool.Tool{tool.Write{}, tool.Edit{}},
		Script: agenttest.Replies(calls(agenttest.Call("c1", "write", args)),
			calls(agenttest.Call("c2", "edit", `{"path":"a.txt","edits":[{"old":"new","new":"newer"}]}`)), calls(agenttest.Say("ok"))),
		Policy: agent.Policy{Rules: permission.Rules{Mode: permission.ModeFull}},
		With:   func(o *agent.Options) { agenttest.Reduces(o); o.Checkpoints = points },
	})
	b.Must(t.Context(), "write it")
	want := []string{
		"a.txt " + content.Digest(sha256.Sum256([]byte("new\n"))).String(), "a.txt " + content.Digest(sha256.Sum256([]byte("newer\n"))).String(),
	}
	if diff := cmp.Diff(want, points.said); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// fullDisk is a record that cannot be written.
type fullDisk struct {
	*agenttest.Disk
	touch, undo error
}

func (d fullDisk) TouchSession(context.Context, string) error { return d.touch }

func (d fullDisk) UndoTurns(ctx context.Context, session, turn string) error {
	if d.undo != nil {
		return d.undo
	}
	return d.Disk.UndoTurns(ctx, session, turn)
}

// Nothing is taken back halfway where the record cannot be written, and what was
// is told.
func TestUndoOnAFullDisk(t *testing.T) {
	full := errors.New("database or disk is full")
	for name, c := range map[string]struct {
		disk     fullDisk
		want     string
		restored bool
	}{
		"before":    {fullDisk{touch: full}, "nothing was taken back: database or disk is full", false},
		"meanwhile": {fullDisk{undo: full}, "the files are put back, and the turns stay in the conversation until this is done again", true},
	} {
		t.Run(name, func(t *testing.T) {
			b := undoBench(t)
			path := b.File("a.txt", []byte("old"))
			b.Must(t.Context(), "one")
			d := c.disk
			d.Disk = b.Disk
			b.With(func(o *agent.Options) { o.Sessions, o.Reductions = d, d })
			_, err := b.Session.Undo(t.Context(), 1)
			if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, full) {
				t.Errorf("error %v", err)
			}
			if data, err := os.ReadFile(path); err != nil || string(data) == "old" != c.restored {
				t.Errorf("the file holds %q, %v", data, err)
			}
			if n := len(b.Session.Turns()); n != 1 {
				t.Errorf("%d turns", n)
			}
			d.touch, d.undo = nil, nil
			b.With(func(o *agent.Options) { o.Sessions, o.Reductions = d, d })
			if _, err := b.Session.Undo(t.Context(), 1); err != nil {
				t.Errorf("with room: %v", err)
			}
			if data, err := os.ReadFile(path); err != nil || string(data) != "old" {
				t.Errorf("with room the file holds %q, %v", data, err)
			}
		})
	}
}

// An undo of more turns than there are changes nothing and says how many there are;
// one of turns in which a command ran names the tool.
func TestUndoSaysWhat(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{
		Tools: toolsOf(agenttest.Tool{Name: "bash"}, agenttest.Tool{Name: "read"}, agenttest.Tool{Name: "mcp__s__t"}),
		Script: func(n int, _ agenttest.Received) agenttest.Reply {
			if n == 0 {
				return calls(agenttest.Call("c1", "bash", "{}"), agenttest.Call("c2", "read", "{}"), agenttest.Call("c3", "mcp__s__t", "{}"))
			}
			return calls(agenttest.Say("ok"))
		},
		With: agenttest.Reduces,
	})
	b.Must(t.Context(), "one")
	b.Must(t.Context(), "two")
	if _, err := b.Session.Undo(t.Context(), 7); err == nil || !strings.Contains(err.Error(), "only 2 turns to undo, not 7") || len(b.Session.Turns()) != 2 {
		t.Errorf("%v, %d turns", err, len(b.Session.Turns()))
	}
	got, err := b.Session.Undo(t.Context(), 2)
	if diff := cmp.Diff([]string{"bash", "mcp__s__t"}, got.Ran); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}
