package shell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// kind is a language of shells.
type kind uint8

const (
	kindBash    kind = iota
	kindSh           // a POSIX shell that cannot list its functions
	kindGitBash      // a bash that has its own spelling of Windows paths
	kindPwsh
)

// interpreter is the shell that runs commands.
type interpreter struct {
	kind kind
	path string
}

// findShell finds the shell: the named one, else bash, else a POSIX shell, on
// Windows the bash of Git, else PowerShell.
func findShell(named string, lookPath func(string) (string, error), getenv func(string) string) (interpreter, error) {
	candidates := []string{"bash", "/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/bin/sh", "sh"}
	if runtime.GOOS == "windows" {
		// A bash on the path is that of another system, which sees other paths.
		candidates = []string{
			filepath.Join(getenv("ProgramFiles"), `Git\bin\bash.exe`), filepath.Join(getenv("LocalAppData"), `Programs\Git\bin\bash.exe`),
			"pwsh", "powershell",
		}
	}
	if named != "" {
		candidates = []string{named}
	}
	for _, c := range candidates {
		p, err := lookPath(c)
		if err != nil {
			continue
		}
		if p, err = filepath.Abs(p); err != nil {
			continue
		}
		return interpreter{kind: kindOf(p), path: p}, nil
	}
	return interpreter{}, fmt.Errorf("find a shell: there is none of %s", strings.Join(candidates, ", "))
}

func kindOf(path string) kind {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".exe")
	switch {
	case name == "pwsh" || name == "powershell":
		return kindPwsh
	case name == "bash" && runtime.GOOS == "windows":
		return kindGitBash
	case name == "bash":
		return kindBash
	}
	return kindSh
}

// maxScript is below what one argument of a program may be on Linux.
const maxScript = 120 << 10

var errTooLong = errors.New("the command is too long; write long text to a file with the write tool")

// files of a call, in its private folder.
const (
	varsFile, varsOld, varsNew = "vars", "vars.old", "vars.new"
	cwdNew                     = "cwd.new"
	commandFile                = "command.ps1"
)

// argv lays the state and the command down in dir and returns the arguments that
// run it.
func (in interpreter) argv(dir, command string, st state) ([]string, error) {
	put := func(name string, data []byte) error { return os.WriteFile(filepath.Join(dir, name), data, 0o600) }
	if in.kind == kindPwsh {
		script := pwshScript(filepath.Join(dir, commandFile), filepath.Join(dir, cwdNew), st.cwd)
		return []string{"-NoLogo", "-NoProfile", "-NonInteractive", "-Command", script}, put(commandFile, []byte(command))
	}
	script := in.posixScript(dir, command, st.cwd)
	if len(script) > maxScript {
		return nil, errTooLong
	}
	args := []string{"-c", script}
	if in.kind != kindSh {
		args = append([]string{"--norc", "--noprofile"}, args...)
	}
	return args, put(varsFile, st.script())
}

// posixScript runs a command and leaves the state behind when the shell ends,
// however that happens, as long as it is the shell that ends.
func (in interpreter) posixScript(dir, command, cwd string) string {
	at := func(name string) string { return quote(filepath.ToSlash(filepath.Join(dir, name))) }
	plain, pwd := "builtin ", "pwd"
	switch in.kind {
	case kindSh:
		plain = "command "
	case kindGitBash:
		pwd = "pwd -W"
	case kindBash, kindPwsh:
	}
	list := func(name string) string { return plain + "export -p >|" + at(name) }
	save := "{ set +eux; " + plain + "umask 077; " + list(varsNew) + "; " + plain + pwd + " >|" + at(cwdNew) + "; } 2>/dev/null"
	return "cd -- " + quote(filepath.ToSlash(cwd)) + " 2>/dev/null\n" +
		"unset PATH\n. " + at(varsFile) + " >/dev/null 2>&1\n" + list(varsOld) + "\n" +
		plain + "trap " + quote(save) + " EXIT\n" + plain + "eval " + quote(command) + "\n"
}

// pwshScript runs a command file and leaves the folder behind.
func pwshScript(file, cwd, dir string) string {
	q := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	return "[Console]::OutputEncoding = [Text.Encoding]::UTF8; Set-Location -LiteralPath " + q(dir) + "; $global:LASTEXITCODE = 0; $toteOK = $true; " +
		"try { . ([ScriptBlock]::Create([IO.File]::ReadAllText(" + q(file) + "))); $toteOK = $? } catch { $toteOK = $false; [Console]::Error.WriteLine($_) } " +
		"finally { [IO.File]::WriteAllText(" + q(cwd) + ", (Get-Location -PSProvider FileSystem).ProviderPath + \"`n\") }; " +
		"if ($LASTEXITCODE) { exit $LASTEXITCODE } elseif (-not $toteOK) { exit 1 }; exit 0"
}

// quote makes one word of s for a POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// fixedEnv is what every command finds in its environment: nothing waits for
// somebody who answers, and nothing draws on a terminal.
var fixedEnv = []string{
	"TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "EDITOR=true", "VISUAL=true",
}

// environment is the environment that commands begin with: ours without the names
// of drop and without TOTE_*, and with fixedEnv.
func environment(base, drop []string) []string {
	fold := func(s string) string {
		if runtime.GOOS == "windows" {
			return strings.ToUpper(s)
		}
		return s
	}
	gone := map[string]bool{}
	for _, d := range drop {
		gone[fold(d)] = true
	}
	for _, f := range fixedEnv {
		name, _, _ := strings.Cut(f, "=")
		gone[fold(name)] = true
	}
	var out []string
	for _, e := range base {
		name, _, ok := strings.Cut(e, "=")
		if !ok || name == "" || gone[fold(name)] || strings.HasPrefix(fold(name), "TOTE_") {
			continue
		}
		out = append(out, e)
	}
	return append(out, fixedEnv...)
}

// startEnv is the environment in which a shell is started, and the variables of env
// that its script gives it: so a variable that a call unset stays unset. Names that no
// shell can set are left out.
func (in interpreter) startEnv(env []string) (direct []string, vars map[string]string) {
	vars = map[string]string{}
	if in.kind == kindPwsh || in.kind == kindGitBash {
		return env, vars // nothing starts there without some of it
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if !slices.Contains(notOurs, name) && !slices.Contains(shellOwn, name) && isName(name) {
			vars[name] = value
		}
	}
	return []string{}, vars
}

// shellOwn are variables that a shell sets and nobody else can.
var shellOwn = []string{"SHELLOPTS", "BASHOPTS", "BASH_VERSINFO"}
