package providertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// OllamaServer is a small stand-in for a local Ollama server, with its silent
// losses: a model that sees no pictures ignores them and answers all the same,
// and messages that do not fit the context are left out from the oldest on,
// unless the request says "truncate": false. It is an [http.Handler] for
// /api/chat, /api/show and /api/version.
type OllamaServer struct {
	// Capabilities are those of the model: "completion", "vision", "tools",
	// "thinking".
	Capabilities []string
	// Context is the size of the context in tokens where the request names
	// none, 0 for 4096.
	Context int
	// Sees is told how many pictures reached the model, for each request that
	// was answered; nil for nobody.
	Sees func(pictures int)

	mu     sync.Mutex
	sights []OllamaSight
}

// OllamaSight is what a model was really given.
type OllamaSight struct {
	// Prompt is all the text, with the server's marks for pictures.
	Prompt string
	// Pictures are the bytes of those that it was shown.
	Pictures [][]byte
	// Dropped counts the messages that were left out, Ignored the pictures
	// that came with a model that sees none.
	Dropped, Ignored int
}

// Sights returns what the model was given so far, one for each request that was
// answered.
func (s *OllamaServer) Sights() []OllamaSight {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sights)
}

// ollamaPicture is what a picture costs in the server's own reckoning, in
// tokens.
const ollamaPicture = 768

// ServeHTTP implements [http.Handler].
func (s *OllamaServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /api/version":
		Raw("application/json", `{"version":"0.33.0"}`)(w, r, body)
	case "POST /api/show":
		s.show(w, r, body)
	case "POST /api/chat":
		s.chat(w, r, body)
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "404 page not found") // a client that left sees nothing
	}
}

func (s *OllamaServer) show(w http.ResponseWriter, r *http.Request, body []byte) {
	caps, err := json.Marshal(s.Capabilities)
	if err != nil {
		return // a list of strings has a spelling
	}
	Raw("application/json", fmt.Sprintf(
		`{"details":{"family":"llama"},"model_info":{"general.architecture":"llama","llama.context_length":131072},"capabilities":%s}`, caps,
	))(w, r, body)
}

func (s *OllamaServer) has(capability string) bool {
	return slices.Contains(s.Capabilities, capability)
}

// refuse answers with an error in the server's form.
func refuse(w http.ResponseWriter, code int, words string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, `{"error":`+quote(words)+`}`) // a client that left sees nothing
}

func (s *OllamaServer) chat(w http.ResponseWriter, r *http.Request, body []byte) {
	var req ollamaRequest
	if err := json.Unmarshal(body, &req); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	thinks, isBool := req.Think.(bool)
	switch {
	case len(req.Tools) > 0 && !s.has("tools"):
		refuse(w, http.StatusBadRequest, fmt.Sprintf("registry.ollama.ai/library/%s does not support tools", req.Model))
		return
	case req.Think != nil && (thinks || !isBool) && !s.has("thinking"):
		refuse(w, http.StatusBadRequest, fmt.Sprintf("%q does not support thinking", req.Model))
		return
	}
	context := req.Options.NumCtx
	if context == 0 {
		context = s.Context
	}
	if context == 0 {
		context = 4096
	}
	messages := req.Messages
	dropped := 0
	if req.Truncate == nil || *req.Truncate {
		messages, dropped = s.fit(messages, context)
	} else if n := s.tokens(messages); n > context {
		refuse(w, http.StatusBadRequest, fmt.Sprintf(
			"request (%d tokens) exceeds the available context size (%d tokens), try increasing it", n, context))
		return
	}
	sight, err := s.look(messages)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	sight.Dropped = dropped
	s.mu.Lock()
	s.sights = append(s.sights, sight)
	s.mu.Unlock()
	if s.Sees != nil {
		s.Sees(len(sight.Pictures))
	}
	OllamaUsage(Usage{Prompt: s.tokens(messages), Completion: 5}, fmt.Sprintf("I was shown %d pictures.", len(sight.Pictures)))(w, r, body)
}

// tokens reckons as the server does: only a model that sees pictures pays for
// them.
func (s *OllamaServer) tokens(messages []ollamaMessage) int {
	n := 0
	for _, m := range messages {
		n += (len(m.Content) + len(m.Thinking) + 3) / 4
		for _, c := range m.ToolCalls {
			n += (len(c.Function.Name) + len(c.Function.Arguments) + 3) / 4
		}
		if s.has("vision") {
			n += ollamaPicture * len(m.Images)
		}
	}
	return n
}

// fit leaves out messages from the oldest on until the rest fits. Instructions
// and the last message stay.
func (s *OllamaServer) fit(messages []ollamaMessage, context int) (kept []ollamaMessage, dropped int) {
	for i := range messages {
		kept, dropped = nil, 0
		for _, m := range messages[:i] {
			if m.Role == "system" {
				kept = append(kept, m)
			} else {
				dropped++
			}
		}
		kept = append(kept, messages[i:]...)
		if s.tokens(kept) <= context {
			break
		}
	}
	return kept, dropped
}

// look makes the prompt. The place of a picture is where the text says "[img]",
// else before the text; text that names a place by number gets none.
func (s *OllamaServer) look(messages []ollamaMessage) (OllamaSight, error) {
	var sight OllamaSight
	var prompt strings.Builder
	for _, m := range messages {
		if !s.has("vision") {
			sight.Ignored += len(m.Images)
			prompt.WriteString(m.Content + "\n")
			continue
		}
		text, prefix := m.Content, ""
		named := strings.Contains(text, "[img-")
		for _, img := range m.Images {
			p, err := ollamaMedia(img)
			if err != nil {
				return OllamaSight{}, fmt.Errorf("failed to load image or audio file: %w", err)
			}
			mark := fmt.Sprintf("[img-%d]", len(sight.Pictures)+sight.Ignored)
			switch {
			case named:
				sight.Ignored++
				continue
			case strings.Contains(text, "[img]"):
				text = strings.Replace(text, "[img]", mark, 1)
			default:
				prefix += mark
			}
			sight.Pictures = append(sight.Pictures, p.Data)
		}
		prompt.WriteString(prefix + text + "\n")
	}
	sight.Prompt = prompt.String()
	return sight, nil
}
