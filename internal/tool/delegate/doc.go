// Package delegate holds the tools with which a model gives work to others: look
// (have a picture looked at), task (a sub-agent), escalate (an agent that can do
// more) and job (work in the background).
//
// The tools read and check their arguments; the agent does the work, through
// tool.Host. Attachments travel by their handles: whoever gets the work gets the
// bytes, never a description of them, and no payload stands in a prompt.
//
// It imports content, permission and tool only.
package delegate
