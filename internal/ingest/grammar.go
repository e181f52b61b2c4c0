package ingest

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

const windows = "windows"

// ParsePath reads a path as users, terminals and clients spell it and returns it
// absolute and without "." and "..". It is a pure function: goos ("windows",
// "darwin", "linux", …) decides the grammar, and no file system is asked.
//
// Understood are, after white space around it is dropped:
//
//   - file: URIs with an empty host or "localhost", on Windows any host; percent
//     escapes are decoded, and a percent sign that begins none stands for
//     itself; query and fragment are dropped;
//   - on Unix one shell word in quotes, or else backslash escapes; on Windows
//     double quotes, or single quotes as PowerShell writes them;
//   - "~" and "~/…" outside quotes;
//   - on Windows drives, UNC shares, "\\?\" before either, and both slashes.
//
// Refused are NUL characters, and on Windows what does not name a plain file:
// devices and pipes ("\\.\", CON, NUL, COM1 and the like, with any ending),
// alternate data streams, control characters, names that end in a dot or a blank
// (Windows drops them, so that they name another file), and paths relative to a
// drive.
func ParsePath(goos, raw, home, cwd string) (string, error) {
	p, err := parsePath(goos, raw, home, cwd)
	if err != nil {
		return "", fmt.Errorf("parse path %q: %w", raw, err)
	}
	return p, nil
}

var (
	errNoPath     = errors.New("it is empty")
	errNUL        = errors.New("it holds a NUL character")
	errNoHome     = errors.New("the home folder is not known")
	errNoCwd      = errors.New("it is relative and there is no folder to start from")
	errHost       = errors.New("it names another computer")
	errNotRooted  = errors.New("the file: URI has no absolute path")
	errDriveRel   = errors.New("it is relative to a drive")
	errDevice     = errors.New("it names a device")
	errStream     = errors.New("it names an alternate data stream")
	errControl    = errors.New("a name in it holds a control character")
	errBlankEnd   = errors.New("a name in it ends in a dot or a blank")
	errShareShort = errors.New("it names no share")
)

func parsePath(goos, raw, home, cwd string) (string, error) {
	s := trimBlank(goos, raw)
	s, quoted := unquote(goos, s)
	if isFileURI(s) {
		p, err := fromFileURI(goos, s)
		if err != nil {
			return "", err
		}
		return absolute(goos, p, cwd)
	}
	if !quoted {
		if goos != windows {
			s = unescape(s)
		}
		var err error
		if s, err = expandHome(goos, s, home); err != nil {
			return "", err
		}
	}
	return absolute(goos, s, cwd)
}

// trimBlank drops white space around a path, but not an escaped blank at its
// end.
func trimBlank(goos, s string) string {
	s = strings.TrimLeft(s, " \t\r\n")
	t := strings.TrimRight(s, " \t\r\n")
	if goos == windows || len(t) == len(s) {
		return t
	}
	if slashes := len(t) - len(strings.TrimRight(t, `\`)); slashes%2 == 1 {
		return s[:len(t)+1]
	}
	return t
}

// unquote takes the quotes off; quoted is false where there were none that go
// around the whole.
func unquote(goos, s string) (_ string, quoted bool) {
	if len(s) < 2 || s[0] != '"' && s[0] != '\'' {
		return s, false
	}
	if goos == windows {
		q := s[:1]
		inner := s[1 : len(s)-1]
		if !strings.HasSuffix(s, q) || strings.Contains(strings.ReplaceAll(inner, q+q, ""), q) {
			return s, false
		}
		if q == "'" {
			inner = strings.ReplaceAll(inner, "''", "'")
		}
		return inner, true
	}
	if word, ok := shellWord(s); ok {
		return word, true
	}
	return s, false
}

// shellWord reads s as one word of a POSIX shell. ok is false where a quote
// stays open or an unquoted blank shows that it is not one word.
func shellWord(s string) (word string, ok bool) {
	var sb strings.Builder
	var quote byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote == '\'' && c != '\'':
			sb.WriteByte(c)
		case quote != 0 && c == quote:
			quote = 0
		case quote == '"' && c == '\\' && i+1 < len(s) && strings.IndexByte("\"\\$`", s[i+1]) >= 0,
			quote == 0 && c == '\\' && i+1 < len(s):
			i++
			sb.WriteByte(s[i])
		case quote == '"':
			sb.WriteByte(c)
		case c == '\'' || c == '"':
			quote = c
		case c == ' ' || c == '\t' || c == '\n':
			return "", false
		default:
			sb.WriteByte(c)
		}
	}
	return sb.String(), quote == 0
}

// unescape drops the backslashes that a shell or a terminal put before
// characters.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		out = append(out, s[i])
	}
	return string(out)
}

func expandHome(goos, s, home string) (string, error) {
	rest, ok := strings.CutPrefix(s, "~")
	if !ok || rest != "" && rest[0] != '/' && (goos != windows || rest[0] != '\\') {
		return s, nil
	}
	if home == "" {
		return "", errNoHome
	}
	return home + rest, nil
}

func isFileURI(s string) bool {
	return len(s) >= 5 && strings.EqualFold(s[:5], "file:")
}

