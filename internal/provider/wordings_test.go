package provider_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/delivery"
	"tote/internal/provider"
)

// The bodies of errors as each vendor shapes them.

func anthropic(kind, message string) string {
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_011CVabcdefghijk"}`, kind, message)
}

func invalid(message string) string { return anthropic("invalid_request_error", message) }

func google(message string) string {
	return fmt.Sprintf(`{"error":{"code":400,"message":%q,"status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.DebugInfo","detail":"[ORIGINAL ERROR] generic::invalid_argument"}]}}`, message)
}

func vllm(message string) string {
	return fmt.Sprintf(`{"error":{"message":%q,"type":"BadRequestError","param":null,"code":400}}`, message)
}

func aws(message string) string { return fmt.Sprintf(`{"message":%q}`, message) }

func mistral(message string, status int) string {
	return fmt.Sprintf(`{"object":"error","message":%q,"type":"invalid_request_message_order","param":null,"code":"3230","raw_status_code":%d}`, message, status)
}

// pydantic is FastAPI's body for one field that is wrong.
func pydantic(kind, message string, loc ...string) string {
	return fmt.Sprintf(`{"detail":[{"type":%q,"loc":["body",%s],"msg":%q,"input":[{"type":"text","text":"hi"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}]}`,
		kind, strings.Join(loc, ","), message)
}

// failedResponse is the event with which a Responses stream ends badly.
func failedResponse(code, message string) string {
	return fmt.Sprintf(`{"type":"response.failed","sequence_number":3,"response":{"id":"resp_1","object":"response","status":"failed","error":{"code":%q,"message":%q},"output":[],"usage":null}}`, code, message)
}

func learned(c delivery.Class, l delivery.Learned) delivery.Failure {
	f := refused(400, c)
	f.Learned = l
	return f
}

func overflow(status, context int) delivery.Failure {
	return delivery.Failure{Kind: delivery.FailOverflow, Status: status, Learned: delivery.Learned{Context: context}}
}

func tooLarge(status int, limit int64) delivery.Failure {
	return delivery.Failure{Kind: delivery.FailTooLarge, Status: status, Class: delivery.ClassBody, Learned: delivery.Learned{MaxRequest: limit}}
}

