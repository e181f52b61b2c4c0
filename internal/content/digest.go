package content

import (
	"encoding/hex"
	"fmt"
)

// DigestSize is the length of a digest in bytes (SHA-256).
const DigestSize = 32

// Digest is the SHA-256 of a blob's bytes. The zero value means "no blob".
type Digest [DigestSize]byte

// IsZero reports whether d names no blob.
func (d Digest) IsZero() bool { return d == Digest{} }

// String returns 64 lower-case hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Short returns the first 12 hexadecimal digits, for people.
func (d Digest) Short() string { return hex.EncodeToString(d[:6]) }

// ParseDigest reads exactly 64 lower-case hexadecimal digits. Digests come from
// outside (clients, imports, drafts), so nothing else is accepted.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	if len(s) != 2*DigestSize {
		return Digest{}, fmt.Errorf("parse digest: %d characters, want %d", len(s), 2*DigestSize)
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return Digest{}, fmt.Errorf("parse digest: character %d is not a lower-case hexadecimal digit", i)
		}
	}
	if _, err := hex.Decode(d[:], []byte(s)); err != nil {
		return Digest{}, fmt.Errorf("parse digest: %w", err)
	}
	return d, nil
}

// MarshalText spells a digest in hexadecimal; the zero digest is empty.
func (d Digest) MarshalText() ([]byte, error) {
	if d.IsZero() {
		return nil, nil
	}
	return []byte(d.String()), nil
}

// UnmarshalText reads what MarshalText writes.
func (d *Digest) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*d = Digest{}
		return nil
	}
	v, err := ParseDigest(string(b))
	if err != nil {
		return err
	}
	*d = v
	return nil
}

// Blob describes bytes in the store.
type Blob struct {
	Digest Digest `json:"digest"`
	// MIME is the media type found in the bytes, else the declared one.
	MIME string `json:"mime,omitempty"`
	// Size is in bytes.
	Size int64 `json:"size,omitempty"`
	// Width and Height are in pixels as displayed (upright), 0 for what is
	// not a picture.
	Width  int `json:"width,omitempty"`
	Height int `json:"height,omitempty"`
}

// IsZero reports whether b names no bytes.
func (b Blob) IsZero() bool { return b.Digest.IsZero() }
