package headless

import (
	"context"
	"encoding/json"
	"io"

	"tote/internal/agent"
	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/tool"
)

// jsonFront writes one object a line.
type jsonFront struct {
	enc *json.Encoder
	asker
}

var _ front = (*jsonFront)(nil)

func newJSONFront(s Streams, folder string) *jsonFront {
	return &jsonFront{enc: lines(s.Out), asker: newAsker(s, folder)}
}

// lines writes JSON lines without escaping HTML.
func lines(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// put writes a line. A write that fails ends the turn, see sink.
func (f *jsonFront) put(v any) { _ = f.enc.Encode(v) }

type jsonSession struct {
	Type string `json:"type"`
	V    int    `json:"v"`
	ID   string `json:"id"`
}

func (f *jsonFront) session(id string) { f.put(jsonSession{"session", 1, id}) }

type jsonCommand struct {
	Type string `json:"type"`
	Name string `json:"name"`
	Text string `json:"text"`
}

func (f *jsonFront) said(name, text string) { f.put(jsonCommand{"command", name, text}) }

// reported has nothing to add: the line of the job that ended has its report.
func (f *jsonFront) reported(tool.JobState) {}

type jsonReceipt struct {
	Type string `json:"type"`
	agent.ReceiptRecord
}

func receiptLine(r delivery.Receipt, request, attempt int) jsonReceipt {
	return jsonReceipt{"receipt", agent.RecordOf(r, request, attempt)}
}

func (f *jsonFront) Accepted(agent.Accepted) {}

func (f *jsonFront) Receipts(e agent.Receipts) {
	for _, r := range e.List {
		f.put(receiptLine(r, e.Request, e.Attempt))
	}
}

type jsonText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (f *jsonFront) Text(e agent.Text)       { f.put(jsonText{"text", e.Text}) }
func (f *jsonFront) Thought(e agent.Thought) { f.put(jsonText{"thought", e.Text}) }

type jsonAttempt struct {
	Type   string `json:"type"`
	N      int    `json:"n"`
	Reason string `json:"reason"`
}

func (f *jsonFront) Voided(e agent.Voided) { f.put(jsonAttempt{"attempt", e.Attempt, e.Reason}) }

type jsonCall struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Title     string          `json:"title"`
	Does      string          `json:"does"`
	Arguments json.RawMessage `json:"arguments"`
}

func (f *jsonFront) ToolStarted(e agent.ToolStarted) {
	c := jsonCall{Type: "tool_call", ID: e.Call.ID, Name: e.Call.Name, Title: e.Title, Does: does(e.Call, "")}
	if json.Valid([]byte(e.Call.Arguments)) {
		c.Arguments = json.RawMessage(e.Call.Arguments)
	}
	f.put(c) // what is no JSON is null; does has its beginning
}

func (f *jsonFront) ToolRunning(agent.ToolRunning) {}

type jsonResult struct {
	Type    string   `json:"type"`
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	IsError bool     `json:"is_error"`
	Labels  []string `json:"labels"`
	Text    string   `json:"text"`
}

type jsonOutput struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	Text string `json:"text"`
}

func (f *jsonFront) ToolOutput(e agent.ToolOutput) {
	f.put(jsonOutput{"tool_output", e.Call.ID, e.Text})
}

type jsonStep struct {
	Text   string `json:"text"`
	Status string `json:"status"`
}

type jsonPlan struct {
	Type  string     `json:"type"`
	Steps []jsonStep `json:"steps"`
}

func (f *jsonFront) Planned(e agent.Planned) {
	p := jsonPlan{Type: "plan", Steps: []jsonStep{}}
	for _, s := range e.Steps {
		p.Steps = append(p.Steps, jsonStep{s.Text, string(s.Status)})
	}
	f.put(p)
}

type jsonJob struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	Agent   string `json:"agent"`
	Title   string `json:"title"`
	State   string `json:"state"`
	Session string `json:"session"`
	Report  string `json:"report"`
}

