package agent

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"tote/internal/content"
)

// label gives every block of parts its handle, in order. A block that comes from
// another session keeps the one that it has, unless this session knows another
// block by it.
func (s *Session) label(ctx context.Context, parts []content.Part) error {
	var fresh []int
	given := map[content.Handle]bool{}
	counts := make(map[content.Kind]int)
	for i, p := range parts {
		b, ok := p.(content.Block)
		if !ok {
			continue
		}
		if h := b.BlockHandle(); h != "" && h != noteMark {
			if other, known := s.lookup(h); !given[h] && (!known || sameBytes(other, b)) {
				given[h] = true
				continue
			}
		}
		fresh = append(fresh, i)
		counts[b.Kind()]++
	}
	for len(counts) > 0 {
		next, err := s.a.o.Sessions.TakeHandles(ctx, s.ID(), counts)
		if err != nil {
			return fmt.Errorf("number the attachments: %w", err)
		}
		counts = make(map[content.Kind]int)
		fresh = slices.DeleteFunc(fresh, func(i int) bool {
			b, _ := parts[i].(content.Block) // only blocks are in the list
			h := s.handle(b, next)
			if given[h] || s.knows(h) { // it came with a block of another session
				counts[b.Kind()]++
				return false
			}
			parts[i] = content.WithHandle(b, h)
			return true
		})
	}
	return nil
}

// handle makes the next handle of a block's kind.
func (s *Session) handle(b content.Block, next map[content.Kind]int) content.Handle {
	k := b.Kind()
	n := next[k]
	next[k]++
	if b.BlockHandle() == noteMark {
		return content.Handle(noteMark + "-" + strconv.Itoa(n))
	}
	return content.NewHandle(k, n, s.a.o.Inlet.Extension(b))
}

func (s *Session) knows(h content.Handle) bool {
	if s.parent == nil && s.Stored().Parent == "" {
		return false // it has no block but its own
	}
	_, ok := s.lookup(h)
	return ok
}

// sameBytes reports whether two blocks hold the same attachment.
func sameBytes(a, b content.Block) bool {
	x, ok := content.AttachmentOf(a)
	y, ok2 := content.AttachmentOf(b)
	return ok && ok2 && x.Original.Digest == y.Original.Digest
}
