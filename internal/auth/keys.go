package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/zalando/go-keyring"
)

// service is the name under which the system's keyring shows our keys.
const service = "tote"

// Place is where a key is kept.
type Place string

// The places.
const (
	InKeyring Place = "keyring"
	InFile    Place = "file"
)

// Errors that callers may test for.
var (
	// ErrNoKey: nothing is kept under the name.
	ErrNoKey = errors.New("no key is kept under that name")
	// ErrName: a name that cannot name a key.
	ErrName = errors.New(`a key's name has letters, digits and ._@/- only, 128 at most`)
)

// named reports whether a name can name a key.
func named(name string) bool {
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._@/-", r)) {
			return false
		}
	}
	return name != "" && len(name) <= 128
}

// Ring is a keyring of the system.
type Ring interface {
	// Get returns keyring.ErrNotFound where there is no such key.
	Get(service, name string) (string, error)
	Set(service, name, key string) error
	Delete(service, name string) error
}

// Entry is a kept key as it is listed.
type Entry struct {
	Name  string
	Place Place
}

// Keys are the kept keys. Its methods may be called from several goroutines.
type Keys struct {
	// file holds the names of all keys, and those keys that no keyring took.
	file string
	ring Ring

	mu sync.Mutex
}

// Open returns the keys that are listed in the file, which need not exist. ring is
// nil for that of the system.
func Open(file string, ring Ring) *Keys {
	if ring == nil {
		ring = system{}
	}
	return &Keys{file: file, ring: ring}
}

// system is the keyring of this machine.
type system struct{}

func (system) Get(service, name string) (string, error) { return keyring.Get(service, name) }
func (system) Set(service, name, key string) error      { return keyring.Set(service, name, key) }
func (system) Delete(service, name string) error        { return keyring.Delete(service, name) }

// kept is the file. A name without a key is in the keyring.
type kept struct {
	Keys map[string]string `json:"keys"`
}

func (k *Keys) read() (kept, error) {
	out := kept{Keys: map[string]string{}}
	data, err := os.ReadFile(k.file)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("read the kept keys: %w", err)
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return out, fmt.Errorf("read the kept keys: %s is damaged; remove it and log in again", k.file) // what is wrong might quote a key
	}
	if out.Keys == nil {
		out.Keys = map[string]string{}
	}
	return out, nil
}

func (k *Keys) write(all kept) error {
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("spell the kept keys: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(k.file), 0o700); err != nil {
		return fmt.Errorf("keep the keys: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(k.file), ".keys-*") // 0600
	if err != nil {
		return fmt.Errorf("keep the keys: %w", err)
	}
	_, err = tmp.Write(append(data, '\n'))
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), k.file)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // the first error is the one to show
		return fmt.Errorf("keep the keys: %w", err)
	}
	return nil
}

// Get returns the key of a name. Its errors do not repeat the name, which the caller
// has spelt already.
func (k *Keys) Get(name string) (string, error) {
	if !named(name) {
		return "", ErrName
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	all, err := k.read()
	if err != nil {
		return "", err
	}
	none := fmt.Errorf("%w (tote auth set %s keeps one)", ErrNoKey, name)
	if key := all.Keys[name]; key != "" {
		return key, nil
	}
	key, err := k.ring.Get(service, name)
	switch {
	case err == nil && key != "":
		return key, nil
	case err == nil || errors.Is(err, keyring.ErrNotFound):
		return "", none
	}
	if _, known := all.Keys[name]; !known {
		return "", none
	}
	return "", fmt.Errorf("the system's keyring, which has it, does not answer: %w", err)
}

// Set keeps a key and says where: in a file only where there is no keyring.
func (k *Keys) Set(name, key string) (Place, error) {
	key = strings.TrimSpace(key)
	switch {
	case !named(name):
		return "", fmt.Errorf("key %q: %w", name, ErrName)
	case key == "":
		return "", fmt.Errorf("key %q: it is empty", name)
	case len(key) > 16_384 || strings.ContainsAny(key, "\r\n\x00"):
		return "", fmt.Errorf("key %q: it is no key: it has line breaks or more than 16,384 bytes", name)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	all, err := k.read()
	if err != nil {
		return "", err
	}
	place := InKeyring
	all.Keys[name] = ""
	if err := k.ring.Set(service, name, key); err != nil {
		place, all.Keys[name] = InFile, key
	}
	return place, k.write(all)
}

// Delete forgets a key. That there was none is ErrNoKey.
func (k *Keys) Delete(name string) error {
	if !named(name) {
		return fmt.Errorf("key %q: %w", name, ErrName)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	all, err := k.read()
	if err != nil {
		return err
	}
	key, known := all.Keys[name]
	if key == "" {
		switch err := k.ring.Delete(service, name); {
		case err == nil:
			known = true
		case errors.Is(err, keyring.ErrNotFound):
		case known:
			return fmt.Errorf("key %q: the system's keyring, which has it, does not answer: %w", name, err)
		}
	}
	if !known {
		return fmt.Errorf("key %q: %w", name, ErrNoKey)
	}
	delete(all.Keys, name)
	return k.write(all)
}

// List names the kept keys, sorted.
func (k *Keys) List() ([]Entry, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all, err := k.read()
	if err != nil {
		return nil, err
	}
	out := make([]Entry, 0, len(all.Keys))
	for name, key := range all.Keys {
		e := Entry{name, InKeyring}
		if key != "" {
			e.Place = InFile
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
