// Package sdk holds no code of the product. It is what the tests in the folders
// below it are made of: they hold what tote sends and reads by itself against the
// vendors' official SDKs, which are big and of which the product therefore uses
// none.
//
// A test goes three ways. The body that an adapter spells is read into the SDK's
// types and spelled again by the SDK: a member that the SDK does not know is lost
// on the way, and so found ([Diff], [Blind]). The SDK's own client then sends it,
// and address, headers and body are compared ([Wire]). Last, both read the same
// answer, and what they make of it is compared ([Answer]).
//
// The conversation ([Stage]) is settled as in production, for the vendor's own
// server, and goes on from the answer that was read, so that what a path wants back
// is in it.
//
// It is a module of its own, so that its dependencies are nobody else's, and has
// one folder for each vendor, which are built at the same time. Only tests import
// it.
package sdk
