package providertest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"tote/internal/content"
)

// The limits of Converse: pictures and documents in one message, and cache
// points in a request.
const (
	maxConversePictures  = 20
	maxConverseDocuments = 5
	maxConverseCaches    = 4
)

var (
	converseName     = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	converseDocument = regexp.MustCompile(`^[a-zA-Z0-9()\[\]-]+( [a-zA-Z0-9()\[\]-]+)*$`)
)

type converseRequest struct {
	AdditionalModelRequestFields json.RawMessage `json:"additionalModelRequestFields"`
	InferenceConfig              *struct {
		MaxTokens int `json:"maxTokens"`
	} `json:"inferenceConfig"`
	System     []converseBlock `json:"system"`
	ToolConfig *struct {
		Tools []struct {
			ToolSpec *struct {
				Name        string  `json:"name"`
				Description *string `json:"description"`
				InputSchema struct {
					JSON map[string]json.RawMessage `json:"json"`
				} `json:"inputSchema"`
			} `json:"toolSpec"`
			CachePoint *converseCache `json:"cachePoint"`
		} `json:"tools"`
	} `json:"toolConfig"`
	Messages []struct {
		Role    string          `json:"role"`
		Content []converseBlock `json:"content"`
	} `json:"messages"`
}

type converseCache struct {
	Type string `json:"type"`
}

