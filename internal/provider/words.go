package provider

import (
	"strconv"
	"strings"

	"tote/internal/delivery"
)

// A wording is how some backend says that it does not take a medium. It is
// matched when all fragments occur, in lower case.
type wording struct {
	all   []string
	class delivery.Class
	learn func(words string, l *delivery.Learned)
}

// wordings is searched from the top; the first match counts. The sources are
// the public issue threads and SDKs named at each group (read 2026-11-30).
// Recovery never needs them: they refine what is told and learned.
var wordings = [...]wording{
	// What a model thought is signed or encrypted for one key and model: OpenAI
	// Responses, Anthropic, Gemini.
	{[]string{"invalid_encrypted_content"}, delivery.ClassReasoning, nil},
	{[]string{"encrypted content", "could not be"}, delivery.ClassReasoning, nil},
	{[]string{"signature", "thinking"}, delivery.ClassReasoning, nil},
	{[]string{"thought signature"}, delivery.ClassReasoning, nil},
	{[]string{"thought_signature"}, delivery.ClassReasoning, nil},
	// OpenRouter (hermes-agent#23411), llama.cpp#15377, vLLM#17092 and #23402
	{[]string{"no endpoints found that support image input"}, delivery.ClassBlind, nil},
	{[]string{"image input is not supported"}, delivery.ClassBlind, nil},
	{[]string{"at most 0 image"}, delivery.ClassBlind, nil},
	{[]string{"at most ", " image"}, delivery.ClassCount, countAfter("at most ")},
	{[]string{"is not a multimodal model"}, delivery.ClassBlind, nil},
	// DeepSeek (DeepSeek-V3#337, Reasonix#7859)
	{[]string{"unknown variant", "image"}, delivery.ClassBlind, nil},
	{[]string{"untagged enum chatcompletionrequestcontent"}, delivery.ClassBlind, nil},
	// OpenAI Chat and Responses (openai-go v3.99, OpenHands#7700, STranslate#277)
	{[]string{"image_url is only supported by certain models"}, delivery.ClassBlind, nil},
	{[]string{"image urls are only allowed for messages with role"}, delivery.ClassPlacement, nil},
	{[]string{"does not represent a valid image"}, delivery.ClassDecode, nil},
	{[]string{"invalid_image_format"}, delivery.ClassMIME, nil},
	{[]string{"unsupported image", "format"}, delivery.ClassMIME, nil},
	{[]string{"unsupported_image_media_type"}, delivery.ClassMIME, nil},
	{[]string{"invalid_image_mode"}, delivery.ClassMIME, nil},
	{[]string{"sanitizer_server_error"}, delivery.ClassBytes, nil},
	{[]string{"image_too_large"}, delivery.ClassBytes, nil},
	{[]string{"image_file_too_large"}, delivery.ClassBytes, nil},
	{[]string{"image_too_small"}, delivery.ClassDecode, nil},
	{[]string{"image_parse_error"}, delivery.ClassDecode, nil},
	{[]string{"invalid_base64_image"}, delivery.ClassDecode, nil},
	{[]string{"invalid_image_url"}, delivery.ClassDecode, nil},
	{[]string{"empty_image_file"}, delivery.ClassDecode, nil},
	{[]string{"failed_to_download_image"}, delivery.ClassDecode, nil},
	{[]string{"image_file_not_found"}, delivery.ClassDecode, nil},
	{[]string{"image_content_policy_violation"}, delivery.ClassUnknown, nil},
	{[]string{"invalid_image"}, delivery.ClassDecode, nil},
	{[]string{"image_url'", "expected a valid url"}, delivery.ClassDecode, nil},
	{[]string{"not a valid absolute uri"}, delivery.ClassBytes, nil},
	// Anthropic (claude-code#10612, #4778, #9375, #8646, #23392, #5707)
	{[]string{"image exceeds", "maximum"}, delivery.ClassBytes, encodedMax},
	{[]string{"image dimensions exceed"}, delivery.ClassEdge, edgeBeforePixels},
	{[]string{"many-image requests"}, delivery.ClassEdge, edgeBeforePixels},
	{[]string{"image_dimensions_too_large"}, delivery.ClassEdge, nil},
	{[]string{"could not process image"}, delivery.ClassDecode, nil},
	{[]string{"input should be 'image/"}, delivery.ClassMIME, nil},
	{[]string{"does not match the provided media type"}, delivery.ClassMIME, nil},
	{[]string{"image cannot be empty"}, delivery.ClassDecode, nil},
	{[]string{"too many images and documents"}, delivery.ClassCount, countAfter(" > ")},
	{[]string{"too much media"}, delivery.ClassCount, countAfter(" > ")},
	{[]string{"a maximum of", "pdf pages"}, delivery.ClassCount, nil},
	// Bedrock (oh-my-pi#11685, boto3#4415, hermes-agent#55429)
	{[]string{"support the image field for user messages"}, delivery.ClassPlacement, nil},
	{[]string{"support the image field"}, delivery.ClassBlind, nil},
	{[]string{"does not match the specified image format"}, delivery.ClassMIME, nil},
	{[]string{"image.format' failed to satisfy constraint"}, delivery.ClassMIME, nil},
	// Gemini (gemini-cli#5064, crush#995, generative-ai-docs#513)
	{[]string{"unable to process input image"}, delivery.ClassDecode, nil},
	{[]string{"provided image is not valid"}, delivery.ClassDecode, nil},
	{[]string{"unsupported mime type"}, delivery.ClassMIME, nil},
	{[]string{"image input modality is not enabled"}, delivery.ClassBlind, nil},
	{[]string{"multimodal function responses are not supported"}, delivery.ClassPlacement, nil},
	// LM Studio (lmstudio-bug-tracker#908, #362, #2008), Ollama#17301, codex 0.171
	{[]string{"does not support image"}, delivery.ClassBlind, nil},
	{[]string{"do not support image"}, delivery.ClassBlind, nil},
	{[]string{"vision add-on is not loaded"}, delivery.ClassBlind, nil},
	{[]string{"only text tool_result blocks are supported"}, delivery.ClassPlacement, nil},
	{[]string{"must be a base64 encoded image"}, delivery.ClassMIME, nil},
	// Groq (vercel/ai#2837), Copilot (vscode#292901, openclaw#8666), Z.ai (CodexPlusPlus#1760)
	{[]string{"content must be a string"}, delivery.ClassBlind, nil},
	{[]string{"copilot-vision-request"}, delivery.ClassForm, nil},
	{[]string{"image media type not supported"}, delivery.ClassMIME, nil},
	{[]string{"too many images"}, delivery.ClassCount, countAfter("maximum of ", "maximum is ", "limit of ", "limit is ", "at most ", "up to ", "max ", " > ")},
	{[]string{"messages.content.type", "['text']"}, delivery.ClassBlind, nil},
	// Moonshot (kimi-cli#1066), MiniMax (lobehub#17252), Mistral (LibreChat-AI/agents#344)
	{[]string{"failed to decode image"}, delivery.ClassDecode, nil},
	{[]string{"invalid image detail"}, delivery.ClassForm, nil},
	{[]string{"chat content is empty"}, delivery.ClassBlind, nil},
	{[]string{"unexpected role 'user' after role 'tool'"}, delivery.ClassPlacement, nil},
	// mlx-lm, pydantic servers, the codex and claude programs
	{[]string{"only 'text' content type is supported"}, delivery.ClassBlind, nil},
	{[]string{"input should be a valid string"}, delivery.ClassBlind, nil},
	{[]string{"input should be 'text'"}, delivery.ClassBlind, nil},
	{[]string{"could not read the local image"}, delivery.ClassDecode, nil},
	{[]string{"image left out"}, delivery.ClassBody, nil},
	{[]string{"oldest were removed to fit"}, delivery.ClassBody, nil},
	{[]string{"image_error"}, delivery.ClassDecode, nil},
}

