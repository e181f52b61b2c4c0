package profile

import "tote/internal/delivery"

// This file is data: what protocols and vendors' own servers take. Each row
// names its source. Figures written "MB" by a vendor are taken as powers of
// ten, the smaller reading.

// readOn is the day on which all sources of this file were read.
const readOn = "2026-11-30"

// The protocols.
const (
	kindChat      = "openai-chat"
	kindResponses = "openai-responses"
	kindAnthropic = "anthropic"
	kindConverse  = "bedrock-converse"
	kindGemini    = "gemini"
	kindOllama    = "ollama"
	kindOffline   = "offline"
)

const (
	pdf = "application/pdf"
	// commonEdge, in pixels, and commonBytes, before base64, pass everywhere:
	// 2,000 px is what Anthropic takes of requests with more than 20
	// pictures, 3.75 MB stays under 5 MiB of base64, the oldest bound there
	// (https://docs.anthropic.com/en/docs/build-with-claude/vision).
	commonEdge  = 2000
	commonBytes = 3_750_000
	// unknownRequest is the body that an endpoint without a known cap gets
	// at most, until it shows a smaller one.
	unknownRequest = delivery.DefaultRequest
)

var (
	// pngJPEG is what every decoder knows. llama.cpp, LM Studio and vLLM
	// build their decoders differently, some without WebP, most without GIF.
	pngJPEG = []string{"image/png", "image/jpeg"}
	webFour = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}
)

// common is for pictures on an endpoint of which nothing is known.
var common = delivery.Limits{MIMEs: pngJPEG, MaxBytes: commonBytes, MaxEdge: commonEdge}

// kindRow is what a protocol can carry, on a server of which nothing is known.
type kindRow struct {
	kind string
	// pictures are the picture formats of the protocol's description.
	pictures []string
	// closed: it can carry no other format, not even if the user says so.
	closed bool
	images delivery.Limits
	// audio and documents hold what the protocol has a form for. Whether a
	// model takes it is another question. Empty: it has none.
	audio, documents delivery.Limits
	request          int64
	place            delivery.Placement
	tokens           delivery.TokenModel
}

// kinds are the protocols; the first row stands for one that is not here.
var kinds = [...]kindRow{
	{
		// Tool messages hold text only, sound is wav or mp3, files are PDF:
		// https://platform.openai.com/docs/api-reference/chat/create
		kind: kindChat, pictures: webFour, images: common,
		audio:     delivery.Limits{MIMEs: []string{"audio/wav", "audio/mpeg"}},
		documents: delivery.Limits{MIMEs: []string{pdf}},
		request:   unknownRequest,
		place:     delivery.Placement{HoistResults: true, TextErrors: true, NoReasoning: true},
	},
	{
		// The input has no part for sound. Tool results may hold pictures at
		// OpenAI; servers that speak the protocol may lag behind:
		// https://platform.openai.com/docs/api-reference/responses/create
		kind: kindResponses, pictures: webFour, images: common,
		documents: delivery.Limits{MIMEs: []string{pdf}},
		request:   unknownRequest,
		place:     delivery.Placement{HoistResults: true, TextErrors: true},
	},
	{
		// Behind another host than Anthropic's: 5 MiB of base64, 100
		// pictures, 100 pages. LM Studio refuses pictures in tool results
		// (lmstudio-bug-tracker#2008), older Ollama drops them in silence:
		// https://docs.anthropic.com/en/docs/build-with-claude/vision
		kind: kindAnthropic, pictures: webFour, closed: true,
		images: delivery.Limits{
			MIMEs: pngJPEG, MaxBytes: commonBytes, MaxEncoded: 5_242_880, MaxEdge: commonEdge, MaxCount: 100,
		},
		documents: delivery.Limits{MIMEs: []string{pdf}, MaxPages: 100},
		request:   unknownRequest,
		place:     delivery.Placement{HoistResults: true, TextErrors: true, MergeRoles: true},
		tokens:    claudeHigh,
	},
	{
		// 20 pictures of 3.75 MB and 8,000 px, 5 documents of 4.5 MB, a
		// document needs a text beside it. The count is per message there and
		// per request here, which is the stricter reading. Claude's rule for
		// more than 20 pictures cannot apply then:
		// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html
		kind: kindConverse, pictures: webFour, closed: true,
		images: delivery.Limits{MIMEs: webFour, MaxBytes: 3_750_000, MaxEdge: 8000, MaxCount: 20},
		audio: delivery.Limits{MIMEs: []string{
			"audio/wav", "audio/mpeg", "audio/opus", "audio/aac", "audio/flac", "audio/ogg", "audio/mp4", "audio/webm",
		}},
		documents: delivery.Limits{MIMEs: []string{pdf}, MaxBytes: 4_500_000, MaxCount: 5},
		request:   unknownRequest,
		place:     delivery.Placement{HoistResults: true, TextErrors: true, MergeRoles: true, DocumentNeedsText: true},
	},
	{
		// Inline requests of 20 MiB, 3,600 pictures; GIF is refused:
		// https://ai.google.dev/gemini-api/docs/image-understanding
		kind: kindGemini, pictures: []string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"},
		images: delivery.Limits{
			MIMEs:    []string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"},
			MaxBytes: commonBytes, MaxEdge: commonEdge, MaxCount: 3600,
		},
		audio: delivery.Limits{MIMEs: []string{
			"audio/wav", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac",
		}},
		documents: delivery.Limits{MIMEs: []string{pdf}},
		request:   20_971_520,
		place:     delivery.Placement{HoistResults: true, MergeRoles: true},
	},
	{
		// Pictures stand in any role; there is no form for documents, and for
		// sound only since 0.33. 768 tokens a picture is the server's own
		// reckoning: https://github.com/ollama/ollama/blob/main/docs/api.md
		kind: kindOllama, pictures: pngJPEG, images: common,
		request: unknownRequest,
		place:   delivery.Placement{NoReasoning: true},
		tokens:  delivery.TokenModel{Rule: delivery.TokensFlat, Flat: 768},
	},
	{
		// Part of this program: it speaks Chat Completions in memory and
		// decodes what the program itself decodes. The bounds are those of an
		// attachment (32 MiB, 50 megapixels); the body holds a full history.
		kind: kindOffline, pictures: webFour,
		images:    delivery.Limits{MIMEs: webFour, MaxBytes: 32 << 20, MaxPixels: 50_000_000},
		audio:     delivery.Limits{MIMEs: []string{"audio/wav", "audio/mpeg"}},
		documents: delivery.Limits{MIMEs: []string{pdf}},
		request:   64_000_000,
		place:     delivery.Placement{HoistResults: true, TextErrors: true},
	},
}

