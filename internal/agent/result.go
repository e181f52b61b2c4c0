package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/tool"
)

const (
	// resultTimeout bounds taking in one result, and recording those of one
	// batch, which also a cancelled turn does: a call without a result is no
	// conversation.
	resultTimeout = time.Minute
	// DefaultToolOutput is how much text one result may hold, in bytes.
	DefaultToolOutput = 50_000
	// maxSources is how many parts one result may have.
	maxSources = 100
	// sameResults is how often in a row a call may give the same before its
	// result says so.
	sameResults = 5
)

// keepResults takes the outcomes in through the one inlet and records them, in
// the order of the calls. Every call gets its result and its end, also when the
// store cannot be written.
func (t *turn) keepResults(running context.Context, outs []*outcome) error {
	var first error
	m := content.Message{Role: content.RoleTool}
	same := map[string]int{}
	for _, o := range outs {
		r := content.ToolResult{CallID: o.call.ID, Name: o.call.Name, IsError: o.isError || o.refused != ""}
		sources := o.sources
		if o.refused != "" {
			sources = []content.Source{tool.Prose(o.refused)}
		}
		blocks, err := t.ingestResult(running, sources)
		if err != nil {
			r.IsError, blocks = true, []content.Block{content.Text{Body: "[its output could not be kept]"}}
			if first == nil {
				first = err
			}
		}
		r.Blocks = blocks
		t.afterTool(running, o, r)
		if n := t.repeated(o, blocks, same); n >= sameResults {
			o.said = append(o.said, fmt.Sprintf("[this call has given the same result %d times in a row: try something else, or say what stands in the way]", n))
		}
		for _, text := range o.said {
			r.Blocks = append(r.Blocks, content.Text{Body: text})
		}
		m.Parts = append(m.Parts, r)
		t.front.ToolFinished(ToolFinished{Call: o.call, Blocks: blocks, IsError: r.IsError})
	}
	t.same = same
	ctx, cancel := context.WithTimeout(context.WithoutCancel(running), resultTimeout)
	defer cancel()
	if err := t.noteIn(ctx, m.Parts); err != nil && first == nil {
		first = err
	}
	if err := t.keep(ctx, m); err != nil && first == nil {
		first = err
	}
	return first
}

// repeated counts how often in a row a call has given the same.
func (t *turn) repeated(o *outcome, blocks []content.Block, same map[string]int) int {
	var sb strings.Builder
	sb.WriteString(o.call.Name + "\x00" + o.call.Arguments)
	for _, b := range blocks {
		sb.WriteByte(0)
		if a, ok := content.AttachmentOf(b); ok {
			sb.WriteString(a.Original.Digest.String()) // its handle is always another
			continue
		}
		sb.WriteString(content.Compact([]content.Block{b}))
	}
	key := sb.String()
	if same[key] == 0 { // equal calls of one answer count once
		same[key] = t.same[key] + 1
	}
	return same[key]
}

// ingestResult is where the output of tools joins the conversation.
func (t *turn) ingestResult(ctx context.Context, sources []content.Source) ([]content.Block, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), resultTimeout)
	defer cancel()
	var parts []content.Part
	for _, src := range t.capped(ctx, sources) {
		blocks, _, err := t.s.a.o.Inlet.Ingest(ctx, src, t.s.scope(nil))
		if err != nil {
			return nil, fmt.Errorf("take in a tool's output: %w", err)
		}
		for _, b := range blocks {
			parts = append(parts, b)
		}
	}
	if err := t.s.label(ctx, parts); err != nil {
		return nil, err
	}
	out := make([]content.Block, 0, len(parts))
	for _, p := range parts {
		if b, ok := p.(content.Block); ok {
			out = append(out, b)
		}
	}
	return out, nil
}

// capped bounds one result, whatever tool it comes from. Text that is too long
// keeps its beginning and its end; the whole lies in a file.
func (t *turn) capped(ctx context.Context, sources []content.Source) []content.Source {
	if n := len(sources) - maxSources; n > 0 {
		sources = append(slices.Clone(sources[:maxSources]), tool.Prose(fmt.Sprintf("[%d more parts of this result are left out]", n)))
		t.notice(delivery.SeverityWarning, fmt.Sprintf("%d parts of a tool's result are left out", n),
			fmt.Sprintf("at most %d are taken of one result; the model is told so", maxSources))
	}
	limit := t.policy.ToolOutput
	if limit <= 0 {
		limit = DefaultToolOutput
	}
	var texts []string
	total := 0
	for _, s := range sources {
		if p, ok := s.Payload.(content.Prose); ok {
			texts = append(texts, p.Text)
			total += len(p.Text)
		}
	}
	if total <= limit {
		return sources
	}
	share := fairShare(texts, limit)
	where := t.spill(ctx, strings.Join(texts, "\n"))
	out := slices.Clone(sources)
	for i, s := range out {
		if p, ok := s.Payload.(content.Prose); ok && len(p.Text) > share {
			out[i].Payload = content.Prose{Text: cutMiddle(p.Text, share, where)}
		}
	}
	return out
}

// fairShare is the length to which texts have to be cut to hold limit bytes
// together: short ones stay whole.
func fairShare(texts []string, limit int) int {
	lengths := make([]int, len(texts))
	for i, s := range texts {
		lengths[i] = len(s)
	}
	slices.Sort(lengths)
	for i, n := range lengths {
		share := limit / (len(lengths) - i)
		if n > share {
			return share
		}
		limit -= n
	}
	return limit
}

// cutMiddle keeps the beginning and the end of a text, n bytes in all.
func cutMiddle(s string, n int, where string) string {
	head := before(s, n*2/3)
	tail := after(s, len(s)-n/3)
	return fmt.Sprintf("%s\n[%d bytes left out%s]\n%s", s[:head], tail-head, where, s[tail:])
}

// Spiller is a [Stager] that also writes texts, so that nothing of a long output is
// lost.
type Spiller interface {
	// Spill writes text to a file of that name below the session's folder and
	// returns its path.
	Spill(ctx context.Context, session, name, text string) (string, error)
}

// spill keeps the whole of a text in a file and says where, "" where it cannot.
func (t *turn) spill(ctx context.Context, text string) string {
	sp, ok := t.s.a.o.Stager.(Spiller)
	if !ok {
		return ""
	}
	path, err := sp.Spill(ctx, t.s.ID(), "output-"+t.s.a.o.NewID()+".txt", text)
	if err != nil {
		return "; the whole output could not be kept"
	}
	return "; the whole output is in " + path + ": read it with offset"
}
