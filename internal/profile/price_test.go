package profile_test

import (
	"math"
	"testing"

	"tote/internal/content"
	"tote/internal/profile"
)

func TestPrice(t *testing.T) {
	c := profile.Cost{
		Rates: profile.Rates{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75},
		Tiers: []profile.Tier{{Rates: profile.Rates{Input: 6, Output: 22.5}, Above: 200_000}},
	}
	n := content.Reported
	tests := map[string]struct {
		cost  profile.Cost
		usage content.Usage
		want  float64
		known bool
	}{
		"plain":       {c, content.Usage{Input: n(1000), Output: n(100)}, 0.0045, true},
		"cached":      {c, content.Usage{Input: n(1000), Cached: n(800), CacheWrite: n(100), Output: n(100)}, 0.0003 + 0.00024 + 0.000375 + 0.0015, true},
		"long":        {c, content.Usage{Input: n(300_000), Cached: n(100_000), Output: n(1000)}, 1.8 + 0.0225, true},
		"not counted": {c, content.Usage{}, 0, false},
		"no rates":    {profile.Cost{}, content.Usage{Input: n(1000)}, 0, false},
		"odd counts":  {c, content.Usage{Input: n(10), Cached: n(100), Output: n(0)}, 0.00003, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, known := tt.cost.Price(tt.usage)
			if known != tt.known || math.Abs(got-tt.want) > 1e-9 {
				t.Errorf("%v, %v, want %v", got, known, tt.want)
			}
		})
	}
}
