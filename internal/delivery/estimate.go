package delivery

import "tote/internal/content"

// Estimates never look at base64: text is priced by its length, a picture by
// the backend's formula, sound by its duration.

const (
	// bytesPerToken is the usual rule of thumb for prose and code.
	bytesPerToken = 4
	// audioTokensPerSecond: https://ai.google.dev/gemini-api/docs/audio
	// (read 2026-11-30), the one published figure.
	audioTokensPerSecond = 32
	// documentTokensPerPage is the middle of the 1,500 to 3,000 that
	// https://docs.anthropic.com/en/docs/build-with-claude/pdf-support
	// names (read 2026-11-30).
	documentTokensPerPage = 2250
	// labelTokens is about what a label costs.
	labelTokens = 40
)

func textTokens(n int64) int { return int((n + bytesPerToken - 1) / bytesPerToken) }

// PictureTokens is what a picture of w by h pixels costs.
func (t TokenModel) PictureTokens(w, h int) int {
	switch t.Rule {
	case TokensFlat:
		if t.Flat == 0 {
			return DefaultPictureTokens
		}
		return t.Flat
	case TokensPatch:
		if t.Size == 0 || w == 0 || h == 0 {
			return DefaultPictureTokens
		}
		n := ((w + t.Size - 1) / t.Size) * ((h + t.Size - 1) / t.Size)
		if t.Percent > 0 {
			n = n * t.Percent / 100
		}
		if t.Cap > 0 {
			n = min(n, t.Cap)
		}
		return n
	case TokensTile:
		return t.Base + t.PerTile*tiles(w, h)
	}
	return DefaultPictureTokens
}

// tiles fits w by h into 2048 px square, then the short side to 768 px, and
// counts 512 px tiles:
// https://platform.openai.com/docs/guides/images-vision (read 2026-11-30).
func tiles(w, h int) int {
	if w <= 0 || h <= 0 {
		return 1
	}
	if long := max(w, h); long > 2048 {
		w, h = w*2048/long, h*2048/long
	}
	if short := min(w, h); short > 768 {
		w, h = w*768/short, h*768/short
	}
	return max(1, (w+511)/512) * max(1, (h+511)/512)
}

// estimator prices one block as it would go out whole.
type estimator struct{ tokens *TokenModel }

var _ content.Visitor[int] = estimator{}

// Estimate is what a block costs in tokens when it goes out whole.
func Estimate(b content.Block, t TokenModel) int {
	n, _ := content.Visit(b, content.Visitor[int](estimator{&t})) // its methods return no error
	return n
}

func (e estimator) Text(b content.Text) (int, error) { return textTokens(int64(len(b.Body))), nil }

func (e estimator) Image(b content.Image) (int, error) {
	p := b.Prepared
	if p.IsZero() {
		p = b.Original
	}
	return e.tokens.PictureTokens(p.Width, p.Height) + labelTokens, nil
}

func (e estimator) Audio(b content.Audio) (int, error) {
	return int((b.Millis*audioTokensPerSecond+999)/1000) + labelTokens, nil
}

func (e estimator) Document(b content.Document) (int, error) {
	if b.Pages > 0 {
		return b.Pages*documentTokensPerPage + labelTokens, nil
	}
	return textTokens(b.Text.Size) + labelTokens, nil
}

func (e estimator) ResourceText(b content.ResourceText) (int, error) {
	return textTokens(b.Prepared.Size) + labelTokens, nil
}

func (e estimator) ResourceLink(b content.ResourceLink) (int, error) {
	return textTokens(int64(len(b.URI)+len(b.Name)+len(b.Title)+len(b.Description))) + labelTokens, nil
}

func (e estimator) Opaque(content.Opaque) (int, error) { return labelTokens, nil }
