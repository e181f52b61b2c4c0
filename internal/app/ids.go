package app

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"time"
)

// newID makes an id that sorts by time: 48 bits of milliseconds, then 72 random
// bits, in 24 lower-case characters.
func newID(now time.Time) string {
	var b [15]byte
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(now.UnixMilli()))
	copy(b[:6], ms[2:])
	_, _ = rand.Read(b[6:]) // never fails since Go 1.24: it ends the process instead
	return idEncoding.EncodeToString(b[:])
}

var idEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

func randomNumber() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24: it ends the process instead
	return binary.BigEndian.Uint64(b[:])
}

// NewID makes a new random id that sorts by time.
func (a *App) NewID() string { return newID(a.o.Now()) }
