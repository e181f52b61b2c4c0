package profile

import (
	"strings"

	"tote/internal/delivery"
)

// Prices of pictures, by the beginning of the model's name. A price is no
// capability: a wrong match makes an estimate worse and sends nothing astray.

// The two tiers of Claude: one token for 28 px square, to a cap:
// https://docs.anthropic.com/en/docs/build-with-claude/vision (read 2026-11-30).
var (
	claudeStandard = delivery.TokenModel{Rule: delivery.TokensPatch, Size: 28, Percent: 100, Cap: 1568}
	claudeHigh     = delivery.TokenModel{Rule: delivery.TokensPatch, Size: 28, Percent: 100, Cap: 4784}
)

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
}

// families are tried in order.
var families = [...]familyRow{
	// https://platform.openai.com/docs/guides/images-vision (read 2026-11-30).
	// Minis, nanos, 5.2, the codex models and o4-mini shrink to 1,536 patches;
	// 5.4 to 2,500 ("high"); 5.5 to 10,000 ("original"); later ones keep the
	// picture's size at 1.2 tokens a patch.
	{[]string{"gpt-5-mini", "gpt-4.1-mini", "gpt-5.4-mini"}, openAIPatches(162, 1536)},
	{[]string{"gpt-5-nano", "gpt-4.1-nano", "gpt-5.4-nano"}, openAIPatches(246, 1536)},
	{[]string{"o4-mini"}, openAIPatches(172, 1536)},
	{[]string{"gpt-5.2", "gpt-5-codex", "gpt-5.1-codex", "gpt-5.3-codex"}, openAIPatches(100, 1536)},
	{[]string{"gpt-5.4"}, openAIPatches(100, 2500)},
	{[]string{"gpt-5.5"}, openAIPatches(100, 10_000)},
	{[]string{"gpt-5.6", "gpt-6", "gpt-6."}, openAIPatches(120, 0)},
	{[]string{"gpt-5"}, openAITiles(70, 140)},
	{[]string{"gpt-4o-mini"}, openAITiles(2833, 5667)},
	{[]string{"gpt-4o", "gpt-4.1", "gpt-4.5"}, openAITiles(85, 170)},
	{[]string{"o1", "o3"}, openAITiles(75, 150)},
	{[]string{"computer-use"}, openAITiles(65, 129)},

	{[]string{"claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-sonnet-5", "claude-fable", "claude-mythos"}, claudeHigh},
	{[]string{"claude-3", "claude-opus-4", "claude-sonnet-4", "claude-haiku-4"}, claudeStandard},

	// Gemini 2: 258 tokens for each 768 px tile. Gemini 3 and later: 1,120 at
	// the resolution that is the default, whatever the size:
	// https://ai.google.dev/gemini-api/docs/tokens (read 2026-11-30).
	{[]string{"gemini-2.", "gemini-1.5"}, delivery.TokenModel{Rule: delivery.TokensPatch, Size: 768, Percent: 25_800}},
	{
		[]string{"gemini-3-", "gemini-3.", "gemini-4-", "gemini-4."},
		delivery.TokenModel{Rule: delivery.TokensFlat, Flat: 1120},
	},

	// One token for 28 px square, for 32 px square since Qwen3-VL, at most
	// 16,384: https://qwen.readthedocs.io (read 2026-11-30).
	{
		[]string{"qwen2-vl", "qwen2vl", "qwen2.5-vl", "qwen2.5vl"},
		delivery.TokenModel{Rule: delivery.TokensPatch, Size: 28, Percent: 100, Cap: 16_384},
	},
	{[]string{"qwen3-vl"}, delivery.TokenModel{Rule: delivery.TokensPatch, Size: 32, Percent: 100, Cap: 16_384}},
	// 16 px patches of at most 1,024 px a side:
	// https://mistral.ai/news/pixtral-12b (read 2026-11-30).
	{[]string{"pixtral"}, delivery.TokenModel{Rule: delivery.TokensPatch, Size: 16, Percent: 100, Cap: 4096}},
	// At most 384 a picture: https://api-docs.deepseek.com (read 2026-11-30).
	{[]string{"deepseek-flash"}, delivery.TokenModel{Rule: delivery.TokensFlat, Flat: 384}},
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

// priceOf is the price of a picture for a model, fallback where no family
// matches.
func priceOf(bare string, fallback delivery.TokenModel) delivery.TokenModel {
	for i := range families {
		if named(bare, families[i].names) {
			return families[i].tokens
		}
	}
	return fallback
}
