package history

import (
	"encoding/json"
	"fmt"

	"tote/internal/content"
)

// wireUsage leaves out what the backend did not report.
type wireUsage struct {
	Input      *int64 `json:"i,omitempty"`
	Output     *int64 `json:"o,omitempty"`
	Cached     *int64 `json:"c,omitempty"`
	CacheWrite *int64 `json:"w,omitempty"`
	Reasoning  *int64 `json:"r,omitempty"`
	Image      *int64 `json:"m,omitempty"`
	Audio      *int64 `json:"a,omitempty"`
}

func encodeUsage(u content.Usage) (string, error) {
	known := func(c content.Count) *int64 {
		if !c.Known {
			return nil
		}
		return &c.N
	}
	w := wireUsage{
		Input: known(u.Input), Output: known(u.Output), Cached: known(u.Cached), CacheWrite: known(u.CacheWrite),
		Reasoning: known(u.Reasoning), Image: known(u.Image), Audio: known(u.Audio),
	}
	if w == (wireUsage{}) {
		return "", nil
	}
	return compactJSON(w)
}

func decodeUsage(s string) (content.Usage, error) {
	if s == "" {
		return content.Usage{}, nil
	}
	var w wireUsage
	if err := json.Unmarshal([]byte(s), &w); err != nil {
		return content.Usage{}, fmt.Errorf("decode usage: %w", err)
	}
	count := func(n *int64) content.Count {
		if n == nil {
			return content.Count{}
		}
		return content.Reported(*n)
	}
	return content.Usage{
		Input: count(w.Input), Output: count(w.Output), Cached: count(w.Cached), CacheWrite: count(w.CacheWrite),
		Reasoning: count(w.Reasoning), Image: count(w.Image), Audio: count(w.Audio),
	}, nil
}
