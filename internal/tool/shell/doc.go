// Package shell holds the tools that run commands: bash, bash_output and
// bash_kill.
//
// A session has one shell in the sense that its folder and its exported variables last
// from call to call. Every call is a process of its own, which is given what the last
// one left and leaves it behind again when it ends. So a call that exits, hangs or is
// killed breaks nothing; at worst the state is as it was before, and the model is told
// so. More than 256 KB of variables are not carried. The variables are read from what
// the shell lists and written anew, so nothing but names and values gets through; they
// lie in a private folder outside the roots.
//
// The rules for a name speak about the program that it means. So what changes the
// meaning of names ends with its call: functions, aliases, options, traps, remembered
// and disabled programs, variables that are not exported, and the exported ones that
// steer the shell, the loader, git or which programs run (PATH, LD_*, GIT_*, BASH_ENV,
// HOME and more: see steering), of which the model is told. No list of such variables is
// complete, so others last, but stand in front of each later command for permission
// ("FOO=kept make"), as if the line set them; only those known to be plain do not. In
// the same way a line in a folder outside of the roots begins with "cd FOLDER". What a
// folder itself holds is not known: git and make do there what its files say.
//
// What a command starts is in one process group and one session without a
// terminal, with input from nowhere. Time limit and cancellation ask the group to
// end (SIGTERM) and end it after a grace (SIGKILL). What a call leaves running
// neither holds it up nor is lost sight of: it is named, and becomes a background
// command. Background commands end with their session, and with this program
// however that ends: a guard in their group sees to it. Groups of their own in the same
// session (set -m) end too, on Linux. Who starts a session of its own (setsid) is found
// by its parents when the call is stopped, on Linux, and gets away where they have ended
// or where this program is killed. On Windows a job object does all this, and ends at
// once.
//
// Output is cleaned of what it says to terminals, and shown in bounded size; all of
// it, up to 64 MB, is in a file of the session's scratch folder. Binary output is
// never shown.
//
// Commands get the user's environment without the names in Options.Drop and without
// TOTE_*, and with TERM=dumb, GIT_TERMINAL_PROMPT=0, cat for a pager and true for an
// editor. CI is left as it is. Names that no shell can set are left out.
//
// The private folder lies in Options.Dir, beside a file that is locked as long as
// this program lives. New removes the folders whose owners were killed.
//
// For permission a line is taken apart with the syntax of bash: see split. Only
// what is known to be plain is taken apart (isClear); all else is said to be opaque.
// Words with an expansion stay as they are written, so that rules can tell them.
// Options of common programs that run another one, or write a file, count as what they
// do (see options): a rule for "find *" or "git diff *" covers neither. What "git -C sub"
// does is listed without that, too.
//
// What cannot be known from a line: what files in a folder make a program do (hooks and
// settings of git, Makefile, package.json, plugins), what programs do that run or write
// as their job (make, npx, npm, go generate, python -c, tee, cp, docker), options of
// programs that are in no table here, links between folders, and files that another
// process changes meanwhile. A rule for such a program is one for all that. This is a help for rules and no
// wall. The sandbox is one, on Linux: Landlock, through this program itself, which
// locks itself in and then becomes the shell (SandboxMain). In it a command writes
// in the roots, in the scratch folder and in Options.Writable only, and reads
// neither what tools never enter nor the usual places of keys in the user's home,
// unless such a place holds a root. Names of files can still be listed, a hidden
// folder inside of a writable one stays open, and without Options.Offline so does
// the network.
//
// All of /proc can be read in the sandbox, since programs read there about
// themselves under a number that is not known before. The kernel takes reading the
// environment or the memory of a process outside of the sandbox for tracing, which
// Landlock forbids, and root gives up the capabilities that get round that; command
// lines and status stay readable. Shield keeps commands
// outside of a sandbox from it too, and is for the main function to call.
//
// On Windows the bash of Git is used, else PowerShell, of which the folder alone is
// carried, and whose lines no rule with a pattern allows.
//
// It imports content, permission and tool only.
package shell
