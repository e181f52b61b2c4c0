package providertest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"sync"
	"testing"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
)

// Blobs is a store in memory. The zero value is empty and ready.
type Blobs struct {
	mu   sync.Mutex
	data map[content.Digest][]byte
}

var _ provider.Blobs = (*Blobs)(nil)

// Put keeps data and returns the blob that stands for it.
func (b *Blobs) Put(data []byte, mime string) content.Blob {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.data == nil {
		b.data = map[content.Digest][]byte{}
	}
	d := content.Digest(sha256.Sum256(data))
	b.data[d] = data
	return content.Blob{Digest: d, MIME: mime, Size: int64(len(data))}
}

// Open implements [provider.Blobs].
func (b *Blobs) Open(d content.Digest) (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	data, ok := b.data[d]
	if !ok {
		return nil, fmt.Errorf("no blob %s", d.Short())
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// Picture makes an image block of stored bytes.
func Picture(h content.Handle, b content.Blob, w, ht int) content.Image {
	b.Width, b.Height = w, ht
	return content.Image{Attachment: content.Attachment{
		Handle: h, Name: "file-of-" + string(h), Declared: b.MIME, Original: b, Prepared: b,
		Origin: content.Origin{Inlet: content.InletFlag, Chooser: content.ChosenByUser},
	}, Frames: 1}
}

// Profile returns one that takes every kind of content on a path, with the
// placement of Chat Completions.
func Profile(path string) delivery.Profile {
	yes := delivery.Capability{Answer: delivery.Yes, Evidence: delivery.EvidenceBinding}
	return delivery.Profile{
		Path: path, Provider: "test", Model: "test-model", Endpoint: "test-endpoint",
		Images: yes, Audio: yes, Documents: yes,
		ImageLimits:    delivery.Limits{MIMEs: []string{"image/png", "image/jpeg", "image/webp", "image/gif"}},
		AudioLimits:    delivery.Limits{MIMEs: []string{"audio/wav", "audio/mpeg"}},
		DocumentLimits: delivery.Limits{MIMEs: []string{"application/pdf"}},
		Context:        1_000_000,
		Placement:      delivery.Placement{HoistResults: true},
	}
}

// Settle has the real heart decide about messages and returns the prompt. All
// text blobs must be in blobs, which may be nil when there are none.
func Settle(tb testing.TB, p delivery.Profile, blobs *Blobs, messages ...content.Message) delivery.Prompt {
	tb.Helper()
	plan := delivery.Decide(delivery.Input{Profile: p, Messages: messages, Current: len(messages), Budgets: delivery.Budgets{
		Picture: delivery.Unlimited, History: delivery.Unlimited, Request: delivery.Unlimited,
	}})
	res := delivery.Results{Texts: map[content.Handle]string{}}
	for _, o := range plan.Orders() {
		if o.Load.IsZero() {
			continue
		}
		rc, err := blobs.Open(o.Load.Digest)
		if err != nil {
			tb.Fatalf("settle: %v", err)
		}
		text, err := io.ReadAll(rc)
		if err != nil {
			tb.Fatalf("settle: %v", err)
		}
		res.Texts[o.Handle] = string(text)
	}
	prompt, _, _ := delivery.Settle(plan, res)
	return prompt
}

// User makes a user message.
func User(blocks ...content.Block) content.Message {
	m := content.Message{Role: content.RoleUser}
	for _, b := range blocks {
		m.Parts = append(m.Parts, b)
	}
	return m
}

// Say makes an assistant message.
func Say(parts ...content.Part) content.Message {
	return content.Message{Role: content.RoleAssistant, Parts: parts}
}

// Results makes a tool message.
func Results(results ...content.ToolResult) content.Message {
	m := content.Message{Role: content.RoleTool}
	for _, r := range results {
		m.Parts = append(m.Parts, r)
	}
	return m
}
