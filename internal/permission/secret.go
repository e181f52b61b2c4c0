package permission

import (
	"slices"
	"strings"
)

// secretNames are files that hold keys; they are denied by default. They are
// matched in lower case: some file systems do not tell the difference.
var secretNames = []string{
	".env", ".env.*", ".envrc", "*.pem", "*.key", "*.p12", "*.pfx", "*.keystore", "*.jks", "*.kdbx", "*.ppk",
	"id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc", ".htpasswd",
	".git-credentials", ".vault-token", ".docker/config.json", ".kube/config", ".aws/credentials", ".azure/**",
	".config/gcloud/**", ".config/gh/hosts.yml", ".ssh/**", ".gnupg/**", "/etc/shadow", "/proc/*/environ",
}

// publicNames are files that look like it and hold none.
var publicNames = []string{"*.pub", ".env.example", ".env.sample", ".env.template"}

func isSecret(p string) bool {
	if p == "" {
		return false
	}
	p = strings.ToLower(p)
	match := func(pattern string) bool { return matchPath(pattern, p) }
	return slices.ContainsFunc(secretNames, match) && !slices.ContainsFunc(publicNames, match)
}

// mayBeSecret reports whether the glob of a shell may match a file that holds keys.
func mayBeSecret(glob string) bool {
	if slices.ContainsFunc(publicNames, func(p string) bool { return matchPath(p, strings.ToLower(glob)) }) {
		return false
	}
	elems := strings.Split(strings.TrimPrefix(strings.ToLower(unbraced(glob)), "/"), "/")
	for i, e := range elems {
		if e == "**" {
			elems[i] = "*"
		}
	}
	return slices.ContainsFunc(secretNames, func(p string) bool {
		want := strings.Split(p, "/")
		if want[0] == "" {
			want = want[1:]
		} else {
			want = append([]string{"**"}, want...)
		}
		return elemsOverlap(want, elems, secretOverlap)
	})
}

// secretOverlap compares a name of the list with that of a glob. A star in front
// stands for no dot there; and it does not make a key of what ends like no key, only
// because names in the list may go on.
func secretOverlap(name, glob string) bool {
	if glob != "" && strings.IndexByte("*?[", glob[0]) >= 0 {
		if strings.HasPrefix(name, ".") {
			return false
		}
		if !strings.HasPrefix(name, "*") {
			name = strings.TrimRight(name, "*")
		}
	}
	return namesOverlap(name, glob)
}

// opensGlob reports whether a rule for reading opens what a glob may match: it has to
// spell the same glob.
func (r Rules) opensGlob(glob string) bool {
	return slices.ContainsFunc(r.Allow, func(rule Rule) bool {
		return (rule.Tool == "*" || rule.Tool == "read") && rule.opensSecrets() && rule.matchesPath(glob)
	})
}

// isClosed reports whether the request is about what is closed. The text of a command
// must not name it either, for what runs a program from its text.
func (r Rules) isClosed(q Request) bool {
	in := func(closed, p string) bool {
		rest, ok := strings.CutPrefix(strings.ToLower(p), strings.ToLower(closed))
		return ok && (rest == "" || strings.IndexByte("/:.", rest[0]) >= 0)
	}
	return slices.ContainsFunc(r.Closed, func(c string) bool {
		return in(c, q.Path) || slices.ContainsFunc(q.Paths, func(p string) bool { return in(c, p) }) ||
			q.Action == Execute && mentions(strings.ToLower(q.Detail), strings.ToLower(c))
	})
}

// mentions reports whether a text holds a path, and not only the beginning of another.
func mentions(text, p string) bool {
	for {
		_, rest, ok := strings.Cut(text, p)
		if !ok || rest == "" || strings.IndexByte("abcdefghijklmnopqrstuvwxyz0123456789_-", rest[0]) < 0 {
			return ok
		}
		text = rest
	}
}

// closedOverlap reports whether a glob may match what is closed, or what lies in it.
func closedOverlap(closed, glob, below string) bool {
	quoted := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(closed)
	return pathsOverlap(quoted+below, glob)
}

// opensSecrets reports whether the pattern of a rule names files that hold keys,
// so that nobody opens them with a rule for a whole folder or a whole tool.
func (r Rule) opensSecrets() bool {
	return slices.ContainsFunc(words(r.Pattern), isSecret)
}

// reachesSecret reports whether the request reaches for a file that holds keys
// and no rule opens it.
func (r Rules) reachesSecret(q Request) bool {
	var opening []Rule
	for _, rule := range r.Allow {
		if rule.opensSecrets() {
			opening = append(opening, rule)
		}
	}
	if isSecret(q.Path) && !covers(opening, q) {
		return true
	}
	return slices.ContainsFunc(q.Paths, func(p string) bool { return isSecret(p) && !r.opened(opening, q, p) })
}

// opened reports whether rules let a command at a file that holds keys: a rule
// for reading that file, or one that names such a file among the rules that allow
// the line.
func (r Rules) opened(opening []Rule, q Request, p string) bool {
	for _, rule := range opening {
		if (rule.Tool == "*" || rule.Tool == "read") && rule.matchesPath(p) {
			return true
		}
		if rule.names(q.Tool) && slices.ContainsFunc(q.Commands, func(c string) bool { return matchCommand(rule.Pattern, c) }) {
			return covers(r.Allow, q)
		}
	}
	return false
}
