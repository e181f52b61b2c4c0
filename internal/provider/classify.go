package provider

import (
	"net/http"
	"strings"

	"tote/internal/delivery"
)

// Rejection makes the error of an answer that says no: a body with an error
// status, or an error object that came inside a 200 or a stream. A status of
// the body itself counts where the answer's was 200.
func Rejection(status int, body []byte) *Error { return rejection(status, body, "") }

// rejection is Rejection with the name that a header gave the error.
func rejection(status int, body []byte, name string) *Error {
	r := parseReply(unpacked(body))
	if name, _, _ = strings.Cut(name, ":"); name != "" {
		r.codes = append(r.codes, strings.ToLower(name))
	}
	f := classify(status, r)
	msg := CleanMessage(r.message)
	if msg == "" && len(r.codes) > 0 {
		msg = CleanMessage(strings.Join(r.codes, ", "))
	}
	if msg == "" {
		msg = strings.ToLower(http.StatusText(status))
	}
	return &Error{Failure: f, Message: msg}
}

func classify(status int, r reply) delivery.Failure {
	f := delivery.Failure{Status: status}
	effective := status
	if status < 400 {
		effective = innerStatus(r)
	}
	words := r.words()
	var about bool
	f.Class, f.Learned, about = media(words)
	if r.edge > 0 {
		f.Class, f.Learned.MaxEdge = delivery.ClassEdge, r.edge
	}
	f.Kind = kindOf(effective, r, words, about || r.edge > 0)
	switch f.Kind {
	case delivery.FailTooLarge:
		if f.Class == delivery.ClassUnknown {
			f.Class = delivery.ClassBody
		}
		f.Learned.MaxRequest = bodyMax(words)
	case delivery.FailOverflow:
		f.Learned = delivery.Learned{Context: contextSize(r.context, words)}
		if strings.Contains(words, "input is too long") {
			f.Class = delivery.ClassBody // Bedrock says this of large payloads too
		}
	case delivery.FailRefused, delivery.FailServer, delivery.FailNone, delivery.FailCancelled, delivery.FailAuth,
		delivery.FailBilling, delivery.FailPermission, delivery.FailRateLimit, delivery.FailSchema, delivery.FailUpload,
		delivery.FailNetwork, delivery.FailStream, delivery.FailProtocol, delivery.FailDropped:
	}
	return f
}

// kindOf decides by the status, refined by words. about: they are about media.
func kindOf(status int, r reply, words string, about bool) delivery.FailureKind {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden && r.named(authNames[:]):
		return delivery.FailAuth
	case status == http.StatusPaymentRequired:
		return delivery.FailBilling
	case status == http.StatusForbidden:
		return delivery.FailPermission
	case containsAny(words, billingWords[:]...):
		return delivery.FailBilling
	case !about && status < 500 && containsAny(words, authWords[:]...):
		return delivery.FailAuth
	case containsAny(words, overflowWords[:]...):
		return delivery.FailOverflow
	case status == http.StatusTooManyRequests || r.named(quotaNames[:]):
		return delivery.FailRateLimit
	case status == http.StatusRequestEntityTooLarge || containsAny(words, bodyWords[:]...):
		return delivery.FailTooLarge
	case status == http.StatusRequestTimeout:
		return delivery.FailServer
	case about && !schemaParam(r.param) && !containsAny(words, optionWords[:]...):
		return delivery.FailRefused
	case status >= 500:
		return delivery.FailServer
	case schemaParam(r.param) || containsAny(words, optionWords[:]...) || containsAny(words, schemaWords[:]...):
		return delivery.FailSchema
	}
	return delivery.FailRefused
}

// optionWords are about the option of a request that is called "image", and not
// about a picture.
var optionWords = [...]string{"unknown parameter: 'image'", "unknown parameter: 'image."}

// schemaParam reports whether the named part of the request can hold no media.
func schemaParam(param string) bool {
	if param == "image" || strings.HasPrefix(param, "image.") {
		return true // OpenAI's policy for older pictures, an option of the request
	}
	if param == "" || containsAny(param, "image", "audio", "file", "content") {
		return false
	}
	param = strings.TrimPrefix(param, "body.")
	for _, p := range []string{
		"tools", "tool_choice", "functions", "stream_options", "max_tokens", "max_completion_tokens", "max_output_tokens", "seed",
		"temperature", "reasoning", "store", "include",
	} {
		if strings.HasPrefix(param, p) {
			return true
		}
	}
	return strings.HasPrefix(param, "messages") && containsAny(param, "role", "tool_call", ".name")
}

// authNames are AWS's names for keys that are wrong or have run out; it gives
// them the status 403
// (https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html, read 2026-11-30).
var authNames = [...]string{
	"unrecognizedclientexception", "invalidclienttokenid", "expiredtokenexception", "expiredtoken", "invalidsignatureexception",
	"signaturedoesnotmatch", "incompletesignature", "incompletesignatureexception", "missingauthenticationtoken",
	"missingauthenticationtokenexception", "requestexpired",
}

// quotaNames are AWS's names for too much at once, with whatever status.
var quotaNames = [...]string{"throttlingexception", "servicequotaexceededexception", "modelnotreadyexception"}

// innerStatuses are the words that stand for a status inside a stream or a 200:
// Anthropic's and OpenAI's error types, Google's and AWS's names
// (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html, read 2026-11-30).
var innerStatuses = map[string]int{
	"authentication_error": 401, "invalid_api_key": 401, "unauthenticated": 401, "billing_error": 402,
	"permission_error": 403, "permission_denied": 403, "accessdeniedexception": 403, "not_found_error": 404,
	"resourcenotfoundexception": 404, "request_too_large": 413, "request_body_too_large_after_decoding": 413,
	"validationexception": 400, "unrecognizedclientexception": 401, "expiredtokenexception": 401, "invalidsignatureexception": 401,
	"rate_limit_error": 429, "rate_limit_exceeded": 429, "resource_exhausted": 429, "too_many_requests": 429,
	"api_error": 500, "server_error": 500, "internal": 500, "internal_error": 500, "internal_server_error": 500, "internalserverexception": 500,
	"modelerrorexception": 424, "unavailable": 503, "service_unavailable": 503, "serviceunavailableexception": 503, "modelstreamerrorexception": 503,
	"timeout_error": 504, "deadline_exceeded": 504, "modeltimeoutexception": 504, "overloaded_error": 529,
}

// innerStatus is the status that a body names, 400 for none.
func innerStatus(r reply) int {
	for _, c := range r.codes {
		if s, ok := innerStatuses[c]; ok {
			return s
		}
	}
	if r.status != 0 {
		return r.status
	}
	return http.StatusBadRequest
}
