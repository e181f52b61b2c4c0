package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"tote/internal/agent"
	"tote/internal/delivery"
	"tote/internal/provider"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		kind string
		hint string // a part of it
	}{
		"strict":      {fmt.Errorf("run: %w", agent.ErrStrict), "strict", "strict"},
		"empty":       {agent.ErrEmpty, "empty", "prompt"},
		"closed":      {agent.ErrClosed, "closed", ""},
		"request":     {&provider.Error{Failure: delivery.Failure{Kind: delivery.FailAuth, Status: 401}, Hint: "check the key"}, "auth", "check the key"},
		"cut":         {&provider.Error{Failure: delivery.Failure{Kind: delivery.FailStream}}, "stream", "what had arrived is kept"},
		"time":        {fmt.Errorf("look: %w", context.DeadlineExceeded), "timeout", "more time"},
		"stopped":     {context.Canceled, "cancelled", ""},
		"full":        {fmt.Errorf("store: %w", &fs.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC}), "storage", "make room"},
		"full, words": {errors.New("history.db: no space left: database or disk is full (13)"), "storage", "make room"},
		"closed file": {fmt.Errorf("store: %w", &fs.PathError{Op: "open", Path: "/x/y", Err: fs.ErrPermission}), "storage", "/x/y"},
		"any other":   {errors.New("one\ntwo"), "failed", ""},
	} {
		kind, message, hint := agent.Explain(c.err)
		if kind != c.kind || message == "" || !strings.Contains(hint, c.hint) || c.hint == "" && hint != "" {
			t.Errorf("%s: %q, %q, %q", name, kind, message, hint)
		}
	}
	for _, k := range delivery.Failures() {
		if kind, _, _ := agent.Explain(&provider.Error{Failure: delivery.Failure{Kind: k}}); kind != k.String() {
			t.Errorf("%s is explained as %q", k, kind)
		}
	}
}
