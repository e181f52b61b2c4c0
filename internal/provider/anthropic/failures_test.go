package anthropic_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tote/internal/content"
	"tote/internal/delivery"
	"tote/internal/provider"
	"tote/internal/provider/providertest"
)

// The sentences are those of public reports; the numbers behind "claude-code"
// and the like are of the threads on GitHub they stand in (read 2026-11-30).
func TestRejections(t *testing.T) {
	failed := func(status int, kind delivery.FailureKind, class delivery.Class, l delivery.Learned) delivery.Failure {
		return delivery.Failure{Kind: kind, Status: status, Class: class, Learned: l}
	}
	refused := func(class delivery.Class, l delivery.Learned) delivery.Failure {
		return failed(400, delivery.FailRefused, class, l)
	}
	for name, tc := range map[string]struct {
		typ, message, details string
		want                  delivery.Failure
	}{
		"bytes (claude-code#10612)":        {"invalid_request_error", "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes", "", refused(delivery.ClassBytes, delivery.Learned{MaxBytes: 3932160})},
		"edge (claude-code#4778)":          {"invalid_request_error", "messages.2.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels", "", refused(delivery.ClassEdge, delivery.Learned{MaxEdge: 8000})},
		"many pictures (claude-code#9375)": {"invalid_request_error", "messages.8.content.47.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels", "", refused(delivery.ClassEdge, delivery.Learned{MaxEdge: 2000})},
		"edge by code": {
			"invalid_request_error", "Scale the images down, then retry.",
			`{"error_code":"image_dimensions_too_large","max_side_length_pixels":2576,"paths":["messages.0.content.1","messages.2.content.0.content.1"]}`,
			refused(delivery.ClassEdge, delivery.Learned{MaxEdge: 2576}),
		},
		"damaged (claude-code#8646)":        {"invalid_request_error", "Could not process image", "", refused(delivery.ClassDecode, delivery.Learned{})},
		"type (opencode#5704)":              {"invalid_request_error", "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'", "", refused(delivery.ClassMIME, delivery.Learned{})},
		"empty (claude-code#8947)":          {"invalid_request_error", "messages.0.content.0.image.source.base64: image cannot be empty", "", refused(delivery.ClassDecode, delivery.Learned{})},
		"count (claude-code#23392)":         {"invalid_request_error", "too many images and documents: 80 + 21 > 100", "", refused(delivery.ClassCount, delivery.Learned{MaxCount: 100})},
		"count, other words (#24541)":       {"invalid_request_error", "Too much media: 80 + 21 > 100", "", refused(delivery.ClassCount, delivery.Learned{MaxCount: 100})},
		"pages (claude-code#5707)":          {"invalid_request_error", "A maximum of 100 PDF pages may be provided", "", refused(delivery.ClassCount, delivery.Learned{})},
		"empty text (claude-code#62150)":    {"invalid_request_error", "messages: text content blocks must be non-empty", "", failed(400, delivery.FailSchema, delivery.ClassUnknown, delivery.Learned{})},
		"body (anthropic-sdk-python#1098)":  {"request_too_large", "Request exceeds the maximum size", "", failed(413, delivery.FailTooLarge, delivery.ClassBody, delivery.Learned{})},
		"body by code":                      {"request_too_large", "The request is too large.", `{"error_code":"request_body_too_large_after_decoding"}`, failed(413, delivery.FailTooLarge, delivery.ClassBody, delivery.Learned{})},
		"context":                           {"invalid_request_error", "prompt is too long: 209571 tokens > 200000 maximum", "", failed(400, delivery.FailOverflow, delivery.ClassUnknown, delivery.Learned{Context: 200_000})},
		"no picture in results (LM Studio)": {"invalid_request_error", "Only text tool_result blocks are supported", "", refused(delivery.ClassPlacement, delivery.Learned{})},
		"oversized picture, asked for":      {"invalid_request_error", "messages.0.content.1: image is 4000x3000; the largest dimensions that fit are 2212x1659", "", refused(delivery.ClassUnknown, delivery.Learned{})},
		"key":                               {"authentication_error", "invalid x-api-key", "", failed(401, delivery.FailAuth, delivery.ClassUnknown, delivery.Learned{})},
		"money":                             {"invalid_request_error", "Your credit balance is too low to access the Anthropic API.", "", failed(400, delivery.FailBilling, delivery.ClassUnknown, delivery.Learned{})},
		"busy":                              {"overloaded_error", "Overloaded", "", failed(529, delivery.FailServer, delivery.ClassUnknown, delivery.Learned{})},
		"rate":                              {"rate_limit_error", "This request would exceed your rate limit.", "", failed(429, delivery.FailRateLimit, delivery.ClassUnknown, delivery.Learned{})},
	} {
		t.Run(name, func(t *testing.T) {
			rec := providertest.NewRecorder(t, providertest.Status(tc.want.Status, providertest.AnthropicErrorJSON(tc.typ, tc.message, tc.details))).Check("/v1/messages", check)
			p := at(rec.URL)
			var blobs providertest.Blobs
			body, err := p.Encode(provider.Request{Prompt: providertest.Settle(t, profile(native), &blobs, providertest.User(picture(&blobs, "image-1.png", "PNG"))), Blobs: &blobs})
			if err != nil {
				t.Fatal(err)
			}
			h := listen(t.Context(), t, p, body)
			if h.Err == nil {
				t.Fatalf("no error: %+v", h)
			}
			if diff := cmp.Diff(tc.want, h.Err.Failure); diff != "" {
				t.Errorf("%v\n%s", h.Err, diff)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	words := slicesOf(start(), providertest.AnthropicTextBlock(0, "x"))
	call := slicesOf(start(), providertest.AnthropicCallBlock(0, content.ToolCall{ID: "a", Name: "n", Arguments: `{"k":"v"}`}))
	for name, tc := range map[string]struct {
		reply providertest.Reply
		want  delivery.Failure
	}{
		"no end":           {providertest.AnthropicEvents(words...), delivery.Failure{Kind: delivery.FailStream}},
		"only a beginning": {providertest.AnthropicEvents(start()...), delivery.Failure{Kind: delivery.FailStream}},
		"nothing":          {providertest.Raw("text/event-stream", ""), delivery.Failure{Kind: delivery.FailStream}},
		"cut":              {providertest.Cut(500, providertest.AnthropicText("hello")), delivery.Failure{Kind: delivery.FailStream}},
		"cut in a call":    {providertest.AnthropicEvents(call[:3]...), delivery.Failure{Kind: delivery.FailStream}},
		"cut in whole":     {providertest.Cut(20, providertest.Raw("application/json", `{"type":"message","content":[]}`)), delivery.Failure{Kind: delivery.FailStream}},
		"end of nothing":   {providertest.AnthropicEvents(`{"type":"message_stop"}`), delivery.Failure{Kind: delivery.FailProtocol}},
		"no JSON":          {providertest.AnthropicEvents("{x"), delivery.Failure{Kind: delivery.FailProtocol}},
		"no object":        {providertest.AnthropicEvents("7"), delivery.Failure{Kind: delivery.FailProtocol}},
		"page":             {providertest.Raw("text/html", "<html><title>Sign in</title></html>"), delivery.Failure{Kind: delivery.FailProtocol}},
		"broken whole":     {providertest.Raw("application/json", `{"content":]`), delivery.Failure{Kind: delivery.FailProtocol}},
		"no end of blocks": {
			providertest.AnthropicEvents(slicesOf(start(), strings.Split(strings.Repeat(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}|`, 5000)+`{"type":"ping"}`, "|"))...),
			delivery.Failure{Kind: delivery.FailProtocol},
		},
		"busy in the stream":    {providertest.AnthropicStreamError("overloaded_error", "Overloaded", "x"), delivery.Failure{Kind: delivery.FailServer, Status: 200}},
		"rate in the stream":    {providertest.AnthropicStreamError("rate_limit_error", "slow down"), delivery.Failure{Kind: delivery.FailRateLimit, Status: 200}},
		"size in the stream":    {providertest.AnthropicStreamError("request_too_large", "too large"), delivery.Failure{Kind: delivery.FailTooLarge, Status: 200, Class: delivery.ClassBody}},
		"picture in the stream": {providertest.AnthropicStreamError("invalid_request_error", "Could not process image"), delivery.Failure{Kind: delivery.FailRefused, Status: 200, Class: delivery.ClassDecode}},
		"error without a type":  {providertest.Events(`{"error":{"type":"api_error","message":"Internal server error"}}`), delivery.Failure{Kind: delivery.FailServer, Status: 200}},
		"error by name":         {providertest.Raw("text/event-stream", "event: error\ndata: {\"message\":\"Overloaded\",\"type\":\"overloaded_error\"}\n\n"), delivery.Failure{Kind: delivery.FailServer, Status: 200}},
		"error in a 200":        {providertest.Raw("application/json", providertest.AnthropicErrorJSON("overloaded_error", "Overloaded", "")), delivery.Failure{Kind: delivery.FailServer, Status: 200}},
		"other error in a 200":  {providertest.Raw("application/json", `{"error":"Vision add-on is not loaded, but images were provided"}`), delivery.Failure{Kind: delivery.FailRefused, Status: 200, Class: delivery.ClassBlind}},
		"list in a 200":         {providertest.Raw("application/json", `[{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}]`), delivery.Failure{Kind: delivery.FailRateLimit, Status: 200}},
	} {
		t.Run(name, func(t *testing.T) {
			p := at(providertest.NewRecorder(t, tc.reply).URL)
			h := listen(t.Context(), t, p, hello(t, p))
			if h.Err == nil {
				t.Fatalf("no error: %+v", h)
			}
			if diff := cmp.Diff(tc.want, h.Err.Failure); diff != "" {
				t.Errorf("%v\n%s", h.Err, diff)
			}
			if len(h.Calls) > 0 {
				t.Errorf("calls of a broken answer: %+v", h.Calls)
			}
		})
	}
}

func TestUsageComesBeforeAnError(t *testing.T) {
	u := providertest.AnthropicUsage{Input: 3, Output: 9, CacheRead: 4, CacheWrite: -1}
	for name, events := range map[string][]string{
		"cut":   {providertest.AnthropicStart(u)},
		"error": {providertest.AnthropicStart(u), providertest.AnthropicErrorJSON("api_error", "x", "")},
	} {
		h := over(t, events)
		if h.Err == nil || h.Usage.Input != known(7) || h.Usage.Cached != known(4) {
			t.Errorf("%s: usage %v, error %v", name, h.Usage, h.Err)
		}
	}
}

// An endpoint that refuses pictures is told apart from one that answers.
func TestRefuseMedia(t *testing.T) {
	rec := providertest.NewRecorder(t, providertest.AnthropicRefuseMedia(400, "invalid_request_error", "this model does not support images", providertest.AnthropicText("ok")))
	p := at(rec.URL)
	var blobs providertest.Blobs
	seen := provider.Request{Prompt: providertest.Settle(t, profile(native), &blobs, providertest.User(picture(&blobs, "image-1.png", "PNG"))), Blobs: &blobs}
	body, err := p.Encode(seen)
	if err != nil {
		t.Fatal(err)
	}
	if h := listen(t.Context(), t, p, body); h.Err == nil || h.Err.Failure.Class != delivery.ClassBlind {
		t.Errorf("with a picture: %+v", h)
	}
	if h := listen(t.Context(), t, p, hello(t, p)); h.Text != "ok" {
		t.Errorf("without: %+v", h)
	}
}
