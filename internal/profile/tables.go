package profile

import "tote/internal/delivery"

// This file is data: what protocols and runners take. Each row names its source. Figures written "MB" by a vendor are taken as powers of
// ten, the smaller reading.

// readOn is the day on which all sources of the tables were read.
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

	// The runners: programs that hold their own conversation with a model.
	kindCLIClaude = "cli-claude"
	kindCLICodex  = "cli-codex"
	kindCLIGemini = "cli-gemini"
	kindCLICustom = "cli-custom"
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
	// pdfWithPictures and soundWithPictures: the documentation of a runner's
	// program says that it hands them on as it does pictures. What sees behind
	// it takes them too.
	pdfWithPictures, soundWithPictures bool
	// window is the context window in tokens where nothing is known of a
	// server on a machine of one's own, 0 for unknown, and windowMost how far
	// what the server says of the model may raise it.
	window, windowMost int
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
		// document needs a text beside it; tool results have no form for sound
		// (…/API_runtime_ToolResultContentBlock.html). The count is per message there and
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
		place: delivery.Placement{
			HoistResults: true, HoistAudio: true, TextErrors: true, MergeRoles: true, DocumentNeedsText: true,
		},
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
		place:     delivery.Placement{HoistResults: true, HoistAudio: true, MergeRoles: true},
	},
	{
		// Pictures stand in any role, and sound among them since 0.33; there is
		// no form for documents. 768 tokens a picture is the server's own
		// reckoning: https://github.com/ollama/ollama/blob/main/docs/api.md
		//
		// The window is asked for with each request and is paid for in memory
		// there, whether it is used or not. 8,192 tokens hold a short turn of an
		// agent on a small machine; what a model was trained for may be twenty
		// times what the machine has room for.
		kind: kindOllama, pictures: pngJPEG, images: common,
		audio:   delivery.Limits{MIMEs: []string{"audio/wav", "audio/mpeg"}},
		request: unknownRequest,
		place:   delivery.Placement{NoReasoning: true},
		tokens:  delivery.TokenModel{Rule: delivery.TokensFlat, Flat: 768},
		window:  8192, windowMost: 32_768,
	},
	{
		// Pictures are base64 blocks in its stream of JSON, as at Anthropic;
		// it shrinks them itself. PDF goes the same way, as version 2.1.332 was
		// seen to do: https://docs.anthropic.com/en/docs/claude-code/sdk
		kind: kindCLIClaude, pictures: webFour, closed: true,
		images: delivery.Limits{
			MIMEs: webFour, MaxBytes: commonBytes, MaxEncoded: 5_242_880, MaxEdge: commonEdge, MaxCount: 100,
		},
		documents: delivery.Limits{MIMEs: []string{pdf}, MaxPages: 100}, pdfWithPictures: true,
		request: unknownRequest,
		place:   delivery.Placement{NoReasoning: true},
		tokens:  claudeHigh,
	},
	{
		// Pictures are files that are named on its command line:
		// https://github.com/openai/codex/blob/main/docs/exec.md
		kind: kindCLICodex, pictures: []string{"image/png", "image/jpeg", "image/webp"}, closed: true, images: common,
		request: unknownRequest,
		place:   delivery.Placement{NoReasoning: true},
	},
	{
		// Files are named in the prompt, 20 MB each: pictures, PDF and sound,
		// which version 0.61.0 was seen to attach. What it skips it notes in
		// the prompt only:
		// https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/file-system.md
		kind: kindCLIGemini, pictures: []string{"image/png", "image/jpeg", "image/webp"}, closed: true,
		images: delivery.Limits{
			MIMEs: []string{"image/png", "image/jpeg", "image/webp"}, MaxBytes: commonBytes, MaxEdge: commonEdge,
		},
		audio: delivery.Limits{
			MIMEs:    []string{"audio/wav", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"},
			MaxBytes: 20_000_000,
		},
		documents:       delivery.Limits{MIMEs: []string{pdf}, MaxBytes: 20_000_000},
		pdfWithPictures: true, soundWithPictures: true,
		request: unknownRequest,
		place:   delivery.Placement{NoReasoning: true},
	},
	{
		// A program that the user describes: files of the common formats.
		kind: kindCLICustom, pictures: webFour, images: common,
		request: unknownRequest,
		place:   delivery.Placement{NoReasoning: true},
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
