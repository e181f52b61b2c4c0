package offline

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// maxBody is the largest request that is read, in bytes.
const maxBody = 256 << 20

// refusalWords is OpenAI's wording for a model without vision.
const refusalWords = "Invalid content type. image_url is only supported by certain models."

// handler answers chat requests. It may be served anywhere.
type handler struct {
	opts Options
	// failed counts the answers given by Faults.Status.
	failed atomic.Int64
}

// NewHandler makes the backend's server. It answers POST …/chat/completions and
// GET …/models under any prefix.
func NewHandler(o Options) http.Handler {
	if o.Model == "" {
		o.Model = Model
	}
	return &handler{opts: o}
}

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models") {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":`+words(h.opts.Model)+`,"object":"model"}]}`) // a client that left sees nothing
		return
	}
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		fail(w, http.StatusNotFound, "there is no such path")
		return
	}
	f := &h.opts.Faults
	if f.Status.Code != 0 && (f.Status.Times == 0 || h.failed.Add(1) <= int64(f.Status.Times)) {
		drain(r)
		status(w, f.Status)
		return
	}
	limit := int64(maxBody)
	if f.TooLargeOver > 0 {
		limit = f.TooLargeOver
	}
	body, ok := read(w, r, limit)
	if !ok {
		return
	}
	req, err := parseRequest(body)
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	if f.RefuseImages.Status != 0 && req.pictures() > 0 {
		msg := f.RefuseImages.Message
		if msg == "" {
			msg = refusalWords
		}
		fail(w, f.RefuseImages.Status, msg)
		return
	}
	h.answer(w, r, req)
}

// read takes the body, or answers that it is too large.
func read(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, bool) {
	tooLarge := fmt.Sprintf("Request body is too large: the limit is %d bytes.", limit)
	if r.ContentLength > limit {
		drain(r)
		fail(w, http.StatusRequestEntityTooLarge, tooLarge)
		return nil, false
	}
	body := make([]byte, 0, max(r.ContentLength, 0)+512)
	src := http.MaxBytesReader(w, r.Body, limit)
	for {
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
		n, err := src.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		var over *http.MaxBytesError
		switch {
		case errors.Is(err, io.EOF):
			return body, true
		case errors.As(err, &over):
			drain(r)
			fail(w, http.StatusRequestEntityTooLarge, tooLarge)
			return nil, false
		case err != nil:
			return nil, false // the client went away
		}
	}
}

// drain reads what is left of a request that is refused, so that the client
// gets to see why: one that is still sending when the connection is closed may
// not. A client that asked first has sent nothing.
func drain(r *http.Request) {
	if r.Header.Get("Expect") == "" {
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, maxBody)) // what it holds does not matter
	}
}

func status(w http.ResponseWriter, s Status) {
	if s.Body == "" {
		fail(w, s.Code, "the offline provider was told to fail")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(s.Code)
	_, _ = io.WriteString(w, s.Body) // a client that left sees nothing
}

func fail(w http.ResponseWriter, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, `{"error":{"message":`+words(message)+`,"type":"invalid_request_error","param":null,"code":null}}`) // a client that left sees nothing
}

func (h *handler) answer(w http.ResponseWriter, r *http.Request, req request) {
	seen := look(r.Context(), req)
	s := &stream{w: w, r: r, faults: &h.opts.Faults, model: h.opts.Model}
	calls := h.calls(req)
	whole := req.Stream == nil || !*req.Stream
	switch {
	case whole && len(calls) > 0:
		s.whole(`{"role":"assistant","content":null,"tool_calls":[`+strings.Join(calls, ",")+`]}`, "tool_calls", h.usage(seen, 20))
	case whole:
		text := strings.Join(seen.sentences(), "")
		s.whole(`{"role":"assistant","content":`+words(text)+`}`, "stop", h.usage(seen, len(text)/4))
	case len(calls) > 0:
		s.start()
		s.delta(`{"role":"assistant","content":null}`, "")
		for _, c := range calls {
			s.delta(`{"tool_calls":[`+c+`]}`, "")
		}
		s.end("tool_calls", h.usage(seen, 20))
	default:
		s.start()
		s.delta(`{"role":"assistant","content":""}`, "")
		n := 0
		for _, piece := range seen.sentences() {
			n += len(piece)
			s.delta(`{"content":`+words(piece)+`}`, "")
		}
		s.end("stop", h.usage(seen, n/4))
	}
}

// calls spells the tool calls that this request is answered with.
func (h *handler) calls(req request) []string {
	f := &h.opts.Faults
	start, asked := req.turn()
	first, last := asked, asked+1
	if f.Parallel && asked == 0 {
		last = len(f.ToolCalls)
	}
	if first >= len(f.ToolCalls) || f.Parallel && asked > 0 {
		return nil
	}
	var out []string
	for i, c := range f.ToolCalls[first:last] {
		args := c.Arguments
		if args == "" {
			args = "{}"
		}
		out = append(out, fmt.Sprintf(`{"index":%d,"id":"call_%d_%d","type":"function","function":{"name":%s,"arguments":%s}}`,
			i, start, first+i, words(c.Name), words(args)))
	}
	return out
}

// usage spells the accounting of a request.
func (h *handler) usage(s sight, output int) string {
	input := s.all/4 + s.tokens
	details := ""
	switch h.opts.Faults.ImageTokens {
	case TokensTrue:
		details = fmt.Sprintf(`"image_tokens":%d`, s.tokens)
	case TokensZero:
		details = `"image_tokens":0`
		input -= s.tokens
	case TokensAbsent:
	}
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{%s}}`,
		input, output, input+output, details)
}

// stream writes an answer, with its faults.
type stream struct {
	w      http.ResponseWriter
	r      *http.Request
	faults *Faults
	model  string
	sent   int64
}

func (s *stream) start() {
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.WriteHeader(http.StatusOK)
}

func (s *stream) head() string {
	return `{"id":"chatcmpl-offline","object":"chat.completion.chunk","model":` + words(s.model)
}

// delta sends one chunk; a reason ends the answer.
func (s *stream) delta(delta, reason string) {
	finish := "null"
	if reason != "" {
		finish = words(reason)
	}
	s.data(s.head() + `,"choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}`)
}

func (s *stream) end(reason, usage string) {
	s.delta(`{}`, reason)
	s.data(s.head() + `,"choices":[],"usage":` + usage + `}`)
	s.data("[DONE]")
}

func (s *stream) whole(message, reason, usage string) {
	s.w.Header().Set("Content-Type", "application/json")
	s.write(`{"id":"chatcmpl-offline","object":"chat.completion","model":` + words(s.model) +
		`,"choices":[{"index":0,"message":` + message + `,"finish_reason":` + words(reason) + `}],"usage":` + usage + `}`)
}

func (s *stream) data(data string) { s.write("data: " + data + "\n\n") }

// write sends a piece. It ends the connection where the answer is to be cut,
// and the handler when the client has left.
func (s *stream) write(piece string) {
	if s.faults.Slow > 0 {
		t := time.NewTimer(s.faults.Slow)
		defer t.Stop()
		select {
		case <-t.C:
		case <-s.r.Context().Done():
			panic(http.ErrAbortHandler)
		}
	}
	cut := s.faults.CutAfter > 0 && s.sent+int64(len(piece)) > s.faults.CutAfter
	if cut {
		piece = piece[:s.faults.CutAfter-s.sent]
	}
	s.sent += int64(len(piece))
	_, err := io.WriteString(s.w, piece)
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
	if cut || err != nil {
		panic(http.ErrAbortHandler)
	}
}
