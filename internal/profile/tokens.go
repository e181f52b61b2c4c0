package profile

import (
	"strings"

	"tote/internal/delivery"
)

// Prices of pictures and the sizes at which they are looked at, by the beginning
// of the model's name. Neither is a capability: a wrong match makes an estimate
// worse, or a picture smaller, and sends nothing astray.

// The two tiers of Claude: one token for 28 px square, to a cap:
// https://docs.anthropic.com/en/docs/build-with-claude/vision (read 2026-11-30).
var (
	claudeStandard = delivery.TokenModel{Rule: delivery.TokensPatch, Size: 28, Percent: 100, Cap: 1568}
	claudeHigh     = delivery.TokenModel{Rule: delivery.TokensPatch, Size: 28, Percent: 100, Cap: 4784}
)

// The sizes to which Anthropic shrinks, both bounds at once, sides filled up to
// whole patches: the same source.
var (
	claudeStandardFit = delivery.Fit{MaxEdge: 1568, Patch: 28, MaxPatches: 1568, Padded: true}
	claudeHighFit     = delivery.Fit{MaxEdge: 2576, Patch: 28, MaxPatches: 4784, Padded: true}
)

// The sizes to which OpenAI shrinks, by patches and for tiles:
// https://platform.openai.com/docs/guides/images-vision (read 2026-11-30).
var (
	openAISmallFit    = delivery.Fit{MaxEdge: 2048, Patch: 32, MaxPatches: 1536}
	openAIHighFit     = delivery.Fit{MaxEdge: 2048, Patch: 32, MaxPatches: 2500}
	openAIOriginalFit = delivery.Fit{MaxEdge: 6000, Patch: 32, MaxPatches: 10_000}
	openAITileFit     = delivery.Fit{MaxEdge: 2048, MaxShort: 768}
)

// noFit is for backends that shrink nothing, or not by a known rule.
var noFit = delivery.Fit{}

// openAIPatches is a price per 32 px patch. The cap is in patches, and counts
// before the multiplier.
func openAIPatches(percent, patches int) delivery.TokenModel {
	return delivery.TokenModel{Rule: delivery.TokensPatch, Size: 32, Percent: percent, Cap: patches * percent / 100}
}

func openAITiles(base, tile int) delivery.TokenModel {
	return delivery.TokenModel{Rule: delivery.TokensTile, Base: base, PerTile: tile}
}

// familyRow gives the models whose name begins with one of names a price. A
// name matches where the model's goes on with nothing, "-", ":" or "@"; one that
// ends in "-" or "." matches however it goes on.
type familyRow struct {
	names  []string
	tokens delivery.TokenModel
	// fit is how a server of that family shrinks pictures on arrival.
	fit delivery.Fit
}

