package conformance_test

import (
	"fmt"
	"net/http"

	"tote/internal/provider/providertest"
)

// rejection is one way in which a server says no to a picture.
type rejection struct {
	name, kind string
	reply      providertest.Reply
}

// rejections are sentences that users have seen, each from the server that says
// it, with the thread or source that it stands in (read 2026-11-30).
func rejections(all []tongue) []rejection {
	by := map[string]*tongue{}
	for i := range all {
		by[all[i].kind] = &all[i]
	}
	var out []rejection
	body := func(name, kind string, status int, body string, headers ...string) {
		out = append(out, rejection{name, kind, providertest.Status(status, body, headers...)})
	}
	say := func(name, kind string, status int, code, words string) {
		out = append(out, rejection{name, kind, by[kind].rejects(status, code, words)})
	}
	chatRejections(say, body)
	const chat, responses, claude, google, ollama, aws = "openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "bedrock-converse"
	out = append(out, rejection{
		"LM Studio without add-on (lms#362)", chat,
		providertest.Raw("application/json", `{"error":"Vision add-on is not loaded, but images were provided for processing"}`),
	})
	for _, code := range []string{
		"invalid_image", "invalid_image_format", "invalid_base64_image", "invalid_image_url", "image_too_large", "image_too_small",
		"image_parse_error", "image_content_policy_violation", "invalid_image_mode", "image_file_too_large",
		"unsupported_image_media_type", "empty_image_file", "failed_to_download_image", "image_file_not_found",
	} {
		out = append(out, rejection{"OpenAI " + code + " (openai-go)", responses, providertest.ResponsesFailed(code, "The picture was not taken.")})
	}
	say("Codex backend (codex)", responses, 400, "invalid_value", "Invalid 'input[0].content[1].image_url'. Expected a valid URL, but got a value with an invalid format.")

	const source = "messages.2.content.1.image.source.base64"
	for _, x := range [][2]string{
		{"bytes (claude-code#10612)", source + ": image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"},
		{"edge (claude-code#4778)", source + ".data: At least one of the image dimensions exceed max allowed size: 8000 pixels"},
		{"many (claude-code#9375)", source + ".data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"},
		{"decode (claude-code#8646)", "Could not process image"},
		{"type (opencode#5704)", source + ".media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"},
		{"empty (claude-code#8947)", source + ": image cannot be empty"},
		{"count (claude-code#23392)", "too many images and documents: 80 + 21 > 100"},
		{"media (claude-code#24541)", "Too much media: 80 + 21 > 100"},
		{"pages (claude-code#5707)", "A maximum of 100 PDF pages may be provided."},
		{"LM Studio's results (lmstudio-bug-tracker#2008)", "Only text tool_result blocks are supported"},
	} {
		say("Anthropic "+x[0], claude, 400, "", x[1])
	}
	body("Anthropic edge by code (anthropic-sdk-go)", claude, 400, providertest.AnthropicErrorJSON("invalid_request_error", "Scale it down, then try again.",
		`{"error_code":"image_dimensions_too_large","max_side_length_pixels":8000,"paths":["messages.2.content.1"]}`))

	say("Bedrock no field (oh-my-pi#11685)", aws, 400, "", "This model doesn't support the image field for user messages. Remove it and try again.")
	say("Bedrock mismatch (boto3#4415)", aws, 400, "", "The provided image does not match the specified image format.")
	say("Bedrock format (hermes-agent#55429)", aws, 400, "", "1 validation error detected: Value 'jpg' at 'messages.2.member.content.1.member.image.format' failed to satisfy constraint: Member must satisfy enum value set: [jpeg, png, gif, webp]")

	for _, x := range [][2]string{
		{"process (gemini-cli#5064)", "Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting"},
		{"valid (Open-Interface#64)", "Provided image is not valid."},
		{"type (crush#995)", "Unsupported MIME type: image/jpg"},
		{"blind (generative-ai-docs#513)", "Image input modality is not enabled for models/m"},
		{"results (Gemini's documentation)", "Multimodal function responses are not supported for this model."},
		{"generic (js-genai#862)", "Request contains an invalid argument."},
	} {
		say("Gemini "+x[0], google, 400, "", x[1])
	}
	say("Ollama's cloud (ollama#17301)", ollama, 400, "", "this model does not support image input")
	return out
}

