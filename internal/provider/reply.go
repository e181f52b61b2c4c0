package provider

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// reply is what an error body says, gathered from the shapes in use: OpenAI,
// Anthropic, Gemini, Mistral, FastAPI, Ollama, MiniMax, AWS and plain text.
type reply struct {
	message string
	// codes are the machine words: code, type, status, exception name.
	codes []string
	// status is an HTTP status that the body names itself, 0 for none.
	status int
	// param is the part of the request that is meant, dotted.
	param string
	// edge is Anthropic's details.max_side_length_pixels.
	edge int
	// context is llama.cpp's n_ctx: how many tokens the context holds.
	context int
}

// maxReplyDepth bounds errors that quote another error.
const maxReplyDepth = 10

// parseReply reads an error body. Anything that is no JSON object is a message.
func parseReply(body []byte) reply {
	var r reply
	body = bytes.TrimSpace(body)
	if len(body) > 0 && (body[0] == '{' || body[0] == '[') {
		var v any
		if json.Unmarshal(body, &v) == nil {
			r.read(v, maxReplyDepth)
			return r
		}
	}
	if isHTML(body) {
		r.message = htmlTitle(body)
		return r
	}
	r.message = strings.ToValidUTF8(string(body), "\uFFFD")
	return r
}

func (r *reply) read(v any, depth int) {
	if depth == 0 {
		return
	}
	switch v := v.(type) {
	case string:
		r.text(v, depth)
	case []any:
		r.list(v, depth)
	case map[string]any:
		r.object(v, depth)
	}
}

// text takes a message, which may itself be an error in JSON.
func (r *reply) text(s string, depth int) {
	if t := strings.TrimSpace(s); strings.HasPrefix(t, "{") {
		var v any
		if json.Unmarshal([]byte(t), &v) == nil {
			r.read(v, depth-1)
			return
		}
	}
	switch {
	case s == "" || strings.Contains(r.message, s):
	case r.message == "":
		r.message = s
	default:
		r.message += ": " + s
	}
}

// list reads an array: Gemini's single error, or FastAPI's faults.
func (r *reply) list(items []any, depth int) {
	for i, item := range items {
		if i == 3 {
			return
		}
		r.read(item, depth-1)
	}
}

// object reads the fields in a fixed order, outer words before inner ones.
func (r *reply) object(m map[string]any, depth int) {
	for _, k := range []string{"code", "type", "status", "statusCode", "status_code", "__type"} {
		r.code(m[k])
	}
	if loc, ok := m["loc"].([]any); ok {
		r.setParam(joined(loc))
	}
	if p, ok := m["param"].(string); ok {
		r.setParam(p)
	}
	if n, ok := m["max_side_length_pixels"].(float64); ok && n > 0 && n < 1e6 {
		r.edge = int(n)
	}
	if n, ok := m["n_ctx"].(float64); ok && n > 0 && n < maxContext {
		r.context = int(n)
	}
	for _, k := range []string{
		"error", "errors", "response", "message", "Message", "msg", "status_msg", "detail", "details", "base_resp", "metadata", "raw", "errorMessage",
	} {
		if x, ok := m[k]; ok {
			r.read(x, depth-1)
		}
	}
}

func (r *reply) setParam(p string) {
	if r.param == "" {
		r.param = strings.ToLower(p)
	}
}

// code takes a machine word; a number between 400 and 599 is a status.
func (r *reply) code(v any) {
	switch v := v.(type) {
	case string:
		if v == "" || len(v) > 120 {
			return
		}
		if n, err := strconv.Atoi(v); err == nil {
			r.number(n)
		}
		r.codes = append(r.codes, strings.ToLower(v))
	case float64:
		r.number(int(v))
		r.codes = append(r.codes, strconv.Itoa(int(v)))
	}
}

func (r *reply) number(n int) {
	if r.status == 0 && n >= 400 && n < 600 {
		r.status = n
	}
}

func joined(loc []any) string {
	parts := make([]string, 0, len(loc))
	for _, x := range loc {
		switch x := x.(type) {
		case string:
			parts = append(parts, x)
		case float64:
			parts = append(parts, strconv.Itoa(int(x)))
		}
	}
	return strings.Join(parts, ".")
}

// named reports whether the error has one of the names.
func (r *reply) named(names []string) bool {
	return slices.ContainsFunc(r.codes, func(c string) bool {
		_, after, found := strings.Cut(c, "#") // AWS may put a namespace before it
		if found {
			c = after
		}
		return slices.Contains(names, c)
	})
}

// words is everything that wording is matched against, in lower case.
func (r *reply) words() string {
	return strings.ToLower(r.message) + "\n" + strings.Join(r.codes, "\n") + "\n" + r.param
}
