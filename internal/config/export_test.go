package config

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