// fromFileURI returns the path of a file: URI, not yet cleaned.
func fromFileURI(goos, uri string) (string, error) {
	rest, _, _ := strings.Cut(uri[5:], "#")
	rest, _, _ = strings.Cut(rest, "?")
	host := ""
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		i := strings.IndexByte(after, '/')
		if i < 0 {
			i = len(after)
		}
		host, rest = percentDecode(after[:i]), percentDecode(after[i:])
	} else {
		rest = percentDecode(rest)
	}
	local := host == "" || strings.EqualFold(host, "localhost")
	if goos != windows {
		switch {
		case !local:
			return "", errHost
		case !strings.HasPrefix(rest, "/"):
			return "", errNotRooted
		}
		return rest, nil
	}
	if len(host) == 2 && hasDrive(host+`\`) {
		return host + rest, nil // file://C:/x, one slash short
	}
	if !local {
		return `\\` + host + rest, nil
	}
	if len(rest) >= 3 && rest[0] == '/' && rest[2] == '|' {
		rest = rest[:2] + ":" + rest[3:]
	}
	if len(rest) > 1 && hasDrive(rest[1:]) {
		return rest[1:], nil
	}
	if !strings.HasPrefix(rest, "//") {
		return "", errNotRooted
	}
	return rest, nil // file:////host/share
}

// absolute joins s to cwd where it is relative, checks it and cleans it.
func absolute(goos, s, cwd string) (string, error) {
	switch {
	case s == "":
		return "", errNoPath
	case strings.IndexByte(s, 0) >= 0:
		return "", errNUL
	case goos == windows:
		return absoluteWindows(s, cwd)
	case strings.HasPrefix(s, "/"):
		return path.Clean(s), nil
	case !strings.HasPrefix(cwd, "/"):
		return "", errNoCwd
	}
	return path.Join(cwd, s), nil
}

// hasDrive tells "C:\" and "C:/" at the beginning of a path.
func hasDrive(s string) bool {
	return len(s) >= 3 && s[1] == ':' && (s[2] == '\\' || s[2] == '/') && isLetter(s[0])
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func absoluteWindows(s, cwd string) (string, error) {
	vol, rest, err := windowsVolume(strings.ReplaceAll(s, "/", `\`))
	if err != nil {
		return "", err
	}
	if vol == "" {
		base, dir, err := windowsVolume(strings.ReplaceAll(cwd, "/", `\`))
		if err != nil || base == "" {
			return "", errNoCwd
		}
		if vol = base; !strings.HasPrefix(rest, `\`) {
			rest = dir + `\` + rest
		}
	}
	var out []string
	for name := range strings.SplitSeq(rest, `\`) {
		switch name {
		case "", ".":
			continue
		case "..":
			out = out[:max(0, len(out)-1)]
			continue
		}
		if err := windowsName(name); err != nil {
			return "", err
		}
		out = append(out, name)
	}
	return vol + `\` + strings.Join(out, `\`), nil
}

// windowsVolume splits off "C:" or "\\host\share"; vol is empty where there is
// neither. s has backslashes only.
func windowsVolume(s string) (vol, rest string, err error) {
	for _, p := range [...]string{`\\?\`, `\??\`} {
		long, ok := strings.CutPrefix(s, p)
		switch {
		case !ok:
			continue
		case len(long) > 4 && strings.EqualFold(long[:4], `UNC\`):
			s = `\\` + long[4:]
		case hasDrive(long):
			s = long
		default:
			return "", "", errDevice
		}
	}
	switch {
	case strings.HasPrefix(s, `\\`):
		host, after, _ := strings.Cut(s[2:], `\`)
		share, after, _ := strings.Cut(after, `\`)
		switch {
		case host == "." || host == "?" || strings.EqualFold(share, "pipe") || strings.EqualFold(share, "mailslot"):
			return "", "", errDevice
		case host == "" || share == "" || host == ".." || share == "." || share == "..":
			return "", "", errShareShort
		case strings.ContainsAny(host+share, ":"):
			return "", "", errStream
		}
		return `\\` + host + `\` + share, `\` + after, nil
	case hasDrive(s):
		return strings.ToUpper(s[:1]) + ":", s[2:], nil
	case len(s) >= 2 && s[1] == ':' && isLetter(s[0]):
		return "", "", errDriveRel
	}
	return "", s, nil
}

// windowsName refuses names that do not name the plain file they seem to.
// Reserved names: https://learn.microsoft.com/windows/win32/fileio/naming-a-file
// (read 2026-11-30).
func windowsName(name string) error {
	if strings.IndexByte(name, ':') >= 0 {
		return errStream
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 }) {
		return errControl
	}
	if c := name[len(name)-1]; c == '.' || c == ' ' {
		return errBlankEnd
	}
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return errDevice
	}
	for _, p := range [...]string{"COM", "LPT"} {
		switch n, ok := strings.CutPrefix(base, p); {
		case !ok:
		case len(n) == 1 && n[0] >= '0' && n[0] <= '9', n == "¹", n == "²", n == "³":
			return errDevice
		}
	}
	return nil
}
