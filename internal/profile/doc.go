// Package profile says what one path and model accept, as data, and what each
// answer rests on.
//
// [Build] folds the user's binding, the evidence that was measured, the
// embedded [Catalogue] and the tables of vendors' limits into one
// [delivery.Profile]. A model takes a kind of content only on evidence:
//
//	the user's binding > an answered or refused request > a probe >
//	the exact catalogue record > the vendor's documentation > unknown
//
// Where a vendor's server, or a runner's program, is documented to take PDF or
// sound as it does pictures, these follow the pictures.
//
// What a server says of itself ([Queries], [Read], [Said]) may withhold a kind
// that stands lower than a probe, narrow a limit and fill in a window; it never
// enables a kind. In the place of a runner's server stands its version. [WireOf] says how a server wants its protocol spelled.
//
// Invariants: a name that looks like a vision model is no evidence, and neither
// is another endpoint's record of the same model; what a protocol has no form for
// is never enabled by anything; limits only narrow, except for the user's own,
// which win. Model names are matched by their beginning for four things alone:
// the price of a picture, the size at which the vendor looks at it, the place of
// pictures in tool results, and how a request is spelled. There a wrong guess
// costs accuracy, sharpness or a hoisted picture, never a lost one, and at an
// address of which nothing is known no sharpness either.
//
// The package also keeps the rules by which a probe is judged ([Judge]) and by
// which a refusal is remembered ([Verdict]). It does no I/O: it neither sends a
// probe nor stores what was learned. No key ever enters it: [Endpoint] drops
// the parts of a URL that may hold one.
//
// It imports content and delivery. The wiring of the program and the generator
// of the catalogue may import it.
package profile
