package conformance_test

import (
	"errors"
	"strings"
	"testing"

	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/providertest"
)

// control is an error that no picture is to blame for.
type control struct {
	name  string
	reply providertest.Reply
	kind  delivery.FailureKind
	words string
}

// controls are errors of a wire about the key, the money, the right, the rate and
// the form of a request.
func controls(g *tongue) []control {
	type row struct {
		status      int
		code, words string
	}
	// What the vendors answer, in the order 401, 402, 403, 429, form.
	rows := map[string][5]row{
		"openai-chat": {
			{401, "invalid_api_key", "Incorrect API key provided: sk-x."},
			{402, "", "Insufficient Balance"},
			{403, "unsupported_country_region_territory", "Country, region, or territory not supported"},
			{429, "rate_limit_exceeded", "Rate limit reached for requests"},
			{400, "invalid_function_parameters", "Invalid schema for function 'read'"},
		},
		"openai-responses": {
			{401, "invalid_api_key", "Incorrect API key provided: sk-x."},
			{402, "billing_not_active", "Your account is not active."},
			{403, "", "Project does not have access to the model"},
			{429, "rate_limit_exceeded", "Rate limit reached for requests"},
			{400, "unknown_parameter", "Unknown parameter: 'reasoning.depth'."},
		},
		"anthropic": {
			{401, "authentication_error", "invalid x-api-key"},
			{402, "billing_error", "Your credit balance is too low"},
			{403, "permission_error", "Your API key does not have permission to use this model"},
			{429, "rate_limit_error", "This request would exceed your rate limit"},
			{400, "invalid_request_error", "messages: text content blocks must be non-empty"},
		},
		"gemini": {
			{401, "UNAUTHENTICATED", "Request had invalid authentication credentials."},
			{402, "FAILED_PRECONDITION", "billing is off"},
			{403, "PERMISSION_DENIED", "The caller does not have permission"},
			{429, "RESOURCE_EXHAUSTED", "You exceeded your current quota"},
			{400, "INVALID_ARGUMENT", "Please ensure that function call parts are followed by function response parts"},
		},
		"ollama": {
			{401, "", "unauthorized"},
			{402, "", "this model requires more credits"},
			{403, "", "a subscription is needed for this model"},
			{429, "", "too many concurrent requests"},
			{400, "", "invalid schema for function read"},
		},
		"bedrock-converse": {
			{401, "UnrecognizedClientException", "The security token included in the request is invalid."},
			{402, "AccessDeniedException", "payment is due"},
			{403, "AccessDeniedException", "You don't have access to the model with the specified model ID."},
			{429, "ThrottlingException", "Too many requests, please wait before trying again."},
			{400, "ValidationException", "tools.0.custom.input_schema: Extra inputs are not permitted"},
		},
	}[g.kind]
	kinds := [...]delivery.FailureKind{
		delivery.FailAuth, delivery.FailBilling, delivery.FailPermission, delivery.FailRateLimit, delivery.FailSchema,
	}
	out := make([]control, 0, len(rows))
	for i, x := range rows {
		reply := g.rejects(x.status, x.code, x.words)
		if x.status == 429 {
			reply = withHeader(reply, "Retry-After", "0")
		}
		out = append(out, control{kinds[i].String(), reply, kinds[i], x.words})
	}
	return out
}

// TestOtherErrorsStripNothing sends a picture to servers that complain of
// something else: it stays in, nothing is learned against anything, the error is
// shown, and the next turn brings the picture.
func TestOtherErrorsStripNothing(t *testing.T) {
	for _, g := range tongues() {
		t.Run(g.kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, g)
			list := controls(&g)
			agents := make([]bind, 0, len(list))
			for _, c := range list {
				agents = append(agents, bind{model: c.name, vision: "true"})
			}
			w := newWorld(t, r.settings("", "", agents...))
			p := w.launch()
			defer p.stop()
			for i, c := range list {
				t.Run(c.name, func(t *testing.T) {
					p := p.in(t)
					r.on(c.name, func(n int, _ letter) providertest.Reply {
						if n == 0 {
							return c.reply
						}
						return nil
					})
					shot, data := p.snap(c.name+".png", 20, 20, uint64(i+1))
					s := p.with(c.name)
					f, _, err := p.ask(s, shot, prose("look"))
					var e *provider.Error
					if !errors.As(err, &e) || e.Failure.Kind != c.kind {
						t.Fatalf("the turn ended with %v (%+v), want %v", err, e, c.kind)
					}
					if !strings.Contains(err.Error(), strings.TrimSuffix(c.words, ".")) {
						t.Errorf("%q does not show what was said: %q", err, c.words)
					}
					if got := r.got(c.name); len(got) != 1 || !got[0].holds(data) || voided(f) != 0 {
						t.Errorf("%d requests, %d attempts withdrawn", len(got), voided(f))
					}
					if m := p.learned(c.name); len(m.Verdicts)+len(m.Evidence)+len(m.Limits) != 0 {
						t.Errorf("learned %+v", m)
					}
					f = p.prompt(s, prose("again"))
					noRetry(t, f)
					if !r.last(t, c.name).holds(data) {
						t.Error("the picture does not come any more")
					}
				})
			}
		})
	}
}

// TestHopelessRequestTeachesNothing has a server refuse every request, whatever is
// in it. Taking pictures out does not help, so nothing is held against them.
func TestHopelessRequestTeachesNothing(t *testing.T) {
	for _, g := range tongues() {
		t.Run(g.kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, g)
			const model = "m"
			ill := true
			r.on(model, func(int, letter) providertest.Reply {
				if ill {
					return g.rejects(400, "", "json: cannot unmarshal array into field 7")
				}
				return nil
			})
			w := newWorld(t, r.settings("", "", bind{model: model, vision: "true"}))
			p := w.launch()
			defer p.stop()
			shot, data := w.snap("shot.png", 20, 20, 1)
			s := p.with(model)
			_, _, err := p.ask(s, shot, prose("look"))
			if err == nil || !strings.Contains(err.Error(), "cannot unmarshal array into field 7") {
				t.Errorf("the turn ended with %v", err)
			}
			if n := len(r.got(model)); n != 2 {
				t.Errorf("%d requests, want one with the picture and one without", n)
			}
			if m := p.learned(model); len(m.Verdicts)+len(m.Evidence)+len(m.Limits) != 0 {
				t.Errorf("learned %+v", m)
			}
			ill = false
			noRetry(t, p.prompt(s, prose("again")))
			if !r.last(t, model).holds(data) {
				t.Error("the picture does not come any more")
			}
		})
	}
}