// converseBlock is a content block: exactly one member is set.
type converseBlock struct {
	Text             *string          `json:"text"`
	Image            *converseMedia   `json:"image"`
	Document         *converseMedia   `json:"document"`
	Audio            *converseMedia   `json:"audio"`
	CachePoint       *converseCache   `json:"cachePoint"`
	ReasoningContent *converseThought `json:"reasoningContent"`
	ToolUse          *struct {
		ToolUseID string          `json:"toolUseId"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
	} `json:"toolUse"`
	ToolResult *struct {
		ToolUseID string          `json:"toolUseId"`
		Content   []converseBlock `json:"content"`
		Status    *string         `json:"status"`
	} `json:"toolResult"`
}

type converseMedia struct {
	Format string `json:"format"`
	Name   string `json:"name"`
	Source struct {
		Bytes string `json:"bytes"`
	} `json:"source"`
}

type converseThought struct {
	ReasoningText *struct {
		Text      *string `json:"text"`
		Signature *string `json:"signature"`
	} `json:"reasoningText"`
	RedactedContent []byte `json:"redactedContent"`
}

// CheckConverse reports what Converse would refuse in a request.
func CheckConverse(body []byte) error {
	_, err := ReadConverse(body)
	return err
}

// ReadConverse reads a request to Converse. What the service would refuse is an
// error: roles that do not alternate, calls that the next message does not
// answer, blank text, unknown fields and formats, names it does not take, more
// media than it takes, documents without text, cache points out of place. The
// model is not in the body.
func ReadConverse(body []byte) (Sent, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	var req converseRequest
	if err := d.Decode(&req); err != nil {
		return Sent{}, fmt.Errorf("parse converse request: %w", err)
	}
	if d.More() {
		return Sent{}, errors.New("something stands behind the request")
	}
	r := converseReader{names: map[string]bool{}, ids: map[string]bool{}}
	if err := r.head(&req); err != nil {
		return Sent{}, err
	}
	if len(req.Messages) == 0 || req.Messages[0].Role != "user" || req.Messages[len(req.Messages)-1].Role != "user" {
		return Sent{}, errors.New("a conversation begins and ends with the user")
	}
	for i, m := range req.Messages {
		if m.Role != "user" && m.Role != "assistant" || i > 0 && m.Role == req.Messages[i-1].Role {
			return Sent{}, fmt.Errorf("message %d: role %q does not alternate", i, m.Role)
		}
		parts, err := r.message(m.Role, m.Content)
		if err != nil {
			return Sent{}, fmt.Errorf("message %d (%s): %w", i, m.Role, err)
		}
		r.sent.Messages = append(r.sent.Messages, SentMessage{Role: m.Role, Parts: parts})
	}
	switch {
	case r.caches > maxConverseCaches:
		return Sent{}, fmt.Errorf("%d cache points", r.caches)
	case len(r.ids) > 0 && req.ToolConfig == nil:
		return Sent{}, errors.New("calls without toolConfig")
	}
	return r.sent, nil
}

// converseReader walks a request.
type converseReader struct {
	sent   Sent
	caches int
	// names are those of documents, ids those of calls; open are the calls
	// of the last message.
	names, ids map[string]bool
	open       []string
}

func (r *converseReader) head(req *converseRequest) error {
	if f := req.AdditionalModelRequestFields; f != nil && (len(f) == 0 || f[0] != '{') {
		return errors.New("additionalModelRequestFields is no object")
	}
	if c := req.InferenceConfig; c != nil && c.MaxTokens < 1 {
		return fmt.Errorf("maxTokens is %d", c.MaxTokens)
	}
	for i, b := range req.System {
		switch {
		case b.CachePoint != nil && i > 0:
			r.caches++
		case b.Text == nil || blank(*b.Text):
			return fmt.Errorf("system %d: no text", i)
		default:
			r.sent.System += *b.Text
		}
	}
	if req.ToolConfig == nil {
		return nil
	}
	if len(req.ToolConfig.Tools) == 0 {
		return errors.New("toolConfig without tools")
	}
	for i, t := range req.ToolConfig.Tools {
		switch s := t.ToolSpec; {
		case t.CachePoint != nil && i > 0 && s == nil:
			r.caches++
		case s == nil || !converseName.MatchString(s.Name) || s.InputSchema.JSON == nil || s.Description != nil && blank(*s.Description):
			return fmt.Errorf("tool %d is incomplete", i)
		default:
			r.sent.Tools = append(r.sent.Tools, s.Name)
		}
	}
	return nil
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// message reads one message and checks what holds for it as a whole.
func (r *converseReader) message(role string, blocks []converseBlock) ([]SentPart, error) {
	if len(blocks) == 0 {
		return nil, errors.New("it is empty")
	}
	open, answered := r.open, 0
	r.open = nil
	var out []SentPart
	var count converseCount
	for i, b := range blocks {
		if b.CachePoint != nil {
			if err := r.cache(out, b.CachePoint); err != nil {
				return nil, fmt.Errorf("block %d: %w", i, err)
			}
			out[len(out)-1].Cache = true
			continue
		}
		p, err := r.block(role, b)
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", i, err)
		}
		if p.Result != nil {
			if answered != len(out) {
				return nil, fmt.Errorf("block %d: a result behind something else", i)
			}
			if answered == len(open) || p.Result.CallID != open[answered] {
				return nil, fmt.Errorf("block %d: it answers no call of the message before, or not in their order", i)
			}
			answered++
		}
		count.add(p)
		out = append(out, p)
	}
	if answered != len(open) {
		return nil, fmt.Errorf("%d of %d calls are answered", answered, len(open))
	}
	return out, count.check()
}

// converseCount counts what has limits in a message.
type converseCount struct{ texts, pictures, documents int }

func (c *converseCount) add(p SentPart) {
	switch {
	case p.Kind == content.KindImage:
		c.pictures++
	case p.Kind == content.KindDocument:
		c.documents++
	case p.Text != "":
		c.texts++
	}
	if p.Result != nil {
		for _, q := range p.Result.Parts {
			c.add(q)
		}
	}
}

func (c *converseCount) check() error {
	switch {
	case c.pictures > maxConversePictures:
		return fmt.Errorf("%d pictures", c.pictures)
	case c.documents > maxConverseDocuments:
		return fmt.Errorf("%d documents", c.documents)
	case c.documents > 0 && c.texts == 0:
		return errors.New("a document without text")
	}
	return nil
}

func (r *converseReader) cache(before []SentPart, c *converseCache) error {
	r.caches++
	switch n := len(before); {
	case c.Type != "default":
		return fmt.Errorf("a cache point of type %q", c.Type)
	case n == 0:
		return errors.New("nothing before a cache point")
	case before[n-1].Cache:
		return errors.New("two cache points")
	case before[n-1].Signature != "":
		return errors.New("a cache point behind thinking")
	case before[n-1].Kind == content.KindDocument && before[n-1].MIME != "document/pdf":
		return errors.New("a cache point behind a document that is no PDF")
	}
	return nil
}

// block reads one block. Which members may be set depends on the role.
func (r *converseReader) block(role string, b converseBlock) (SentPart, error) {
	set := 0
	for _, is := range []bool{b.Text != nil, b.Image != nil, b.Document != nil, b.Audio != nil, b.ReasoningContent != nil, b.ToolUse != nil, b.ToolResult != nil} {
		if is {
			set++
		}
	}
	user := role == "user"
	switch {
	case set != 1:
		return SentPart{}, fmt.Errorf("%d members are set", set)
	case b.Text != nil:
		if blank(*b.Text) {
			return SentPart{}, errors.New("blank text")
		}
		return SentPart{Text: *b.Text}, nil
	case user && b.ToolResult != nil:
		return r.result(b)
	case user && (b.Image != nil || b.Document != nil || b.Audio != nil):
		return r.media(b)
	case !user && b.ToolUse != nil:
		return r.call(b)
	case !user && b.ReasoningContent != nil:
		return readThought(b.ReasoningContent)
	}
	return SentPart{}, errors.New("a block that its role does not say")
}

func (r *converseReader) call(b converseBlock) (SentPart, error) {
	u := b.ToolUse
	switch {
	case !converseName.MatchString(u.ToolUseID) || !converseName.MatchString(u.Name):
		return SentPart{}, fmt.Errorf("a call with id %q and name %q", u.ToolUseID, u.Name)
	case r.ids[u.ToolUseID]:
		return SentPart{}, fmt.Errorf("two calls with id %q", u.ToolUseID)
	case len(u.Input) == 0 || u.Input[0] != '{':
		return SentPart{}, errors.New("a call whose input is no object")
	}
	r.ids[u.ToolUseID] = true
	r.open = append(r.open, u.ToolUseID)
	return SentPart{Call: &content.ToolCall{ID: u.ToolUseID, Name: u.Name, Arguments: string(u.Input)}}, nil
}

func readThought(t *converseThought) (SentPart, error) {
	switch x := t.ReasoningText; {
	case x == nil && len(t.RedactedContent) > 0:
		return SentPart{Signature: string(t.RedactedContent)}, nil
	case x != nil && x.Text != nil && x.Signature != nil && *x.Signature != "" && t.RedactedContent == nil:
		return SentPart{Thought: *x.Text, Signature: *x.Signature}, nil
	}
	return SentPart{}, errors.New("thinking without text and signature")
}

func (r *converseReader) result(b converseBlock) (SentPart, error) {
	t := b.ToolResult
	out := SentResult{CallID: t.ToolUseID}
	if s := t.Status; s != nil {
		if *s != "error" && *s != "success" {
			return SentPart{}, fmt.Errorf("status %q", *s)
		}
		out.IsError = *s == "error"
	}
	if len(t.Content) == 0 {
		return SentPart{}, errors.New("an empty result")
	}
	for i, c := range t.Content {
		if c.Text == nil && c.Image == nil && c.Document == nil {
			return SentPart{}, fmt.Errorf("part %d of a result is not taken there", i)
		}
		p, err := r.block("user", c)
		if err != nil {
			return SentPart{}, fmt.Errorf("part %d of a result: %w", i, err)
		}
		out.Parts = append(out.Parts, p)
	}
	return SentPart{Result: &out}, nil
}

// The formats that the service knows.
const (
	converseImages    = " png jpeg gif webp "
	converseDocuments = " pdf csv doc docx xls xlsx html txt md "
	converseAudio     = " mp3 opus wav aac flac mp4 ogg mkv mka x-aac m4a mpeg mpga pcm webm "
)

// media reads a picture, a document or sound. Its MIME is the family and the
// format: "image/png", "document/pdf", "audio/wav".
func (r *converseReader) media(b converseBlock) (SentPart, error) {
	var m *converseMedia
	var known string
	var p SentPart
	switch {
	case b.Image != nil:
		m, known, p = b.Image, converseImages, SentPart{Kind: content.KindImage, MIME: "image/"}
	case b.Document != nil:
		m, known, p = b.Document, converseDocuments, SentPart{Kind: content.KindDocument, MIME: "document/"}
	default:
		m, known, p = b.Audio, converseAudio, SentPart{Kind: content.KindAudio, MIME: "audio/"}
	}
	if !strings.Contains(known, " "+m.Format+" ") {
		return SentPart{}, fmt.Errorf("format %q", m.Format)
	}
	if p.Kind == content.KindDocument {
		if len(m.Name) > 200 || !converseDocument.MatchString(m.Name) || r.names[m.Name] {
			return SentPart{}, fmt.Errorf("a document called %q", m.Name)
		}
		r.names[m.Name] = true
	} else if m.Name != "" {
		return SentPart{}, errors.New("a name where there is none")
	}
	data, err := base64.StdEncoding.Strict().DecodeString(m.Source.Bytes)
	if err != nil || len(data) == 0 {
		return SentPart{}, fmt.Errorf("bytes that do not decode: %w", errors.Join(err, errors.New("or are none")))
	}
	p.MIME += m.Format
	p.Data, p.Name = data, m.Name
	return p, nil
}
