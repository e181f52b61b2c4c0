package wire

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tote/internal/front/acp/rpc"
)

// MethodRequestPermission is the call that asks the user.
const MethodRequestPermission = "session/request_permission"

// Kinds of permission options, a closed set in version 1.
const (
	AllowOnce   = "allow_once"
	AllowAlways = "allow_always"
	RejectOnce  = "reject_once"
)

// PermissionParams ask the user whether a tool may do something. There is at least
// one option, and the tool call has been announced before.
type PermissionParams struct {
	SessionID string             `json:"sessionId"`
	ToolCall  ToolCall           `json:"toolCall"`
	Options   []PermissionOption `json:"options"`
}

// PermissionOption is a possible answer.
type PermissionOption struct {
	OptionID string `json:"optionId"`
	Name     string `json:"name"`
	Kind     string `json:"kind"`
}

// ErrDismissed is the outcome of a permission request that was dismissed.
var ErrDismissed = errors.New("the client dismissed the permission request")

// RequestPermission asks the client, with the parameters of its version, and returns
// which of the options was chosen. What is not one of them is no approval: a refusal
// by the client, a dismissal and an outcome that we do not know are errors.
func RequestPermission(ctx context.Context, c *rpc.Conn, params any, options []PermissionOption) (PermissionOption, error) {
	raw, err := c.Call(ctx, MethodRequestPermission, params)
	if err != nil {
		return PermissionOption{}, fmt.Errorf("ask for permission: %w", err)
	}
	outcome := rpc.Member(raw, "outcome")
	switch rpc.Unquote(rpc.Member(outcome, "outcome")) {
	case "selected":
		chosen := rpc.Unquote(rpc.Member(outcome, "optionId"))
		i := slices.IndexFunc(options, func(o PermissionOption) bool { return o.OptionID == chosen })
		if i >= 0 {
			return options[i], nil
		}
		return PermissionOption{}, errors.New("ask for permission: the client chose an option that was not offered")
	case StopCancelled:
		return PermissionOption{}, fmt.Errorf("ask for permission: %w", ErrDismissed)
	}
	return PermissionOption{}, errors.New("ask for permission: the client's answer cannot be read")
}
