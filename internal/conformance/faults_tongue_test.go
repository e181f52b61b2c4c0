package conformance_test

import (
	"encoding/json"
	"fmt"
	"net/http"

	"tote/internal/content"
	"tote/internal/provider/providertest"
)

// tongue is one wire as its server speaks it.
type tongue struct {
	kind string
	// base goes behind the server's address in the configuration, at ends the
	// path of a request for an answer.
	base, at string
	read     func(body []byte) (providertest.Sent, error)
	said     func(u providertest.Usage, words ...string) providertest.Reply
	calls    func(calls ...content.ToolCall) providertest.Reply
	// fault spells an error in the vendor's form; code may be "".
	fault func(status int, code, words string) string
	// within is an error inside a 200 before anything was said, midway one
	// after the answer had begun without a word in it.
	within, midway func(fault string) providertest.Reply
	// counts: the wire can say what pictures cost.
	counts bool
	// conversation is the member of a body that grows.
	conversation string
}

func tongues() []tongue {
	openAI := func(status int, code, words string) string {
		return fmt.Sprintf(`{"error":{"message":%s,"type":"invalid_request_error","param":null,"code":%s}}`, spell(words), orNull(code))
	}
	chat := tongue{
		kind: "openai-chat", base: "/v1", at: "/chat/completions", read: providertest.ReadChat, said: providertest.TextUsage,
		calls: providertest.Calls, fault: openAI, counts: true, conversation: "messages",
		within: func(f string) providertest.Reply { return providertest.Raw("application/json", f) },
		midway: func(f string) providertest.Reply {
			return providertest.Events(providertest.Delta(`{"role":"assistant","content":""}`), f, providertest.Done)
		},
	}
	responses := tongue{
		kind: "openai-responses", base: "/v1", at: "/responses", read: providertest.ReadResponses, said: providertest.ResponsesUsage,
		calls: providertest.ResponsesCalls, fault: openAI, conversation: "input",
		within: func(f string) providertest.Reply { return providertest.Raw("application/json", f) },
		midway: func(f string) providertest.Reply {
			var e struct {
				Error struct{ Code, Message string }
			}
			_ = json.Unmarshal([]byte(f), &e) // it was spelled above
			return providertest.ResponsesFailed(e.Error.Code, e.Error.Message)
		},
	}
	anthropic := tongue{
		kind: "anthropic", at: "/v1/messages", read: providertest.ReadAnthropic, calls: providertest.AnthropicCalls, conversation: "messages",
		said: func(u providertest.Usage, words ...string) providertest.Reply {
			return providertest.AnthropicTextUsage(providertest.AnthropicUsage{Input: u.Prompt, Output: u.Completion, CacheRead: 0, CacheWrite: 0}, words...)
		},
		fault: func(_ int, code, words string) string {
			if code == "" {
				code = "invalid_request_error"
			}
			return providertest.AnthropicErrorJSON(code, words, "")
		},
		within: func(f string) providertest.Reply { return providertest.Raw("application/json", f) },
		midway: func(f string) providertest.Reply {
			return providertest.AnthropicEvents(providertest.AnthropicStart(providertest.AnthropicUsage{Input: 5, CacheRead: -1, CacheWrite: -1}), f)
		},
	}
	return []tongue{chat, responses, anthropic, geminiTongue(), ollamaTongue(), converseTongue()}
}

func geminiTongue() tongue {
	return tongue{
		kind: "gemini", base: "/v1beta", at: ":streamGenerateContent", read: providertest.ReadGemini, said: providertest.GeminiUsage,
		calls: providertest.GeminiCalls, counts: true, conversation: "contents",
		fault: func(status int, code, words string) string {
			if code == "" {
				code = "INVALID_ARGUMENT"
			}
			return fmt.Sprintf(`{"error":{"code":%d,"message":%s,"status":%s}}`, status, spell(words), spell(code))
		},
		within: func(f string) providertest.Reply { return providertest.Raw("application/json", f) },
		midway: func(f string) providertest.Reply { return providertest.Events(f) },
	}
}

func ollamaTongue() tongue {
	return tongue{
		kind: "ollama", at: "/api/chat", read: providertest.ReadOllama, said: providertest.OllamaUsage, calls: providertest.OllamaCalls,
		conversation: "messages",
		fault:        func(_ int, _, words string) string { return `{"error":` + spell(words) + `}` },
		within:       func(f string) providertest.Reply { return providertest.Raw("application/json", f) },
		midway: func(f string) providertest.Reply {
			return providertest.Lines(providertest.OllamaLine(`{"role":"assistant","content":""}`), f)
		},
	}
}

func converseTongue() tongue {
	exception := func(f string) []byte { return providertest.ConverseFault("validationException", f) }
	return tongue{
		kind: "bedrock-converse", at: "/converse-stream", read: providertest.ReadConverse, said: providertest.ConverseUsage,
		calls: providertest.ConverseCalls, conversation: "messages",
		fault:  func(_ int, _, words string) string { return `{"message":` + spell(words) + `}` },
		within: func(f string) providertest.Reply { return providertest.ConverseFrames(exception(f)) },
		midway: func(f string) providertest.Reply {
			return providertest.ConverseFrames(providertest.ConverseFrame("messageStart", `{"role":"assistant"}`), exception(f))
		},
	}
}

func spell(s string) string {
	b, _ := json.Marshal(s) // a string has a spelling
	return string(b)
}

func orNull(s string) string {
	if s == "" {
		return "null"
	}
	return spell(s)
}

// rejects answers with an error status in the vendor's form.
func (g *tongue) rejects(status int, code, words string) providertest.Reply {
	if g.kind == "bedrock-converse" && code == "" {
		code = "ValidationException"
	}
	var head []string
	if g.kind == "bedrock-converse" {
		head = []string{"X-Amzn-Errortype", code + ":http://internal.amazon.com/coral/"}
	}
	return providertest.Status(status, g.fault(status, code, words), head...)
}

// withHeader adds a header to a reply.
func withHeader(reply providertest.Reply, name, value string) providertest.Reply {
	return func(w http.ResponseWriter, r *http.Request, body []byte) {
		w.Header().Set(name, value)
		reply(w, r, body)
	}
}
