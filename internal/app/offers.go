package app

import (
	"context"
	"net"
	"net/url"
	"os/exec"
	"sync"
	"time"

	"tote/internal/config"
)

// Offers is what can be used without a word of configuration, or with one line.
type Offers struct {
	// Keyed are the well-known backends whose key is in the environment.
	Keyed []config.Offer
	// Local are the servers that answer on this machine.
	Local []config.Offer
	// Runners are the command-line agents that are installed.
	Runners []config.RunnerOffer
}

// dialTimeout bounds the search for servers on this machine, where a port answers
// at once or not at all.
const dialTimeout = 200 * time.Millisecond

// Offers looks for what can be used.
func (w *Workspace) Offers(ctx context.Context) Offers {
	return Offers{
		Keyed: config.Offers(w.app.env()), Local: answering(ctx, config.Locals()), Runners: config.Runners(exec.LookPath),
	}
}

// answering keeps the servers to which a connection can be made.
func answering(ctx context.Context, all []config.Offer) []config.Offer {
	d := net.Dialer{Timeout: dialTimeout}
	up := make([]bool, len(all))
	var wg sync.WaitGroup
	for i, o := range all {
		u, err := url.Parse(o.BaseURL)
		if err != nil {
			continue
		}
		// It ends with the connection, or with dialTimeout.
		wg.Go(func() {
			conn, err := d.DialContext(ctx, "tcp", u.Host)
			if err == nil {
				up[i] = conn.Close() == nil
			}
		})
	}
	wg.Wait()
	var out []config.Offer
	for i, o := range all {
		if up[i] {
			out = append(out, o)
		}
	}
	return out
}