func (f *jsonFront) JobChanged(e agent.JobChanged) {
	j := e.Job
	f.put(jsonJob{"job", j.ID, j.Agent, j.Title, j.State, j.Session, j.Report})
}

func (f *jsonFront) ToolFinished(e agent.ToolFinished) {
	r := jsonResult{Type: "tool_result", ID: e.Call.ID, Name: e.Call.Name, IsError: e.IsError, Labels: []string{}, Text: content.Compact(e.Blocks)}
	for _, b := range e.Blocks {
		if b.Kind() != content.KindText {
			r.Labels = append(r.Labels, string(b.BlockHandle()))
		}
	}
	f.put(r)
}

type jsonNotice struct {
	Type     string `json:"type"`
	Severity string `json:"severity"`
	Title    string `json:"title"`
	Detail   string `json:"detail"`
}

func (f *jsonFront) Noticed(e agent.Noticed) {
	f.put(jsonNotice{"notice", e.Notice.Severity.String(), e.Notice.Title, e.Notice.Detail})
}

func (f *jsonFront) Retrying(e agent.Retrying) {
	f.Noticed(agent.Noticed{Notice: retryNotice(e)})
}

type jsonUsage struct {
	Type        string  `json:"type"`
	Input       *int64  `json:"input"`
	Output      *int64  `json:"output"`
	Cached      *int64  `json:"cached"`
	Image       *int64  `json:"image"`
	ImageSource *string `json:"image_source"`
	// Dollars is null where there is no price.
	Dollars *float64 `json:"dollars"`
}

func optional(c content.Count) *int64 {
	if !c.Known {
		return nil
	}
	return &c.N
}

func (f *jsonFront) Used(e agent.Used) {
	u := jsonUsage{
		Type: "usage", Input: optional(e.Usage.Input), Output: optional(e.Usage.Output), Cached: optional(e.Usage.Cached),
		Image: optional(e.Usage.Image),
	}
	if e.ImageReported {
		u.ImageSource = new("reported")
	}
	if e.Priced {
		u.Dollars = new(e.Dollars)
	}
	f.put(u)
}

func (f *jsonFront) Ended(agent.Ended) {}

type jsonPermission struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Tool   string `json:"tool"`
	Path   string `json:"path,omitempty"`
	Detail string `json:"detail,omitempty"`
	Reason string `json:"reason"`
	// Rule is what an answer for the session or for good permits, "" for this
	// very request.
	Rule     string `json:"rule"`
	Decision string `json:"decision"`
}

// Ask implements agent.Front.
func (f *jsonFront) Ask(ctx context.Context, q agent.Question) (agent.Permit, error) {
	p, err := f.ask(ctx, q)
	f.answered(q, p)
	return p, err
}

func (f *jsonFront) answered(q agent.Question, p agent.Permit) {
	rule := ""
	if q.Rule.Tool != "" {
		rule = q.Rule.String()
	}
	f.put(jsonPermission{"permission", q.Title, q.Request.Tool, q.Request.Path, q.Request.Detail, q.Reason, rule, permitWord(p)})
	if f.in == nil {
		f.Noticed(agent.Noticed{Notice: unasked(q)})
	}
}

type jsonError struct {
	Type    string `json:"type"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

func (f *jsonFront) fail(p Problem) { f.put(jsonError{"error", p.Kind, p.Message, p.Hint}) }

// PutProblem writes a problem as a JSON line.
func PutProblem(w io.Writer, p Problem) {
	_ = lines(w).Encode(jsonError{"error", p.Kind, p.Message, p.Hint}) // a reader that is gone cannot be told so
}

// PutDone writes the last line of a turn that never began.
func PutDone(w io.Writer) {
	_ = lines(w).Encode(jsonDone{"done", content.StopFailed.String()}) // a reader that is gone cannot be told so
}

type jsonDone struct {
	Type string `json:"type"`
	Stop string `json:"stop_reason"`
}

func (f *jsonFront) done(s content.StopReason) { f.put(jsonDone{"done", s.String()}) }
