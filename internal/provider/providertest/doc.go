// Package providertest holds what tests of adapters and of whole turns share: a
// recording server with scripted answers, a store in memory, prompts made by
// the real heart, and checks of request bodies.
//
// Only tests import it.
package providertest
