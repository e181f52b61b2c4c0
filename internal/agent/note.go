package agent

import (
	"context"
	"slices"
	"strings"

	"tote/internal/content"
	"tote/internal/tool"
)

// This file tells a model what happens beside its conversation. A note is a text
// block of its own in the prompt, or at the end of a tool's result. It is never
// the user's word.

// noteMark is the handle of a note before it has one, and how every note's begins.
const noteMark = "note"

// IsNote reports whether a block of a prompt is a note of this program and not
// what the user wrote.
func IsNote(b content.Block) bool {
	return b.Kind() == content.KindText && strings.HasPrefix(string(b.BlockHandle()), noteMark+"-")
}

// note is what a model is to be told. key finds it again, "" for nothing.
type note struct{ key, text string }

// AddNote tells the model something before the next request: in the running turn
// with the results of its tools, else with the next prompt.
func (s *Session) AddNote(text string) { s.queue(note{text: text}) }

func (s *Session) queue(n note) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, n)
}

// takeNotes empties the queue.
func (s *Session) takeNotes() []content.Part {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]content.Part, 0, len(s.notes))
	for _, n := range s.notes {
		out = append(out, notePart(n.text))
	}
	s.notes = nil
	return out
}

// noteIn puts what is queued behind the last of some results.
func (t *turn) noteIn(ctx context.Context, results []content.Part) error {
	notes := t.s.takeNotes()
	if err := t.s.label(ctx, notes); err != nil {
		return err
	}
	last, ok := results[len(results)-1].(content.ToolResult)
	for _, p := range notes {
		if b, isBlock := p.(content.Block); ok && isBlock {
			last.Blocks = append(last.Blocks, b)
		}
	}
	results[len(results)-1] = last
	return nil
}

func notePart(text string) content.Text { return content.Text{Handle: noteMark, Body: text} }

// WatchJobs gives fn what happens to background jobs between turns; nil ends that.
// fn is called from the goroutine of the job.
func (s *Session) WatchJobs(fn func(tool.JobState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watcher = fn
}

// JobChanged tells the front of the running turn, else the watcher, what became of
// a background job. The model learns of a job's end by a note, unless JobTold
// takes it back.
func (s *Session) JobChanged(j tool.JobState) {
	if j.State != "running" {
		s.queue(note{key: jobKey(j.ID), text: jobNote(j)})
	}
	s.mu.Lock()
	front, watcher := s.front, s.watcher
	s.mu.Unlock()
	if front != nil && front.do(func(f Front) { f.JobChanged(JobChanged{Job: j}) }) {
		return
	}
	if watcher != nil {
		watcher(j)
	}
}

// JobTold says that the model has been given a job's report by a tool.
func (s *Session) JobTold(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = slices.DeleteFunc(s.notes, func(n note) bool { return n.key == jobKey(id) })
}

func jobKey(id string) string { return "job " + id }

// jobReport is how much of a job's report a note holds, in bytes.
const jobReport = 20_000

func jobNote(j tool.JobState) string {
	head := "[job " + content.Clean(j.ID)
	if j.Title != "" {
		head += " (" + content.Clean(j.Title) + ")"
	}
	return head + " ended: " + content.Clean(j.State) + "]\n" + clipped(j.Report, jobReport) + "\n[end of the report of job " + content.Clean(j.ID) + "]"
}