// serverRow is what is known of one vendor's own server beyond its protocol. A
// zero member leaves what the protocol's row says.
type serverRow struct {
	kind string
	// hosts are host names in lower case; one that begins with a dot stands
	// for every name below it.
	hosts   []string
	images  delivery.Limits
	request int64
	place   *delivery.Placement
	// pdfWithPictures: the vendor documents that every model there that sees
	// pictures takes PDF.
	pdfWithPictures bool
	// pages bounds a document where the vendor gives a bound.
	pages int
	// small bounds models with a context window up to smallContext tokens,
	// or an unknown one.
	small struct{ context, count, pages int }
}

// servers are searched by protocol and host. A server on this machine or under
// a name of one's own has no row: it is as unknown as any.
var servers = [...]serverRow{
	{
		// 1,500 pictures and 512 MB a request:
		// https://platform.openai.com/docs/guides/images-vision and …/guides/pdf-files
		kind: kindChat, hosts: []string{"api.openai.com"},
		images:  delivery.Limits{MIMEs: webFour, MaxBytes: commonBytes, MaxEdge: commonEdge, MaxCount: 1500},
		request: 512_000_000, pdfWithPictures: true,
	},
	{
		// As above, and tool results may hold pictures.
		kind: kindResponses, hosts: []string{"api.openai.com"},
		images:  delivery.Limits{MIMEs: webFour, MaxBytes: commonBytes, MaxEdge: commonEdge, MaxCount: 1500},
		request: 512_000_000, pdfWithPictures: true, place: &delivery.Placement{},
	},
	{
		// The formats are OpenAI's; no limits of its own were found:
		// https://learn.microsoft.com/azure/ai-services/openai/how-to/gpt-with-vision
		kind: kindChat, hosts: []string{".openai.azure.com"},
		images: delivery.Limits{MIMEs: webFour, MaxBytes: commonBytes, MaxEdge: commonEdge},
	},
	{
		// Counts differ by route and are learned. PDF goes through a parser
		// that may charge the user, so it is not enabled from here:
		// https://openrouter.ai/docs/features/multimodal/images
		kind: kindChat, hosts: []string{"openrouter.ai"},
		images: delivery.Limits{MIMEs: webFour, MaxBytes: commonBytes, MaxEdge: commonEdge},
	},
	{
		// 8 pictures of 10 MB; tool messages may hold pictures. A user message
		// may not follow a tool message (LibreChat-AI/agents#344):
		// https://docs.mistral.ai/capabilities/vision
		kind: kindChat, hosts: []string{"api.mistral.ai"},
		images: delivery.Limits{MIMEs: pngJPEG, MaxBytes: 10_000_000, MaxEdge: 8000, MaxCount: 8},
		place:  &delivery.Placement{TextErrors: true, Bridge: true, NoReasoning: true},
	},
	{
		// Serves Mistral's models with text in tool messages only:
		// LibreChat-AI/agents#344
		kind: kindChat, hosts: []string{"api.scaleway.ai"},
		place: &delivery.Placement{HoistResults: true, TextErrors: true, Bridge: true, NoReasoning: true},
	},
	{
		// 4 MB a request with base64, 33 megapixels, 5 pictures:
		// https://console.groq.com/docs/vision
		kind: kindChat, hosts: []string{"api.groq.com"},
		images:  delivery.Limits{MIMEs: pngJPEG, MaxBytes: 2_900_000, MaxEdge: commonEdge, MaxPixels: 33_000_000, MaxCount: 5},
		request: 4_000_000,
	},
	{
		// JPEG and PNG of 20 MiB, of 10 MiB in older words:
		// https://docs.x.ai/docs/guides/image-understanding
		kind: kindChat, hosts: []string{"api.x.ai"},
		images: delivery.Limits{MIMEs: pngJPEG, MaxBytes: 10 << 20, MaxEdge: commonEdge},
	},
	{
		// As above; whether tool results may hold pictures is not said.
		kind: kindResponses, hosts: []string{"api.x.ai"},
		images: delivery.Limits{MIMEs: pngJPEG, MaxBytes: 10 << 20, MaxEdge: commonEdge},
	},
	{
		// WebP, GIF and ICO fail to decode (MoonshotAI/kimi-code#1082):
		// https://platform.moonshot.ai/docs/guide/use-kimi-vision-model
		kind: kindChat, hosts: []string{"api.moonshot.ai", "api.moonshot.cn", "api.kimi.com"}, images: common,
	},
	{
		// No format but these was seen to work:
		// https://platform.minimax.io/docs/api-reference/text-openai-api
		kind: kindChat, hosts: []string{"api.minimax.io", "api.minimaxi.com"}, images: common,
	},
	{
		// A turn of pictures alone is refused with 1210 (codegraff#812); a
		// label stands before every picture, so there is always text:
		// https://docs.z.ai/guides/vlm
		kind: kindChat, hosts: []string{"api.z.ai", "open.bigmodel.cn"}, images: common,
	},
	{
		// 48 MiB a body: https://api-docs.deepseek.com
		kind: kindChat, hosts: []string{"api.deepseek.com"}, images: common, request: 48 << 20,
	},
	{
		// "maximum of 10" in its own refusals; its list of models may say
		// other numbers.
		kind: kindChat, hosts: []string{"api.githubcopilot.com", ".githubcopilot.com"},
		images: delivery.Limits{MIMEs: pngJPEG, MaxBytes: commonBytes, MaxEdge: commonEdge, MaxCount: 10},
	},
	{
		// 50 pictures a request, from users' reports.
		kind: kindResponses, hosts: []string{"api.meta.ai"},
		images: delivery.Limits{MIMEs: pngJPEG, MaxBytes: commonBytes, MaxEdge: commonEdge, MaxCount: 50},
	},
	{
		// 8,000 px, 2,000 px with more than 20 pictures; 10 MB of base64 each;
		// 32 MB a request; 600 pictures and pages, 100 for models with a
		// context window of 200,000 tokens:
		// https://docs.anthropic.com/en/docs/build-with-claude/vision and …/pdf-support
		kind: kindAnthropic, hosts: []string{"api.anthropic.com"},
		images: delivery.Limits{
			MIMEs: webFour, MaxEncoded: 10_000_000, MaxEdge: 8000, MaxCount: 600, ManyCount: 20, ManyEdge: 2000,
		},
		request: 32_000_000, pages: 600, pdfWithPictures: true,
		place: &delivery.Placement{TextErrors: true, MergeRoles: true},
		small: struct{ context, count, pages int }{context: 200_000, count: 100, pages: 100},
	},
}

// placeRow moves pictures in tool results where it depends on the model. Names
// are matched as in families.
type placeRow struct {
	kind   string
	models []string
	native bool
	// types are the picture formats that tool results take, nil for the same.
	types []string
}

var places = [...]placeRow{
	// Multimodal function responses came with Gemini 3:
	// https://ai.google.dev/gemini-api/docs/function-calling
	{kindGemini, []string{"gemini-3-", "gemini-3.", "gemini-4-", "gemini-4."}, true, []string{"image/png", "image/jpeg", "image/webp"}},
	// OpenAI's models behind Converse refuse pictures in tool results
	// (can1357/oh-my-pi#11685); Claude and Nova take them:
	// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolResultContentBlock.html
	{kindConverse, []string{"claude-", "nova-"}, true, nil},
}
