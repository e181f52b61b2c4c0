// Package delegate gives work to other agents: sub-agents that answer within the
// turn, jobs that go on in the background, and escalation to an agent that can do
// more, which may be a program of its own.
//
// Each piece of work is a session of its own, a child of the one that gave it, so
// it has its own record, its own lanes and its own receipts. What it gets is an
// argument of the call: a prompt, and attachments by their handles, which go along
// as they are. It shares no content with the turn that gave it: a job that runs
// beside a turn sends nothing of that turn. A record about delegated work holds
// compact text, never a payload.
//
// A child may do what its parent may, and asks whoever watches the parent. Where
// nobody does, the question is a denial. Jobs end with the process; what was
// running in one that died is told as interrupted.
//
// It imports content, delivery, agent, permission and tool.
package delegate
