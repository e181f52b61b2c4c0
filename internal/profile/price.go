package profile

import "tote/internal/content"

// perMillion turns a rate into a price for one token.
const perMillion = 1e-6

// Price is what a request cost in US dollars. Input counts the cached tokens and
// those that were written to the cache; where their rates are not given they cost
// what input does. known is false for a model without rates, and where the backend
// did not count.
func (c Cost) Price(u content.Usage) (dollars float64, known bool) {
	if !u.Input.Known && !u.Output.Known {
		return 0, false
	}
	r := c.Rates
	for _, t := range c.Tiers {
		if u.Input.N > int64(t.Above) {
			r = t.Rates
		}
	}
	if r.Input == 0 && r.Output == 0 {
		return 0, false
	}
	read, write := r.CacheRead, r.CacheWrite
	if read == 0 {
		read = r.Input
	}
	if write == 0 {
		write = r.Input
	}
	plain := max(0, u.Input.N-u.Cached.N-u.CacheWrite.N)
	return perMillion * (float64(plain)*r.Input + float64(u.Cached.N)*read + float64(u.CacheWrite.N)*write + float64(u.Output.N)*r.Output), true
}
