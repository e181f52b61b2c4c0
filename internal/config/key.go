package config

import (
	"errors"
	"fmt"
	"strings"
)

// keyringWord begins a reference to the system's keyring.
const keyringWord = "keyring"

var keyringForm = form(`^[A-Za-z0-9][A-Za-z0-9._@/-]{0,127}$`)

// ErrNoKeyring says that a key is to come from the keyring and none can be asked.
var ErrNoKeyring = errors.New("the keyring cannot be asked here")

// KeyPlace is where the key of a provider comes from.
type KeyPlace int

// The places of a key.
const (
	KeyNone    KeyPlace = iota // there is no key
	KeyLiteral                 // it stands in the file
	KeyEnv                     // it is in an environment variable
	KeyKeyring                 // it is in the system's keyring
)

// KeySource tells where the key comes from, and the name of the variable or of the
// keyring's entry.
func (p Provider) KeySource() (place KeyPlace, name string) {
	switch {
	case p.APIKey == "":
		return KeyNone, ""
	case keyringName(p) != "":
		return KeyKeyring, keyringName(p)
	case envName(p.APIKey) != "":
		return KeyEnv, envName(p.APIKey)
	}
	return KeyLiteral, ""
}

// keyringName is the keyring's entry that holds the key, "" for none. "keyring"
// alone means the entry that is called like the provider.
func keyringName(p Provider) string {
	name, named := strings.CutPrefix(p.APIKey, keyringWord+":")
	switch {
	case p.APIKey == keyringWord:
		return p.Name
	case named && keyringForm().MatchString(name):
		return name
	}
	return ""
}

// Key returns the key to send, which is empty for a provider that has none. The
// environment is read here and nowhere earlier. An error names the variable, and
// is ErrNoKeyring for a key that is in the keyring.
func (p Provider) Key(env func(string) string) (string, error) { return p.KeyFrom(env, nil) }

// KeyFrom is Key with a keyring that is asked for the entry called name where the
// key is there. Nil is none.
func (p Provider) KeyFrom(env func(string) string, keyring func(name string) (string, error)) (string, error) {
	v, err := p.keyFrom(env, keyring)
	if err != nil {
		return "", fmt.Errorf("read the key of provider %s: %w", quoted(p.Name), err)
	}
	return v, nil
}

func (p Provider) keyFrom(env func(string) string, keyring func(string) (string, error)) (string, error) {
	if place, name := p.KeySource(); place == KeyKeyring {
		if keyring == nil {
			return "", fmt.Errorf("keyring entry %s: %w", quoted(name), ErrNoKeyring)
		}
		v, err := keyring(name)
		if err == nil && v == "" {
			err = errors.New("there is none, or it is empty")
		}
		if err != nil {
			return "", fmt.Errorf("keyring entry %s: %w", quoted(name), err)
		}
		return v, nil
	}
	for _, name := range p.otherKeys() {
		if v := env(name); v != "" && env(p.KeyName()) == "" {
			return v, nil
		}
	}
	return lookUp(p.APIKey, env)
}

// otherKeys lists the variables that a vendor's own address takes a key from when
// the usual one is not set.
func (p Provider) otherKeys() []string {
	for _, v := range vendors() {
		if len(v.env) > 0 && v.env[0] == p.KeyName() && v.url(p.Kind) == p.BaseURL {
			return v.env[1:]
		}
	}
	return nil
}

// KeyName returns the environment variable that the key is read from, or "".
func (p Provider) KeyName() string { return envName(p.APIKey) }
