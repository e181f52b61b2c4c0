package acp

import (
	"context"
	"errors"
	"strings"

	"tote/internal/agent"
	"tote/internal/front/acp/rpc"
)

// failure turns an error of the agent into one that the client shows: a sentence,
// and in the data what kind of failure it is and what can be done about it.
func failure(err error) error {
	if _, ok := errors.AsType[*rpc.Error](err); ok {
		return err
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, rpc.ErrClosed):
		return err
	case errors.Is(err, ErrNoSession), errors.Is(err, agent.ErrClosed):
		return rpc.Errorf(rpc.CodeNotFound, "session not found")
	}
	if errors.Is(err, ErrFolder) {
		return rpc.Errorf(rpc.CodeInvalidParams, "%s", rpc.Clip(err.Error(), 500))
	}
	kind, message, hint := agent.Explain(err)
	data := struct {
		Kind string `json:"kind"`
		Hint string `json:"hint,omitempty"`
	}{kind, hint}
	text := rpc.Clip(strings.Join(strings.Fields(message), " "), 500)
	if data.Hint != "" {
		text += "; " + data.Hint
	}
	return rpc.Errorf(rpc.CodeInternal, "%s", text).WithData(data)
}
