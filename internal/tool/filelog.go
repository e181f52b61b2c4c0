package tool

import (
	"sync"
	"time"
)

// Stamp is what a file looked like when the model read or wrote it.
type Stamp struct {
	Size    int64
	ModTime time.Time
	// Sum is the SHA-256 of the whole file where a tool has read it whole,
	// else zero.
	Sum [32]byte
}

// FileLog remembers what files looked like when the model last saw them, so that
// a file which somebody else has changed is not overwritten blindly. It lives as
// long as a session is open. The zero value is ready; its methods may be called
// from several goroutines.
type FileLog struct {
	mu   sync.Mutex
	seen map[string]Stamp
}

// Saw notes what the file at the absolute path looks like. The path is that of the
// file itself, behind links.
func (l *FileLog) Saw(abs string, s Stamp) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen == nil {
		l.seen = map[string]Stamp{}
	}
	l.seen[abs] = s
}

// Seen returns what was last noted, ok false for nothing.
func (l *FileLog) Seen(abs string) (s Stamp, ok bool) {
	if l == nil {
		return Stamp{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok = l.seen[abs]
	return s, ok
}
