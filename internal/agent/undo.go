package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tote/internal/content"
	"tote/internal/tool"
)

// UndoResult is what an undo took back.
type UndoResult struct {
	// Turn is the first turn that is undone.
	Turn string
	// Blocks are those of its prompt, and Sources the same, to be handed over
	// again. Notes of this program are not among them.
	Blocks  []content.Block
	Sources []content.Source
	// Files are the files that were put back, or kept because somebody else has
	// changed them since.
	Files Restored
	// Ran are the tools, sorted, whose effects nobody can take back: commands, and
	// tools of MCP servers.
	Ran []string
}

// Undo takes the newest turns out of the session and puts the files back that they
// changed. It waits for the turn that runs.
func (s *Session) Undo(ctx context.Context, turns int) (UndoResult, error) {
	return s.rewind(ctx, func(all []content.Turn) (int, error) {
		switch {
		case turns < 1 || len(all) == 0:
			return 0, errors.New("there is no turn to undo")
		case turns > len(all) && len(all) == 1:
			return 0, fmt.Errorf("there is only 1 turn to undo, not %d", turns)
		case turns > len(all):
			return 0, fmt.Errorf("there are only %d turns to undo, not %d", len(all), turns)
		}
		return len(all) - turns, nil
	})
}

// Rewind takes a turn and all after it out of the session, as Undo does.
func (s *Session) Rewind(ctx context.Context, turn string) (UndoResult, error) {
	return s.rewind(ctx, func(all []content.Turn) (int, error) {
		i := slices.IndexFunc(all, func(t content.Turn) bool { return t.ID == turn })
		if i < 0 {
			return 0, fmt.Errorf("there is no turn %q", turn)
		}
		return i, nil
	})
}

func (s *Session) rewind(ctx context.Context, find func([]content.Turn) (int, error)) (UndoResult, error) {
	release, err := s.alone(ctx, nil)
	if err != nil {
		return UndoResult{}, err
	}
	defer release()
	if s.a.o.Reductions == nil {
		return UndoResult{}, errors.New("undo turns: nothing here can take them out of the record")
	}
	all := s.Turns()
	from, err := find(all)
	if err != nil {
		return UndoResult{}, err
	}
	// Files are not put back for a record that cannot be written.
	if rec, ok := s.a.o.Sessions.(Toucher); ok {
		if err := rec.TouchSession(ctx, s.ID()); err != nil {
			return UndoResult{}, fmt.Errorf("nothing was taken back: %w", err)
		}
	}
	out := UndoResult{Turn: all[from].ID}
	var ids []string
	for _, t := range all[from:] {
		ids = append(ids, t.ID)
	}
	if s.a.o.Checkpoints != nil {
		out.Files, err = s.a.o.Checkpoints.Restore(ctx, s.ID(), ids)
		for _, path := range append(slices.Clone(out.Files.Files), out.Files.Removed...) {
			s.files.Saw(path, tool.Stamp{}) // the model has not seen it as it is now
		}
		if err != nil {
			return out, fmt.Errorf("put the files back: %w", err)
		}
	}
	if err := s.a.o.Reductions.UndoTurns(ctx, s.ID(), ids[0]); err != nil {
		err = fmt.Errorf("undo turns: %w", err)
		if len(out.Files.Files)+len(out.Files.Removed) > 0 {
			err = fmt.Errorf("the files are put back, and the turns stay in the conversation until this is done again: %w", err)
		}
		return out, err
	}
	out.Ran = ran(all[from:])
	for _, b := range all[from].Messages[0].Blocks() {
		if !IsNote(b) {
			out.Blocks = append(out.Blocks, b)
			out.Sources = append(out.Sources, again(b))
		}
	}
	return out, s.forget(ctx, from)
}

// Toucher is a [SessionRecorder] that can be asked whether it can be written: it
// notes that a session is worked in now.
type Toucher interface {
	TouchSession(ctx context.Context, id string) error
}

// Expecter are [Checkpoints] that are also told what will be written to a file that
// was kept, by its SHA-256, zero for no file. The write of a program that is killed
// then is known as its own.
type Expecter interface {
	Expect(ctx context.Context, session, turn, path string, after content.Digest) error
}

// expects notes what a call is about to write to a file.
func (s *Session) expects(ctx context.Context, turn, path string, after content.Digest) error {
	e, ok := s.a.o.Checkpoints.(Expecter)
	if !ok {
		return nil
	}
	session, of := s.keptAs(turn)
	return e.Expect(ctx, session, of, path, after)
}

// harmless are the tools that leave nothing behind, or only files that are put back.
var harmless = map[string]bool{
	"read": true, "write": true, "edit": true, "list": true, "glob": true, "grep": true, "view_image": true, "look": true,
	"todo": true, "skill": true, "fetch": true, "bash_output": true, "bash_kill": true, "mcp_read": true, "mcp_resources": true,
}

// ran are the other tools that some turns have called and that were not refused.
func ran(turns []content.Turn) []string {
	names := map[string]bool{}
	for _, t := range turns {
		for _, m := range t.Messages {
			for _, p := range m.Parts {
				if r, ok := p.(content.ToolResult); ok && !harmless[r.Name] && !refusedCall(r) {
					names[r.Name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// refusedCall reports whether a call was never run, by what the model was told.
func refusedCall(r content.ToolResult) bool {
	if !r.IsError || len(r.Blocks) == 0 {
		return false
	}
	t, ok := r.Blocks[0].(content.Text)
	return ok && (strings.HasPrefix(t.Body, "not permitted") || strings.HasPrefix(t.Body, notPermitted))
}

// forget drops the turns from index from on in memory, and opens a new lane.
func (s *Session) forget(ctx context.Context, from int) error {
	if err := s.cut(ctx, from); err != nil {
		return err
	}
	return s.advance(ctx)
}

// cut drops the turns from index from on in memory.
func (s *Session) cut(ctx context.Context, from int) error {
	now, err := s.a.o.Sessions.Session(ctx, s.ID())
	if err != nil {
		return fmt.Errorf("open session %s: %w", s.ID(), err)
	}
	s.mu.Lock()
	s.turns = s.turns[:from:from]
	s.stored.Turns, s.stored.Pictures = now.Turns, now.Pictures
	s.mu.Unlock()
	return nil
}

// again is the source with which a block of an earlier prompt is handed over once
// more.
func again(b content.Block) content.Source {
	src := content.Source{Payload: content.Given{Block: b}, Inlet: content.InletPrompt, Chooser: content.ChosenByUser, As: b.Kind()}
	if t, ok := b.(content.Text); ok {
		src.Payload = content.Prose{Text: t.Body}
	}
	return src
}

// SessionForker copies a session under a new id, up to and with the turn upTo, ""
// for all.
type SessionForker interface {
	ForkSession(ctx context.Context, from, id, upTo string) error
}

// Fork opens a copy of a session as it was after the turn upTo, "" for all of it.
func (a *Agent) Fork(ctx context.Context, id, upTo string) (*Session, error) {
	forker, ok := a.o.Sessions.(SessionForker)
	if !ok {
		return nil, errors.New("fork a session: nothing here can copy one")
	}
	to := a.o.NewID()
	if err := forker.ForkSession(ctx, id, to, upTo); err != nil {
		return nil, fmt.Errorf("fork session %s: %w", id, err)
	}
	return a.Open(ctx, to, "", "", nil)
}
