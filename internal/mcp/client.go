package mcp

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tote/internal/content"
)

// client is what the server sees of us. Roots and sampling are on their way out
// of the protocol; the servers of today use them. Elicitation is not offered.
func (m *member) client(l *link) *mcp.Client {
	o := &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{},
		// The handlers are there so that the SDK asks to be told; the filter has
		// noted the change already.
		ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) {},
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) {},
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) {},
	}
	if m.o.Roots != nil {
		o.Capabilities.RootsV2 = &mcp.RootCapabilities{ListChanged: true} //nolint:staticcheck // today's servers ask for roots
	}
	if m.o.Sample != nil {
		o.CreateMessageHandler = func(ctx context.Context, req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) { //nolint:staticcheck // today's servers sample
			return m.sample(ctx, l, req.Params)
		}
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "tote", Version: m.o.Version}, o)
	if m.o.Roots != nil {
		l.roots = slices.Clone(m.o.Roots(m.scope))
		c.AddRoots(rootsOf(l.roots)...) //nolint:staticcheck // as above
	}
	return c
}

// changeRoots gives the SDK the folders that are new and takes away the others;
// it tells the server where there is a difference.
func (l *link) changeRoots(was, now []string) {
	var gone []string
	for _, d := range was {
		if !slices.Contains(now, d) {
			gone = append(gone, fileURI(d))
		}
	}
	fresh := slices.DeleteFunc(slices.Clone(now), func(d string) bool { return slices.Contains(was, d) })
	if len(gone) > 0 {
		l.client.RemoveRoots(gone...) //nolint:staticcheck // today's servers ask for roots
	}
	if len(fresh) > 0 {
		l.client.AddRoots(rootsOf(fresh)...) //nolint:staticcheck // as above
	}
}

func rootsOf(dirs []string) []*mcp.Root { //nolint:staticcheck // today's servers ask for roots
	var out []*mcp.Root //nolint:staticcheck // as above
	for _, d := range dirs {
		out = append(out, &mcp.Root{URI: fileURI(d), Name: filepath.Base(d)}) //nolint:staticcheck // as above
	}
	return out
}

// fileURI spells an absolute path as a file: URI.
func fileURI(path string) string {
	p := filepath.ToSlash(path)
	host := ""
	switch {
	case strings.HasPrefix(p, "//"): // a share of Windows
		host, p, _ = strings.Cut(p[2:], "/")
		p = "/" + p
	case !strings.HasPrefix(p, "/"):
		p = "/" + p // a drive
	}
	return (&url.URL{Scheme: "file", Host: host, Path: p}).String()
}

// maxSampled is how many messages a server may ask to complete.
const maxSampled = 100

// sample answers a server that wants a completion. The call that it is part of
// waits meanwhile.
func (m *member) sample(ctx context.Context, l *link, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error) { //nolint:staticcheck // today's servers sample
	refuse := func(why string) error { return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: why} }
	if p == nil || len(p.Messages) == 0 || len(p.Messages) > maxSampled {
		return nil, refuse("the number of messages must be 1 to 100")
	}
	req := SampleRequest{
		Scope: m.scope, Server: m.server.Name, System: p.SystemPrompt,
		MaxTokens: max(0, p.MaxTokens), Temperature: p.Temperature, Stop: p.StopSequences,
	}
	if p.ModelPreferences != nil {
		for _, h := range p.ModelPreferences.Hints {
			if h != nil {
				req.Hints = append(req.Hints, h.Name)
			}
		}
	}
	for _, msg := range p.Messages {
		sources, role, err := m.sampled(msg)
		if err != nil {
			return nil, refuse(err.Error())
		}
		req.Messages = append(req.Messages, SampleMessage{Role: role, Sources: sources})
	}
	ctx, cancel := context.WithTimeout(ctx, m.o.CallMax)
	defer cancel()
	answer := make(chan error, 1)
	var res SampleResult
	// Ends with the completion, which ctx ends.
	go func() {
		var err error
		res, err = m.o.Sample(ctx, req)
		answer <- err
	}()
	if err := m.waitSample(ctx, l, answer); err != nil {
		return nil, &jsonrpc.Error{Code: -1, Message: m.mask.words(err.Error())}
	}
	out := &mcp.CreateMessageResult{ //nolint:staticcheck // as above
		Content: &mcp.TextContent{Text: res.Text}, Model: res.Model, Role: "assistant", StopReason: res.StopReason,
	}
	if out.StopReason == "" {
		out.StopReason = "endTurn"
	}
	return out, nil
}

// waitSample waits for the answer, and keeps the calls of the server alive as
// long.
func (m *member) waitSample(ctx context.Context, l *link, answer <-chan error) error {
	tick := time.NewTicker(max(m.o.CallTimeout/2, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case err := <-answer:
			l.touch()
			return err
		case <-tick.C:
			l.touch()
		case <-l.quit:
			return errClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *member) sampled(msg *mcp.SamplingMessage) ([]content.Source, content.Role, error) { //nolint:staticcheck // today's servers sample
	if msg == nil || msg.Content == nil {
		return nil, 0, errors.New("a message has no content")
	}
	role := content.RoleUser
	if msg.Role == "assistant" {
		role = content.RoleAssistant
	}
	raw, err := msg.Content.MarshalJSON()
	if err != nil {
		return nil, 0, errors.New("a message cannot be read")
	}
	r := newReader(m.server.Name + " sampling")
	r.block(raw)
	return r.sources, role, nil
}
