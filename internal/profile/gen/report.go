package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tote/internal/profile"
)

// report lists what the source has and the snapshot has not, and why.
func (c *conversion) report(w *strings.Builder) {
	for _, reason := range slices.Sorted(maps.Keys(c.skipped)) {
		fmt.Fprintf(w, "left out %4d  %s\n", c.skipped[reason], reason)
	}
	for _, name := range slices.Sorted(maps.Keys(c.quirks)) {
		fmt.Fprintf(w, "quirk left out of %d models: %s (%s)\n", c.quirks[name], name, leftOut[name])
	}
}

// reportChanges names each model whose picture flag turned round, since that
// changes what happens to a user's picture, and counts what came and went.
func reportChanges(w *strings.Builder, before, after []profile.Record) {
	type key struct{ kind, url, model string }
	keyOf := func(r profile.Record) key { return key{r.Kind, r.BaseURL, r.Model} }
	old := make(map[key]profile.Record, len(before))
	for _, r := range before {
		old[keyOf(r)] = r
	}
	var added, flipped int
	for _, r := range after {
		was, known := old[keyOf(r)]
		delete(old, keyOf(r))
		switch {
		case !known:
			added++
		case was.Image != r.Image:
			flipped++
			fmt.Fprintf(w, "flipped: %s %s %s pictures %s -> %s\n", r.Kind, r.BaseURL, r.Model, yesNo(was), yesNo(r))
		}
	}
	fmt.Fprintf(w, "%d added, %d gone, %d flipped\n", added, len(old), flipped)
}

func yesNo(r profile.Record) string {
	if r.Image {
		return "yes"
	}
	return "no"
}
