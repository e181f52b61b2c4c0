package acp

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// The methods of version 1 that the agent calls.
const (
	methodRequestPermission = "session/request_permission"
	methodReadTextFile      = "fs/read_text_file"
	methodWriteTextFile     = "fs/write_text_file"
)

// Kinds of permission options, a closed set in version 1.
const (
	AllowOnce    = "allow_once"
	AllowAlways  = "allow_always"
	RejectOnce   = "reject_once"
	RejectAlways = "reject_always"
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

// errNotAllowed is the outcome of a permission request that was dismissed.
var errNotAllowed = errors.New("the client dismissed the permission request")

// RequestPermission asks the client and returns the option that was chosen. What
// is not one of the options that were offered is no approval: a refusal by the
// client, a dismissal and an outcome that we do not know are errors.
func (c *Conn) RequestPermission(ctx context.Context, p PermissionParams) (PermissionOption, error) {
	raw, err := c.Call(ctx, methodRequestPermission, p)
	if err != nil {
		return PermissionOption{}, fmt.Errorf("ask for permission: %w", err)
	}
	outcome := member(raw, "outcome")
	switch unquote(member(outcome, "outcome")) {
	case "selected":
		chosen := unquote(member(outcome, "optionId"))
		i := slices.IndexFunc(p.Options, func(o PermissionOption) bool { return o.OptionID == chosen })
		if i >= 0 {
			return p.Options[i], nil
		}
		return PermissionOption{}, errors.New("ask for permission: the client chose an option that was not offered")
	case StopCancelled:
		return PermissionOption{}, fmt.Errorf("ask for permission: %w", errNotAllowed)
	}
	return PermissionOption{}, errors.New("ask for permission: the client's answer cannot be read")
}

// ReadTextFile reads a file through the client, which may hold a newer text than
// the disk does. Path is absolute.
func (c *Conn) ReadTextFile(ctx context.Context, sessionID, path string) (string, error) {
	raw, err := c.Call(ctx, methodReadTextFile, map[string]string{"sessionId": sessionID, "path": path})
	if err != nil {
		return "", fmt.Errorf("read %q through the client: %w", path, err)
	}
	text := member(raw, "content")
	if !isString(text) {
		return "", fmt.Errorf("read %q through the client: its answer has no content", path)
	}
	return unquote(text), nil
}

// WriteTextFile writes a file through the client. Path is absolute.
func (c *Conn) WriteTextFile(ctx context.Context, sessionID, path, text string) error {
	params := map[string]string{"sessionId": sessionID, "path": path, "content": text}
	if _, err := c.Call(ctx, methodWriteTextFile, params); err != nil {
		return fmt.Errorf("write %q through the client: %w", path, err)
	}
	return nil
}
