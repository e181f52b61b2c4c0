// Package headless is the front for shells and scripts: one turn in, text or
// JSON lines out, and the lists of models, sessions and receipts.
//
// It decides nothing about attachments: it hands sources to the agent and shows
// what the agent says about them. It writes to the streams it is given and never
// to os.Stdout, and it never ends the process.
//
// The JSON lines are a contract. A line is one object with a "type"; readers
// ignore what they do not know. Receipts come before the first token; one that
// changes comes again with a higher attempt. An "attempt" line voids the text
// since the last one. A count that a backend did not report is null, never 0.
//
// It imports content, delivery and agent.
package headless
