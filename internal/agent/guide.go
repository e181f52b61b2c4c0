package agent

import (
	"context"
	"path/filepath"

	"tote/internal/content"
)

// rules adds the project's rules for the folder that a call has touched, each once
// in a session. The file's name is the project's own and stands in a label.
func (t *turn) rules(ctx context.Context, o *outcome) {
	guide, path := t.s.a.o.Guide, o.request.Path
	if guide == nil || path == "" || !o.request.Inside || o.refused != "" {
		return
	}
	for _, r := range guide.Beside(ctx, t.s.Stored().Cwd, filepath.FromSlash(path)) {
		if t.s.firstRules(r) {
			name := content.Clean(r.File)
			o.said = append(o.said, "[rules of the project for this folder, from "+name+"]\n"+r.Text+"\n[end of "+name+"]")
		}
	}
}

// firstRules reports whether the session has not been given these rules yet.
func (s *Session) firstRules(r Rules) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ruled == nil {
		s.ruled = map[Rules]bool{}
	}
	first := !s.ruled[r]
	s.ruled[r] = true
	return first
}