// aboutMedia are refusals of media, in the order of the wordings; the sources
// stand there.
var aboutMedia = []rejection{
	{"openrouter", 404, `{"error":{"message":"No endpoints found that support image input","code":404},"user_id":"user_2x"}`, refused(404, delivery.ClassBlind)},
	{"llama.cpp", 500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`, refused(500, delivery.ClassBlind)},
	{"vllm none", 400, vllm("At most 0 image(s) may be provided in one prompt."), refused(400, delivery.ClassBlind)},
	{"vllm none, older", 400, `{"object":"error","message":"At most 0 image(s) may be provided in one request.","type":"BadRequestError","param":null,"code":400}`, refused(400, delivery.ClassBlind)},
	{"vllm none, as a 500", 500, `{"object":"error","message":"At most 0 image(s) may be provided in one request.","type":"InternalServerError","code":500}`, refused(500, delivery.ClassBlind)},
	{"vllm four", 400, vllm("At most 4 image(s) may be provided in one prompt."), learned(delivery.ClassCount, delivery.Learned{MaxCount: 4})},
	{"vllm text model", 400, vllm("Qwen/Qwen3-8B is not a multimodal model None"), refused(400, delivery.ClassBlind)},
	{"deepseek", 400, openAI("Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text` at line 1 column 99", `"invalid_request_error"`), refused(400, delivery.ClassBlind)},
	{"deepseek serde", 422, "Failed to deserialize the JSON body into the target type: messages[1].content: data did not match any variant of untagged enum ChatCompletionRequestContent at line 1 column 4711", refused(422, delivery.ClassBlind)},
	{"openai text model", 400, openAI("Invalid content type. image_url is only supported by certain models.", "null"), refused(400, delivery.ClassBlind)},
	{"openai role", 400, openAI("Invalid 'messages[3]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.", `"invalid_value"`), refused(400, delivery.ClassPlacement)},
	{"openai not a picture", 400, openAI("The image data you provided does not represent a valid image. Please check your input and try again with one of the supported image formats: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'].", `"invalid_image_format"`), refused(400, delivery.ClassDecode)},
	{"openai format code", 400, openAI("Invalid image.", `"invalid_image_format"`), refused(400, delivery.ClassMIME)},
	{"openai format", 400, openAI("You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].", `"invalid_image"`), refused(400, delivery.ClassMIME)},
	{"moonshot format", 400, `{"error":{"message":"Invalid request: unsupported image format: image/webp","type":"invalid_request_error"}}`, refused(400, delivery.ClassMIME)},
	{"responses media type", 200, failedResponse("unsupported_image_media_type", "The media type is not supported."), refused(200, delivery.ClassMIME)},
	{"responses mode", 200, failedResponse("invalid_image_mode", "The mode of the picture is not supported."), refused(200, delivery.ClassMIME)},
	{"openai sanitizer", 400, openAI("Something went wrong while processing one of your images. Please make sure your image is below 20MB.", `"sanitizer_server_error"`), refused(400, delivery.ClassBytes)},
	{"responses too large", 200, failedResponse("image_too_large", "It is too large."), refused(200, delivery.ClassBytes)},
	{"responses file too large", 200, failedResponse("image_file_too_large", "It is too large."), refused(200, delivery.ClassBytes)},
	{"responses too small", 200, failedResponse("image_too_small", "It is too small."), refused(200, delivery.ClassDecode)},
	{"responses parse", 200, failedResponse("image_parse_error", "It cannot be parsed."), refused(200, delivery.ClassDecode)},
	{"responses base64", 200, failedResponse("invalid_base64_image", "It cannot be decoded."), refused(200, delivery.ClassDecode)},
	{"responses url code", 200, failedResponse("invalid_image_url", "The address is invalid."), refused(200, delivery.ClassDecode)},
	{"responses empty", 200, failedResponse("empty_image_file", "It is empty."), refused(200, delivery.ClassDecode)},
	{"responses download", 200, failedResponse("failed_to_download_image", "It cannot be fetched."), refused(200, delivery.ClassDecode)},
	{"responses gone", 200, failedResponse("image_file_not_found", "It is not there."), refused(200, delivery.ClassDecode)},
	{"responses policy", 200, failedResponse("image_content_policy_violation", "It is not allowed."), refused(200, delivery.ClassUnknown)},
	{"responses invalid", 200, failedResponse("invalid_image", "It is invalid."), refused(200, delivery.ClassDecode)},
	{"responses url", 400, `{"error":{"message":"Invalid 'input[2].content[1].image_url'. Expected a valid URL, but got a value with an invalid format.","type":"invalid_request_error","param":"input[2].content[1].image_url","code":"invalid_value"}}`, refused(400, delivery.ClassDecode)},
	{"gateway uri", 400, openAI("The image_url is not a valid absolute URI.", "null"), refused(400, delivery.ClassBytes)},
	{"anthropic bytes", 400, invalid("messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"), learned(delivery.ClassBytes, delivery.Learned{MaxBytes: 3932160})},
	{"anthropic edge", 400, invalid("messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels"), learned(delivery.ClassEdge, delivery.Learned{MaxEdge: 8000})},
	{"anthropic many", 400, invalid("messages.24.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"), learned(delivery.ClassEdge, delivery.Learned{MaxEdge: 2000})},
	{"anthropic many, other words", 400, invalid("the limit for many-image requests is exceeded: 2000 pixels"), learned(delivery.ClassEdge, delivery.Learned{MaxEdge: 2000})},
	{"anthropic edge, by code", 400, `{"type":"error","error":{"type":"invalid_request_error","code":"image_dimensions_too_large","message":"too large","details":{"max_side_length_pixels":8000,"paths":["messages.0.content.1"]}},"request_id":"req_1"}`, learned(delivery.ClassEdge, delivery.Learned{MaxEdge: 8000})},
	{"anthropic decode", 400, invalid("Could not process image"), refused(400, delivery.ClassDecode)},
	{"anthropic type", 400, invalid("messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"), refused(400, delivery.ClassMIME)},
	{"anthropic mismatch", 400, invalid("messages.0.content.0.image.source.base64.data: Image does not match the provided media type image/png"), refused(400, delivery.ClassMIME)},
	{"anthropic empty", 400, invalid("messages.4.content.0.image.source.base64.data: image cannot be empty"), refused(400, delivery.ClassDecode)},
	{"anthropic count", 400, invalid("too many images and documents: 0 + 101 > 100"), learned(delivery.ClassCount, delivery.Learned{MaxCount: 100})},
	{"anthropic media", 400, invalid("Too much media: 0 document pages + 101 images > 100"), learned(delivery.ClassCount, delivery.Learned{MaxCount: 100})},
	{"anthropic pages", 400, invalid("messages.0.content.1.document.source.base64.data: A maximum of 100 PDF pages may be provided."), refused(400, delivery.ClassCount)},
	{"bedrock field", 400, aws("This model doesn't support the image field for user messages. Remove the field and try again."), refused(400, delivery.ClassPlacement)},
	{"bedrock text model", 400, aws("This model doesn't support the image field. Remove the field and try again."), refused(400, delivery.ClassBlind)},
	{"bedrock match", 400, `{"__type":"ValidationException","message":"The model returned the following errors: messages.0.content.1.image.source: The provided image does not match the specified image format."}`, refused(400, delivery.ClassMIME)},
	{"bedrock constraint", 400, aws("1 validation error detected: Value at 'messages.1.member.content.1.member.image.format' failed to satisfy constraint: Member must satisfy enum value set: [png, jpeg, gif, webp]"), refused(400, delivery.ClassMIME)},
	{"gemini process", 400, "[" + google("Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting") + "]", refused(400, delivery.ClassDecode)},
	{"gemini valid", 400, google("Provided image is not valid."), refused(400, delivery.ClassDecode)},
	{"gemini type", 400, google("Unsupported MIME type: image/bmp"), refused(400, delivery.ClassMIME)},
	{"gemini modality", 400, google("Image input modality is not enabled for models/gemma-3-1b-it"), refused(400, delivery.ClassBlind)},
	{"gemini function", 400, google("Multimodal function responses are not supported for this model."), refused(400, delivery.ClassPlacement)},
	{"lm studio", 400, `{"error":"Model does not support images. Please use a model that does."}`, refused(400, delivery.ClassBlind)},
	{"lm studio, several", 400, `{"error":"The loaded models do not support images."}`, refused(400, delivery.ClassBlind)},
	{"ollama cloud", 400, `{"error":"this model does not support image input (ref: 6f1f)"}`, refused(400, delivery.ClassBlind)},
	{"codex", 400, "This model does not support image inputs. Remove images or switch models.", refused(400, delivery.ClassBlind)},
	{"lm studio in a 200", 200, `{"error":"Vision add-on is not loaded, but images were provided for processing"}`, refused(200, delivery.ClassBlind)},
	{"lm studio tool", 400, invalid("Only text tool_result blocks are supported"), refused(400, delivery.ClassPlacement)},
	{"lm studio url", 400, `{"error":"'url' field must be a base64 encoded image."}`, refused(400, delivery.ClassMIME)},
	{"groq string", 400, openAI("'messages.0' : for 'role:user' the following must be satisfied[('messages.0.content' : value must be a string)] messages[0].content must be a string", "null"), refused(400, delivery.ClassBlind)},
	{"an option called image", 400, `{"error":{"message":"Unknown parameter: 'image'.","type":"invalid_request_error","param":null,"code":"unknown_parameter"}}`, failure(delivery.FailSchema, 400)},
	{"an option below image", 400, `{"error":{"message":"Invalid value.","type":"invalid_request_error","param":"image.context_compression","code":"invalid_value"}}`, failure(delivery.FailSchema, 400)},
	{"copilot header", 400, `{"error":{"message":"missing required Copilot-Vision-Request header for vision requests","code":""}}`, refused(400, delivery.ClassForm)},
	{"copilot type", 400, `{"error":{"message":"image media type not supported","code":"invalid_request_body"}}`, refused(400, delivery.ClassMIME)},
	{"copilot count", 400, `{"error":{"message":"Too many images in request: 11 images were sent, with a maximum of 10 per request","code":"invalid_request_body"}}`, learned(delivery.ClassCount, delivery.Learned{MaxCount: 10})},
	{"count, other words", 400, vllm("Too many images: the limit is 50"), learned(delivery.ClassCount, delivery.Learned{MaxCount: 50})},
	{"count without a number", 400, vllm("Too many images"), refused(400, delivery.ClassCount)},
	{"z.ai", 400, `{"error":{"code":"1210","message":"messages.content.type parameter is invalid, must be in ['text']"}}`, refused(400, delivery.ClassBlind)},
	{"moonshot decode", 400, `{"error":{"message":"Invalid request: failed to decode image: image: unknown format","type":"invalid_request_error"}}`, refused(400, delivery.ClassDecode)},
	{"minimax detail", 400, anthropic("bad_request_error", "invalid params, invalid image detail (2013)"), refused(400, delivery.ClassForm)},
	{"responses thinking", 400, openAI("The encrypted content gAAA...abcd could not be verified.", `"invalid_encrypted_content"`), refused(400, delivery.ClassReasoning)},
	{"responses thinking without a code", 400, openAI("The encrypted content gAAA...abcd could not be decrypted or parsed.", "null"), refused(400, delivery.ClassReasoning)},
	{"anthropic thinking", 400, invalid("messages.1.content.0: Invalid `signature` in `thinking` block"), refused(400, delivery.ClassReasoning)},
	{"gemini thinking", 400, google("Thought signature is not valid."), refused(400, delivery.ClassReasoning)},
	{"gemini call without", 400, google("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly."), refused(400, delivery.ClassReasoning)},
	{"minimax in a 200", 200, `{"id":"0","base_resp":{"status_code":2013,"status_msg":"invalid params, chat content is empty (2013)"}}`, refused(200, delivery.ClassBlind)},
	{"mistral order", 400, mistral("Unexpected role 'user' after role 'tool'", 400), refused(400, delivery.ClassPlacement)},
	{"mlx-lm", 404, "Only 'text' content type is supported.", refused(404, delivery.ClassBlind)},
	{"pydantic string", 422, pydantic("string_type", "Input should be a valid string", `"messages"`, "0", `"content"`, `"str"`), refused(422, delivery.ClassBlind)},
	{"pydantic literal", 422, pydantic("literal_error", "Input should be 'text'", `"messages"`, "0", `"content"`, "1", `"type"`), refused(422, delivery.ClassBlind)},
	{"codex file", 400, "Codex could not read the local image at `/tmp/a.png`: no such file", refused(400, delivery.ClassDecode)},
	{"claude left out", 200, `{"error":"[Image left out: it is larger than the limit]"}`, refused(200, delivery.ClassBody)},
	{"claude removed", 200, `{"error":"3 pictures: the oldest were removed to fit"}`, refused(200, delivery.ClassBody)},
	{"claude", 200, `{"error":{"type":"image_error","message":"terminal"}}`, refused(200, delivery.ClassDecode)},

	{"openrouter quotes", 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Could not process image\"}}","provider_name":"Anthropic"}}}`, refused(400, delivery.ClassDecode)},
	{"gemini generic", 400, google("Request contains an invalid argument."), failure(delivery.FailRefused, 400)},
}

// aboutSize are refusals for the size of the request, in bytes or in tokens.
var aboutSize = []rejection{
	{"anthropic body", 413, anthropic("request_too_large", "Request exceeds the maximum size"), tooLarge(413, 0)},
	{"anthropic decoded body", 413, `{"type":"error","error":{"type":"request_body_too_large_after_decoding","message":"too large"}}`, tooLarge(413, 0)},
	{"anthropic body in a stream", 200, anthropic("request_too_large", "Request exceeds the maximum size"), tooLarge(200, 0)},
	{"gemini body", 400, google("Request payload size exceeds the limit: 20971520 bytes."), tooLarge(400, 20971520)},
	{"gemini body, older", 400, google("Request payload size exceeds the limit: 4194304 bytes. Please consider using the File API."), tooLarge(400, 4194304)},
	{"openai body", 413, openAI("Maximum content size limit (26214400) exceeded (30000000 bytes read)", "null"), tooLarge(413, 26214400)},
	{"groq body", 413, `{"error":{"message":"Request Entity Too Large","type":"invalid_request_error","code":"request_too_large"}}`, tooLarge(413, 0)},
	{"nginx", 413, "<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>\r\n<center><h1>413 Request Entity Too Large</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>", tooLarge(413, 0)},

	{"openai context", 400, openAI("This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.", `"context_length_exceeded"`), overflow(400, 8192)},
	{"responses context", 200, failedResponse("context_length_exceeded", "Your input exceeds the context window of this model."), overflow(200, 0)},
	{"openrouter context", 400, `{"error":{"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens.","code":400}}`, overflow(400, 131072)},
	{"anthropic context", 400, invalid("prompt is too long: 210000 tokens > 200000 maximum"), overflow(400, 200000)},
	{"anthropic context and answer", 400, invalid("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"), overflow(400, 200000)},
	{"llama.cpp context", 400, `{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}`, overflow(400, 8192)},
	{"llama.cpp context, older", 400, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error"}}`, overflow(400, 0)},
	{"ollama, not cut", 400, `{"error":"the input length exceeds the context length"}`, overflow(400, 0)},
	{"ollama, maximum", 500, `{"error":"input length exceeds maximum context length"}`, overflow(500, 0)},
	{"ollama, prompt", 400, `{"error":"prompt too long; exceeded max context length by 312 tokens"}`, overflow(400, 0)},
	{"ollama, runner", 400, `{"error":"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"}`, overflow(400, 4096)},
	{"vllm context", 400, vllm("You passed 9000 input tokens and requested 100 output tokens. However, the model's context length is only 8192 tokens."), overflow(400, 8192)},
	{"vllm decoder", 400, vllm("The decoder prompt (length 9000) is longer than the maximum model length of 8192. Make sure that max_model_len is no smaller."), overflow(400, 8192)},
	{"sglang", 400, vllm("The input (9000 tokens) is longer than the model's context length (8192 tokens)."), overflow(400, 8192)},
	{"lm studio context", 400, `{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}`, overflow(400, 4096)},
	{"lm studio keep", 400, `{"error":"The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input"}`, overflow(400, 0)},
	{"groq context", 400, `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, overflow(400, 0)},
	{"mistral context", 400, mistral("Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", 400), overflow(400, 32768)},
	{"xai context", 400, `{"code":"invalid-argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`, overflow(400, 131072)},
	{"copilot context", 400, `{"error":{"message":"prompt token count of 130000 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}}`, overflow(400, 128000)},
	{"moonshot context", 400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 262144","type":"invalid_request_error"}}`, overflow(400, 262144)},
	{"gemini context", 400, google("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."), overflow(400, 1048576)},
	{"bedrock long", 400, aws("Input is too long for requested model."), delivery.Failure{Kind: delivery.FailOverflow, Status: 400, Class: delivery.ClassBody}},
	{"minimax context", 200, `{"base_resp":{"status_code":2013,"status_msg":"invalid params, context window exceeds limit (2013)"}}`, overflow(200, 0)},
	{"tokens per minute", 429, openAI("Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 45000. The input or output tokens must be reduced in order to run successfully.", `"rate_limit_exceeded"`), overflow(429, 0)},
}

func check(t *testing.T, lines []rejection) {
	t.Helper()
	for _, tc := range lines {
		got := provider.Rejection(tc.status, []byte(tc.body))
		if d := cmp.Diff(tc.want, got.Failure); d != "" {
			t.Errorf("%s: %s\n%s", tc.who, got.Message, d)
		}
		if got.Message == "" {
			t.Errorf("%s: no message", tc.who)
		}
	}
}

func TestWordings(t *testing.T) {
	check(t, aboutMedia)
	check(t, aboutSize)
}

// No wording is without a line above that it is the first to match.
func TestEveryWordingHasALine(t *testing.T) {
	seen := map[int]bool{}
	for _, tc := range aboutMedia {
		seen[provider.WordingOf([]byte(tc.body))] = true
	}
	for i := range provider.Wordings() {
		if !seen[i] {
			t.Errorf("no body of a server shows wording %d: %s", i, provider.Wording(i))
		}
	}
	for i, w := range provider.OverflowWords() {
		if !anyHolds(aboutSize, w) {
			t.Errorf("no body of a server shows overflow wording %d: %s", i, w)
		}
	}
}

func anyHolds(lines []rejection, words string) bool {
	for _, tc := range lines {
		if strings.Contains(strings.ToLower(tc.body), words) {
			return true
		}
	}
	return false
}

// Numbers that no server can mean are not learned.
func TestAbsurdNumbersAreNotLearned(t *testing.T) {
	huge := strconv.FormatInt(1<<62, 10)
	for _, body := range []string{
		vllm("At most " + huge + " image(s) may be provided in one prompt."),
		vllm("At most 99999999999999999999999999 image(s) may be provided."),
		invalid("image exceeds the maximum: 5 bytes > 3 bytes"),
		invalid("image dimensions exceed max allowed size: 1 pixels"),
		google("Request payload size exceeds the limit: 12 bytes."),
		google("The input token count exceeds the maximum number of tokens allowed (" + huge + ")."),
		openAI("This model's maximum context length is 3 tokens.", "null"),
		`{"error":{"message":"the request exceeds the available context size","n_ctx":-1}}`,
		`{"error":{"message":"the request exceeds the available context size","n_ctx":1e300}}`,
		`{"error":{"code":"image_dimensions_too_large","details":{"max_side_length_pixels":-4}}}`,
	} {
		if got := provider.Rejection(400, []byte(body)).Failure.Learned; got != (delivery.Learned{}) {
			t.Errorf("%s\nlearned %+v", body, got)
		}
	}
}
