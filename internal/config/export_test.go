package config

import "strings"

// Fingerprint makes the fingerprint of a project from its files.
func Fingerprint(p Project) (string, error) {
	config, err := readFile(p.ConfigFile)
	if err != nil {
		return "", err
	}
	mcp, err := readFile(p.MCPFile)
	if err != nil {
		return "", err
	}
	sum, _, err := fingerprint(p, config, mcp)
	return sum, err
}

// Floors are the least values as the page for users spells them.
func Floors() map[string]string {
	out := map[string]string{}
	for member, f := range floors() {
		out[member] = strings.NewReplacer("KiB", " KiB", "MiB", " MiB").Replace(f.words)
	}
	return out
}
