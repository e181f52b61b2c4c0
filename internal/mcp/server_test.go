package mcp_test

import (
	"testing"

	"tote/internal/mcp"
)

func TestAllowedTools(t *testing.T) {
	tests := []struct {
		allow, deny []string
		want        map[string]bool
	}{
		{nil, nil, map[string]bool{"get": true}},
		{[]string{"get_*"}, nil, map[string]bool{"get_a": true, "put_a": false}},
		{[]string{"get_*"}, []string{"get_secret"}, map[string]bool{"get_a": true, "get_secret": false}},
		{nil, []string{"*"}, map[string]bool{"get": false}},
		{[]string{"a[b"}, nil, map[string]bool{"a[b": true, "ab": false}},
	}
	for _, tt := range tests {
		s := mcp.Server{Allow: tt.allow, Deny: tt.deny}
		for name, want := range tt.want {
			if got := mcp.Offers(s, name); got != want {
				t.Errorf("allow %q, deny %q: %s offered = %v", tt.allow, tt.deny, name, got)
			}
		}
	}
}
