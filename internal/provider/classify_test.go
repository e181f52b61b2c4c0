package provider_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/delivery"
	"tote/internal/provider"
)

type rejection struct {
	who    string
	status int
	body   string
	want   delivery.Failure
}

func openAI(message, code string) string {
	return `{"error":{"message":"` + message + `","type":"invalid_request_error","param":null,"code":` + code + `}}`
}

func refused(status int, c delivery.Class) delivery.Failure {
	return delivery.Failure{Kind: delivery.FailRefused, Status: status, Class: c}
}

func failure(k delivery.FailureKind, status int) delivery.Failure {
	return delivery.Failure{Kind: k, Status: status}
}

// rejections are the words of real servers; the sources stand at the wordings.
var rejections = []rejection{
	{"openrouter blind", 404, `{"error":{"message":"No endpoints found that support image input","code":404}}`, refused(404, delivery.ClassBlind)},
	{"llama.cpp blind", 500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`, refused(500, delivery.ClassBlind)},
	{"vllm none", 400, `{"object":"error","message":"At most 0 image(s) may be provided in one prompt.","type":"BadRequestError","param":null,"code":400}`, refused(400, delivery.ClassBlind)},
	{"vllm four", 400, `{"object":"error","message":"At most 4 image(s) may be provided in one prompt.","type":"BadRequestError","code":400}`, delivery.Failure{Kind: delivery.FailRefused, Status: 400, Class: delivery.ClassCount, Learned: delivery.Learned{MaxCount: 4}}},
	{"vllm text model", 400, `{"message":"Qwen3-8B is not a multimodal model"}`, refused(400, delivery.ClassBlind)},
	{"vllm 500", 500, `{"message":"At most 0 image(s) may be provided in one request."}`, refused(500, delivery.ClassBlind)},
	{"deepseek", 400, openAI("Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text` at line 1 column 99", `"invalid_request_error"`), refused(400, delivery.ClassBlind)},
	{"deepseek serde", 422, "Failed to deserialize the JSON body into the target type: messages[1].content: data did not match any variant of untagged enum ChatCompletionRequestContent at line 1", refused(422, delivery.ClassBlind)},
	{"openai blind", 400, openAI("Invalid content type. image_url is only supported by certain models.", "null"), refused(400, delivery.ClassBlind)},
	{"openai role", 400, openAI("Invalid 'messages[3]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.", `"invalid_value"`), refused(400, delivery.ClassPlacement)},
	{"openai format", 400, openAI("You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].", `"invalid_image_format"`), refused(400, delivery.ClassMIME)},
	{"openai invalid", 400, openAI("The image data you provided does not represent a valid image.", `"image_parse_error"`), refused(400, delivery.ClassDecode)},
	{"openai sanitizer", 400, openAI("Something went wrong while processing. Please make sure your image is below 20MB.", `"sanitizer_server_error"`), refused(400, delivery.ClassBytes)},
	{"responses code", 200, `{"error":{"code":"image_too_large","message":"The image is too large."}}`, refused(200, delivery.ClassBytes)},
	{"anthropic bytes", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"}}`, delivery.Failure{Kind: delivery.FailRefused, Status: 400, Class: delivery.ClassBytes, Learned: delivery.Learned{MaxBytes: 3932160}}},
	{"anthropic edge", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels"}}`, delivery.Failure{Kind: delivery.FailRefused, Status: 400, Class: delivery.ClassEdge, Learned: delivery.Learned{MaxEdge: 8000}}},
	{"anthropic many", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"}}`, delivery.Failure{Kind: delivery.FailRefused, Status: 400, Class: delivery.ClassEdge, Learned: delivery.Learned{MaxEdge: 2000}}},
	{"anthropic v2 edge", 400, `{"type":"error","error":{"type":"invalid_request_error","code":"image_dimensions_too_large","message":"too large","details":{"max_side_length_pixels":8000,"paths":["messages.0"]}}}`, delivery.Failure{Kind: delivery.FailRefused, Status: 400, Class: delivery.ClassEdge, Learned: delivery.Learned{MaxEdge: 8000}}},
	{"anthropic decode", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Could not process image"}}`, refused(400, delivery.ClassDecode)},
	{"anthropic mime", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"}}`, refused(400, delivery.ClassMIME)},
	{"anthropic empty image", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"image cannot be empty"}}`, refused(400, delivery.ClassDecode)},
	{"anthropic count", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"too many images and documents: 0 + 101 > 100"}}`, delivery.Failure{Kind: delivery.FailRefused, Status: 400, Class: delivery.ClassCount, Learned: delivery.Learned{MaxCount: 100}}},
	{"anthropic media", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Too much media: 0 document pages + 101 images > 100"}}`, delivery.Failure{Kind: delivery.FailRefused, Status: 400, Class: delivery.ClassCount, Learned: delivery.Learned{MaxCount: 100}}},
	{"anthropic pages", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"A maximum of 100 PDF pages may be provided"}}`, refused(400, delivery.ClassCount)},
	{"anthropic body", 413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, delivery.Failure{Kind: delivery.FailTooLarge, Status: 413, Class: delivery.ClassBody}},
	{"anthropic text blocks", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages: text content blocks must be non-empty"}}`, failure(delivery.FailSchema, 400)},
	{"bedrock field", 400, `{"__type":"ValidationException","message":"This model doesn't support the image field for user messages. Remove the field and try again."}`, refused(400, delivery.ClassPlacement)},
	{"bedrock match", 400, `{"message":"The provided image does not match the specified image format."}`, refused(400, delivery.ClassMIME)},
	{"bedrock constraint", 400, `{"message":"1 validation error detected: Value at 'messages.1.member.content.1.member.image.format' failed to satisfy constraint"}`, refused(400, delivery.ClassMIME)},
	{"bedrock long", 400, `{"message":"Input is too long for requested model."}`, delivery.Failure{Kind: delivery.FailOverflow, Status: 400, Class: delivery.ClassBody}},
	{"gemini process", 400, `[{"error":{"code":400,"message":"Unable to process input image. Please retry or report","status":"INVALID_ARGUMENT"}}]`, refused(400, delivery.ClassDecode)},
	{"gemini valid", 400, `{"error":{"code":400,"message":"Provided image is not valid.","status":"INVALID_ARGUMENT"}}`, refused(400, delivery.ClassDecode)},
	{"gemini mime", 400, `{"error":{"code":400,"message":"Unsupported MIME type: image/bmp","status":"INVALID_ARGUMENT"}}`, refused(400, delivery.ClassMIME)},
	{"gemini modality", 400, `{"error":{"code":400,"message":"Image input modality is not enabled for models/gemma-3-1b-it","status":"INVALID_ARGUMENT"}}`, refused(400, delivery.ClassBlind)},
	{"gemini function", 400, `{"error":{"code":400,"message":"Multimodal function responses are not supported for this model.","status":"INVALID_ARGUMENT"}}`, refused(400, delivery.ClassPlacement)},
	{"gemini body", 400, `{"error":{"code":400,"message":"Request payload size exceeds the limit: 20971520 bytes.","status":"INVALID_ARGUMENT"}}`, delivery.Failure{Kind: delivery.FailTooLarge, Status: 400, Class: delivery.ClassBody, Learned: delivery.Learned{MaxRequest: 20971520}}},
	{"gemini generic", 400, `{"error":{"code":400,"message":"Request contains an invalid argument.","status":"INVALID_ARGUMENT"}}`, failure(delivery.FailRefused, 400)},
	{"lm studio", 400, `{"error":"Model does not support images. Please use a model that does."}`, refused(400, delivery.ClassBlind)},
	{"lm studio 200", 200, `{"error":"Vision add-on is not loaded, but images were provided"}`, refused(200, delivery.ClassBlind)},
	{"lm studio tool", 400, `{"error":{"message":"Only text tool_result blocks are supported"}}`, refused(400, delivery.ClassPlacement)},
	{"lm studio url", 400, `{"error":"'url' field must be a base64 encoded image."}`, refused(400, delivery.ClassMIME)},
	{"ollama cloud", 400, `{"error":"this model does not support image input"}`, refused(400, delivery.ClassBlind)},
	{"groq string", 400, openAI("'messages.0' : for 'role:user' the following must be satisfied[('messages.0.content' : value must be a string)] messages[0].content must be a string", "null"), refused(400, delivery.ClassBlind)},
	{"copilot header", 400, `{"error":{"message":"missing required Copilot-Vision-Request header for vision requests","code":"bad_request"}}`, failure(delivery.FailRefused, 400)},
	{"copilot type", 400, `{"error":{"message":"image media type not supported","code":"invalid_request_body"}}`, refused(400, delivery.ClassMIME)},
	{"copilot count", 400, `{"error":{"message":"Too many images in request: 11 images were sent with a maximum of 10","code":"x"}}`, delivery.Failure{Kind: delivery.FailRefused, Status: 400, Class: delivery.ClassCount, Learned: delivery.Learned{MaxCount: 10}}},
	{"z.ai", 400, `{"error":{"code":"1210","message":"messages.content.type parameter is invalid, must be in ['text']"}}`, refused(400, delivery.ClassBlind)},
	{"moonshot format", 400, `{"error":{"message":"unsupported image format","type":"invalid_request_error"}}`, refused(400, delivery.ClassMIME)},
	{"moonshot decode", 400, `{"error":{"message":"failed to decode image: unknown format","type":"invalid_request_error"}}`, refused(400, delivery.ClassDecode)},
	{"minimax detail", 400, `{"type":"error","error":{"type":"bad_request_error","message":"invalid params, invalid image detail (2013)"}}`, failure(delivery.FailRefused, 400)},
	{"minimax empty", 200, `{"base_resp":{"status_code":2013,"status_msg":"invalid params, chat content is empty (2013)"}}`, refused(200, delivery.ClassBlind)},
	{"mistral order", 400, `{"object":"error","message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order","code":"3230"}`, refused(400, delivery.ClassPlacement)},
	{"mlx-lm", 404, "Only 'text' content type is supported.", refused(404, delivery.ClassBlind)},
	{"pydantic string", 422, `{"detail":[{"type":"string_type","loc":["body","messages",0,"content"],"msg":"Input should be a valid string","input":[{"type":"text"}]}]}`, refused(422, delivery.ClassBlind)},
	{"pydantic literal", 422, `{"detail":[{"type":"literal_error","loc":["body","messages",0,"content",1,"type"],"msg":"Input should be 'text'"}]}`, refused(422, delivery.ClassBlind)},
	{"codex", 400, "This model does not support image inputs. Remove images or switch models.", refused(400, delivery.ClassBlind)},
	{"codex file", 400, "Codex could not read the local image at /tmp/a.png", refused(400, delivery.ClassDecode)},
	{"claude", 200, `{"error":{"type":"image_error","message":"the image"}}`, refused(200, delivery.ClassDecode)},
	{"claude left out", 200, `{"error":"[Image left out: too large]"}`, refused(200, delivery.ClassBody)},

	{"unauthorized", 401, openAI("Incorrect API key provided: sk-abcdefghijklmnop. You can find your API key at https://platform.openai.com.", `"invalid_api_key"`), failure(delivery.FailAuth, 401)},
	{"gemini key", 400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`, failure(delivery.FailAuth, 400)},
	{"no money", 402, `{"error":{"message":"Insufficient Balance"}}`, failure(delivery.FailBilling, 402)},
	{"anthropic money", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, failure(delivery.FailBilling, 400)},
	{"quota", 429, openAI("You exceeded your current quota, please check your plan and billing details.", `"insufficient_quota"`), failure(delivery.FailBilling, 429)},
	{"gemini rate", 429, `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED"}}`, failure(delivery.FailRateLimit, 429)},
	{"forbidden", 403, "", failure(delivery.FailPermission, 403)},
	{"rate", 429, openAI("Rate limit reached", `"rate_limit_exceeded"`), failure(delivery.FailRateLimit, 429)},
	{"rate in a stream", 200, `{"error":{"message":"Rate limit reached","code":429}}`, failure(delivery.FailRateLimit, 200)},
	{"overloaded in a stream", 200, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, failure(delivery.FailServer, 200)},
	{"error in a 200", 200, `{"error":{"message":"something"}}`, failure(delivery.FailRefused, 200)},
	{"context openai", 400, openAI("This model's maximum context length is 8192 tokens.", `"context_length_exceeded"`), failure(delivery.FailOverflow, 400)},
	{"context anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, failure(delivery.FailOverflow, 400)},
	{"context llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size","type":"exceed_context_size_error"}}`, failure(delivery.FailOverflow, 400)},
	{"tokens per minute", 429, openAI("Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 45000. The input or output tokens must be reduced in order to run successfully.", `"rate_limit_exceeded"`), failure(delivery.FailOverflow, 429)},
	{"body nginx", 413, "<html>\r\n<head><title>413 Request Entity Too Large</title></head><body></body></html>", delivery.Failure{Kind: delivery.FailTooLarge, Status: 413, Class: delivery.ClassBody}},
	{"schema parameter", 400, `{"error":{"message":"Unknown parameter: 'strange'.","type":"invalid_request_error","param":"strange","code":"unknown_parameter"}}`, failure(delivery.FailSchema, 400)},
	{"schema tools", 400, `{"error":{"message":"Invalid type for 'tools[0]'.","type":"invalid_request_error","param":"tools[0].function.parameters","code":"invalid_type"}}`, failure(delivery.FailSchema, 400)},
	{"schema call", 400, `{"error":{"message":"Invalid parameter","param":"messages.[3].role","code":null}}`, failure(delivery.FailSchema, 400)},
	{"schema pydantic", 422, `{"detail":[{"loc":["body","tools",0,"function"],"msg":"Input should be a valid string"}]}`, delivery.Failure{Kind: delivery.FailSchema, Status: 422, Class: delivery.ClassBlind}},
	{"image parameter", 400, `{"error":{"message":"Unknown parameter: 'messages[0].content[1].image_url.detail'.","param":"messages[0].content[1].image_url.detail","code":"unknown_parameter"}}`, failure(delivery.FailRefused, 400)},
	{"any 4xx", 418, "", failure(delivery.FailRefused, 418)},
	{"server", 500, "oops", failure(delivery.FailServer, 500)},
	{"bad gateway", 502, "<!DOCTYPE html><html><title>502 Bad Gateway</title></html>", failure(delivery.FailServer, 502)},
	{"timeout", 408, "", failure(delivery.FailServer, 408)},
	{"openrouter quotes", 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"Could not process image\"}}","provider_name":"X"}}}`, refused(400, delivery.ClassDecode)},
}

func TestRejections(t *testing.T) {
	for _, tc := range rejections {
		got := provider.Rejection(tc.status, []byte(tc.body))
		if d := cmp.Diff(tc.want, got.Failure); d != "" {
			t.Errorf("%s: %s\n%s", tc.who, got.Message, d)
		}
		if got.Message == "" {
			t.Errorf("%s: no message", tc.who)
		}
	}
}

func TestMessagesAreFitForPeople(t *testing.T) {
	run := strings.Repeat("iVBORw0KGgo", 40)
	for in, want := range map[string]string{
		openAI("Incorrect API key provided: sk-abc123def456ghi.", "null"):                    "Incorrect API key provided: …",
		"bad header: Bearer abcdefghijk":                                                     "bad header: …",
		"the task-manager-thing is fine":                                                     "the task-manager-thing is fine",
		"Invalid data: data:image/png;base64," + run + " was bad":                            "Invalid data: … was bad",
		"short data:image/png;base64,AAAA here":                                              "short … here",
		"blob " + run + "== end":                                                             "blob … end",
		"a\x1b[31mred\x00\r\n  line":                                                         "a[31mred line",
		"<html><head><title> 502 &amp; more </title></head><body>secret</body></html>":       "an HTML page: 502 & more",
		"<!DOCTYPE html><html><body>nothing</body></html>":                                   "an HTML page",
		`{"error":{"message":"Provider returned error","metadata":{"raw":"upstream died"}}}`: "Provider returned error: upstream died",
		`{"detail":"Not Found"}`:                                                             "Not Found",
		"":                                                                                   "bad request",
	} {
		if got := provider.Rejection(400, []byte(in)).Message; got != want {
			t.Errorf("message of %.60q = %q, want %q", in, got, want)
		}
	}
	long := provider.Rejection(400, []byte(strings.Repeat("word ", 500))).Message
	if n := len([]rune(long)); n > 300 || !strings.HasSuffix(long, "…") {
		t.Errorf("a long message keeps %d runes", n)
	}
}
