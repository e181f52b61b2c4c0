package profile

import "tote/internal/delivery"

// This file is data: what vendors' own servers take beyond their protocol. Each
// row names its source, all read on the day readOn. Figures written "MB" by a
// vendor are taken as powers of ten, the smaller reading.

// serverRow is what is known of one vendor's own server beyond its protocol. A
// zero member leaves what the protocol's row says.
type serverRow struct {
	kind string
	// hosts are host names in lower case; one that begins with a dot or a
	// hyphen stands for every name that ends in it.
	hosts   []string
	images  delivery.Limits
	request int64
	place   *delivery.Placement
	// pdfWithPictures: the vendor documents that every model there that sees
	// pictures takes PDF.
	pdfWithPictures bool
	// pages bounds a document where the vendor gives a bound.
	pages int
	// media bounds pictures, recordings and documents together, file the size
	// of each before base64.
	media int
	file  int64
	// small bounds models with a context window up to small.context tokens,
	// or an unknown one. Its count is also for all media together.
	small struct{ context, count, pages int }
}

// Hosts of which several rows speak.
var (
	azureHosts   = []string{".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"}
	copilotHosts = []string{"api.githubcopilot.com", ".githubcopilot.com"}
	minimaxHosts = []string{"api.minimax.io", "api.minimaxi.com"}
	vertexHosts  = []string{"aiplatform.googleapis.com", "-aiplatform.googleapis.com"}
)

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
		kind: kindChat, hosts: azureHosts,
		images: delivery.Limits{MIMEs: webFour, MaxBytes: commonBytes, MaxEdge: commonEdge},
	},
	{
		// As above; that tool results may hold pictures is not said of it.
		kind: kindResponses, hosts: azureHosts,
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
		// 8 pictures of 10 MB; tool messages may hold pictures and nothing else
		// that is no text. A user message may not follow a tool message
		// (LibreChat-AI/agents#344):
		// https://docs.mistral.ai/capabilities/vision
		kind: kindChat, hosts: []string{"api.mistral.ai"},
		images: delivery.Limits{MIMEs: pngJPEG, MaxBytes: 10_000_000, MaxEdge: 8000, MaxCount: 8},
		place:  &delivery.Placement{HoistAudio: true, HoistDocuments: true, TextErrors: true, Bridge: true, NoReasoning: true},
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
		// As above. Whether tool results may hold pictures is not said, so they
		// are hoisted.
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
		kind: kindChat, hosts: minimaxHosts, images: common,
	},
	{
		// A turn of pictures alone is refused with 1210 (codegraff#812); a
		// label stands before every picture, so there is always text:
		// https://docs.z.ai/guides/vlm
		kind: kindChat, hosts: []string{"api.z.ai", "open.bigmodel.cn"}, images: common,
	},
	{
		// 48 MiB a body, by any of its three protocols:
		// https://api-docs.deepseek.com
		kind: kindChat, hosts: []string{"api.deepseek.com"}, images: common, request: 48 << 20,
	},
	{kind: kindResponses, hosts: []string{"api.deepseek.com"}, images: common, request: 48 << 20},
	{kind: kindAnthropic, hosts: []string{"api.deepseek.com"}, request: 48 << 20},
	{
		// What its models of generation 2 take, documented says.
		kind: kindAnthropic, hosts: minimaxHosts,
	},
	{
		// "maximum of 10" in its own refusals; its list of models may say
		// other numbers.
		kind: kindChat, hosts: copilotHosts,
		images: delivery.Limits{MIMEs: pngJPEG, MaxBytes: commonBytes, MaxEdge: commonEdge, MaxCount: 10},
	},
	{
		kind: kindResponses, hosts: copilotHosts,
		images: delivery.Limits{MIMEs: pngJPEG, MaxBytes: commonBytes, MaxEdge: commonEdge, MaxCount: 10},
	},
	{
		kind: kindAnthropic, hosts: copilotHosts,
		images: delivery.Limits{MIMEs: pngJPEG, MaxBytes: commonBytes, MaxEncoded: 5_242_880, MaxEdge: commonEdge, MaxCount: 10},
	},
	{
		// 50 pictures a request, from users' reports.
		kind: kindResponses, hosts: []string{"api.meta.ai"},
		images: delivery.Limits{MIMEs: pngJPEG, MaxBytes: commonBytes, MaxEdge: commonEdge, MaxCount: 50},
	},
	{
		// One picture a request with most models there, from users' reports.
		kind: kindChat, hosts: []string{"integrate.api.nvidia.com"},
		images: delivery.Limits{MIMEs: pngJPEG, MaxBytes: commonBytes, MaxEdge: commonEdge, MaxCount: 1},
	},
	{
		// The content of a tool message must be a string, which is what text
		// alone is spelled as: users' reports of MiMo, DashScope, DeepInfra.
		kind: kindChat, hosts: []string{
			"api.xiaomimimo.com", ".xiaomimimo.com", "dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com",
			".maas.qianwenaiapi.com", ".maas.qwencloudapi.com", "api.deepinfra.com",
		},
		images: common, place: &delivery.Placement{HoistResults: true, TextErrors: true, NoReasoning: true},
	},
	{
		// The vendor's own machines: the window costs the user no memory.
		kind: kindOllama, hosts: []string{"ollama.com"}, images: common,
	},
	{
		// The vendor's own server; what its protocol's row says holds.
		kind: kindGemini, hosts: []string{"generativelanguage.googleapis.com"},
	},
	{
		// 7 MB a file, 3,000 files of all kinds:
		// https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-understanding
		kind: kindGemini, hosts: vertexHosts, media: 3000, file: 7_000_000,
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
		request: 32_000_000, pages: 600, media: 600, pdfWithPictures: true,
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
	// count narrows the pictures of one request, 0 does not.
	count int
}

