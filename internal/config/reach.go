package config

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// proxyDirect is the value of Provider.Proxy that stands for no proxy.
const proxyDirect = "direct"

// proxyWant is what a proxy may be.
const proxyWant = `want an http, https, socks5 or socks5h address such as http://proxy.example.com:3128, a $NAME reference, or "direct"`

// badProxy says what is wrong with a proxy, "" for nothing. What may hold a
// password is not repeated.
func badProxy(s string) string {
	if s == proxyDirect || envName(s) != "" {
		return ""
	}
	u, err := url.Parse(s)
	if err == nil && slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) &&
		u.Hostname() != "" && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && u.Fragment == "" {
		return ""
	}
	if s == "" || strings.ContainsAny(s, "@?#") {
		return "is not the address of a proxy; " + proxyWant
	}
	return "is " + quoted(s) + "; " + proxyWant
}

// ProxyAddress returns the proxy to use: an address, "direct" for none, or "" for
// what the environment says. A reference is looked up here and nowhere earlier.
func (p Provider) ProxyAddress(env func(string) string) (string, error) {
	v, err := lookUp(p.Proxy, env)
	if err == nil && v != "" && badProxy(v) != "" {
		err = fmt.Errorf("environment variable %s is not the address of a proxy; want one such as http://proxy.example.com:3128", p.proxyName())
	}
	if err != nil {
		return "", fmt.Errorf("read the proxy of provider %s: %w", quoted(p.Name), err)
	}
	return v, nil
}

// proxyName is the variable that holds the proxy's address.
func (p Provider) proxyName() string { return envName(p.Proxy) }

// badFile says what is wrong with the spelling of a path, "" for nothing.
func badFile(s string) string {
	switch {
	case s == "":
		return "is empty"
	case strings.ContainsAny(s, "\x00\r\n"):
		return "is not the path of a file"
	case strings.HasPrefix(s, "~") && !underHome(s):
		return "is " + quoted(s) + "; only ~/ is understood, for your own home folder"
	}
	return ""
}

func underHome(s string) bool { return strings.HasPrefix(s, "~/") || strings.HasPrefix(s, `~\`) }

// placeFiles makes the paths in providers relative to the file that names them.
// What lies below the home folder is left to settleFiles.
func placeFiles(cfg *Config, root *node) {
	for name, p := range cfg.Providers {
		n := root.get("providers", name, "ca_file")
		if n == nil || p.CAFile == "" || underHome(p.CAFile) || filepath.IsAbs(p.CAFile) {
			continue
		}
		p.CAFile = filepath.Join(filepath.Dir(n.at.file), p.CAFile)
		if strings.HasPrefix(p.CAFile, "~") {
			p.CAFile = "." + string(filepath.Separator) + p.CAFile // a folder of that name
		}
		cfg.Providers[name] = p
	}
}

// settleFiles makes the paths in providers absolute.
func settleFiles(cfg *Config, home string) error {
	for name, p := range cfg.Providers {
		if p.CAFile == "" {
			continue
		}
		if err := settle(&p.CAFile, home); err != nil {
			return fmt.Errorf("find the ca_file of provider %s: %w", quoted(name), err)
		}
		cfg.Providers[name] = p
	}
	return nil
}

// Certificates reads the certificates of ca_file, in PEM form, nil for none. An
// error names the file. What else the file holds, such as a key, is left out.
func (p Provider) Certificates() ([]byte, error) {
	if p.CAFile == "" {
		return nil, nil
	}
	data, err := readBounded(p.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read the ca_file of provider %s: %w", quoted(p.Name), err)
	}
	var out bytes.Buffer
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			out.Write(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}))
		}
	}
	if out.Len() == 0 {
		return nil, fmt.Errorf("read the ca_file of provider %s: %s holds no certificate in PEM form", quoted(p.Name), p.CAFile)
	}
	return out.Bytes(), nil
}

// readBounded reads a file of at most MaxFile bytes.
func readBounded(path string) (data []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading: nothing can be lost
	data, err = io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(data) > MaxFile {
		err = fmt.Errorf("%s is larger than %d bytes", path, MaxFile)
	}
	return data, err
}

// Address returns the address under which things are known of an endpoint. For
// Bedrock without a base_url it is that of the region, which the environment may
// name as for any AWS program; it is empty where only the AWS profile can tell.
// It is not for the adapter, which takes BaseURL: a model's ARN may name another
// region than the environment does.
func (p Provider) Address(env func(string) string) string {
	if p.BaseURL != "" || p.Kind != KindBedrockConverse {
		return p.BaseURL
	}
	return bedrockURL(p.AWSRegion(env))
}

// AWSRegion returns the region of a Bedrock provider: its own, else what the
// environment says, "" for neither.
func (p Provider) AWSRegion(env func(string) string) string {
	for _, r := range []string{p.Region, env("AWS_REGION"), env("AWS_DEFAULT_REGION")} {
		if r != "" && regionForm().MatchString(r) {
			return r
		}
	}
	return ""
}