// families are tried in order.
var families = [...]familyRow{
	// https://platform.openai.com/docs/guides/images-vision (read 2026-11-30).
	// Minis, nanos, 5.2, the codex models and o4-mini shrink to 1,536 patches;
	// 5.4 to 2,500 ("high"); 5.5 to 10,000 ("original"); later ones keep the
	// picture's size at 1.2 tokens a patch.
	{[]string{"gpt-5-mini", "gpt-4.1-mini", "gpt-5.4-mini"}, openAIPatches(162, 1536), openAISmallFit},
	{[]string{"gpt-5-nano", "gpt-4.1-nano", "gpt-5.4-nano"}, openAIPatches(246, 1536), openAISmallFit},
	{[]string{"o4-mini"}, openAIPatches(172, 1536), openAISmallFit},
	{[]string{"gpt-5.2", "gpt-5-codex", "gpt-5.1-codex", "gpt-5.3-codex"}, openAIPatches(100, 1536), openAISmallFit},
	{[]string{"gpt-5.4"}, openAIPatches(100, 2500), openAIHighFit},
	{[]string{"gpt-5.5"}, openAIPatches(100, 10_000), openAIOriginalFit},
	{[]string{"gpt-5.6", "gpt-6", "gpt-6."}, openAIPatches(120, 0), noFit},
	{[]string{"gpt-5"}, openAITiles(70, 140), openAITileFit},
	{[]string{"gpt-4o-mini"}, openAITiles(2833, 5667), openAITileFit},
	{[]string{"gpt-4o", "gpt-4.1", "gpt-4.5"}, openAITiles(85, 170), openAITileFit},
	{[]string{"o1", "o3"}, openAITiles(75, 150), openAITileFit},
	{[]string{"computer-use"}, openAITiles(65, 129), openAITileFit},

	// Routers write the same names with dots.
	{[]string{
		"claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5", "claude-fable", "claude-mythos",
		"claude-opus-4.7", "claude-opus-4.8", "claude-opus-5.", "claude-sonnet-5.",
	}, claudeHigh, claudeHighFit},
	{[]string{
		"claude-3", "claude-opus-4", "claude-sonnet-4", "claude-haiku-4",
		"claude-3.", "claude-opus-4.", "claude-sonnet-4.", "claude-haiku-4.",
	}, claudeStandard, claudeStandardFit},

	// Gemini 2: 258 tokens for each 768 px tile. Gemini 3 and later: 1,120 at
	// the resolution that is the default, whatever the size:
	// https://ai.google.dev/gemini-api/docs/tokens (read 2026-11-30).
	{[]string{"gemini-2.", "gemini-1.5"}, delivery.TokenModel{Rule: delivery.TokensPatch, Size: 768, Percent: 25_800}, noFit},
	{
		gemini3,
		delivery.TokenModel{Rule: delivery.TokensFlat, Flat: 1120},
		noFit,
	},

	// One token for 28 px square, for 32 px square since Qwen3-VL, at most
	// 16,384: https://qwen.readthedocs.io (read 2026-11-30).
	{
		[]string{"qwen2-vl", "qwen2vl", "qwen2.5-vl", "qwen2.5vl"},
		delivery.TokenModel{Rule: delivery.TokensPatch, Size: 28, Percent: 100, Cap: 16_384},
		noFit,
	},
	{[]string{"qwen3-vl"}, delivery.TokenModel{Rule: delivery.TokensPatch, Size: 32, Percent: 100, Cap: 16_384}, noFit},
	// 16 px patches of at most 1,024 px a side:
	// https://mistral.ai/news/pixtral-12b (read 2026-11-30).
	{[]string{"pixtral"}, delivery.TokenModel{Rule: delivery.TokensPatch, Size: 16, Percent: 100, Cap: 4096}, delivery.Fit{MaxEdge: 1024}},
	// Four tiles of 560 px; they are no tokens of the prompt:
	// https://www.llama.com/docs/how-to-guides/vision-capabilities (read 2026-11-30).
	{[]string{"llama-3.2", "Llama-3.2"}, delivery.TokenModel{}, delivery.Fit{Patch: 560, MaxPatches: 4}},
	// At most 384 a picture: https://api-docs.deepseek.com (read 2026-11-30).
	{[]string{"deepseek-flash"}, delivery.TokenModel{Rule: delivery.TokensFlat, Flat: 384}, noFit},
}

// vendors stand before the model's own name in Bedrock's ids, after a region.
var vendors = [...]string{"anthropic.", "amazon.", "openai.", "qwen.", "mistral.", "moonshotai.", "meta."}

// bareModel is the model's own name, without who serves it: a router's
// "vendor/", Bedrock's "region.vendor.".
func bareModel(kind, model string) string {
	model = model[strings.LastIndexByte(model, '/')+1:]
	if kind == kindConverse {
		for _, v := range vendors {
			if _, bare, ok := strings.Cut(model, v); ok {
				return bare
			}
		}
	}
	return model
}

// named reports whether a bare model name belongs to one of names.
func named(model string, names []string) bool {
	for _, n := range names {
		rest, ok := strings.CutPrefix(model, n)
		if !ok {
			continue
		}
		if rest == "" || strings.IndexByte("-.", n[len(n)-1]) >= 0 || strings.IndexByte("-:@", rest[0]) >= 0 {
			return true
		}
	}
	return false
}

// familyOf is the family of a model, nil where there is none.
func familyOf(bare string) *familyRow {
	for i := range families {
		if named(bare, families[i].names) {
			return &families[i]
		}
	}
	return nil
}
