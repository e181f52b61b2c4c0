package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// outcome says how a turn ended whose output has ended.
func (r *Runner) outcome(c *collector, p *process) (provider.Finish, error) {
	code := p.end()
	if fault := p.feedErr.Load(); fault != nil {
		return provider.Finish{}, &provider.Error{
			Failure: delivery.Failure{Kind: delivery.FailSchema}, Err: fmt.Errorf("write the prompt: %w", *fault),
			Hint: "a stored file is gone or damaged; tote store verify finds which", Local: true,
		}
	}
	diag := p.words.String()
	for l := range strings.Lines(diag) {
		c.note(l)
	}
	if c.failed != nil {
		return provider.Finish{}, r.turnError(*c.failed, code)
	}
	if c.finish != nil {
		return *c.finish, nil
	}
	if f, ok := r.stopCode(code); ok {
		return f, nil
	}
	said := []string{lastWords(strings.Join(c.strays, "\n")), lastWords(diag), c.last}
	switch {
	case code == 0 && r.spec.runner == Custom && c.said:
		return plainEnd(), nil
	case code != 0:
		return provider.Finish{}, r.exitError(code, said...)
	}
	if e := r.telling(said...); e != nil && settled(e.Failure.Kind) {
		return provider.Finish{}, e
	}
	if c.lines == 0 {
		return provider.Finish{}, provider.Unreadable("the output of " + r.spec.runner + " holds nothing that can be read" + quoted(firstOf(said...)))
	}
	return provider.Finish{}, provider.BrokenOff("the program ended without a result" + quoted(firstOf(c.last, firstOf(said...))))
}

// settled are the failures that words alone tell surely, also where the program
// ended as if all was well.
func settled(k delivery.FailureKind) bool {
	return k == delivery.FailAuth || k == delivery.FailBilling || k == delivery.FailRateLimit
}

func quoted(words string) string {
	if words = provider.CleanMessage(words); words == "" {
		return ""
	}
	return ": " + words
}

// The exit codes of gemini 0.61.0, of which its documents name 42 and 53
// (https://geminicli.com/docs/cli/headless, read 2026-11-30).
const (
	geminiAuth      = 41
	geminiInput     = 42
	geminiSandbox   = 44
	geminiConfig    = 52
	geminiTurns     = 53
	geminiTool      = 54
	geminiUntrusted = 55
)

// stopCode knows an exit code that is no failure.
func (r *Runner) stopCode(code int) (provider.Finish, bool) {
	if r.spec.runner == Gemini && code == geminiTurns {
		return provider.Finish{Stop: content.StopMaxSteps, Note: "turn limit"}, true
	}
	return provider.Finish{}, false
}

// turnError is the error of a turn that the program itself calls failed.
func (r *Runner) turnError(f failure, code int) *provider.Error {
	e := r.rejected(f.status, f.words)
	if f.kind != delivery.FailNone {
		e.Failure.Kind = f.kind
	}
	if f.class != delivery.ClassUnknown && e.Failure.Class == delivery.ClassUnknown {
		e.Failure.Class = f.class
	}
	r.byCode(e, code)
	return e
}

// telling is the error that the first words stand for which tell of more than
// trouble of the program's own, nil for none.
func (r *Runner) telling(said ...string) *provider.Error {
	for _, words := range said {
		if words == "" {
			continue
		}
		if e := r.rejected(0, words); e.Failure.Kind != delivery.FailServer || e.Failure.Status != 0 {
			return e
		}
	}
	return nil
}

// exitError is the error of a program that went without a result. What it said
// stands in several places.
func (r *Runner) exitError(code int, said ...string) *provider.Error {
	e := r.telling(said...)
	if e == nil {
		// No server has failed, so the kind's word is no help.
		e = &provider.Error{Failure: delivery.Failure{Kind: delivery.FailServer}, Message: provider.CleanMessage(joined(said)), Local: true}
	}
	if code < 0 {
		e.Failure.Kind = delivery.FailStream
		e.Err = errors.New("the program was ended by a signal")
	} else {
		e.Err = fmt.Errorf("the program ended with exit code %d", code)
	}
	r.byCode(e, code)
	return e
}

// joined is all words that are there, each once.
func joined(said []string) string {
	var kept []string
	for _, words := range said {
		if words != "" && !slices.Contains(kept, words) {
			kept = append(kept, words)
		}
	}
	return strings.Join(kept, "; ")
}