// chatRejections are those of OpenAI's own and of servers that speak its first
// protocol.
func chatRejections(
	say func(name, kind string, status int, code, words string), body func(name, kind string, status int, body string, headers ...string),
) {
	const chat = "openai-chat"
	body("OpenRouter (hermes-agent#23411)", chat, 404, `{"error":{"message":"No endpoints found that support image input","code":404},"user_id":"u"}`)
	body("llama.cpp (llama.cpp#15377)", chat, 500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`)
	for i, words := range []string{
		"At most 0 image(s) may be provided in one prompt.", "At most 16 image(s) may be provided in one prompt.", "m is not a multimodal model",
	} {
		body(fmt.Sprintf("vLLM %d (vllm#17092, #23402)", i), chat, 400, `{"object":"error","message":`+spell(words)+`,"type":"BadRequestError","param":null,"code":400}`)
	}
	say("DeepSeek (Reasonix#7859)", chat, 400, "invalid_request_error", "Failed to deserialize the JSON body into the target type: messages[3]: unknown variant `image_url`, expected `text` at line 1 column 150")
	body("serde (DeepSeek-V3#337)", chat, 422, "Failed to deserialize the JSON body into the target type: messages[3]: data did not match any variant of untagged enum ChatCompletionRequestContent at line 1 column 150")
	body("OpenAI models (vllm#11629)", chat, 400, `{"error":{"message":"Invalid content type. image_url is only supported by certain models.","type":"invalid_request_error","param":"messages.[3].content.[1].type","code":null}}`)
	say("OpenAI place (OpenHands#7700)", chat, 400, "", "Invalid 'messages[3]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.")
	say("OpenAI format (STranslate#277)", chat, 400, "invalid_image_format", "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].")
	say("OpenAI decode (codex)", chat, 400, "", "The image data you provided does not represent a valid image. Please check your input and try again with one of the supported image formats: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'].")
	say("OpenAI sanitizer (gptpdf#6)", chat, 400, "sanitizer_server_error", "Your image could not be checked. Please make sure that your image is under 20MB.")
	say("gateway (openai-python#3551)", chat, 400, "", "'messages[3].content[1].image_url.url' is not a valid absolute URI.")
	body("LM Studio (lmstudio-bug-tracker#908)", chat, 400, `{"error":"Model does not support images. Please use a model that does."}`)
	body("LM Studio form", chat, 400, `{"error":"'url' field must be a base64 encoded image."}`)
	say("Groq (vercel/ai#2837)", chat, 400, "", "messages[3].content must be a string")
	body("Copilot type (openclaw#8666)", chat, 400, `{"error":{"message":"image media type not supported","code":"invalid_request_body"}}`)
	body("Copilot count", chat, 400, `{"error":{"message":"Too many images in request: 11 images provided, maximum of 10 allowed","code":"invalid_request_body"}}`)
	body("Z.ai (CodexPlusPlus#1760)", chat, 400, `{"error":{"code":"1210","message":"Invalid API parameter: messages.content.type must be one of ['text']"}}`)
	say("Moonshot format (kimi-cli#1066)", chat, 400, "", "Invalid request: unsupported image format: image/x-icon")
	say("Moonshot decode (kimi-cli#2367)", chat, 400, "", "Invalid request: failed to decode image: image: unknown format")
	body("MiniMax detail (lobehub#17252)", chat, 400, `{"type":"error","error":{"type":"bad_request_error","message":"invalid params, invalid image detail (2013)","http_code":"400"},"request_id":"r"}`)
	body("MiniMax empty", chat, 400, `{"base_resp":{"status_code":2013,"status_msg":"invalid params, chat content is empty (2013)"}}`)
	body("Mistral at Scaleway (LibreChat-AI/agents#344)", chat, 400, `{"object":"error","message":"Unexpected role 'user' after role 'tool'","type":"BadRequestError","param":null,"code":400}`)
	body("mlx-lm", chat, http.StatusNotFound, `{"error":"Only 'text' content type is supported."}`)
	body("pydantic string (DeepInfra)", chat, 422, `{"detail":[{"type":"string_type","loc":["body","messages",3,"content"],"msg":"Input should be a valid string","input":[]}]}`)
	body("pydantic literal", chat, 422, `{"detail":[{"type":"literal_error","loc":["body","messages",3,"content",1,"type"],"msg":"Input should be 'text'","input":"image_url"}]}`)
}

// inventions are ways to say no that nobody has seen: recovery must not need the
// words.
func inventions(g *tongue) []rejection {
	status := func(code int, words string) providertest.Reply {
		name := ""
		if g.kind == "bedrock-converse" && code >= 500 {
			name = "InternalServerException"
		}
		return g.rejects(code, name, words)
	}
	return []rejection{
		{"400", g.kind, status(400, "computer says no")},
		{"404", g.kind, status(404, "there is nothing of that sort here")},
		{"413", g.kind, status(413, "der dritte Teil geht nicht durch die Tür")},
		{"415", g.kind, status(415, "part #3 is not to our taste")},
		{"422", g.kind, status(422, "E-1047")},
		{"500", g.kind, status(500, "worker 7 fell over")},
		{"inside a 200", g.kind, g.within(g.fault(400, "", "nope, not today"))},
		{"in the stream", g.kind, g.midway(g.fault(400, "", "the moderator has left"))},
		{"plain text", g.kind, providertest.Status(400, "Bad Request")},
		{"a page", g.kind, providertest.Status(400, "<html><head><title>Oops</title></head><body>x</body></html>", "Content-Type", "text/html")},
		{"no body", g.kind, providertest.Status(422, "")},
		{"odd JSON", g.kind, providertest.Status(400, `{"ok":false,"why":["the second one"]}`)},
	}
}
