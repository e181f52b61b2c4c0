// Package sdk holds no code of the product. Its tests hold the requests that tote
// spells by itself against the types of the vendors' official SDKs, which are big
// and of which the product therefore uses none.
//
// It is a module of its own, so that its dependencies are nobody else's.
package sdk
