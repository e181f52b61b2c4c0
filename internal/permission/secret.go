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