var places = [...]placeRow{
	// Multimodal function responses came with Gemini 3; 900 pictures a request:
	// https://ai.google.dev/gemini-api/docs/function-calling and
	// https://cloud.google.com/vertex-ai/generative-ai/docs/models
	{kindGemini, gemini3, true, []string{"image/png", "image/jpeg", "image/webp"}, 900},
	// OpenAI's models behind Converse refuse pictures in tool results
	// (can1357/oh-my-pi#11685); Claude and Nova take them:
	// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolResultContentBlock.html
	{kindConverse, []string{"claude-", "nova-"}, true, nil, 0},
}

// gemini3 are the models since Gemini 3.
var gemini3 = []string{"gemini-3-", "gemini-3.", "gemini-4-", "gemini-4."}

// documentedRow is what a vendor's documentation says of models on its own
// server, beyond the catalogue. It counts over TLS alone. Unknown says nothing.
type documentedRow struct {
	kind  string
	hosts []string
	// models are exact names; older is matched as in families and may only
	// hold what is withheld.
	models, older            []string
	images, audio, documents delivery.Answer
}

var documented = [...]documentedRow{
	{
		// One model sees, by any of its protocols, and the other does not:
		// https://api-docs.deepseek.com/guides/anthropic_api
		kind: kindAnthropic, hosts: []string{"api.deepseek.com"}, models: []string{"deepseek-flash"}, images: delivery.Yes,
	},
	{kind: kindResponses, hosts: []string{"api.deepseek.com"}, models: []string{"deepseek-flash"}, images: delivery.Yes},
	{kind: kindAnthropic, hosts: []string{"api.deepseek.com"}, older: []string{"deepseek-v4-pro"}, images: delivery.No},
	{kind: kindResponses, hosts: []string{"api.deepseek.com"}, older: []string{"deepseek-v4-pro"}, images: delivery.No},
	{
		// Pictures are not supported in messages to M2 and its successors:
		// https://platform.minimax.io/docs/api-reference/text-anthropic-api
		kind: kindAnthropic, hosts: minimaxHosts, older: []string{"MiniMax-M2", "MiniMax-M2."}, images: delivery.No, documents: delivery.No,
	},
	{
		// Sound and PDF stand among the inputs on the pages of these:
		// https://ai.google.dev/gemini-api/docs/models
		kind: kindGemini, hosts: []string{"generativelanguage.googleapis.com"},
		models: []string{
			"gemini-2.5-pro", "gemini-2.5-flash-lite", "gemini-3-flash-preview", "gemini-3.1-flash-lite-preview", "gemini-3.5-flash",
			"gemini-3.7-flash",
		},
		audio: delivery.Yes, documents: delivery.Yes,
	},
	{
		kind: kindGemini, hosts: []string{"generativelanguage.googleapis.com"}, models: []string{"gemini-2.5-flash"}, audio: delivery.Yes,
	},
}
