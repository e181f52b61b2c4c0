package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// thoughts are the parts of a reasoning item: its summary, or the thinking
// itself where a server shows that.
func (it *item) thoughts() []string {
	if s := texts(it.Summary); len(s) > 0 {
		return s
	}
	return texts(it.Content)
}

func texts(parts []flatText) []string {
	var out []string
	for _, p := range parts {
		if t := str(p.Text); t != "" {
			out = append(out, t)
		}
	}
	return out
}

// ended takes the answer as a whole, which is the last that a server says.
func (r *responseReader) ended(resp *flatResponse) error {
	r.note(resp)
	if err := r.reconcile(resp.Output); err != nil {
		return err
	}
	status := str(resp.Status)
	if provider.Present(resp.Error) {
		return r.failed(provider.Rejection(200, resp.Error))
	}
	switch status {
	case "", "completed", "done":
		if r.refused {
			return r.finish(provider.Finish{Stop: content.StopRefusal, Note: "refusal"})
		}
		return r.finish(provider.Finish{Stop: content.StopEndTurn})
	case "incomplete":
		return r.finish(incomplete(str(resp.Incomplete.Reason)))
	}
	e := provider.BrokenOff("the backend stopped with status " + content.Clean(status))
	if status == "failed" {
		e.Failure.Kind = delivery.FailServer
	}
	return r.failed(e)
}

// incomplete maps the reason of an answer that is not whole.
func incomplete(reason string) provider.Finish {
	switch reason {
	case "max_output_tokens", "max_tokens":
		return provider.Finish{Stop: content.StopMaxTokens}
	case "content_filter":
		return provider.Finish{Stop: content.StopRefusal, Note: reason}
	case "":
		reason = "incomplete"
	}
	return provider.Finish{Stop: content.StopEndTurn, Note: content.Clean(reason)}
}

// reconcile takes the items that no event brought. Some servers leave the list
// empty when they streamed them.
func (r *responseReader) reconcile(output []flatItem) error {
	whole := 0
	for _, it := range r.items {
		if it.done {
			whole++
		}
	}
	if whole >= len(output) {
		return nil
	}
	for i := range output {
		if slices.ContainsFunc(r.items, func(it *item) bool { return it.done && it.same(&output[i]) }) {
			continue
		}
		if err := r.done(r.find(&flatEvent{Index: &i, Item: &output[i]}), output[i]); err != nil {
			return err
		}
	}
	return nil
}

// finish ends an answer: thinking, calls, usage, and the end.
func (r *responseReader) finish(end provider.Finish) error {
	slices.SortStableFunc(r.items, func(a, b *item) int { return a.index - b.index })
	for _, thought := range r.kept() {
		if !r.emit(provider.Thought{Reasoning: thought}) {
			return errStopped
		}
	}
	ids := namer{answer: r.id}
	for i, it := range r.items {
		if it.Type != itemCall {
			continue
		}
		args := it.arguments()
		if str(it.Status) == "incomplete" || end.Stop == content.StopMaxTokens && !json.Valid([]byte(args)) {
			end.Note = "a tool call was cut off"
			continue
		}
		call := content.ToolCall{ID: ids.name(it.CallID, i, it.Name, args), Name: provider.ToolName(it.Name), Arguments: args}
		if !r.emit(provider.Call{Call: call}) {
			return errStopped
		}
	}
	if r.asked == "disabled" && r.policy != "" && r.policy != r.asked {
		remark := provider.Remark{Text: "the backend may compress older pictures of this conversation, although it was asked not to"}
		if !r.emit(remark) {
			return errStopped
		}
	}
	if !r.report() || !r.emit(end) {
		return errStopped
	}
	return nil
}

// kept is the thinking of an answer with what has to be given back.
func (r *responseReader) kept() []content.Reasoning {
	var out []content.Reasoning
	phase := ""
	for _, it := range r.items {
		switch it.Type {
		case itemMessage:
			if p := str(it.Phase); p != "" {
				phase = p
			}
		case itemReasoning:
			thought := content.Reasoning{Text: strings.Join(it.thoughts(), "\n\n"), Path: ResponsesPath}
			if secret := str(it.Encrypted); it.done && it.ID != "" && secret != "" && str(it.Status) != "incomplete" {
				thought.Signature = kept{By: r.by, ID: it.ID, Summary: texts(it.Summary), Encrypted: secret}.signature()
			}
			if thought.Text == "" {
				thought.Text = strings.TrimSpace(it.thinking.String())
			}
			if thought.Text != "" || thought.Signature != "" {
				out = append(out, thought)
			}
		}
	}
	if phase != "" {
		out = append(out, content.Reasoning{Signature: kept{By: r.by, Phase: phase}.signature(), Path: ResponsesPath})
	}
	return out
}

// arguments are those of a call: as the whole item has them, else as they were
// streamed.
func (it *item) arguments() string {
	args := ""
	if it.done {
		args = arguments(it.Arguments)
	}
	if args == "" {
		args = it.args.String()
	}
	if strings.TrimSpace(args) == "" {
		return "{}"
	}
	return args
}