// byCode lets the codes of gemini stand over its words.
func (r *Runner) byCode(e *provider.Error, code int) {
	if r.spec.runner != Gemini {
		return
	}
	switch code {
	case geminiAuth:
		e.Failure.Kind = delivery.FailAuth
	case geminiInput, geminiTool:
		if e.Failure.Kind == delivery.FailServer {
			e.Failure.Kind = delivery.FailRefused
		}
	case geminiSandbox, geminiConfig:
		e.Failure.Kind = delivery.FailPermission
		e.Hint = "check the settings of gemini"
	case geminiUntrusted:
		e.Failure.Kind = delivery.FailPermission
		e.Hint = "start gemini once in this folder and trust it, or add --skip-trust to the command of the runner"
	}
}

// statusWords finds an HTTP status in a sentence: "API Error: 400 …", "unexpected
// status 401 Unauthorized".
var statusWords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b(?:error|status(?: code)?)[:= ]+([45]\d\d)\b`) })

// loginWords say that nobody is signed in.
var loginWords = [...]string{
	"not logged in", "please run /login", "codex login", "set an auth method", "invalid auth method", "gemini_api_key environment variable",
	"oauth token has expired", "missing bearer",
}

// rejected reads a program's words, which often quote an answer of its server.
func (r *Runner) rejected(status int, words string) *provider.Error {
	if m := statusWords().FindStringSubmatch(words); status == 0 && m != nil {
		status, _ = strconv.Atoi(m[1]) // three digits
	}
	body := inner(words)
	known := status
	switch {
	case known != 0:
	case body != words:
		known = 200 // the quoted body names it
	default:
		known = 500 // unless the words tell more, it is the program's own trouble
	}
	e := provider.Rejection(known, []byte(body))
	e.Failure.Status = status
	low := strings.ToLower(words)
	for _, l := range loginWords {
		if strings.Contains(low, l) {
			e.Failure.Kind = delivery.FailAuth
		}
	}
	return e
}

// inner is the JSON object that words quote, else the words.
func inner(words string) string {
	from, to := strings.IndexByte(words, '{'), strings.LastIndexByte(words, '}')
	if from < 0 || to < from || !json.Valid([]byte(words[from:to+1])) {
		return words
	}
	return words[from : to+1]
}

// lastWords is the end of the diagnostics without traces of the program's inside.
func lastWords(diag string) string {
	lines := strings.Split(strings.TrimSpace(diag), "\n")
	var kept []string
	for i := len(lines) - 1; i >= 0 && len(kept) < 3; i-- {
		l := strings.TrimSpace(stripColour(lines[i]))
		low := strings.ToLower(l)
		if len(l) < 3 || strings.HasPrefix(l, "at ") || strings.HasPrefix(low, "warning") || strings.HasPrefix(low, "node.js v") ||
			strings.HasPrefix(low, "reading prompt from stdin") {
			continue
		}
		kept = append([]string{l}, kept...)
	}
	return strings.Join(kept, " ")
}

var colour = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]") })

func stripColour(s string) string { return colour().ReplaceAllString(s, "") }

// polish makes any error an *Error and fills its hint.
func (r *Runner) polish(err error) *provider.Error {
	var e *provider.Error
	if !errors.As(err, &e) {
		e = &provider.Error{Failure: delivery.Failure{Kind: delivery.FailStream}, Err: err}
	}
	out := *e
	if out.Hint != "" {
		return &out
	}
	switch out.Failure.Kind {
	case delivery.FailAuth:
		out.Hint = r.spec.login
	case delivery.FailTooLarge, delivery.FailUpload:
		out.Hint = "the request is too large for this agent: send less text, or fewer or smaller attachments"
	case delivery.FailOverflow:
		out.Hint = "start a new session, or attach less"
	case delivery.FailRateLimit:
		out.Hint = "wait a while, or choose another agent"
	case delivery.FailProtocol:
		out.Hint = "check the command of the runner: this does not look like " + r.spec.runner
	case delivery.FailServer:
		out.Hint = "run " + r.command()[0] + " by hand to see what is wrong"
	case delivery.FailNone, delivery.FailCancelled, delivery.FailBilling, delivery.FailPermission, delivery.FailSchema, delivery.FailRefused,
		delivery.FailNetwork, delivery.FailStream, delivery.FailDropped:
	}
	return &out
}