// media finds the wording about a medium. about is true for any words about
// media, also those that no class is known for.
func media(words string) (class delivery.Class, learned delivery.Learned, about bool) {
	for i := range wordings {
		w := &wordings[i]
		if !containsAll(words, w.all) {
			continue
		}
		if w.learn != nil {
			w.learn(words, &learned)
		}
		return w.class, learned, true
	}
	return delivery.ClassUnknown, learned, containsAny(words, "image", "vision", "multimodal", "multi-modal", "mmproj", "input_audio")
}

// overflowWords say that the context is too long: OpenAI, vLLM, llama.cpp,
// Anthropic, Gemini, Groq, Bedrock, LM Studio, SGLang, xAI, Copilot, Moonshot,
// and Ollama where it is told not to cut (truncate: false).
var overflowWords = [...]string{
	"context_length_exceeded", "maximum context length", "prompt is too long", "available context size", "exceed_context_size",
	"context window", "exceeds the maximum number of tokens", "tokens must be reduced", "exceed context limit",
	"reduce the length of the messages", "input is too long for requested model", "context length of only",
	"greater than the context length", "longer than the model's context", "model's context length is only", "maximum model length",
	"maximum prompt length", "model_max_prompt_tokens_exceeded", "exceeded model token limit",
	"input length exceeds", "exceeds the context length", "prompt too long", "exceeded max context length",
}

// minContext and maxContext bound a context that is believed, in tokens.
const (
	minContext = 256
	maxContext = 1_000_000_000
)

