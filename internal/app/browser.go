package app

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"tote/internal/auth"
	"tote/internal/mcp"
)

// browserTimeout bounds the program that opens a browser; it only hands over.
const browserTimeout = 10 * time.Second

// openURL shows an address in the user's browser. Only addresses of the web are
// opened: anything else might run a program.
func openURL(url string) error {
	if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") {
		return fmt.Errorf("open %q in a browser: it is no address of the web", url)
	}
	ctx, cancel := context.WithTimeout(context.Background(), browserTimeout)
	defer cancel()
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.CommandContext(ctx, "open", url)
	case "windows":
		cmd = exec.CommandContext(ctx, "rundll32", "url.dll,FileProtocolHandler", url)
	default:
		cmd = exec.CommandContext(ctx, "xdg-open", url)
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("open the browser: %w", err)
	}
	return nil
}

// tokens keep the logins of MCP servers beside the other keys.
type tokens struct{ keys *auth.Keys }

var _ mcp.Tokens = tokens{}

func tokenName(server string) string { return "mcp/" + server }

// Load implements mcp.Tokens.
func (t tokens) Load(server string) ([]byte, error) {
	key, err := t.keys.Get(tokenName(server))
	if isNoKey(err) {
		return nil, nil
	}
	return []byte(key), err
}

// Save implements mcp.Tokens.
func (t tokens) Save(server string, token []byte) error {
	_, err := t.keys.Set(tokenName(server), string(token))
	return err
}

// Delete implements mcp.Tokens.
func (t tokens) Delete(server string) error {
	if err := t.keys.Delete(tokenName(server)); !isNoKey(err) {
		return err
	}
	return nil
}
