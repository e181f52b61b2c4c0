// Package content is the closed vocabulary of what a user, a tool or a model
// can put into a conversation, and of what is known about it.
//
// It holds values only: no provider, no protocol, no file system, no clock.
// Bytes of an attachment are never in a value of this package; a value holds
// their [Digest], media type and measured size, and the bytes stay in the
// content-addressed store.
//
// Two sets are closed. [Block] is what an inlet hands over; [Part] is what a
// message holds (every Block, and what a model says). An exit (an adapter, a
// codec, an estimator, a view) implements [Visitor] or [PartVisitor], so a
// kind that is added here and forgotten there does not compile.
//
// Any package may import content; content imports no other package of the
// module.
package content
