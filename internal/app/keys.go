package app

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"tote/internal/auth"
	"tote/internal/config"
)

// Keys are the kept keys.
func (a *App) Keys() *auth.Keys {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.keys == nil {
		a.keys = auth.Open(a.KeyFile(), a.o.Keyring)
	}
	return a.keys
}

// KeyFile is where keys are kept that no keyring takes.
func (a *App) KeyFile() string { return filepath.Join(a.dirs.Config, "keys.json") }

// Copilot logs in to GitHub Copilot and exchanges its logins.
func (a *App) Copilot() *auth.Copilot {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.copilot == nil {
		env := a.env()
		a.copilot = &auth.Copilot{
			ClientID: env("TOTE_COPILOT_CLIENT_ID"), GitHub: env("TOTE_GITHUB_URL"), API: env("TOTE_GITHUB_API_URL"),
			UserAgent: "tote/" + a.o.Version, Now: a.o.Now,
		}
	}
	return a.copilot
}

// exchangeTimeout bounds getting a token for a login.
const exchangeTimeout = 30 * time.Second

// key is what the requests to a provider carry.
func (a *App) key(p config.Provider) (string, error) {
	key, err := p.KeyFrom(a.env(), a.Keys().Get)
	if err != nil || key == "" || !isCopilot(p.BaseURL) {
		return key, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), exchangeTimeout)
	defer cancel()
	return a.Copilot().Token(ctx, key)
}

// isCopilot reports whether an address is one of Copilot's, where a login of GitHub
// has to be exchanged.
func isCopilot(base string) bool {
	u, err := url.Parse(base)
	return err == nil && u.Scheme == "https" && (u.Hostname() == "api.githubcopilot.com" || strings.HasSuffix(u.Hostname(), ".githubcopilot.com"))
}
