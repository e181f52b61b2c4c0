package acp

import (
	"context"
	"slices"
	"time"

	"tote/internal/front/acp/wire"
)

// askTimeout bounds what is asked of servers of others beside a turn: the list of
// their prompts, and of their tools.
const askTimeout = 2 * time.Second

// commands are the /commands of a session as they are announced, never nil. Servers
// that do not answer in time have none.
func (ses *session) commands(ctx context.Context) []wire.Command {
	a, work := ses.now()
	out := []wire.Command{}
	if work.World == nil {
		return out
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	for _, c := range work.World(a).List(ctx) {
		next := wire.Command{Name: c.Name, Description: c.Description}
		if c.Hint != "" {
			next.Input = &wire.CommandInput{Hint: c.Hint}
		}
		out = append(out, next)
	}
	return out
}

// offer announces the commands where they have changed.
func (ses *session) offer(ctx context.Context) {
	if list := ses.commands(ctx); ses.keepCommands(list) {
		ses.tell(ctx, ses.srv.dialect().commandsChanged(list))
	}
}

// keepCommands notes which commands the client knows, and reports whether they are
// news.
func (ses *session) keepCommands(list []wire.Command) bool {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	same := slices.EqualFunc(list, ses.offered, func(a, b wire.Command) bool {
		return a.Name == b.Name && a.Description == b.Description && (a.Input == nil) == (b.Input == nil) && (a.Input == nil || *a.Input == *b.Input)
	})
	ses.offered = list
	return !same
}

// measure tells how full the context is of a session that has turns, while none of
// them runs. Where that cannot be told it says nothing: the next turn tells.
func (ses *session) measure(ctx context.Context) {
	a, _ := ses.now()
	if len(a.Turns()) == 0 {
		return
	}
	asked, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	report, err := a.Context(asked)
	if err != nil || report.Usage.Window <= 0 {
		return
	}
	ses.tell(ctx, wire.Usage{
		SessionUpdate: "usage_update", Used: report.Usage.Tokens, Size: report.Usage.Window, Cost: ses.cost(ctx, 0, false),
	})
}

// currency is what prices are in.
const currency = "USD"

// cost is what the session has cost with more that is not recorded yet, nil where
// there is no price.
func (ses *session) cost(ctx context.Context, more float64, priced bool) *wire.Cost { //nolint:revive // what is known of a price, not a choice of what to do
	a, work := ses.now()
	if work.World != nil {
		if cost := work.World(a).Cost; cost != nil {
			// What cannot be read is not told; the history says why elsewhere.
			if dollars, known, err := cost(ctx); err == nil && (known || priced) {
				return &wire.Cost{Amount: dollars + more, Currency: currency}
			}
			return nil
		}
	}
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if !ses.priced && !priced {
		return nil
	}
	return &wire.Cost{Amount: ses.dollars + more, Currency: currency}
}

// paid books what a turn has cost.
func (ses *session) paid(dollars float64) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	ses.dollars, ses.priced = ses.dollars+dollars, true
}
