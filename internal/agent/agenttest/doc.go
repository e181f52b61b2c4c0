// Package agenttest runs an agent without a network, a database or a model:
// small working implementations of everything that agent.Options asks for.
//
// They are fakes, not mocks: the store verifies digests, the inlet looks at the
// bytes, the disk gives back what it was given and can be used by a second
// agent (a restart), and the provider truly spells every request and reads the
// body back, so that a test sees what a backend would have seen. What fails, and
// when, is set by the test.
//
// Tests import it, and nothing else does.
package agenttest
