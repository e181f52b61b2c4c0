package provider_test

import (
	"strings"
	"testing"

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
	{"schema parameter", 400, `{"error":{"message":"Unknown parameter: 'strange'.","type":"invalid_request_error","param":"strange","code":"unknown_parameter"}}`, failure(delivery.FailSchema, 400)},
	{"schema tools", 400, `{"error":{"message":"Invalid type for 'tools[0]'.","type":"invalid_request_error","param":"tools[0].function.parameters","code":"invalid_type"}}`, failure(delivery.FailSchema, 400)},
	{"schema call", 400, `{"error":{"message":"Invalid parameter","param":"messages.[3].role","code":null}}`, failure(delivery.FailSchema, 400)},
	{"schema pydantic", 422, `{"detail":[{"loc":["body","tools",0,"function"],"msg":"Input should be a valid string"}]}`, delivery.Failure{Kind: delivery.FailSchema, Status: 422, Class: delivery.ClassBlind}},
	{"image parameter", 400, `{"error":{"message":"Unknown parameter: 'messages[0].content[1].image_url.detail'.","param":"messages[0].content[1].image_url.detail","code":"unknown_parameter"}}`, failure(delivery.FailRefused, 400)},
	{"bedrock schema", 400, aws("The toolConfig field must be defined when using toolUse and toolResult content blocks. Extra inputs are not permitted"), failure(delivery.FailSchema, 400)},
	{"anthropic text blocks", 400, invalid("messages: text content blocks must be non-empty"), failure(delivery.FailSchema, 400)},
	{"bedrock validation", 400, `{"__type":"com.amazon.coral.validate#ValidationException","message":"The provided request is not valid"}`, failure(delivery.FailRefused, 400)},
	{"bedrock validation in a stream", 200, `{"__type":"validationException","message":"The provided request is not valid"}`, failure(delivery.FailRefused, 200)},
	{"bedrock throttling", 429, `{"__type":"ThrottlingException","message":"Too many requests, please wait before trying again."}`, failure(delivery.FailRateLimit, 429)},
	{"bedrock throttling in a stream", 200, `{"__type":"throttlingException","message":"Too many requests"}`, failure(delivery.FailRateLimit, 200)},
	{"bedrock quota", 400, `{"__type":"ServiceQuotaExceededException","message":"Your request exceeds the service quota for your account."}`, failure(delivery.FailRateLimit, 400)},
	{"bedrock not ready", 429, `{"__type":"ModelNotReadyException","message":"The model is not ready."}`, failure(delivery.FailRateLimit, 429)},
	{"bedrock access", 403, `{"__type":"AccessDeniedException","message":"You don't have access to the model with the specified model ID."}`, failure(delivery.FailPermission, 403)},
	{"bedrock access in a stream", 200, `{"__type":"AccessDeniedException","message":"no"}`, failure(delivery.FailPermission, 200)},
	{"bedrock key", 403, `{"__type":"com.amazon.coral.service#UnrecognizedClientException","message":"The security token included in the request is invalid."}`, failure(delivery.FailAuth, 403)},
	{"bedrock old key", 403, `{"__type":"ExpiredTokenException","message":"The security token included in the request is expired"}`, failure(delivery.FailAuth, 403)},
	{"bedrock signature", 403, `{"__type":"InvalidSignatureException","message":"The request signature we calculated does not match."}`, failure(delivery.FailAuth, 403)},
	{"bedrock model", 404, `{"__type":"ResourceNotFoundException","message":"Could not resolve the foundation model from the provided model identifier."}`, failure(delivery.FailRefused, 404)},
	{"bedrock server", 500, `{"__type":"InternalServerException","message":"An internal server error occurred. Retry your request."}`, failure(delivery.FailServer, 500)},
	{"bedrock server in a stream", 200, `{"__type":"internalServerException","message":"An internal server error occurred."}`, failure(delivery.FailServer, 200)},
	{"bedrock unavailable in a stream", 200, `{"__type":"serviceUnavailableException","message":"Service unavailable"}`, failure(delivery.FailServer, 200)},
	{"bedrock stream", 200, `{"__type":"modelStreamErrorException","message":"The model stopped","originalStatusCode":500}`, failure(delivery.FailServer, 200)},
	{"bedrock slow", 408, `{"__type":"ModelTimeoutException","message":"The request took too long to process."}`, failure(delivery.FailServer, 408)},
	{"bedrock model error", 424, `{"__type":"ModelErrorException","message":"The request failed due to an error while processing the model."}`, failure(delivery.FailRefused, 424)},
	{"any 4xx", 418, "", failure(delivery.FailRefused, 418)},
	{"server", 500, "oops", failure(delivery.FailServer, 500)},
	{"bad gateway", 502, "<!DOCTYPE html><html><title>502 Bad Gateway</title></html>", failure(delivery.FailServer, 502)},
	{"timeout", 408, "", failure(delivery.FailServer, 408)},
}

func TestRejections(t *testing.T) { check(t, rejections) }

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
