// Package hook runs the user's own commands at set moments of a turn and reads what
// they answer.
//
// A command is a program with arguments; no shell takes part. It gets one JSON object
// on its standard input, the event, which never holds a payload: texts are compact
// and cut, with a member that tells so. It answers with its exit status and output:
//
//   - Status 0 without output: nothing to say.
//   - Status 0 with a JSON object: {"decision": "allow", "deny" or "ask", "reason":
//     "...", "context": "..."}, each member optional.
//   - Status 2: deny, with what it wrote to standard error as the reason.
//   - Anything else, also another member, no JSON, too much output, or no end within
//     the time: the hook is broken. That is a Problem; only of a required hook it is
//     a denial too.
//
// Invariants:
//   - Hooks run one after the other as configured. The first denial ends the run.
//     Asking beats allowing.
//   - An allow is an opinion: the caller holds it against the rules, and what a rule
//     denies stays denied.
//   - After a tool and at the end of a turn nothing can be denied any more; a denial
//     then is text for the model.
//   - At the end of its time the program is killed with all that it started in its
//     process group, on Windows in its job. What it leaves running when it ends by
//     itself is killed too.
//   - At most 64 KiB of output are kept, and no output stands in a problem.
//
// It imports permission only, whose rules say which calls a hook is for. The wiring
// may import it. docs/hooks.md is the page for users.
package hook
