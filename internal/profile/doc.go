// Package profile says what one path and model accept, as data, and what each
// answer rests on.
//
// [Build] folds the user's binding, the evidence that was measured, the
// embedded [Catalogue] and the tables of vendors' limits into one
// [delivery.Profile]. A model takes a kind of content only on evidence:
//
//	the user's binding > an answered or refused request > a probe >
//	the exact catalogue record > what the server says of itself > unknown
//
// Invariants: a name that looks like a vision model is no evidence, and neither
// is another endpoint's record of the same model; a server's own words may
// withhold a kind and never enable it; what a protocol has no form for is never
// enabled by anything; limits only narrow, except for the user's own, which
// win. Model names are matched by their beginning for two things alone, the
// price of a picture and the place of pictures in tool results, where a wrong
// guess costs accuracy or a hoisted picture, never a lost one.
//
// The package also keeps the rules by which a probe is judged ([Judge]) and by
// which a refusal is remembered ([Verdict]). It does no I/O: it neither sends a
// probe nor stores what was learned. No key ever enters it: [Endpoint] drops
// the parts of a URL that may hold one.
//
// It imports content and delivery. The wiring of the program and the generator
// of the catalogue may import it.
package profile
