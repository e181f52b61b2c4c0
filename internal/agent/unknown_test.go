package agent_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tote/internal/agent/agenttest"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// Nobody knows how the backends of tomorrow will say no. This file invents it.

var inventedWords = strings.Fields(`we regret pixel blob attachment part refused gadget flux wombat exceeds thing Bild nicht lesbar
	画像 пиксель raster sheet upload piece visual cannot be digested E-4711 reason: null undefined image vision media input wrong`)

func invented(r *rand.Rand) string {
	var out []string
	for range 1 + r.IntN(12) {
		out = append(out, inventedWords[r.IntN(len(inventedWords))])
	}
	return strings.Join(out, " ")
}

// inventedBody puts words into a shape that some server might use.
func inventedBody(r *rand.Rand, words string) string {
	quoted, err := json.Marshal(words)
	if err != nil {
		return ""
	}
	shapes := []string{
		`{"error":%s}`, `{"error":{"message":%s}}`, `{"error":{"message":%s,"type":"flux_error","param":null,"code":"E4711"}}`,
		`[{"error":{"code":7,"message":%s}}]`, `{"fault":{"faultstring":%s}}`, `{"detail":%s}`, `{"detail":[{"loc":["body"],"msg":%s}]}`,
		`%s`, `{"errors":[%s]}`, `{"type":"error","error":{"type":"wombat","message":%s}}`, `<html><title>no</title>%s</html>`, ``,
	}
	shape := shapes[r.IntN(len(shapes))]
	if shape == "" {
		return ""
	}
	return fmt.Sprintf(shape, quoted)
}

// refusing answers a request that holds bad with an error, and all others.
func refusing(status int, body string, bad []byte) func(int, agenttest.Received) agenttest.Reply {
	return picky(agenttest.Fail{Err: provider.Rejection(status, []byte(body))}, bad)
}

// Whatever the words are: the turn answers, one notice names the file, what the
// backend has taken before stays, and neither the next turn nor a session that is
// opened again pays for it.
func TestUnknownWordings(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	r := rand.New(rand.NewPCG(7, 7))
	for _, status := range []int{400, 404, 413, 415, 422, 500, 200} {
		for range rounds {
			body := inventedBody(r, invented(r))
			t.Run(fmt.Sprint(status), func(t *testing.T) {
				survives(t, status, body)
				if t.Failed() {
					t.Logf("the body was %q", body)
				}
			})
		}
	}
}

func survives(t *testing.T, status int, body string) {
	t.Helper()
	good, bad, later := agenttest.PNG(20, 20, 1), agenttest.PNG(20, 20, 2), agenttest.PNG(20, 20, 3)
	b := agenttest.New(t, agenttest.Options{Script: refusing(status, body, bad)})
	b.Must(t.Context(), "look", good)
	b.Front.Forget()
	b.Must(t.Context(), "and this", agenttest.Paste("cat.png", bad))
	if got := b.Front.Shown(); got != "ok" {
		t.Errorf("shown %q", got)
	}
	named := 0
	for _, n := range b.Front.Notices() {
		if strings.Contains(n.Title+n.Detail, "cat.png") {
			named++
		}
	}
	if named != 1 {
		t.Errorf("%d notices name the file: %v", named, b.Front.Notices())
	}
	b.Must(t.Context(), "text")
	b.Restart()
	b.Must(t.Context(), "text again")
	b.Must(t.Context(), "another", later)
	sent(t, b, "image-1.png", "image-1.png image-2.png", "image-1.png", "image-1.png", "image-1.png", "image-1.png image-3.png")
	contains(t, b.Last().Text, "[image-2.png: cat.png")
	consistent(t, b.Disk.Turns(b.Session.ID()))
}

// Errors that are about something else take nothing out and teach nothing.
func TestErrorsAboutSomethingElse(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	bodies := map[string]struct {
		status int
		body   string
	}{
		"schema":           {400, `{"error":{"message":"Unknown parameter: 'strange'.","type":"invalid_request_error","param":"strange","code":"unknown_parameter"}}`},
		"schema of a tool": {422, `{"detail":[{"type":"missing","loc":["body","tools",0,"function"],"msg":"Field required"}]}`},
		"key in a 400":     {400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}`},
		"money in a 400":   {400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`},
		"rate in a stream": {200, `{"type":"error","error":{"type":"rate_limit_error","message":"Number of image tokens has exceeded your rate limit"}}`},
	}
	for _, status := range []int{401, 402, 403, 429} {
		for i := range 10 {
			bodies[fmt.Sprintf("%d, words %d", status, i)] = struct {
				status int
				body   string
			}{status, inventedBody(r, invented(r))}
		}
	}
	for name, tt := range bodies {
		t.Run(name, func(t *testing.T) {
			bad := agenttest.PNG(20, 20, 2)
			b := agenttest.New(t, agenttest.Options{Script: refusing(tt.status, tt.body, bad)})
			if res, err := b.Prompt(t.Context(), "look", bad); err == nil || res.Stop != content.StopFailed || res.Degraded {
				t.Errorf("%+v, %v", res, err)
			}
			if n := b.Disk.Learned(agenttest.Endpoint); n != 0 {
				t.Errorf("%d things were learned", n)
			}
			b.Provider.Script = nil
			b.Must(t.Context(), "again")
			sent(t, b, "image-1.png", "image-1.png")
			for _, x := range b.Disk.Receipts(b.Session.ID()) {
				if x.Disposition == delivery.Stripped {
					t.Errorf("%s was taken out", x.Handle)
				}
			}
		})
	}
}
