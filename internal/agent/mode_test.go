package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"tote/internal/agent"
	"tote/internal/agent/agenttest"
	"tote/internal/permission"
)

// A chosen mode holds in the next process; one that was only set does not, and the
// model is told of the end of plan mode there too.
func TestModeIsKept(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	mode := func(want permission.Mode) {
		t.Helper()
		if got := b.Session.Mode(); got != want {
			t.Errorf("mode %v, want %v", got, want)
		}
	}
	choose := func(m permission.Mode) {
		t.Helper()
		if err := b.Session.ChooseMode(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	choose(permission.ModePlan)
	b.Must(t.Context(), "look")
	b.Restart()
	mode(permission.ModePlan)
	b.Session.SetMode(permission.ModeFull)
	mode(permission.ModeFull)
	b.Must(t.Context(), "do it")
	contains(t, b.Last().Text, "[plan mode:", "[plan mode has ended")
	b.Restart()
	mode(permission.ModePlan)
	choose(permission.ModeEdits)
	b.Restart()
	b.Must(t.Context(), "more")
	if n := strings.Count(b.Last().Text, "[plan mode has ended"); n != 1 {
		t.Errorf("the end was told %d times", n)
	}
	mode(permission.ModeEdits)
}

// What another process has chosen is taken over with the next turn, and never
// written over with what held before.
func TestModeOfAnotherProcess(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	b.Must(t.Context(), "begin")
	if err := b.Session.ChooseMode(t.Context(), permission.ModeFull); err != nil {
		t.Fatal(err)
	}
	other, err := b.Agent.Open(t.Context(), b.Session.ID(), "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.ChooseMode(t.Context(), permission.ModePlan); err != nil {
		t.Fatal(err)
	}
	b.Must(t.Context(), "go on")
	contains(t, b.Last().Text, "[plan mode:")
	b.Restart()
	if m := b.Session.Mode(); m != permission.ModePlan {
		t.Errorf("mode %v", m)
	}
}

// unwritable is a record in which sessions cannot be changed as long as err is set.
type unwritable struct {
	*agenttest.Disk
	err error
}

func (d *unwritable) UpdateSession(ctx context.Context, s agent.Stored) error {
	if d.err != nil {
		return d.err
	}
	return d.Disk.UpdateSession(ctx, s)
}

func TestModeThatCannotBeKept(t *testing.T) {
	b := agenttest.New(t, agenttest.Options{})
	b.Must(t.Context(), "begin")
	disk := &unwritable{Disk: b.Disk}
	b.With(func(o *agent.Options) { o.Sessions = disk })
	disk.err = errors.New("database or disk is full")
	err := b.Session.ChooseMode(t.Context(), permission.ModePlan)
	if err == nil || !strings.Contains(err.Error(), "mode plan holds only as long as the session is open") {
		t.Errorf("error %v", err)
	}
	disk.err = nil
	b.Must(t.Context(), "go on")
	if m := b.Session.Mode(); m != permission.ModePlan {
		t.Errorf("mode %v", m)
	}
}
