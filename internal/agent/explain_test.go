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
	request := func(k delivery.FailureKind, hint string) error {
		return &provider.Error{Failure: delivery.Failure{Kind: k, Status: 401}, Message: "no key", Hint: hint}
	}
	tests := []struct {
		err        error
		kind, hint string
	}{
		{agent.ErrStrict, "strict", "receipts"},
		{agent.ErrEmpty, "empty", "prompt"},
		{agent.ErrClosed, "closed", ""},
		{request(delivery.FailAuth, "set the key"), "auth", "set the key"},
		{request(delivery.FailStream, ""), "stream", "what had arrived is kept"},
		{request(delivery.FailBilling, ""), "billing", ""},
		{context.DeadlineExceeded, "timeout", "time"},
		{context.Canceled, "cancelled", ""},
		{syscall.ENOSPC, "storage", "make room"},
		{errors.New("database or disk is full"), "storage", "make room"},
		{&fs.PathError{Op: "open", Path: "/h/tote.db", Err: fs.ErrPermission}, "storage", "/h/tote.db"},
		{errors.New("something else"), "failed", ""},
	}
	for _, tt := range tests {
		for _, err := range []error{tt.err, fmt.Errorf("run the turn: %w", tt.err)} {
			kind, message, hint := agent.Explain(err)
			if kind != tt.kind || message == "" || !strings.Contains(hint, tt.hint) || (hint == "") != (tt.hint == "") {
				t.Errorf("%v: %q, %q, %q", err, kind, message, hint)
			}
		}
	}
}
