// Package permission turns rules into a verdict on what a tool wants to do.
//
// It is pure: no file system, no clock, nobody is asked here. Paths come in
// cleaned and absolute, with the fact whether they lie inside the roots; the
// verdict and its reason travel together. The zero verdict is Deny, so a
// forgotten case fails closed. Deny wins over Ask, Ask over Allow; lists of
// several layers are joined by appending them.
//
// A rule is "tool" or "tool(pattern)". "*" means every tool, "mcp__server" and
// "mcp__server__*" every tool of an MCP server. What the pattern is matched
// against follows from what the tool wants:
//
//   - A file: "**" is any number of folders, otherwise the syntax of path.Match.
//     Without a slash in front it matches the end of the path. A rule that denies
//     or asks is about all that lies in a folder that it matches, too.
//   - A command: the pattern is matched against each simple command of the line.
//     "*" is any run of characters, `\*` a star, and a final " *" may be nothing:
//     "git diff *" matches "git diff" and "git diff -s", and not "git difftool".
//     "git*" matches "github" too. A redirection into a file is a command of its
//     own, written "> FILE", and settings in front belong to the command ("A=1
//     make" is not "make"). Rules that deny or ask look behind both, and behind
//     the folder of a program.
//   - An address: "domain:docs.rs" is that host, "domain:*.rs" the hosts under
//     it, each with the usual port unless one is named. "https://docs.rs/std/*"
//     takes the address apart first, so neither a user name in front of the host
//     nor a longer host matches. Without a scheme https is meant. An address
//     that holds a user name is never allowed by a pattern.
//
// Some names are groups: "edit" is every tool that changes files, "read" every tool
// that reads a path; in rules that deny or ask "write" is all of "edit". Such rules
// against changes hold redirections of commands too, and have a command asked about
// that names such a file and may change it.
//
// A line of commands runs without a question only where every simple command is
// matched by a rule. Filters that read nothing but their input (head, wc -l) need
// none beside a command that is matched. A line that could not be taken apart, or
// that runs what its text does not tell, is matched by a rule without a pattern only;
// and where a rule with a pattern denies commands or asks about them, such a line is
// asked about, in full mode too: see Rules.Unsure. So is one with a word that the shell
// may turn into what is denied: a variable, or a glob that matches such a name, unless
// Rules.Names knows the files that are there. A word that holds a variable is matched
// by no rule that allows.
//
// Where edits are accepted, files that say what is run later (.git, .vscode, .mcp.json
// and their like) are asked about all the same.
//
// Files that hold keys are denied unless the pattern of a rule names such a file.
// That holds for the words of a command too, but only for those that stand there:
// it keeps accidents away and is no sandbox. A program reads what it wants to. What is
// in Rules.Closed stays denied whatever the rules say.
//
// It imports content only.
package permission
