// Package agent runs a turn: it takes what a front hands over through the one
// inlet, records it, decides and settles the request, sends it, recovers from
// what can go wrong, runs the tools that the model calls, and records the
// answer.
//
// A turn's content is an argument of the call and lives in values of that call;
// nothing of it is kept in the agent, a provider or a session object, because
// background work shares those. One turn of a session runs at a time; further
// prompts wait. What happens is told to the front as an [Event], a closed set
// that every front visits.
//
// What a session keeps beside its record is small and says nothing of a prompt:
// the lanes, what the user allowed, what files looked like when the model last saw
// them, and notes that wait for the next request. Other models are asked beside a
// conversation for the description of one picture or for a summary; such a request
// holds that picture, or compact text, and nothing else. A session that works for
// another is a child with a record of its own.
//
// The interfaces here are declared by this package for what it needs; store,
// ingest, history, imaging and profile satisfy them through the wiring in app
// without being imported. Clocks, random numbers and ids come from [Options].
//
// Package agent imports content, delivery, permission, provider and tool.
package agent
