// Package project reads what a project, and its user, say to agents: rules such as
// AGENTS.md, skills, and commands of one's own. All of it is text; nothing in it is
// run.
//
// Rules are read from AGENTS.md and what other programs call it (CLAUDE.md,
// GEMINI.md, .github/copilot-instructions.md, .cursorrules, the rules of .cursor and
// .github/instructions), from the user's own AGENTS.md, then folder by folder from
// the root of the repository down to the working folder, so that the nearer ones
// come later. A file that says the same as one before it, or only points at
// AGENTS.md, is left out. A line or word @path brings in another text file, one
// level deep. Rules below the working folder are given when a tool touches a file
// there.
//
// Skills are folders with a SKILL.md, whose name and description are listed and
// whose body is read when it is needed. Commands are prompts with places for
// arguments. Both are powers: those of a project are read only if the caller says
// that the user trusts it, and only from the files that the trust covers. A line
// that begins with ! in a command, which some programs run, stays text.
//
// Invariants:
//   - A file of a tree is opened through os.Root of that tree. A link that leads out
//     of it is refused and named in a note.
//   - Everything is bounded: 64 KiB a file, 192 KiB of rules, and so many entries of
//     a folder. What is cut or left out is said in the text and in a note.
//   - Only regular files of UTF-8 text are read, and none that the caller denies by
//     its name or by what is behind its links: that one is named in a note.
//   - The output is the same to the byte as long as the files are. A file that has
//     not changed is not read again.
//   - What a project's file says was chosen by the project: Expand keeps the user's
//     words apart from it.
//
// It imports no package of this module. The wiring may import it.
package project