// contextSize is how many tokens the context holds by the backend's own words,
// 0 where it does not say. named is what it said in a field.
func contextSize(named int, words string) int {
	if named >= minContext {
		return named
	}
	found := func(n int64) bool { return n >= minContext && n < maxContext }
	for _, marker := range []string{
		"maximum context length is ", "maximum context length of ", "available context size (", "number of tokens allowed (",
		"context length of only ", "context length is only ", "context length (", "maximum model length of ", "maximum prompt length is ",
		"model token limit: ", "exceeds the limit of ",
	} {
		if n := numberAfter(words, marker); found(n) {
			return int(n)
		}
	}
	// "prompt is too long: 210000 tokens > 200000 maximum", "190000 + 20000 > 200000"
	if n := numberAfter(words, " > "); found(n) && containsAny(words, "prompt is too long", "exceed context limit") {
		return int(n)
	}
	// "too large for model with 32768 maximum context length"
	if n := numberBefore(words, " maximum context length"); found(n) {
		return int(n)
	}
	return 0
}

// bodyWords say that the request has too many bytes.
var bodyWords = [...]string{
	"request_too_large", "request_body_too_large", "request entity too large", "payload too large", "request payload size exceeds",
	"maximum content size limit", "request body too large", "request body is too large", "body exceeds", "entity too large",
	"content length exceeded", "payload size exceeds",
}

// billingWords say that there is no money. "You exceeded your current quota"
// is not among them: Gemini says so for a rate limit.
var billingWords = [...]string{
	"insufficient_quota", "credit balance is too low", "insufficient balance", "insufficient credits", "insufficient_credits",
	"billing_hard_limit_reached", "billing_not_active", "insufficient funds", "requires more credits",
}

// authWords say that the key is wrong, where a server uses another status.
var authWords = [...]string{
	"api key not valid", "api_key_invalid", "invalid_api_key", "incorrect api key", "invalid api key",
}

// schemaWords say that the request's shape is wrong, whatever it carries.
var schemaWords = [...]string{
	"unknown_parameter", "unsupported_parameter", "missing_required_parameter", "invalid_function_parameters", "unrecognized request argument",
	"must be a response to a preceeding message with 'tool_calls'", "must be followed by tool messages", "invalid schema for function",
	"text content blocks must be non-empty", "tool_use ids were found without", "unexpected tool_use_id",
	"function call parts", "extra inputs are not permitted",
}

func containsAll(s string, subs []string) bool {
	for _, x := range subs {
		if !strings.Contains(s, x) {
			return false
		}
	}
	return true
}

func containsAny(s string, subs ...string) bool {
	for _, x := range subs {
		if strings.Contains(s, x) {
			return true
		}
	}
	return false
}

// countAfter learns the number of pictures that stands behind the first of the
// markers that has one.
func countAfter(markers ...string) func(string, *delivery.Learned) {
	return func(words string, l *delivery.Learned) {
		for _, m := range markers {
			if n := numberAfter(words, m); n > 0 && n <= 10_000 {
				l.MaxCount = int(n)
				return
			}
		}
	}
}

// encodedMax learns from "image exceeds 5 MB maximum: 6291456 bytes > 5242880
// bytes". Anthropic counts the base64, so the raw limit is three quarters
// (https://docs.claude.com/en/docs/build-with-claude/vision, read 2026-11-30).
func encodedMax(words string, l *delivery.Learned) {
	if n := numberAfter(words, " > "); n >= 1000 {
		l.MaxBytes = n / 4 * 3
	}
}

func edgeBeforePixels(words string, l *delivery.Learned) {
	if n := numberBefore(words, " pixels"); n >= 16 && n < 1_000_000 {
		l.MaxEdge = int(n)
	}
}

// bodyMax learns the largest request body from the usual sentences.
func bodyMax(words string) int64 {
	for _, marker := range []string{"exceeds the limit: ", "limit: ", "limit is ", "limit (", "limit of ", "maximum allowed size of ", "maximum size of "} {
		if n := numberAfter(words, marker); n >= 10_000 {
			return n
		}
	}
	return 0
}

// numberAfter returns the number directly behind marker, 0 for none. Commas
// inside it are skipped.
func numberAfter(s, marker string) int64 {
	for {
		_, rest, ok := strings.Cut(s, marker)
		if !ok {
			return 0
		}
		end := 0
		for end < len(rest) && (rest[end] >= '0' && rest[end] <= '9' || rest[end] == ',' && end > 0) {
			end++
		}
		if n := parseNumber(rest[:end]); n > 0 {
			return n
		}
		s = rest
	}
}

// numberBefore returns the number directly in front of marker, 0 for none.
func numberBefore(s, marker string) int64 {
	head, _, ok := strings.Cut(s, marker)
	if !ok {
		return 0
	}
	start := len(head)
	for start > 0 && (head[start-1] >= '0' && head[start-1] <= '9' || head[start-1] == ',') {
		start--
	}
	return parseNumber(head[start:])
}

func parseNumber(s string) int64 {
	n, err := strconv.ParseInt(strings.ReplaceAll(s, ",", ""), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
