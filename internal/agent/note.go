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
// told is called when it has been, nil for nothing.
type note struct {
	key, text string
	told      func()
}

// planNote tells the model of plan mode.
const planNote = "[plan mode: nothing may be written, run or fetched in this turn; look, then propose a plan]"

// plannedIn reports whether the last of some turns was in plan mode, as the model was
// told.
func plannedIn(turns []content.Turn) bool {
	if len(turns) == 0 || len(turns[len(turns)-1].Messages) == 0 {
		return false
	}
	return slices.ContainsFunc(turns[len(turns)-1].Messages[0].Blocks(), func(b content.Block) bool {
		t, ok := b.(content.Text)
		return ok && IsNote(b) && t.Body == planNote
	})
}

// AddNote tells the model something before the next request: in the running turn
// with the results of its tools, else with the next prompt.
func (s *Session) AddNote(text string) { s.queue(note{text: text}) }

// AddNoteOnce is AddNote for what must not be lost: told is called when the note is
// part of the conversation. A prompt that was refused does not count.
func (s *Session) AddNoteOnce(text string, told func()) { s.queue(note{text: text, told: told}) }

// toldNow calls what waits for the telling of some notes.
func toldNow(notes []note) {
	for _, n := range notes {
		if n.told != nil {
			n.told()
		}
	}
}

func (s *Session) queue(n note) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, n)
}

// takeNotes empties the queue.
func (s *Session) takeNotes() []note {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.notes
	s.notes = nil
	return out
}

// keepNotes puts notes back that could not be told.
func (s *Session) keepNotes(notes []note) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(notes, s.notes...)
}

// ofPrompt is the key of notes that are about one prompt and go with it.
const ofPrompt = "prompt"

// tellLater puts the notes of a prompt back that was not sent, but for those that are
// about that prompt.
func (s *Session) tellLater(notes []note) {
	s.keepNotes(slices.DeleteFunc(slices.Clone(notes), func(n note) bool { return n.key == ofPrompt }))
}

// noted makes labelled parts of notes. They stay in the queue where that fails.
func (s *Session) noted(ctx context.Context, notes []note) ([]content.Part, error) {
	out := make([]content.Part, 0, len(notes))
	for _, n := range notes {
		out = append(out, content.Text{Handle: noteMark, Body: n.text})
	}
	if err := s.label(ctx, out); err != nil {
		s.keepNotes(notes)
		return nil, err
	}
	return out, nil
}

// withNotes is a prompt with notes behind it.
func (s *Session) withNotes(ctx context.Context, own content.Message, notes []note) (content.Message, error) {
	parts, err := s.noted(ctx, notes)
	if err != nil {
		return own, err
	}
	out := own
	out.Parts = append(slices.Clip(own.Parts), parts...)
	out.Envelopes = append(slices.Clip(own.Envelopes), make([]content.Envelope, len(parts))...)
	return out, nil
}

// noteIn puts what is queued behind the last of some results.
func (t *turn) noteIn(ctx context.Context, results []content.Part) error {
	taken := t.s.takeNotes()
	notes, err := t.s.noted(ctx, taken)
	if err != nil {
		return err
	}
	toldNow(taken)
	last, ok := results[len(results)-1].(content.ToolResult)
	for _, p := range notes {
		if b, isBlock := p.(content.Block); ok && isBlock {
			last.Blocks = append(last.Blocks, b)
		}
	}
	results[len(results)-1] = last
	return nil
}

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
