package delegate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"tote/internal/content"
	"tote/internal/permission"
	"tote/internal/tool"
)

const (
	// maxPrompt bounds what a model may write to another, in bytes.
	maxPrompt = 100_000
	// maxTitle is how long a title gets, in runes.
	maxTitle = 60
	// maxAttached bounds the attachments of one piece of work.
	maxAttached = 50
)

// All returns the tools of this package.
func All() []tool.Tool { return []tool.Tool{Look{}, Task{}, Escalate{}, Job{}} }

// errNoHost: this session may not delegate.
var errNoHost = errors.New("work cannot be delegated from here: this is delegated work itself, as deep as it may get; do it yourself")

func hostOf(env tool.Env) (tool.Host, error) {
	if env.Host == nil {
		return nil, errNoHost
	}
	return env.Host, nil
}

// work is the part of the arguments that three of the tools share.
type work struct {
	Prompt      string   `json:"prompt"`
	Agent       string   `json:"agent"`
	Title       string   `json:"title"`
	Attachments []string `json:"attachments"`
}

// order checks the arguments against the conversation.
func (w work) order(name string, env tool.Env) (tool.Order, error) {
	o := tool.Order{Agent: w.Agent, Prompt: w.Prompt, Title: titleOf(w.Title, w.Prompt), Live: env.Live}
	switch {
	case strings.TrimSpace(w.Prompt) == "":
		return o, fmt.Errorf("%s: the argument \"prompt\" is empty", name)
	case len(w.Prompt) > maxPrompt:
		return o, fmt.Errorf("%s: the prompt has %d bytes, the limit is %d; name files instead of quoting them", name, len(w.Prompt), maxPrompt)
	case len(w.Attachments) > maxAttached:
		return o, fmt.Errorf("%s: %d attachments, the limit is %d", name, len(w.Attachments), maxAttached)
	}
	seen := map[content.Handle]bool{}
	for _, a := range w.Attachments {
		h, err := find(a, env)
		if err != nil {
			return o, fmt.Errorf("%s: %w", name, err)
		}
		if !seen[h] {
			seen[h] = true
			o.Handles = append(o.Handles, h)
		}
	}
	return o, nil
}

// find looks a label up. A label that names nothing fails loudly: work without the
// attachment that it is about is worse than none.
func find(label string, env tool.Env) (content.Handle, error) {
	h := content.Handle(strings.TrimPrefix(strings.Trim(strings.TrimSpace(label), "[]"), "@"))
	if env.Lookup != nil {
		if _, ok := env.Lookup(h); ok {
			return h, nil
		}
	}
	return "", fmt.Errorf("there is no attachment %q in this conversation; give its label as it stands there, such as \"image-1.png\"", content.Clean(label))
}

func titleOf(title, prompt string) string {
	s := strings.Join(strings.Fields(title), " ")
	if s == "" {
		s = strings.Join(strings.Fields(prompt), " ")
	}
	s = content.Clean(s)
	if utf8.RuneCountInString(s) > maxTitle {
		s = string([]rune(s)[:maxTitle-1]) + "…"
	}
	return s
}

// request is what delegating needs permission for.
func request(name, agent, title string) permission.Request {
	return permission.Request{Tool: name, Action: permission.Delegate, Inside: true, Detail: strings.TrimSpace(agent + " " + title)}
}

const workSchema = `{"type":"object","properties":{"prompt":{"type":"string","description":"What to do, for someone who knows nothing of this conversation."},"title":{"type":"string","description":"Three to six words for the user."},"agent":{"type":"string","description":"The agent's name; leave out for the usual one."},"attachments":{"type":"array","items":{"type":"string"},"description":"Labels of attachments that go along, such as \"image-1.png\"."}},"required":["prompt"],"additionalProperties":false}`

func schema(s string) json.RawMessage { return json.RawMessage(s) }
